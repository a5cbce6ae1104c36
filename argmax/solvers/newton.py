"""Newton's method with the full Hessian, for few weights.

    minimise  F(w) = C Σ s_i loss_i(w) + ½ l2 ‖w‖²

    H = C Σ_i s_i H_i ⊗ x̃_i x̃_iᵀ + l2 I,   solve H d = −g,   w ← w + t d

with H_i the curvature of the loss, diag p_i − p_i p_iᵀ for a softmax. H is (m(d+1))² and costs n (m(d+1))² to
form: worth it below a few hundred weights. Where a shared shift of all intercepts changes nothing, H is
singular in that direction; adding 1 on it leaves the step unchanged.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .. import checks, passes
from ..objective import Objective, Point
from ..records import Floats, Solution
from .base import Solver, begin
from .line_search import search
from .report import Report

__all__ = ["Newton", "full_hessian"]


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
            3 * 8 * side**2,
            f"solver 'newton' with {side} weights",
            "Use solver='newton_cg' instead.",
        )
        objective, point, kept = begin(self, objective, start, report, state)
        scale, best = max(abs(objective.zero), 1e-300), kept.get("best", np.inf)
        while not report.reached(point, best=best):
            # Quadratic convergence: the last steps to full precision are nearly free. Stop when the
            # gradient, free entries included, no longer falls; the certificate is judged afterwards.
            size = float(abs(point.gradient).max())
            if size <= 1e-14 * scale or (report.promising(point) and size >= 0.5 * best):
                break
            best = min(best, size)
            following = self._step(objective, point)
            if following is None:
                break
            point = following
        return report.solution(objective, point, self.name)

    def _step(self, objective: Objective, point: Point) -> Point | None:
        layout = objective.problem.full
        columns = layout.columns
        gradient = layout.matrix(point.gradient)[:, :columns]
        H = full_hessian(objective, point)
        direction = np.zeros_like(point.w)
        layout.matrix(direction)[:, :columns] = -_solve(H, gradient.ravel()).reshape(gradient.shape)
        slope = float(point.gradient @ direction)
        if not slope < 0.0:
            return None
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


def full_hessian(objective: Objective, point: Point) -> Floats:
    """∇²F over the weights without padding, (feature, column) in order; positive definite."""
    layout = objective.problem.full
    columns = layout.columns
    H: Floats = objective.C * objective.fold(passes.hessian, point.stamp)["hessian"]
    ridge = np.full((len(H) // columns, columns), objective.l2 or 1e-10)
    if layout.intercept and layout.free_intercept:
        ridge[-1] = 0.0
        if layout.label_features is None and objective.problem.loss.relative:
            last = len(H) - columns
            H[last:, last:] += max(H[last:, last:].max(), 1e-10)
    H[np.diag_indices(len(H))] += np.maximum(ridge.ravel(), 1e-14 * H.diagonal())
    return H


def _solve(H: Floats, g: Floats) -> Floats:
    """H⁻¹ g, scaled to unit diagonal first; a little ridge where rounding made H indefinite."""
    scale = 1.0 / np.sqrt(np.maximum(H.diagonal(), 1e-300))
    A = H * scale[:, None] * scale
    for ridge in (0.0, 1e-12, 1e-9, 1e-6):
        try:
            A[np.diag_indices(len(A))] += ridge
            factor = cho_factor(A, check_finite=False)
            return np.asarray(scale * cho_solve(factor, scale * g, check_finite=False))
        except LinAlgError:
            continue
    return g * scale**2
