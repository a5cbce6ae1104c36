"""Scoring single rows, without the price of checking and converting a table."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ..errors import InvalidInput
from ..records import Floats, Ints

__all__ = ["RowScorer"]


@final
class RowScorer:
    """Scores of one row at a time, in a few microseconds; made by ``LinearClassifier.row_scorer()``.

    Dense rows are 1-D arrays of all features; sparse ones are given by the positions and values of
    their nonzero features. Only the length is checked; a row that is not finite gets an error.

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> score = SoftmaxRegression().fit(X, y).row_scorer()
    >>> score.predict(X[100])
    2
    >>> score(X[100]).round(2)
    array([-7.43,  0.94,  6.48])
    >>> score.sparse([0, 2], [6.3, 6.0]).shape
    (3,)
    """

    def __init__(self, W: Floats, b: Floats, classes: Any) -> None:
        self.W, self.b, self.classes = W, b, classes  # (d, K), (K,), (K,)
        self._across = np.ascontiguousarray(W.T)

    def __call__(self, x: Floats) -> Floats:
        """Scores (K,) of a dense row (d,)."""
        if len(x) != len(self.W):
            raise InvalidInput(f"the row has {len(x)} features; the model has {len(self.W)}.")
        return self._finite(self._across.dot(x) + self.b)

    def sparse(self, indices: Ints, values: Floats) -> Floats:
        """Scores (K,) of a row given by the positions and values of its nonzero features."""
        where = np.asarray(indices, dtype=np.intp)
        if where.size and (where.min() < 0 or where.max() >= len(self.W)):
            raise InvalidInput(f"indices must be in 0 … {len(self.W) - 1}; got {indices!r}.")
        return self._finite(np.dot(values, self.W[where]) + self.b)

    def predict(self, x: Floats) -> Any:
        """The class of a dense row."""
        label = self.classes[int(self(x).argmax())]
        return label.item() if hasattr(label, "item") else label

    def probabilities(self, x: Floats) -> Floats:
        """softmax of the scores of a dense row."""
        scores = self(x)
        p = np.exp(scores - scores.max())
        return np.asarray(p / p.sum())

    def _finite(self, scores: Floats) -> Floats:
        if not np.isfinite(scores).all():
            raise InvalidInput("the row has NaN or infinite values. Impute or remove them first.")
        return scores
