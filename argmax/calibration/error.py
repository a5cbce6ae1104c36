"""The calibration error without its bias, and with an interval.

Rows are put into bins by confidence. With residuals r_i = [it happened] − confidence, a perfectly calibrated
model has mean 0 in every bin, and the squared error is Σ_b share_b (mean of r in b)². Its plain estimate is
biased upward by the noise, by as much as the error itself on a thousand rows. The pairs of different rows are
not: over them

    E²_b = Σ_{i≠j} r_i r_j / m(m − 1) = ((Σ r)² − Σ r²) / m(m − 1)

has mean exactly 0 for a perfect model, so it is below 0 about every second time. The interval is the
jackknife's, over rows, and sees that the errors of classes depend on each other.

Reference: Kumar, Liang, Ma, Verified uncertainty calibration, NeurIPS 2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from .. import checks
from ..errors import InvalidInput
from ..metrics import Interval
from ..metrics.scores import positions
from ..records import Floats
from .reliability import bin_edges

__all__ = ["CalibrationError", "calibration_error"]


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """How far probabilities are from frequencies, in squares and as a distance.

    ``squared`` is unbiased and may be negative; ``root`` is its square root, 0 where it is negative, in the
    units of a probability. ``plug_in`` is the plain root of squared distances, and ``if_calibrated`` what it
    would be for a perfect model on these rows.
    """

    squared: Interval
    root: Interval
    plug_in: float
    if_calibrated: float


def calibration_error(
    truth: Any,
    probabilities: Any,
    classes: Any,
    bins: int = 15,
    *,
    kind: str = "top",
    level: float = 0.95,
) -> CalibrationError:
    """The debiased error: of the answers' confidence (``"top"``), or the mean over classes (``"classwise"``).

    >>> import numpy as np
    >>> from argmax import calibration
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], size=1000)
    >>> truth = (rng.random((1000, 1)) < p.cumsum(axis=1)).argmax(axis=1)  # from p: perfect
    >>> found = calibration.calibration_error(truth, p, [0, 1, 2])
    >>> 0.0 in found.squared, found.plug_in > found.root.value
    (True, True)
    """
    column = positions(truth, classes)
    table = checks.probabilities(probabilities, len(column), len(classes))
    bins = checks.positive_integer("bins", bins)
    if len(column) < 2:
        raise InvalidInput("the calibration error needs two rows; got 1.")
    if checks.choice("kind", kind, ("top", "classwise")) == "top":
        events = [(table.max(axis=1), table.argmax(axis=1) == column)]
    else:
        events = [(table[:, c], column == c) for c in range(table.shape[1])]
    parts = [_Binned(sure, happened - sure, bins) for sure, happened in events]
    value = float(np.mean([part.debiased for part in parts]))
    influence = np.mean([part.without_each() for part in parts], axis=0)
    n = len(influence)
    reach = float(ndtri(0.5 + level / 2)) * math.sqrt(
        (n - 1) / n * float(((influence - influence.mean()) ** 2).sum())
    )
    squared = Interval(value, value - reach, value + reach, level)
    root, low, high = (math.sqrt(max(end, 0.0)) for end in (value, value - reach, value + reach))
    plain = math.sqrt(float(np.mean([part.plain for part in parts])))
    noise = math.sqrt(float(np.mean([part.noise for part in parts])))
    return CalibrationError(squared, Interval(root, low, high, level), plain, noise)


class _Binned:
    """Residuals by bin: sums T, sums of squares Q, and rows m of each."""

    def __init__(self, sure: Floats, residual: Floats, bins: int) -> None:
        edges = bin_edges(sure, bins, "mass")
        self.r, self.bin = residual, np.searchsorted(edges[1:-1], sure, side="right")
        size = len(edges) - 1
        self.T = np.bincount(self.bin, residual, size)
        self.Q = np.bincount(self.bin, residual**2, size)
        self.m = np.bincount(self.bin, minlength=size).astype(float)
        self.n = len(sure)
        chance = np.bincount(self.bin, sure * (1.0 - sure), size)
        full = np.maximum(self.m, 1.0)
        self.plain = float((self.T**2 / full).sum() / self.n)
        self.noise = float((chance / full).sum() / self.n)

    @property
    def debiased(self) -> float:
        return float(_pairs(self.T, self.Q, self.m).sum() / self.n)

    def without_each(self) -> Floats:
        """The estimate without row i, for each i."""
        whole = _pairs(self.T, self.Q, self.m)
        b, r = self.bin, self.r
        less = _pairs(self.T[b] - r, self.Q[b] - r**2, self.m[b] - 1.0)
        return np.asarray((whole.sum() - whole[b] + less) / (self.n - 1))


def _pairs(T: Any, Q: Any, m: Any) -> Floats:
    """m E²_b of each bin; a bin of one row has no pairs and says nothing."""
    return np.where(m > 1, (T**2 - Q) / np.maximum(m - 1.0, 1.0), 0.0)
