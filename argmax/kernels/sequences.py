"""Label sequences with one table of transitions, many at a time: the loops around the pieces of ``chain``.

Given everywhere: node (N, K), offsets (n+1,), the sequences first … last−1 to work on, and tables (P, P) of
``chain.tables``. Where a sequence is not ``fine``, its value, rows and transitions are left to ``lattice``.
"""

import numpy as np

from .chain import (
    backward,
    curvature_rows,
    exp_rows,
    expected,
    forward,
    transitions,
    viterbi,
)
from .compile import kernel
from .simd import largest, load, maximum, minimum, store

__all__ = ["argmax", "curvature", "flush", "logz", "longest_of", "marginals"]

FLUSH = 4096  # positions whose transitions are added up in the dtype of the scores


@kernel
def longest_of(offsets, first, last):
    """The length of the longest of these sequences."""
    longest = 0
    for i in range(first, last):
        longest = max(longest, offsets[i + 1] - offsets[i])
    return longest


@kernel
def _real(K, P, like):
    """+inf in the K lanes of labels, −inf in the others."""
    row = np.empty(P, like.dtype)
    for c in range(P):
        row[c] = np.inf if c < K else -np.inf
    return row


@kernel
def _fill(node, first, L, real, s, K, P, LANES):
    """Rows first … first+L−1 of flat node (N, K) into s (L, P), lanes beyond K −inf; NaN becomes +inf.

    Given ``real`` (P,), see there. Returns whether all scores are below +inf.
    """
    top = load(s, 0, LANES)
    for t in range(L):
        at, here = (first + t) * K, t * P
        if at + P > len(node):  # a vector would read beyond the end
            for c in range(P):
                s[here + c] = real[c]
            for c in range(K):
                s[here + c] = node[at + c] if node[at + c] < np.inf else np.inf
        for k in range(0, P, len(LANES)):
            if at + P <= len(node):
                store(s, here + k, minimum(load(node, at + k, LANES), load(real, k, LANES)))
            x = load(s, here + k, LANES)
            top = x if t + k == 0 else maximum(x, top)
    return largest(top) < np.inf


@kernel
def _empty(s, first, L, K, P, out, LANES):
    """s (L, P) into rows first … first+L−1 of flat out (N, K), and nowhere else."""
    end = (first + L) * K
    for t in range(L):
        at, here = (first + t) * K, t * P
        if at + P <= end:
            for k in range(0, P, len(LANES)):
                store(out, at + k, load(s, here + k, LANES))
        else:
            for c in range(K):
                out[at + c] = s[here + c]


@kernel
def flush(E, T, edge):
    """edge += E ⊙ T, T ← 0. Given E, T (P, P) flat. Filled edge (K, K)."""
    K, P = len(edge), int(np.sqrt(len(E)))
    for a in range(K):
        for b in range(K):
            edge[a, b] += E[a * P + b] * np.float64(T[a * P + b])
            T[a * P + b] = 0.0


@kernel
def argmax(node, M, Mt, offsets, first, last, labels, value, LANES):
    """The best paths and their scores. Given M = e, Mt (P, P). Filled labels (N,), value (n,)."""
    K = node.shape[1]
    P = -(-K // len(LANES)) * len(LANES)
    flat, real = node.ravel(), _real(K, P, node)
    s = np.empty(longest_of(offsets, first, last) * P, node.dtype)
    for i in range(first, last):
        start, L = offsets[i], offsets[i + 1] - offsets[i]
        value[i] = 0.0
        if L and _fill(flat, start, L, real, s, K, P, LANES):
            value[i] = viterbi(s, M, Mt, labels[start:], L, K, P, LANES)
        elif L:
            value[i] = np.nan


@kernel
def logz(node, E, top, offsets, first, last, value, LANES):
    """value_i = log Z, forward only: for tables where no transition is forbidden or far below the others."""
    K = node.shape[1]
    P = -(-K // len(LANES)) * len(LANES)
    flat, real, longest = node.ravel(), _real(K, P, node), longest_of(offsets, first, last)
    s, alpha = np.empty(longest * P, node.dtype), np.empty(longest * P, node.dtype)
    inverse = np.empty(longest, node.dtype)
    for i in range(first, last):
        start, L = offsets[i], offsets[i + 1] - offsets[i]
        value[i] = 0.0
        if L:
            _fill(flat, start, L, real, s, K, P, LANES)
            value[i] = exp_rows(s, L, P, LANES) + (L - 1) * top
            value[i] += forward(s, E, alpha, inverse, L, K, P, LANES)


@kernel
def marginals(node, E, Et, top, offsets, first, last, weight, out, edge, value, fine, LANES):
    """log Z and weighted marginals. Given E, Et (P, P), top = max e, weight (n,) or a single 1.

    Filled out (N, K), value (n,), fine (n,); added to edge (K, K), unless it is empty.
    """
    K, step = node.shape[1], 0 if len(weight) == 1 else 1
    P = -(-K // len(LANES)) * len(LANES)
    flat, rows, real = node.ravel(), out.ravel(), _real(K, P, node)
    longest = longest_of(offsets, first, last)
    s, alpha = np.empty(longest * P, node.dtype), np.empty(longest * P, node.dtype)
    beta, inverse = np.empty(longest * P, node.dtype), np.empty(longest, node.dtype)
    T, waiting = np.zeros(P * P, node.dtype), 0
    for i in range(first, last):
        start, L = offsets[i], offsets[i + 1] - offsets[i]
        value[i], fine[i] = 0.0, True
        if not L:
            continue
        _fill(flat, start, L, real, s, K, P, LANES)
        value[i] = exp_rows(s, L, P, LANES) + (L - 1) * top
        value[i] += forward(s, E, alpha, inverse, L, K, P, LANES)
        fine[i] = backward(s, Et, alpha, inverse, beta, L, K, P, LANES)
        fine[i] &= np.isfinite(value[i])
        if not fine[i]:
            continue
        expected(alpha, beta, node.dtype.type(weight[i * step]), L, P, LANES)
        _empty(beta, start, L, K, P, rows, LANES)
        if len(edge):
            for t in range(0, L - 1, FLUSH):
                some = min(FLUSH + 1, L - t)
                transitions(alpha[t * P :], s[t * P :], T, some, K, P, LANES)
                waiting += some
                if waiting > FLUSH:
                    flush(E, T, edge)
                    waiting = 0
    flush(E, T, edge)


@kernel
def curvature(
    node, move, E, Et, D, Dt, top, offsets, first, last, weight, out, edge, value, fine, LANES
):
    """The weighted change of the marginals along ``move`` (N, K) and d. Given E, Et, D = E ⊙ d, Dt (P, P).

    Filled out (N, K), value (n,): log Z, fine (n,); added to edge (K, K), unless it is empty. See
    ``chain.curvature_rows``.
    """
    K, step = node.shape[1], 0 if len(weight) == 1 else 1
    P = -(-K // len(LANES)) * len(LANES)
    flat, moves, rows = node.ravel(), move.ravel(), out.ravel()
    real, longest = _real(K, P, node), longest_of(offsets, first, last)
    s, alpha = np.empty(longest * P, node.dtype), np.empty(longest * P, node.dtype)
    beta, inverse = np.empty(longest * P, node.dtype), np.empty(longest, node.dtype)
    v, h = np.zeros(longest * P, node.dtype), np.empty(longest * P, node.dtype)
    bend, change = np.empty(longest * P, node.dtype), np.empty(longest * P, node.dtype)
    T, T1, waiting = np.zeros(P * P, node.dtype), np.zeros(P * P, node.dtype), 0
    for i in range(first, last):
        start, L = offsets[i], offsets[i + 1] - offsets[i]
        value[i], fine[i] = 0.0, True
        if not L:
            continue
        _fill(flat, start, L, real, s, K, P, LANES)
        value[i] = exp_rows(s, L, P, LANES) + (L - 1) * top
        value[i] += forward(s, E, alpha, inverse, L, K, P, LANES)
        fine[i] = backward(s, Et, alpha, inverse, beta, L, K, P, LANES)
        fine[i] &= np.isfinite(value[i])
        if not fine[i]:
            continue
        for t in range(L):
            for c in range(K):
                v[t * P + c] = moves[(start + t) * K + c]
        w = node.dtype.type(weight[i * step])
        curvature_rows(
            s, alpha, beta, E, Et, D, Dt, v, h, bend, w, change, T, T1, L, K, P, LANES
        )  # fmt: skip
        _empty(change, start, L, K, P, rows, LANES)
        waiting += L
        if waiting > FLUSH:
            flush(E, T1, edge)
            flush(D, T, edge)
            waiting = 0
    flush(E, T1, edge)
    flush(D, T, edge)
