"""Vectors that are probabilities: π ≥ 0 with Σπ = 1."""

from __future__ import annotations

import numpy as np

from ..records import Floats

__all__ = ["least_squares"]


def least_squares(A: Floats, b: Floats) -> Floats:
    """The π ≥ 0 with Σπ = 1 of the least ‖Aπ − b‖, exactly.

    With Σπ = 1 the residual is Gπ for G = A − b1ᵀ. The u ≥ 0 of the least ‖Gu‖² + (Σu − 1)² is a multiple of
    that π: for u = sπ the best s leaves r/(1 + r) with r = ‖Gπ‖², which grows with r.

    Reference: Lawson and Hanson, Solving least squares problems, 1974, chapter 23.

    >>> import numpy as np
    >>> from argmax.shift.simplex import least_squares
    >>> least_squares(np.eye(2), np.array([1.2, -0.2]))
    array([1., 0.])
    """
    from scipy.optimize import nnls  # takes long to import, and few need it

    G = A - b[:, None]
    # Both parts in one scale, or a tiny G would drown in the rounding of the last row.
    size = float(np.abs(G).max()) or 1.0
    u, _ = nnls(np.vstack([G / size, np.ones((1, A.shape[1]))]), np.append(np.zeros(len(b)), 1.0))
    return np.asarray(u / u.sum())
