"""``partial_fit`` of sequence models: one pass of single steps over some sequences, then the next ones.

    perceptron             updates, and their average over everything seen so far
    log, softmax_margin    stochastic gradient steps at a falling rate (``solvers.averaged``)

The attributes are those of the first call (or hashed); pairs with labels that come up later get weights then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from .. import engines
from ..layouts import Pairs
from ..losses import Loss
from ..passes import Problem
from ..records import Csr, Floats, Ints, Structures, Truth
from ..spaces import Chain

__all__ = ["Online"]

SAMPLE = 1000
"""Sequences of the first call that the rate is calibrated on."""


@final
@dataclass
class Parts:
    """Weights that belong to no layout: (d, K) sparse, (K,), (states, K)."""

    coef: Any
    start: Floats
    edges: Floats

    @classmethod
    def zeros(cls, d: int, space: Chain) -> Parts:
        return cls(
            sp.csr_array((d, space.k)), np.zeros(space.k), np.zeros((1, space.states, space.k))
        )

    @classmethod
    def of(cls, layout: Pairs, w: Floats) -> Parts:
        named = layout.named(w)
        return cls(named["coef"].T.tocsr(), named["start"], named["edges"])

    def packed(self, layout: Pairs) -> Floats:
        return layout.pack(self.coef, self.start, self.edges)


@final
@dataclass
class Online:
    """What is known after some calls: the last weights, those of the late sum, and how much was seen."""

    space: Chain
    loss: Loss
    start: bool
    decay: float  # l2 / C
    seed: int
    count: int = 1  # sequences seen, and 1
    eta: float = 0.0
    last: Parts | None = field(default=None, repr=False)
    late: Parts | None = field(default=None, repr=False)

    def learn(self, rows: Csr, offsets: Ints, truth: Truth) -> tuple[Pairs, Floats]:
        """One pass; returns the weights that answers are given with."""
        from ..passes.stochastic import Walk

        if self.last is None or self.late is None:
            self.last, self.late = (Parts.zeros(rows.width, self.space) for _ in range(2))
        layout = self._layout(rows, truth.labels)
        shard = engines.cut(Structures(rows, offsets), truth, layout)[0]
        walk = Walk(shard, Problem(self.space, layout, self.loss), self.last.packed(layout))
        order = np.random.default_rng([self.seed, self.count]).permutation(len(walk))
        if self.loss.name != "perceptron":
            self._descend(walk, order)
            self.last = Parts.of(layout, walk.flat())
            return layout, self.last.packed(layout)
        late = walk.late(self.late.packed(layout))
        _, self.count, _ = walk.perceive(order, late, self.count)
        self.last, self.late = Parts.of(layout, walk.flat()), Parts.of(layout, late.flat())
        return layout, walk.flat() - late.flat() / self.count

    def _layout(self, rows: Csr, labels: Ints) -> Pairs:
        """The pairs of these sequences, and those of all before."""
        assert self.last is not None
        seen = Pairs.observed(rows, labels, self.space.k)
        pattern = seen.named(np.ones(seen.size))["coef"].T.tocsr() + abs(self.last.coef)
        return Pairs.of(pattern, start=self.start, states=self.space.states)

    def _descend(self, walk: Any, order: Ints) -> None:
        from ..solvers.averaged import calibrated

        decay = self.decay / max(self.count + len(order), 1)
        if not self.eta:
            self.eta = calibrated(walk, order[:SAMPLE], decay)
        walk.state[1] = self.count - 1
        walk.descend(order, self.eta, decay)
        self.count += len(order)
