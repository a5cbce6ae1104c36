"""Block-coordinate Frank–Wolfe over graphs: the structured SVM where an argmax is dear, and may be inexact.

    primal  F(w) = C Σ s_i max_y [score(y) + cost(y_i, y) − score(y_i)] + ½ l2 ‖w‖²
    dual    D    = Σ ℓ_i − ½ l2 ‖w‖²,        w = Σ w_i

Each example i keeps corners of its own dual: of a labelling ŷ that it once found,

    w_j = C s_i / l2 · (Ψ(y_i) − Ψ(ŷ)),  ℓ_j = C s_i cost(y_i, ŷ)         w_i = Σ α_j w_j,  ℓ_i = Σ α_j ℓ_j

among them that of the truth, which is 0. An exact visit finds the best labelling under score + cost, keeps
its corner, and moves α; a cached visit moves α among the corners that are there, which costs no argmax:
many of these between two rounds of exact ones. α goes from the worst corner it holds to the best, as far as
helps D:

    step = [ g_j − g_k ] / ( l2 ‖w_j − w_k‖² ),   at most α_k         g_j = ℓ_j − l2 ⟨w_j, w⟩

Any labelling gives a corner of the dual, so D is a true lower bound whatever the space finds. F needs the
maximum: where a space is not sure of it, its bound is taken, so that the gap stays a certificate.

Lacoste-Julien, Jaggi, Schmidt and Pletscher 2013 (ICML), algorithm 4; Shah, Kolmogorov and Lampert 2015
(CVPR) for the cache; Osokin et al. 2016 (ICML) for the pairwise steps.
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

LOOK = 10
"""Epochs after which the true gap, as dear as two of them, is computed even if the end is not near."""

CORNERS, NUMBERS = 50, 2**26
"""Corners that an example keeps, and numbers that all of them may have together."""

CACHED, SHARE = 50, 0.1
"""Rounds of cached visits at most, and the share of the gap at which they have done enough."""

STEPS = 100
"""Steps of one visit at most."""


@final
class BlockFrankWolfe(Solver):
    """Block-coordinate Frank–Wolfe with cached corners, for graphs; visits are in a new order every epoch.

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
            began = report.seconds
            point = climb.look()
            report.reserve = report.seconds - began
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
class _Corners:
    """What is known of the loss of one example, and which mixture of it the dual point is."""

    def __init__(self, size: int, limit: int, move: Any) -> None:
        self.limit, self.move = limit, move
        self.corners, self.costs = np.zeros((1, size)), np.zeros(1)
        self.gram, self.alpha = np.zeros((1, 1)), np.ones(1)

    @property
    def cost(self) -> float:
        """ℓ_i."""
        return float(self.alpha @ self.costs)

    def share(self) -> Floats:
        """w_i."""
        return np.asarray(self.alpha @ self.corners)

    def keep(self, corner: Floats, cost: float) -> None:
        """Remember a corner, if it is new."""
        square, products = float(corner @ corner), self.corners @ corner
        apart = square + np.diag(self.gram) - 2.0 * products
        if ((apart <= 1e-12 * square) & np.isclose(self.costs, cost)).any():
            return
        if len(self.alpha) == self.limit:
            self._forget()
            products = self.corners @ corner
        self.corners, self.costs = np.vstack([self.corners, corner]), np.append(self.costs, cost)
        self.gram = np.block([[self.gram, products[:, None]], [products, square]])
        self.alpha = np.append(self.alpha, 0.0)

    def _forget(self) -> None:
        """Drop the oldest corner that α does not use; failing that, merge the two that it uses least."""
        out, into = np.argsort(self.alpha, kind="stable")[:2].tolist()
        if (least := self.alpha[out]) > 0.0:
            total = least + self.alpha[into]
            for values in (self.corners, self.costs):
                values[into] = (least * values[out] + self.alpha[into] * values[into]) / total
            self.alpha[into] = total
            self.gram[into] = self.gram[:, into] = self.corners @ self.corners[into]
        rest = np.arange(len(self.alpha)) != out
        self.corners, self.costs = self.corners[rest], self.costs[rest]
        self.alpha, self.gram = self.alpha[rest], self.gram[np.ix_(rest, rest)]

    def visit(self, w: Floats, l2: float) -> float:
        """Move α to the best that these corners have, and w with it. Returns the gap that there was."""
        slope, before = self.costs - l2 * (self.corners @ w), self.alpha.copy()
        gap = max(float(slope.max() - self.alpha @ slope), 0.0)  # rounding can make it negative
        if self.move(self.gram, slope, self.alpha, l2, 0.01 * gap, STEPS):
            w += (self.alpha - before) @ self.corners
        return gap


def _moved(gram: Floats, slope: Floats, alpha: Floats, l2: float, least: float, steps: int) -> int:
    """As ``kernels.corners.move``, for problems that are not worth a compiler."""
    for made in range(steps):
        best, worst = int(slope.argmax()), int(np.where(alpha > 0, slope, np.inf).argmin())
        rise = slope[best] - slope[worst]
        if rise <= least:
            return made
        turn = gram[best] - gram[worst]
        bend = l2 * (turn[best] - turn[worst])
        step = min(alpha[worst], rise / bend) if bend > 0.0 else alpha[worst]
        alpha[best] += step
        alpha[worst] -= step
        slope -= l2 * step * turn
    return steps


@final
class _Climb:
    """The dual point, and the best primal one so far."""

    def __init__(self, objective: Objective) -> None:
        layout = objective.problem.layout
        assert isinstance(layout, Linked)
        self.objective, self.layout = objective, layout
        self.examples = [(shard, i) for shard in objective.shards for i in range(len(shard))]
        size = max(len(self.examples) * layout.size, 1)
        limit = min(max(NUMBERS // size, 3), CORNERS)
        checks.memory(
            8.0 * size * limit,
            f"{limit} corners of {len(self.examples)} graphs in {layout.size} weights",
            "Use fewer graphs or features, or loss='pseudo'.",
        )
        move = _moved
        if layout.compiled:
            from ..kernels.corners import move  # which imports Numba
        self.known = [_Corners(layout.size, limit, move) for _ in self.examples]
        self.w = np.zeros(layout.size)
        self.best: Point | None = None

    def epoch(self, rng: np.random.Generator, report: Report) -> float:
        """An exact visit to every example, then cached ones. Returns the sum of the gaps of the former."""
        objective, total = self.objective, 0.0
        for i in rng.permutation(len(self.examples)).tolist():
            if report.out_of_time():
                return math.inf
            shard, place = self.examples[i]
            value, gradient = visited(objective, shard, place, self.w)
            cost = objective.C * (value - float(gradient @ self.w))
            self.known[i].keep(-objective.C / objective.l2 * gradient, cost)
            total += self.known[i].visit(self.w, objective.l2)
        for _ in range(CACHED):
            order = rng.permutation(len(self.examples)).tolist()
            gap = sum(self.known[i].visit(self.w, objective.l2) for i in order)
            if gap <= SHARE * total or report.out_of_time():
                break
        return total

    def look(self) -> Point:
        """The best point so far, with the gap that the dual proves."""
        objective = self.objective
        self.w = np.sum([known.share() for known in self.known], axis=0)
        point = objective.at(self.w.copy())
        if self.best is None or point.value < self.best.value:
            self.best = point
        dual = sum(known.cost for known in self.known) - 0.5 * objective.l2 * float(self.w @ self.w)
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
