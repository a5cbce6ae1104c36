"""Scalar codes: one number for each class, and a regression. Here to show why it fails."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .. import checks
from ..errors import Unsupported
from ..estimators.answers import best, margins
from ..records import Floats
from . import intake

__all__ = ["ScalarCode"]


@final
class ScalarCode(ClassifierMixin, BaseEstimator):
    """Class j becomes the number j = 1.0, 2.0, …; a regression predicts a number, and the nearest class wins.

    The numbers say that class 2 lies halfway between classes 1 and 3. For labels without such an order that
    is false, and a class in the middle of the numbers gets answers that only mean doubt. It is here for
    comparison; use any other reduction.

    Parameters
    ----------
    estimator : a regressor; None: ``sklearn.linear_model.LinearRegression()``

    Examples
    --------
    >>> from argmax.reductions import ScalarCode
    >>> X, y = [[0.0], [2.0], [1.0]], ["a", "b", "c"]  # "c" lies between the others
    >>> ScalarCode().fit(X, y).predict(X).tolist()
    ['b', 'b', 'b']
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Regress the numbers of the classes on the rows X."""
        from sklearn.linear_model import LinearRegression  # which takes long to import

        base = LinearRegression() if self.estimator is None else self.estimator
        given = intake.examples(self, base, X, y, sample_weight)
        weight = {} if given.weight is None else {"sample_weight": given.weight}
        if weight and not has_fit_parameter(base, "sample_weight"):
            raise Unsupported(
                f"sample_weight: {type(base).__name__} takes none and would ignore it."
            )
        model = clone(base).fit(given.X, given.y + 1.0, **weight)
        self.estimator_, self.classes_ = model, given.classes
        return self

    def decision_function(self, X: Any) -> Floats:
        """−|prediction − j| for each class j (n, k); for two classes the difference (n,)."""
        return margins(self._decide(X))

    def predict(self, X: Any) -> Any:
        """The class with the nearest number; of equals, the first in ``classes_``."""
        places = best(self._decide(X))
        return self.classes_[places]

    def _decide(self, X: Any) -> Floats:
        check_is_fitted(self, "classes_")
        checks.given_rows(X)
        with np.errstate(over="ignore", invalid="ignore"):
            number = np.asarray(self.estimator_.predict(X), dtype=float).reshape(-1, 1)
        checks.finite_scores(number)
        return np.asarray(-np.abs(number - np.arange(1.0, len(self.classes_) + 1.0)))
