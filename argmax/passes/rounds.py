"""Passes of one kernel over the same rows, again and again: who waits for the next one stays inside."""

from __future__ import annotations

import threading
from typing import Any, final

import numpy as np

from ..engines import Crew, Shard
from ..engines.base import Sums
from ..layouts import Weights, csr_arguments
from ..memory import cache_aligned
from ..records import Csr, Floats
from .sums import tables_needed, weight_or_one

__all__ = ["Round"]


@final
class Round:
    """Log losses and gradients of a shard in memory, by its row parts (``fused.dense_log_parts``).

    From one pass to the next the arguments of the kernel stay the same arrays, and what is in them changes.
    So a thread that has nothing left to do waits for the next pass inside the kernel, a few milliseconds, and
    begins at once; through the interpreter, whose lock they queue for, sixteen take half a millisecond.
    """

    @classmethod
    def of(cls, shard: Shard, crew: Crew, weights: Weights, kept: Floats) -> Round:
        """The round that this pass is one of: the last one of the shard, or a new one."""

        def make() -> Round:
            return cls(shard, crew, weights, kept)

        found: Round = shard.made("round", make)
        if not found.fits(crew, weights, kept):
            shard.unmake("round")
            found = shard.made("round", make)
        return found

    def __init__(self, shard: Shard, crew: Crew, weights: Weights, kept: Floats) -> None:
        from ..kernels import fused, partial_sums, turns

        self.shard, self.bell, self.kept, self.parts = shard, crew.bell, kept, shard.parts
        self.W, self.b = cache_aligned(weights.W.shape, weights.W.dtype), np.empty_like(weights.b)
        self.ready, self.values = np.zeros(1, np.int64), np.zeros(self.parts)
        self.tables = np.zeros((tables_needed(crew.n, self.parts), shard.layout.size))
        self.book = np.zeros((partial_sums.ROWS, max(turns.SHAPE, self.parts + 1)), np.int64)
        self._places = self.book[partial_sums.PLACES]
        self.inside, self._lock = 0, threading.Lock()
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

    def __call__(self, crew: Crew, weights: Weights, ready: bool) -> Sums:
        self.W[:], self.b[:], self.ready[0] = weights.W, weights.b, ready
        self._begin(len(self.tables), self.book)
        crew.together(self._work, self.parts, self)
        gradient = self.tables[self._places[0]].copy()
        return {"value": float(self.values[0]), "gradient": gradient}

    def _work(self, leads: bool) -> bool:
        if leads:
            return bool(self._kernel(True, *self._given))
        self._count(1)
        try:
            return bool(self._kernel(False, *self._given))
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        """Who is ``inside``: waiting in the kernel, or at work there."""
        with self._lock:
            self.inside += change
