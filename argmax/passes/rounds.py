"""Passes of one kernel over the same rows, again and again: who waits for the next one stays inside."""

from __future__ import annotations

import threading
from typing import Any, final

import numpy as np

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..layouts import Weights, csr_arguments
from ..memory import cache_aligned
from ..records import Csr, Floats
from .sums import tables_needed, weight_or_one

__all__ = ["Relay", "Round", "evaluate"]


def evaluate(
    shard: Shard, crew: Crew, stamp: Stamp, weights: Weights, ready: bool, kept: Floats
) -> Sums:
    """Log loss and gradient of a shard in memory, whose scores go to ``kept``, or are ``ready`` there.

    Shards that follow are begun at once, and what comes of them waits for whoever asks: so no thread is idle
    between two of them.
    """
    first = Round.of(shard, crew, weights, kept)
    if first.ahead is not None and first.ahead[0] is stamp:
        (_, sums), first.ahead = first.ahead, None
        return sums
    rounds = [first]
    for other in () if ready else crew.following:
        if other.on_disk or other.by_columns:
            break
        room = other.slots.keep("node", stamp, (other.structures.nodes, kept.shape[1]))
        rounds.append(Round.of(other, crew, weights, room))
    found = Relay.of(shard, rounds)(crew, weights, ready)
    for later, sums in zip(rounds[1:], found[1:], strict=True):
        later.ahead = stamp, sums
    return found[0]


@final
class Round:
    """Log losses and gradients of a shard in memory, by its row parts (``fused.dense_log_parts``).

    From one pass to the next the arguments of the kernel stay the same arrays, and what is in them changes.
    So a thread that has nothing left to do waits for the next pass inside the kernel, a few milliseconds, and
    begins at once; through the interpreter, whose lock they queue for, sixteen take half a millisecond.
    ``ahead`` is what came of a pass that the shard before this one has begun.
    """

    @classmethod
    def of(cls, shard: Shard, crew: Crew, weights: Weights, kept: Floats) -> Round:
        """The round that this pass is one of: the last one of the shard, or a new one."""
        found: Round = shard.made(
            "round",
            lambda: cls(shard, crew, weights, kept),
            lambda last: last.fits(crew, weights, kept),
        )
        return found

    def __init__(self, shard: Shard, crew: Crew, weights: Weights, kept: Floats) -> None:
        from ..kernels import fused, partial_sums, turns

        self.bell, self.kept, self.parts = crew.bell, kept, shard.parts
        self.ahead: tuple[Stamp, Sums] | None = None
        self.W, self.b = cache_aligned(weights.W.shape, weights.W.dtype), np.empty_like(weights.b)
        self.ready, self.values = np.zeros(1, np.int64), np.zeros(self.parts)
        self.tables = np.zeros((tables_needed(crew.n, self.parts), shard.layout.size))
        self.book = np.zeros((partial_sums.ROWS, max(turns.SHAPE, self.parts + 1)), np.int64)
        self.turns = self.book[partial_sums.TURNS]
        self._places = self.book[partial_sums.PLACES]
        rows, truth = shard.structures.rows, shard.truth
        given = csr_arguments(rows) if isinstance(rows, Csr) else (rows,)
        self._kernel = fused.csr_log_parts if shard.sparse else fused.dense_log_parts
        self._begin = partial_sums.begin
        self._given: tuple[Any, ...] = (
            shard.at_once(self.parts), shard.part_starts, *given, self.W, self.b, truth.labels,
            weight_or_one(truth.weight), self.ready, kept, self.tables, self.values, self.book, self.bell,
        )  # fmt: skip

    def fits(self, crew: Crew, weights: Weights, kept: Floats) -> bool:
        """Whether a pass with these is one of this round."""
        same = self.kept is kept and self.bell is crew.bell
        return same and self.W.shape == weights.W.shape and self.W.dtype == weights.W.dtype

    def begin(self, weights: Weights, ready: bool) -> None:
        """From now on whoever is, or comes, inside has something to do."""
        self.W[:], self.b[:], self.ready[0] = weights.W, weights.b, ready
        self._begin(len(self.tables), self.book)

    def work(self, role: int) -> bool:
        """Do parts, in one of the roles of ``kernels.turns``."""
        return bool(self._kernel(role, *self._given))

    def sums(self) -> Sums:
        """What has come of it, when all parts are done."""
        gradient = self.tables[self._places[0]].copy()
        return {"value": float(self.values[0]), "gradient": gradient}


@final
class Relay:
    """Rounds of shards that follow each other. Whoever finds nothing left to do in one goes to the next.

    Those who help stay inside the last one, and begin there when the next pass comes; then they go through
    the others.
    """

    @classmethod
    def of(cls, shard: Shard, rounds: list[Round]) -> Relay:
        """The relay that begins with this shard: the last one, or a new one."""
        found: Relay = shard.made(
            "relay", lambda: cls(rounds), lambda last: bool(last.rounds == rounds)
        )
        return found

    def __init__(self, rounds: list[Round]) -> None:
        self.rounds, self.inside, self._lock = rounds, 0, threading.Lock()
        self.errors: list[BaseException] = []

    def __call__(self, crew: Crew, weights: Weights, ready: bool) -> list[Sums]:
        for one in self.rounds:
            one.begin(weights, ready)
        parts, counts = sum(one.parts for one in self.rounds), [one.turns for one in self.rounds]
        crew.together(self._work, parts, self, counts)
        return [one.sums() for one in self.rounds]

    def _work(self, leads: bool) -> bool:
        from ..kernels.turns import HELPS, LEADS, PASSES, STAYS, WAITS

        *others, last = self.rounds
        if leads:
            return (
                any(one.work(PASSES) for one in others)
                or last.work(LEADS)
                or any(one.work(LEADS) for one in others)
            )
        self._count(1)
        try:
            rung = last.bell[0]
            for one in others:
                one.work(HELPS)
                if last.bell[0] != rung:  # an interrupt, perhaps: many shards may be left
                    return False
            return last.work(WAITS if others else STAYS)
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        """Who is ``inside``: waiting in a kernel, or at work there."""
        with self._lock:
            self.inside += change
