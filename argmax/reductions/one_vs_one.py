"""One-vs-one: each class against each other."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from .. import checks
from ..errors import Unsupported
from ..records import Floats
from . import codes, coupling
from .banks import Bank, has_chances, learn
from .base import Reduction
from .decoding import squashed
from .intake import Given, count, some_rows

__all__ = ["OneVsOne"]

DECISIONS = "votes", "scores", "tournament", "probability"
"""The rules that turn the answers of pairs into one."""


@final
class OneVsOne(Reduction):
    """k(k − 1)/2 binary problems h_ij, class i (+1) against class j (−1), each on the rows of those two.

    Four ways to the answer. They are different rules, though slides often call the second one a vote:

    - "votes": class i has a vote for each j it beats, h_ij > 0 or h_ji ≤ 0. Ties go to the larger sum of
      scores.
    - "scores": Σ_j h_ij, signed so that larger is better for i. One pair that is easy to tell apart, and
      so has large scores, can outweigh all others.
    - "tournament": the first class meets the second, the winner the third, and so on: k − 1 evaluations
      a row instead of k(k − 1)/2. ``decision_function`` is the round in which a class left.
    - "probability": the logarithm of ``predict_proba``.

    ``predict`` always follows ``decision_function``. ``predict_proba`` couples the probabilities of all pairs
    whatever the rule (as scikit-learn's ``SVC`` does), so its largest entry may be another class than the one
    that won by votes, scores or tournament; with "probability" it never is.

    A pair with score 0 is won by its second class; classes that still tie go by their order in ``classes_``.

    Parameters
    ----------
    estimator : a classifier or regressor of argmax or scikit-learn; None: ``LinearClassifier()``
    decision : "votes", "scores", "tournament" or "probability"
    together : "auto", True or False
        Solve all problems in one go, in threads, where the base is a linear log loss of ours; "auto" where it
        can be done.
    n_jobs : int or None
        Processes for problems that are solved one by one.

    Attributes
    ----------
    classes_, code_ (k, L), n_features_in_
    coef_ (L, d), intercept_ (L,), solution_, where the problems were solved together; else estimators_

    Examples
    --------
    >>> from argmax import OneVsOne
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsOne().fit(X, y)
    >>> model.coef_.shape, round(model.score(X, y), 2)
    ((3, 4), 0.97)
    >>> model.predict_proba(X[:1]).round(2)
    array([[0.98, 0.02, 0.  ]])
    """

    def __init__(
        self,
        estimator: Any = None,
        decision: str = "votes",
        together: bool | str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.decision = decision
        self.together = together
        self.n_jobs = n_jobs

    def _learn(self, base: Any, given: Given) -> tuple[Any, Bank]:
        self._decision(base)
        code = codes.all_pairs(len(given.classes))
        return code, learn(base, given, code, self.together, self.n_jobs)

    def _decision(self, base: Any) -> str:
        chosen: str = checks.choice("decision", self.decision, DECISIONS)
        if chosen == "probability" and not has_chances(base):
            raise Unsupported(
                f"decision='probability' needs probabilities; {type(base).__name__} has none. Use "
                "decision='votes' or 'scores'."
            )
        return chosen

    def _decide(self, X: Any) -> Floats:
        decision = self._decision(self._base())
        if decision == "probability":
            p = self._probabilities(self._bank.chances(X))
            return np.log(np.maximum(p, np.finfo(float).tiny))
        if decision == "tournament":
            return self._tournament(X)
        scores = self._bank.scores(X)
        totals = scores @ self.code_.T.astype(float)
        if decision == "scores":
            return np.asarray(totals)
        won = np.where(scores > 0.0, 1.0, -1.0)
        votes = (won @ self.code_.T + len(self.code_) - 1) / 2.0
        return np.asarray(votes + squashed(totals))

    def _tournament(self, X: Any) -> Floats:
        """The round in which each class left; the last one standing, round k."""
        k = len(self.code_)
        place = np.zeros((k, k), int)
        place[np.triu_indices(k, 1)] = np.arange(self.code_.shape[1])
        n = count(X)
        champion, rounds = np.zeros(n, int), np.zeros((n, k))
        for challenger in range(1, k):
            for holder in np.unique(champion):
                rows = np.flatnonzero(champion == holder)
                lost = self._bank.one(some_rows(X, rows), place[holder, challenger]) <= 0.0
                rounds[rows, np.where(lost, holder, challenger)] = challenger
                champion[rows[lost]] = challenger
        rounds[np.arange(n), champion] = k
        return rounds

    def _probabilities(self, chances: Floats) -> Floats:
        """By pairwise coupling (Wu, Lin and Weng 2004, the second method)."""
        p, k = chances, len(self.code_)
        r = np.zeros((len(p), k, k))
        first, second = np.triu_indices(k, 1)
        r[:, first, second], r[:, second, first] = p, 1.0 - p
        return coupling.pairwise(r)
