"""The dual of the structured hinge loss, for weights of attribute–label pairs: what Frank–Wolfe climbs.

    Ascent    a distribution over the label sequences of every sequence, and the w that they stand for

In the memory of this process, as ``Walk``: twenty bytes for each token to begin with, later some sixty.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ..engines import Shard
from ..kernels import frank_wolfe
from ..kernels.frank_wolfe import Corpus, Moving, Support
from ..records import Floats, Ints
from .problem import Problem
from .stochastic import Walk

__all__ = ["Ascent"]

ROOM = 2
"""Pairs of labels that a token has places for to begin with. Where they run out, there are twice as many."""


@final
class Ascent:
    """A point of the dual. It begins with all mass on the right labels: w = 0."""

    def __init__(self, shard: Shard, problem: Problem, C: float, l2: float) -> None:
        self.walk = walk = Walk(shard, problem, np.zeros(problem.layout.size))
        self.l2, self.visits = l2, walk.visits
        n, offsets = len(walk), walk.prepared.offsets
        self.kappa = walk.weight * np.full(n, C / l2)
        given = walk.cost, np.broadcast_to(walk.cost_scale, len(walk.prepared.labels)).copy()
        self.corpus = Corpus(walk.prepared.plan, walk.prepared.labels, offsets, self.kappa, *given)
        self.gaps, self.mixed, self.full = np.zeros(n), np.zeros(n, bool), np.zeros(n, bool)
        room = np.zeros(n, np.int64)
        room[self.visits] = ROOM
        self.support = self._places(room)
        frank_wolfe.begin(self.corpus, self.support)
        self._moving()

    def values(self) -> dict[str, Any]:
        """Copies of the marginals."""
        room, _, before, code, mass = self.support
        arrays = {"room": room, "before": before, "code": code, "mass": mass}
        return {name: array.copy() for name, array in arrays.items()}

    def restore(self, kept: dict[str, Any]) -> None:
        """Go on from such marginals."""
        self.support = self._places(np.asarray(kept["room"]))
        for name in ("before", "code", "mass"):
            getattr(self.support, name)[:] = kept[name]

    def _places(self, room: Ints) -> Support:
        ends = np.cumsum(room * np.diff(self.corpus.offsets))
        size, code = int(ends[-1]), self.walk.layout.codes.dtype
        begin = np.concatenate([[0], ends[:-1]])
        return Support(room, begin, np.zeros(size, code), np.zeros(size, code), np.zeros(size))

    def _moving(self) -> None:
        walk, zeros = self.walk, self.walk.late()
        table, light, _, once, _, first, _ = zeros.weights
        direction = table, light, once, first, zeros.edge
        flags = walk.layout.start, walk.layout.states > 0
        self.moving = Moving(walk.weights, walk.edge, *direction, walk.mask, *flags)

    def visit(self, order: Ints) -> float:
        """A step towards the best path of each of these sequences; returns how much the dual grew."""
        given = self.corpus, self.moving, self.support, order, self.gaps, self.mixed, self.full
        return self.l2 * float(frank_wolfe.visit(*given, self.walk.layout.lanes))

    def improve(self, order: Ints) -> float:
        """Steps between the paths that have mass."""
        given = self.corpus, self.moving, self.support, order, self.full
        return self.l2 * float(frank_wolfe.improve(*given))

    def make_room(self) -> None:
        """Twice as many places for the sequences that lacked some: their steps were left out."""
        if self.full.any():
            room = np.where(self.full, 2 * self.support.room, self.support.room)
            old, self.support = self.support, self._places(room)
            frank_wolfe.copy(self.corpus.offsets, old, self.support)
            self.full[:] = False

    @property
    def estimate(self) -> float:
        """The gap, as each sequence had it when it was visited last."""
        return self.l2 * float(self.kappa @ self.gaps)

    def point(self) -> tuple[Floats, float]:
        """w and the dual, from the marginals alone; the steps that follow begin at exactly this w."""
        total = self.walk.late()
        paid = frank_wolfe.resum(
            self.corpus, self.walk.mask, self.support, total.weights, total.edge
        )
        w = total.flat()
        self.walk.set(w)
        self._moving()
        return w, self.l2 * (float(paid) - 0.5 * float(w @ w))
