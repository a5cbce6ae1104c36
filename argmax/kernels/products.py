"""X·W and Xᵀ·R, for sparse and dense rows: where a linear model spends its time.

Conventions

    W, G   (d, P)   weights, gradient: feature-major, P ≥ m columns, columns m … P−1 are zero
    S, R   (R, m)   scores, residuals of the rows
    P      1 or a multiple of 4 (see ``layouts.padded``)

One stored entry x_ij is one contiguous update of P numbers (``sparse_rows``). Dense products go by tiles
whose sums stay in registers: six rows × 8 columns or, where 12 columns are left, four rows × 12, so that each
number loaded is used at least four times.

``step`` is 1, or 0 where the rows are indicators and ``values`` holds a single 1.
"""

import numpy as np

from .compile import kernel
from .simd import L4, L8, fma, get, load, prefetch_far, store, zeros
from .sparse_rows import gather, scatter, send_for

__all__ = [
    "csr_adjoint",
    "csr_adjoint_range",
    "csr_norms",
    "csr_scores",
    "csr_squares",
    "dense_adjoint",
    "dense_scores",
]

# Dense rows are sent for before their turn: half of them by the scores of the rows AHEAD of them, half by the
# adjoint of the rows that ``fused`` takes before them. So memory is asked for something all the time, and a
# core, which can wait for some sixteen lines only, seldom for so many.
AT_ONCE = (
    48  # rows that ``fused`` takes: a multiple of the twelve and the sixteen that are taken here
)
AHEAD = 12  # rows between those that are multiplied and those that are sent for
LATER = 8  # of the next AT_ONCE, rows that are sent for by the adjoint of sixteen
LINE = 8  # numbers of eight bytes that come together
SOON = 8  # rows between the one whose entries are read and the one whose are sent for


@kernel
def csr_scores(indptr, indices, values, step, W, b, S):
    """S_i = b + Σ_j x_ij W_j for every row i.

    Given indptr (R+1,), indices, values; W (d, P); b (m,). Filled S (R, m).
    With the transposed rows, and residuals for W, this is the gradient: G_j = Σ_i x_ij R_i.
    """
    P, m, flat = W.shape[1], S.shape[1], W.ravel()
    row = np.zeros(P, W.dtype)
    for i in range(S.shape[0]):
        gather(indices, values, step, indptr[i], indptr[i + 1], flat, P, row)
        for c in range(m):
            S[i, c] = b[c] + row[c]


@kernel
def csr_adjoint(indptr, indices, values, step, R, G, bias):
    """G_j += Σ_i x_ij R_i. Given R (R, m). Filled G (d, P) and, if there is one, bias (m,) += Σ_i R_i."""
    P, m, flat = G.shape[1], R.shape[1], G.ravel()
    row = np.zeros(P, G.dtype)
    for i in range(R.shape[0]):
        for c in range(m):
            row[c] = R[i, c]
        for c in range(len(bias)):
            bias[c] += R[i, c]
        scatter(indices, values, step, indptr[i], indptr[i + 1], flat, P, row)


@kernel
def csr_adjoint_range(splits, begin, end, indices, values, step, R, G, low, high):
    """G_j = Σ_i x_ij R_i for features low … high−1, the ranges begin … end−1 of ``engines.columns``.

    Given  splits (R, T + 1): row i has entries splits[i, begin] … splits[i, end] − 1 there; R (R, P).
    Entries are sent for some rows before their turn: between those of one row and the next are others, so
    that memory would be waited for at every row.
    """
    P, flat, row = G.shape[1], G.ravel(), np.zeros(G.shape[1], G.dtype)
    G[low:high] = 0.0
    for i in range(len(splits)):
        if i + SOON < len(splits):
            entries = np.int64(splits[i + SOON, begin]), np.int64(splits[i + SOON, end])
            send_for(*entries, indices, values, step)
        first, last = splits[i, begin], splits[i, end]
        if first < last:
            for c in range(P):
                row[c] = R[i, c]
            scatter(indices, values, step, first, last, flat, P, row)


@kernel
def csr_norms(indptr, values, step, out):
    """out_i = Σ_j x_ij². Given indptr (R+1,), values. Filled out (R,)."""
    for i in range(len(out)):
        first, last = indptr[i], indptr[i + 1]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for t in range(first, last - 3, 4):
            x0, x1 = np.float64(get(values, t * step)), np.float64(get(values, (t + 1) * step))
            x2, x3 = (
                np.float64(get(values, (t + 2) * step)),
                np.float64(get(values, (t + 3) * step)),
            )
            s0, s1, s2, s3 = s0 + x0 * x0, s1 + x1 * x1, s2 + x2 * x2, s3 + x3 * x3
        for t in range(last - (last - first) % 4, last):
            x0 = np.float64(get(values, t * step))
            s0 += x0 * x0
        out[i] = (s0 + s1) + (s2 + s3)


@kernel
def csr_squares(indptr, indices, values, step, c, out):
    """out_j = Σ_i c_i x_ij², for transposed rows: indptr (d+1,). Given c (R,). Filled out (d,)."""
    for j in range(len(out)):
        total = 0.0
        for t in range(indptr[j], indptr[j + 1]):
            total += c[indices[t]] * values[t * step] * values[t * step]
        out[j] = total


@kernel
def _send_for(x, at, d, rows):
    """Send for the numbers around x[at], x[at + d], …: a line of the cache in each of so many rows."""
    for r in range(rows):
        prefetch_far(x, at + r * d)


@kernel
def _dense_tile(x, d, i, W, P, c, six, LANES):
    """six[r, c : c+LANES] = Σ_j x[i+r, j] W[j, c : c+LANES] for r = 0 … 5"""
    s0, s1, s2 = zeros(W, LANES), zeros(W, LANES), zeros(W, LANES)
    s3, s4, s5 = zeros(W, LANES), zeros(W, LANES), zeros(W, LANES)
    at = i * d
    for first in range(0, d, LINE):
        if c == 0:
            _send_for(x, at + AHEAD * d + first, d, 6)
        for j in range(first, min(first + LINE, d)):
            w = load(W, j * P + c, LANES)
            s0 = fma(get(x, at + j), w, s0)
            s1 = fma(get(x, at + d + j), w, s1)
            s2 = fma(get(x, at + 2 * d + j), w, s2)
            s3 = fma(get(x, at + 3 * d + j), w, s3)
            s4 = fma(get(x, at + 4 * d + j), w, s4)
            s5 = fma(get(x, at + 5 * d + j), w, s5)
    store(six, c, s0)
    store(six, P + c, s1)
    store(six, 2 * P + c, s2)
    store(six, 3 * P + c, s3)
    store(six, 4 * P + c, s4)
    store(six, 5 * P + c, s5)


@kernel
def _dense_tile_of_12(x, d, i, W, P, c, four):
    """four[r, c : c+12] = Σ_j x[i+r, j] W[j, c : c+12] for r = 0 … 3"""
    s0, s1, s2, s3 = zeros(W, L8), zeros(W, L8), zeros(W, L8), zeros(W, L8)
    t0, t1, t2, t3 = zeros(W, L4), zeros(W, L4), zeros(W, L4), zeros(W, L4)
    at = i * d
    for first in range(0, d, LINE):
        if c == 0:
            _send_for(x, at + AHEAD * d + first, d, 4)
        for j in range(first, min(first + LINE, d)):
            v, w = load(W, j * P + c, L8), load(W, j * P + c + 8, L4)
            x0, x1 = get(x, at + j), get(x, at + d + j)
            x2, x3 = get(x, at + 2 * d + j), get(x, at + 3 * d + j)
            s0, t0 = fma(x0, v, s0), fma(x0, w, t0)
            s1, t1 = fma(x1, v, s1), fma(x1, w, t1)
            s2, t2 = fma(x2, v, s2), fma(x2, w, t2)
            s3, t3 = fma(x3, v, s3), fma(x3, w, t3)
    store(four, c, s0)
    store(four, c + 8, t0)
    store(four, P + c, s1)
    store(four, P + c + 8, t1)
    store(four, 2 * P + c, s2)
    store(four, 2 * P + c + 8, t2)
    store(four, 3 * P + c, s3)
    store(four, 3 * P + c + 8, t3)


@kernel
def dense_scores(X, W, b, S):
    """S_i = b + Σ_j x_ij W_j for dense rows. Given X (R, d), W (d, P), P ≥ 4, b (m,). Filled S (R, m)."""
    (R, d), P, m = X.shape, W.shape[1], S.shape[1]
    x, flat, twelve = X.ravel(), W.ravel(), np.zeros(12 * P, W.dtype)
    # The remaining rows, filled up to twelve. If there are none, no memory: threads would queue for it.
    last_twelve = np.zeros((12 if R % 12 else 0, d), X.dtype)
    for i in range(0, R, 12):
        rows, source, at = min(12, R - i), x, i
        if rows < 12:
            for r in range(rows):
                for j in range(d):
                    last_twelve[r, j] = X[i + r, j]
            source, at = last_twelve.ravel(), 0
        c = 0
        while c + 8 <= P and P - c != 12:
            for r in range(0, rows, 6):
                _dense_tile(source, d, at + r, flat, P, c, twelve[r * P :], L8)
            c += 8
        if P - c == 12:
            for r in range(0, rows, 4):
                _dense_tile_of_12(source, d, at + r, flat, P, c, twelve[r * P :])
        elif P - c == 4:
            for r in range(0, rows, 6):
                _dense_tile(source, d, at + r, flat, P, c, twelve[r * P :], L4)
        for r in range(rows):
            for c in range(m):
                S[i + r, c] = b[c] + twelve[r * P + c]


@kernel
def _dense_adjoint_tile(x, d, j, rows, first, R, P, c, G, LANES):
    """G[j+f, c : c+LANES] += Σ_i x[first+i, j+f] R[i, c : c+LANES] for f = 0 … 5"""
    at = j * P + c
    g0, g1, g2 = load(G, at, LANES), load(G, at + P, LANES), load(G, at + 2 * P, LANES)
    g3, g4, g5 = load(G, at + 3 * P, LANES), load(G, at + 4 * P, LANES), load(G, at + 5 * P, LANES)
    for i in range(rows):
        r = load(R, i * P + c, LANES)
        here = (first + i) * d + j
        g0 = fma(get(x, here), r, g0)
        g1 = fma(get(x, here + 1), r, g1)
        g2 = fma(get(x, here + 2), r, g2)
        g3 = fma(get(x, here + 3), r, g3)
        g4 = fma(get(x, here + 4), r, g4)
        g5 = fma(get(x, here + 5), r, g5)
    store(G, at, g0)
    store(G, at + P, g1)
    store(G, at + 2 * P, g2)
    store(G, at + 3 * P, g3)
    store(G, at + 4 * P, g4)
    store(G, at + 5 * P, g5)


@kernel
def _dense_adjoint_tile_of_12(x, d, j, rows, first, R, P, c, G):
    """G[j+f, c : c+12] += Σ_i x[first+i, j+f] R[i, c : c+12] for f = 0 … 3"""
    at = j * P + c
    g0, g1 = load(G, at, L8), load(G, at + P, L8)
    g2, g3 = load(G, at + 2 * P, L8), load(G, at + 3 * P, L8)
    h0, h1 = load(G, at + 8, L4), load(G, at + P + 8, L4)
    h2, h3 = load(G, at + 2 * P + 8, L4), load(G, at + 3 * P + 8, L4)
    for i in range(rows):
        r, s = load(R, i * P + c, L8), load(R, i * P + c + 8, L4)
        here = (first + i) * d + j
        x0, x1, x2, x3 = get(x, here), get(x, here + 1), get(x, here + 2), get(x, here + 3)
        g0, h0 = fma(x0, r, g0), fma(x0, s, h0)
        g1, h1 = fma(x1, r, g1), fma(x1, s, h1)
        g2, h2 = fma(x2, r, g2), fma(x2, s, h2)
        g3, h3 = fma(x3, r, g3), fma(x3, s, h3)
    store(G, at, g0)
    store(G, at + 8, h0)
    store(G, at + P, g1)
    store(G, at + P + 8, h1)
    store(G, at + 2 * P, g2)
    store(G, at + 2 * P + 8, h2)
    store(G, at + 3 * P, g3)
    store(G, at + 3 * P + 8, h3)


@kernel
def _dense_adjoint_one(x, d, j, rows, first, R, P, c, G, LANES):
    """G[j, c : c+LANES] += Σ_i x[first+i, j] R[i, c : c+LANES]: a feature left over from the sixes"""
    total = load(G, j * P + c, LANES)
    for i in range(rows):
        total = fma(get(x, (first + i) * d + j), load(R, i * P + c, LANES), total)
    store(G, j * P + c, total)


@kernel
def _dense_adjoint_columns(x, d, rows, first, later, R, P, c, G, LANES):
    """G[:, c : c+LANES] += Σ_i x[first+i, :] R[i, c : c+LANES]"""
    j = 0
    while j + 6 <= d:
        if c == 0:
            _send_for(x, later * d + j, d, LATER)
        _dense_adjoint_tile(x, d, j, rows, first, R, P, c, G, LANES)
        j += 6
    for left in range(j, d):
        _dense_adjoint_one(x, d, left, rows, first, R, P, c, G, LANES)


@kernel
def dense_adjoint(X, R, G, bias):
    """G_j += Σ_i x_ij R_i for dense rows. Given X (R, d), R (R, m). Filled G (d, P), P ≥ 4.

    If there is an intercept, also bias (m,) += Σ_i R_i; otherwise bias is empty.

    Sixteen rows at a time: they stay in the first- and second-level cache while all features pass.
    """
    (n, d), P, m = X.shape, G.shape[1], R.shape[1]
    x, flat, some = X.ravel(), G.ravel(), np.zeros((16, P), G.dtype)
    residual = some.ravel()
    for first in range(0, n, 16):
        rows, later = min(16, n - first), AT_ONCE + AHEAD + first * LATER // 16
        for i in range(rows):
            for c in range(m):
                some[i, c] = R[first + i, c]
            for c in range(len(bias)):
                bias[c] += R[first + i, c]
        c = 0
        while c + 8 <= P and P - c != 12:
            _dense_adjoint_columns(x, d, rows, first, later, residual, P, c, flat, L8)
            c += 8
        if P - c == 12:
            j = 0
            while j + 4 <= d:
                if c == 0 and j % LINE == 0:
                    _send_for(x, later * d + j, d, LATER)
                _dense_adjoint_tile_of_12(x, d, j, rows, first, residual, P, c, flat)
                j += 4
            for left in range(j, d):
                _dense_adjoint_one(x, d, left, rows, first, residual, P, c, flat, L8)
                _dense_adjoint_one(x, d, left, rows, first, residual, P, c + 8, flat, L4)
        elif P - c == 4:
            _dense_adjoint_columns(x, d, rows, first, later, residual, P, c, flat, L4)
