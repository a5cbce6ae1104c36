"""Proximal methods for l1 and elastic net.

    minimise  F(w) = f(w) + l1 ‖w‖₁,    f(w) = C Σ s_i loss_i(w) + ½ l2 ‖w‖²

Few weights: proximal Newton. The model  gᵀ(u − w) + ½ (u − w)ᵀ H (u − w) + l1 ‖u‖₁  with the full Hessian is
minimised to rounding (``quadratic.py``), then the line from w to u is searched (Lee, Sun and Saunders 2014).

Many weights: find the support by proximal steps, then Newton inside it.

    1. w ← prox(w − t D⁻¹ ∇f(w)),   prox_j(u) = sign(u)(|u| − l1 t/D_j)₊,   D the diagonal of the curvature;
       t is halved until F decreases as the model promises. Weights enter and leave here.
    2. on the support A, where F is smooth, solve ∇²f_AA d = −(∇f + l1 sign w)_A by conjugate gradients and
       move along d; a weight that would change its sign stops at zero.

Step 1 alone converges from anywhere; step 2 makes the end quadratic. After Byrd, Chin, Nocedal and Oztoprak
2016 (Mathematical Programming 157), who call it a block active-set method.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from .. import passes
from ..objective import Objective, Point
from ..records import Floats, Solution
from .base import Solver, begin
from .factored import full_hessian
from .preconditioner import Preconditioner
from .quadratic import minimise_quadratic
from .report import Report, Values

__all__ = ["Proximal", "ProximalNewton"]


@final
class Proximal(Solver):
    """Proximal gradient and subspace Newton steps in turn; also serves a plain l2 penalty.

    ``full`` is the number of weights up to which the Hessian is formed; beyond it ``inner`` bounds the
    Hessian products of one Newton step.

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SoftmaxRegression(penalty="l1", C=0.1).fit(X, y)
    >>> model.solution_.solver, bool((model.coef_ == 0).any())
    ('proximal', True)
    """

    name = "proximal"
    needs_curvature = True
    handles_l1 = True

    def __init__(self, full: int = 1000, inner: int = 100) -> None:
        self.full, self.inner = full, inner

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        objective, point, kept = begin(self, objective, start, report, state)
        layout = objective.problem.full
        weights = (layout.features + int(layout.intercept)) * layout.columns
        advance = (
            ProximalNewton(objective)
            if weights <= self.full
            else _Alternating(objective, self.inner, kept)
        )
        tol = min(report.tol, 1e-13) if objective.small else report.tol
        stuck = kept.get("stuck", 0)
        while not report.reached(point, advance.values, stuck=stuck):
            if point.relative_gap <= tol:
                point = point if point.settled else objective.settled(point.w, point.stamp)
                if point.settled and point.relative_gap <= tol:
                    break
            before = point.value
            point = advance(point, report)
            # Rounding ends all progress at about 1e-15 of the value; three such rounds are enough.
            stuck = stuck + 1 if before - point.value <= 1e-15 * abs(before) else 0
            if stuck >= 3:
                break
        return report.solution(objective, point, self.name)


@final
class ProximalNewton:
    """Proximal Newton steps with the full Hessian."""

    def __init__(self, objective: Objective) -> None:
        layout = objective.problem.full
        self.objective, self.layout = objective, layout
        bound = np.ones(layout.size)
        bound[layout.free] = 0.0
        self.l1 = objective.l1 * self._inner(bound)

    def values(self) -> Values:
        """Every step starts from the point alone."""
        return {}

    def _inner(self, w: Floats) -> Floats:
        """A flat vector without the padding: (features, columns) in order."""
        return self.layout.matrix(w)[:, : self.layout.columns].ravel()

    def __call__(self, point: Point, report: Report) -> Point:
        objective, layout = self.objective, self.layout
        w, g = self._inner(point.w), self._inner(point.gradient)
        H = full_hessian(objective, objective.fold(passes.hessian, point.stamp)["pairs"])
        u = minimise_quadratic(H, g, w, self.l1, layout.compiled)
        direction = np.zeros_like(point.w)
        layout.matrix(direction)[:, : layout.columns] = (u - w).reshape(-1, layout.columns)
        promise = float(g @ (u - w)) + float(self.l1 @ (abs(u) - abs(w)))
        for halving in range(30):
            trial = objective.at(point.w + 0.5**halving * direction)
            if trial.value <= point.value + 1e-4 * 0.5**halving * min(promise, 0.0):
                return trial
        return point


@final
class _Alternating:
    """Proximal gradient steps and Newton steps on the support, in turn."""

    def __init__(self, objective: Objective, inner: int, kept: Values) -> None:
        self.objective, self.inner = objective, inner
        self.step, self.rounds = kept.get("step", 1.0), kept.get("rounds", 0)
        self.metric: _Metric | None = None
        if "inverse" in kept:
            self.metric = _Metric(objective, kept["inverse"])

    def values(self) -> Values:
        """For a snapshot."""
        metric = {} if self.metric is None else {"inverse": self.metric.inverse}
        return {"step": self.step, "rounds": self.rounds, **metric}

    def __call__(self, point: Point, report: Report) -> Point:
        if self.metric is None or self.rounds in (2, 9, 29):
            self.metric, self.step = _Metric.at(point), 1.0
        self.rounds += 1
        point, self.step = self._proximal(self.objective, point, self.metric, self.step)
        return self._subspace(self.objective, point, self.metric, report)

    def _proximal(
        self, objective: Objective, point: Point, metric: _Metric, step: float
    ) -> tuple[Point, float]:
        step = min(2.0 * step, 1e6)
        for _ in range(60):
            w = metric.prox(point.w - step * metric.inverse * point.gradient, step)
            move = w - point.w
            model = float(point.gradient @ move) + float((move * move / metric.inverse).sum()) / (
                2 * step
            )
            model += objective.l1 * metric.norm1(w) - objective.l1 * metric.norm1(point.w)
            trial = objective.at(w)
            if trial.value <= point.value + model + 1e-15 * abs(point.value):
                return (trial if trial.value <= point.value else point), step
            step *= 0.5
        return point, step

    def _subspace(
        self, objective: Objective, point: Point, metric: _Metric, report: Report
    ) -> Point:
        sign = metric.bound * np.sign(point.w)
        support = (sign != 0) | metric.free
        gradient = np.where(support, point.gradient + objective.l1 * sign, 0.0)
        d = _conjugate_gradient(point, gradient, support, metric.inverse, self.inner, report)
        for halving in range(12):
            w = point.w + 0.5**halving * d
            w = np.where((sign != 0) & (np.sign(w) != sign), 0.0, w)
            trial = objective.at(w)
            slope = float(gradient @ (w - point.w))
            if trial.value <= point.value + 1e-4 * min(slope, 0.0):
                return trial
        return point


@final
class _Metric:
    """D⁻¹ for every weight, and which weights the penalty holds."""

    def __init__(self, objective: Objective, inverse: Floats) -> None:
        layout = objective.problem.full
        self.objective, self.inverse = objective, inverse
        self.free = np.zeros(layout.size, bool)
        self.free[layout.free] = True
        self.bound = (~self.free).astype(float)

    @classmethod
    def at(cls, point: Point) -> _Metric:
        """From the mean curvature at a point."""
        objective = point.objective
        diagonal = Preconditioner(objective)
        diagonal.kind = "diagonal"
        diagonal.refresh(point, mean=True)
        return cls(objective, np.maximum(diagonal(np.ones(objective.size)), 1e-300))

    def prox(self, w: Floats, step: float) -> Floats:
        shrunk = np.sign(w) * np.maximum(np.abs(w) - self.objective.l1 * step * self.inverse, 0.0)
        return np.where(self.free, w, shrunk)

    def norm1(self, w: Floats) -> float:
        return float((np.abs(w) * self.bound).sum())


def _conjugate_gradient(
    point: Point, gradient: Floats, support: Any, inverse: Floats, limit: int, report: Report
) -> Floats:
    """d on the support with ∇²f d ≈ −gradient there, to a tenth or better as the gradient falls."""
    residual = -gradient
    size = float(residual @ residual) ** 0.5
    target = min(0.1, size / max(abs(point.objective.zero), 1e-300)) * size
    d = np.zeros_like(residual)
    p = inverse * residual
    rz = float(residual @ p)
    for _ in range(limit):
        if rz <= 0.0:
            break
        product = np.where(support, point.hvp(p), 0.0)
        bend = float(p @ product)
        if bend <= 1e-30 * float(p @ p):  # flat to rounding
            break
        d += (rz / bend) * p
        residual -= (rz / bend) * product
        if float(residual @ residual) ** 0.5 <= target or report.out_of_time():
            break
        z = inverse * residual
        rz, before = float(residual @ z), rz
        p = z + (rz / before) * p
    return d
