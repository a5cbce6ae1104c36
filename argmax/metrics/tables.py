"""Tables: which classes are taken for which, with the rows behind each cell, and scores of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..records import Ints
from .intervals import Interval, proportion
from .scores import codes, tallies

__all__ = ["ClassScores", "Confusion", "confusion", "per_class"]


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each truth met each answer, and in which rows. Made by ``confusion``.

    Only cells that occur are stored, so that thousands of classes cost nothing. Cell c holds rows of truth
    ``labels[truth[c]]`` answered as ``labels[answer[c]]``.

    >>> from argmax import metrics
    >>> found = metrics.confusion(["cat", "dog", "dog", "emu"], ["cat", "cat", "cat", "dog"])
    >>> found.labels.tolist()
    ['cat', 'dog', 'emu']
    >>> found.table()
    array([[1, 0, 0],
           [2, 0, 0],
           [0, 1, 0]])
    >>> found.pairs()
    [('dog', 'cat', 2), ('emu', 'dog', 1)]
    >>> found.rows("dog", "cat")
    array([1, 2])
    """

    labels: Any  # (k,) the classes, then labels that only occur in the data
    truth: Ints  # (cells,) positions among labels
    answer: Ints  # (cells,)
    count: Ints  # (cells,)
    order: Ints  # (n,) row numbers, cell after cell
    starts: Ints  # (cells + 1,) where the rows of a cell start in ``order``

    def table(self) -> Ints:
        """The whole matrix (k, k): truth by row, answer by column."""
        result = np.zeros((len(self.labels), len(self.labels)), dtype=np.int64)
        result[self.truth, self.answer] = self.count
        return result

    def pairs(self, most: int | None = None) -> list[tuple[Any, Any, int]]:
        """(truth, answer, count) of the errors, the most frequent first."""
        wrong = np.flatnonzero(self.truth != self.answer)
        cells = wrong[np.argsort(-self.count[wrong], kind="stable")][:most]
        truth, answer = self.labels[self.truth[cells]], self.labels[self.answer[cells]]
        return list(zip(truth.tolist(), answer.tolist(), self.count[cells].tolist(), strict=True))

    def rows(self, truth: Any, answer: Any, most: int | None = None, seed: int = 0) -> Ints:
        """The rows of a cell in order; at most ``most`` of them, drawn at random."""
        own, answered = (np.flatnonzero(self.labels == label) for label in (truth, answer))
        cell = np.flatnonzero(np.isin(self.truth, own) & np.isin(self.answer, answered))
        if not len(cell):
            return np.empty(0, dtype=self.order.dtype)
        return self.rows_of_cell(int(cell[0]), most, seed)

    def rows_of_cell(self, cell: int, most: int | None = None, seed: int = 0) -> Ints:
        """``rows`` of a cell by its position."""
        found = self.order[self.starts[cell] : self.starts[cell + 1]]
        if most is None or len(found) <= most:
            return found
        return np.sort(np.random.default_rng(seed).choice(found, most, replace=False))


def confusion(truth: Any, answer: Any, classes: Any = None) -> Confusion:
    """Count pairs (truth, answer), and remember the rows of each.

    ``classes`` fixes the order of the labels; labels outside it follow, sorted.

    >>> from argmax import metrics
    >>> metrics.confusion([0, 1, 1], [0, 1, 0], classes=[1, 0]).table()
    array([[1, 1],
           [0, 1]])
    """
    labels, (t, a) = codes(truth, answer, classes=classes)
    key = t.astype(np.int64) * len(labels) + a
    order = np.argsort(key, kind="stable")
    cells, starts, count = np.unique(key[order], return_index=True, return_counts=True)
    own, answered = np.divmod(cells, len(labels))
    return Confusion(labels, own, answered, count, order, np.append(starts, len(order)))


@dataclass(frozen=True, slots=True)
class ClassScores:
    """The scores of one class. Made by ``per_class``.

    >>> from argmax import metrics
    >>> cat, dog = metrics.per_class(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    >>> cat.label, cat.rows, cat.answered, cat.recall.value
    ('cat', 2, 1, 0.5)
    """

    label: Any
    rows: int  # of this class
    answered: int  # answered as this class
    precision: Interval
    recall: Interval
    f1: Interval


def per_class(
    truth: Any, answer: Any, classes: Any = None, level: float = 0.95
) -> list[ClassScores]:
    """Precision, recall and F1 of each class, with Wilson's intervals.

    F1 has one too: it is 2J / (1 + J), where J = hits / (rows that are of the class or answered as it) is a
    share. A class without rows, or never answered, scores 0 with an interval up to 1: nothing is known.

    >>> from argmax import metrics
    >>> for found in metrics.per_class(["cat", "cat", "dog"], ["cat", "dog", "dog"]):
    ...     print(found.label, found.f1)
    cat 0.6667 (0.1727 to 0.9504)
    dog 0.6667 (0.1727 to 0.9504)
    """
    labels, (t, a) = codes(truth, answer, classes=classes)
    found = tallies(t, a, np.ones(len(t)), len(labels))
    columns = (labels.tolist(), found.hits.tolist(), found.rows.tolist(), found.answered.tolist())
    return [
        class_scores(label, hits, int(rows), int(answered), level)
        for label, hits, rows, answered in zip(*columns, strict=True)
    ]


def class_scores(label: Any, hits: float, rows: int, answered: int, level: float) -> ClassScores:
    """From counts: rows of the class, those answered as it, and those that are both."""
    return ClassScores(
        label,
        rows,
        answered,
        proportion(hits, answered, level),
        proportion(hits, rows, level),
        _f1(proportion(hits, rows + answered - hits, level)),
    )


def _f1(jaccard: Interval) -> Interval:
    value, low, high = (2 * j / (1 + j) for j in (jaccard.value, jaccard.low, jaccard.high))
    return Interval(value, low, high, jaccard.level)
