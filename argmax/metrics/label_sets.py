"""How good answers are that are sets of labels: whole sets, single labels, and their probability.

    truth, answer    (n, k) zeros and ones, one column a label
    log_likelihood   (n,)   log P(truth | x) of each row, where the model has one

Rows are what is resampled for intervals; of many rows, equal groups of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks
from ..errors import InvalidInput
from ..records import Floats
from . import resampling, scores
from .intervals import Interval, proportion
from .tables import ClassScores, class_scores

__all__ = ["SetScores", "label_sets"]

GROUPS = 2000
"""Groups of rows that are drawn again: more rows than that are put together at random."""

HIT, TRUE, ANSWERED = range(3)


@final
@dataclass(frozen=True, slots=True)
class SetScores:
    """How good sets of labels are. Made by ``label_sets``; ``each`` has the scores of every label."""

    rows: int
    subset_accuracy: Interval
    hamming_loss: Interval
    micro_f1: Interval
    macro_f1: Interval
    row_f1: Interval
    log_likelihood: Interval | None
    each: tuple[ClassScores, ...]


def label_sets(
    truth: Any,
    answer: Any,
    *,
    labels: Any = None,
    log_likelihood: Any = None,
    n: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> SetScores:
    """All scores of answers that are sets, with intervals.

    ``subset_accuracy``: rows whose whole set is right (Wilson's interval). ``hamming_loss``: labels that are
    wrong, of all labels of all rows. F1 over all labels of all rows (``micro_f1``), its mean over labels
    (``macro_f1``) and over rows (``row_f1``; 1 where both sets are empty). ``log_likelihood``: the mean of
    log P(set | x). Those intervals come from n resampled sets of rows, bias-corrected and accelerated.

    >>> import numpy as np
    >>> from argmax import metrics
    >>> truth = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 0]] * 25)
    >>> answer = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0]] * 25)
    >>> found = metrics.label_sets(truth, answer, labels=["bus", "car", "tree"])
    >>> print(found.subset_accuracy, found.hamming_loss.value)
    0.7500 (0.6570 to 0.8245) 0.08333333333333333
    >>> [(one.label, one.recall.value) for one in found.each]
    [('bus', 1.0), ('car', 0.5), ('tree', 1.0)]
    """
    on, said = (checks.label_matrix(part, len(truth)) for part in (truth, answer))
    if on.shape != said.shape or not on.size:
        raise InvalidInput(
            "truth and answer must be matrices of one shape, with at least one row and one column; got "
            f"{on.shape} and {said.shape}."
        )
    names = np.arange(on.shape[1]) if labels is None else np.asarray(labels)
    checks.same_length(labels=names, answer=said.T)
    counts = np.stack([on & said, on, said], axis=2).astype(float)  # (n, k, 3)
    drawn = _Drawn(counts, log_likelihood, checks.positive_integer("n", n), level, seed)
    whole = float((on == said).all(axis=1).sum())
    return SetScores(
        rows=len(on),
        subset_accuracy=proportion(whole, len(on), level),
        hamming_loss=drawn.interval(_hamming),
        micro_f1=drawn.interval(_micro),
        macro_f1=drawn.interval(_macro),
        row_f1=drawn.interval(_row_f1),
        log_likelihood=None if log_likelihood is None else drawn.interval(_surprise),
        each=tuple(
            class_scores(label, hits, int(true), int(said), level)
            for label, (hits, true, said) in zip(
                names.tolist(), counts.sum(axis=0).tolist(), strict=True
            )
        ),
    )


@final
@dataclass(frozen=True, slots=True)
class _Sums:
    """Of some sets of rows: counts (…, k, 3), rows (…,), and sums of F1 and log-likelihood of rows (…, 2)."""

    counts: Floats
    rows: Floats
    means: Floats


def _hamming(s: _Sums) -> Floats:
    wrong = s.counts[..., TRUE] + s.counts[..., ANSWERED] - 2.0 * s.counts[..., HIT]
    return np.asarray(wrong.sum(axis=-1) / (s.rows * s.counts.shape[-2]))


def _f1(counts: Floats) -> Floats:
    return scores.share(2.0 * counts[..., HIT], counts[..., TRUE] + counts[..., ANSWERED])


def _micro(s: _Sums) -> Floats:
    return _f1(s.counts.sum(axis=-2))


def _macro(s: _Sums) -> Floats:
    return np.asarray(_f1(s.counts).mean(axis=-1))


def _row_f1(s: _Sums) -> Floats:
    return np.asarray(s.means[..., 0] / s.rows)


def _surprise(s: _Sums) -> Floats:
    return np.asarray(s.means[..., 1] / s.rows)


@final
class _Drawn:
    """Sums over resampled sets of rows, drawn once for all scores."""

    def __init__(
        self, counts: Floats, log_likelihood: Any, n: int, level: float, seed: int
    ) -> None:
        self._n, self._level, self._seed = n, level, seed
        rows, k, _ = counts.shape
        total = counts.sum(axis=1)
        both = total[:, TRUE] + total[:, ANSWERED]
        f1 = np.where(both > 0, 2.0 * total[:, HIT] / np.maximum(both, 1.0), 1.0)
        known = np.zeros(rows) if log_likelihood is None else np.asarray(log_likelihood, float)
        checks.lengths(truth=rows, log_likelihood=len(known))
        table = np.column_stack([counts.reshape(rows, -1), np.ones(rows), f1, known])
        rng = np.random.default_rng(seed)
        grouped = _summed(table, resampling.group_of(rows, rng, GROUPS))
        self._k, m = k, len(grouped)
        drawn = [rng.integers(0, m, (b, m)) for b in resampling.blocks(n, m)]
        self._sums = np.concatenate([resampling.weights(part, m) @ grouped for part in drawn])
        self._total = table.sum(axis=0)
        self._without = self._total - _summed(table, resampling.group_of(rows, rng))

    def interval(self, score: Callable[[_Sums], Floats]) -> Interval:
        """A score of all rows, with its interval."""
        parts = [score(self._of(sums)) for sums in (self._total, self._sums, self._without)]
        found = resampling.Kept(*parts)
        low, high = resampling.bca(found, self._n, self._level, self._seed)
        return Interval(found.value, low, high, self._level)

    def _of(self, sums: Floats) -> _Sums:
        counts = sums[..., : 3 * self._k].reshape(*sums.shape[:-1], self._k, 3)
        return _Sums(counts, sums[..., -3], sums[..., -2:])


def _summed(table: Floats, groups: Any) -> Floats:
    """The sums of each group of rows."""
    sums = np.zeros((int(groups.max()) + 1, table.shape[1]))
    np.add.at(sums, groups, table)
    return sums
