"""The hinges by Newton's method: corners rounded off at a falling temperature τ (``losses/smoothed.py``).

    primal  F(w) = C Σ s_i loss_i(w) + ½ ‖w‖²
    stage   minimise F_τ, F with losses rounded off at τ, from where the last stage ended;   τ ← τ / 4

The residuals of a stage are a point α of the dual of F itself, so F(w) − D(α) is a true gap; it is what is
reported, and decides. Unlike sweeps over single rows this does not mind columns on different scales, or a
large C · ‖x‖²; it wants few features, and dense rows.

Small problems go on to the last digit: α is handed to the dual, whose sweeps and faces end in the optimum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

from .. import passes
from ..errors import Unsupported
from ..layouts import Full
from ..losses.smoothed import Smoothed, smoothed
from ..objective import Objective, Point
from ..records import Floats, Solution
from . import faces
from .base import Solver, resume
from .lbfgs import LBFGS
from .newton import Newton
from .report import Report, Snapshot, Values
from .watching import MANY, seconds_of_pass, seconds_of_solver

__all__ = ["Smoothing"]

COOLING = 0.25
"""τ of a stage as a share of the one before."""

COLDEST = 1e-10
"""τ at which rounding takes over."""

EXACT = 1e-7
"""The gap, as a share of F(0), at which a small problem is handed to the dual."""


@final
class Smoothing(Solver):
    """Newton or quasi-Newton steps on hinges whose corners are rounded off less and less.

    >>> from argmax import MulticlassSVM
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> MulticlassSVM(solver="smoothing").fit(X, y).solution_.status  # columns on all scales
    'converged'
    """

    name = "smoothing"
    needs_smooth = False
    handles_no_penalty = False

    def __init__(self, start: float = 1.0) -> None:
        self.start = start

    def check(self, objective: Objective) -> None:
        super().check(objective)
        loss = objective.problem.loss
        if loss.name not in ("hinge", "weston_watkins") or not isinstance(
            objective.problem.layout, Full
        ):
            raise Unsupported(
                f"solver 'smoothing' is for the hinges of LinearClassifier; the loss is {loss.name!r}. Use "
                "solver='auto'."
            )

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        report.solver = self.name
        kept = _cooled(state)
        if isinstance(state, Snapshot):
            kept = resume(self, report, state, told=False)
        tau, w = kept.get("tau", self.start), kept.get("w", start)
        relative = kept.get("relative", 1.0)
        objective.lower = max(objective.lower, float(kept.get("lower", objective.lower)))
        aim = min(report.tol, EXACT) if objective.small else report.tol
        while True:
            stage = _stage(objective, tau)
            found = _descend(stage, w, 0.1 * relative, report)
            began = report.seconds
            point, w = _proved(objective, stage, found.w), found.w
            report.reserve = report.seconds - began  # as long as the next stage's proof takes
            better, relative = point.relative_gap < relative, min(relative, point.relative_gap)
            cut = found.status in ("max_iter", "time_limit")  # before the minimum of this stage
            over = point.relative_gap <= aim or tau <= COLDEST or not (better or cut)
            tau *= 1.0 if cut else COOLING
            held = {"tau": tau, "w": w, "relative": relative, "lower": objective.lower}
            keep = None if over else held.copy
            if report(objective, w, point.value, point.gap, max(found.passes, 1), keep) or over:
                break
        if objective.small and not report.status:
            point = _exact(objective, stage, point, report)
        state = None if over else {"tau": tau, "relative": relative}
        return report.solution(objective, point, self.name, state)


def _cooled(state: Any) -> Values:
    """How far an earlier run had come when it was cut off; nothing for one that came to its end."""
    known = isinstance(state, dict) and state.keys() == {"tau", "relative"}
    return dict(state) if known else {}


def _stage(objective: Objective, tau: float) -> Objective:
    """The objective at a temperature; small problems and rows are the same."""
    problem = replace(objective.problem, loss=smoothed(objective.problem.loss, tau))
    return Objective(problem, objective.shards, objective.engine, objective.C)


def _descend(stage: Objective, w: Floats, tol: float, report: Report) -> Solution:
    """The minimum at one temperature, as near as the gap of the stage before makes worth while."""
    newton = seconds_of_solver("newton", stage) <= MANY * seconds_of_pass("lbfgs", stage)
    solver: Solver = Newton() if newton else LBFGS()
    inner = Report(min(tol, 1e-2), max(report.max_iter - report.passes, 1), report.left)
    return solver.minimise(stage, w, inner)


def _proved(objective: Objective, stage: Objective, w: Floats) -> Point:
    """The point of F at w, with the gap to the dual point that the stage stands for."""
    near = stage.at(w)
    gain = -stage.C * float(stage.fold(passes.conjugate, near.stamp, 1.0)["conjugate"])
    dual = gain - 0.5 * stage.dot(near.data_gradient, near.data_gradient)
    point = objective.at(w)
    point.prove(dual)
    return point


def _exact(objective: Objective, stage: Objective, point: Point, report: Report) -> Point:
    """The optimum to rounding, from the dual variables of the last stage; or the point, if none is better."""
    loss, layout = stage.problem.loss, stage.problem.full
    assert isinstance(loss, Smoothed)
    whole = objective.whole
    scores = layout.scores(whole.structures, point.w)
    shares = faces.sparse(loss.shares(stage.problem.space, scores, whole.truth), whole.truth.labels)
    return faces.polished(objective, point, shares, report)
