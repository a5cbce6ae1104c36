"""Choosing C: a path of fits from strong to weak penalty, each judged on rows that it did not see.

A path costs little more than its last fit, since each one starts where the one before ended. It is left
when two in a row are worse than the best, or one is much worse: from there on the fits grow slower and the
answers no better.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, final

from .. import losses
from ..errors import NotConverged
from .console import Stage
from .journal import Journal

__all__ = ["EPOCHS", "GRID", "LOOSE", "STEPS", "Choice", "Trials", "chosen", "take"]

GRID = tuple(10.0**power for power in range(-3, 4))

STEPS = (0.001, 0.01, 0.1, 1.0)
"""C of passive-aggressive steps, which no row's step exceeds: more than 1 is the same as 1."""

EPOCHS = 20
"""Of an online learner, at most."""

LOOSE = 1e-3
"""``tol`` of a trial: enough to compare, and quick."""

MUCH = 1.1
"""How many times the smallest loss is so much that no larger C can be better."""

SHARE = 0.6
"""Of a time limit, what trials may take."""


class Trials(Protocol):
    """What trials are fitted on and judged by."""

    folds: int

    def part(self, fold: int) -> tuple[Any, Any]:
        """X and y of the rows that a trial is fitted on."""

    def loss(self, fold: int, model: Any) -> float:
        """How surprised it is at the others."""


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """What was tried, and what is best: C, and the weights of that trial to start from."""

    C: float
    trials: list[tuple[float, float]]
    start: Any


def chosen(
    rows: Trials,
    estimator: Any,
    journal: Journal,
    limit: float | None,
    stage: Stage,
    follow: Callable[[str], Any],
    grid: tuple[float, ...] = GRID,
) -> Choice:
    """The C of the smallest loss; of equals the smaller one. ``follow`` makes callbacks that tell a stage."""
    began = time.monotonic()
    record = journal
    if (
        rows.folds > 1
    ):  # few rows: over in a moment, so not worth a record, nor a journey to a cluster
        record, estimator.engine = Journal(None), None
    best = record.models.get("best")
    path = None if record.steps else _Path(rows, estimator, record.models.get("last"))
    for C in grid[len(record.trials) :]:
        left = None if limit is None else SHARE * limit - (time.monotonic() - began)
        late = left is not None and left <= 0 and record.trials
        if path is None or late or _is_over(record.trials):
            break
        stage.update(f"C = {C:g}")
        loss = path.tried(C, left, [*record.keeper(), follow(f"C = {C:g}")])
        if best is None or loss < min(found for _, found in record.trials):
            best = path.first
        record.tried(C, loss, path.first, best)
    C, _ = min(record.trials, key=lambda trial: trial[1])
    return Choice(C, record.trials, best)


def _is_over(trials: list[tuple[float, float]]) -> bool:
    """Whether larger C are hopeless.

    >>> from argmax.cli.selection import _is_over
    >>> [
    ...     _is_over(list(enumerate(losses)))
    ...     for losses in ([3, 1, 1.05], [3, 1, 1.05, 1.04], [3, 1, 1.2])
    ... ]
    [False, True, True]
    """
    losses = [loss for _, loss in trials]
    best = min(losses, default=0.0)
    return bool(losses) and (losses[-1] > MUCH * best or min(losses[-2:]) > best)


@final
class _Path:
    """One model for each fold, taken from C to C."""

    def __init__(self, rows: Trials, estimator: Any, last: Any) -> None:
        self._rows = rows
        self._parts = [rows.part(fold) for fold in range(rows.folds)]
        self._models = [copy.copy(estimator) for _ in self._parts]
        if last is not None:  # a run that goes on
            take(self._models[0], last)

    @property
    def first(self) -> Any:
        """The model of the first fold, as it is now."""
        return copy.copy(self._models[0])

    def tried(self, C: float, limit: float | None, callbacks: list[Any]) -> float:
        """The loss at this C, over all folds."""
        found = []
        for fold, model in enumerate(self._models):
            model.C, model.tol, model.time_limit = C, LOOSE, limit
            model.warm_start = hasattr(model, "solution_") and _goes_on(model)
            model.callbacks = callbacks if len(self._models) == 1 else [*callbacks, _enough]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConverged)  # a trial need not
                model.fit(*self._parts[fold])
            found.append(self._rows.loss(fold, model))
        return sum(found) / len(found)


def _goes_on(model: Any) -> bool:
    """Whether a fit may begin where the last one ended: an online learner would count its epochs on."""
    loss = model.get_params(deep=False).get("loss")  # classifiers of label sets have but one
    return loss is None or not losses.get(loss).online


def _enough(progress: Any) -> bool:
    """Ends a trial on few rows, whose fits would else go on to the last digit."""
    return bool(progress.relative_gap <= LOOSE)


def take(model: Any, fitted: Any) -> None:
    """Weights and solution of another model, as if this one had been fitted."""
    parameters = model.get_params(deep=False)
    model.__dict__.update(vars(fitted))
    model.set_params(**parameters)
