"""Credible intervals: where one number lies, given the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from .posteriors import LOOKS, Points, as_posterior, refined

__all__ = ["credible_interval"]


def credible_interval(
    posterior: Any, level: float = 0.95, kind: str = "equal"
) -> tuple[float, float]:
    """An interval that holds θ with probability ``level``, given the data.

    ``kind="equal"`` leaves equal shares out on both sides; ``"shortest"`` is the shortest interval of that
    probability (the highest density, for one peak), which is no longer the shortest in another unit such as
    log θ. Neither is a confidence interval: it is θ that varies here, and the data that are fixed.

    >>> from scipy import stats
    >>> from argmax import bayes
    >>> low, high = bayes.credible_interval(stats.norm(0, 1))
    >>> round(low, 3), round(high, 3)
    (-1.96, 1.96)
    >>> low, high = bayes.credible_interval(stats.expon(), kind="shortest")
    >>> round(low, 3), round(high, 3)
    (0.0, 2.996)
    """
    known, level = as_posterior(posterior), checks.number("level", level, 0.0, 1.0)
    if checks.choice("kind", kind, ("equal", "shortest")) == "equal":
        low, high = known.quantile(np.array([(1 - level) / 2, (1 + level) / 2]))
        return float(low), float(high)
    if isinstance(known, Points):
        return _shortest_window(known, level)
    starts = np.linspace(0.0, 1 - level, LOOKS)

    def width(start: float) -> float:
        return float(known.quantile(min(start + level, 1.0)) - known.quantile(start))

    start = refined(width, starts, np.array([width(start) for start in starts]))
    return float(known.quantile(start)), float(known.quantile(min(start + level, 1.0)))


def _shortest_window(known: Points, level: float) -> tuple[float, float]:
    """The closest two points that hold ``level`` between them."""
    after = np.cumsum(known.weights)
    before = after - known.weights
    stops = np.searchsorted(after, before + level - 1e-12)
    starts = np.flatnonzero(stops < len(after))
    best = starts[np.argmin(known.points[stops[starts]] - known.points[starts])]
    return float(known.points[best]), float(known.points[stops[best]])
