"""CalibratedTagger: honest probabilities of tokens and spans, learned on sequences that it has not seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self, final

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..errors import InvalidInput
from ..metrics.scores import SMALLEST
from ..records import Floats
from ..tags import Tags, is_tag
from .calibrated import widened
from .selection import calibrator, chosen

__all__ = ["CalibratedTagger", "is_tagger", "span_scores", "token_scores"]

FOLDS = 5
Span = tuple[int, int, str, float]


@final
class CalibratedTagger(MetaEstimatorMixin, BaseEstimator):
    """A tagger whose probabilities hold: of each token's label, and of each span that it marks.

    The scores of the labels of tokens are calibrated like those of a classifier, on sequences left out; so
    structured SVMs and perceptrons get probabilities that they have none of their own. The
    probability that a whole span is right has a curve of its own, σ(a·logit p + b), since what holds for
    tokens one by one need not hold for them together. The labels that ``predict`` gives stay those of the
    tagger.

    Parameters
    ----------
    estimator : SequenceTagger, CRFTagger, or another tagger
        With ``decision_function`` and ``span_scores``, or ``predict_marginals`` and ``span_confidence``.
    method : as for ``Calibrated``
    cv : int, "prefit" or None
        Folds of sequences, not more than there are; None: 5, or as many as there are sequences. "prefit": a
        fitted tagger, calibrated on sequences that it has not seen.

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

    def __init__(self, estimator: Any, method: Any = "auto", cv: Any = None) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> Self:
        """Fit on sequences X with labels y, lists of lists."""
        checks.estimator("estimator", self.estimator, "a tagger")
        checks.same_length(X=X, y=y)
        if isinstance(self.cv, str):
            checks.choice("cv", self.cv, ("prefit",))
            check_is_fitted(self.estimator)
            return self.adopt(self.estimator, [(self.estimator, X, y)])
        return self.adopt(clone(self.estimator).fit(X, y), self._fitted_folds(X, y))

    def adopt(self, estimator: Any, parts: Iterable[tuple[Any, Any, Any]]) -> Self:
        """Take over a fitted tagger, and calibrate it on parts (fitted tagger, X, y): of each part, sequences
        that its tagger has not seen. Tokens whose label ``estimator`` does not know are left out.

        >>> from argmax import CRFTagger
        >>> from argmax.calibration import CalibratedTagger
        >>> X, y = [["the", "cat"], ["a", "dog"]] * 5, [["D", "N"]] * 10
        >>> tagger = CRFTagger().fit(X[:5], y[:5])
        >>> model = CalibratedTagger(tagger, "temperature").adopt(tagger, [(tagger, X[5:], y[5:])])
        >>> model.predict([["a", "cat"]])
        [['D', 'N']]
        """
        check_is_fitted(estimator)
        tokens, spans = [], []
        for fitted, X, y in parts:
            tokens.append(_tokens(fitted, X, y, estimator.classes_))
            spans.append(_spans(fitted, X, y))
        table, labels = (np.concatenate(part) for part in zip(*tokens, strict=True))
        found = chosen(self.method, table, labels)
        marked, right = (np.concatenate(part) for part in zip(*spans, strict=True))
        curve = calibrator("bias_corrected").fit(marked, right * 1) if len(marked) else None
        self.selection_ = found if found.log_loss else None
        self.calibrator_, self.spans_ = found.calibrator, curve
        self.estimator_, self.classes_ = estimator, estimator.classes_
        return self

    def _fitted_folds(self, X: Any, y: Any) -> Iterator[tuple[Any, Any, Any]]:
        given = min(FOLDS, len(X)) if self.cv is None else self.cv
        folds = checks.positive_integer("cv", given)
        if folds < 2 or folds > len(X):
            raise InvalidInput(
                f"cv must be at least 2 and at most the number of sequences; got cv={folds} and {len(X)} "
                "sequences. Use cv=None for 5 folds or as many as there can be."
            )
        fold = np.random.default_rng(0).permutation(len(X)) % folds
        for number in range(folds):
            learn, held = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            model = clone(self.estimator).fit([X[i] for i in learn], [y[i] for i in learn])
            yield model, [X[i] for i in held], [y[i] for i in held]

    def predict(self, X: Any, *, lengths: Any = None) -> list[list[Any]]:
        """The labels of the tagger itself."""
        check_is_fitted(self, "calibrator_")
        found: list[list[Any]] = self.estimator_.predict(X, lengths=lengths)
        return found

    def predict_marginals(self, X: Any, *, lengths: Any = None) -> list[Floats]:
        """P(label | sequence) of each token, calibrated: an array (tokens, labels) for each sequence."""
        check_is_fitted(self, "calibrator_")
        given = token_scores(self.estimator_, X, lengths)
        honest = self.calibrator_.predict_proba(np.concatenate(given))
        return np.split(honest, np.cumsum([len(part) for part in given])[:-1])

    def span_confidence(self, X: Any, *, lengths: Any = None) -> list[list[Span]]:
        """The spans that ``predict`` marks, with the calibrated probability that each is right."""
        check_is_fitted(self, "calibrator_")
        given = span_scores(self.estimator_, X, lengths)
        scores = np.array([span[3] for spans in given for span in spans])
        if self.spans_ is None:
            honest = iter(expit(scores).tolist())
        else:
            honest = iter(self.spans_.predict_proba(scores)[:, 1].tolist() if len(scores) else [])
        return [[(*span[:3], next(honest)) for span in spans] for spans in given]

    # What the wrapped tagger tells

    @property
    def features_(self) -> Any:
        """How its tokens become attributes."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.features_

    @property
    def solution_(self) -> Any:
        """What its solver says."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.solution_

    def explain(self, X: Any, *, lengths: Any = None, top: int = 10) -> Any:
        """Why each token got its label, in the scores of the tagger."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.explain(X, lengths=lengths, top=top)

    def score(self, X: Any, y: Any, *, lengths: Any = None) -> float:
        """Share of the tokens whose label is predicted."""
        check_is_fitted(self, "calibrator_")
        return float(self.estimator_.score(X, y, lengths=lengths))


def is_tagger(model: Any) -> bool:
    """Whether a model labels sequences: it has scores of spans, or probabilities of tokens."""
    return any(
        callable(getattr(model, name, None)) for name in ("span_scores", "predict_marginals")
    )


def token_scores(model: Any, X: Any, lengths: Any = None) -> list[Floats]:
    """Scores of the labels of each token, an array (tokens, labels) for each sequence, of any tagger."""
    if callable(getattr(model, "decision_function", None)):
        found: list[Floats] = model.decision_function(X, lengths=lengths)
        return found
    return [np.log(np.maximum(p, SMALLEST)) for p in model.predict_marginals(X, lengths=lengths)]


def span_scores(model: Any, X: Any, lengths: Any = None) -> list[list[Span]]:
    """The spans that a tagger marks, with scores instead of probabilities."""
    if callable(getattr(model, "span_scores", None)):
        found: list[list[Span]] = model.span_scores(X, lengths=lengths)
        return found
    given: list[list[Span]] = model.span_confidence(X, lengths=lengths)
    return [
        [(*span[:3], float(logit(np.clip(span[3], SMALLEST, 1.0 - SMALLEST)))) for span in spans]
        for spans in given
    ]


def _tokens(model: Any, X: Any, y: Any, classes: Any) -> tuple[Floats, Any]:
    """Scores (N, k) of tokens with a known label, and its column (N,)."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    table = widened(np.concatenate(token_scores(model, X)), model.classes_, classes)
    truth = np.array([place.get(label, -1) for labels in y for label in labels])
    return table[truth >= 0], truth[truth >= 0]


def _spans(model: Any, X: Any, y: Any) -> tuple[Floats, Any]:
    """Scores of the spans marked in sequences, and whether each is right; none where labels mark no spans."""
    scores: list[float] = []
    right: list[bool] = []
    if not all(is_tag(str(label)) for label in model.classes_.tolist()):
        return np.array(scores), np.array(right, dtype=bool)
    for labels, spans in zip(y, span_scores(model, X), strict=True):
        true = _true_spans(labels) if spans else set()
        scores += [span[3] for span in spans]
        right += [span[:3] in true for span in spans]
    return np.array(scores), np.array(right, dtype=bool)


def _true_spans(labels: Any) -> set[tuple[int, int, str]]:
    names = sorted({str(label) for label in labels})
    tags, codes = Tags(tuple(names)), np.array([names.index(str(label)) for label in labels])
    found = tags.spans(codes, np.array([0, len(codes)]))
    return {
        (int(a), int(b) + 1, tags.types[int(kind)])
        for a, b, kind in zip(found.first, found.last, found.type, strict=True)
    }
