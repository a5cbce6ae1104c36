"""A fitted linear classifier as the bounds see it: weights, and what they say about some rows.

    ŷ = argmax_c ⟨w_c, x⟩ + b_c        w (k, d), b (k,)
    ŷ = second class if ⟨w, x⟩ + b > 0  two classes with one weight vector

A constant B stands behind every x, and b_c/B behind every w_c: then scores are ⟨w, x⟩ and nothing else.
With k > 2 all classes are one long vector, from which the mean over classes is taken: no score difference
changes, and it is shorter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import InvalidInput, WrongType
from ..metrics.scores import positions, unseen
from ..records import Floats, Ints, Rows
from .uniform import scipy_rows, squares

__all__ = ["Linear", "View"]


@final
@dataclass(frozen=True, slots=True)
class View:
    """Rows with the constant behind them, as one classifier sees them; margins are geometric."""

    rows: Any  # (n, d), dense or scipy's CSR, without the constant
    codes: Ints  # (n,) positions of the true classes
    scores: Floats  # (n, 1) or (n, k), divided by ‖w‖
    margins: Floats  # (n,) divided by ‖w‖
    lengths: Floats  # (n,) ‖(x, B)‖

    @property
    def radius(self) -> float:
        """The longest row, the constant included."""
        return float(self.lengths.max())

    @property
    def mistakes(self) -> int:
        """Rows that are answered wrongly."""
        return int((answers(self.scores) != self.codes).sum())

    @property
    def normalised(self) -> tuple[Floats, Ints | None]:
        """Scores divided by the lengths of the rows, as ``pac_bayes`` takes them."""
        long = np.where(self.lengths > 0, self.lengths, 1.0)
        if self.scores.shape[1] == 1:
            return self.margins / long, None
        return self.scores / long[:, None], self.codes


@final
@dataclass(frozen=True, slots=True)
class Linear:
    """Weights (1, d) or (k, d), intercepts, and the classes in the order of the scores."""

    coef: Floats
    intercept: Floats
    classes: NDArray[Any]

    @classmethod
    def of(cls, coef: Any, intercept: Any, classes: Any) -> Self:
        """Weights as arrays, checked against each other."""
        weights = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        names = np.asarray(classes)
        k = len(names)
        if weights.ndim != 2 or len(weights) not in ((1, 2) if k == 2 else (k,)):
            raise InvalidInput(
                f"coef must have one row a class ({k}), or one row for two classes; got shape "
                f"{weights.shape}."
            )
        given = (
            np.zeros(1) if intercept is None else np.asarray(intercept, dtype=np.float64).ravel()
        )
        if len(given) not in (1, len(weights)):
            raise InvalidInput(
                f"intercept must have {len(weights)} number(s), as coef has rows; got {len(given)}."
            )
        if not (np.isfinite(weights).all() and np.isfinite(given).all()):
            raise InvalidInput("coef and intercept must be finite; they hold NaN or infinity.")
        return cls(weights, np.broadcast_to(given, len(weights)), names)

    @classmethod
    def fitted(cls, model: Any) -> Self:
        """The weights of a fitted linear classifier, ours or scikit-learn's."""
        try:
            found = cls.of(model.coef_, model.intercept_, model.classes_)
        except AttributeError:
            raise WrongType(
                f"model must be a fitted linear classifier, with coef_, intercept_ and classes_; got "
                f"{type(model).__name__}. Of a pipeline pass the last step, and rows as it sees them."
            ) from None
        if found.k != 2 or found.binary:
            return found
        return cls(np.diff(found.coef, axis=0), np.diff(found.intercept), found.classes)

    @property
    def k(self) -> int:
        """How many classes."""
        return len(self.classes)

    @property
    def binary(self) -> bool:
        """Whether one weight vector tells two classes apart."""
        return len(self.coef) == 1

    @property
    def dimension(self) -> int:
        """Free parameters: (k − 1)(d + 1), or (k − 1) d where no intercept was fitted."""
        return int((self.k - 1) * (self.coef.shape[1] + bool(self.intercept.any())))

    @property
    def numbers(self) -> int:
        """How many numbers are kept: all weights, and intercepts where there are any."""
        return int(self.coef.size + (len(self.coef) if self.intercept.any() else 0))

    def view(self, X: Any, y: Any, bias: float = 1.0) -> View:
        """The rows X (n, d) with labels y (n,), with the constant ``bias`` behind them."""
        rows, codes = self._given(X, y)
        if (codes < 0).any():
            first = next(iter(unseen(y, self.classes)))
            raise InvalidInput(
                f"y has labels that the model does not know, such as {first!r}. Bounds from training rows "
                "are about the classes that it was fitted on."
            )
        bias = checks.number("bias", bias, 0.0)
        if not bias and self.intercept.any():
            raise InvalidInput("bias=0 leaves no room for an intercept. Use bias=1.0.")
        coef, intercept = self._normalised(bias or 1.0)
        matrix = scipy_rows(rows)
        scores = matrix @ coef.T + intercept
        with np.errstate(over="ignore"):
            lengths = np.sqrt(squares(rows) + bias**2)
        if not np.isfinite(lengths).all():
            raise InvalidInput("X has rows whose squared length overflows. Scale the features.")
        return View(matrix, codes, scores, _margins(scores, codes), lengths)

    def wrong(self, X: Any, y: Any) -> int:
        """How many answers are mistakes; a label that the model does not know is one."""
        rows, codes = self._given(X, y)
        scores = scipy_rows(rows) @ self.coef.T + self.intercept
        return int((answers(scores) != codes).sum())

    def _given(self, X: Any, y: Any) -> tuple[Rows, Ints]:
        """Rows, and the positions of their labels among the classes; −1 for one that is not there."""
        rows = checks.block(X)
        checks.same_length(X=rows, y=y)
        if not len(rows):
            raise InvalidInput("X has no rows. A bound needs at least one.")
        checks.finite(rows)
        if rows.shape[1] != self.coef.shape[1]:
            raise InvalidInput(
                f"X has {rows.shape[1]} columns, and the weights are for {self.coef.shape[1]}."
            )
        return rows, positions(y, self.classes)

    def _normalised(self, bias: float) -> tuple[Floats, Floats]:
        """Weights of length 1 together with the intercepts over B, less the mean over classes."""
        coef, intercept = self.coef, self.intercept
        if not self.binary:
            coef, intercept = coef - coef.mean(axis=0), intercept - intercept.mean()
        top = max(float(np.abs(coef).max(initial=0.0)), float(np.abs(intercept).max())) or 1.0
        coef, intercept = coef / top, intercept / top  # squares of what is left cannot overflow
        norm = math.hypot(np.linalg.norm(coef), np.linalg.norm(intercept / bias)) or 1.0
        return coef / norm, intercept / norm


def answers(scores: Floats) -> Ints:
    """The winning classes of scores (n, 1) or (n, k)."""
    return (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)


def _margins(scores: Floats, codes: Ints) -> Floats:
    """y⟨w, x⟩, or the true score less the best other one."""
    if scores.shape[1] == 1:
        return np.where(codes == 1, scores[:, 0], -scores[:, 0])
    others, rows = scores.copy(), np.arange(len(scores))
    others[rows, codes] = -math.inf
    lead: Floats = scores[rows, codes] - others.max(axis=1)
    return lead
