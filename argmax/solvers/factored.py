"""Systems in the Hessian over few weights, by Cholesky factors.

    (C Σ_i s_i H_i ⊗ x̃_i x̃_iᵀ + ridge) d = g

One factor of all weights; or one for each weight column, where columns do not enter each other's
derivatives. Every matrix is scaled to a unit diagonal first: columns of x on unlike scales would cost the
factor its digits.
"""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs

from .. import checks
from ..engines import limits
from ..layouts import Full
from ..objective import Objective
from ..passes.hessians import spread_one, spread_out
from ..records import Floats

__all__ = ["Factored", "check_memory", "cholesky", "full_hessian", "hessian_bytes", "hessian_work"]

FACTORED, BLOCK = 2048, 256
"""Rows of a matrix that are factored in one call; columns of a block where there are more."""

RIDGES = 0.0, 1e-14, 1e-12, 1e-9, 1e-6
"""What is added to the unit diagonal, one after the other, where rounding has made a matrix indefinite."""


def sides(layout: Full, crossed: bool, rank: int | None = None) -> tuple[int, int]:
    """The number of matrices, and the rows of each. ``rank`` stands for the columns of x after a rotation."""
    side = layout.features + int(layout.intercept) if rank is None else rank
    return (1, side * layout.columns) if crossed else (layout.columns, side)


def hessian_bytes(layout: Full, crossed: bool, rank: int | None = None) -> float:
    """Memory of a Hessian and its factor."""
    _, side = sides(layout, crossed, rank)
    D = layout.features + 1.0 if rank is None else float(rank)
    pairs = layout.columns * D**2 / 2
    return 8.0 * (2.0 * float(side) ** 2 + 2.0 * pairs * (layout.columns if crossed else 1))


def hessian_work(layout: Full, crossed: bool, rows: int, rank: int | None = None) -> float:
    """Multiply-adds of forming a Hessian of so many rows and factoring it."""
    count, side = sides(layout, crossed, rank)
    D = layout.features + int(layout.intercept) if rank is None else rank
    m = layout.columns
    products = D * (D + 1) / 2 * (m * (m + 1) / 2 if crossed else m)
    return rows * products + count * float(side) ** 3 / 3


def check_memory(solver: str, objective: Objective, instead: str) -> None:
    """Refuse a solver whose Hessian over all weights does not fit into memory, before it starts."""
    layout = objective.problem.full
    _, side = sides(layout, crossed=True)
    checks.memory(
        hessian_bytes(layout, objective.problem.curvature.crossed),
        f"solver {solver!r} with {side} weights",
        f"Use solver={instead!r} instead.",
    )


@final
class Factored:
    """v ↦ (C · M + ridge)⁻¹ v over tables of weights (features and intercept, columns).

    ``pairs`` is M of ``passes.hessian``; ``ridge`` is one number for each weight (side, columns).
    """

    def __init__(self, layout: Full, pairs: Floats, ridge: Floats, crossed: bool) -> None:
        self.layout, self.crossed = layout, crossed
        self.shape = ridge.shape
        if crossed:
            H = spread_out(pairs, len(ridge), layout.columns, layout.compiled)
            _shift_of_all(H, layout, ridge)
            self.factors = [_Factor(H, ridge.ravel())]
        else:
            self.factors = [
                _Factor(spread_one(pairs[:, a], len(ridge)), ridge[:, a])
                for a in range(ridge.shape[1])
            ]

    @property
    def condition(self) -> float:
        """Smallest over largest eigenvalue of the scaled matrices, roughly; the worst of them."""
        return min(factor.condition() for factor in self.factors)

    def __call__(self, table: Floats) -> Floats:
        """The solution for a right-hand side (side, columns)."""
        if self.crossed:
            return self.factors[0](table.ravel()).reshape(self.shape)
        columns = zip(self.factors, table.T, strict=True)
        return np.stack([factor(column) for factor, column in columns], axis=1)


def _shift_of_all(H: Floats, layout: Full, ridge: Floats) -> None:
    """Where nothing holds a shift of all intercepts, and it changes nothing, H gets a 1 in that direction."""
    if not layout.intercept or layout.columns == 1 or ridge[-1].any():
        return
    last = len(H) - layout.columns
    H[last:, last:] += max(float(H[last:, last:].max()), 1e-10)


@final
class _Factor:
    """The Cholesky factor of one matrix and a ridge, which may be overwritten."""

    def __init__(self, H: Floats, ridge: Floats) -> None:
        diagonal = _diagonal(H)
        diagonal += np.maximum(ridge, 1e-14 * diagonal)
        with np.errstate(over="ignore"):
            self.scale = 1.0 / np.sqrt(np.maximum(diagonal, 1e-300))
            H *= self.scale[:, None]
            H *= self.scale
        self.factor: Floats | None = None
        for ridge_of_unit in RIDGES:
            limits.look()
            try:
                A = H if ridge_of_unit == RIDGES[-1] else H.copy()
                if ridge_of_unit:
                    _diagonal(A)[:] += ridge_of_unit
                self.factor = cholesky(A.T)
                return
            except LinAlgError:
                continue

    def condition(self) -> float:
        """Of the matrix with a unit diagonal, by LAPACK's estimate; 0 where there is no factor."""
        if self.factor is None:
            return 0.0
        # A unit diagonal bounds the norm by the number of rows; 1 makes the estimate err to the safe side.
        return float(dpocon(self.factor, 1.0, uplo="L")[0])

    def __call__(self, g: Floats) -> Floats:
        if self.factor is None:
            return np.asarray(g * self.scale**2)
        return np.asarray(self.scale * dpotrs(self.factor, self.scale * g, lower=1)[0])


def _diagonal(A: Floats) -> Floats:
    """The diagonal (n,), a view."""
    return np.asarray(np.einsum("ii->i", A))


def cholesky(A: Floats) -> Floats:
    """L of A = L Lᵀ in the lower triangle of A (n, n), in memory in columns.

    Large ones are factored block by block (Golub and Van Loan 2013, section 4.2.6), with a look at the
    clock after each: in one call they would take from seconds to minutes.
    """
    n = len(A)
    if n <= FACTORED:
        return _cholesky_at_once(A)
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        own = A[first:last, first:last]
        for top in range(first, n, FACTORED):
            limits.look()
            some = A[top : min(top + FACTORED, n)]
            some[:, first:last] -= some[:, :first] @ A[first:last, :first].T
        own[:] = _cholesky_at_once(own)
        for top in range(last, n, FACTORED):
            limits.look()
            below = A[top : min(top + FACTORED, n), first:last]
            below[:] = solve_triangular(own, below.T, lower=True, check_finite=False).T
    return A


def _cholesky_at_once(A: Floats) -> Floats:
    """LAPACK's factor; what SciPy adds around it takes longer than a small matrix does."""
    L, info = dpotrf(A, lower=1, clean=0, overwrite_a=1)
    if info:
        raise LinAlgError("not positive definite")
    return np.asarray(L)


def ridge_of(objective: Objective, layout: Full | None = None) -> Floats:
    """The penalty's second derivatives (side, columns); a trace of one where there is none."""
    layout = layout or objective.problem.full
    side = layout.features + int(layout.intercept)
    ridge = np.full((side, layout.columns), objective.l2 or 1e-10)
    if layout.intercept and layout.free_intercept:
        ridge[-1] = 0.0
    return ridge


def full_hessian(objective: Objective, pairs: Floats) -> Floats:
    """∇²F over the weights without padding, (feature, column) in order; positive definite."""
    layout, ridge = objective.problem.full, ridge_of(objective)
    side, m = ridge.shape
    if objective.problem.curvature.crossed:
        H = spread_out(objective.C * pairs, side, m, layout.compiled)
        _shift_of_all(H, layout, ridge)
    else:
        H = np.zeros((side, m, side, m))
        for a in range(m):
            H[:, a, :, a] = objective.C * spread_one(pairs[:, a], side)
        H = H.reshape(side * m, side * m)
    places = np.diag_indices(len(H))
    H[places] += np.maximum(ridge.ravel(), 1e-14 * H[places])
    return H
