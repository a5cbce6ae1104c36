"""Block-coordinate Frank–Wolfe over graphs: the structured SVM where an argmax is dear, and may be inexact.

    primal  F(w) = C Σ s_i max_y [score(y) + cost(y_i, y) − score(y_i)] + ½ l2 ‖w‖²
    dual    D    = Σ ℓ_i − ½ l2 ‖w‖²,        w = Σ w_i

Each example owns a share w_i of the weights and ℓ_i of the expected cost, at first 0. A visit finds the best
labelling ŷ under score + cost, whose corner is w_s = C s_i / l2 · (Ψ(y_i) − Ψ(ŷ)), ℓ_s = C s_i cost(y_i, ŷ),
and goes there as far as is best for D:

    γ = [ l2 ⟨w_i − w_s, w⟩ − ℓ_i + ℓ_s ] / ( l2 ‖w_i − w_s‖² ),   kept in [0, 1]

Any labelling gives a corner of the dual, so D is a true lower bound whatever the space finds. F needs the
maximum: where a space is not sure of it, its bound is taken, so that the gap stays a certificate.

Lacoste-Julien, Jaggi, Schmidt and Pletscher 2013 (ICML), algorithm 4.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from .. import checks
from ..engines import Shard
from ..errors import Unsupported
from ..layouts import Linked
from ..losses.structured import augmented
from ..objective import Objective, Point
from ..records import Floats, Scores, Solution
from .base import Solver
from .report import Report

__all__ = ["BlockFrankWolfe", "visited"]

LOOK = 5
"""Epochs after which the true gap is computed even if the end is not near."""


@final
class BlockFrankWolfe(Solver):
    """Block-coordinate Frank–Wolfe for graphs; visits are in a new order every epoch.

    >>> import numpy as np
    >>> from argmax import GraphLabeler
    >>> X = [(np.array([[0.0], [0.2], [1.0]]), np.array([[0, 1], [1, 2]]))]
    >>> GraphLabeler(loss="hinge", C=10.0).fit(X, [[0, 0, 1]]).solution_.solver
    'block_frank_wolfe'
    """

    name = "block_frank_wolfe"
    needs_smooth = False
    needs_random_access = True
    handles_no_penalty = False

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    def check(self, objective: Objective) -> None:
        problem = objective.problem
        if problem.loss.name != "hinge" or not isinstance(problem.layout, Linked):
            raise Unsupported(f"solver {self.name!r} belongs to loss='hinge' of GraphLabeler.")
        super().check(objective)

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        report.solver = self.name
        climb, rng = _Climb(objective), np.random.default_rng(self.seed or 0)
        wanted, epochs = report.tol * objective.zero, 0
        while True:
            estimate = climb.epoch(rng, report)
            epochs += 1
            near, last = estimate <= wanted, report.passes + epochs >= report.max_iter
            if not (near or last or epochs >= LOOK or report.out_of_time()):
                continue
            point = climb.look()
            wanted = 0.5 * estimate if near else wanted
            stop = report(objective, point.w, point.value, point.gap, epochs)
            epochs = 0
            if stop or report.certified(point):
                return report.solution(objective, point, self.name)


def visited(objective: Objective, shard: Shard, place: int, w: Floats) -> tuple[float, Floats]:
    """The loss of one example at w, and its gradient."""
    problem, only = objective.problem, slice(place, place + 1)
    assert isinstance(problem.layout, Linked)
    structures = shard.structures[only]
    truth = shard.truth.block(only, slice(*shard.structures.node_range(place, place + 1)))
    scores, gradient = problem.layout.scores(structures, w), np.zeros(len(w))
    assert scores.edge is not None
    residual = Scores(np.empty(scores.node.shape), np.zeros(scores.edge.shape))
    value = float(problem.loss.evaluate(problem.space, scores, truth, residual)[0])
    problem.layout.adjoint(structures, residual, gradient)
    return value, gradient


@final
class _Climb:
    """The dual point, and the best primal one so far."""

    def __init__(self, objective: Objective) -> None:
        layout = objective.problem.layout
        assert isinstance(layout, Linked)
        self.objective, self.layout = objective, layout
        self.examples = [(shard, i) for shard in objective.shards for i in range(len(shard))]
        size = len(self.examples) * self.layout.size
        checks.memory(
            8.0 * size,
            f"the shares of {len(self.examples)} graphs in {self.layout.size} weights",
            "Use fewer graphs or features, or loss='pseudo'.",
        )
        self.shares = np.zeros((len(self.examples), self.layout.size))
        self.costs, self.w = np.zeros(len(self.examples)), np.zeros(self.layout.size)
        self.best: Point | None = None

    def epoch(self, rng: np.random.Generator, report: Report) -> float:
        """A visit to every example. Returns the sum of the gaps found on the way."""
        total = 0.0
        for i in rng.permutation(len(self.examples)).tolist():
            if report.out_of_time():
                return math.inf
            total += self._visit(i)
        return total

    def _visit(self, i: int) -> float:
        objective = self.objective
        value, gradient = visited(objective, *self.examples[i], self.w)
        cost = objective.C * (value - float(gradient @ self.w))
        ahead = -objective.C / objective.l2 * gradient - self.shares[i]
        gap = cost - self.costs[i] - objective.l2 * float(ahead @ self.w)
        bend = objective.l2 * float(ahead @ ahead)
        step = 1.0 if bend <= 0.0 else min(max(gap / bend, 0.0), 1.0)
        self.shares[i] += step * ahead
        self.w += step * ahead
        self.costs[i] += step * (cost - self.costs[i])
        return float(max(gap, 0.0))

    def look(self) -> Point:
        """The best point so far, with the gap that the dual proves."""
        objective = self.objective
        point = objective.at(self.w.copy())
        if self.best is None or point.value < self.best.value:
            self.best = point
        dual = float(self.costs.sum()) - 0.5 * objective.l2 * float(self.w @ self.w)
        self.best.prove(dual - self._doubt(self.best.w))
        return self.best

    def _doubt(self, w: Floats) -> float:
        """C Σ s_i (bound − value): by how much F may be larger than what was found."""
        objective, total = self.objective, 0.0
        for shard in objective.shards:
            for block in range(len(shard.blocks)):
                structures, truth, _ = shard.open(block)
                scores = self.layout.scores(structures, w)
                answer = objective.problem.space.argmax(augmented(scores, truth))
                slack = answer.bound - answer.value
                total += float(slack.sum() if truth.weight is None else slack @ truth.weight)
        return float(objective.C * total)
