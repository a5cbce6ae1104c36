"""Label sequences whose transitions see two labels back: Viterbi and forward–backward, on vectors.

A lattice has node scores S_t(b) and scores e(a, b, c) of label c behind b behind a. Before the first
transition of a sequence there is one label only: a = K stands for START there, and e is (K+1, K, K).

    max_   V_t(a, b) = S_t(b) + max_c [ e(a, b, c) + V_{t+1}(b, c) ]
    sum_   α_t(b, c) = s_t(c) Σ_a α_{t−1}(a, b) E(a, b, c)                 s_t = exp(S_t − max S_t)
           β_t(a, b) = Σ_c E(a, b, c) s_{t+1}(c) β_{t+1}(b, c)              E = exp(e − max e)

For every b in the middle that is the product of a vector and a K × K table, so a position takes 3 K³
multiply-adds. The label that an inner loop runs over lies in P ≥ K lanes (see ``chain``). It is another one
in each recursion, so none of them reads a table in the order of another:

    α (L, K, P)        place t, a, b          E            (K, K, P)   place b, a, c   START: b, c behind it
    γ, V (L, K, P)     place t, b, a          Eᵗ, Mᵗ       (K, K, P)   place b, c, a   START: c, b behind it
                                              T            (K, K, P)   place a, c, b   START: c, b behind it

All are flat. Position 0 has single labels b: the first row of α, and nothing in γ and V. Scale and range are
those of ``chain``: α errs upwards, β downwards, and where they do not agree the caller turns to ``lattice``.
A pair of labels that no table allows has no α at all.
"""

from typing import Any

import numpy as np

from .chain import bounds
from .compile import kernel
from .simd import (
    add,
    exp,
    first_equal,
    fma,
    get,
    largest,
    load,
    maximum,
    minimum,
    mul,
    plus,
    put,
    store,
    times,
    total,
    zeros,
)

__all__ = [
    "backward",
    "descend",
    "exp_tables",
    "forward",
    "place",
    "tables",
    "transitions",
    "turned",
    "turned_back",
    "viterbi",
]


# Tables, in the order in which they are read


def tables(edge: Any, P: int, dtype: Any) -> tuple[Any, Any, float]:
    """E with the pairs that are allowed behind it, Eᵗ, and max e: exp(e − max e) of edge e (K+1, K, K).

    As in ``chain.tables``, what is not forbidden stays above 0 in E, and what is far below the others is 0 in
    Eᵗ. Allowed pairs (b, c) are 1, others 0: of all positions but the second one, and of that one.
    """
    K, least = edge.shape[1], -85.0 if np.dtype(dtype).itemsize == 4 else -700.0
    top = edge.max()
    apart = edge - top if top > -np.inf else edge
    E = np.where(edge > -np.inf, np.exp(np.maximum(apart, least)), 0.0)
    rows = np.zeros((K * K + 3 * K, P), dtype)
    rows[: K * K, :K] = E[:K].swapaxes(0, 1).reshape(-1, K)
    rows[K * K : -2 * K, :K] = E[K]
    rows[-2 * K : -K, :K] = (E[:K] > 0).any(axis=0)
    rows[-K:, :K] = E[K] > 0
    return rows.ravel(), turned(np.where(apart > least, E, 0.0), P, dtype, 0.0), float(top)


def turned(edge: Any, P: int, dtype: Any, beyond: float) -> Any:
    """Eᵗ or Mᵗ of a table (K+1, K, K), with a value for lanes beyond K."""
    K = edge.shape[1]
    rows = np.full((K * K + K, P), beyond, dtype)
    rows[: K * K, :K] = edge[:K].transpose(1, 2, 0).reshape(-1, K)
    rows[K * K :, :K] = edge[K].T
    return rows.ravel()


def turned_back(rows: Any, K: int) -> Any:
    """The table (K+1, K, K) of which ``rows`` is Mᵗ: the opposite of ``turned``."""
    blocks = rows.reshape(K + 1, K, -1)[:, :, :K]
    return np.concatenate([blocks[:K].transpose(2, 0, 1), blocks[K:].swapaxes(1, 2)])


@kernel
def place(labels, start, t, K, P):
    """Where e of the transition from position t − 1 to t is in Mᵗ."""
    b, c = labels[start + t - 1], labels[start + t]
    if t == 1:
        return (K * K + c) * P + b
    return (b * K + c) * P + labels[start + t - 2]


@kernel
def exp_tables(M, scale, E, Et, K, P, LANES):
    """``tables`` of scale · e. Given Mᵗ flat. Filled E and Eᵗ. Returns max scale · e."""
    top, size = M.dtype.type(-np.inf), K * P
    for k in range(0, len(M), len(LANES)):
        top = max(top, largest(load(M, k, LANES)))
    top *= scale
    for k in range(0, len(M), len(LANES)):
        store(Et, k, exp(plus(-top, times(scale, load(M, k, LANES)))))
    for b in range(K):
        for c in range(K):
            some = Et.dtype.type(0)
            for a in range(K):
                x = get(Et, b * size + c * P + a)
                put(E, b * size + a * P + c, x)
                some = max(some, x)
            x = get(Et, K * size + c * P + b)
            put(E, K * size + b * P + c, x)
            put(E, (K + 1) * size + b * P + c, E.dtype.type(some > 0))
            put(E, (K + 2) * size + b * P + c, E.dtype.type(x > 0))
    return top


@kernel
def descend(M, factor, Et, T, K, P):
    """Mᵗ += factor · Eᵗ ⊙ Tᵗ, T ← 0."""
    size = K * P
    for c in range(K):
        for b in range(K):
            here, there = b * size + c * P, c * P + b
            for a in range(K):
                x = factor * get(Et, here + a) * get(T, there + a * size)
                put(M, here + a, get(M, here + a) + x)
            here = K * size + there
            put(M, here, get(M, here) + factor * get(Et, here) * get(T, here))
    T[:] = 0.0


# One sequence: sums


@kernel
def _product(x, at, table, row, K, P, LANES):
    """Σ_i x[at + i P] · table[row + i P : row + i P + LANES]. Narrow ones in two sums, for speed."""
    y = zeros(x, LANES)
    if len(LANES) > 24:
        for i in range(0, K * P, P):
            y = fma(get(x, at + i), load(table, row + i, LANES), y)
        return y
    z = zeros(x, LANES)
    if K & 1:
        z = fma(get(x, at), load(table, row, LANES), z)
        at, row = at + P, row + P
    for i in range(0, (K - (K & 1)) * P, 2 * P):
        y = fma(get(x, at + i), load(table, row + i, LANES), y)
        z = fma(get(x, at + i + P), load(table, row + i + P, LANES), z)
    return add(y, z)


@kernel
def forward(s, E, alpha, inverse, L, K, P, LANES):
    """α_t(b, c) = s_t(c) Σ_a α_{t−1}(a, b) E(a, b, c) / c_{t−1}, c_t = Σ α_t. Given s (L, P) and E.

    Filled alpha (L, K, P), inverse (L,) = 1 / c_t. Returns log Π_t c_t: log Z but for the maxima subtracted.
    """
    floor, _, _ = bounds(s)
    one, c, mass, logs = s.dtype.type(1), s.dtype.type(0), 1.0, 0.0
    size, first, allowed = K * P, K * K * P, (K * K + K) * P
    for k in range(0, P, len(LANES)):
        a = load(s, k, LANES)
        store(alpha, k, a)
        c += total(a)
    for t in range(1, L):
        grown = mass * np.float64(c)
        if 1e-200 < grown < 1e200:  # one logarithm for many c
            mass = grown
        else:
            logs += np.log(mass) + np.log(np.float64(c))
            mass = 1.0
        r, here = one / c, t * size
        inverse[t - 1], c = r, s.dtype.type(0)
        may = allowed if t > 1 else allowed + size
        for k in range(0, P, len(LANES)):
            x, over = load(s, t * P + k, LANES), zeros(s, LANES)
            scaled = times(r, x)
            for b in range(K):
                row = b * P + k
                if t == 1:
                    y = times(get(alpha, b), load(E, first + row, LANES))
                else:
                    y = _product(alpha, here - size + b, E, b * size + k, K, P, LANES)
                least = minimum(x, times(floor, load(E, may + row, LANES)))
                a = maximum(least, mul(scaled, y))
                store(alpha, here + row, a)
                over = add(over, a)
            c += total(over)
    inverse[L - 1] = one / c
    return logs + np.log(mass) + np.log(np.float64(c))


@kernel
def _meet(alpha, beta, at, b, K, P):
    """Σ_a α(a, b) β(a, b) at one position."""
    y, z, row = alpha.dtype.type(0), alpha.dtype.type(0), at + b * P
    if K & 1:
        y = get(alpha, at + b) * get(beta, row)
    for a in range(K & 1, K, 2):
        y += get(alpha, at + a * P + b) * get(beta, row + a)
        z += get(alpha, at + a * P + P + b) * get(beta, row + a + 1)
    return y + z


@kernel
def backward(s, Et, alpha, inverse, weight, gamma, p, L, K, P, LANES):
    """β_t(a, b) = Σ_c E(a, b, c) γ_{t+1}(b, c), γ_t(a, b) = s_t(b) β_t(a, b) / c_{t−1}; β = 1 / c at the end.

    Given s (L, P), what ``forward`` left, Eᵗ of ``tables``. Filled gamma (L, K, P) and p (L, P), weight times
    P(y_t = b) = Σ_a α_t(a, b) β_t(a, b), 0 where that is tiny; alpha becomes weight · α:
    weight · P(y_{t−1} = a, y_t = b, y_{t+1} = c) = α_t(a, b) E(a, b, c) γ_{t+1}(b, c).
    Returns whether Σ_b P(y_t = b) = 1 at every position; rounding is put right there too.
    """
    floor, cut, slack = bounds(s)
    nothing, fine, one, size = zeros(s, LANES), True, s.dtype.type(1), K * P
    for t in range(L - 1, 0, -1):
        here = t * size
        for k in range(0, P, len(LANES)):
            store(p, t * P + k, nothing)
        for b in range(K):
            for k in range(0, P, len(LANES)):
                if t == L - 1:
                    y = plus(inverse[t], nothing)
                else:
                    y = _product(gamma, here + size + b, Et, b * size + k, K, P, LANES)
                store(gamma, here + b * P + k, y)
            put(p, t * P + b, _meet(alpha, gamma, here, b, K, P))
        right = _settle(p, t, cut, weight, P, LANES)
        fine &= abs(right - one) < slack
        r = inverse[t - 1] / right
        for b in range(K):
            x = r * max(get(s, t * P + b) - 2 * floor, s.dtype.type(0))  # 0 where exp stayed above
            for k in range(here + b * P, here + b * P + P, len(LANES)):
                store(gamma, k, times(x, load(gamma, k, LANES)))
        if weight != one:
            for k in range(here, here + size, len(LANES)):
                store(alpha, k, times(weight, load(alpha, k, LANES)))
    for k in range(0, P, len(LANES)):
        y = plus(inverse[0], nothing) if L == 1 else nothing
        for c in range(K if L > 1 else 0):
            at = c * P + k
            y = fma(load(gamma, size + at, LANES), load(Et, K * size + at, LANES), y)
        # Nothing in it errs upwards.
        x = maximum(nothing, plus(-2 * floor, load(s, k, LANES)))
        store(p, k, mul(x, y))
        store(alpha, k, times(weight, load(alpha, k, LANES)))
    right = _settle(p, 0, cut, weight, P, LANES)
    return fine and abs(right - one) < slack


@kernel
def _settle(p, t, cut, weight, P, LANES):
    """Row t of p ← weight · p / Σ p, 0 where p is tiny. Returns Σ p."""
    q, nothing = p.dtype.type(0), zeros(p, LANES)
    for k in range(t * P, t * P + P, len(LANES)):
        q += total(load(p, k, LANES))
    for k in range(t * P, t * P + P, len(LANES)):
        store(p, k, times(weight / q, maximum(nothing, plus(-cut, load(p, k, LANES)))))
    return q


@kernel
def transitions(alpha, gamma, T, first, last, K, P, LANES):
    """T(a, b, c) += Σ_t α_t(a, b) γ_{t+1}(b, c), t = first … last−2. Given what ``backward`` left.

    E ⊙ T are the expected transitions. At t = 0 the first label is START.
    """
    size = K * P
    if first == 0 and last > 1:
        for c in range(K):
            for k in range(0, P, len(LANES)):
                at = c * P + k
                y = load(T, K * size + at, LANES)
                y = fma(load(alpha, k, LANES), load(gamma, size + at, LANES), y)
                store(T, K * size + at, y)
    begin, end = max(first, 1) * size, (last - 1) * size
    for row in range(0, size, P):
        for k in range(0, P, len(LANES)):
            c = 0
            if K & 1:
                y = load(T, row * K + k, LANES)
                for at in range(begin, end, size):
                    x = load(alpha, at + row + k, LANES)
                    y = fma(x, load(gamma, at + size + k, LANES), y)
                store(T, row * K + k, y)
                c = P
            for column in range(c + k, size, 2 * P):
                y = load(T, row * K + column, LANES)
                z = load(T, row * K + column + P, LANES)
                for at in range(begin, end, size):
                    x = load(alpha, at + row + k, LANES)
                    y = fma(x, load(gamma, at + size + column, LANES), y)
                    z = fma(x, load(gamma, at + size + column + P, LANES), z)
                store(T, row * K + column, y)
                store(T, row * K + column + P, z)


@kernel
def flush(E, T, edge):
    """edge += E ⊙ T, T ← 0. Given E, T flat. Filled edge (K+1, K, K)."""
    K = edge.shape[1]
    P, size = len(T) // (K * K + K), len(T) // (K + 1)
    for a in range(K):
        for b in range(K):
            for c in range(K):
                edge[a, b, c] += E[b * size + a * P + c] * np.float64(T[a * size + c * P + b])
    for b in range(K):
        for c in range(K):
            edge[K, b, c] += E[K * size + b * P + c] * np.float64(T[K * size + c * P + b])
    T[:] = 0.0


# One sequence: maxima


@kernel
def _best(x, at, table, row, K, P, LANES):
    """max_i x[at + i P] + table[row + i P : row + i P + LANES]"""
    y = plus(get(x, at), load(table, row, LANES))
    if len(LANES) > 24:
        for i in range(P, K * P, P):
            y = maximum(plus(get(x, at + i), load(table, row + i, LANES)), y)
        return y
    z = y
    if K & 1 == 0:
        z = plus(get(x, at + P), load(table, row + P, LANES))
    odd = 2 - (K & 1)
    for i in range(odd * P, K * P, 2 * P):
        y = maximum(plus(get(x, at + i), load(table, row + i, LANES)), y)
        z = maximum(plus(get(x, at + i + P), load(table, row + i + P, LANES)), z)
    return maximum(y, z)


@kernel
def viterbi(s, Mt, V, labels, L, K, P, LANES):
    """The best path, of equals the first in lexicographic order. Given s (L, P) = S, Mᵗ of ``turned``.

    Filled labels (L,), V (L, K, P). Returns the score of the path. As in ``chain.viterbi``, only maxima are
    kept, and the way back finds each label anew.
    """
    base, size, nothing = 0.0, K * P, zeros(s, LANES)
    for t in range(L - 1, 0, -1):
        here, best = t * size, s.dtype.type(-np.inf)
        for b in range(K):
            x = get(s, t * P + b)
            for k in range(0, P, len(LANES)):
                y = plus(x, nothing)
                if t < L - 1:
                    y = add(y, _best(V, here + size + b, Mt, b * size + k, K, P, LANES))
                store(V, here + b * P + k, y)
                if t % 16 == 0:
                    best = max(best, largest(y))
        if abs(best) < np.inf:  # keep V small, and so precise
            base += best
            for k in range(here, here + size, len(LANES)):
                store(V, k, plus(-best, load(V, k, LANES)))
    value, label = s.dtype.type(-np.inf), 0
    for k in range(0, P, len(LANES)):
        x = load(s, k, LANES)
        if L > 1:
            y = add(load(V, size + k, LANES), load(Mt, K * size + k, LANES))
            for at in range(P + k, size, P):
                y = maximum(add(load(V, size + at, LANES), load(Mt, K * size + at, LANES)), y)
            x = add(x, y)
        top = largest(x)
        if top > value:
            value, label = top, k + first_equal(x, top)
    labels[0], row = label, K * size + label
    for t in range(1, L):
        here, best, following = t * size + label, s.dtype.type(-np.inf), 0
        for c in range(K):
            x = get(V, here + c * P) + get(Mt, row + c * P)
            if x > best:
                best, following = x, c
        row, label = following * size + label, following
        labels[t] = label
    return base + value
