"""Label sequences with one table of transitions: Viterbi, forward–backward and its derivative, on vectors.

A lattice has a row of K labels for each of L positions, node scores S_t(b) and transition scores e(a, b):

    max_   V_t(a) = S_t(a) + max_b [ e(a, b) + V_{t+1}(b) ]
    sum_   α_t(b) = s_t(b) Σ_a α_{t−1}(a) E(a, b)            s_t = exp(S_t − max S_t)
           β_t(a) = Σ_b E(a, b) s_{t+1}(b) β_{t+1}(b)          E = exp(e − max e)

Rows are held in P ≥ K lanes, tables in (P, P), both flat; lanes beyond K are −inf before exp and 0 after it.
P is a multiple of len(LANES), the lanes worked on together; ``width`` chooses both.

Each function works on one sequence, in memory of the caller's: a kernel that gathers scores and scatters
residuals calls them in between (exp_rows, forward, backward, expected, transitions). ``sequences`` has the
loops over many.

*Scale.* α_t is divided by the sum of the row before it, c_{t−1}: a division off the critical path. β is
divided by the same numbers, so that Σ_a α_t(a) β_t(a) = 1 at every t, and no row of β needs a sum.

*Range.* A label that is allowed never has an α below a floor, so α errs upwards; in β what underflows is 0,
so β errs downwards. Where they agree, Σ α_t β_t = 1, nothing was lost. Where they do not (a path that starts
badly, wins later and cannot be joined in between), ``backward`` says so, and the caller turns to ``lattice``,
which works in logarithms.

Rabiner 1989 (Proceedings of the IEEE 77), sections III and V, for the recursions and their scaling.
"""

import numpy as np

from .compile import kernel
from .simd import (
    Lanes,
    add,
    divide,
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
    store,
    times,
    total,
    zeros,
)

__all__ = [
    "backward",
    "bounds",
    "curvature_rows",
    "exp_rows",
    "expected",
    "forward",
    "tables",
    "transitions",
    "viterbi",
    "width",
]

REGISTERS = 11  # of 32 bytes, taken by the lanes of one sum: 16 less what else is needed


def width(K, itemsize):
    """(LANES, P): the lanes worked on together and the length of a row, for K labels.

    >>> from argmax.kernels.chain import width
    >>> [(len(lanes), P) for lanes, P in (width(22, 4), width(22, 8), width(100, 4))]
    [(24, 24), (24, 24), (56, 112)]
    """
    eights = -(-K // 8)  # few widths, as each one is compiled by itself
    tiles = -(-eights // (32 * REGISTERS // (8 * itemsize)))
    count = -(-eights // tiles) * 8
    return Lanes(count), count * tiles


@kernel
def bounds(s):
    """floor: the least α of a label that is allowed; cut: the least probability; slack: of Σ α β = 1."""
    if s.itemsize == 4:
        floor, cut, slack = 1e-37, 1e-18, 1e-4
    else:
        floor, cut, slack = 5e-305, 1e-150, 1e-9
    return s.dtype.type(floor), s.dtype.type(cut), s.dtype.type(slack)


@kernel
def tables(edge, E, Et):
    """E = exp(e − max e) and its transpose. Given e (K, K). Filled E, Et (P, P) flat. Returns max e.

    As in ``simd.exp``, what is not forbidden stays above 0.
    """
    K, P = edge.shape[0], int(np.sqrt(len(E)))
    least, top = -85.0 if E.itemsize == 4 else -700.0, -np.inf
    for at in range(P * P):
        E[at], Et[at] = 0.0, 0.0
    for a in range(K):
        for b in range(K):
            top = max(top, edge[a, b])
    for a in range(K):
        for b in range(K):
            if edge[a, b] != -np.inf:
                E[a * P + b] = np.exp(max(edge[a, b] - top, least))
                if edge[a, b] - top > least:
                    Et[b * P + a] = E[a * P + b]
    return top


# One sequence: sums


@kernel
def exp_rows(s, L, P, LANES):
    """s_t ← exp(s_t − max s_t) at every position. Returns Σ_t max s_t: −inf where no label is allowed."""
    base = 0.0
    for here in range(0, L * P, P):
        top = largest(load(s, here, LANES))
        for k in range(here + len(LANES), here + P, len(LANES)):
            top = max(top, largest(load(s, k, LANES)))
        base += top
        for k in range(here, here + P, len(LANES)):
            store(s, k, exp(plus(-top, load(s, k, LANES))))
    return base


@kernel
def _product(x, at, table, column, K, P, LANES):
    """Σ_i x[at + i] · table[i, column : column + LANES]. Narrow ones in two sums, for speed."""
    y = zeros(x, LANES)
    if len(LANES) > 24:
        for i in range(K):
            y = fma(get(x, at + i), load(table, i * P + column, LANES), y)
        return y
    z = zeros(x, LANES)
    for i in range(0, K, 2):  # an odd K takes in a lane and a row of zeros
        y = fma(get(x, at + i), load(table, i * P + column, LANES), y)
        z = fma(get(x, at + i + 1), load(table, i * P + P + column, LANES), z)
    return add(y, z)


@kernel
def forward(s, E, alpha, inverse, L, K, P, LANES):
    """α_t = s_t ⊙ Eᵀ α_{t−1} / c_{t−1}, c_t = Σ_b α_t(b). Given s (L, P), E (P, P).

    Filled alpha (L, P), inverse (L,) = 1 / c_t. Returns log Π_t c_t: log Z but for the maxima subtracted.
    """
    floor, _, _ = bounds(s)
    least = plus(floor, zeros(s, LANES))
    one, c, mass, logs = s.dtype.type(1), s.dtype.type(0), 1.0, 0.0
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
        r, here = one / c, t * P
        inverse[t - 1], c = r, s.dtype.type(0)
        for k in range(here, here + P, len(LANES)):
            x = load(s, k, LANES)
            a = times(r, mul(x, _product(alpha, here - P, E, k - here, K, P, LANES)))
            a = maximum(minimum(x, least), a)  # forbidden labels have x = 0 and stay there
            store(alpha, k, a)
            c += total(a)
    inverse[L - 1] = one / c
    return logs + np.log(mass) + np.log(np.float64(c))


@kernel
def backward(s, Et, alpha, inverse, beta, L, K, P, LANES):
    """β_t = E γ_{t+1}, γ_t = s_t ⊙ β_t / c_t, u_t = α_t / c_t. Given s, what ``forward`` left, Et (P, P).

    Filled beta (L, P), 1 at the end; s becomes γ and alpha becomes u:
    P(y_t = a) = u_t(a) β_t(a),   P(y_t = a, y_{t+1} = b) = u_t(a) E(a, b) γ_{t+1}(b).
    Returns whether Σ_a P(y_t = a) = 1 at every 32nd position; rounding is put right there too.
    """
    floor, _, slack = bounds(s)
    here, r, fine = (L - 1) * P, inverse[L - 1], True
    nothing = zeros(s, LANES)
    for k in range(here, here + P, len(LANES)):
        store(beta, k, plus(1, nothing))
        store(alpha, k, times(r, load(alpha, k, LANES)))
        store(s, k, times(r, maximum(nothing, plus(-2 * floor, load(s, k, LANES)))))
    one = right = s.dtype.type(1)
    for t in range(L - 2, -1, -1):
        here, r, right = t * P, inverse[t] * right, one
        for k in range(here, here + P, len(LANES)):
            y = _product(s, here + P, Et, k - here, K, P, LANES)
            store(beta, k, y)
            store(alpha, k, times(r, load(alpha, k, LANES)))
            x = maximum(nothing, plus(-2 * floor, load(s, k, LANES)))  # 0 where exp stayed above
            store(s, k, times(r, mul(x, y)))
        if t % 32 == 0:
            q = s.dtype.type(0)
            for k in range(here, here + P, len(LANES)):
                both = mul(load(alpha, k, LANES), load(beta, k, LANES))
                q += total(both) if t else total(load(s, k, LANES))  # s: nothing of it errs upwards
            fine &= abs(q - one) < slack
            right = one / q
    return fine


@kernel
def transitions(u, g, T, L, K, P, LANES):
    """T(a, b) += Σ_t u_t(a) g_{t+1}(b). With what ``backward`` left, E ⊙ T are the expected transitions."""
    end = (L - 1) * P
    if len(LANES) > 24:
        for a in range(K):
            for k in range(0, P, len(LANES)):
                y = load(T, a * P + k, LANES)
                for t in range(0, end, P):
                    y = fma(get(u, t + a), load(g, t + P + k, LANES), y)
                store(T, a * P + k, y)
        return
    for a in range(0, K, 2):
        for k in range(0, P, len(LANES)):
            at = a * P + k
            y, z = load(T, at, LANES), load(T, at + P, LANES)
            for t in range(0, end, P):
                x = load(g, t + P + k, LANES)
                y = fma(get(u, t + a), x, y)
                z = fma(get(u, t + a + 1), x, z)
            store(T, at, y)
            store(T, at + P, z)


@kernel
def expected(u, beta, weight, L, P, LANES):
    """beta ← weight · P(y_t = a), 0 where it is tiny; u ← weight · u. Given what ``backward`` left."""
    _, cut, _ = bounds(u)
    nothing = zeros(u, LANES)
    for k in range(0, L * P, len(LANES)):
        a = load(u, k, LANES)
        p = maximum(nothing, plus(-cut, mul(a, load(beta, k, LANES))))
        store(beta, k, times(weight, p))
        store(u, k, times(weight, a))


# One sequence: the derivative of the marginals


@kernel
def _futures(g, u, beta, Et, Dt, v, h, bend, L, K, P, LANES):
    """future_t of ``curvature_rows`` into bend; v becomes x, centred as only differences count; h = γ ⊙ x."""
    floor, _, _ = bounds(g)
    least = plus(floor, zeros(g, LANES))
    for t in range(L - 2, -1, -1):
        here, ahead, mean = t * P, t * P + P, g.dtype.type(0)
        for k in range(ahead, ahead + P, len(LANES)):
            store(h, k, mul(load(g, k, LANES), load(v, k, LANES)))
        for k in range(here, here + P, len(LANES)):
            y = _product(h, ahead, Et, k - here, K, P, LANES)
            y = add(y, _product(g, ahead, Dt, k - here, K, P, LANES))
            b = load(beta, k, LANES)
            future = divide(y, maximum(b, least))
            store(bend, k, future)
            mean += total(mul(mul(load(u, k, LANES), b), future))
        for k in range(here, here + P, len(LANES)):
            store(v, k, add(load(v, k, LANES), plus(-mean, load(bend, k, LANES))))


@kernel
def _start(u, beta, v, weight, L, P, LANES):
    """v_0 −= Σ_a p_0(a) v_0(a), and then u ← weight · u."""
    mean = u.dtype.type(0)
    for k in range(0, P, len(LANES)):
        mean += total(mul(mul(load(u, k, LANES), load(beta, k, LANES)), load(v, k, LANES)))
    for k in range(0, P, len(LANES)):
        store(v, k, plus(-mean, load(v, k, LANES)))
    for k in range(0, L * P, len(LANES)):
        store(u, k, times(weight, load(u, k, LANES)))


@kernel
def curvature_rows(g, u, beta, E, Et, D, Dt, v, h, bend, weight, out, T, T1, L, K, P, LANES):
    """weight × the change of all marginals when the scores move along v (nodes) and d (transitions).

    With P_t(b|a) = E(a, b) γ_{t+1}(b) / β_t(a), the chain from left to right, and x_t = v_t + future_t:

        future_t(a) = Σ_b P_t(b|a) [ d(a, b) + x_{t+1}(b) ]                    from the last to the first
        ∂P_t(b|a)   = P_t(b|a) [ d(a, b) + x_{t+1}(b) − future_t(a) ]
        ∂p_{t+1}(b) = Σ_a ∂p_t(a) P_t(b|a) + p_t(a) ∂P_t(b|a)                  from the first to the last

    Given γ, u, β of ``backward``; E, D = E ⊙ d and their transposes (P, P); v (L, P), the direction. Filled
    out (L, P): ∂p. Used up: u, v, h, bend (L, P). Added to T, T1 (P, P): the expected transitions change by
    E ⊙ T1 + D ⊙ T. Forward-mode differentiation: Tsuboi, Unno, Kashima and Okazaki 2011 (AAAI).
    """
    floor, _, _ = bounds(g)
    least = plus(floor, zeros(g, LANES))
    _futures(g, u, beta, Et, Dt, v, h, bend, L, K, P, LANES)
    _start(u, beta, v, weight, L, P, LANES)
    for t in range(L):
        here, before = t * P, t * P - P
        for k in range(here, here + P, len(LANES)):
            a = load(u, k, LANES)
            p = mul(a, load(beta, k, LANES))
            change = mul(p, load(v, k, LANES))
            if t > 0:
                y = _product(bend, before, E, k - here, K, P, LANES)
                y = add(y, _product(u, before, D, k - here, K, P, LANES))
                change = add(change, mul(load(g, k, LANES), y))
            store(out, k, change)
            if t < L - 1:  # bend ← u (∂p / p − future)
                ratio = divide(change, maximum(p, least))
                store(bend, k, mul(a, add(ratio, times(-1, load(bend, k, LANES)))))
    transitions(bend, g, T1, L, K, P, LANES)
    transitions(u, h, T1, L, K, P, LANES)
    transitions(u, g, T, L, K, P, LANES)


# One sequence: maxima


@kernel
def _best(x, at, table, column, K, P, LANES):
    """max_i x[at + i] + table[i, column : column + LANES]"""
    y = plus(get(x, at), load(table, column, LANES))
    if len(LANES) > 24:
        for i in range(1, K):
            y = maximum(plus(get(x, at + i), load(table, i * P + column, LANES)), y)
        return y
    z = plus(get(x, at + 1), load(table, P + column, LANES))
    for i in range(2, K, 2):  # an odd K takes in a lane of −inf
        y = maximum(plus(get(x, at + i), load(table, i * P + column, LANES)), y)
        z = maximum(plus(get(x, at + i + 1), load(table, i * P + P + column, LANES)), z)
    return maximum(y, z)


@kernel
def viterbi(s, M, Mt, labels, L, K, P, LANES):
    """The best path, of equals the first in lexicographic order. Given s (L, P) = S, M = e, Mt = eᵀ (P, P).

    Filled labels (L,); s becomes V. Returns the score of the path. No pointers are kept: from the last
    position to the first only maxima are stored, and the way back finds each argmax from one row.
    """
    base = 0.0
    for t in range(L - 2, -1, -1):
        here, best = t * P, s.dtype.type(-np.inf)
        for k in range(here, here + P, len(LANES)):
            x = add(load(s, k, LANES), _best(s, here + P, Mt, k - here, K, P, LANES))
            store(s, k, x)
            if t % 16 == 0:
                best = max(best, largest(x))
        if abs(best) < np.inf:  # keep V small, and so precise
            base += best
            for k in range(here, here + P, len(LANES)):
                store(s, k, plus(-best, load(s, k, LANES)))
    value, label = s.dtype.type(-np.inf), 0
    for k in range(0, P, len(LANES)):
        x = load(s, k, LANES)
        top = largest(x)
        if top > value:
            value, label = top, k + first_equal(x, top)
    labels[0] = label
    for t in range(1, L):
        row, best, label = label * P, s.dtype.type(-np.inf), 0
        for k in range(0, P, len(LANES)):
            x = add(load(M, row + k, LANES), load(s, t * P + k, LANES))
            top = largest(x)
            if top > best:
                best, label = top, k + first_equal(x, top)
        labels[t] = label
    return base + value
