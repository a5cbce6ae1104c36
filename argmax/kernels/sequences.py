"""Label sequences with one table of transitions, many at a time: loops around ``chain`` and ``triples``.

Given everywhere: node (N, K), offsets (n+1,), the sequences first … last−1 to work on, and flat tables of
``chain.tables`` or ``triples.tables``. Where a sequence is not ``fine``, its value, rows and transitions are
left to ``lattice``.

An array of transitions e(a, b) or e(a, b, c), given or filled, has two axes for order 1, three for order 2. A
test of ``ndim`` is settled when a kernel is compiled: each order is compiled without the other.
"""

import numpy as np

from . import triples
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
from .simd import largest, load, maximum, minimum, mul, store, times

__all__ = [
    "add_transitions",
    "argmax",
    "best_path",
    "curvature",
    "flush",
    "logz",
    "longest_of",
    "marginals",
    "memory",
    "messages",
    "neighbours",
    "squared_neighbours",
    "sums",
]

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
    """edge += E ⊙ T, T ← 0. Given E, T flat. Filled edge (K, K), or (K+1, K, K) for order 2."""
    if edge.ndim == 3:
        triples.flush(E, T, edge)
        return
    K, P = len(edge), int(np.sqrt(len(E)))
    for a in range(K):
        for b in range(K):
            edge[a, b] += E[a * P + b] * np.float64(T[a * P + b])
            T[a * P + b] = 0.0


@kernel
def memory(edge, longest, K, P, like):
    """What ``sums`` works in: α, for order 2 γ, and 1/c. Given ``edge`` of that order and a like array."""
    if edge.ndim == 3:
        size = longest * K * P
        return np.empty(size, like.dtype), np.empty(size, like.dtype), np.empty(longest, like.dtype)
    none = np.empty(0, like.dtype)
    return np.empty(longest * P, like.dtype), none, np.empty(longest, like.dtype)


@kernel
def sums(s, E, Et, top, weight, room, p, edge, L, K, P, LANES):
    """log Z of one sequence, or NaN if it lost its footing. Given ``room`` of ``memory``, ``edge`` as there.

    Filled p (L, P): weight · marginals. Used up: s. Left for ``neighbours``: s and room.
    """
    alpha, gamma, inverse = room
    value = exp_rows(s, L, P, LANES) + (L - 1) * top
    if edge.ndim == 3:
        value += triples.forward(s, E, alpha, inverse, L, K, P, LANES)
        fine = triples.backward(s, Et, alpha, inverse, weight, gamma, p, L, K, P, LANES)
    else:
        value += forward(s, E, alpha, inverse, L, K, P, LANES)
        fine = backward(s, Et, alpha, inverse, p, L, K, P, LANES)
        if fine:
            expected(alpha, p, weight, L, P, LANES)
    return value if fine and np.isfinite(value) else np.nan


@kernel
def neighbours(s, E, room, T, edge, L, K, P, LANES):
    """T += the expected transitions that ``sums`` left, but for E; now and then ``flush``."""
    for t in range(0, L - 1, FLUSH):
        some = min(FLUSH + 1, L - t)
        add_transitions(s, room, T, edge, t, some, K, P, LANES)
        if some == FLUSH + 1:
            flush(E, T, edge)


@kernel
def add_transitions(s, room, T, edge, t, some, K, P, LANES):
    """The same between ``some`` positions from t on."""
    alpha, gamma, _ = room
    if edge.ndim == 3:
        triples.transitions(alpha, gamma, T, t, t + some, K, P, LANES)
    else:
        transitions(alpha[t * P :], s[t * P :], T, some, K, P, LANES)


@kernel
def squared_neighbours(s, share, room, edge, L, K, P, LANES):
    """What ``sums`` left, squared, and its first factor times ``share``: for Σ_t p_t² of the transitions."""
    alpha, gamma, _ = room
    g, size = (gamma, L * K * P) if edge.ndim == 3 else (s, L * P)
    for k in range(0, size, len(LANES)):
        u, x = load(alpha, k, LANES), load(g, k, LANES)
        store(alpha, k, times(share, mul(u, u)))
        store(g, k, mul(x, x))


@kernel
def best_path(s, M, Mt, V, labels, L, K, P, LANES):
    """``viterbi`` of either order. Given M (P, P) flat, or for order 2 (K+1, K, K), and V (L, K, P) flat."""
    if M.ndim == 3:
        return triples.viterbi(s, Mt, V, labels, L, K, P, LANES)
    return viterbi(s, M, Mt, labels, L, K, P, LANES)


@kernel
def messages(M, longest, K, P):
    """V of ``best_path``."""
    return np.empty(longest * K * P if M.ndim == 3 else 0, M.dtype)


@kernel
def argmax(node, M, Mt, offsets, first, last, labels, value, LANES):
    """The best paths and their scores. Given M = e and Mt, flat or as in ``best_path``.

    Filled labels (N,), value (n,).
    """
    K = node.shape[1]
    P = -(-K // len(LANES)) * len(LANES)
    flat, real = node.ravel(), _real(K, P, node)
    longest = longest_of(offsets, first, last)
    s, V = np.empty(longest * P, node.dtype), messages(M, longest, K, P)
    for i in range(first, last):
        start, L = offsets[i], offsets[i + 1] - offsets[i]
        value[i] = 0.0
        if L and _fill(flat, start, L, real, s, K, P, LANES):
            value[i] = best_path(s, M, Mt, V, labels[start:], L, K, P, LANES)
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
    """log Z and weighted marginals. Given E, Et, top = max e, weight (n,) or a single 1.

    Filled out (N, K), value (n,), fine (n,); added to edge (K, K) or (K+1, K, K), unless it is empty.
    """
    K, step = node.shape[1], 0 if len(weight) == 1 else 1
    P = -(-K // len(LANES)) * len(LANES)
    flat, rows, real = node.ravel(), out.ravel(), _real(K, P, node)
    longest = longest_of(offsets, first, last)
    s, p = np.empty(longest * P, node.dtype), np.empty(longest * P, node.dtype)
    room, T, waiting = memory(edge, longest, K, P, node), np.zeros(len(Et), node.dtype), 0
    for i in range(first, last):
        start, L, w = offsets[i], offsets[i + 1] - offsets[i], node.dtype.type(weight[i * step])
        value[i], fine[i] = 0.0, True
        if not L:
            continue
        _fill(flat, start, L, real, s, K, P, LANES)
        value[i] = sums(s, E, Et, top, w, room, p, edge, L, K, P, LANES)
        fine[i] = value[i] == value[i]
        if not fine[i]:
            continue
        _empty(p, start, L, K, P, rows, LANES)
        if len(edge):
            neighbours(s, E, room, T, edge, L, K, P, LANES)
            waiting += L
            if waiting > FLUSH:
                flush(E, T, edge)
                waiting = 0
    if len(edge):
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
