"""What all estimators share: parameters into settings, a fit that fails without a trace, paths over C."""

from __future__ import annotations

import copy
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from .. import checks, engines, losses, solvers
from ..errors import InvalidInput, NotConverged, NumericalFailure, Unsupported
from ..objective import Objective
from ..records import Solution

__all__ = ["ADVICE", "Learner", "Settings", "check_end"]

ADVICE = {
    "stalled": "Scale your features (for example with sklearn.preprocessing.MaxAbsScaler), or use "
    "dtype='float64' or a smaller C.",
    "separable": "Use a penalty with a finite C.",
}
"""What to do about a fit that did not converge, where more passes would not help."""

FINE = "converged", "stopped", "no mistakes", "epochs done"
"""Ends that nobody needs to be warned of."""


@dataclass(frozen=True)
class Settings:
    """The parameters of one fit, checked and in the engine's own terms."""

    loss: losses.Loss
    solver: solvers.Solver
    engine: engines.Engine
    C: float
    l1: float
    l2: float

    @property
    def penalised(self) -> bool:
        return math.isfinite(self.C) and (self.l1 > 0 or self.l2 > 0)

    @property
    def scalable(self) -> bool:
        """Whether the units of the columns are free: no penalty, and no margin, sees the size of w."""
        return not self.penalised and self.loss.smooth


def check_end(objective: Objective, solution: Solution) -> None:
    """Refuse a fit whose numbers overflowed, or drowned in rounding: it is no better than zero weights."""
    if not np.isfinite(solution.w).all() or not np.isfinite(solution.objective):
        raise NumericalFailure(f"the fit left the finite numbers (overflow). {ADVICE['stalled']}")
    if solution.status == "stalled" and solution.objective >= objective.zero:
        raise NumericalFailure(
            f"the fit drowned in rounding: its objective is {solution.objective:.3g}, that of zero weights "
            f"{objective.zero:.3g}. {ADVICE['stalled']}"
        )


class Learner(BaseEstimator, ABC):
    """From parameters and data to a solution. A failed fit changes nothing."""

    solution_: Solution

    C: float
    penalty: str | None
    l1_ratio: float | None
    solver: str | solvers.Solver
    tol: float
    max_iter: int
    time_limit: float | None
    warm_start: bool
    engine: engines.Engine | None
    n_threads: int | None
    random_state: Any
    callbacks: Any
    verbose: int

    @abstractmethod
    def _loss(self) -> losses.Loss:
        """The loss of this face."""

    @abstractmethod
    def _fit(self, *given: Any) -> None:
        """Learn, and set the fitted attributes of this copy."""

    def _learn(self, *given: Any) -> Self:
        """``_fit`` on a shallow copy, whose fitted attributes are taken over at the end."""
        attempt = copy.copy(self)
        try:
            attempt._fit(*given)
        except KeyboardInterrupt:
            # Scripts must stop, so the interrupt goes on; an earlier fit stays as it was, and an
            # estimator that had none keeps the best weights found.
            if not hasattr(self, "solution_") and hasattr(attempt, "solution_"):
                self._take(attempt)
            raise
        self._take(attempt)
        if self.solution_.status not in FINE:
            advice = ADVICE.get(self.solution_.status, "Raise max_iter, time_limit or tol.")
            warnings.warn(f"{self.solution_.message} {advice}", NotConverged, stacklevel=3)
        return self

    def _path(self, Cs: Any, *given: Any) -> list[Self]:
        """One fitted copy for each C, each started where the last one ended."""
        models: list[Self] = []
        for C in Cs:
            model = copy.copy(models[-1] if models else self)
            model.C, model.warm_start = C, bool(models)
            model._learn(*given)
            model.warm_start = self.warm_start
            models.append(model)
        return models

    def _take(self, other: Self) -> None:
        """Be the other one, in one step: a thread that is predicting sees the old fit or the new one."""
        kept = {n: v for n, v in vars(self).items() if not n.endswith("_") or n.startswith("_")}
        self.__dict__ = kept | vars(other)

    def _report(self, listeners: list[Callable[[solvers.Progress], Any]]) -> solvers.Report:
        limit = self.time_limit
        return solvers.Report(
            checks.number("tol", self.tol, 0.0, open_low=True),
            checks.positive_integer("max_iter", self.max_iter),
            None if limit is None else checks.number("time_limit", limit, 0.0),
            listeners,
            self.verbose,
        )

    def _settings(self) -> Settings:
        loss = self._loss()
        checks.callables("callbacks", self.callbacks)
        checks.number("verbose", int(self.verbose) if self.verbose is True else self.verbose, 0.0)
        C = checks.number("C", self.C, 0.0, open_low=True)
        l1, l2 = self._penalty(loss)
        solver = solvers.get(self.solver)
        if getattr(solver, "seed", 0) is None:
            solver = copy.copy(solver)
            solver.seed = self._seed()  # type: ignore[attr-defined]
        if self.engine is not None and self.n_threads is not None:
            raise Unsupported(
                "n_threads belongs to the default engine. Pass engine=Threads(n) or n_threads."
            )
        if self.engine is not None and not isinstance(self.engine, engines.Engine):
            raise InvalidInput(f"engine must be an Engine or None; got {self.engine!r}.")
        engine = engines.Threads(self.n_threads) if self.engine is None else self.engine
        return Settings(loss, solver, engine, C, l1, l2)

    def _penalty(self, loss: losses.Loss) -> tuple[float, float]:
        """l1 and l2 of the objective."""
        checks.choice("penalty", self.penalty, ("auto", "l2", "l1", "elasticnet", None))
        if self.penalty != "elasticnet" and self.l1_ratio is not None:
            raise Unsupported(
                f"l1_ratio={self.l1_ratio!r} would be ignored with penalty={self.penalty!r}. "
                "Use penalty='elasticnet', or l1_ratio=None."
            )
        if self.penalty == "elasticnet":
            if self.l1_ratio is None:
                raise InvalidInput("penalty='elasticnet' needs l1_ratio, a number from 0 to 1.")
            ratio = checks.number("l1_ratio", self.l1_ratio, 0.0, 1.0)
            return ratio, 1.0 - ratio
        penalty = (None if loss.online else "l2") if self.penalty == "auto" else self.penalty
        return {"l2": (0.0, 1.0), "l1": (1.0, 0.0), None: (0.0, 0.0)}[penalty]

    def _seed(self) -> int:
        """random_state as a seed; None is 0, so that a fit repeats to the bit."""
        return checks.seed(self.random_state)
