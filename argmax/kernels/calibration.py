"""What calibration asks of n scored rows: the log loss along a temperature or a scale."""

import numpy as np

from .compile import kernel
from .simd import L8, add, exp_in_place, largest, load, maximum, mul, total, zeros

__all__ = ["affine", "tempered"]

ROWS = 32  # of scores worked on together, in the first-level cache


@kernel
def tempered(S, a, y, weight, out):
    """Loss of the scores a·S, and its derivatives in a ≥ 0, where p_i = softmax(a S_i):

        out[0] = Σ_i s_i (log Σ_c exp(a S_ic) − a S_iy)
        out[1] = Σ_i s_i (E_p S_i − S_iy)            out[2] = Σ_i s_i Var_p S_i

    Given S (n, K), labels y (n,), weight s (n,) or a single 1. Filled out (3,).
    """
    n, K = S.shape
    step = 0 if len(weight) == 1 else 1
    even = K - K % 8
    gap, power = np.empty(ROWS * K), np.empty(ROWS * K)
    flat = S.ravel()
    loss, slope, bend = 0.0, 0.0, 0.0
    for first in range(0, n, ROWS):
        rows = min(ROWS, n - first)
        for i in range(rows):
            here, at = (first + i) * K, i * K
            top = flat[here]
            if even:
                tops = load(flat, here, L8)
                for c in range(8, even, 8):
                    tops = maximum(tops, load(flat, here + c, L8))
                top = largest(tops)
            for c in range(even, K):
                top = max(top, flat[here + c])
            for c in range(K):
                gap[at + c] = flat[here + c] - top
                power[at + c] = a * gap[at + c]
        exp_in_place(power[: rows * K])
        for i in range(rows):
            at = i * K
            mass, mean, square = 0.0, 0.0, 0.0
            if even:
                masses, means, squares = zeros(gap, L8), zeros(gap, L8), zeros(gap, L8)
                for c in range(0, even, 8):
                    p, g = load(power, at + c, L8), load(gap, at + c, L8)
                    pg = mul(p, g)
                    masses, means = add(masses, p), add(means, pg)
                    squares = add(squares, mul(pg, g))
                mass, mean, square = total(masses), total(means), total(squares)
            for c in range(even, K):
                p, g = power[at + c], gap[at + c]
                mass, mean, square = mass + p, mean + p * g, square + p * g * g
            mean, square = mean / mass, square / mass
            own, s = gap[at + y[first + i]], weight[(first + i) * step]
            loss += s * (np.log(mass) - a * own)
            slope += s * (mean - own)
            bend += s * (square - mean * mean)
    out[0], out[1], out[2] = loss, slope, bend


@kernel
def affine(S, a, b, y, weight, by_scale, by_offset):
    """Σ_i s_i (log Σ_c exp z_ic − z_iy) with z_ic = a_c S_ic + b_c, and its gradient in a and b.

    Given S (n, K), a (K,), b (K,), y (n,), weight s (n,) or a single 1. Added to by_scale (K,) and
    by_offset (K,): Σ_i r_ic S_ic and Σ_i r_ic with r_i = s_i (softmax(z_i) − e_y).
    """
    n, K = S.shape
    step = 0 if len(weight) == 1 else 1
    P = np.empty((ROWS, K))
    value = 0.0
    for first in range(0, n, ROWS):
        rows = min(ROWS, n - first)
        for i in range(rows):
            S_i, P_i = S[first + i], P[i]
            for c in range(K):
                P_i[c] = a[c] * S_i[c] + b[c]
            top = P_i[0]
            for c in range(1, K):
                top = max(top, P_i[c])
            value += weight[(first + i) * step] * (top - P_i[y[first + i]])
            for c in range(K):
                P_i[c] -= top
        exp_in_place(P[:rows].ravel())
        for i in range(rows):
            S_i, P_i, own, s = S[first + i], P[i], y[first + i], weight[(first + i) * step]
            mass = 0.0
            for c in range(K):
                mass += P_i[c]
            value += s * np.log(mass)
            share = s / mass
            for c in range(K):
                r = share * P_i[c]
                by_scale[c] += r * S_i[c]
                by_offset[c] += r
            by_scale[own] -= s * S_i[own]
            by_offset[own] -= s
    return value
