"""One call, one page: what moved, how sure that is, what the model is worth there, and what to do.

Without labels of the target, two statements can be refuted: that nothing moved, and that only the
frequencies of the classes moved. Whether a row's label is still what it would have been can never be seen
without labels, and the page says so, with the number of labels that would show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from .. import checks
from ..calibration.calibrated import bare, scores_of
from ..calibration.tagger import is_tagger, token_scores
from ..decisions import cost_table
from ..errors import InvalidInput
from ..metrics import Interval, proportion
from ..metrics.scores import SMALLEST, positions
from ..records import Floats, Ints
from . import tests
from .covariate import covariate
from .energy import thinned
from .label import LabelShift, label
from .tests import Evidence, Moved
from .weights import Weights, weighted_risk
from .words import advice, headline, page, unknown

__all__ = ["Diagnosis", "diagnose"]

SEEN = 5000
"""Rows of each set whose features are compared; of more, some by chance."""

FIRST = 50
"""Rows that are proposed for labelling."""


@final
@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What ``diagnose`` found; ``print`` it for the page.

    Its fields::

        kind        "none", "label" (other frequencies of the classes explain what moved), "inputs" (rows look
                    different, and the model says of them what it said before) or "other"
        label       frequencies of the classes, and the tests on what the model says
        separable   test: can a classifier tell the two sets apart? None without features
        features    which features moved, and ``names`` of them
        weights     of the validation rows, as if drawn where the target is; None without features
        accuracy    on the validation rows
        expected    on the target rows by the model as it is; None where nothing can be said
        adapted     the same if it is adapted to the new frequencies; None where that is not advised
        cost        the three as mean cost, where costs were given
        first       (f,) target rows to label first
        p, truth    (n, k) and (n,): calibrated probabilities of validation rows, and their labels by column
        q           (m, k): calibrated probabilities of target rows, before any change of frequencies
        unit        what one observation is: "row", or "sequence" for a tagger
    """

    kind: str
    label: LabelShift
    separable: Evidence | None
    features: Moved | None
    names: Any
    weights: Weights | None
    accuracy: Interval
    expected: Interval | None
    adapted: Interval | None
    cost: tuple[Interval, Interval | None, Interval | None] | None
    first: Ints
    p: Floats
    truth: Ints
    q: Floats
    unit: str = "row"

    @property
    def advice(self) -> list[str]:
        """What to do, in sentences."""
        return advice(self)

    @property
    def headline(self) -> str:
        """The finding in one sentence."""
        return headline(self)

    @property
    def unknown(self) -> list[str]:
        """What these rows cannot tell, in sentences."""
        return unknown(self)

    def __str__(self) -> str:
        return page(self)


def diagnose(
    model: Any,
    validation: tuple[Any, Any],
    target: Any,
    *,
    cost: Any = None,
    names: Any = None,
    seed: int = 0,
) -> Diagnosis:
    """Compare rows with labels, which the model has not learned from, with rows from where it is used.

    Parameters
    ----------
    model : fitted classifier or tagger
        Any with ``decision_function`` or ``predict_proba``; of a tagger, its marginals at one token of each
        sequence, drawn by chance, since the tokens of a sequence are no independent rows.
    validation : (X, y)
    target : X
        Whatever the model reads. Where X is an array or a CSR matrix, features are compared as well.
    cost : (k, a) or None
        A row for each truth, a column for each action, as in ``argmax.decisions``.
    names : of the features, for the page

    Examples
    --------
    >>> import numpy as np
    >>> from argmax import SoftmaxRegression, shift
    >>> rng = np.random.default_rng(0)
    >>> y, new = rng.integers(2, size=2000), (rng.random(1000) < 0.9).astype(int)
    >>> X, Z = rng.normal(2.0 * y - 1)[:, None], rng.normal(2.0 * new - 1)[:, None]
    >>> model = SoftmaxRegression().fit(X[:1000], y[:1000])
    >>> found = shift.diagnose(model, (X[1000:], y[1000:]), Z)
    >>> found.kind
    'label'
    >>> model.score(Z, new) in found.expected, found.adapted.low > found.expected.value
    (True, True)
    """
    X, y = validation
    checks.sparse_structure(X, "validation")
    checks.sparse_structure(target, "target")
    if is_tagger(model):
        tokens = _tokens(model, X, y, target, seed)
        return _of_scores(*tokens, model.classes_, None, cost, None, seed, "sequence")
    inner = bare(model)
    known, new = scores_of(inner, X, inner.classes_), scores_of(inner, target, inner.classes_)
    truth = np.asarray(y)
    told = positions(truth, inner.classes_) >= 0
    if not told.any():
        raise InvalidInput("validation has no row with a label that the model knows.")
    rows = None
    if _comparable(X) and _comparable(target):
        rows = (X[np.flatnonzero(told)], target)
    return _of_scores(known[told], truth[told], new, inner.classes_, rows, cost, names, seed)


def _of_scores(
    known: Floats, truth: Any, new: Floats, classes: Any, rows: Any, cost: Any, names: Any, seed: int,
    unit: str = "row",
) -> Diagnosis:  # fmt: skip
    found = label(known, truth, new, classes, seed=seed)
    column = positions(truth, classes)
    right = known.argmax(axis=1) == column
    separable, moved, weights = _features(rows, seed) if rows is not None else (None, None, None)
    kind = _kind(found, separable)
    q = found.calibrated.probabilities(new)
    worth = _Worth(found, kind, q, weights)
    accuracy = proportion(float(right.sum()), len(right))
    # 1 where the truth is the answer: what a row is worth for each truth it may have.
    as_is, adapted = (
        np.eye(len(classes))[new.argmax(1)],
        np.eye(len(classes))[found.readout(new).argmax(1)],
    )
    costs = None
    if cost is not None:
        costs = _costs(cost_table(cost, classes), known, column, worth)
    return Diagnosis(
        kind, found, separable, moved, names, weights, accuracy,
        worth.expected(as_is, right * 1.0, len(known)),
        worth.expected(adapted, right * 1.0, len(known)) if kind == "label" and found.advised else None,
        costs,
        _first(q, seed),
        found.calibrated.probabilities(known), column, q, unit,
    )  # fmt: skip


def _comparable(X: Any) -> bool:
    """Whether rows are numbers whose columns can be compared: arrays and compressed rows, not texts."""
    if sp.issparse(X):
        return bool(X.format == "csr")
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"


def _kind(found: LabelShift, separable: Evidence | None) -> str:
    if found.moved.rejected():
        return "other" if found.compatible.rejected() else "label"
    return "inputs" if separable is not None and separable.rejected(0.01) else "none"


def _features(rows: Any, seed: int) -> tuple[Evidence, Moved, Weights]:
    """What the features say: of many rows, some by chance."""
    rng = np.random.default_rng(seed)
    X, Z = rows
    some = [part[thinned(part.shape[0], SEEN, rng)] for part in (X, Z)]
    weights = covariate(X, some[1], seed=seed)
    return tests.classifier(*some, seed=seed), tests.features(*some), weights


@final
class _Worth:
    """What answers are worth on the target rows, by what is known of them."""

    def __init__(self, found: LabelShift, kind: str, q: Floats, weights: Weights | None) -> None:
        self.kind, self.q, self.weights = kind, q, weights
        draws = found.priors + found.draws - found.draws.mean(axis=0)
        self.ratios = np.maximum(np.vstack([found.priors, draws]), SMALLEST) / np.maximum(
            found.source, SMALLEST
        )

    def expected(self, worth: Floats, seen: Floats, n: int) -> Interval | None:
        """Mean worth, given what a row is worth for each truth (m, k), and was on validation rows (n,)."""
        if self.kind == "none":
            return _mean(seen)
        if self.kind in ("inputs", "other"):
            if self.weights is None or not self.weights.overlap:
                return None
            return weighted_risk(seen, self.weights)
        mixed = np.maximum(self.q @ self.ratios.T, SMALLEST)
        values = (((self.q * worth) @ self.ratios.T) / mixed).mean(axis=0)
        rng = np.random.default_rng(0)
        spread = float(seen.std()) * np.sqrt(1 / n + 1 / len(self.q))
        drawn = values[1:] + rng.normal(scale=max(spread, 1e-12), size=len(values) - 1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        value = float(values[0])
        return Interval(value, min(float(low), value), max(float(high), value))


def _mean(values: Floats) -> Interval:
    return weighted_risk(values, np.ones(len(values)))


def _costs(
    costs: Floats, known: Floats, truth: Ints, worth: _Worth
) -> tuple[Interval, Interval | None, Interval | None]:
    """Mean cost on validation rows, on target rows, and on those if the priors are adapted to."""

    def taken(scores: Floats) -> Ints:
        return np.asarray(
            (np.exp(scores - scores.max(axis=1, keepdims=True)) @ costs).argmin(axis=1)
        )

    first = worth.ratios[0]
    seen = costs[truth, taken(known)]
    as_is = costs.T[taken(np.log(np.maximum(worth.q, SMALLEST)))]
    after = costs.T[taken(np.log(np.maximum(worth.q * first, SMALLEST)))]
    adapted = worth.expected(after, seen, len(known)) if worth.kind == "label" else None
    return _mean(seen), worth.expected(as_is, seen, len(known)), adapted


def _first(q: Floats, seed: int) -> Ints:
    """Rows to label first: drawn without repeats, the doubtful more often, as Neyman's allocation has it."""
    sure = q.max(axis=1)
    chance = np.sqrt(sure * (1 - sure)) + 0.05
    size = min(FIRST, len(q))
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(len(q), size, replace=False, p=chance / chance.sum()))


def _tokens(model: Any, X: Any, y: Any, target: Any, seed: int) -> tuple[Floats, Any, Floats]:
    """Scores of the labels of one token of each sequence, drawn by chance, and its label."""
    rng = np.random.default_rng(seed)
    checks.same_length(X=X, y=y)
    known, truth = [], []
    for scores, labels in zip(token_scores(model, X), y, strict=True):
        at = [i for i, one in enumerate(labels) if one in set(model.classes_.tolist())]
        if at:
            chosen = at[int(rng.integers(len(at)))]
            known.append(scores[chosen])
            truth.append(labels[chosen])
    new = [one[int(rng.integers(len(one)))] for one in token_scores(model, target) if len(one)]
    if not known or not new:
        raise InvalidInput("validation and target need at least one sequence with a token.")
    return np.array(known), np.array(truth), np.array(new)
