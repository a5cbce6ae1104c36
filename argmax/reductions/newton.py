"""Newton's method for many binary problems at once. Each has its own direction, step and end.

    1. directions (Xᵀ D_l X + I) d_l = −g_l: with few features from the matrix itself, else by conjugate
       gradients until ‖residual‖ ≤ η_l ‖g_l‖ (Lin, Weng and Keerthi 2008, JMLR 9), preconditioned
    2. a step t_l of each, halved until F_l falls enough: scores are linear in w, so no product is needed
    3. scores, residuals R and curvatures D there, and gradients g_l = Xᵀ R_l + w_l: one product for all

The preconditioner is the diagonal of the Hessian of each problem (sparse rows), or one factor of Xᵀ D̄ X + I
with the mean curvature D̄ of all problems (dense rows). Where dense rows are many times more than features, a
sample of them is enough for the Hessians (Byrd, Chin, Neveitt and Nocedal 2011, SIAM J. Optim. 21); gradients
and values are always those of all rows. A sample that proves too small is doubled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..engines import Crew
from ..layouts import as_matrix
from ..records import Csr, Floats, Rows
from .bits import Bits, State
from .shared import SharedRows

__all__ = ["EXACT", "newton"]

EXACT = 64
"""Features below which the Hessians themselves are formed: one product of all curvatures with X ⊗ X."""

FEW = 4
"""Problems below which a product of each is less work than forming X ⊗ X for all of them."""

FACTOR = 3000
"""Features of dense rows up to which one factor preconditions all problems."""

INNER = 50
"""Hessian products for one direction."""

SAMPLE, LEAST, SETTLED = 10, 8000, 5
"""A sample for Hessians: rows for each feature, rows at least, steps after which slow ones mean too small."""

CHUNK = 2**15
"""Numbers worked on together: a few vectors of them stay in the cache."""


def newton(
    rows: Rows,
    bits: Bits,
    intercept: bool,
    crew: Crew,
    enough: Floats,
    out_of_time: Callable[[], bool],
    start: State | None = None,
    fast: bool | None = None,
) -> Iterator[tuple[State, int, bool]]:
    """The state after every step, their number, and whether it is the last; gaps up to ``enough`` will do."""
    L = bits.code.shape[1]
    shared = SharedRows(rows, L, intercept, crew, fast=fast)
    table: Floats = shared.table()
    scores: Floats = np.zeros((shared.n, L))
    if start is not None:
        table, scores = start.table, start.scores
    elif intercept:
        table[-1, :L] = bits.log_odds
        scores += table[-1, :L]
    state = State(shared, bits, table, scores)
    state.differentiate()
    first = np.maximum(_norms(state.gradient), 1e-300)
    directions = _Exact(state) if rows.shape[1] < EXACT else _Truncated(state, out_of_time)
    stuck, before, steps = np.zeros(L, bool), np.full(L, np.inf), 0
    while True:
        if (state.gap <= enough).all():
            state.settle()
        gap = state.gap
        # Where the next digits cost next to nothing, the last of them are taken too: then integer weights
        # equal repetition to the last digits, which two runs that stop at ``enough`` would not.
        final_step = (gap >= 0.25 * before) | (shared.fast or not directions.exact)
        done = stuck | ((gap <= enough) & final_step)
        before, steps = gap, steps + 1
        yield state, steps, bool(done.all())
        active = np.zeros(shared.layout.width, bool)
        active[:L] = ~done
        forcing = np.minimum(0.5, np.sqrt(_norms(state.gradient) / first))
        stuck |= ~_step(state, directions(active, forcing), active)[:L]
        state.differentiate()


def _step(state: State, direction: Floats, active: Any) -> Any:
    """Move every active problem along its direction; which of them could (P,)."""
    L, slope = state.scores.shape[1], _dots(state.gradient, direction)
    table, scores, value = state.table, state.scores, state.value
    ahead = state.shared.scores(direction)
    step = np.where(active & (slope < 0.0), 1.0, 0.0)
    for _ in range(40):
        state.table, state.scores = table + step * direction, scores + step[:L] * ahead
        state.evaluate()
        # Near the end values agree to rounding, and say nothing about a step any more.
        rounding = 1e-14 * np.abs(value)
        poor = (step > 0.0) & ~(state.value <= value + 1e-4 * step * slope + rounding)
        if not poor.any():
            break
        step[poor] = np.where(-step[poor] * slope[poor] <= rounding[poor], 0.0, 0.5 * step[poor])
    return (step > 0.0) | ~active


class _Directions(ABC):
    """d_l with (Xᵀ D_l X + I) d_l ≈ −g_l for the active problems."""

    exact: bool

    @abstractmethod
    def __call__(self, active: Any, forcing: Floats) -> Floats:
        """Directions (d [+ 1], P), each to a relative accuracy of ``forcing`` (P,)."""


@final
class _Exact(_Directions):
    """From the Hessians themselves."""

    exact = True

    def __init__(self, state: State) -> None:
        self.state, rows = state, state.shared.rows
        X = as_matrix(rows).toarray() if isinstance(rows, Csr) else rows
        ones = np.ones((len(X), int(state.shared.layout.intercept)))
        self.X = np.hstack([X, ones])
        self.upper = np.triu_indices(self.X.shape[1])

    def __call__(self, active: Any, forcing: Floats) -> Floats:
        state, L = self.state, self.state.scores.shape[1]
        H, diagonal = self._hessians(L), np.arange(self.X.shape[1])
        H[:, diagonal, diagonal] *= (
            1.0 + 1e-14
        )  # an intercept whose rows are all certain still curves
        H[:, diagonal[: state.d], diagonal[: state.d]] += 1.0
        H[:, diagonal, diagonal] += 1e-300
        direction = np.zeros_like(state.table)
        direction[:, :L] = np.linalg.solve(H, -state.gradient.T[:L, :, None])[:, :, 0].T
        return direction

    def _hessians(self, L: int) -> Floats:
        """Σ_i D_il x_i x_iᵀ (L, d [+ 1], d [+ 1])."""
        X, D = self.X, self.state.D
        if L < FEW:
            return np.stack([(X * D[:, l, None]).T @ X for l in range(L)])
        a, b = self.upper
        piece = max(CHUNK // len(a), 1)
        flat = np.zeros((L, len(a)))
        for first in range(0, len(X), piece):
            rows = slice(first, first + piece)
            flat += D[rows, :L].T @ (X[rows, a] * X[rows, b])
        H = np.empty((L, X.shape[1], X.shape[1]))
        H[:, a, b] = H[:, b, a] = flat
        return H


@final
class _Truncated(_Directions):
    """By preconditioned conjugate gradients, one recursion for each problem."""

    exact = False

    def __init__(self, state: State, out_of_time: Callable[[], bool]) -> None:
        self.state, self.out_of_time, rows = state, out_of_time, state.shared.rows
        n, d = rows.shape
        self.factored = not isinstance(rows, Csr) and d <= FACTOR and n >= d
        self.every = max(1, n // max(5 * d, 4000))  # rows that pin the factor well enough
        self.calls, self.size = 0, np.inf
        self._sample(max(1, n // max(SAMPLE * d, LEAST)) if self.factored else 1)

    def _sample(self, stride: int) -> None:
        """Hessians from every ``stride``-th row."""
        shared, self.stride = self.state.shared, stride
        if stride > 1:
            # A sample is an estimate anyway: half the digits are enough for it, and twice as fast.
            rows = np.ascontiguousarray(shared.rows[::stride], dtype=np.float32)
            layout = shared.layout
            shared = SharedRows(
                rows, layout.labels, layout.intercept, shared.crew, fast=shared.fast, precise=False
            )
        self.sampled = shared

    def _prepare(self, active: Any) -> None:
        """A larger sample where the last step did little, and a new preconditioner while it changes."""
        size = float(_norms(self.state.gradient)[active].max(initial=0.0))
        if self.stride > 1 and self.calls >= SETTLED and size > 0.85 * self.size:
            self._sample(self.stride // 2)
        if self.calls <= SETTLED or not self.factored:
            self._refresh()
        self.calls, self.size = self.calls + 1, size

    def _curved(self, direction: Floats) -> Floats:
        """Hessian products (Xᵀ D_l X + I) v_l, one for each problem."""
        shared, L = self.sampled, self.sampled.layout.labels
        ahead, product = shared.scores(direction), shared.padded()
        D = self.state.D[:: self.stride]

        def piece(rows: slice) -> None:
            np.multiply(D[rows, :L], ahead[rows], out=product[rows, :L])

        shared.each(piece)
        result = shared.adjoint(product)
        result *= self.stride
        result[: self.state.d] += direction[: self.state.d]
        return result

    def _refresh(self) -> None:
        state, shared = self.state, self.state.shared
        # Half the digits are enough for a preconditioner, unless columns are of wildly different sizes.
        self.factored = self.factored and (self._factor(np.float32) or self._factor(np.float64))
        if not self.factored:
            self.inverse = shared.squares(state.D)
            self.inverse[: state.d] += 1.0
            np.divide(1.0, np.maximum(self.inverse, 1e-300), out=self.inverse)

    def _factor(self, kind: type) -> bool:
        """The factor of Xᵀ D̄ X + I, if it has one in this precision."""
        D, some = self.state.D, slice(None, None, self.every)
        mean = self.every * D[some, : self.state.shared.layout.labels].mean(axis=1)
        rows = as_matrix(self.state.shared.rows)[some]
        root = np.multiply(np.sqrt(mean)[:, None], rows).astype(kind, copy=False)
        A = root.T @ root
        A[np.diag_indices(len(A))] += 1.0
        try:
            self.factor = cho_factor(A, overwrite_a=True, check_finite=False)
        except LinAlgError:  # repeated columns of wildly different sizes
            return False
        self.rest = np.maximum(D.sum(axis=0), 1e-300)
        return True

    def _precondition(self, residual: Floats) -> Floats:
        if not self.factored:
            return residual * self.inverse
        d, out = self.state.d, np.empty_like(residual)
        out[:d] = cho_solve(self.factor, residual[:d], check_finite=False)
        out[d:] = residual[d:] / self.rest
        return out

    def __call__(self, active: Any, forcing: Floats) -> Floats:
        self._prepare(active)
        residual = np.where(active, -self.state.gradient, 0.0)
        target = forcing * _norms(residual)
        direction = np.zeros_like(residual)
        z = self._precondition(residual)
        p, rz = z.copy(), _dots(residual, z)
        for _ in range(INNER):
            going = active & (_norms(residual) > target)
            if not going.any() or self.out_of_time():
                break
            product = self._curved(p)
            bend = _dots(p, product)
            going &= bend > 0.0
            alpha = np.where(going, rz, 0.0) / np.where(going, bend, 1.0)
            _add(direction, alpha, p)
            _add(residual, -alpha, product)
            z = self._precondition(residual)
            before, rz = rz, _dots(residual, z)
            p *= np.where(going, rz, 0.0) / np.where(before > 0.0, before, 1.0)
            p += z
        return direction


def _dots(a: Floats, b: Floats) -> Floats:
    """⟨a_l, b_l⟩ of every column."""
    return np.asarray(np.einsum("ij,ij->j", a, b))


def _norms(a: Floats) -> Floats:
    return np.sqrt(_dots(a, a))


def _add(out: Floats, scale: Floats, more: Floats) -> None:
    """out += more · scale, column by column, in pieces that stay in the cache."""
    rows = max(CHUNK // out.shape[1], 1)
    for first in range(0, len(out), rows):
        some = slice(first, first + rows)
        out[some] += more[some] * scale
