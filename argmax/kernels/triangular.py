"""Systems with a Cholesky factor and a few right-hand sides at a time, all of which stay in vectors.

LAPACK is made for many right-hand sides, and keeps the interpreter's lock meanwhile.
"""

from typing import Any

from .compile import inner_kernel, kernel
from .simd import L4, L8, L12, L16, L24, add, fma, get, load, store, times, zeros

__all__ = ["solve"]

WIDTHS = L24, L16, L12, L8, L4


@inner_kernel
def _forward(L, n, i, known, B, P, c, taken, LANES):
    """Row i of L y = b, once all before it are known; the first ``known`` of them are in ``taken``."""
    for j in range(known, i):
        taken = fma(get(L, i * n + j), load(B, j * P + c, LANES), taken)
    left = add(load(B, i * P + c, LANES), times(-1.0, taken))
    store(B, i * P + c, times(1.0 / get(L, i * n + i), left))


@kernel
def _solve_tile(L, n, B, P, c, LANES):
    """Columns c, c + 1, … of B ← (L Lᵀ)⁻¹ B. Given flat L (n, n) and B (n, P).

    Four rows of L at a time: what is loaded of B is used four times.
    """
    fours = n - n % 4
    for i in range(0, fours, 4):  # L y = b
        t0, t1, t2, t3 = zeros(B, LANES), zeros(B, LANES), zeros(B, LANES), zeros(B, LANES)
        for j in range(i):
            y, at = load(B, j * P + c, LANES), i * n + j
            t0, t1 = fma(get(L, at), y, t0), fma(get(L, at + n), y, t1)
            t2, t3 = fma(get(L, at + 2 * n), y, t2), fma(get(L, at + 3 * n), y, t3)
        _forward(L, n, i, i, B, P, c, t0, LANES)
        _forward(L, n, i + 1, i, B, P, c, t1, LANES)
        _forward(L, n, i + 2, i, B, P, c, t2, LANES)
        _forward(L, n, i + 3, i, B, P, c, t3, LANES)
    for i in range(fours, n):
        _forward(L, n, i, 0, B, P, c, zeros(B, LANES), LANES)
    for i in range(n - 1, fours - 1, -1):  # Lᵀ x = y: what is known is taken from all rows before
        _backward(L, n, i, 0, B, P, c, LANES)
    for i in range(fours - 4, -1, -4):
        for own in range(3, -1, -1):
            _backward(L, n, i + own, i, B, P, c, LANES)
        x0, x1 = load(B, i * P + c, LANES), load(B, (i + 1) * P + c, LANES)
        x2, x3 = load(B, (i + 2) * P + c, LANES), load(B, (i + 3) * P + c, LANES)
        for j in range(i):
            at, y = i * n + j, load(B, j * P + c, LANES)
            y = fma(-get(L, at), x0, fma(-get(L, at + n), x1, y))
            y = fma(-get(L, at + 2 * n), x2, fma(-get(L, at + 3 * n), x3, y))
            store(B, j * P + c, y)


@inner_kernel
def _backward(L, n, i, first, B, P, c, LANES):
    """Row i of Lᵀ x = y, once all after it are known; then x_i is taken from rows first … i−1."""
    x = times(1.0 / get(L, i * n + i), load(B, i * P + c, LANES))
    store(B, i * P + c, x)
    for j in range(first, i):
        store(B, j * P + c, fma(-get(L, i * n + j), x, load(B, j * P + c, LANES)))


def solve(L: Any, B: Any) -> None:
    """B ← (L Lᵀ)⁻¹ B. Given L (n, n), lower triangular (what is above is not read), of the dtype of B (n, P).

    Both lie in memory row by row; P is a multiple of 4. This is no kernel: one would be compiled with tiles
    of every width, of which one or two are used.
    """
    (n, P), c = B.shape, 0
    flat, sides = L.ravel(), B.reshape(-1)
    for LANES in WIDTHS:
        while P - c >= len(LANES):
            _solve_tile(flat, n, sides, P, c, LANES)
            c += len(LANES)
