"""L-BFGS, preconditioned by one Cholesky factor that all classes share.

    minimise  F(w) = C Σ s_i loss_i(w) + ½ l2 ‖w‖²

    d = −H g,  H from the last m pairs s = w₊ − w, y = g₊ − g and H₀ = γ A⁻¹ (``preconditioner``)

Liu and Nocedal 1989; the recursion is in ``pairs``. A by Böhning 1992, then refreshed by the mean curvature
after a few iterations, because fitted probabilities curve far less than the bound allows. The pairs survive a
refresh: they describe F, and only H₀ changes (dropping them cost a tenth more passes on letter and satimage).

Where columns of sequences, graphs or sets are on unlike scales, H₀ = γ D⁻¹, D the curvature by each weight
alone: at first a bound from Σ x² of each column, then its value at w, looked at again and again.

Steps: w + d is evaluated in full (one pass); only if it fails the Wolfe conditions is the line searched, by
more passes, or on scores alone where a pass is dear. Ends with Newton steps where they are cheap, since
those reach the last digits.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from .. import passes
from ..layouts import Full, Linked
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

EVERY = 50
"""Passes after which curvatures of single weights are looked at again, where columns are on unlike scales."""

LEAST = 1e-5
"""Share of its bound below which the curvature by a weight is not believed: it changes along the step."""

UNLIKE_PAIRS = 100
"""Pairs at most where columns are on unlike scales: the certificate then asks for many digits of w."""

UNLIKE_BYTES = 2**23
"""What they may take, but for six of them."""

PREPARED = 24.0
"""Bytes that the way to the first step takes for each weight, and that are of no more use."""


@final
class LBFGS(Solver):
    """Preconditioned limited-memory BFGS: the choice for dense rows.

    ``memory`` pairs are kept (None: as many as fit into a megabyte, 6 to 20; of sequences 3 at least, and up
    to 100 where columns of sequences, graphs or sets are on unlike scales);
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
        pairs = (
            self._products(point, scales)
            if plain
            else Pairs(precondition, self._memory(objective, 6))
        )
        give_back(PREPARED * objective.size)
        if kept:
            precondition.restore(kept)
            pairs.restore(kept)
        else:
            precondition.refresh(point, mean=known)
        scaled = scales is not None and _known_by_weight(objective)
        noise = DROWNED * abs(objective.zero) if plain and not objective.rounded else 0.0
        least, idle = np.inf, 0
        while not report.reached(point, lambda: {**precondition.values(), **pairs.values()}):
            if report.promising(point):
                point = point if point.settled else report.settled(point)
                if report.certified(point):
                    break
            if report.passes in self.refresh and precondition.kind != "none":
                precondition.refresh(point, mean=True)
            anew = report.passes in self.refresh or report.passes % EVERY == 0
            if anew and scaled and isinstance(pairs, Products):
                pairs.rescale(self._curvatures(point, scales))
            following = self._step(objective, point, pairs, precondition, noise)
            if following is None and pairs:
                pairs.clear()  # start over from the plain preconditioned gradient
                following = self._step(objective, point, pairs, precondition, noise)
            if following is None and precondition.refine(point):
                following = self._step(objective, point, pairs, precondition, noise)
            # float32 noise may hide the way: go on in float64.
            if following is None and objective.rounded:
                return self.minimise(objective.precise(), point.w, report, state=True)
            if following is None:
                report.stop("stalled", "no step makes progress any more")
                break
            better = following.value < point.value - noise or following.gap < least
            idle, least = 0 if better else idle + 1, min(least, following.gap)
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
        known = _known_by_weight(objective) and bool(point.w.any())
        if scales is not None:
            many = max(6, min(UNLIKE_PAIRS, UNLIKE_BYTES // (16 * objective.size)))
            return Products(
                objective, self.memory or many, self._curvatures(point, scales) if known else scales
            )
        if not known or isinstance(objective.problem.layout, Linked):
            return Products(objective, self._memory(objective, 6))
        return Products(objective, self._memory(objective, SCALED), self._curvatures(point))

    @staticmethod
    def _curvatures(point: Point, bound: Floats | None = None) -> Floats:
        """The curvature of F at a point by each weight alone, and not below ``LEAST`` of its bound.

        Where all labels are told apart it vanishes, and steps by it would lead far beyond all scores.
        """
        objective = point.objective
        diagonal = objective.fold(passes.diagonal, point.stamp, True)["diagonal"]
        diagonal *= objective.C
        diagonal += objective.l2
        return np.asarray(diagonal if bound is None else np.maximum(diagonal, LEAST * bound))

    def _step(
        self,
        objective: Objective,
        point: Point,
        pairs: Pairs | Products,
        precondition: Preconditioner,
        noise: float,
    ) -> Point | None:
        """The next point; None if there is none that is better.

        Where a step is so short that rounding hides what F does, within ``noise``, slopes decide: they keep
        their digits, and a convex F is lowest along a line where its slope vanishes (Hager and Zhang 2005,
        SIAM Journal on Optimization 16, the approximate Wolfe conditions).
        """
        direction = pairs.direction(point.gradient)
        slope = objective.dot(point.gradient, direction)
        if not slope < 0 or not np.isfinite(slope):
            return None
        # Vectors are long: w + d takes the memory of d, which is their difference for whoever asks.
        w = objective.combined(1.0, direction, 1.0, point.w, out=direction)
        del direction
        trial = objective.at(w)
        ahead = objective.slope(trial.gradient, w, point.w)
        hidden = noise if -slope <= noise else 0.0
        fallen = trial.value <= point.value + DECREASE * slope + hidden
        if fallen and abs(ahead) <= -CURVATURE * slope:
            return trial
        if not pairs and ahead > -TOO_FAR * slope and precondition.refine(point):
            return self._step(objective, point, pairs, precondition, noise)
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


def _known_by_weight(objective: Objective) -> bool:
    """Whether the curvature of F by each weight alone is known, and nowhere zero."""
    return passes.has_diagonal(objective.problem) and objective.l2 > 0


def _searched(point: Point, direction: Floats, slope: float, ahead: float) -> Point | None:
    """The best point along a direction whose slope is known at 0 and at 1; None if none is better.

    The first guess is where the slope would vanish, were it linear. Scores along the line, which no other
    trial would need x for, are as many as those of the point; nearly always the first guess will do.
    """
    line = Passes(point, direction)
    guess = slope / (slope - ahead) if ahead > slope else 4.0 if ahead <= slope else 0.1  # NaN
    search(line, point.value, slope, min(max(guess, 0.05), 4.0))
    return line.best if line.best is not point else None
