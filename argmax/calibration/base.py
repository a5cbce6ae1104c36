"""What all calibrators share: scores or probabilities in, honest probabilities out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..errors import InvalidInput
from ..metrics.scores import SMALLEST, positions
from ..records import Floats, Ints
from .passes import Rows
from .readout import Readout

__all__ = ["Calibrator", "Penalised", "Scaling", "as_scores", "columns_of"]


def as_scores(given: Any, on: str = "scores") -> Floats:
    """Scores (n, k) from scores, or log p from probabilities; (n,) are the lead of the second of two classes.

    >>> from argmax.calibration.base import as_scores
    >>> as_scores([2.0, -4.0])
    array([[-1.,  1.],
           [ 2., -2.]])
    """
    checks.choice("on", on, ("scores", "probabilities"))
    table = checks.score_table(given)
    if on == "scores":
        return np.ascontiguousarray(table)
    return np.log(np.maximum(checks.probabilities(given, *np.shape(given)), SMALLEST))


class Calibrator(BaseEstimator, ABC):
    """From the scores of a model, and the truth, to a map from scores to probabilities.

    ``on`` says what it is given: ``"scores"`` (n, k), or (n,) for two classes; or ``"probabilities"``, of
    which the logarithms are the scores.
    """

    on: str

    def fit(self, scores: Any, truth: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from scores (n, k) and the truth (n,).

        The truth holds labels of ``classes`` (k,), the columns of the scores; without classes, the columns
        themselves as numbers from 0 on.
        """
        table = as_scores(scores, self.on)
        if not len(table):
            raise InvalidInput("scores has no rows. Pass at least one row to calibrate on.")
        column = columns_of(truth, classes, table.shape)
        weight = None
        if sample_weight is not None:
            weight = checks.sample_weight(sample_weight, len(table))
        self._fit(Rows.of(table, column, weight))
        self.n_classes_ = table.shape[1]
        return self

    def predict_proba(self, scores: Any) -> Floats:
        """Probabilities (n, k) of scores (n, k)."""
        check_is_fitted(self, "n_classes_")
        table = as_scores(scores, self.on)
        if table.shape[1] != self.n_classes_:
            raise InvalidInput(
                f"scores must have the {self.n_classes_} columns that were calibrated; got {table.shape[1]}."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            return checks.finite_scores(self._probabilities(table))

    @abstractmethod
    def _fit(self, rows: Rows) -> None:
        """Learn, and set the fitted attributes."""

    @abstractmethod
    def _probabilities(self, scores: Floats) -> Floats:
        """The map itself."""


class Scaling(Calibrator):
    """softmax(A·scores + b): ``readout_`` holds A and b."""

    readout_: Readout

    def _fit(self, rows: Rows) -> None:
        self.readout_ = self._solved(rows)

    def _probabilities(self, scores: Floats) -> Floats:
        return self.readout_.probabilities(scores)

    @abstractmethod
    def _solved(self, rows: Rows) -> Readout:
        """The best A and b."""


class Penalised(Scaling):
    """A scaling that starts from the best temperature, and pays ``penalty`` for how far it goes from there.

    The penalty is a prior worth about as many rows. It decides for a class that the rows do not have.
    """

    def __init__(self, penalty: float = 1.0, on: str = "scores") -> None:
        self.penalty = penalty
        self.on = on

    def _solved(self, rows: Rows) -> Readout:
        return self._deviated(rows, checks.number("penalty", self.penalty, 0.0))

    @abstractmethod
    def _deviated(self, rows: Rows, penalty: float) -> Readout:
        """The best A and b of the penalised loss."""


def columns_of(truth: Any, classes: Any, shape: tuple[int, int]) -> Ints:
    """The column of each row's truth, every one of them known."""
    n, k = shape
    if classes is None:
        classes = np.arange(k)
    elif len(classes) != k:
        raise InvalidInput(f"classes must name the {k} columns of the scores; got {len(classes)}.")
    column = positions(truth, classes)
    checks.same_length(scores=range(n), truth=column)
    if (column < 0).any():
        at = int(np.argmax(column < 0))
        raise InvalidInput(
            f"truth must hold labels of the classes; row {at} has {np.asarray(truth).tolist()[at]!r}. Pass "
            "classes= in the order of the columns, and leave out rows of other labels."
        )
    return column
