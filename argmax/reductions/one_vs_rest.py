"""One-vs-rest: each class against all others."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ..records import Floats
from . import codes
from .banks import Bank, learn
from .base import Reduction, two_sided
from .intake import Given

__all__ = ["OneVsRest"]


@final
class OneVsRest(Reduction):
    """k binary problems, class j (+1) against the rest (−1):   ŷ = argmax_j h_j(x).

    Two classes are one problem. The answer is the class of the highest score; of equals, the first in
    ``classes_``. A class that no line separates from all the others gets low scores everywhere, and loses:
    then ``OneVsOne`` or a joint loss is the better choice.

    Parameters
    ----------
    estimator : a classifier or regressor of argmax or scikit-learn; None: ``LinearClassifier()``
        Its ``decision_function`` gives the scores, else its log odds, else its answers; a regressor learns
        the targets ±1, a classifier 1 and 0: a ``class_weight`` of the base speaks of these.
    together : "auto", True or False
        Solve all problems in one go, reading X once for all of them, where the base is a linear log loss of
        ours; "auto" where it can be done.
    n_jobs : int or None
        Processes for problems that are solved one by one.

    Attributes
    ----------
    classes_, code_ (k, L), n_features_in_
    coef_ (L, d), intercept_ (L,), solution_, where the problems were solved together; else estimators_

    Examples
    --------
    >>> from argmax import OneVsRest
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsRest().fit(X, y)
    >>> model.coef_.shape, model.solution_.status, round(model.score(X, y), 2)
    ((3, 4), 'converged', 0.95)
    >>> len(OneVsRest(LinearSVC()).fit(X, y).estimators_)
    3

    References
    ----------
    Rifkin and Klautau 2004, In defense of one-vs-all classification (JMLR 5).
    """

    def __init__(
        self, estimator: Any = None, together: bool | str = "auto", n_jobs: int | None = None
    ) -> None:
        self.estimator = estimator
        self.together = together
        self.n_jobs = n_jobs

    def _learn(self, base: Any, given: Given) -> tuple[Any, Bank]:
        code = codes.one_vs_rest(len(given.classes))
        return code, learn(base, given, code, self.together, self.n_jobs)

    def _decide(self, X: Any) -> Floats:
        scores = self._bank.scores(X)
        return two_sided(scores) if len(self.classes_) == 2 else scores

    def _probabilities(self, chances: Floats) -> Floats:
        """P_j / Σ_i P_i, with the P(class j | x) of the binary models."""
        p = chances
        if len(self.classes_) == 2:
            return np.hstack([1.0 - p, p])
        total = p.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0.0, p, 1.0) / np.where(total > 0.0, total, p.shape[1]))
