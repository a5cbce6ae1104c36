"""The one abstract base of the reductions: from many binary answers to one of k classes."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..estimators import LinearClassifier
from ..estimators.answers import best, margins
from ..records import Floats
from . import intake
from .banks import Bank, Separate, Together, has_chances

__all__ = ["Reduction", "two_sided"]


def _offers_chances(reduction: Any) -> bool:
    """Whether the base of a reduction has probabilities (for ``available_if``)."""
    return has_chances(reduction._base())


class Reduction(ClassifierMixin, BaseEstimator, ABC):
    """k classes from binary models. A failed fit changes nothing."""

    estimator: Any
    n_jobs: int | None

    classes_: Any
    code_: Any
    _bank: Bank

    @abstractmethod
    def _learn(self, base: Any, given: intake.Given) -> tuple[Any, Bank]:
        """The code (k, L), and a model for each of its columns."""

    @abstractmethod
    def _decide(self, X: Any) -> Floats:
        """How much each class is preferred (n, k), for rows as the base takes them."""

    @abstractmethod
    def _probabilities(self, chances: Floats) -> Floats:
        """P(y | x) (n, k) from P(bit = 1) (n, L)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X (n, d) and labels y (n,). X may be anything that the base takes."""
        attempt, base = copy.copy(self), self._base()
        given = intake.examples(attempt, base, X, y, sample_weight)
        attempt.code_, attempt._bank = attempt._learn(base, given)
        attempt.classes_ = given.classes
        kept = {n: v for n, v in vars(self).items() if not n.endswith("_")}
        self.__dict__ = kept | vars(attempt)  # one step, for threads that are predicting
        return self

    def decision_function(self, X: Any) -> Floats:
        """How much each class is preferred (n, k); for two classes (n,), positive meaning ``classes_[1]``."""
        return margins(copy.copy(self)._preferences(X))

    def predict(self, X: Any) -> Any:
        """The preferred class of each row; of equals, the first in ``classes_``."""
        known = copy.copy(self)  # one fit, whatever another thread does meanwhile
        places = best(known._preferences(X))
        return known.classes_[places]

    @available_if(_offers_chances)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """P(y | x) (n, k), put together from those of the binary models."""
        known = copy.copy(self)
        rows = known._rows(X)
        chances = known._bank.chances(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            return checks.finite_scores(known._probabilities(chances))

    def _preferences(self, X: Any) -> Floats:
        """What ``_decide`` makes of rows as they were given; sums of finite scores may still overflow."""
        rows = self._rows(X)
        with np.errstate(over="ignore", invalid="ignore"):
            return checks.finite_scores(self._decide(rows))

    @property
    def estimators_(self) -> list[Any]:
        """The fitted binary models, one for each column of ``code_``, where they were fitted one by one."""
        if not isinstance(self._bank, Separate):
            raise AttributeError(
                "the problems were solved together: see coef_, intercept_, solution_."
            )
        return self._bank.models

    @property
    def coef_(self) -> Floats:
        """Weights (L, d) of the binary problems, where they were solved together."""
        return self._linear("coef_").coef

    @property
    def intercept_(self) -> Floats:
        """Intercepts (L,) of the binary problems, where they were solved together."""
        return self._linear("intercept_").intercept

    @property
    def solution_(self) -> Any:
        """The account of the problems that were solved together: sums of their objectives and gaps."""
        return self._linear("solution_").solution

    def _linear(self, name: str) -> Together:
        check_is_fitted(self, "classes_")
        if not isinstance(self._bank, Together):
            raise AttributeError(f"{name}: the problems were solved one by one. See estimators_.")
        return self._bank

    def _base(self) -> Any:
        if self.estimator is None:
            return LinearClassifier()
        return checks.estimator("estimator", self.estimator, "an estimator or None")

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self, "classes_")
        return intake.rows_of(self, self._base(), X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._base())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "classes_" in vars(self)


def two_sided(scores: Floats) -> Floats:
    """Scores (n, 1) of the second of two classes as those of both (n, 2)."""
    return np.hstack([-0.5 * scores, 0.5 * scores])
