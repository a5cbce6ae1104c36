"""The bootstrap: how a statistic varies when its rows are drawn again, and the interval that follows.

Bias-corrected and accelerated (BCa), not the plain percentile one. In simulations with 50 classes and 1,000
rows the percentile interval of macro-F1 covered the truth 85 times in 100 and BCa 93 times: a resampled set
loses rows of small classes, which pulls an average over classes down, and BCa takes that pull out. Elsewhere
the two agree.

A mean of row values and a function of counts are resampled in that form, without going back to the rows.

Reference: Efron, Better bootstrap confidence intervals, JASA 82 (1987).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np
from scipy.special import ndtr, ndtri

from .. import checks
from ..errors import InvalidInput, Unsupported
from ..records import Floats, Ints
from . import scores

__all__ = ["Kept", "Statistic", "bca", "blocks", "group_of", "statistic", "weights"]


class Statistic(ABC):
    """A number computed from rows, and how it varies when the rows are drawn again."""

    value: float

    @abstractmethod
    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """The number on n resampled sets."""

    @abstractmethod
    def influence(self, rng: np.random.Generator) -> Floats:
        """How the number changes when a row, or one of some equal groups of rows, is left out."""


def statistic(
    metric: Callable[..., float], truth: Any, sides: list[tuple[Any, ...]], options: dict[str, Any]
) -> Statistic:
    """The metric of one side, or the difference of two, in the quickest form there is for it."""
    if not len(truth):
        raise InvalidInput("truth is empty. Pass at least one row.")
    if metric in scores.ROW_VALUES:
        values = [scores.ROW_VALUES[metric](truth, *side, **options) for side in sides]
        return _Mean(values[0] if len(values) == 1 else values[0] - values[1])
    if metric in scores.COUNTED:
        return _Counts(scores.COUNTED[metric], truth, [answer for (answer,) in sides], options)
    return _Rows(metric, truth, sides, options)


@final
class _Mean(Statistic):
    """A mean of row values. Rows of one value are drawn together, as are many rows of nearly equal ones."""

    def __init__(self, values: Floats) -> None:
        self.values = values
        self.value = float(values.mean())

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        m = len(self.values)
        values, sizes = self._groups()
        if 4 * len(values) <= m:  # else drawing the rows themselves is cheaper
            return np.asarray(rng.multinomial(m, sizes / m, size=n) @ values / m)
        drawn = (rng.integers(0, m, (b, m), dtype=np.int32) for b in blocks(n, m))
        return np.concatenate([self.values[rows].mean(axis=1) for rows in drawn])

    def _groups(self) -> tuple[Floats, Ints]:
        """Values and how many rows have them: those that occur, or of many rows 1024 means."""
        values, sizes = np.unique(self.values, return_counts=True)
        m = len(self.values)
        if m <= 2**16 or len(values) <= 1024:
            return values, sizes
        starts = np.linspace(0, m, 1024, endpoint=False).astype(int)
        sums = np.add.reduceat(np.repeat(values, sizes), starts)  # of the values in order
        sizes = np.diff(starts, append=m)
        return sums / sizes, sizes

    def influence(self, rng: np.random.Generator) -> Floats:
        return np.asarray(self.values - self.value)


@final
class _Counts(Statistic):
    """A function of counts. Resampled rows are resampled counts of the pairs (truth, answer)."""

    def __init__(
        self, function: Callable[..., Floats], truth: Any, answers: list[Any], options: Any
    ) -> None:
        labels, columns = scores.codes(truth, *answers)
        self.k, self.function, self.options = len(labels), function, options
        key = columns[0].astype(np.int64)
        for column in columns[1:]:
            key = key * self.k + column
        _, self.atom = scores.unique(key)
        self.counts = np.bincount(self.atom)
        first = np.empty(len(self.counts), dtype=np.intp)
        first[self.atom[::-1]] = np.arange(len(key))[::-1]
        self.columns = [column[first] for column in columns]
        self.value = float(self._of(self.counts[None, :].astype(float))[0])

    def _of(self, weights: Floats) -> Floats:
        truth, *answers = self.columns
        found = [
            self.function(scores.tallies(truth, a, weights, self.k), **self.options)
            for a in answers
        ]
        return found[0] if len(found) == 1 else found[0] - found[1]

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        return np.concatenate([self._of(weights) for weights in self._resampled(n, rng)])

    def _resampled(self, n: int, rng: np.random.Generator) -> Iterator[Floats]:
        m, atoms = len(self.atom), len(self.counts)
        for b in blocks(n, m if 4 * atoms > m else atoms):
            if 4 * atoms > m:  # counting n drawn rows is then cheaper than a draw for every count
                drawn = self.atom[rng.integers(0, m, (b, m))] + atoms * np.arange(b)[:, None]
                counts = np.bincount(drawn.ravel(), minlength=b * atoms).reshape(b, atoms)
            else:
                counts = rng.multinomial(m, self.counts / m, size=b)
            yield counts.astype(float)

    def influence(self, rng: np.random.Generator) -> Floats:
        groups = group_of(len(self.atom), rng)
        size = int(groups.max()) + 1
        left = np.zeros((size, len(self.counts)))
        np.add.at(left, (groups, self.atom), 1.0)
        without = self._of(self.counts - left)
        return np.asarray(without.mean() - without)


@final
class _Rows(Statistic):
    """Any function of arrays, evaluated again for each resampled set."""

    def __init__(
        self, metric: Callable[..., float], truth: Any, sides: list[tuple[Any, ...]], options: Any
    ) -> None:
        self.metric, self.options = metric, options
        self.truth = np.asarray(truth)
        self.sides = [[np.asarray(array) for array in side] for side in sides]
        for array in (array for side in self.sides for array in side):
            if array.ndim == 0 or len(array) != len(self.truth):
                raise Unsupported(
                    f"bootstrap resamples every positional argument, but one of shape {array.shape} does not "
                    f"have the {len(self.truth)} rows of the truth. Pass it by keyword."
                )
        self.value = self._of(np.arange(len(self.truth)))

    def _of(self, rows: Any) -> float:
        truth = self.truth[rows]
        found = [
            float(self.metric(truth, *(array[rows] for array in side), **self.options))
            for side in self.sides
        ]
        return found[0] if len(found) == 1 else found[0] - found[1]

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        m = len(self.truth)
        return np.array([self._of(rng.integers(0, m, m)) for _ in range(n)])

    def influence(self, rng: np.random.Generator) -> Floats:
        groups = group_of(len(self.truth), rng)
        without = np.array([self._of(groups != g) for g in range(groups.max() + 1)])
        return np.asarray(without.mean() - without)


def blocks(n: int, width: int) -> Iterator[int]:
    """n resampled sets in blocks of about two million entries: sizes of the blocks."""
    block = max(1, 2**21 // max(width, 1))
    for start in range(0, n, block):
        yield min(block, n - start)


def group_of(rows: int, rng: np.random.Generator, most: int = 200) -> Ints:
    """Each row's group, of at most 200 equal ones: enough to see the skewness of a statistic."""
    return np.asarray(rng.permutation(rows) % min(rows, most))


def weights(drawn: Ints, rows: int) -> Floats:
    """How often each row is in each set."""
    sets = len(drawn)
    where = drawn + rows * np.arange(sets)[:, None]
    return np.bincount(where.ravel(), minlength=sets * rows).reshape(sets, rows).astype(float)


@final
class Kept(Statistic):
    """A number whose resampled values are there already."""

    def __init__(self, value: Any, draws: Floats, without: Floats) -> None:
        self.value = float(value)
        self._draws, self._without = draws, without

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        return self._draws

    def influence(self, rng: np.random.Generator) -> Floats:
        return np.asarray(self._without.mean() - self._without)


def bca(statistic: Statistic, n: int, level: float, seed: int) -> tuple[float, float]:
    """Quantiles of the resampled values, at levels moved by the bias z0 and the acceleration a."""
    rng = np.random.default_rng(seed)
    n = checks.positive_integer("n", n)
    tail = (1.0 - checks.number("level", level, 0.0, 1.0)) / 2
    draws, value = statistic.draws(n, rng), statistic.value
    below = np.sum(draws < value) + np.sum(draws == value) / 2
    z0 = ndtri(np.clip(below / n, 0.5 / n, 1 - 0.5 / n))
    u = statistic.influence(rng)
    spread = float((u**2).sum())
    a = float((u**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
    z = z0 + ndtri(np.array([tail, 1 - tail]))
    low, high = np.quantile(draws, ndtr(z0 + z / (1 - a * z)))
    return float(low), float(high)
