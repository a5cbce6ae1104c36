"""Stochastic gradient descent: the general recipe, for every loss with a penalty.

    minimise  F(w) = C Σ s_i loss_i(w) + ½ l2 ‖w‖² = n C · mean_i [ s_i loss_i + ½ λ ‖w‖² ],   λ = l2 / (n C)

    w ← w − η_t (∇ s_i loss_i(w) + λ w),   rows in a new order every epoch

    schedule        η_t
    calibrated      η / (1 + η λ t)     Bottou 2010: η is tried out on a sample of the rows
    inverse         1 / (λ t)           Pegasos: Shalev-Shwartz, Singer, Srebro and Cotter 2011
    inverse_sqrt    η / √t
    constant        η

The shrinking of w is one number, so that a step costs what the row's entries cost. What is returned is the
mean of the w of the last epochs, at most half of all (Polyak and Juditsky 1992; Rakhlin, Shamir and Sridharan
2012: with the first ones in it, it lags behind; weighted by t with "inverse", Lacoste-Julien, Schmidt and
Bach 2012), kept lazily (``kernels.online``).

A step looks at one row, so that a pass over many rows is many steps; but the last digits take for ever.
Here F is computed, and with it the certificate, after epochs 8, 16, 32, … and at the end. In between, the
history has the sum of the losses that the epoch met. It ends when the certificate meets tol, when FEW epochs
brought nothing, or at a limit. A look takes the scores of all rows; where these are more than MANY, as with
very many classes, there is none, and no certificate.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from ..errors import InvalidInput, NumericalFailure, Unsupported
from ..layouts import Full
from ..objective import Objective, Point
from ..passes import Problem
from ..records import Floats, Solution
from .averaged import SAMPLE, calibrated
from .base import WALK, Solver
from .online import stoppable
from .report import Report

__all__ = ["SGD"]

FIRST = 8
"""Epochs before the first look at F, which costs more than one; then at twice as many, and so on, unless the
end is nearer than that."""

FEW = 5
"""Epochs in a row without progress that end a run."""

MANY = 2**28
"""Scores (rows × classes; 2 GiB) beyond which F is not computed: steps take no such table."""

LOOK = 3
"""Tables of scores that a look holds."""

FAR = 1e6
"""Times the objective of zero weights: a run that is there does not come back."""

SCHEDULES = "calibrated", "inverse", "inverse_sqrt", "constant"


@final
class SGD(Solver):
    """Stochastic gradient steps over single rows.

    ``schedule``: "calibrated", "inverse", "inverse_sqrt" or "constant". ``rate``: η, None to try it out on a
    sample; "inverse" has none.

    >>> from argmax import LinearClassifier, solvers
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearClassifier(solver=solvers.SGD(schedule="calibrated"), max_iter=20).fit(X, y)
    >>> model.score(X, y) > 0.9, model.solution_.status
    (True, 'epochs done')
    """

    name = "sgd"
    needs_smooth = False
    needs_random_access = True

    def __init__(
        self,
        schedule: str = "calibrated",
        rate: float | None = None,
        average: bool = True,
        shuffle: bool = True,
        seed: int | None = None,
    ) -> None:
        self.schedule, self.rate, self.average = schedule, rate, average
        self.shuffle, self.seed = shuffle, seed

    def check(self, objective: Objective) -> None:
        super().check(objective)
        loss = objective.problem.loss
        if loss.online or not isinstance(objective.problem.layout, Full):
            raise Unsupported(
                f"solver 'sgd' descends losses of classes; {loss.name!r} here is none. Use solver='auto'."
            )
        self.check_options()
        if self.schedule == "inverse" and not objective.l2:
            raise Unsupported(
                "schedule 'inverse' is 1/(λt) and needs a penalty. Use penalty='l2' with a finite C, or "
                "schedule='calibrated'."
            )

    def check_options(self) -> None:
        """Refuse options that mean nothing, or would be ignored."""
        if self.schedule not in SCHEDULES:
            raise InvalidInput(f"schedule must be one of {SCHEDULES}; got {self.schedule!r}.")
        if self.rate is not None and not 0.0 < self.rate < math.inf:
            raise InvalidInput(f"rate must be positive and finite, or None; got {self.rate!r}.")
        if self.schedule == "inverse" and self.rate is not None:
            raise Unsupported("schedule 'inverse' is 1/(λt) and would ignore rate. Use rate=None.")

    def bytes_held(self, problem: Problem, rows: int) -> float:
        weights, scores = problem.full.size, rows * problem.full.labels
        return 8.0 * (2 * WALK * weights + (LOOK * scores if scores <= MANY else 0))

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        from ..passes.online import RowWalk

        self.check(objective)
        report.solver = self.name
        rows, labels = len(objective.whole), objective.problem.full.labels
        report.certifies = rows * labels <= MANY
        walk = RowWalk(objective.whole, objective.problem, start, average=False)
        walk.schedule = self.schedule
        with stoppable(walk, report):
            point = self._epochs(objective, walk, report)
        if point is None:
            self._ended(report)
            report.message += (
                f"; no certificate: {rows} rows have too many scores of {labels} classes"
            )
            return report.online(walk.mean(), self.name)
        return self._solution(objective, point, report)

    def _epochs(self, objective: Objective, walk: Any, report: Report) -> Point | None:
        """Epochs to the end of the run, and the point where it ends, if F is looked at."""
        rng, rows = np.random.default_rng(self.seed or 0), np.arange(len(walk))
        decay = objective.l2 / (objective.C * len(walk))
        eta = self.first_rate(walk, rng, decay)
        best, idle, epoch = math.inf, 0, 0
        while True:
            if self.average and _begins(epoch, report.max_iter):
                walk.average = True
                walk.restart()
            order = rng.permutation(rows) if self.shuffle else rows
            with np.errstate(over="ignore", invalid="ignore"):
                lost = walk.descend(order, eta, decay)
                epoch, value = epoch + 1, objective.C * lost + 0.5 * objective.l2 * walk.square()
            if not value <= FAR * objective.zero:
                raise NumericalFailure(
                    f"the steps of 'sgd' went astray: objective {value:.3g}, {objective.zero:.3g} at zero "
                    "weights. Use schedule='calibrated' or a smaller rate, and scale your features."
                )
            idle = 0 if value < best - report.tol * objective.zero else idle + 1
            best = min(best, value)
            w = walk.mean() if report.callbacks else walk.b
            over = report(objective, w, value, math.inf) or idle == FEW
            due = epoch >= FIRST and epoch & (epoch - 1) == 0 and 2 * epoch <= report.max_iter
            if over and not report.certifies:
                return None
            if report.certifies and (over or due):
                point = objective.settled(walk.mean())
                if over or report.certified(point):
                    return point

    def first_rate(self, walk: Any, rng: np.random.Generator, decay: float) -> float:
        """η: the one given, or that which is best on a sample; "inverse" has none."""
        if self.rate is not None or self.schedule == "inverse":
            return 1.0 if self.rate is None else self.rate
        few = walk.sample(SAMPLE, rng)
        return calibrated(few, rng.permutation(len(few)), decay)

    def _solution(self, objective: Objective, point: Point, report: Report) -> Solution:
        if not report.certified(point):
            self._ended(report)
        return report.solution(objective, point, self.name)

    def _ended(self, report: Report) -> None:
        """The words for an end that is neither a certificate nor somebody's wish."""
        if report.status in ("", "max_iter"):
            words = f"made its {report.passes} epochs"
            report.status = "epochs done"
            report.message = words if report.passes >= report.max_iter else f"{words}: no progress"


def _begins(epoch: int, epochs: int) -> bool:
    """Whether the mean begins anew: after 1, 2, 4, 8, … epochs; if there is only one, before it."""
    return epoch & (epoch - 1) == 0 and (epoch > 0 or epochs == 1)
