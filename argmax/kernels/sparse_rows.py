"""A sparse row times a table of weights, and back: all labels at once, in explicit vectors (``simd``).

    gather(…)     row_c = Σ_t values_t · W[indices_t, c], t the entries first … last−1 of a row
    scatter(…)    W[indices_t, c] += values_t · row_c: its adjoint
    send_for(…)   have the entries first … last−1 brought near, before their turn

``step`` is 1, or 0 where the rows are indicators and ``values`` holds a single 1.
"""

import numpy as np

from .compile import inner_kernel
from .simd import L4, L8, L12, L16, L20, L24, add, fma, get, load, prefetch, store, zeros

__all__ = ["gather", "scatter", "send_for"]

LINE, LONGEST = 64, 4096  # bytes that come together; and those of many entries: the rest follows


@inner_kernel
def send_for(first, last, indices, values, step):
    """Ask memory for the entries first … last−1."""
    last = min(last, first + LONGEST // indices.itemsize)
    for t in range(first, last, LINE // indices.itemsize):
        prefetch(indices, t)
    for t in range(first, last, LINE // values.itemsize):
        prefetch(values, t * step)
    # They begin anywhere in a line, and so may end in one more.
    prefetch(indices, last - 1)
    prefetch(values, (last - 1) * step)


@inner_kernel
def _gather_tile(indices, values, step, first, last, W, P, c, row, LANES):
    even, odd = zeros(W, LANES), zeros(W, LANES)  # two sums: neither waits for the other
    for t in range(first, last - 1, 2):
        even = fma(get(values, t * step), load(W, np.int64(get(indices, t)) * P + c, LANES), even)
        at = np.int64(get(indices, t + 1)) * P + c
        odd = fma(get(values, (t + 1) * step), load(W, at, LANES), odd)
    if (last - first) % 2:
        t = last - 1
        even = fma(get(values, t * step), load(W, np.int64(get(indices, t)) * P + c, LANES), even)
    store(row, c, add(even, odd))


@inner_kernel
def gather(indices, values, step, first, last, W, P, row):
    """row_c = Σ_t values_t · W[indices_t, c] for t = first … last−1. Given flat W (d, P). Filled row (P,).

    Labels go in tiles of 16, the last of 24 … 4, whose sums stay in registers; P is 1 or a multiple of 4.
    Few tiles are better than many: each reads the indices again.
    """
    c = 0
    if P == 1:
        total = row[0] * 0.0
        for t in range(first, last):
            total += get(values, t * step) * get(W, np.int64(get(indices, t)))
        row[0] = total
        c = 1
    while P - c >= 28 or P - c == 16:
        _gather_tile(indices, values, step, first, last, W, P, c, row, L16)
        c += 16
    if P - c == 24:
        _gather_tile(indices, values, step, first, last, W, P, c, row, L24)
    elif P - c == 20:
        _gather_tile(indices, values, step, first, last, W, P, c, row, L20)
    elif P - c == 12:
        _gather_tile(indices, values, step, first, last, W, P, c, row, L12)
    elif P - c == 8:
        _gather_tile(indices, values, step, first, last, W, P, c, row, L8)
    elif P - c == 4:
        _gather_tile(indices, values, step, first, last, W, P, c, row, L4)


@inner_kernel
def _scatter_tile(indices, values, step, first, last, W, P, c, row, LANES):
    residual = load(row, c, LANES)
    for t in range(first, last):
        at = np.int64(get(indices, t)) * P + c
        store(W, at, fma(get(values, t * step), residual, load(W, at, LANES)))


@inner_kernel
def scatter(indices, values, step, first, last, W, P, row):
    """W[indices_t, c] += values_t · row_c for t = first … last−1: the adjoint of ``gather``."""
    c = 0
    if P == 1:
        for t in range(first, last):
            W[np.int64(get(indices, t))] += get(values, t * step) * row[0]
        c = 1
    while P - c >= 28 or P - c == 16:
        _scatter_tile(indices, values, step, first, last, W, P, c, row, L16)
        c += 16
    if P - c == 24:
        _scatter_tile(indices, values, step, first, last, W, P, c, row, L24)
    elif P - c == 20:
        _scatter_tile(indices, values, step, first, last, W, P, c, row, L20)
    elif P - c == 12:
        _scatter_tile(indices, values, step, first, last, W, P, c, row, L12)
    elif P - c == 8:
        _scatter_tile(indices, values, step, first, last, W, P, c, row, L8)
    elif P - c == 4:
        _scatter_tile(indices, values, step, first, last, W, P, c, row, L4)
