"""L-BFGS, preconditioned by one Cholesky factor that all classes share.

    minimise  F(w) = C Σ s_i loss_i(w) + ½ l2 ‖w‖²

    d = −H g,  H from the last m pairs s = w₊ − w, y = g₊ − g and H₀ = γ A⁻¹ (``preconditioner``)

Liu and Nocedal 1989; the recursion is in ``pairs``. A by Böhning 1992, then refreshed by the mean curvature
after a few iterations, because fitted probabilities curve far less than the bound allows. The pairs survive a
refresh: they describe F, and only H₀ changes (dropping them cost a tenth more passes on letter and satimage).

Steps: w + d is evaluated in full (one pass); only if it fails the Wolfe conditions is the line searched, by
more passes, or on scores alone where a pass is dear. Ends with Newton steps where they are cheap, since
those reach the last digits.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from .. import passes
from ..layouts import Full
from ..memory import give_back
from ..objective import Objective, Point
from ..records import Floats, Solution
from .averaged import averaged_start, possible
from .base import Solver, begin
from .line_search import CURVATURE, DECREASE, Passes, search
from .newton_cg import polish
from .pairs import Pairs, Products
from .preconditioner import Preconditioner, diagonal_of_columns
from .report import Report

__all__ = ["LBFGS"]

SCALED = 3
"""Pairs at least, where the curvature of single weights is known: six save three passes of forty-five, to a
part in a hundred thousand (chunks of CoNLL-2000), and pairs are among the largest things that a fit has."""

TOO_FAR = 4.0
"""Slope at the end of a preconditioned gradient step, over that at its start, which shows that the matrix is
wrong: one that bounds all curvature leaves none."""

DROWNED = 1e-12
"""Changes of F, as a share of F(0), that rounding hides where products are in float64."""

PATIENCE = 50
"""Steps that only slopes speak for, in a row, without a better certificate, after which no more are made."""

PREPARED = 24.0
"""Bytes that the way to the first step takes for each weight, and that are of no more use."""


@final
class LBFGS(Solver):
    """Preconditioned limited-memory BFGS: the choice for dense rows.

    ``memory`` pairs are kept (None: as many as fit into a megabyte, 6 to 20; of sequences 3 at least);
    ``refresh`` lists the iterations after which the preconditioner is formed anew from the mean curvature. A
    fit of sequences that starts at zero takes ``warmup`` stochastic passes first, where it can (see
    ``averaged.py``).

    >>> from argmax import SoftmaxRegression, solvers
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> SoftmaxRegression(solver=solvers.LBFGS(memory=5)).fit(X, y).solution_.status
    'converged'
    """

    name = "lbfgs"

    def __init__(
        self, memory: int | None = None, refresh: tuple[int, ...] = (4, 12, 30), warmup: int = 10
    ) -> None:
        self.memory, self.refresh, self.warmup = memory, refresh, warmup

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        fresh = state is None and not start.any()
        scales = None if objective.curved else diagonal_of_columns(objective)
        if self.warmup and fresh and scales is None and possible(objective):
            start = averaged_start(objective, start, self.warmup, report)
        objective, point, kept = begin(self, objective, start, report, state)
        known = state is not None and bool(start.any())
        del start  # long, perhaps, and the point has its own
        precondition = Preconditioner(objective)
        plain = precondition.kind == "none"
        pairs = self._products(point, scales) if plain else Pairs(precondition, self._memory(objective, 6))
        give_back(PREPARED * objective.size)
        if kept:
            precondition.restore(kept)
            pairs.restore(kept)
        else:
            precondition.refresh(point, mean=known)
        least, idle = np.inf, 0
        while not report.reached(point, lambda: {**precondition.values(), **pairs.values()}):
            if report.promising(point):
                point = point if point.settled else report.settled(point)
                if report.certified(point):
                    break
            if report.passes in self.refresh and precondition.kind != "none":
                precondition.refresh(point, mean=True)
            following = self._step(objective, point, pairs, precondition)
            if following is None and pairs:
                pairs.clear()  # start over from the plain preconditioned gradient
                following = self._step(objective, point, pairs, precondition)
            if following is None and precondition.refine(point):
                following = self._step(objective, point, pairs, precondition)
            # float32 noise may hide the way: go on in float64.
            if following is None and objective.rounded:
                return self.minimise(objective.precise(), point.w, report, state=True)
            if following is None:
                report.stop("stalled", "no step makes progress any more")
                break
            hidden = not following.value < point.value
            least, idle = min(least, following.gap), idle + 1 if hidden and following.gap >= least else 0
            if idle > PATIENCE:
                report.stop("stalled", "no step makes progress any more")
                break
            pairs.add(point, following)
            point = following
        point = polish(objective, point, report, precondition)
        return report.solution(objective, point, self.name, state=True)

    def _memory(self, objective: Objective, least: int) -> int:
        """How many pairs are kept."""
        return self.memory or min(20, max(least, 2**20 // (16 * objective.size)))

    def _products(self, point: Point, scales: Floats | None) -> Products:
        """Pairs for long weights, in the scales of columns where these are unlike.

        Elsewhere they are scaled by the curvature at the start where it has something to say.

        After stochastic passes that saves two passes in three to a part in a thousand, half of them to one
        in a hundred thousand (chunks of CoNLL-2000). At zero, where all labels are equally likely, the
        curvature misleads: L-BFGS then takes longer than without it.
        """
        objective = point.objective
        if scales is not None:
            return Products(objective, self._memory(objective, 6), scales)
        known = passes.has_diagonal(objective.problem) and objective.l2 > 0
        if not known or not point.w.any():
            return Products(objective, self._memory(objective, 6))
        diagonal = objective.fold(passes.diagonal, point.stamp, True)["diagonal"]
        diagonal *= objective.C
        diagonal += objective.l2
        return Products(objective, self._memory(objective, SCALED), diagonal)

    def _step(
        self,
        objective: Objective,
        point: Point,
        pairs: Pairs | Products,
        precondition: Preconditioner,
    ) -> Point | None:
        direction = pairs.direction(point.gradient)
        slope = objective.dot(point.gradient, direction)
        if not slope < 0 or not np.isfinite(slope):
            return None
        # Vectors are long: w + d takes the memory of d, which is their difference for whoever asks.
        w = objective.combined(1.0, direction, 1.0, point.w, out=direction)
        del direction
        trial = objective.at(w)
        ahead = objective.slope(trial.gradient, w, point.w)
        hidden = self._hidden(objective, slope)
        fallen = trial.value <= point.value + DECREASE * slope + hidden
        if fallen and abs(ahead) <= -CURVATURE * slope:
            return trial
        if not pairs and ahead > -TOO_FAR * slope and precondition.refine(point):
            return self._step(objective, point, pairs, precondition)
        del trial  # its vectors are as long as any
        direction = objective.combined(1.0, w, -1.0, point.w, out=w)
        del w
        if isinstance(objective.problem.layout, Full) and not hidden:
            return _searched(point, direction, slope, ahead)
        given = point.value + hidden, slope, 0.5 if ahead > 0 else 2.0
        step = search(point.line(direction), *given)
        if step <= 0.0:
            return None
        following = objective.at(objective.combined(step, direction, 1.0, point.w, out=direction))
        return following if following.value < point.value + hidden else None

    @staticmethod
    def _hidden(objective: Objective, slope: float) -> float:
        """By how much F may rise in a step whose slope is so small that rounding hides what F does.

        Slopes keep their digits there: F is convex, and lowest along a line where they vanish (Hager and
        Zhang 2005, SIAM Journal on Optimization, the approximate Wolfe conditions).
        """
        if objective.curved or objective.rounded:
            return 0.0  # other solvers, or other digits, take over
        most = DROWNED * abs(objective.zero)
        return most if -slope <= most else 0.0


def _searched(point: Point, direction: Floats, slope: float, ahead: float) -> Point | None:
    """The best point along a direction whose slope is known at 0 and at 1; None if none is better.

    The first guess is where the slope would vanish, were it linear. Scores along the line, which no other
    trial would need x for, are as many as those of the point; nearly always the first guess will do.
    """
    line = Passes(point, direction)
    guess = slope / (slope - ahead) if ahead > slope else 4.0 if ahead <= slope else 0.1  # NaN
    search(line, point.value, slope, min(max(guess, 0.05), 4.0))
    return line.best if line.best is not point else None
