"""How sure a number is: intervals by Wilson's formula where the number is a share, by resampling elsewhere.

Reference: Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from .. import checks
from ..records import Floats
from . import resampling, scores

__all__ = ["Interval", "bootstrap", "difference", "interval", "proportion", "wilson"]

SHARES = (scores.accuracy, scores.top_k_accuracy)
"""Scores that are a plain share of the rows."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A number and the range that covers its true value in a share ``level`` of all samples.

    >>> from argmax import metrics
    >>> found = metrics.proportion(90, 100)
    >>> print(found)
    0.9000 (0.8256 to 0.9448)
    >>> 0.85 in found, 0.5 in found
    (True, False)
    """

    value: float
    low: float
    high: float
    level: float = 0.95

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    @property
    def distinguishable(self) -> bool:
        """Whether 0 lies outside: of a difference, whether the two can be told apart."""
        return 0.0 not in self

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f})"


# Shares


def wilson(hits: Any, trials: Any, level: float = 0.95) -> tuple[Floats, Floats]:
    """Lower and upper ends for the shares hits / trials: (p̂ + z²/2m ± z√(p̂(1 − p̂)/m + z²/4m²)) / (1 + z²/m).

    Of no trials at all nothing is known: 0 to 1.
    """
    z = float(ndtri(0.5 + checks.number("level", level, 0.0, 1.0) / 2))
    m = np.asarray(trials, dtype=float)
    p = scores.share(np.asarray(hits, dtype=float), m)
    centre, reach = p * m + z * z / 2, z * np.sqrt(p * (1 - p) * m + z * z / 4)
    low, high = (centre - reach) / (m + z * z), (centre + reach) / (m + z * z)
    return np.clip(low, 0.0, p), np.where(m > 0, np.clip(high, p, 1.0), 1.0)


def proportion(hits: float, trials: float, level: float = 0.95) -> Interval:
    """The share hits / trials with Wilson's interval, which stays honest when the share is 0 or 1.

    >>> from argmax import metrics
    >>> print(metrics.proportion(20, 20))
    1.0000 (0.8389 to 1.0000)
    """
    low, high = wilson(hits, trials, level)
    return Interval(float(hits / trials) if trials else 0.0, float(low), float(high), level)


def interval(
    metric: Callable[..., float],
    truth: Any,
    *arrays: Any,
    n: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    **options: Any,
) -> Interval:
    """The score with the best interval known for it: Wilson's for shares of rows, else the bootstrap.

    >>> from argmax import metrics
    >>> print(metrics.interval(metrics.accuracy, ["a", "b", "a"], ["a", "b", "b"]))
    0.6667 (0.2077 to 0.9385)
    """
    if metric in SHARES:
        values = scores.ROW_VALUES[metric](truth, *arrays, **options)
        return proportion(float(values.sum()), len(values), level)
    return bootstrap(metric, truth, *arrays, n=n, level=level, seed=seed, **options)


# Resampling


def bootstrap(
    metric: Callable[..., float],
    truth: Any,
    *arrays: Any,
    n: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    **options: Any,
) -> Interval:
    """The score ``metric(truth, *arrays, **options)`` with the interval of n resampled sets of its rows.

    ``metric`` may be any function of arrays that share their first axis. Those of this module are resampled
    in the form of row values or counts, a thousand sets of ten thousand rows in a tenth of a second; for
    another function each set is drawn and evaluated in turn, and what is not to be resampled (such as
    ``classes``) must be passed by keyword.

    >>> import numpy as np
    >>> from argmax import metrics
    >>> truth = np.arange(300) % 3
    >>> answer = np.where(np.arange(300) % 10, truth, 0)
    >>> print(metrics.bootstrap(metrics.f1, truth, answer))
    0.9346 (0.9031 to 0.9613)
    """
    statistic = resampling.statistic(metric, truth, [arrays], options)
    return Interval(statistic.value, *resampling.bca(statistic, n, level, seed), level)


def difference(
    metric: Callable[..., float],
    truth: Any,
    one: Any,
    other: Any,
    *,
    n: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    **options: Any,
) -> Interval:
    """metric(truth, one) − metric(truth, other) on the same rows, which are resampled together.

    Rows that are hard for both cancel, so the interval is narrower than the two scores' own suggest. If it
    contains 0 (``not distinguishable``), these rows do not tell the two apart.

    >>> import numpy as np
    >>> from argmax import metrics
    >>> truth, row = np.zeros(400, int), np.arange(400)
    >>> one, other = (row % 10 == 0) * 1, (row % 8 == 0) * 1
    >>> found = metrics.difference(metrics.accuracy, truth, one, other)
    >>> print(found, found.distinguishable)
    0.0250 (-0.0150 to 0.0650) False
    """
    statistic = resampling.statistic(metric, truth, [(one,), (other,)], options)
    return Interval(statistic.value, *resampling.bca(statistic, n, level, seed), level)
