"""Dual coordinate ascent: for the hinges (``margins.py``), and for the log loss on sparse rows (here).

Of the log loss, while C · mean ‖x‖² is small, nothing is faster:

    primal  F(w) = C Σ s_i (log Z_i(w) − score_i(y_i; w)) + ½ ‖w‖²
    dual    D(μ) = C Σ s_i H(μ_i) − ½ ‖w(μ)‖²,    w(μ) = C Σ s_i Ψᵀ(y_i − μ_i)

Each example keeps a distribution μ_i over the labels; a sweep visits the examples in random order and
solves each block exactly (``kernels/dual.py``). The free intercept is the multiplier of a constraint,
handled by an augmented Lagrangian. μ stays feasible when C or the weights change, so a path of C and a
warm start begin where the last fit ended (``ascent`` says where any other begins).

A sweep yields an estimate of the gap at no cost; the true certificate (a pass over the data) is computed
when that estimate has fallen far enough, and decides.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from ..errors import Unsupported
from ..objective import Objective
from ..records import Floats, Solution
from ..spaces import Classes
from .ascent import Ascent
from .base import Solver, resume
from .hard_margin import soft, widest
from .margins import climb
from .newton_cg import polish
from .report import Report, Snapshot, Values

__all__ = ["Dual"]

PATIENCE = 0.5, 30.0
"""Seconds after which progress is reported even if the end is not near: SELDOM sweeps, but within these."""

SELDOM = 5.0

LOSSES = "log", "hinge", "weston_watkins"
"""Losses whose block step is known."""

PRECISE = 1e-7
"""Below this ``tol`` visits work in float64."""


@final
class Dual(Solver):
    """Dual coordinate ascent with the exact block step, for "log", "hinge" and "weston_watkins".

    ``seed`` orders the visits. For the log loss, ``augmentation`` is B relative to mean ‖x‖² and
    ``confidence`` the probability that μ starts with on the true label (None: the best one).

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SoftmaxRegression(solver="dual", C=0.1).fit(X, y).solution_.status
    'converged'
    """

    name = "dual"
    needs_smooth = False
    needs_random_access = True
    handles_no_penalty = False

    def __init__(
        self,
        seed: int | None = None,
        augmentation: float = 0.1,
        confidence: float | None = None,
    ) -> None:
        self.seed, self.augmentation, self.confidence = seed, augmentation, confidence

    def check(self, objective: Objective) -> None:
        super().check(soft(objective) if _hard(objective) else objective)
        if not isinstance(objective.problem.space, Classes):
            raise Unsupported("solver 'dual' works on classes only. Use solver='lbfgs'.")
        if objective.problem.loss.name not in LOSSES:
            raise Unsupported(
                f"solver 'dual' has no step for loss {objective.problem.loss.name!r}, only for "
                f"{', '.join(LOSSES)}. Use solver='auto'."
            )

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        report.solver = self.name
        kept = resume(self, report, state, told=False) if isinstance(state, Snapshot) else {}
        if not objective.problem.loss.smooth:
            if _hard(objective):
                return widest(self.name, self.seed, objective, start, report)
            return climb(self.name, self.seed, objective, report, state, kept)
        precise = objective.small or report.tol < PRECISE
        ascent = Ascent(objective, self, state, kept, precise)
        wanted = min(report.tol * objective.zero, kept.get("wanted", np.inf))
        point, sweeps, reported, told = None, report.passes, report.passes, report.seconds

        def keep() -> Values:
            return {"wanted": wanted, **ascent.values()}

        while sweeps < report.max_iter and not report.status:
            began = report.seconds
            estimate = ascent.sweep(report)
            sweeps += 1
            report.reserve = report.seconds - began  # a look takes no longer than a sweep
            patience = min(max(SELDOM * report.reserve, PATIENCE[0]), PATIENCE[1])
            # Looking costs a pass, and changes nothing that follows: only when it may be the end, when
            # limits ask for it, or when somebody has waited for news for a while.
            near = estimate <= wanted
            due = near or report.out_of_time() or sweeps == report.max_iter
            if not due and report.look(sweeps, math.nan, estimate):
                due = True
            if not due and report.seconds - told < patience:
                continue
            point = objective.settled(ascent.w(), seldom=True, out_of_time=report.out_of_time)
            # A look out of patience only reports: were it to end the run, the clock would decide.
            over = due and report.certified(point)
            wanted = 0.5 * estimate if near else wanted
            passes, state = sweeps - reported, None if over else keep
            stop = report(
                objective, point.w, point.value, point.gap, passes, state, proven=point.proven
            )
            reported, told = sweeps, report.seconds
            if stop or over:
                break
        if point is None or not report.certified(point):
            point = point or objective.settled(
                ascent.w(), seldom=True, out_of_time=report.out_of_time
            )
            report.stop("max_iter", f"max_iter of {report.max_iter} sweeps reached")
        point = polish(objective, point, report)
        return report.solution(objective, point, self.name, state=ascent.state())


def _hard(objective: Objective) -> bool:
    """Whether C = ∞ leaves a hinge with nothing but its margin."""
    return not objective.problem.loss.smooth and not objective.penalised
