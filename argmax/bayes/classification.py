"""BayesianClassifier: softmax regression that averages over what it does not know."""

from __future__ import annotations

import copy
import math
import sys
import warnings
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..errors import InvalidInput, PosteriorTooWide, Unsupported
from ..estimators import LinearClassifier
from ..records import Csr, Floats, Ints
from .audit import Audit, audited
from .averages import METHODS
from .gaussian import generator
from .softmax_posterior import SoftmaxPosterior, of_highest_evidence

__all__ = ["BayesianClassifier"]

FEWEST = 10
"""Held-out rows below which nothing can be said."""


@final
class BayesianClassifier(ClassifierMixin, BaseEstimator):
    """Softmax regression with a Gaussian prior: probabilities averaged over the posterior of the weights.

    The prior is w ~ N(0, C I), flat on intercepts, so that the mode is ``LinearClassifier(loss="log", C=C)``.
    The posterior is Laplace's: a Gaussian at the mode with the curvature there.

    It looks at itself: rows are held out, the mode alone and the average over the posterior predict them,
    and ``audit_`` keeps both log losses. Where averaging is worse beyond chance, there is a warning,
    ``PosteriorTooWide``.

    Parameters
    ----------
    C : number or "evidence"
        Prior variance of the weights. "evidence" chooses the one under which the labels are most probable.
        For classes that can be separated there is none: a warning says so, and C is the best one for
        intercepts with a prior of their own.
    structure : "auto", "full", "kron", "diag" or "low_rank"
        How much of the curvature is kept; "auto" keeps as much as can be inverted in a second or so.
    predictive : "auto", "probit", "mean_field", "sampling" or "map"
        How the softmax is averaged: "auto" is "probit" for two classes, "sampling" for more; "map" does not
        average.
    rank : int or None
        Directions that "low_rank" keeps; None: 50.
    draws : int or None
        Draws of "sampling", rounded up to a power of two; None: 512.
    held_out : share of the rows, or None
        Rows of the audit, for which a second model with the same C is fitted without them. None: no audit.
    fit_intercept, solver, tol, max_iter, n_threads : as in ``LinearClassifier``
    random_state : int, RandomState, Generator or None
        Draws and held-out rows. None is 0: fits repeat.
    verbose : int
        1: the audit on stderr.

    Attributes
    ----------
    map_ : LinearClassifier
        The mode.
    posterior_ : SoftmaxPosterior
    audit_ : Audit, or None where fewer than ten rows could be held out
    C_, structure_, log_evidence_, classes_, coef_, intercept_, n_iter_, n_features_in_

    Examples
    --------
    >>> from argmax.bayes import BayesianClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianClassifier(C=0.1).fit(X, y)
    >>> model.map_.predict_proba(X[[0, 70]]).round(2)
    array([[0.92, 0.08, 0.  ],
           [0.03, 0.46, 0.51]])
    >>> model.predict_proba(X[[0, 70]]).round(2)  # averaged over the weights: a little less sure
    array([[0.91, 0.09, 0.  ],
           [0.03, 0.45, 0.51]])
    >>> coef, intercept = model.sample(5)  # five sets of decision boundaries
    >>> coef.shape, intercept.shape
    ((5, 3, 4), (5, 3))
    >>> print(model.audit_)
    log loss on 30 held-out rows: MAP ..., averaged ..., difference ....
    Averaging over the posterior predicts about as well as its mode.
    """

    def __init__(
        self,
        C: Any = 1.0,
        structure: str = "auto",
        predictive: str = "auto",
        rank: int | None = None,
        draws: int | None = None,
        held_out: float | None = 0.2,
        fit_intercept: bool = True,
        solver: Any = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.structure = structure
        self.predictive = predictive
        self.rank = rank
        self.draws = draws
        self.held_out = held_out
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X (n, d), dense or sparse, and labels y (n,). A failed fit changes nothing."""
        attempt = copy.copy(self)
        attempt._fit(X, y, sample_weight)
        self.__dict__.update(vars(attempt))
        if self.audit_ is not None and self.verbose:
            print(self.audit_, file=sys.stderr)
        if self.audit_ is not None and self.audit_.too_wide and self.predictive != "map":
            warnings.warn(str(self.audit_), PosteriorTooWide, stacklevel=2)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check()
        self._seed = int(generator(self._state()).integers(2**31))
        X = self._rows(X, reset=True)
        classes, codes = checks.labels(self, y, X.shape[0])
        weight = checks.sample_weight(sample_weight, X.shape[0])
        self.posterior_ = self._posterior(X, classes[codes], weight)
        self.audit_ = self._audited(X, classes[codes], weight, self.posterior_.mode.C)
        self.map_, self.structure_ = self.posterior_.mode, self.posterior_.structure
        self.C_, self.log_evidence_ = self.map_.C, self.posterior_.log_evidence
        self.classes_, self.n_iter_ = self.map_.classes_, self.map_.n_iter_
        self.coef_, self.intercept_ = self.map_.coef_, self.map_.intercept_

    def _check(self) -> None:
        structures = "auto", "full", "kron", "diag", "low_rank"
        checks.choice("structure", self.structure, structures)
        checks.choice("predictive", self.predictive, ("auto", *METHODS, "map"))
        if self.rank is not None and self.structure != "low_rank":
            raise Unsupported(
                f"rank={self.rank!r} would be ignored with structure={self.structure!r}. "
                "Use structure='low_rank', or rank=None."
            )
        if self.draws is not None and self.predictive != "sampling":
            raise Unsupported(
                f"draws={self.draws!r} would be ignored with predictive={self.predictive!r}. "
                "Use predictive='sampling', or draws=None."
            )
        if self.rank is not None:
            checks.positive_integer("rank", self.rank)
        if self.draws is not None:
            checks.positive_integer("draws", self.draws)
        if self.held_out is not None and checks.number("held_out", self.held_out, 0.0, 1.0) == 1.0:
            raise InvalidInput(
                "held_out must be less than 1: some rows must be left to learn from."
            )

    def _state(self) -> Any:
        return 0 if self.random_state is None else self.random_state

    def _rows(self, X: Any, reset: bool) -> Any:
        found = checks.rows(self, X, reset=reset, dtype=np.float64)
        if isinstance(found, Csr):
            return sp.csr_array((found.values, found.indices, found.indptr), shape=found.shape)
        return found

    def _posterior(self, X: Any, y: Any, weight: Floats) -> SoftmaxPosterior:
        def at(C: float) -> SoftmaxPosterior:
            return self._around(self._mode(C).fit(X, y, weight), X, y, weight)

        if isinstance(self.C, str):
            checks.choice("C", self.C, ("evidence",))
            free = bool(self.fit_intercept) * (len(np.unique(y[weight > 0])) - 1)
            return of_highest_evidence(at, _mean_square(X, weight, bool(free)), free)
        C = checks.number("C", self.C, 0.0, open_low=True)
        if math.isinf(C):
            raise InvalidInput("C must be finite: a flat prior may leave no posterior. Use C=1e6.")
        return at(C)

    def _mode(self, C: float) -> LinearClassifier:
        return LinearClassifier(
            C=C,
            fit_intercept=self.fit_intercept,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=self.n_threads,
            random_state=self._seed,
        )

    def _around(self, mode: LinearClassifier, X: Any, y: Any, weight: Floats) -> SoftmaxPosterior:
        seen = weight > 0  # a class of rows without weight is not there
        codes = np.searchsorted(mode.classes_, y[seen])
        rank = 50 if self.rank is None else self.rank
        return SoftmaxPosterior.around(mode, X[seen], codes, weight[seen], self.structure, rank)

    def _audited(self, X: Any, y: Any, weight: Floats, C: float) -> Audit | None:
        """MAP against averaged, on rows of every class that a second fit does not see."""
        if not self.held_out:
            return None
        rng = np.random.default_rng(self._seed)
        out = _held_out(y, weight, self.held_out, rng)
        if len(out) < FEWEST:
            return None
        rest = np.setdiff1d(np.arange(len(y)), out)
        mode = self._mode(C).fit(X[rest], y[rest], weight[rest])
        return self._compared(self._around(mode, X[rest], y[rest], weight[rest]), X[out], y[out])

    def _compared(self, known: SoftmaxPosterior, X: Any, y: Any) -> Audit:
        method = _method("auto" if self.predictive == "map" else self.predictive, known)
        averaged = known.probabilities(X, method, self._draws(), self._seed)
        return audited(y, averaged, known.mode.predict_proba(X), known.mode.classes_)

    def _draws(self) -> int:
        return 512 if self.draws is None else self.draws

    # Answers

    def audit(self, X: Any, y: Any) -> Audit:
        """Log loss of the mode against that of the average over the posterior, on rows it has not seen."""
        check_is_fitted(self, "posterior_")
        X = self._rows(X, reset=False)
        classes, codes = checks.labels(self, y, X.shape[0])
        return self._compared(self.posterior_, X, classes[codes])

    def predict_proba(self, X: Any) -> Floats:
        """P(y | x, data) for each row and class, averaged over the posterior as ``predictive`` says."""
        check_is_fitted(self, "posterior_")
        X = self._rows(X, reset=False)
        method = _method(self.predictive, self.posterior_)
        return self.posterior_.probabilities(X, method, self._draws(), self._seed)

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(y | x, data)."""
        return np.asarray(np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny)))

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        p = self.predict_proba(X)
        return self.classes_[p.argmax(axis=1)]

    def score_distribution(self, X: Any) -> tuple[Floats, Floats]:
        """Mean (n, k) and covariance (n, k, k) of the scores of each row; only differences matter."""
        check_is_fitted(self, "posterior_")
        X, k = self._rows(X, reset=False), len(self.classes_)
        checks.memory(8.0 * X.shape[0] * k * k, "covariances of all scores", "Pass fewer rows.")
        _, means, spreads = zip(*self.posterior_.scores(X), strict=True)
        return np.concatenate(means), np.concatenate(spreads)

    def sample(self, n: int = 1, random_state: Any = 0) -> tuple[Floats, Floats]:
        """n draws of the decision boundaries: coef (n, k, d) and intercept (n, k); k = 1 for two classes."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.sample(checks.positive_integer("n", n), generator(random_state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _method(predictive: str, known: SoftmaxPosterior) -> str:
    if predictive != "auto":
        return predictive
    return "probit" if len(known.mode.classes_) == 2 else "sampling"


def _mean_square(X: Any, weight: Floats, centred: bool) -> float:
    """The mean of ‖x‖² over the rows, measured from their mean where an intercept is free to move there."""
    squares = np.asarray((X.multiply(X) if sp.issparse(X) else X * X).sum(axis=1)).ravel()
    share = weight / weight.sum()
    square, mean = float(share @ squares), np.asarray(X.T @ share).ravel()
    around = square - float(mean @ mean) if centred else square
    return around if around > 1e-12 * square else square


def _held_out(y: Any, weight: Floats, share: float, rng: np.random.Generator) -> Ints:
    """A share of the rows of every class that count, rounded down: one at least is left."""
    chosen = []
    for label in np.unique(y):
        rows = np.flatnonzero((y == label) & (weight > 0))
        chosen.append(rng.permutation(rows)[: int(share * len(rows))])
    return np.sort(np.concatenate(chosen))
