"""Threads: order, errors, nesting, and BLAS."""

import pickle
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from argmax import LinearClassifier
from argmax.engines import Shard, Threads
from argmax.engines.threads import one_blas_thread
from argmax.errors import InvalidInput, WrongType
from argmax.features import Table
from argmax.layouts import Full
from argmax.records import Structures, Truth


def blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 3, 50])
def test_results_come_in_order(n, count):
    engine = Threads(n)
    with engine.open():
        assert engine.run(lambda i: i * i, count) == [i * i for i in range(count)]


def test_pieces_run_side_by_side():
    engine, met = Threads(2), threading.Barrier(2, timeout=10)
    with engine.open():
        engine.run(lambda i: met.wait(), 2)  # breaks unless both pieces run at once


@pytest.mark.parametrize("n", [1, 3])
def test_an_error_in_a_piece_is_raised_here(n):
    engine = Threads(n)

    def piece(i):
        if i == 5:
            raise ZeroDivisionError(f"piece {i}")
        return i

    with engine.open():
        with pytest.raises(ZeroDivisionError, match="piece 5"):
            engine.run(piece, 20)
        assert engine.run(abs, 3) == [0, 1, 2]


def test_after_an_error_no_new_pieces_are_begun():
    engine, begun = Threads(2), []

    def piece(i):
        begun.append(i)
        if i == 0:
            raise KeyboardInterrupt
        time.sleep(0.01)

    with engine.open(), pytest.raises(KeyboardInterrupt):
        engine.run(piece, 500)
    assert len(begun) < 100


@pytest.mark.parametrize("n", [1, 2, 5])
def test_together_all_threads_are_called_and_one_leads(n):
    engine, met, led = Threads(n), threading.Barrier(n, timeout=10), []

    def work(leads):
        led.append(leads)
        met.wait()  # breaks unless all of them are called
        return False

    with engine.open():
        engine.together(work, 100)
    assert sorted(led) == [False] * (n - 1) + [True]


def test_together_no_more_are_called_than_can_help():
    engine, led = Threads(5), []
    with engine.open():
        engine.together(lambda leads: bool(led.append(leads)), 1)
        engine.together(lambda leads: bool(led.append(leads)), 2)
    assert led.count(True) == 2
    assert len(led) == 3


def test_together_whoever_leads_is_called_until_all_is_done():
    engine, calls = Threads(1), iter([True, True, False])
    with engine.open():
        engine.together(lambda leads: next(calls), 4)
    assert next(calls, None) is None


@pytest.mark.parametrize("leads", [True, False])
def test_together_an_error_is_raised_here_after_all_have_stopped(leads):
    engine, working, gone = Threads(3), threading.Event(), []

    def work(mine):
        if mine is leads:
            working.wait(10)
            raise MemoryError("no room")
        working.set()
        time.sleep(0.01)
        gone.append(mine)
        return mine  # who leads waits for what will never be done

    with engine.open(), pytest.raises(MemoryError, match="no room"):
        engine.together(work, 3)
    assert gone.count(False) == (2 if leads else 0)


def test_without_open_the_caller_works_alone():
    here = threading.current_thread()
    assert Threads(4).run(lambda i: threading.current_thread() is here, 5) == [True] * 5


def test_threads_end_with_the_last_user():
    engine = Threads(3)
    with engine.open():
        with engine.open():
            engine.run(lambda i: time.sleep(0.01), 6)
        names = [t.name for t in threading.enumerate() if t.name.startswith("argmax")]
        assert names
        assert engine.run(abs, 3) == [0, 1, 2]
    assert not [t for t in threading.enumerate() if t.name.startswith("argmax")]


def test_an_engine_pickles_even_while_open():
    engine = Threads(3)
    with engine.open():
        copy = pickle.loads(pickle.dumps(engine))
    assert repr(copy) == "Threads(3)"
    with copy.open():
        assert copy.run(abs, 2) == [0, 1]


@pytest.mark.parametrize(("n", "error"), [(0, InvalidInput), (-2, InvalidInput), (1.5, WrongType)])
def test_the_number_of_threads_is_checked(n, error):
    with pytest.raises(error, match="n_threads must be"):
        Threads(n)


def test_none_means_all_cores():
    assert Threads().n >= 1


def test_fold_adds_in_the_order_of_the_shards():
    def task(shard, crew, factor):
        return {"sum": len(shard) * factor, "all": [len(shard)]}

    rows = [Structures(np.zeros((n, 1))) for n in (1, 2, 3)]
    shards = [Shard(part, Truth(np.zeros(len(part), int)), Full(1, 2)) for part in rows]
    assert Threads(2).fold(task, shards, 10) == {"sum": 60, "all": [1, 2, 3]}
    assert Threads(2).fold(task, [], 10) == {}
    assert [part["sum"] for part in Threads(2).each(task, shards, 10)] == [10, 20, 30]


def test_blas_has_one_thread_inside_and_its_own_number_after():
    before = blas_threads()
    with Threads(2).open():
        assert blas_threads() <= {1}
    assert blas_threads() == before


def test_the_last_one_out_restores_blas():
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() <= {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


class Waiting:
    """A kernel in which threads stay until the bell rings, as a room is."""

    def __init__(self, engine):
        self.engine, self.inside, self.lock = engine, 0, threading.Lock()
        self.came, self.errors = threading.Semaphore(0), []

    def work(self, leads):
        if leads:
            return False
        rung = int(self.engine.bell[0])
        with self.lock:
            self.inside += 1
        self.came.release()
        while self.engine.bell[0] == rung:
            time.sleep(0.001)
        with self.lock:
            self.inside -= 1
        return False

    def all_came(self, count):
        return all(self.came.acquire(timeout=10) for _ in range(count))


def test_who_has_stayed_in_a_room_is_not_called_again():
    engine = Threads(3)
    with engine.open():
        room = Waiting(engine)
        engine.together(room.work, 9, room)
        assert room.all_came(2)
        engine.together(room.work, 9, room)
        assert room.inside == 2
        assert not room.came.acquire(timeout=0.05)


@pytest.mark.parametrize("other", ["pieces", "room", "error"])
def test_other_work_calls_them_out(other):
    engine, met = Threads(3), threading.Barrier(3, timeout=10)
    with engine.open():
        room = Waiting(engine)
        engine.together(room.work, 9, room)
        assert room.all_came(2)
        if other == "pieces":
            engine.run(lambda i: met.wait(), 3)  # breaks unless all three take part
        elif other == "room":
            engine.together(lambda leads: bool(met.wait() < 0), 9, Waiting(engine))
        else:

            def stop(leads):
                raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                engine.together(stop, 9, room)
        assert room.inside == 0


class Failing(Waiting):
    """A room in which whoever has stayed fails in a later pass, when ``now`` is set."""

    def __init__(self, engine):
        super().__init__(engine)
        self.now, self.counts = threading.Event(), np.zeros(4, np.int64)

    def work(self, leads):
        if leads:  # as in a kernel: nothing is unfinished once the counts are beyond it
            while self.now.is_set() and self.counts[0] < 1:
                time.sleep(0.001)
            return False
        with self.lock:
            self.inside += 1
        self.came.release()
        try:
            assert self.now.wait(10)
            raise MemoryError("no room")
        finally:
            with self.lock:
                self.inside -= 1


@pytest.mark.parametrize("same", [True, False])
def test_who_has_stayed_and_fails_later_is_not_overheard(same):
    """What he had in hand belongs to the later pass, which must not end as if it were whole."""
    engine = Threads(2)
    with engine.open():
        room = Failing(engine)
        engine.together(room.work, 9, room, [room.counts])
        assert room.all_came(1)
        room.now.set()
        other = room if same else Waiting(engine)
        with pytest.raises(MemoryError, match="no room" if same else "ran out of memory"):
            engine.together(lambda leads: leads and room.work(leads), 9, other, [room.counts])
        assert room.inside == 0
        room.now.clear()
        room.counts[:] = 0
        engine.together(lambda leads: False, 1, room, [room.counts])  # and it is forgotten


@pytest.mark.parametrize("n", [1025, 10**9])
def test_more_threads_than_any_machine_has_cores_are_refused(n):
    says = f"n_threads must be at most 1024; got {n}"
    with pytest.raises(InvalidInput, match=says):
        Threads(n)
    with pytest.raises(InvalidInput, match=says):
        LinearClassifier(n_threads=n).fit(np.eye(3), [0, 1, 2])
    with pytest.raises(InvalidInput, match=says):
        Table(n_threads=n).fit({"a": ["x", "y"]})
