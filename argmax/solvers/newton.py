"""Newton's method with the full Hessian, for few weights.

    minimise  F(w) = C Σ s_i loss_i(w) + ½ l2 ‖w‖²

    H = C Σ_i s_i H_i ⊗ x̃_i x̃_iᵀ + l2 I,   solve H d = −g,   w ← w + t d

with H_i the curvature of the loss, diag p_i − p_i p_iᵀ for a softmax. H is (m(d+1))² and costs n (m(d+1))² to
form: worth it below a few hundred weights. Where a shared shift of all intercepts changes nothing, H is
singular in that direction; adding 1 on it leaves the step unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import passes
from ..objective import Objective, Point
from ..records import Floats, Solution
from .base import Solver, begin
from .column_search import by_columns, uneven
from .factored import Factored, check_memory, ridge_of
from .line_search import search
from .report import Report
from .rotation import rotation, worth

__all__ = ["Newton"]

DIGITS = float(np.finfo(float).eps) ** 0.5
"""Condition of a Hessian whose factor has lost half of its digits."""

NEARLY = 1e-12
"""Share of F(0) that the last step of a small problem promises at most: convergence is quadratic."""


PATIENCE = 3
"""Steps at the end that need not halve the gradient."""

ENOUGH = 1e-4
"""Share of the fall that the slope promises with which a full step is taken."""


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
        check_memory(self.name, objective, "newton_cg")
        objective, point, kept = begin(self, objective, start, report, state)
        scale, best = max(abs(objective.zero), 1e-300), kept.get("best", np.inf)
        promised, stuck = kept.get("promised", np.inf), kept.get("stuck", 0)
        system = _System(objective, bool(kept.get("turned", False)))
        while not report.reached(
            point,
            best=best,
            promised=promised,
            stuck=stuck,
            turned=system.turned,
        ):
            if report.certified(point) and not objective.small:
                break
            # Quadratic convergence: the last steps to full precision are nearly free. Stop when the
            # gradient, free entries included, no longer falls (where a loss has corners it may rise for a
            # step or two); the certificate is judged afterwards.
            size = float(abs(point.gradient).max())
            stuck = stuck + 1 if size >= 0.5 * best else 0
            if size <= 1e-14 * scale or (report.promising(point) and stuck > PATIENCE):
                break
            if promised <= NEARLY * scale:
                break  # that step has squared what it promised, as far as rounding lets it
            best = min(best, size)
            # The last steps of a small problem square the gradient, which then proves enough by itself.
            near = 0.0 if objective.small else report.tol * objective.zero
            step = _newton_step(system, point, near)
            if step.point is None and objective.rounded:  # float32 noise hides the way
                objective = system.objective = objective.precise()
                point = objective.at(point.w)
                continue
            if step.point is None:
                break
            point, promised = step.point, step.decrement
        if objective.small and objective.foresees and not report.promising(point):
            point.foresee(system.direction(point))
        return report.solution(objective, point, self.name)


@final
@dataclass(frozen=True)
class _Step:
    """A better point or None, and ½ λ² = −½ ⟨g, d⟩: what a full step promises."""

    point: Point | None
    decrement: float


@final
class _System:
    """H d = −g at one point after the other.

    Where a factor of H keeps too few digits because columns nearly repeat each other, or lie far from zero,
    it is formed of rotated rows from then on (``layouts.Rotation``).
    """

    def __init__(self, objective: Objective, turned: bool) -> None:
        self.objective = objective
        self.searched = turned
        self.turn = rotation(objective) if turned else None

    @property
    def turned(self) -> bool:
        """Whether rows are rotated."""
        return self.turn is not None

    def direction(self, point: Point) -> Floats:
        """d, as long as w."""
        factored = self._factored(point)
        if self._doubtful(factored):
            factored = self._factored(point)
        layout, columns = self.objective.problem.full, self.objective.problem.full.columns
        gradient = layout.matrix(point.gradient)[:, :columns]
        direction = np.zeros_like(point.w)
        table = layout.matrix(direction)[:, :columns]
        if self.turn is None:
            table[:] = -factored(gradient)
            return direction
        table[:] = -self.turn.back(factored(self.turn.forward(gradient)))
        if self.objective.l2:
            table -= self.turn.outside(layout.matrix(point.w)[:, :columns])
        return direction

    def _factored(self, point: Point) -> Factored:
        objective, turn = self.objective, self.turn
        layout = objective.problem.full if turn is None else turn.turned
        pairs = objective.C * objective.fold(passes.hessian, point.stamp, turn)["pairs"]
        ridge = ridge_of(objective, layout)
        return Factored(layout, pairs, ridge, objective.problem.curvature.crossed)

    def _doubtful(self, factored: Factored) -> bool:
        """Whether a rotation was found that mends a factor with few digits."""
        objective = self.objective
        if self.searched or not objective.random_access or factored.condition > DIGITS:
            return False
        self.searched = True
        if worth(objective):
            self.turn = rotation(objective)
        return self.turned


def _newton_step(system: _System, point: Point, near: float) -> _Step:
    """One step with the full Hessian; where it promises less than ``near``, its dual point is tried too."""
    objective = system.objective
    direction = system.direction(point)
    slope = float(point.gradient @ direction)
    if not slope < 0.0:
        return _Step(None, 0.0)
    if objective.foresees and _proves(system, point, direction, slope, near):
        point.foresee(direction)
    return _Step(_along(objective, point, direction, slope), -0.5 * slope)


def _proves(system: _System, point: Point, direction: Floats, slope: float, near: float) -> bool:
    """Whether the step promises so little, altogether or in half of the separate columns, that its dual
    point may prove something."""
    objective = system.objective
    if -0.5 * slope <= near or not objective.separate:
        return -0.5 * slope <= near
    layout = objective.problem.full
    columns = layout.matrix(point.gradient * direction)[:, : layout.columns].sum(axis=0)
    return bool(np.mean(-0.5 * columns <= near / layout.columns) >= 0.5)


def _along(objective: Objective, point: Point, direction: Floats, slope: float) -> Point | None:
    trial = objective.at(point.w + direction)
    if objective.separate and uneven(point, trial, direction):
        apart = objective.at(point.w + by_columns(point, direction))
        trial = apart if apart.value < trial.value else trial
    if trial.value <= point.value + ENOUGH * slope or _nearer(trial, point):
        return trial
    step = search(point.line(direction), point.value, slope, 0.5)
    if step > 0.0:
        trial = objective.at(point.w + step * direction)
    return trial if trial.value < point.value or _nearer(trial, point) else None


def _nearer(trial: Point, point: Point) -> bool:
    """At the end values agree to rounding; the gradient still tells which point is better."""
    level = trial.value <= point.value + 1e-13 * abs(point.value)
    return bool(level and abs(trial.gradient).max() < abs(point.gradient).max())
