"""Dual coordinate ascent for many binary problems at once: the fastest way on sparse rows of modest size.

    D_l(μ) = Σ_i c_il H(μ_il) − ½ ‖w_l‖²,     w_l = Σ_i c_il m_il μ_il x_i,     μ_il in (0, 1)

μ_il is the probability of the wrong bit. A sweep visits the rows in random order; one look at a row serves
all its bits (``kernels/bits.py``). A sweep yields an estimate of the gaps at no cost; when those are small
enough the intercepts are solved, and the true certificates decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import expit

from ..engines import Crew
from ..layouts import as_matrix, csr_arguments
from ..records import Csr, Floats, Ints
from .bits import Bits, State
from .shared import SharedRows

__all__ = ["ascent", "spread"]

CONFIDENCE = 0.5
"""μ starts at so much of the chance of the wrong bit without features; less where rows weigh more."""

CHUNK = 4_000_000
"""Multiply-adds in one call of the kernel: some milliseconds."""


def spread(rows: Csr, bits: Bits) -> float:
    """The largest c · mean ‖x‖²: the larger, the more sweeps it takes."""
    largest = bits.C * float(bits.share.max()) * float(bits.weight.max())
    return largest * float(_squares(rows).mean())


def ascent(
    rows: Csr,
    bits: Bits,
    intercept: bool,
    crew: Crew,
    enough: Floats,
    seed: int,
    late: Callable[[int], bool],
    fast: bool | None = None,
) -> Iterator[tuple[State, int, bool]]:
    """The state, the number of sweeps, and whether it is the last one; gaps up to ``enough`` (L,) will do.

    A state costs as much as two sweeps: it comes when it may be good enough, or when it is ``late``.
    """
    L = bits.code.shape[1]
    shared = SharedRows(rows, L, intercept, crew, transposed=False, fast=fast)
    m, q, rng = bits.code[bits.y], _squares(rows), np.random.RandomState(seed)
    b = bits.log_odds if intercept else np.zeros(L)
    heavy = max(1.0, spread(rows, bits))
    mu = CONFIDENCE / heavy * expit(-m * b)
    v = np.log(mu) - np.log1p(-mu)
    weights = bits.C * bits.share[bits.y] * bits.weight.reshape(-1, 1)
    table = shared.adjoint(shared.wide(weights * m * mu))
    h, B = table[-1, :L].copy(), (float(q.mean()) / heavy if intercept else 0.0)
    U = np.ascontiguousarray(table[: shared.layout.features])
    wanted, sweeps = enough.copy(), 0
    while True:
        estimate = _sweep(rows, bits, rng.permutation(shared.n), q, B, U, b, h, v, mu)
        if (
            intercept
        ):  # in units of log odds, more than 1 a sweep would be an overshoot, not progress
            b = b + np.clip(B * h, -1.0, 1.0)
        sweeps += 1
        if not ((estimate <= wanted).all() or late(sweeps)):
            continue
        state = _primal(shared, bits, U, b + B * h)
        over = bool((state.gap <= enough).all())
        wanted = 0.25 * estimate
        yield state, sweeps, over


def _sweep(
    rows: Csr, bits: Bits, order: Ints, q: Floats, B: float, U: Floats, b: Floats, h: Floats,
    v: Floats, mu: Floats,
) -> Floats:  # fmt: skip
    """Every row once; the estimated gaps (L,)."""
    from ..kernels import bits as kernels

    gap = np.zeros(mu.shape[1])
    pieces = max(1, min(len(order), rows.entries * U.shape[1] // CHUNK))
    for piece in np.array_split(order, pieces):
        kernels.ascend(
            piece, *csr_arguments(rows), q, bits.code, bits.share, bits.C, bits.y, bits.weight,
            B, U, b, h, v, mu, gap,
        )  # fmt: skip
    return gap


def _primal(shared: SharedRows, bits: Bits, U: Floats, b: Floats) -> State:
    """The point at these weights, its intercepts solved."""
    table = shared.table()
    table[: len(U)] = U
    if shared.layout.intercept:
        table[-1, : len(b)] = b
    state = State(shared, bits, table, shared.scores(table))
    if shared.layout.intercept:
        state.settle()
    else:
        state.differentiate()
    return state


def _squares(rows: Csr) -> Floats:
    """‖x_i‖² (n,)."""
    X = as_matrix(rows)
    X.data = np.square(X.data, dtype=float)
    return np.asarray(X @ np.ones(rows.width))
