"""From rows to a fitted classifier of sets: C chosen by likelihood if it is not given, then a fit on all."""

from __future__ import annotations

import copy
import time
import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...errors import NotConverged
from ...estimators import MultiLabelClassifier
from ...features import Table
from ...records import Ints
from ..console import Console
from ..fitting import follower
from ..journal import Journal
from ..rows import FEW, STRETCH
from ..selection import Choice, chosen, take
from ..splitting import Draws
from .material import Material
from .reading import FirstRows

__all__ = ["Fitted", "Rows", "fit"]


@final
@dataclass(frozen=True, slots=True)
class Fitted:
    """The classifier, what was tried for C (None: it was given), and seconds by stage."""

    classifier: MultiLabelClassifier
    choice: Choice | None
    seconds: dict[str, float]


@final
class Rows:
    """Rows of numbers and their labels; trials are judged by the likelihood of sets that they did not see."""

    def __init__(self, material: Material, table: Table, seed: int) -> None:
        self.table, self._y = table, material.matrix
        self._fold = _folds(material, seed)
        self.folds = STRETCH - 1 if len(self._y) <= FEW else 1
        self._X = table.fit_transform(material.whole())
        self.count, self.features = self._X.shape

    def whole(self) -> tuple[Any, Ints]:
        """X and Y of all rows to learn from."""
        return self._X, self._y

    def part(self, fold: int) -> tuple[Any, Ints]:
        """X and Y of the rows that a trial is fitted on."""
        rows = self._fold != fold
        return self._X[rows], self._y[rows]

    def loss(self, fold: int, model: Any) -> float:
        """Mean surprise at the sets of the rows that a trial did not see."""
        rows = self._fold == fold
        return (
            -float(model.log_likelihood(self._X[rows], self._y[rows]).mean()) if rows.any() else 0.0
        )


def _folds(material: Material, seed: int) -> Ints:
    """The fold of each row; the last one, always learned from, has the first row of every label."""
    codes = material.codes
    places = Draws(STRETCH, seed)(np.zeros(len(codes), np.int64))
    return np.where(FirstRows(material.sets)(codes), STRETCH - 1, places)


def fit(
    rows: Rows, C: float | None, parameters: dict[str, Any], limit: float | None, console: Console
) -> Fitted:
    """Fit on all rows. ``limit`` is in seconds, for everything together."""
    began, taken = time.monotonic(), {}
    classifier, choice = MultiLabelClassifier(**parameters), None
    if C is None:
        with console.stage("Choosing C") as stage:
            trial = copy.copy(classifier)
            choice = chosen(rows, trial, Journal(None), limit, stage, follower(stage))
            stage.done = f"Chose C = {choice.C:g} of {len(choice.trials)} tried"
        C, taken["choose C"] = choice.C, stage.seconds
        take(classifier, choice.start)
    with console.stage("Fitting") as stage:
        left = None if limit is None else max(0.0, limit - (time.monotonic() - began))
        classifier.set_params(
            C=C,
            time_limit=left,
            callbacks=[follower(stage)(f"C = {C:g}")],
            warm_start=choice is not None,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)  # the exit code says so
            classifier.fit(*rows.whole())
        stage.done = f"Fitted {rows.count:,} rows"
    taken["fit"] = stage.seconds
    classifier.set_params(callbacks=None, warm_start=False, time_limit=None)
    return Fitted(classifier, choice, taken)
