"""Turns: every piece once, no stage before the one before it, whoever comes and however many."""

import threading
import time

import numpy as np
import pytest

from argmax.engines import Threads
from argmax.kernels import turns
from argmax.kernels.compile import kernel

PIECES, STAGES = 7, 300


@kernel
def add_up(leads, counts, pieces, stages, table, most):
    """Row s + 1 of the table: the sum of row s, plus the number of the piece; wrong unless row s is ready."""
    for _ in range(most):
        piece = turns.next_piece(counts, pieces, stages)
        if piece < 0:
            return leads and turns.unfinished(counts, pieces * stages)
        stage, column = piece // pieces, piece % pieces
        total = 0
        for other in range(pieces):
            total += table[stage, other]
        table[stage + 1, column] += total % 1009 + piece
        turns.done(counts)
    return True


def expected():
    table = np.zeros((STAGES + 1, PIECES), np.int64)
    for stage in range(STAGES):
        table[stage + 1] = table[stage].sum() % 1009 + stage * PIECES + np.arange(PIECES)
    return table


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("most", [1, 50, 10**6])
def test_stages_follow_each_other_and_every_piece_is_done_once(threads, most):
    table, counts = np.zeros((STAGES + 1, PIECES), np.int64), np.zeros(turns.SHAPE, np.int64)
    engine = Threads(threads)
    with engine.open():
        engine.together(
            lambda leads: bool(add_up(leads, counts, PIECES, STAGES, table, most)), threads
        )
        found = table.copy()  # when the caller is back, nothing is missing
    np.testing.assert_array_equal(found, expected())


@kernel
def one_at_a_time(lock, total, times):
    for _ in range(times):
        turns.enter(lock)
        total[0] += 1  # not in one step: lost where two are inside
        turns.leave(lock)


def test_a_lock_lets_in_one_at_a_time():
    lock, total = np.zeros(turns.SHAPE, np.int64), np.zeros(1, np.int64)
    engine = Threads(4)
    with engine.open():
        engine.run(lambda i: one_at_a_time(lock, total, 5000), 4)
    assert total[0] == 20_000


@kernel
def meet(counts, order):
    order[turns.arrive(counts, 3)] += 1


def test_whoever_arrives_is_told_who_was_there():
    counts, order = np.zeros(5, np.int64), np.zeros(6, np.int64)
    for _ in range(6):
        meet(counts, order)
    assert order.tolist() == [1] * 6
    assert counts.tolist() == [0, 0, 0, 6, 0]


def test_who_has_waited_a_while_looks_around():
    counts = np.zeros(turns.SHAPE, np.int64)
    add_up(False, counts, PIECES, 1, np.zeros((2, PIECES), np.int64), 1)  # one of seven is done
    while_waiting = kernel(lambda counts, count: turns.unfinished(counts, count))
    assert while_waiting(counts, 2)
    assert not while_waiting(counts, 1)


@kernel
def add_up_own(steps, pieces, threads, me, stages, table):
    """As ``add_up``, by owners."""
    for stage in range(stages):
        while True:
            piece = turns.next_own(steps, pieces, threads, me, stage)
            if piece < 0:
                break
            total = 0
            for other in range(pieces):
                total += table[stage, other]
            table[stage + 1, piece] += total % 1009 + stage * pieces + piece
            turns.done_own(steps, piece, stage)


@pytest.mark.parametrize("there", [1, 2, 3, 7])
@pytest.mark.parametrize("missing", [0, 2])
def test_owners_who_do_not_come_are_stood_in_for(there, missing):
    table, steps = np.zeros((STAGES + 1, PIECES), np.int64), np.zeros(turns.steps_shape(PIECES))
    steps, threads, engine = steps.astype(np.int64), there + missing, Threads(there)
    with engine.open():
        engine.run(lambda me: add_up_own(steps, PIECES, threads, me, STAGES, table), there)
    np.testing.assert_array_equal(table, expected())


def test_whoever_comes_when_all_is_done_finds_nothing():
    table, steps = np.zeros((STAGES + 1, PIECES), np.int64), np.zeros(turns.steps_shape(PIECES))
    steps = steps.astype(np.int64)
    for me in range(3):
        add_up_own(steps, PIECES, 3, me, STAGES, table)
    np.testing.assert_array_equal(table, expected())


@kernel
def take(counts):
    return turns.next_piece(counts, PIECES, STAGES)


@kernel
def take_own(steps):
    return turns.next_own(steps, PIECES, 3, 0, 0)


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("leads", [False, True])
def test_nobody_waits_for_what_a_thread_that_failed_had_in_hand(owned, leads):
    """A piece is taken and never done, so that without help all others would wait for ever."""
    counts = np.zeros(turns.steps_shape(PIECES) if owned else turns.SHAPE, np.int64)
    table, failed = np.zeros((STAGES + 1, PIECES), np.int64), threading.Lock()
    taken = threading.Event()

    def work(mine):
        if mine is leads and failed.acquire(blocking=False):
            assert (take_own if owned else take)(counts) >= 0
            taken.set()
            time.sleep(0.05)  # until the others wait
            raise MemoryError("no room")
        assert taken.wait(30)
        if owned:
            return bool(add_up_own(counts, PIECES, 3, 1 + mine, STAGES, table))
        return bool(add_up(mine, counts, PIECES, STAGES, table, 10**6))

    def fit():
        engine = Threads(3)
        with engine.open(), pytest.raises(MemoryError, match="no room"):
            engine.together(work, 3, counts=[counts])
        ended.set()

    ended = threading.Event()
    threading.Thread(target=fit, daemon=True).start()  # if they do wait, the test shall not
    assert ended.wait(60)
