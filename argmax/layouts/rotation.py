"""Orthogonal columns for the same problem: w = V z leaves ½ ‖w‖² as it is.

    free intercept        x̂_i = (x_i − μ) V        w = V z,  b = b_z − ⟨μ, w⟩        V (d, r)
    any other, or none    x̂_i = [x_i 1] V          [w b] = V z                       V (d [+ 1], r)

V has orthonormal columns that span the rows, so r ≤ min(n, d + 1): what is orthogonal to all rows is zero at
the optimum. Columns of x̂ are orthogonal too. Only their lengths differ, and a diagonal scaling mends that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ..records import Floats
from .full import Full

__all__ = ["Rotation"]


@final
@dataclass(frozen=True, eq=False)
class Rotation:
    """V, and μ where the intercept is free.

    >>> import numpy as np
    >>> from argmax.layouts import Full
    >>> from argmax.layouts.rotation import Rotation
    >>> layout, mean = Full(features=2, labels=3), np.array([1e9, 0.0])
    >>> turn = Rotation(np.eye(2), mean, layout)
    >>> turn.rows(np.array([[1e9 + 1.0, 5.0]]))
    array([[1., 5.]])
    >>> w = turn.back(np.ones((3, 3)))
    >>> float(w[2, 0])  # the intercept makes good for the mean
    -999999999.0
    """

    basis: Floats
    mean: Floats | None
    layout: Full
    """That of w."""

    @property
    def turned(self) -> Full:
        """The layout of z."""
        return replace(
            self.layout,
            features=self.basis.shape[1],
            intercept=self.mean is not None,
            sparse=False,
            precise=True,
        )

    def rows(self, X: Floats) -> Floats:
        """x̂ of dense rows."""
        if self.mean is not None:
            return np.asarray((X - self.mean) @ self.basis)
        features = self.layout.features
        rows = X @ self.basis[:features]
        if self.layout.intercept:
            rows += self.basis[features]
        return np.asarray(rows)

    def forward(self, gradient: Floats) -> Floats:
        """The gradient in z, from that in w: tables of features and intercept against columns."""
        if self.mean is None:
            return np.asarray(self.basis.T @ gradient)
        centred = gradient[:-1] - np.outer(self.mean, gradient[-1])
        return np.vstack([self.basis.T @ centred, gradient[-1:]])

    def back(self, table: Floats) -> Floats:
        """w, from z."""
        if self.mean is None:
            return np.asarray(self.basis @ table)
        weights = self.basis @ table[:-1]
        return np.vstack([weights, table[-1:] - self.mean @ weights])

    def outside(self, table: Floats) -> Floats:
        """The part of w that no row sees."""
        own = table[:-1] if self.mean is not None else table
        rest = own - self.basis @ (self.basis.T @ own)
        if self.mean is None:
            return np.asarray(rest)
        return np.vstack([rest, -(self.mean @ rest)[None, :]])
