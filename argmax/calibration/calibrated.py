"""Calibrated: honest probabilities for any classifier, learned on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from .. import checks
from ..checks.refusals import as_ours
from ..errors import InvalidInput, Unsupported
from ..metrics.scores import SMALLEST, positions
from ..records import Floats, Ints
from .base import Calibrator, Scaling
from .matrix import Dirichlet
from .selection import Selection, chosen

__all__ = ["Calibrated", "bare", "scores_of", "widened"]

FOLDS = 5


@final
class Calibrated(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier with honest probabilities, whatever it was: scores of rows it has not seen are calibrated.

    ``fit`` clones the estimator for each fold, scores the rows left out, and fits the calibrator on all these
    scores together. The scores are those of ``decision_function`` if there is one for each class, else the
    logarithms of its probabilities; so hinge and perceptron losses get probabilities that they have none of
    their own.

    Parameters
    ----------
    estimator : classifier
    method : "auto", "identity", "temperature", "bias_corrected", "vector", "matrix", "dirichlet", "isotonic",
        "top_label", or a Calibrator
        "auto" takes the scaling with the least cross-validated log loss.
    cv : int, splitter, iterable, "prefit" or None
        Folds; every row is left out once at most, and rows of a class with a single row never. Every other
        class needs a row for each fold: more folds than that are an error. None: 5, or as many as the
        smallest of these classes has rows.
        "prefit": the estimator is fitted, on other rows, and all of these are for calibration.
    ensemble : "auto" or bool
        True: the answer is the mean of the probabilities of the models of all folds. False: the estimator is
        fitted anew on all rows, and answers alone; it predicts as many times as fast, and of a linear model
        the calibrated one is linear too, but where a class has few rows its log loss on new ones is often
        higher. "auto": True where there are folds, as in scikit-learn.

    Attributes
    ----------
    classes_, calibrator_, n_features_in_
    estimator_ : the classifier of all rows; of an ensemble the first
    estimators_ : all that answer
    selection_ : Selection or None
        With "auto", the log loss of all that were tried.

    Examples
    --------
    >>> from argmax.calibration import Calibrated
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.svm import LinearSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> model = Calibrated(LinearSVC(dual=False)).fit(X[::2], y[::2])
    >>> model.predict_proba(X[1:4]).shape
    (3, 10)
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    def __init__(
        self, estimator: Any, method: Any = "auto", cv: Any = None, ensemble: Any = "auto"
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.ensemble = ensemble

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator and the calibrator on rows X and labels y (n,)."""
        checks.estimator("estimator", self.estimator, "a classifier")
        with as_ours():
            (X,) = indexable(checks.given_rows(X))
        classes, codes = checks.labels(self, y, _num_samples(X))
        y = classes[codes]
        checks.choice("ensemble", self.ensemble, ("auto", True, False))
        weight = None if sample_weight is None else checks.sample_weight(sample_weight, len(codes))
        if isinstance(self.cv, str):
            checks.choice("cv", self.cv, ("prefit",))
            return self._fit_prefit(X, y, weight)
        rows, table, members = self._held_out_scores(X, y, codes, classes, weight)
        if not self._together():
            members = [_fitted(self.estimator, X, y, weight)]
        part = None if weight is None else weight[rows]
        found = chosen(self.method, table, y[rows], classes, part)
        self.adopt(members[0], found)
        self.estimators_, self.classes_ = members, classes
        return self

    def _together(self) -> bool:
        """Whether the models of all folds answer; frozen ones are all the same."""
        if self.ensemble == "auto":
            return not isinstance(self.estimator, FrozenEstimator)
        return bool(self.ensemble)

    def _fit_prefit(self, X: Any, y: Any, weight: Any) -> Self:
        if self.ensemble not in ("auto", False):
            raise InvalidInput(
                "ensemble=True needs folds; cv='prefit' has one model. Use ensemble=False."
            )
        check_is_fitted(self.estimator)
        known = self.estimator.classes_
        table = scores_of(self.estimator, X, known)
        return self.adopt(self.estimator, chosen(self.method, table, y, known, weight))

    def adopt(self, estimator: Any, found: Selection | Calibrator) -> Self:
        """Take over a fitted classifier and a fitted calibrator of its scores, learned elsewhere.

        >>> from argmax.calibration import Calibrated, Temperature
        >>> from sklearn.datasets import load_digits
        >>> from sklearn.linear_model import RidgeClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> ridge = RidgeClassifier().fit(X[::2], y[::2])
        >>> scaled = Temperature().fit(ridge.decision_function(X[1::2]), y[1::2])
        >>> Calibrated(ridge, cv="prefit").adopt(ridge, scaled).predict_proba(X[:2]).shape
        (2, 10)
        """
        check_is_fitted(estimator)
        self.selection_ = found if isinstance(found, Selection) and found.log_loss else None
        self.calibrator_ = found.calibrator if isinstance(found, Selection) else found
        self.estimator_, self.classes_ = estimator, np.asarray(estimator.classes_)
        self.estimators_ = [estimator]
        return self

    def _held_out_scores(
        self, X: Any, y: Any, codes: Ints, classes: Any, weight: Any
    ) -> tuple[Ints, Floats, list[Any]]:
        """Rows that were left out of a fit, their scores by it, and the fits."""
        rows, tables, models = [], [], []
        for learn, held in self._folds(X, codes, classes):
            part = None if weight is None else weight[learn]
            model = _fitted(self.estimator, _safe_indexing(X, learn), y[learn], part)
            table = scores_of(model, _safe_indexing(X, held), model.classes_)
            rows.append(held)
            models.append(model)
            tables.append(widened(table, model.classes_, classes))
        if not rows:
            raise InvalidInput("cv leaves no row out: there is nothing to calibrate on.")
        return np.concatenate(rows), np.concatenate(tables), models

    def _folds(self, X: Any, codes: Ints, classes: Any) -> Iterator[tuple[Ints, Ints]]:
        from sklearn.model_selection import PredefinedSplit, StratifiedKFold, check_cv

        given = FOLDS if self.cv is None else self.cv
        if isinstance(given, (bool, float)):
            raise InvalidInput(
                "cv must be a whole number of folds, a splitter, an iterable, 'prefit' or None; got "
                f"{given!r}."
            )
        if not isinstance(given, (int, np.integer)):
            with as_ours():
                splitter = check_cv(given, codes, classifier=True)
            yield from splitter.split(X, codes)
            return
        counts = np.bincount(codes)
        smallest = int(np.where(counts > 1, counts, len(codes)).argmin())
        folds = min(int(given), int(counts[smallest]))
        if folds < 2 or not (counts > 1).any():
            raise InvalidInput(
                f"cv={given!r}: calibration needs two folds, and a class with two rows; got "
                f"n_samples={len(codes)}. Pass more rows, or cv='prefit' with a fitted estimator."
            )
        if self.cv is not None and folds < given:
            label = classes[smallest : smallest + 1].tolist()[0]
            raise InvalidInput(
                f"cv={given}: class {label!r} has {folds} rows, and every fold needs one of them. Use "
                f"cv={folds} or less, or cv=None for {FOLDS} folds or as many as there can be."
            )
        shared = np.flatnonzero(counts[codes] > 1)
        fold = np.full(len(codes), -1)
        split = StratifiedKFold(folds, shuffle=True, random_state=0)
        for number, (_, held) in enumerate(split.split(shared, codes[shared])):
            fold[shared[held]] = number
        yield from PredefinedSplit(fold).split()

    # Answers

    def predict_proba(self, X: Any) -> Floats:
        """P(y | x) for each row and class."""
        check_is_fitted(self, "calibrator_")
        checks.given_rows(X)
        found = [self._probabilities(model, X) for model in self.estimators_]
        return found[0] if len(found) == 1 else np.mean(found, axis=0)

    def _probabilities(self, model: Any, X: Any) -> Floats:
        table = scores_of(model, X, model.classes_)
        return self.calibrator_.predict_proba(widened(table, model.classes_, self.classes_))

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(y | x)."""
        return np.log(np.maximum(self.predict_proba(X), SMALLEST))

    def predict(self, X: Any) -> Any:
        """The most probable class of each row; of equals, the first in ``classes_``."""
        check_is_fitted(self, "calibrator_")
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    # What the wrapped estimator tells

    @property
    def n_features_in_(self) -> int:
        """Features of the rows, where the estimator counts them."""
        check_is_fitted(self, "estimator_")
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Their names, where it knows them."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.feature_names_in_

    @property
    def coef_(self) -> Any:
        """Of a linear classifier calibrated by scaling, the weights whose scores are calibrated."""
        return self._folded()[0]

    @property
    def intercept_(self) -> Any:
        """The intercept that belongs to them."""
        return self._folded()[1]

    @property
    def solution_(self) -> Any:
        """What the solver of the classifier says, where it is one of this library's."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.solution_

    def _folded(self) -> tuple[Any, Any]:
        check_is_fitted(self, "estimator_")
        found = self.calibrator_
        if len(self.estimators_) > 1:
            raise AttributeError("several linear models are no linear model. Use ensemble=False.")
        if not isinstance(found, Scaling) or isinstance(found, Dirichlet):
            raise AttributeError(f"{type(found).__name__} makes no linear model of a linear one.")
        return found.readout_.folded(self.estimator_.coef_, self.estimator_.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        return tags


def bare(model: Any) -> Any:
    """The classifier whose scores can be calibrated anew: that of a single model, or the ensemble itself.

    >>> from argmax import SoftmaxRegression
    >>> from argmax.calibration.calibrated import Calibrated, bare
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> fitted = Calibrated(SoftmaxRegression(), "temperature", cv=2).fit(X, y)
    >>> bare(fitted) is fitted
    True
    >>> one = Calibrated(SoftmaxRegression(), "temperature", cv=2, ensemble=False).fit(X, y)
    >>> bare(one) is one.estimator_
    True
    """
    alone = isinstance(model, Calibrated) and len(model.estimators_) == 1
    return model.estimator_ if alone else model


def scores_of(model: Any, X: Any, classes: Any) -> Floats:
    """Scores (n, k) of a classifier: of ``decision_function`` where it fits, else log-probabilities."""
    k = len(classes)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
        if callable(getattr(model, "decision_function", None)):
            table = np.asarray(model.decision_function(X), dtype=float)
            if table.shape[1:] == (() if k == 2 else (k,)):
                return checks.score_table(table)
        if callable(getattr(model, "predict_proba", None)):
            # Logarithms of probabilities as small as naive Bayes has them would drown all others.
            return checks.score_table(np.log(np.maximum(model.predict_proba(X), SMALLEST)))
    raise Unsupported(
        f"{type(model).__name__} has neither a decision_function with a column for each class nor "
        "predict_proba: there is nothing to calibrate."
    )


def _fitted(estimator: Any, X: Any, y: Any, weight: Any) -> Any:
    model = clone(estimator)
    if weight is None:
        return model.fit(X, y)
    if not has_fit_parameter(model, "sample_weight"):
        raise Unsupported(
            f"{type(model).__name__} takes no sample_weight, so that the weights would count for the "
            "calibration alone. Use sample_weight=None."
        )
    return model.fit(X, y, sample_weight=weight)


def widened(table: Floats, known: Any, classes: Any) -> Floats:
    """A column for every class; one that a fold did not have scores below all others of the row."""
    if len(known) == len(classes):
        return table
    wide = np.repeat(table.min(axis=1, keepdims=True) - 1.0, len(classes), axis=1)
    wide[:, positions(known, classes)] = table
    return wide
