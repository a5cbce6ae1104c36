"""Truncated Newton: conjugate gradients on Hessian products, then a line search.

    minimise  F(w) = C Σ s_i loss_i(w) + ½ l2 ‖w‖²

    solve  ∇²F(w) d ≈ −g  to  ‖∇²F d + g‖ ≤ η ‖g‖,  η = min(½, √(‖g‖/‖g₀‖)),  then w ← w + t d

Nocedal and Wright 2006, algorithm 7.1; preconditioned as in Hsia, Chiang and Lin 2018. The scores of w are
kept by the pass, so a product costs two sweeps over x and a line search none.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from ..objective import RANGE, Objective, Point
from ..records import Floats, Solution
from .base import Solver, begin
from .line_search import search
from .preconditioner import Preconditioner
from .report import Report

__all__ = ["NewtonCG", "polish"]


@final
class NewtonCG(Solver):
    """Newton's method with conjugate gradients: the steady fallback, and the finish of other solvers.

    ``inner`` bounds the Hessian products of one step.

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> SoftmaxRegression(solver="newton_cg").fit(X, y).solution_.status
    'converged'
    """

    name = "newton_cg"
    needs_curvature = True

    def __init__(self, inner: int = 250) -> None:
        self.inner = inner

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        objective, point, kept = begin(self, objective, start, report, state)
        precondition = Preconditioner(objective)
        precondition.kind = kept.get("kind", precondition.kind)
        first = kept.get("first", objective.norm(point.gradient))
        while not report.reached(point, first=first, kind=precondition.kind):
            if report.promising(point):
                point = point if point.settled else report.settled(point)
                if report.certified(point):
                    break
            precondition.refresh(point, mean=report.passes > 1)
            forcing = min(0.5, (objective.norm(point.gradient) / max(first, 1e-300)) ** 0.5)
            following = newton_step(objective, point, precondition, forcing, self.inner, report)
            if following is None and precondition.refine(point):
                following = newton_step(objective, point, precondition, forcing, self.inner, report)
            # float32 noise may hide the way: go on in float64.
            if following is None and objective.rounded:
                return self.minimise(objective.precise(), point.w, report)
            if following is None:
                report.stop("stalled", "no step makes progress any more")
                break
            point = following
        point = polish(objective, point, report, precondition)
        return report.solution(objective, point, self.name)


def conjugate_gradient(
    point: Point, precondition: Preconditioner, forcing: float, limit: int, report: Report
) -> Floats:
    """d with ‖∇²F d + g‖ ≤ forcing · ‖g‖, or the best after ``limit`` products."""
    objective = point.objective
    residual = objective.combined(-1.0, point.gradient, 0.0, point.gradient)
    target = forcing * objective.norm(residual)
    d, moved = np.zeros_like(residual), False
    z = precondition(residual)
    p, rz = z, objective.dot(residual, z)
    for _ in range(limit):
        product = point.hvp(p)
        bend = objective.dot(p, product)
        if bend <= 1e-30 * objective.dot(p, p):  # flat to rounding: as good as it gets
            break
        moved = True
        if math.sqrt(_advance(objective, rz / bend, d, p, residual, product)) <= target:
            break
        if report.out_of_time():
            break
        z = precondition(residual)
        rz, before = objective.dot(residual, z), rz
        p = objective.combined(1.0, z, rz / before, p)
    return d if moved else z


def _advance(
    objective: Objective, step: float, d: Floats, p: Floats, residual: Floats, product: Floats
) -> float:
    """d += step · p, residual −= step · product; returns ‖residual‖²."""

    if objective.size <= RANGE:
        d += step * p
        residual -= step * product
        return float(residual @ residual)
    from ..kernels import vectors

    return objective.summed(vectors.conjugate_steps, step, p, product, d, residual)


def newton_step(
    objective: Objective,
    point: Point,
    precondition: Preconditioner,
    forcing: float,
    limit: int,
    report: Report,
) -> Point | None:
    """One truncated Newton step; None where no progress is possible."""
    direction = conjugate_gradient(point, precondition, forcing, limit, report)
    slope = objective.dot(point.gradient, direction)
    if not slope < 0.0:
        return None
    step = search(point.line(direction), point.value, slope)
    if step <= 0.0:
        return None
    following = objective.at(objective.combined(1.0, point.w, step, direction))
    return following if following.value < point.value else None


def polish(
    objective: Objective, point: Point, report: Report, precondition: Preconditioner | None = None
) -> Point:
    """Newton steps to the last digit, where a pass costs next to nothing.

    This is what makes integer weights equal repetition to 1e-7 whichever solver ran: two runs that
    both stop at ``tol`` agree to √tol only.
    """
    if not (objective.small and objective.curved) or objective.l1 or report.status:
        return point
    precondition = precondition or Preconditioner(objective)
    scale = max(abs(objective.zero), 1e-300)
    for _ in range(20):
        if objective.norm(point.gradient) <= 1e-12 * scale or report.out_of_time():
            break
        precondition.refresh(point, mean=True)
        direction = conjugate_gradient(point, precondition, 1e-3, 500, report)
        following = objective.at(point.w + direction)
        # Values agree to rounding here; the gradient still tells which point is better.
        if not objective.norm(following.gradient) < 0.5 * objective.norm(point.gradient):
            break
        point = following
        if report(objective, point.w, point.value, point.gap, proven=point.proven):
            break
    return point
