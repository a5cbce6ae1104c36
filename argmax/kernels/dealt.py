"""Sparse rows whose features are dealt out to owners (``engines.dealt``): one owner's part, read and written.

Rows come in groups of GROUP. The entries of a group lie together, first those of owner 0, row by row, then
those of owner 1, and so on: row number ``slot`` of group g has the entries

    starts[at + slot] … starts[at + slot + 1] − 1      at = (g · T + r) · GROUP

of owner r. An index is a place in the weights, where each owner has a range of his own. So one thread reads
the entries of a group from end to end, and many do not meet: neither in the entries nor in the weights.

Values may be in float32, which is what visits want; what rounding has taken from them is in ``rest``, or that
is None. ``step`` is 1, or 0 where the rows are indicators and ``values`` holds a single 1.
"""

import numpy as np

from .compile import inner_kernel, kernel
from .simd import L4, L8, L12, L16, L20, L24, fma, get, load, prefetch, put, store, zeros
from .sparse_rows import LINE, send_for

__all__ = [
    "GROUP",
    "adjoint",
    "class_sums",
    "deal",
    "gather_group",
    "scatter_group",
    "send_for_group",
]

GROUP = 16
AHEAD = 3  # rows whose entries are sent for before it is their turn


@kernel
def deal(
    first, last, begin, order, indptr, indices, values, step, owner, place, starts, places, numbers, rest,
):  # fmt: skip
    """The entries of groups first … last−1, of which the first goes to position ``begin``.

    Given  rows, and the ``order`` (n,) in which they fill the groups; owner and place (d,) of each feature;
    the number of owners is that of places in ``starts`` by GROUP and group.
    Filled starts, indices ``places``, values ``numbers`` and their ``rest`` (untouched if step is 0).
    """
    n, T = len(order), (len(starts) - 1) // (GROUP * -(-len(order) // GROUP))
    at, cursor = begin, np.zeros(T * GROUP, np.int64)
    for g in range(first, last):
        cursor[:] = 0
        low, high = g * GROUP, min((g + 1) * GROUP, n)
        for slot in range(low, high):
            if slot + AHEAD < n:
                later = order[slot + AHEAD]
                send_for(
                    np.int64(indptr[later]), np.int64(indptr[later + 1]), indices, values, step
                )
            i, own = order[slot], slot - low
            for t in range(indptr[i], indptr[i + 1]):
                cursor[np.int64(get(owner, np.int64(get(indices, t)))) * GROUP + own] += 1
        for z in range(T * GROUP):
            count = cursor[z]
            starts[g * T * GROUP + z] = at
            cursor[z] = at
            at += count
        for slot in range(low, high):
            i, own = order[slot], slot - low
            for t in range(indptr[i], indptr[i + 1]):
                j = np.int64(get(indices, t))
                z = np.int64(get(owner, j)) * GROUP + own
                to = cursor[z]
                put(places, to, get(place, j))
                if step:
                    put(numbers, to, get(values, t))
                    if rest is not None:
                        put(rest, to, get(values, t) - np.float64(get(numbers, to)))
                cursor[z] = to + 1


@inner_kernel
def send_for_group(at, starts, indices, values, step):
    """Have one owner's entries of a group brought near."""
    first, last = np.int64(get(starts, at)), np.int64(get(starts, at + GROUP))
    send_for(first, last, indices, values, step)


@inner_kernel
def _gather_tile(at, starts, indices, values, step, W, P, c, out, base, LANES):
    first = np.int64(get(starts, at))
    for slot in range(GROUP):
        last = np.int64(get(starts, at + slot + 1))
        sums = zeros(out, LANES)
        for t in range(first, last):
            sums = fma(
                get(values, t * step), load(W, np.int64(get(indices, t)) * P + c, LANES), sums
            )
        store(out, base + slot * P + c, sums)
        first = last


@inner_kernel
def gather_group(at, starts, indices, values, step, W, P, out, base):
    """out[base + slot·P + c] = Σ_t values_t · W[indices_t, c], t one owner's entries of each row of a group.

    Given flat W; P is a multiple of 4. Tiles of labels as in ``sparse_rows.gather``.
    """
    c = 0
    while P - c >= 28 or P - c == 16:
        _gather_tile(at, starts, indices, values, step, W, P, c, out, base, L16)
        c += 16
    if P - c == 24:
        _gather_tile(at, starts, indices, values, step, W, P, c, out, base, L24)
    elif P - c == 20:
        _gather_tile(at, starts, indices, values, step, W, P, c, out, base, L20)
    elif P - c == 12:
        _gather_tile(at, starts, indices, values, step, W, P, c, out, base, L12)
    elif P - c == 8:
        _gather_tile(at, starts, indices, values, step, W, P, c, out, base, L8)
    elif P - c == 4:
        _gather_tile(at, starts, indices, values, step, W, P, c, out, base, L4)


@inner_kernel
def _number(values, rest, at):
    if rest is None:
        return get(values, at)
    return np.float64(get(values, at)) + np.float64(get(rest, at))


@inner_kernel
def _scatter_tile(at, starts, indices, values, rest, step, W, P, c, given, base, LANES):
    first = np.int64(get(starts, at))
    for slot in range(GROUP):
        last = np.int64(get(starts, at + slot + 1))
        row = load(given, base + slot * P + c, LANES)
        for t in range(first, last):
            to = np.int64(get(indices, t)) * P + c
            store(W, to, fma(_number(values, rest, t * step), row, load(W, to, LANES)))
        first = last


@inner_kernel
def scatter_group(at, starts, indices, values, rest, step, W, P, given, base):
    """W[indices_t, c] += values_t · given[base + slot·P + c]: the adjoint of ``gather_group``.

    With ``rest``, values_t + rest_t instead.
    """
    c = 0
    while P - c >= 28 or P - c == 16:
        _scatter_tile(at, starts, indices, values, rest, step, W, P, c, given, base, L16)
        c += 16
    if P - c == 24:
        _scatter_tile(at, starts, indices, values, rest, step, W, P, c, given, base, L24)
    elif P - c == 20:
        _scatter_tile(at, starts, indices, values, rest, step, W, P, c, given, base, L20)
    elif P - c == 12:
        _scatter_tile(at, starts, indices, values, rest, step, W, P, c, given, base, L12)
    elif P - c == 8:
        _scatter_tile(at, starts, indices, values, rest, step, W, P, c, given, base, L8)
    elif P - c == 4:
        _scatter_tile(at, starts, indices, values, rest, step, W, P, c, given, base, L4)


@kernel
def class_sums(low, high, T, order, starts, indices, values, step, c, y, U):
    """U[j, y_i] += c_i x_ij, j the features of owners low … high−1 of T. Given c (n,), labels y (n,)."""
    P, flat, n = U.shape[1], U.ravel(), len(order)
    for g in range(-(-n // GROUP)):
        for r in range(low, high):
            at = (g * T + r) * GROUP
            for slot in range(min(GROUP, n - g * GROUP)):
                i = order[g * GROUP + slot]
                weight, label = c[i], y[i]
                for t in range(starts[at + slot], starts[at + slot + 1]):
                    to = np.int64(get(indices, t)) * P + label
                    put(flat, to, get(flat, to) + weight * get(values, t * step))


@kernel
def adjoint(low, high, T, order, starts, indices, values, rest, step, edges, R, G):
    """G_j = Σ_i x_ij R_i, j the features of owners low … high−1 of T, whose places begin at edges (T + 1,).

    Given R (n, P), P a multiple of 4. Rows are taken in their ``order``, whoever does it.
    """
    (n, P), flat, residuals = R.shape, G.ravel(), R.ravel()
    some = np.zeros((GROUP, P))
    flat_some, groups = some.ravel(), -(-n // GROUP)
    G[edges[low] : edges[high]] = 0.0
    for g in range(groups):
        first = g * GROUP
        for slot in range(first + GROUP, min(first + 2 * GROUP, n)):
            for c in range(order[slot] * P, (order[slot] + 1) * P, LINE // R.itemsize):
                prefetch(residuals, c)
        for slot in range(first, min(first + GROUP, n)):
            for c in range(P):
                some[slot - first, c] = R[order[slot], c]
        for r in range(low, high):
            if g + 2 < groups:
                at = ((g + 2) * T + r) * GROUP
                send_for_group(at, starts, indices, values, step)
                if rest is not None:
                    send_for_group(at, starts, indices, rest, step)
            at = (g * T + r) * GROUP
            scatter_group(at, starts, indices, values, rest, step, flat, P, flat_some, 0)
