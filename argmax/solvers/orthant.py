"""L-BFGS in one orthant at a time: l1 and elastic net where there are gradients only.

    minimise  F(w) = f(w) + l1 ‖w‖₁,    f smooth, the l2 penalty included

Within an orthant F is smooth. The steepest way down from w (the pseudo-gradient ◇) chooses the orthant, where
a weight that is zero and has |∂f| ≤ l1 stays zero; L-BFGS of f bends the direction, whose entries that
disagree with −◇ are dropped; and a step ends at zero wherever it would change a sign:

    ◇_j = ∂f_j + l1 sign(w_j),  or at w_j = 0 the number nearest to 0 in ∂f_j + [−l1, l1]
    w ← π(w + α d),   α = 1, ½, ¼, … until F falls by 10⁻⁴ ⟨◇, w − π(w + α d)⟩

Free entries have no l1 and no orthant: ◇_j = ∂f_j, and their signs change as they like. Andrew and Gao 2007
(ICML).
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from ..objective import Objective, Point
from ..records import Floats, Solution
from .base import Solver, begin
from .pairs import Products
from .report import Report

__all__ = ["OrthantWise"]

LOOK = 10
"""Passes between two certificates, where one costs about as much as a pass."""


@final
class OrthantWise(Solver):
    """L-BFGS for l1 penalties; ``memory`` pairs are kept.

    >>> from argmax import CRFTagger
    >>> X, y = [["a", "b", "c"], ["b", "a", "c"]], [["A", "B", "B"], ["B", "A", "B"]]
    >>> tagger = CRFTagger(penalty="l1", C=2.0).fit(X, y)
    >>> tagger.solution_.solver, tagger.solution_.status
    ('orthant', 'converged')
    """

    name = "orthant"
    handles_l1 = True

    def __init__(self, memory: int = 8) -> None:
        self.memory = memory

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        objective, point, kept = begin(self, objective, start, report, state)
        pairs = Products(objective, self.memory)
        if kept:
            pairs.restore(kept)
        while not self._told(report, point, pairs):
            if self._due(report, point) and report.promising(point):
                point = point if point.settled else report.settled(point)
                if report.certified(point):
                    break
            following = self._step(objective, point, pairs)
            if following is None and pairs:
                pairs.clear()
                following = self._step(objective, point, pairs)
            if following is None and objective.rounded:  # float32 noise may hide the way
                return self.minimise(objective.precise(), point.w, report, state=True)
            if following is None:
                report.stop("stalled", "no step makes progress any more")
                break
            pairs.add(point, following)
            point = following
        return report.solution(objective, point, self.name)

    @staticmethod
    def _looks(report: Report, point: Point) -> bool:
        """Whether the certificate of this point is worth its price; with an l2 part it has none."""
        return point.objective.l2 > 0 or report.passes % LOOK == 0

    def _told(self, report: Report, point: Point, pairs: Products) -> bool:
        if self._looks(report, point):
            return report.reached(point, pairs.values)
        return report(point.objective, point.w, point.value, math.inf)

    def _due(self, report: Report, point: Point) -> bool:
        """Whether the pass that has just been noted was looked at."""
        return point.objective.l2 > 0 or report.passes % LOOK == 1

    def _step(self, objective: Objective, point: Point, pairs: Products) -> Point | None:
        w, l1, free = point.w, _held(objective), objective.problem.layout.free
        pseudo = pseudo_gradient(w, point.gradient, l1)
        if not pseudo.any():
            return None
        direction = pairs.direction(pseudo)
        direction[direction * pseudo >= 0] = 0.0
        orthant = np.where(w != 0, np.sign(w), -np.sign(pseudo))
        orthant[free] = 0.0
        step = 1.0
        for _ in range(40):
            trial = w + step * direction
            trial[trial * orthant < 0] = 0.0
            there = objective.at(trial)
            promised = float(pseudo @ (trial - w))
            if there.value <= point.value + 1e-4 * promised and promised < 0:
                return there if there.value < point.value else None
            step *= 0.5
        return None


def _held(objective: Objective) -> Floats | float:
    """l1, and 0 for the entries that are not penalised."""
    free = objective.problem.layout.free
    if free.stop == free.start:
        return objective.l1
    each = np.full(objective.size, objective.l1)
    each[free] = 0.0
    return each


def pseudo_gradient(w: Floats, gradient: Floats, l1: Floats | float) -> Floats:
    """The subgradient of f + l1 ‖w‖₁ that is nearest to 0; ``l1`` is one number, or one for each weight.

    >>> import numpy as np
    >>> from argmax.solvers.orthant import pseudo_gradient
    >>> pseudo_gradient(np.array([2.0, 0.0, 0.0]), np.array([0.5, 0.5, -3.0]), 1.0)
    array([ 1.5,  0. , -2. ])
    """
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0)
    return np.where(w != 0, gradient + l1 * np.sign(w), at_zero)
