"""One entrant of ``argmax compare``: its C chosen, its model fitted, its probabilities found."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..calibration import Temperature
from ..calibration.calibrated import scores_of
from ..errors import InvalidInput, NotConverged
from ..estimators.learner import FINE
from ..metrics import log_loss
from ..records import Floats
from .console import Stage
from .entrants import Entrant, Terms
from .rows import Rows
from .selection import LOOSE, take

__all__ = ["Contender", "OutOfTime", "contend"]

TOL = 1e-4


class OutOfTime(Exception):
    """The time of an entrant is over, and it has no model yet."""


@final
@dataclass(frozen=True, slots=True)
class Trial:
    """A C, its log-loss on rows that it did not learn from, and how its scores become probabilities."""

    C: float
    loss: float
    temperature: Temperature | None


@final
@dataclass(frozen=True, slots=True)
class Contender:
    """An entrant that has a model. ``seconds`` are those of its fit, ``choosing`` those of its trials."""

    entrant: Entrant
    model: Any
    trials: list[Trial]
    best: Trial
    choosing: float
    seconds: float

    def probabilities(self, X: Any) -> Floats:
        """P(y | x) (n, k): its own, or those of its scores at the temperature of the best trial."""
        if self.best.temperature is None:
            return np.asarray(self.model.predict_proba(X))
        scores = scores_of(self.model, X, self.model.classes_)
        return np.asarray(self.best.temperature.predict_proba(scores))

    @property
    def python(self) -> str:
        """Its estimator, as it is written."""
        return self.entrant.python.format(C=self.best.C)

    @property
    def bytes(self) -> int:
        """What its weights take."""
        return int(self.model.coef_.nbytes + self.model.intercept_.nbytes)

    @property
    def unfinished(self) -> str:
        """Why a fit ended before its certificate was met; nothing if none did."""
        end: str = self.model.solution_.status
        return "" if end in FINE else end


@final
class _Clock:
    """The time that an entrant may take."""

    def __init__(self, limit: float | None) -> None:
        self._end = None if limit is None else time.monotonic() + limit

    @property
    def left(self) -> float | None:
        """Seconds; None without a limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.left == 0.0


@final
class _Fits:
    """Makes and fits models of an entrant on the clock, and tells a stage."""

    def __init__(self, entrant: Entrant, clock: _Clock, seed: int, stage: Stage) -> None:
        self.entrant, self.clock, self.seed, self.stage = entrant, clock, seed, stage

    def trial(self, C: float, X: Any, y: Any, start: Any) -> Any:
        """A model that is good enough to compare, from the weights of another one if there is one."""
        told = f"C = {C:g}" if len(self.entrant.Cs) > 1 else "trying"
        return self._fitted(C, LOOSE, X, y, told, LOOSE, start)

    def final(self, C: float, X: Any, y: Any) -> Any:
        """The model to judge, from zero."""
        return self._fitted(C, TOL, X, y, "fitting all rows")

    def _fitted(
        self,
        C: float,
        tol: float,
        X: Any,
        y: Any,
        told: str,
        enough: float = 0.0,
        start: Any = None,
    ) -> Any:
        """A model, or OutOfTime. ``enough`` ends fits of few rows, which would else go far below tol."""
        clock, stage = self.clock, self.stage
        stage.update(told)

        def watch(progress: Any) -> bool:
            stage.update(f"{told}, pass {progress.passes}")
            return clock.is_over or bool(progress.relative_gap <= enough)

        model = self.entrant.make(Terms(C, tol, clock.left, watch, self.seed))
        if start is not None and self.entrant.warm:
            take(model.set_params(warm_start=True), start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)  # the table says so
            model.fit(X, y)
        if clock.is_over:
            raise OutOfTime
        return model


def contend(
    entrant: Entrant, rows: Rows, limit: float | None, seed: int, stage: Stage
) -> Contender:
    """Choose C by the log-loss on rows left out, then fit all rows. ``limit`` is in seconds."""
    began, fits = time.perf_counter(), _Fits(entrant, _Clock(limit), seed, stage)
    trials = _path(fits, rows)
    best = min(trials, key=lambda trial: trial.loss)
    chosen = time.perf_counter()
    model = fits.final(best.C, *rows.whole())
    seconds = time.perf_counter() - chosen
    return Contender(entrant, model, trials, best, chosen - began, seconds)


def _path(fits: _Fits, rows: Rows) -> list[Trial]:
    """From strong to weak penalty, up to the first C that is no better: beyond, fits grow slow."""
    parts = [rows.part(fold) for fold in range(rows.folds)]
    models: list[Any] = [None] * len(parts)
    trials: list[Trial] = []
    for C in fits.entrant.Cs:
        models = [fits.trial(C, *part, start) for part, start in zip(parts, models, strict=True)]
        trials.append(_judged(models, rows, fits.entrant.probable, C))
        if len(trials) > 1 and trials[-1].loss >= trials[-2].loss:
            break
    return trials


def _judged(models: list[Any], rows: Rows, probable: bool, C: float) -> Trial:
    """The log-loss over all folds. Scores that are no probabilities get the temperature that fits them."""
    answers, truth, classes = [], [], models[0].classes_
    for fold, model in enumerate(models):
        for X, y in rows.judging(fold):
            answers.append(model.predict_proba(X) if probable else scores_of(model, X, classes))
            truth.append(y)
    if not truth:
        raise InvalidInput(
            "too few rows to choose C on. Compare on more rows, or a smaller --test."
        )
    table, labels = np.concatenate(answers), np.concatenate(truth)
    temperature = None if probable else Temperature().fit(table, labels, classes)
    p = table if temperature is None else temperature.predict_proba(table)
    return Trial(C, log_loss(labels, p, classes), temperature)
