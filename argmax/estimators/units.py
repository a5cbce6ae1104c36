"""Units of the columns: without a penalty they are free, so solvers get columns of about one size.

    w·x = (s w)·(x / s)        for any s > 0 in each column

With a penalty the units matter and belong to the user. Without one they do not, yet a solver's tolerances
are in absolute numbers: a column of size 1e-8 would look flat, and one of size 1e10 never flat enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ..layouts import Full
from ..records import Floats
from ..solvers import Progress

__all__ = ["Units"]

USUAL = 2.0**-7, 2.0**7
"""Columns whose largest value lies between these are left alone, and nothing is copied."""


@final
@dataclass(frozen=True)
class Units:
    """One power of two for each column, so that dividing and multiplying lose no digit; None: all 1."""

    scale: Floats | None = None  # (d,)

    @classmethod
    def of(cls, size: Floats) -> Units:
        """The units in which the largest value of every column is between 1 and 2, given what they are."""
        if np.all((size == 0) | ((size >= USUAL[0]) & (size <= USUAL[1]))):
            return cls()
        _, exponent = np.frexp(size.astype(float))
        return cls(np.where(size > 0, np.ldexp(1.0, exponent - 1), 1.0))

    def inside(self, layout: Full, w: Floats) -> Floats:
        """A user's w for the scaled rows."""
        if self.scale is not None:
            w = w.copy()
            layout.matrix(w)[: layout.features] *= self.scale[:, None]
        return w

    def outside(self, layout: Full, w: Floats) -> Floats:
        """A solver's w for the user's rows."""
        if self.scale is not None:
            w = w.copy()
            with np.errstate(over="ignore"):  # the estimator refuses weights that are not finite
                layout.matrix(w)[: layout.features] /= self.scale[:, None]
        return w

    def told(self, layout: Full, callback: Callable[[Progress], Any]) -> Callable[[Progress], Any]:
        """A callback that is told w in the user's units."""
        if self.scale is None:
            return callback
        return lambda progress: callback(replace(progress, w=self.outside(layout, progress.w)))
