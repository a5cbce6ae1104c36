"""All that Gaussian regression needs to know of its data, kept so that batches add up without rounding away.

    weight     Σ s_i
    mean_x     (d,)      mean_y
    xx         (d, d)    Σ s_i (x_i − mean_x)(x_i − mean_x)ᵀ
    xy         (d,)      Σ s_i (x_i − mean_x)(y_i − mean_y)
    yy                   Σ s_i (y_i − mean_y)²

Sums about the mean, not about zero: a column that counts seconds since 1970 keeps its digits.

Reference: Chan, Golub, LeVeque, Updating formulae and a pairwise algorithm for computing sample variances,
COMPSTAT 1982.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ..records import Floats

__all__ = ["Moments"]


@final
@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted first and second moments of rows and targets."""

    weight: float
    mean_x: Floats  # (d,)
    mean_y: float
    xx: Floats  # (d, d)
    xy: Floats  # (d,)
    yy: float

    @classmethod
    def of(cls, X: Floats, y: Floats, weight: Floats) -> Moments:
        """Of rows X (n, d) and targets y (n,), each with a weight (n,)."""
        total = float(weight.sum())
        mean_x, mean_y = weight @ X / total, float(weight @ y / total)
        X, y = X - mean_x, y - mean_y
        weighted = X * weight[:, None]
        return cls(total, mean_x, mean_y, weighted.T @ X, weighted.T @ y, float(weight @ (y * y)))

    def __add__(self, other: Moments) -> Moments:
        """Those of both batches together."""
        total = self.weight + other.weight
        gap_x, gap_y = other.mean_x - self.mean_x, other.mean_y - self.mean_y
        share, between = other.weight / total, self.weight * other.weight / total
        return Moments(
            total,
            self.mean_x + share * gap_x,
            self.mean_y + share * gap_y,
            self.xx + other.xx + between * np.outer(gap_x, gap_x),
            self.xy + other.xy + between * gap_x * gap_y,
            self.yy + other.yy + between * gap_y * gap_y,
        )

    def about_zero(self) -> Moments:
        """The same sums about zero, for a model without intercept."""
        w, x, y = self.weight, self.mean_x, self.mean_y
        return Moments(
            w, x * 0, 0.0, self.xx + w * np.outer(x, x), self.xy + w * x * y, self.yy + w * y * y
        )
