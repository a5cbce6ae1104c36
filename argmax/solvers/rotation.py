"""Orthogonal columns for the same problem: w = V z leaves ½ ‖w‖² as it is.

    X̃ = [X 1] = L Vᵀ         V (D, r) with orthonormal columns, r ≤ min(n, D)
    scores X̃ w = L z,  ½ ‖w‖² = ½ ‖z‖²        z = Vᵀ w; what is orthogonal to all rows is zero at the optimum

Two things are gained. With fewer rows than columns there are r ≤ n unknowns a label instead of D. And the columns
of L are orthogonal, so that only their lengths differ, which a diagonal scaling mends: columns far from
zero with little spread (years, time stamps), or nearly equal ones, no longer cost a factorisation its digits.

V comes from the singular value decomposition of a QR factor of X̃ (Golub and Van Loan 2013, Matrix
computations, section 8.6), never from X̃ᵀX̃, whose rounding would hide the short directions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
from scipy.linalg import qr, svd

from ..engines import cut
from ..layouts import Full, as_matrix
from ..objective import Objective
from ..records import Csr, Floats, Rows, Structures

__all__ = ["Rotation", "rank_bound", "worth"]

LOST = float(np.finfo(float).eps) ** 0.25
"""Least over largest singular value, of columns of unit length, at which X̃ᵀX̃ has lost half of its digits."""


def rank_bound(rows: float, layout: Full) -> int:
    """r: unknowns a weight column after a rotation, at most."""
    return int(min(rows, layout.features + int(layout.intercept)))


def worth(objective: Objective) -> bool:
    """Whether a rotation pays: fewer rows than columns, or columns that nearly repeat each other."""
    layout, rows = objective.problem.full, objective.whole.structures.rows
    if isinstance(rows, Csr):
        return rank_bound(len(objective.whole), layout) < layout.features
    X = _extended(rows, layout)
    if len(X) < X.shape[1]:
        return True
    R = _triangle(X)
    length = np.sqrt(np.einsum("ij,ij->j", R, R))
    values = svd(R / np.where(length > 0.0, length, 1.0), compute_uv=False, check_finite=False)
    return bool(values[-1] < LOST * values[0])


@final
class Rotation:
    """The objective over z, and the way back to w.

    >>> import numpy as np
    >>> from argmax.layouts import Full
    >>> from argmax.solvers.rotation import rank_bound
    >>> rank_bound(20, Full(features=1000, labels=3))
    20
    """

    def __init__(self, objective: Objective) -> None:
        self.layout = layout = objective.problem.full
        whole = objective.whole
        full = _extended(whole.structures.rows, layout)
        self.basis = _basis(full)
        turned = replace(
            layout, features=self.basis.shape[1], intercept=False, sparse=False, precise=True
        )
        problem = replace(objective.problem, layout=turned)
        rows = np.ascontiguousarray(full @ self.basis)
        shards = cut(Structures(rows), whole.truth, turned)
        self.objective = Objective(problem, shards, objective.engine, objective.C)

    def back(self, z: Floats) -> Floats:
        """w = V z."""
        turned, layout = self.objective.problem.full, self.layout
        w = np.zeros(layout.size)
        columns = layout.columns
        layout.matrix(w)[:, :columns] = self.basis @ turned.matrix(z)[:, :columns]
        return w


def _extended(rows: Rows, layout: Full) -> Floats:
    """X̃: the rows as a table, with a column of ones for an intercept."""
    X = as_matrix(rows)
    X = X if isinstance(X, np.ndarray) else X.toarray()
    parts = [X, np.ones((len(X), 1))] if layout.intercept else [X]
    return np.hstack(parts).astype(np.float64, copy=False)


def _triangle(X: Floats) -> Floats:
    """R of X = Q R."""
    return np.asarray(qr(X, mode="r", check_finite=False)[0][: X.shape[1]])


def _basis(X: Floats) -> Floats:
    """V (D, r): the right singular vectors of X, from the smaller of its two QR factors."""
    n, d = X.shape
    if n < d:
        Q, R = qr(X.T, mode="economic", check_finite=False)
        left = svd(R, full_matrices=False, check_finite=False)[0]
        return np.asarray(Q @ left)
    return np.ascontiguousarray(svd(_triangle(X), full_matrices=False, check_finite=False)[2].T)
