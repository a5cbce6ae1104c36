"""Weights of rows: how much a row that was drawn in one place says about another place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import ndtri

from .. import checks
from ..errors import InvalidInput
from ..metrics import Interval
from ..records import Floats

__all__ = ["Weights", "doubly_robust", "weighted_risk"]

SHARE, ROWS = 0.1, 50
"""Effective rows below which weighting is not to be trusted: a share of all, and a number."""

MASS = 0.2
"""Mean density ratio below which most of the target lies where no training row is: it should be 1."""


@final
@dataclass(frozen=True, slots=True)
class Weights:
    """Density ratios w(x) = P_te(x) / P_tr(x) of training rows, with mean 1.

    values     (n,)  to pass as ``sample_weight``
    clipped    how many were cut down
    method     how they were estimated
    mass       mean of the ratios before they were scaled to mean 1: the share of the target that they explain
    """

    values: Floats
    clipped: int
    method: str
    mass: float = 1.0

    @property
    def effective(self) -> float:
        """(Σw)² / Σw²: how many rows of equal weight would say as much."""
        total = float(self.values.sum())
        return total * total / float((self.values**2).sum())

    @property
    def overlap(self) -> bool:
        """Whether enough training rows lie where the target rows are: a tenth of them, and fifty."""
        return self.mass >= MASS and self.effective >= max(ROWS, SHARE * len(self.values))

    def __str__(self) -> str:
        told = f"{len(self.values)} rows count as {self.effective:.0f}"
        if self.overlap:
            return f"{told}: weighting is possible."
        if self.mass < MASS:
            told = f"{len(self.values)} rows explain {self.mass:.0%} of the target"
        return f"{told}: the target rows lie where hardly any training row is. Label some of them instead."


def weighted_risk(losses: Any, weights: Any, level: float = 0.95) -> Interval:
    """Mean loss where the target rows are, from losses (n,) of labelled rows and their weights: Σwℓ / Σw.

    It is the *labelled* rows that are weighted. Right if P(y | x) has stayed, and if some labelled rows lie
    wherever target rows do; the interval knows of chance alone, and not of errors in the weights.

    Reference: Shimodaira 2000; Sugiyama, Krauledat, Müller 2007 for validation.

    >>> from argmax import shift
    >>> print(shift.weighted_risk([0, 0, 1, 1], [1, 1, 3, 3]))
    0.7500 (0.3825 to 1.1175)
    """
    loss, w = _aligned(losses, weights)
    value = float(np.average(loss, weights=w))
    return _normal(value, float(((w * (loss - value)) ** 2).sum()) / float(w.sum()) ** 2, level)


def doubly_robust(
    losses: Any, weights: Any, expected: Any, expected_target: Any, level: float = 0.95
) -> Interval:
    """Mean loss where the target rows are, right if either the weights or the expected losses are.

    mean over target rows of m(x) + Σw(ℓ − m(x)) / Σw over labelled rows, where m(x) are losses that a model
    expects of them: ``expected`` (n,) and ``expected_target`` (m,). They must not be learned from these
    labels.

    >>> from argmax import shift
    >>> round(shift.doubly_robust([0, 1, 1], [1, 1, 1], [0, 1, 1], [1, 1]).value, 3)
    1.0
    """
    loss, w = _aligned(losses, weights)
    m, there = np.asarray(expected, dtype=float), np.asarray(expected_target, dtype=float)
    checks.same_length(losses=loss, expected=m)
    rest = loss - m
    left = float(np.average(rest, weights=w))
    spread = float(((w * (rest - left)) ** 2).sum()) / float(w.sum()) ** 2
    return _normal(left + float(there.mean()), spread + float(there.var()) / len(there), level)


def _aligned(losses: Any, weights: Any) -> tuple[Floats, Floats]:
    values = weights.values if isinstance(weights, Weights) else weights
    loss = np.asarray(losses, dtype=float)
    if loss.ndim != 1 or not len(loss):
        raise InvalidInput(
            f"losses must be one number for each of some rows; got shape {loss.shape}."
        )
    return loss, checks.sample_weight(values, len(loss), name="weights")


def _normal(value: float, variance: float, level: float) -> Interval:
    reach = float(ndtri(0.5 + checks.number("level", level, 0.0, 1.0) / 2)) * variance**0.5
    return Interval(value, value - reach, value + reach, level)
