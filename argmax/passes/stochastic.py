"""Steps on single sequences, for weights of attribute–label pairs: what stochastic solvers run.

    Walk     a w that changes after every sequence, in the form that kernels change: scale · (table, lists, …)

Serial by nature, and in the memory of this process. (Mixing the w of several threads that went their own ways
was worse than one thread's, in time too.)
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ..engines import Shard, limits
from ..kernels import attributes, tagging, triples
from ..kernels.attributes import Weights
from ..records import Floats, Ints
from ..spaces import Chain
from .problem import Problem
from .sequences import by_order, closed_edges, plan_of, tokens_at_once

__all__ = ["Walk"]

CHUNK = 4_000_000
"""Tokens, times labels squared, between two looks at the clock: what attributes take is of that order."""


@final
class Walk:
    """Weights on the way: ``descend`` takes gradient steps, ``perceive`` perceptron updates.

    Given the shard and the problem, w to start with, and perhaps how an engine shares work out.
    """

    def __init__(self, shard: Shard, problem: Problem, w: Floats, share: Any = None) -> None:
        layout, space = problem.pairs, problem.space
        assert isinstance(space, Chain)
        self.shard, self.problem, self.layout = shard, problem, layout
        self.prepared = plan_of(shard, problem, share)
        self.rules = space.constraints
        self.truth = shard.truth
        K, P, dtype = layout.labels, layout.width, layout.dtype
        # The table holds whole rows; what is no pair must stay 0 in it.
        self.mask = self._expanded(np.ones(layout.bounds[1]))
        self.closed = np.zeros(P, dtype)  # −inf for labels that no sequence may begin with
        if self.rules is not None:
            self.closed[:K][~self.rules.start] = -np.inf
        self.edge_closed = self._edge(closed_edges(problem, np.zeros(layout.size)))
        self.state = np.array([1.0, 0.0])
        one = np.ones(1)
        self.weight: Floats = one if self.truth.weight is None else self.truth.weight
        self.cost: Floats = np.zeros((0, K)) if self.truth.cost is None else self.truth.cost
        self.cost = self.cost.astype(dtype)
        self.cost_scale: Floats = one if self.truth.cost_scale is None else self.truth.cost_scale
        self.set(w)

    def __len__(self) -> int:
        return len(self.prepared.offsets) - 1

    @property
    def visits(self) -> Ints:
        """The sequences that say something: with tokens, and a weight."""
        weight = np.broadcast_to(self.weight, len(self))
        return np.flatnonzero((np.diff(self.prepared.offsets) > 0) & (weight > 0))

    def _expanded(self, pairs: Floats) -> Floats:
        layout, light = self.layout, self.layout.bounds[0]
        table = np.zeros((len(layout.heavy) - 1) * layout.width, layout.dtype)
        rows = len(layout.heavy) - 1
        values = pairs[light:].astype(layout.dtype)
        attributes.expand(values, layout.heavy, layout.heavy_codes, 0, rows, layout.width, table)
        return table

    def set(self, w: Floats) -> None:
        """Go on from w."""
        layout, rules = self.layout, self.rules
        first, last = (None, None) if rules is None else (rules.start, rules.end)
        self.weights: Weights = layout.weights(w, first, last)
        self.edge = self._edge(closed_edges(self.problem, w))
        self.state[0] = 1.0

    def _edge(self, edges: tuple[Floats, Floats]) -> Floats:
        """The transitions as kernels of single steps change them: see ``kernels.tagging``."""
        M, Mt = edges
        K = self.layout.labels
        return M if M.ndim == 1 else Mt.reshape(K + 1, K, -1)

    def copy(self) -> Walk:
        """Another one at the same place."""
        other = object.__new__(Walk)
        other.__dict__.update(vars(self))
        changing = {"table", "light", "once", "first"}
        other.weights = Weights(
            *(
                a.copy() if n in changing else a
                for n, a in zip(Weights._fields, self.weights, strict=True)
            )
        )
        other.edge, other.state = self.edge.copy(), self.state.copy()
        return other

    def late(self, w: Floats | None = None) -> Walk:
        """w, or zeros, in float64: counts times updates do not fit into float32."""
        other, layout = self.copy(), self.layout
        w = np.zeros(layout.size) if w is None else w
        other.weights = layout.weights(w, dtype=np.float64)
        other.edge, other.state = np.zeros(self.edge.shape), np.array([1.0, 0.0])
        table = layout.edge(w)
        if table is not None:
            other._write(table)
        return other

    def _write(self, table: Floats) -> None:
        """The transitions of ``table`` (states, K) into the edge."""
        K, P = self.layout.labels, self.layout.width
        if self.edge.ndim == 3:
            turned = triples.turned(by_order(table), P, self.edge.dtype, 0.0)
            self.edge[:] = turned.reshape(self.edge.shape)
        else:
            self.edge.reshape(P, P)[:K, :K] = table

    def _table(self) -> Floats:
        """The transitions of the edge (states, K)."""
        K, P = self.layout.labels, self.layout.width
        if self.edge.ndim == 3:
            return np.asarray(triples.turned_back(self.edge, K)).reshape(-1, K)
        return self.edge.reshape(P, P)[:K, :K]

    def flat(self) -> Floats:
        """w."""
        weights, layout = self.weights, self.layout
        K, P = layout.labels, layout.width
        light, pairs, once, start, _ = layout.bounds
        w = np.zeros(layout.size)
        w[:light], w[pairs:once] = weights.light, weights.once
        attributes.collect(weights.table, layout.heavy, layout.heavy_codes, P, w[light:pairs])
        if layout.start:
            first = weights.first[:K].astype(float)
            w[once:start] = np.where(np.isfinite(first), first, 0.0)
        if layout.states:
            table = self._table().astype(float)
            w[start:] = np.where(np.isfinite(table), table, 0.0).ravel()
        w *= self.state[0]
        return w

    def descend(self, order: Ints, eta: float, decay: float) -> float:
        """Gradient steps on the sequences of ``order``; the sum of their losses before each step."""
        loss = 0.0
        for some in self.pieces(order):
            limits.look()
            loss += tagging.descend(
                self.prepared.plan, self.weights, self.mask, self.edge, self.prepared.labels,
                self.prepared.offsets, some, self.weight, self.state, eta, decay, self.cost, self.cost_scale,
                self.layout.lanes,
            )  # fmt: skip
            self._kept_closed()
        return float(loss)

    def pieces(self, order: Ints) -> list[Ints]:
        """The sequences of ``order`` in pieces that a kernel works on before it returns."""
        tokens = tokens_at_once(self.layout) or max(CHUNK // self.layout.width**2, 1)
        if not len(order):
            return [order]
        ends = np.cumsum(np.diff(self.prepared.offsets)[order])
        cuts = np.flatnonzero(np.diff(ends // tokens)) + 1
        return np.split(order, cuts)

    def perceive(
        self, order: Ints, late: Walk, count: int, growth: float = 0.0
    ) -> tuple[int, int, float]:
        """Perceptron updates; at step ``count`` wrong labels get growth · (count − 1) · cost on top.

        ``late`` adds up count · update. Returns the wrong tokens, the count, and Σ weight · cost of the
        answers.
        """
        wrong, paid = 0, 0.0
        for some in self.pieces(order):
            limits.look()
            more, count, cost = tagging.perceive(
                self.prepared.plan, self.weights, late.weights, self.mask, self.edge, late.edge,
                self.prepared.labels, self.prepared.offsets, some, self.weight, count,
                self.cost, self.cost_scale, growth, self.layout.lanes,
            )  # fmt: skip
            wrong, paid = wrong + more, paid + cost
            self._kept_closed()
        return int(wrong), int(count), float(paid)

    def _kept_closed(self) -> None:
        if not self.layout.start:
            self.weights.first[:] = self.closed
        if not self.layout.states:
            self.edge[:] = self.edge_closed
