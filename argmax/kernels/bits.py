"""Many binary log losses over shared rows: every bit of a row in one sweep.

Conventions

    code   (k, L)   the bit of each class in each problem: −1, 1, or 0 where the class takes no part
    share  (k, L)   the weight of a class in a problem, 0 where it takes no part
    y      (n,)     the class of each row
    c_il = C · weight_i · share[y_i, l],   m_il = code[y_i, l]
"""

import numpy as np

from .compile import kernel
from .simd import exp_in_place
from .sparse_rows import gather, scatter

__all__ = ["ascend", "evaluate"]

ROWS = 32  # of scores worked on together, in the first-level cache
LOGS = 512  # factors in (1, 2] multiplied before a logarithm is taken: 2^512 is far from overflow


@kernel
def _plain(share, out):
    """out_k: whether class k weighs 0 or 1 in every problem."""
    for k in range(len(share)):
        out[k] = True
        for l in range(share.shape[1]):
            out[k] &= share[k, l] == 0.0 or share[k, l] == 1.0


@kernel
def evaluate(S, code, share, C, y, weight, R, D, value):
    """value_l = Σ_i c_il log(1 + exp(−m_il S_il)), and its derivatives in S_il,

        R_il = −c m σ(−m S),   D_il = c σ(S) σ(−S).

    Given scores S (n, L), weight (n,) or a single 1. Filled R, D (n, P): columns L … P−1 untouched;
    value (L,).

    A logarithm for every entry would cost more than all the rest. Where a row weighs 1 or 0 in every
    problem, only the product of the 1 + exp(−|S|) is kept, and its logarithm taken from time to time.
    """
    n, L = S.shape
    step = 0 if len(weight) == 1 else 1
    E, product, plain = np.empty((ROWS, L)), np.ones(L), np.empty(len(code), np.bool_)
    _plain(share, plain)
    value[:] = 0.0
    pending = 0
    for first in range(0, n, ROWS):
        rows = min(ROWS, n - first)
        for i in range(rows):
            for l in range(L):
                E[i, l] = -abs(S[first + i, l])
        exp_in_place(E[:rows].ravel())
        for i in range(rows):
            at = first + i
            s, k = weight[at * step], y[at]
            for l in range(L):
                e, m, a = E[i, l], code[k, l], s * share[k, l]
                z = m * S[at, l]
                q = 1.0 / (1.0 + e)
                R[at, l] = -C * a * m * (e * q if z > 0.0 else q)
                D[at, l] = C * a * e * q * q
                value[l] -= a * (z if z < 0.0 else 0.0)
            if s == 1.0 and plain[k]:
                for l in range(L):
                    product[l] *= 1.0 + share[k, l] * E[i, l]
            else:
                for l in range(L):
                    value[l] += s * share[k, l] * np.log1p(E[i, l])
        pending += rows
        if pending + ROWS > LOGS or first + rows == n:
            for l in range(L):
                value[l] += np.log(product[l])
                product[l] = 1.0
            pending = 0
    for l in range(L):
        value[l] *= C


@kernel
def ascend(
    order, indptr, indices, values, step, q, code, share, C, y, weight, B, U, b, h, v, mu, gap
):
    """One sweep of dual coordinate ascent for all problems: the examples in ``order``, once.

        maximise over μ_il in (0, 1)   D_l(μ) = Σ_i c_il H(μ_il) − ½ ‖U_l‖²,    U_l = Σ_i c_il m_il μ_il x_i

    Yu, Huang and Lin 2011 (Machine Learning 85), algorithm 5, for all problems of a row at once. With the
    margin z = m (⟨U_l, x⟩ + b_l + B h_l), Q = c (‖x‖² + B) and the old μ, the new ν = σ(v) solves

        v + z + Q (σ(v) − μ) = 0

    by Newton's method inside a bracket, first the one that σ ∈ (0, 1) gives; a step out of it is replaced by
    its middle, because far from the answer the steps of a sigmoid jump from end to end. The free intercept b
    is the multiplier of Σ_i c m μ = 0; h holds the violation, and B h is added to the scores (an augmented
    Lagrangian).

    Given rows; q (n,) their ‖x‖²; weight (n,) or a single 1. Filled U (d, P), h (L,), v = logit μ and mu
    (n, L); gap (L,) += Σ_i c KL(μ ‖ σ(−z)) to second order: the duality gap, were the scores frozen.
    """
    L, P, flat = mu.shape[1], U.shape[1], U.ravel()
    row, z, new, old, cs = np.zeros(P), np.empty(L), np.empty(L), np.empty(L), np.empty(L)
    E, low, high = np.empty(L), np.empty(L), np.empty(L)
    strides = 0 if len(weight) == 1 else 1
    for place in range(len(order)):
        i = order[place]
        k, first, last = y[i], indptr[i], indptr[i + 1]
        gather(indices, values, step, first, last, flat, P, row)
        length, s = q[i] + B, C * weight[i * strides]
        for l in range(L):
            c, m, p = s * share[k, l], code[k, l], mu[i, l]
            z[l] = m * (row[l] + b[l] + B * h[l])
            cs[l], old[l], new[l] = c, p, v[i, l]
            low[l], high[l] = -z[l] - c * length * (1.0 - p), -z[l] + c * length * p
            gap[l] += 0.5 * c * p * (1.0 - p) * (v[i, l] + z[l]) ** 2
        for _ in range(12):
            for l in range(L):
                E[l] = -abs(new[l])
            exp_in_place(E)
            largest = 0.0
            for l in range(L):
                Q, u = cs[l] * length, new[l]
                inverse = 1.0 / (1.0 + E[l])
                p = inverse if u > 0.0 else E[l] * inverse
                f = u + z[l] + Q * (p - old[l])
                high[l] = u if f > 0.0 and u < high[l] else high[l]
                low[l] = u if f <= 0.0 and u > low[l] else low[l]
                u -= f / (1.0 + Q * E[l] * inverse * inverse)
                u = u if low[l] <= u <= high[l] else 0.5 * (low[l] + high[l])
                change = abs(u - new[l])
                largest = change if change > largest else largest
                new[l] = u
            if largest < 0.1:
                break
        for l in range(L):
            E[l] = -abs(new[l])
        exp_in_place(E)
        for l in range(L):
            inverse = 1.0 / (1.0 + E[l])
            p = inverse if new[l] > 0.0 else E[l] * inverse
            change = cs[l] * code[k, l] * (p - old[l])
            v[i, l], mu[i, l] = new[l], p
            h[l] += change
            row[l] = change
        scatter(indices, values, step, first, last, flat, P, row)
