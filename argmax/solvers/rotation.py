"""Rotations of rows (``layouts.Rotation``): when they are needed, and how their basis is computed.

With fewer rows than columns there are r ≤ n unknowns a label instead of D. And columns far from zero with
little spread (years, time stamps), or nearly equal ones, no longer cost a factorisation its digits.

V comes from the singular value decomposition of a QR factor of the rows (Golub and Van Loan 2013, Matrix
computations, section 8.6), never from XᵀX, whose rounding would hide the short directions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import qr, svd

from ..engines import cut, limits
from ..layouts import Full, Rotation, as_matrix
from ..objective import Objective
from ..records import Csr, Floats, Rows, Structures

__all__ = ["rank_bound", "rotated", "rotation", "worth"]

LOST = float(np.finfo(float).eps) ** 0.25
"""Least over largest singular value, of columns of unit length, at which XᵀX has lost half of its digits."""


def rank_bound(rows: float, layout: Full) -> int:
    """r: unknowns a weight column after a rotation, at most.

    >>> from argmax.layouts import Full
    >>> from argmax.solvers.rotation import rank_bound
    >>> rank_bound(20, Full(features=1000, labels=3))
    20
    """
    return int(min(rows, layout.features + int(layout.intercept)))


def worth(objective: Objective) -> bool:
    """Whether a rotation pays: fewer rows than columns, or columns that nearly repeat each other."""
    layout, rows = objective.problem.full, objective.whole.structures.rows
    if isinstance(rows, Csr):
        return rank_bound(len(objective.whole), layout) < layout.features
    X = _extended(rows, layout)
    if len(X) < X.shape[1]:
        return True
    if not limits.affordable(_work(X)):
        return False
    R = _triangle(X)
    length = np.sqrt(np.einsum("ij,ij->j", R, R))
    values = svd(R / np.where(length > 0.0, length, 1.0), compute_uv=False, check_finite=False)
    return bool(values[-1] < LOST * values[0])


def rotation(objective: Objective) -> Rotation:
    """The rotation to orthogonal columns; all rows are dense for a moment."""
    layout, rows = objective.problem.full, objective.whole.structures.rows
    full = _extended(rows, layout)
    if not (layout.intercept and layout.free_intercept):
        return Rotation(_basis(full), None, layout)
    X = full[:, :-1]
    mean = X.mean(axis=0)
    return Rotation(_basis(X - mean), mean, layout)


def rotated(objective: Objective, turn: Rotation) -> Objective:
    """The objective over z."""
    whole = objective.whole
    problem = replace(objective.problem, layout=turn.turned)
    X = as_matrix(whole.structures.rows)
    X = X if isinstance(X, np.ndarray) else X.toarray()
    rows = np.ascontiguousarray(turn.rows(X))
    shards = cut(Structures(rows), whole.truth, turn.turned)
    return Objective(problem, shards, objective.engine, objective.C)


def _extended(rows: Rows, layout: Full) -> Floats:
    """The rows as a table, with a column of ones for an intercept."""
    X = as_matrix(rows)
    X = X if isinstance(X, np.ndarray) else X.toarray()
    parts = [X, np.ones((len(X), 1))] if layout.intercept else [X]
    return np.hstack(parts).astype(np.float64, copy=False)


def _work(X: Floats) -> float:
    """Multiply-adds of the decompositions of a table, which no clock interrupts."""
    short, long = float(min(X.shape)), float(max(X.shape))
    return short * short * (2.0 * long + 10.0 * short)


def _triangle(X: Floats) -> Floats:
    """R of X = Q R."""
    return np.asarray(qr(X, mode="r", check_finite=False)[0][: X.shape[1]])


def _basis(X: Floats) -> Floats:
    """V (D, r): the right singular vectors of X, from the smaller of its two QR factors."""
    n, d = X.shape
    limits.afford(_work(X))
    if n < d:
        Q, R = qr(X.T, mode="economic", check_finite=False)
        left = svd(R, full_matrices=False, check_finite=False)[0]
        return np.asarray(Q @ left)
    return np.ascontiguousarray(svd(_triangle(X), full_matrices=False, check_finite=False)[2].T)
