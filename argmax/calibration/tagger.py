"""CalibratedTagger: honest probabilities of tokens and spans, learned on sequences that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from scipy.special import logit
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..errors import InvalidInput
from ..metrics.scores import SMALLEST
from ..records import Floats
from ..tags import Tags
from .selection import calibrator, chosen

__all__ = ["CalibratedTagger"]

FOLDS = 5
Span = tuple[int, int, str, float]


@final
class CalibratedTagger(MetaEstimatorMixin, BaseEstimator):
    """A tagger whose probabilities hold: of each token's label, and of each span that it marks.

    The marginals of tokens are calibrated like those of a classifier, on sequences left out. The
    probability that a whole span is right has a curve of its own, σ(a·logit p + b), since what holds for
    tokens one by one need not hold for them together. The labels that ``predict`` gives stay those of the
    tagger.

    Parameters
    ----------
    estimator : SequenceTagger, CRFTagger, or what has their ``predict_marginals`` and ``span_confidence``
    method : as for ``Calibrated``
    cv : int or "prefit"
        Folds of sequences; or a fitted tagger, calibrated on sequences that it has not seen.

    Attributes
    ----------
    classes_, estimator_, calibrator_, spans_ (None where no spans were marked), selection_

    Examples
    --------
    >>> from argmax import CRFTagger
    >>> from argmax.calibration import CalibratedTagger
    >>> X = [["the", "cat"], ["a", "dog"], ["the", "dog"], ["a", "cat"]] * 5
    >>> y = [["O", "B-A"]] * 20
    >>> model = CalibratedTagger(CRFTagger(), cv=2).fit(X, y)
    >>> model.predict(X[:1]), model.predict_marginals(X[:1])[0].shape
    ([['O', 'B-A']], (2, 2))
    """

    def __init__(self, estimator: Any, method: Any = "auto", cv: Any = FOLDS) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> Self:
        """Fit on sequences X with labels y, lists of lists."""
        checks.same_length(X=X, y=y)
        if isinstance(self.cv, str):
            checks.choice("cv", self.cv, ("prefit",))
            check_is_fitted(self.estimator)
            model, parts = self.estimator, [(self.estimator, range(len(X)))]
        else:
            parts = self._fitted_folds(X, y)
            model = clone(self.estimator).fit(X, y)
        tokens, spans = [], []
        for fitted, held in parts:
            some, truth = [X[i] for i in held], [y[i] for i in held]
            tokens.append(_tokens(fitted, some, truth, model.classes_))
            spans.append(_spans(fitted, some, truth))
        table, labels = (np.concatenate(part) for part in zip(*tokens, strict=True))
        found = chosen(self.method, table, labels)
        sure, right = (np.concatenate(part) for part in zip(*spans, strict=True))
        curve = calibrator("bias_corrected").fit(sure, right * 1) if len(sure) else None
        self.selection_ = found if found.log_loss else None
        self.calibrator_, self.spans_ = found.calibrator, curve
        self.estimator_, self.classes_ = model, model.classes_
        return self

    def _fitted_folds(self, X: Any, y: Any) -> list[tuple[Any, Any]]:
        folds = min(checks.positive_integer("cv", self.cv), len(X))
        if folds < 2:
            raise InvalidInput(f"cv must be 2 or more, and so must the sequences; got {folds}.")
        fold = np.random.default_rng(0).permutation(len(X)) % folds
        found = []
        for held in range(folds):
            learn = np.flatnonzero(fold != held)
            model = clone(self.estimator).fit([X[i] for i in learn], [y[i] for i in learn])
            found.append((model, np.flatnonzero(fold == held)))
        return found

    def predict(self, X: Any, *, lengths: Any = None) -> list[list[Any]]:
        """The labels of the tagger itself."""
        check_is_fitted(self, "calibrator_")
        found: list[list[Any]] = self.estimator_.predict(X, lengths=lengths)
        return found

    def predict_marginals(self, X: Any, *, lengths: Any = None) -> list[Floats]:
        """P(label | sequence) of each token, calibrated: an array (tokens, labels) for each sequence."""
        check_is_fitted(self, "calibrator_")
        given = self.estimator_.predict_marginals(X, lengths=lengths)
        honest = self.calibrator_.predict_proba(_logs(np.concatenate(given)))
        return np.split(honest, np.cumsum([len(part) for part in given])[:-1])

    def span_confidence(self, X: Any, *, lengths: Any = None) -> list[list[Span]]:
        """The spans that ``predict`` marks, with the calibrated probability that each is right."""
        check_is_fitted(self, "calibrator_")
        given: list[list[Span]] = self.estimator_.span_confidence(X, lengths=lengths)
        if self.spans_ is None:
            return given
        sure = _odds([span[3] for spans in given for span in spans])
        honest = iter(self.spans_.predict_proba(sure)[:, 1].tolist() if len(sure) else [])
        return [[(*span[:3], next(honest)) for span in spans] for spans in given]

    def score(self, X: Any, y: Any, *, lengths: Any = None) -> float:
        """Share of the tokens whose label is predicted."""
        check_is_fitted(self, "calibrator_")
        return float(self.estimator_.score(X, y, lengths=lengths))


def _tokens(model: Any, X: Any, y: Any, classes: Any) -> tuple[Floats, Any]:
    """Log-marginals (N, k) of tokens with a known label, and its column (N,)."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    columns = [place[label] for label in model.classes_.tolist()]
    narrow = _logs(np.concatenate(model.predict_marginals(X)))
    table = np.full((len(narrow), len(classes)), np.log(SMALLEST))
    table[:, columns] = narrow
    return table, np.array([place[label] for labels in y for label in labels])


def _spans(model: Any, X: Any, y: Any) -> tuple[Floats, Any]:
    """Log-odds of the spans marked in sequences, and whether each is right."""
    sure, right = [], []
    for labels, spans in zip(y, model.span_confidence(X), strict=True):
        true = _true_spans(labels) if spans else set()
        sure += [span[3] for span in spans]
        right += [span[:3] in true for span in spans]
    return _odds(sure), np.array(right, dtype=bool)


def _true_spans(labels: Any) -> set[tuple[int, int, str]]:
    names = sorted({str(label) for label in labels})
    tags, codes = Tags(tuple(names)), np.array([names.index(str(label)) for label in labels])
    found = tags.spans(codes, np.array([0, len(codes)]))
    return {
        (int(a), int(b) + 1, tags.types[int(kind)])
        for a, b, kind in zip(found.first, found.last, found.type, strict=True)
    }


def _logs(p: Floats) -> Floats:
    return np.log(np.maximum(p, SMALLEST))


def _odds(p: Any) -> Floats:
    return np.asarray(logit(np.clip(np.asarray(p, dtype=float), SMALLEST, 1.0 - SMALLEST)))
