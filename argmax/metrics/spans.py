"""How good a labelling of sequences is: by token, by sequence, and by span as conlleval counts.

    truth, answer   lists of sequences of labels; or flat lists of labels, with ``lengths``

Everything is a function of sums over sequences, and sequences are what is resampled for intervals: tokens
of one sequence err together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import InvalidInput, WrongType
from ..records import Floats, Ints
from ..tags import Spans, Tags
from . import resampling, scores
from .intervals import Interval, proportion

__all__ = [
    "SpanScores",
    "TaggingScores",
    "sequence_accuracy",
    "span_f1",
    "span_precision",
    "span_recall",
    "tagging",
    "token_accuracy",
]


# One number


def token_accuracy(truth: Any, answer: Any, lengths: Any = None) -> float:
    """Share of the tokens whose answer is the truth.

    >>> from argmax import metrics
    >>> metrics.token_accuracy([["O", "B-A"], ["O"]], [["O", "O"], ["O"]])
    0.6666666666666666
    """
    return float(_Pairs.of(truth, answer, lengths).right.mean())


def sequence_accuracy(truth: Any, answer: Any, lengths: Any = None) -> float:
    """Share of the sequences that are right from the first token to the last.

    >>> from argmax import metrics
    >>> metrics.sequence_accuracy([["O", "B-A"], ["O"]], [["O", "O"], ["O"]])
    0.5
    """
    return float(_Pairs.of(truth, answer, lengths).whole.mean())


def span_precision(truth: Any, answer: Any, lengths: Any = None) -> float:
    """Of the spans that are answered, the share that is true: in type, first and last token.

    >>> from argmax import metrics
    >>> metrics.span_precision([["B-A", "O", "B-B"]], [["B-A", "O", "B-A"]])
    0.5
    """
    return float(_precision(_Pairs.of(truth, answer, lengths).spans().sum(axis=(0, 1))))


def span_recall(truth: Any, answer: Any, lengths: Any = None) -> float:
    """Of the spans that are true, the share that is answered.

    >>> from argmax import metrics
    >>> metrics.span_recall([["B-A", "O", "B-B"]], [["B-A", "O", "O"]])
    0.5
    """
    return float(_recall(_Pairs.of(truth, answer, lengths).spans().sum(axis=(0, 1))))


def span_f1(truth: Any, answer: Any, lengths: Any = None) -> float:
    """Harmonic mean of span precision and recall: what conlleval and seqeval call F1.

    >>> from argmax import metrics
    >>> round(metrics.span_f1([["B-A", "I-A", "O", "B-B"]], [["B-A", "I-A", "O", "O"]]), 4)
    0.6667
    """
    return float(_f1(_Pairs.of(truth, answer, lengths).spans().sum(axis=(0, 1))))


def _precision(counts: Any) -> Floats:
    return scores.share(counts[..., 0], counts[..., 2])


def _recall(counts: Any) -> Floats:
    return scores.share(counts[..., 0], counts[..., 1])


def _f1(counts: Any) -> Floats:
    return scores.share(2.0 * counts[..., 0], counts[..., 1] + counts[..., 2])


# All of them, with intervals


@final
@dataclass(frozen=True, slots=True)
class SpanScores:
    """The scores of spans, of one type or of all. Made by ``tagging``.

    >>> from argmax import metrics
    >>> (a, b) = metrics.tagging([["B-A", "O", "B-B"]], [["B-A", "O", "O"]]).types
    >>> b.type, b.true, b.answered, b.right, b.f1.value
    ('B', 1, 0, 0, 0.0)
    """

    type: str
    true: int
    answered: int
    right: int
    precision: Interval
    recall: Interval
    f1: Interval


@final
@dataclass(frozen=True, slots=True)
class TaggingScores:
    """How good a labelling of sequences is. Made by ``tagging``.

    ``spans`` is None where labels mark no spans (parts of speech); ``unseen`` counts the labels of the
    truth that the model does not know.
    """

    sequences: int
    tokens: int
    token_accuracy: Interval
    sequence_accuracy: Interval
    spans: SpanScores | None
    types: tuple[SpanScores, ...]
    unseen: dict[Any, int]


def tagging(
    truth: Any,
    answer: Any,
    *,
    lengths: Any = None,
    classes: Any = None,
    n: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> TaggingScores:
    """Accuracy of tokens and sequences; precision, recall and F1 of spans, of all and of each type.

    Intervals come from n resampled sets of sequences (bias-corrected and accelerated), that of the
    accuracy of sequences from Wilson's formula. ``classes`` are the labels that the model knows: a label
    that only the truth has counts as an error, as do its spans, and is listed.

    >>> from argmax import metrics
    >>> truth = [["B-PER", "I-PER", "O"], ["O", "B-LOC"]] * 50
    >>> answer = [["B-PER", "I-PER", "O"], ["O", "O"]] * 10 + truth[20:]
    >>> found = metrics.tagging(truth, answer, classes=["O", "B-PER", "I-PER"])
    >>> print(found.spans.f1)
    0.9474 (0.9071 to 0.9744)
    >>> [(scores.type, scores.recall.value) for scores in found.types], found.unseen
    ([('LOC', 0.8), ('PER', 1.0)], {'B-LOC': 50})
    """
    pairs = _Pairs.of(truth, answer, lengths)
    tagged = Tags.fit(map(str, pairs.names))
    counts = pairs.spans() if tagged else np.zeros((len(pairs), 0, 3))
    table = np.concatenate(
        [pairs.tokens(), counts.sum(axis=1), counts.reshape(len(pairs), -1)], axis=1
    )
    drawn = _Drawn(table, n, level, seed)
    types = Tags(pairs.names).types if tagged else ()
    return TaggingScores(
        sequences=len(pairs),
        tokens=len(pairs.right),
        token_accuracy=drawn.interval(_recall, 0),
        sequence_accuracy=proportion(float(pairs.whole.sum()), len(pairs), level),
        spans=drawn.spans("", 3) if tagged else None,
        types=tuple(drawn.spans(name, 6 + 3 * i) for i, name in enumerate(types)),
        unseen={} if classes is None else scores.unseen(pairs.truth_labels(), classes),
    )


@final
class _Drawn:
    """Sums over resampled sets of sequences, drawn once for all scores. Columns (right, true, answered) …"""

    def __init__(self, table: Floats, n: int, level: float, seed: int) -> None:
        self.level, self.total = level, table.sum(axis=0)
        self._n, self._seed = checks.positive_integer("n", n), seed
        rng, rows = np.random.default_rng(seed), len(table)
        blocks = [rng.integers(0, rows, (b, rows)) for b in resampling.blocks(self._n, rows)]
        self.sums = np.concatenate([resampling.weights(drawn, rows) @ table for drawn in blocks])
        groups = resampling.group_of(rows, rng)
        left = np.zeros((int(groups.max()) + 1, table.shape[1]))
        np.add.at(left, groups, table)
        self.without = self.total - left

    def interval(self, score: Callable[[Any], Floats], column: int) -> Interval:
        """A score of three columns, with its interval."""
        three = slice(column, column + 3)
        if np.ptp(score(self.sums[:, three])) == 0.0:
            return _certain(score, self.total[three], self.level)
        found = resampling.Kept(
            score(self.total[three]), score(self.sums[:, three]), score(self.without[:, three])
        )
        low, high = resampling.bca(found, self._n, self.level, self._seed)
        return Interval(found.value, low, high, self.level)

    def spans(self, name: str, column: int) -> SpanScores:
        """Precision, recall and F1 of three columns."""
        right, true, answered = self.total[column : column + 3].astype(int).tolist()
        intervals = [self.interval(score, column) for score in (_precision, _recall, _f1)]
        return SpanScores(name, true, answered, right, *intervals)


def _certain(score: Callable[[Any], Floats], counts: Floats, level: float) -> Interval:
    """Where resampling finds no doubt, as when every answer is right, Wilson's formula still has some."""
    right, true, answered = counts.tolist()
    if score is not _f1:
        return proportion(right, true if score is _recall else answered, level)
    jaccard = proportion(right, true + answered - right, level)  # F1 = 2J / (1 + J)
    value, low, high = (2 * j / (1 + j) for j in (jaccard.value, jaccard.low, jaccard.high))
    return Interval(value, low, high, level)


# Truth and answer, token beside token


@final
@dataclass(frozen=True, slots=True)
class _Pairs:
    """Labels of the truth and of the answer as codes into ``names``."""

    names: tuple[Any, ...]
    truth: Ints  # (N,)
    answer: Ints  # (N,)
    offsets: Ints  # (n + 1,)

    @staticmethod
    def of(truth: Any, answer: Any, lengths: Any) -> _Pairs:
        t, bounds = _flat("truth", truth, lengths)
        a, others = _flat("answer", answer, lengths)
        if len(bounds) != len(others):
            raise InvalidInput(
                f"truth has {len(bounds) - 1} sequences and answer {len(others) - 1}. Each needs one of each."
            )
        differ = np.flatnonzero(np.diff(bounds) != np.diff(others))
        if len(differ):
            i = int(differ[0])
            sizes = int(np.diff(bounds)[i]), int(np.diff(others)[i])
            start = t[bounds[i] : bounds[i] + 3]
            raise InvalidInput(
                f"sequence {i} has {sizes[0]} labels in truth and {sizes[1]} in answer; it begins {start!r}."
            )
        if not t:
            what = "is empty" if len(bounds) == 1 else "has no tokens: every sequence is empty"
            raise InvalidInput(f"truth {what}. Pass at least one sequence with a label.")
        names, (own, answered) = scores.codes(t, a)
        return _Pairs(tuple(names.tolist()), own, answered, bounds)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def right(self) -> NDArray[np.bool_]:
        """(N,) whether each token is right."""
        return np.asarray(self.truth == self.answer)

    @property
    def whole(self) -> NDArray[np.bool_]:
        """(n,) whether each sequence is right throughout."""
        return np.asarray(self._per_sequence(~self.right) == 0)

    def truth_labels(self) -> list[Any]:
        """The labels of the truth."""
        return [self.names[code] for code in self.truth.tolist()]

    def tokens(self) -> Floats:
        """(n, 3) right, true, answered tokens of each sequence."""
        sizes = np.diff(self.offsets).astype(float)
        return np.stack([self._per_sequence(self.right), sizes, sizes], axis=1)

    def spans(self) -> Floats:
        """(n, types, 3) right, true, answered spans of each sequence."""
        tags = Tags(tuple(map(str, self.names)))
        true, found = tags.spans(self.truth, self.offsets), tags.spans(self.answer, self.offsets)
        hits = self._both(true, found)
        counts = np.zeros((len(self), len(tags.types), 3))
        np.add.at(counts[..., 0], (true.sequence[hits], true.type[hits]), 1)
        np.add.at(counts[..., 1], (true.sequence, true.type), 1)
        np.add.at(counts[..., 2], (found.sequence, found.type), 1)
        return counts

    def _both(self, true: Spans, found: Spans) -> NDArray[np.bool_]:
        """Which true spans are found. Spans do not overlap, so at most one begins at a token."""
        last, kind = (np.full(len(self.truth), -1) for _ in range(2))
        begin = self.offsets[found.sequence] + found.first
        last[begin], kind[begin] = found.last, found.type
        begin = self.offsets[true.sequence] + true.first
        return np.asarray((last[begin] == true.last) & (kind[begin] == true.type))

    def _per_sequence(self, marks: NDArray[np.bool_]) -> Floats:
        """(n,) how many tokens of each sequence are marked."""
        before = np.concatenate([[0], np.cumsum(marks)])
        return np.diff(before[self.offsets]).astype(float)


def _flat(name: str, labels: Any, lengths: Any) -> tuple[list[Any], Ints]:
    """All labels in one list, and where the sequences start."""
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise WrongType(f"{name} must be a list of sequences of labels; got {labels!r:.80}.")
    listed = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if lengths is not None:
        sizes = np.asarray(lengths)
        if sizes.sum() != len(listed):
            raise InvalidInput(
                f"{name} has {len(listed)} labels but lengths add up to {sizes.sum()}."
            )
        return listed, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    for i, sequence in enumerate(listed):
        if isinstance(sequence, str) or not hasattr(sequence, "__len__"):
            raise WrongType(
                f"{name}[{i}] must be a sequence of labels; got {sequence!r:.60}. Flat labels need lengths."
            )
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in listed])]).astype(np.int64)
    return list(chain.from_iterable(listed)), offsets
