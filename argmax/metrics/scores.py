"""One number for how good the answers are.

Each score is written once, in a form that a resampled set can reuse without going back to the rows:

    a mean over rows         ``ROW_VALUES[score]`` gives the value of each row
    a function of counts     ``COUNTED[score]`` takes the Tallies of one set, or of a thousand at once
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .. import checks
from ..records import Floats, Ints

__all__ = [
    "COUNTED",
    "ROW_VALUES",
    "Tallies",
    "accuracy",
    "brier",
    "codes",
    "f1",
    "log_loss",
    "positions",
    "precision",
    "recall",
    "tallies",
    "top_k_accuracy",
    "unique",
    "unseen",
]

SMALLEST = float(np.finfo(float).eps)
"""Probabilities below this count as this in a log-loss, as in scikit-learn: 36.04 at most for one row."""


# Labels as numbers


def codes(truth: Any, *answers: Any, classes: Any = None) -> tuple[Any, list[Ints]]:
    """All labels, and each array as positions among them.

    The labels are ``classes`` in their order, then whatever else occurs, sorted.
    """
    given = {} if classes is None else {"classes": classes}
    named = {"truth": truth, **dict(zip(("answer", "other"), answers, strict=False))}
    arrays = checks.comparable_labels(**given, **named)
    columns = arrays[len(given) :]
    checks.same_length(**dict(zip(named, columns, strict=True)))
    found, inverse = unique(np.concatenate(arrays))
    k = len(arrays[0]) if given else 0
    place = np.full(len(found), -1)
    place[inverse[:k]] = np.arange(k)
    place[place < 0] = np.arange(k, len(found))
    labels = found[np.argsort(place)]
    return labels, np.split(place[inverse[k:]], len(columns))


def unique(values: Any) -> tuple[Any, Ints]:
    """The different values, sorted, and where each value is among them; without sorting small integers."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if high - low < 2 * len(values):
            offset = (values - low).astype(np.intp)
            present = np.bincount(offset) > 0
            return np.flatnonzero(present).astype(values.dtype) + low, (present.cumsum() - 1)[
                offset
            ]
    return np.unique(values, return_inverse=True)


def positions(truth: Any, classes: Any) -> Ints:
    """The column of each label among ``classes``; −1 for a label that is not among them."""
    _, (own,) = codes(truth, classes=classes)
    return np.where(own < len(classes), own, -1)


def unseen(truth: Any, classes: Any) -> dict[Any, int]:
    """The labels of the truth that are not among the classes, and how often each occurs.

    >>> from argmax import metrics
    >>> metrics.unseen(["cat", "emu", "emu"], classes=["cat", "dog"])
    {'emu': 2}
    """
    labels, (own,) = codes(truth, classes=classes)
    counts = np.bincount(own, minlength=len(labels))
    new = slice(len(classes), None)
    return dict(zip(labels[new].tolist(), counts[new].tolist(), strict=True))


# Means over rows


def _right(truth: Any, answer: Any) -> Floats:
    _, (t, a) = codes(truth, answer)
    return np.asarray(t == a, dtype=float)


def accuracy(truth: Any, answer: Any) -> float:
    """Share of the rows whose answer is the truth.

    >>> from argmax import metrics
    >>> metrics.accuracy(["cat", "dog", "emu"], ["cat", "dog", "dog"])
    0.6666666666666666
    """
    return float(_right(truth, answer).mean())


def _own(truth: Any, probabilities: Any, classes: Any) -> tuple[Ints, Floats, Floats]:
    """Column of each row's own label, the table of probabilities, and the probability of that label."""
    column = positions(truth, classes)
    table = checks.probabilities(probabilities, len(column), len(classes))
    own = np.where(column < 0, 0.0, table[np.arange(len(column)), column])
    return column, table, own


def _surprise(truth: Any, probabilities: Any, classes: Any) -> Floats:
    _, _, own = _own(truth, probabilities, classes)
    return np.asarray(-np.log(np.maximum(own, SMALLEST)))


def log_loss(truth: Any, probabilities: Any, classes: Any) -> float:
    """Mean of −log p(truth), in nats: 0 is perfect, log k is what knowing nothing of k classes costs.

    A label outside ``classes`` has probability 0. Probabilities are taken as at least 2.2e-16, as
    scikit-learn takes them, so one row costs 36.04 at most.

    >>> from argmax import metrics
    >>> round(metrics.log_loss([0, 1], [[0.5, 0.5], [0.2, 0.8]], classes=[0, 1]), 4)
    0.4581
    """
    return float(_surprise(truth, probabilities, classes).mean())


def _squared(truth: Any, probabilities: Any, classes: Any) -> Floats:
    _, table, own = _own(truth, probabilities, classes)
    return np.asarray(np.einsum("ij,ij->i", table, table) - 2.0 * own + 1.0)


def brier(truth: Any, probabilities: Any, classes: Any) -> float:
    """Mean of Σ_j (p_j − [truth is j])²: 0 is perfect, 2 is certain and wrong.

    The sum is over all classes, also when there are two: then it is twice the form that has the positive
    class alone.

    >>> from argmax import metrics
    >>> round(metrics.brier([0, 1], [[0.5, 0.5], [0.2, 0.8]], classes=[0, 1]), 4)
    0.29
    """
    return float(_squared(truth, probabilities, classes).mean())


def _among_top(truth: Any, probabilities: Any, classes: Any, k: int = 3) -> Floats:
    k = checks.positive_integer("k", k)
    column, table, own = _own(truth, probabilities, classes)
    ahead = (table > own[:, None]) | (
        (table == own[:, None]) & (np.arange(table.shape[1]) < column[:, None])
    )
    return np.asarray((ahead.sum(axis=1) < k) & (column >= 0), dtype=float)


def top_k_accuracy(truth: Any, probabilities: Any, classes: Any, k: int = 3) -> float:
    """Share of the rows whose truth is among the k most probable classes; of equals, the first count.

    >>> from argmax import metrics
    >>> p = [[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]]
    >>> [metrics.top_k_accuracy([1, 2], p, classes=[0, 1, 2], k=k) for k in (1, 2, 3)]
    [0.0, 0.5, 1.0]
    """
    return float(_among_top(truth, probabilities, classes, k).mean())


ROW_VALUES: dict[Callable[..., float], Callable[..., Floats]] = {
    accuracy: _right,
    log_loss: _surprise,
    brier: _squared,
    top_k_accuracy: _among_top,
}


# Functions of counts


class Tallies(NamedTuple):
    """How often each class was answered rightly, occurred, and was answered: (…, k) each."""

    hits: Floats
    rows: Floats
    answered: Floats


def tallies(truth: Ints, answer: Ints, weights: Floats, k: int) -> Tallies:
    """Tallies of pairs (truth, answer) (m,) that occur ``weights`` (…, m) times, among k labels."""
    pairs = np.arange(len(truth))
    occurs = sp.csr_array((np.ones(len(truth)), (pairs, truth)), shape=(len(truth), k))
    answered = sp.csr_array((np.ones(len(truth)), (pairs, answer)), shape=(len(truth), k))
    return Tallies((weights * (truth == answer)) @ occurs, weights @ occurs, weights @ answered)


def _tallied(truth: Any, answer: Any) -> Tallies:
    labels, (t, a) = codes(truth, answer)
    return tallies(t, a, np.ones(len(t)), len(labels))


def share(part: Floats, whole: Floats) -> Floats:
    """part / whole, and 0 where the whole is 0: a class never answered has precision 0."""
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def _averaged(values: Floats, t: Tallies, average: str) -> Floats:
    if checks.choice("average", average, ("macro", "weighted")) == "weighted":
        weights = t.rows
    else:
        weights = ((t.rows + t.answered) > 0).astype(
            float
        )  # a class that does not occur is not there
    return np.asarray((values * weights).sum(axis=-1) / weights.sum(axis=-1))


def _precision(t: Tallies, average: str = "macro") -> Floats:
    return _averaged(share(t.hits, t.answered), t, average)


def precision(truth: Any, answer: Any, average: str = "macro") -> float:
    """Of the rows answered as a class, the share that are of it; averaged over the classes.

    ``average="macro"``: every class counts the same; ``"weighted"``: as often as it occurs. A class that was
    never answered counts as 0.

    >>> from argmax import metrics
    >>> metrics.precision(["a", "a", "b"], ["a", "b", "b"])
    0.75
    """
    return float(_precision(_tallied(truth, answer), average))


def _recall(t: Tallies, average: str = "macro") -> Floats:
    return _averaged(share(t.hits, t.rows), t, average)


def recall(truth: Any, answer: Any, average: str = "macro") -> float:
    """Of the rows of a class, the share that are answered as it; averaged over the classes.

    The weighted average is the accuracy.

    >>> from argmax import metrics
    >>> metrics.recall(["a", "a", "b"], ["a", "b", "b"])
    0.75
    """
    return float(_recall(_tallied(truth, answer), average))


def _f1(t: Tallies, average: str = "macro") -> Floats:
    return _averaged(share(2.0 * t.hits, t.rows + t.answered), t, average)


def f1(truth: Any, answer: Any, average: str = "macro") -> float:
    """Harmonic mean of precision and recall of each class, 2·hits / (rows + answered); averaged.

    >>> from argmax import metrics
    >>> round(metrics.f1(["a", "a", "b"], ["a", "b", "b"]), 4)
    0.6667
    """
    return float(_f1(_tallied(truth, answer), average))


COUNTED: dict[Callable[..., float], Callable[..., Floats]] = {
    precision: _precision,
    recall: _recall,
    f1: _f1,
}
