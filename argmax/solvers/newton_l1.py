"""Newton's method for an l1 penalty whose corners are rounded off less and less, for few weights.

    minimise  F(w) = f(w) + l1 ‖w‖₁,    f(w) = C Σ s_i loss_i(w) + ½ l2 ‖w‖²
    stage     minimise F_ε(w) = f(w) + l1 Σ_j √(w_j² + ε²),    ε falls from stage to stage

F ≤ F_ε ≤ F + l1 p ε for p penalised weights, so ε tells beforehand how near a stage leads. At its minimum
the slope of f is −l1 y_j with y_j = w_j / √(w_j² + ε²), less than l1: the residuals there are a point of the
dual, and the gap is a true one. A step solves

    (∇²f + l1 diag((1 − y_j w_j / s_j) / s_j)) d = −(∇f + l1 w / s),    s_j = √(w_j² + ε²)

where y follows w by a Newton step of its own and stays within ±1 (Chan, Golub and Mulet 1999, SIAM Journal on
Scientific Computing 20): far fewer steps than with y = w / s. Newton's method does not mind columns on unlike
scales or nearly equal ones, nor a large C, where supports that are found step by step change for ever.

Rounded corners leave no weight at zero: the last steps are those of ``proximal``, which do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from .. import passes
from ..objective import Objective, Point
from ..records import Floats, Solution
from .base import Solver, begin
from .column_search import by_columns
from .factored import Factored, check_memory, ridge_of
from .proximal import ProximalNewton
from .report import Report

__all__ = ["NewtonL1"]

FIRST, FALLING = 0.1, 0.1
"""l1 p ε of the first stage as a share of F(0), and what is left of it from one stage to the next."""

SHARE = 0.3
"""l1 p ε of the last stage, as a share of the gap that is wanted."""

STAGE = 60
"""Steps of a stage at most: more are needed only where rounding holds them up."""

ENOUGH = 0.1
"""Fall that the next step promises, as a share of l1 p ε, at which a stage ends."""

PROVEN = 2.0
"""Gap over l1 p ε at which a stage ends: until the gradient is that small, residuals prove little."""

MODELS = 3
"""Proximal steps at the end, which set weights to zero."""

PATIENCE = 10
"""Steps at the end that need not halve what the next one promises."""

INSIDE = 0.99
"""How much of the way to ±1 the slopes y go in a step."""

ROUNDING = 1e-13
"""Differences of F, as a share of it, that are no evidence."""

DECREASE, SHORTEST = 1e-4, 1e-9
"""Armijo's share of the slope, and the shortest part of a step that is tried."""


@final
class NewtonL1(Solver):
    """Newton's method on rounded corners: l1 and elastic net with few weights, any scale, any C.

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SoftmaxRegression(penalty="l1", C=100.0, solver="newton_l1").fit(X, y)
    >>> model.solution_.status, bool((model.coef_ == 0).any())
    ('converged', True)
    """

    name = "newton_l1"
    needs_curvature = True
    handles_l1 = True

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: object = None
    ) -> Solution:
        self.check(objective)
        check_memory(self.name, objective, "proximal")
        objective, point, kept = begin(self, objective, start, report, state)
        objective = objective.precise() if objective.rounded else objective
        rounded = _Rounded(objective)
        goal = report.tol * abs(objective.zero) * SHARE / rounded.price
        eps = kept.get("eps", max(FIRST * abs(objective.zero) / rounded.price, goal))
        while True:
            point = rounded.minimum(point, eps, report)
            if report.promising(point) and not point.settled:
                point = report.settled(point)
            over = eps <= goal or bool(report.status)
            following = max(FALLING * eps, goal)
            if report.reached(point, eps=following) or over or report.certified(point):
                break
            eps = following
        point = rounded.sparse(point, report)
        return report.solution(objective, point, self.name)


@final
class _Rounded:
    """F_ε."""

    def __init__(self, objective: Objective) -> None:
        self.objective, self.layout = objective, objective.problem.full
        self.bound = np.ones(objective.size)
        self.bound[self.layout.free] = 0.0
        table = self.layout.matrix(self.bound)
        table[:, self.layout.columns :] = 0.0
        self.y = np.zeros(objective.size)
        # What a stage may add to F for each ε.
        self.price = max(objective.l1, 1e-300) * float(self.bound.sum())

    def value(self, point: Point, eps: float) -> float:
        """F_ε at a point."""
        w, objective = point.w, self.objective
        rounding = float((self.bound * (np.sqrt(w * w + eps * eps) - np.abs(w))).sum())
        return point.value + objective.l1 * rounding

    def gradient(self, point: Point, eps: float) -> Floats:
        """∇F_ε at a point."""
        w = point.w
        return point.gradient + self.objective.l1 * self.bound * w / np.sqrt(w * w + eps * eps)

    def minimum(self, point: Point, eps: float, report: Report) -> Point:
        """The minimum of F_ε, as near as the next stage needs it."""
        best, least, stuck, aim = point, np.inf, 0, self.price * eps
        for _ in range(STAGE):
            if report.out_of_time():
                break
            gradient = self.gradient(point, eps)
            direction = self._direction(point, gradient, eps)
            slope = float(gradient @ direction)
            # At the end values agree to rounding, and promises alone tell whether steps still lead on.
            stuck = stuck + 1 if -slope >= 0.5 * least else 0
            least = min(least, -slope)
            following = self._along(point, direction, slope, eps) if slope < 0.0 else None
            if following is None:
                break
            point = following
            if -slope <= ENOUGH * aim:
                best = point if best.gap > point.gap else best
                if best.gap <= PROVEN * aim or stuck > PATIENCE:
                    return best
            else:
                best = point
        return best

    def _direction(self, point: Point, gradient: Floats, eps: float) -> Floats:
        """−(∇²F_ε)⁻¹ gradient."""
        objective, layout = self.objective, self.layout
        pairs = objective.C * objective.fold(passes.hessian, point.stamp, None)["pairs"]
        w, columns = layout.matrix(point.w)[:, : layout.columns], layout.columns
        s = np.sqrt(w * w + eps**2)
        y = layout.matrix(self.y)[:, :columns]
        bent = objective.l1 * (1.0 - y * w / s) / s
        ridge = ridge_of(objective, layout) + layout.matrix(self.bound)[:, :columns] * bent
        solve = Factored(layout, pairs, ridge, objective.problem.curvature.crossed)
        direction = np.zeros_like(point.w)
        layout.matrix(direction)[:, :columns] = -solve(layout.matrix(gradient)[:, :columns])
        self._lead(point.w, direction, eps)
        return direction

    def _lead(self, w: Floats, direction: Floats, eps: float) -> None:
        """y after a full step of w, or as much of the way there as leaves |y| below 1."""
        s = np.sqrt(w * w + eps**2)
        move = self.bound * ((w + direction * (1.0 - self.y * w / s)) / s - self.y)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(move != 0.0, (np.sign(move) - self.y) / move, np.inf)
        self.y += min(1.0, INSIDE * float(room.min())) * move

    def _along(self, point: Point, direction: Floats, slope: float, eps: float) -> Point | None:
        """A point along the direction where F_ε has fallen enough."""
        here, step = self.value(point, eps), 1.0
        if self.objective.separate:
            direction = by_columns(point, direction, self._slopes(point.w, direction, eps))
            slope = float(self.gradient(point, eps) @ direction)
        while step > SHORTEST:
            trial = self.objective.at(point.w + step * direction)
            there = self.value(trial, eps)
            if there <= here + DECREASE * step * slope:
                return trial
            if step == 1.0 and there <= here + ROUNDING * abs(here):
                return trial
            # The minimum of the parabola through both values and the slope.
            bend = there - here - step * slope
            guess = -0.5 * slope * step * step / bend if np.isfinite(bend) and bend > 0 else 0.0
            step = float(np.clip(guess, 0.1 * step, 0.5 * step))
        return None

    def _slopes(self, w: Floats, direction: Floats, eps: float) -> Callable[[Floats], Floats]:
        """Of the rounded penalty, for each weight column on its own way along the direction."""
        objective, layout, m = self.objective, self.layout, self.layout.columns
        here = layout.matrix(w * self.bound)[:, :m]
        ahead = layout.matrix(direction * self.bound)[:, :m]

        def slopes(steps: Floats) -> Floats:
            there = here + steps * ahead
            return np.asarray(
                objective.l1 * (ahead * there / np.sqrt(there**2 + eps**2)).sum(axis=0)
            )

        return slopes

    def sparse(self, point: Point, report: Report) -> Point:
        """A point as good with weights at zero, by some steps of ``proximal``."""
        objective, model = self.objective, ProximalNewton(self.objective)
        if not report.certified(point):
            return point
        objective.lower = max(objective.lower, point.value - point.gap)
        for _ in range(MODELS):
            if report.out_of_time():
                break
            following = model(point, report)
            if not following.value < point.value:
                break
            point = following
        return point
