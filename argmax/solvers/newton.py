"""Newton's method with the full Hessian, for few weights.

    minimise  F(w) = C Σ s_i loss_i(w) + ½ l2 ‖w‖²

    H = C Σ_i s_i H_i ⊗ x̃_i x̃_iᵀ + l2 I,   solve H d = −g,   w ← w + t d

with H_i the curvature of the loss, diag p_i − p_i p_iᵀ for a softmax. H is (m(d+1))² and costs n (m(d+1))² to
form: worth it below a few hundred weights. Where a shared shift of all intercepts changes nothing, H is
singular in that direction; adding 1 on it leaves the step unchanged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks, passes
from ..objective import Objective, Point
from ..records import Floats, Solution
from .base import Solver, begin
from .factored import Factored, hessian_bytes, hessian_work, ridge_of
from .line_search import search
from .report import Report

__all__ = ["Newton", "Step", "affordable", "newton_step"]

NEARLY = 1e-12
"""What a step promises, as a share of F(0), where it is the last of a small problem: convergence is quadratic."""


@final
class Newton(Solver):
    """Newton's method with the exact Hessian: quadratic convergence for small problems.

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SoftmaxRegression(solver="newton").fit(X, y).solution_.passes < 20
    True
    """

    name = "newton"
    needs_curvature = True

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        layout = objective.problem.full
        side = (layout.features + int(layout.intercept)) * layout.columns
        checks.memory(
            hessian_bytes(layout, objective.problem.curvature.crossed),
            f"solver 'newton' with {side} weights",
            "Use solver='newton_cg' instead.",
        )
        objective, point, kept = begin(self, objective, start, report, state)
        scale, best = max(abs(objective.zero), 1e-300), kept.get("best", np.inf)
        promised = kept.get("promised", np.inf)
        while not report.reached(point, best=best, promised=promised):
            if report.certified(point) and not objective.small:
                break
            # Quadratic convergence: the last steps to full precision are nearly free. Stop when the
            # gradient, free entries included, no longer falls; the certificate is judged afterwards.
            size = float(abs(point.gradient).max())
            if size <= 1e-14 * scale or (report.promising(point) and size >= 0.5 * best):
                break
            if promised <= NEARLY * scale:
                break  # that step has squared what it promised, as far as rounding lets it
            best = min(best, size)
            step = newton_step(objective, point, near=report.tol * objective.zero)
            if step.point is None:
                break
            point, promised = step.point, step.decrement
        return report.solution(objective, point, self.name)


@final
@dataclass(frozen=True)
class Step:
    """What one Newton step found: a better point or None, and ½ λ² = −½ ⟨g, d⟩, what a full step promises."""

    point: Point | None
    decrement: float


def newton_step(objective: Objective, point: Point, near: float = math.inf) -> Step:
    """One step with the full Hessian; where it promises less than ``near``, its dual point is tried too."""
    layout = objective.problem.full
    columns = layout.columns
    gradient = layout.matrix(point.gradient)[:, :columns]
    pairs = objective.C * objective.fold(passes.hessian, point.stamp)["pairs"]
    solve = Factored(layout, pairs, ridge_of(objective), objective.problem.curvature.crossed)
    direction = np.zeros_like(point.w)
    layout.matrix(direction)[:, :columns] = -solve(gradient)
    slope = float(point.gradient @ direction)
    if not slope < 0.0:
        return Step(None, 0.0)
    if -0.5 * slope <= near and objective.foresees:
        point.foresee(direction)
    return Step(_along(objective, point, direction, slope), -0.5 * slope)


def _along(objective: Objective, point: Point, direction: Floats, slope: float) -> Point | None:
    trial = objective.at(point.w + direction)
    if trial.value <= point.value + 1e-4 * slope or _nearer(trial, point):
        return trial
    step = search(point.line(direction), point.value, slope, 0.5)
    if step > 0.0:
        trial = objective.at(point.w + step * direction)
    return trial if trial.value < point.value or _nearer(trial, point) else None


def _nearer(trial: Point, point: Point) -> bool:
    """At the end values agree to rounding; the gradient still tells which point is better."""
    level = trial.value <= point.value + 1e-13 * abs(point.value)
    return bool(level and abs(trial.gradient).max() < abs(point.gradient).max())


def affordable(objective: Objective) -> bool:
    """Whether forming and factoring Hessians costs less than what would be done instead."""
    layout, crossed = objective.problem.full, objective.problem.curvature.crossed
    rows = sum(len(shard) for shard in objective.shards)
    return hessian_work(layout, crossed, rows) <= 3e9 and hessian_bytes(layout, crossed) <= 2e9
