"""Dual coordinate ascent for the log loss (maximum entropy): the step, and a sweep of steps.

    maximise over μ_i in the simplex   D(μ) = Σ_i c_i H(μ_i) − ½ ‖U‖²,    U = Σ_i x_i (y_i − μ_i)ᵀ c_i

One example at a time, exactly: with scores s = Uᵀx + b, the curvature Q = c (‖x‖² + B) and the old μ,

    log ν_c + Q (ν_c − μ_c) − s_c + λ = 0,     Σ_c ν_c = 1                      (optimality of the new ν)

solved by Newton's method in v = log ν and λ together: the system is diagonal but for one row, so a step
costs O(K); one or two are needed. Yu, Huang and Lin 2011 (Machine Learning 85) solve the same block by
coordinate descent on pairs.

The intercept b is the multiplier of Σ_i c_i (y_i − μ_i) = 0. It enters as an augmented Lagrangian: h holds
the violation, B·h is added to the scores (a constant feature √B), and after a sweep b ← b + B·h.

Visits are bound by memory: U may be float32, half of it. What belongs to one example stays float64.
``dual_blocks`` visits many examples at once.
"""

import numpy as np

from .compile import inner_kernel, kernel
from .simd import (
    L4,
    add,
    divide,
    exp_in_place,
    fma,
    get,
    largest,
    load,
    maximum,
    minimum,
    mul,
    plus,
    prefetch,
    put,
    store,
    times,
    total,
    zeros,
)
from .sparse_rows import LINE, gather, scatter, send_for

__all__ = ["FAR", "against_others", "begin", "class_sums", "sweep", "visit"]

AHEAD = 2  # examples whose numbers are sent for before it is their turn
FAR = -700.0  # a score, or the logarithm of a probability, that stands for none


@kernel
def class_sums(indptr, indices, values, step, c, y, U):
    """U[j, y_i] += c_i x_ij. Given c (n,), labels y (n,). Added to U (d, P)."""
    P, flat = U.shape[1], U.ravel()
    for i in range(len(y)):
        weight, label = c[i], y[i]
        for t in range(indptr[i], indptr[i + 1]):
            at = np.int64(get(indices, t)) * P + label
            put(flat, at, get(flat, at) + weight * get(values, t * step))


@kernel
def against_others(U, K, scale):
    """U_jk ← scale (U_jk − mean of U_j over the other labels); returns ‖U‖². Given U (d, P), P ≥ K ≥ 2."""
    P, flat, square, share = U.shape[1], U.ravel(), 0.0, 1.0 / (K - 1)
    for j in range(len(U)):
        total, here = 0.0, 0.0
        for k in range(K):
            total += get(flat, j * P + k)
        for k in range(K):
            own = get(flat, j * P + k)
            away = scale * (own - (total - own) * share)
            put(flat, j * P + k, away)
            here += away * away
        square += here
    return square


@kernel
def begin(confidence, y, mu, v):
    """mu (n, K): the probability ``confidence`` for label y_i, all others alike; v = log mu."""
    n, K = mu.shape
    rest = (1.0 - confidence) / (K - 1)
    log, log_rest = np.log(confidence), np.log(rest)
    for i in range(n):
        for k in range(K):
            mu[i, k], v[i, k] = rest, log_rest
        mu[i, y[i]], v[i, y[i]] = confidence, log


@inner_kernel
def _send_for_example(i, indptr, indices, values, step, K, v, mu):
    """Have the numbers of example i brought near. Given flat v and mu (n · K)."""
    send_for(np.int64(indptr[i]), np.int64(indptr[i + 1]), indices, values, step)
    for k in range(i * K, (i + 1) * K, LINE // v.itemsize):
        prefetch(v, k)
        prefetch(mu, k)


@kernel
def _careful(s, mu, Q, new, exps):
    """The block step without a good start: nested, monotone Newton iterations that cannot overshoot.

    For fixed λ each class solves v + Q eᵛ = u_c − λ, u = s + Q μ, from the right; Σ_c eᵛ is convex and
    falling in λ, so Newton's method on it from the left is monotone too.
    """
    K = len(s)
    lam = s[0] + Q * mu[0] - Q
    # At the largest of these λ its class has eᵛ = 1, so the sum is at least 1.
    for k in range(1, K):
        lam = max(lam, s[k] + Q * mu[k] - Q)
    for _ in range(100):
        total, slope = -1.0, 0.0
        for k in range(K):
            u = s[k] + Q * mu[k] - lam
            v = min(u, 0.0)
            for _ in range(60):
                power = np.exp(v)
                dv = (u - v - Q * power) / (1.0 + Q * power)
                v += dv
                if abs(dv) < 1e-14 * (1.0 + abs(v)):
                    break
            new[k], exps[k] = v, np.exp(v)
            total += exps[k]
            slope += exps[k] / (1.0 + Q * exps[k])
        if abs(total) < 1e-13 or slope <= 0.0:
            break
        lam += total / slope


@inner_kernel
def _away(at, s, mu, Q, lam, new, power):
    """log ν + Q (ν − μ) − s + λ of four labels, given their ν = ``power``."""
    moved = fma(Q, add(power, times(-1.0, load(mu, at, L4))), load(new, at, L4))
    return plus(lam, add(moved, times(-1.0, load(s, at, L4))))


@inner_kernel
def _newton(s, mu, Q, lam, new, exps, live):
    """A step of Newton's method in v and λ; returns λ, and by how much some v moved at most.

    Given s, mu; changed v = ``new`` and ``exps`` = eᵛ, all of a length that vectors of four divide. ``live``
    is 1 for labels and 0 for what fills up the last vector, which does not move.
    """
    mass, pull, weight = zeros(s, L4), zeros(s, L4), zeros(s, L4)
    for at in range(0, len(s), 4):
        power = load(exps, at, L4)
        share = divide(power, plus(1.0, times(Q, power)))
        mass = add(mass, power)
        pull = add(pull, mul(share, _away(at, s, mu, Q, lam, new, power)))
        weight = add(weight, share)
    dlam = (total(mass) - 1.0 - total(pull)) / total(weight)
    size, most = zeros(s, L4), plus(30.0, zeros(s, L4))
    for at in range(0, len(s), 4):
        power = load(exps, at, L4)
        away = plus(dlam, _away(at, s, mu, Q, lam, new, power))
        dv = mul(load(live, at, L4), divide(away, plus(-1.0, times(-Q, power))))
        v = minimum(add(load(new, at, L4), dv), most)
        store(new, at, v)
        store(exps, at, v)
        size = maximum(size, maximum(dv, times(-1.0, dv)))
    exp_in_place(exps)
    return lam + dlam, largest(size)


@inner_kernel
def _sum(flat):
    sums = zeros(flat, L4)
    for at in range(0, len(flat), 4):
        sums = add(sums, load(flat, at, L4))
    return total(sums)


@inner_kernel
def visit(i, c, Q, s, live, new, old, exps, v, mu, K):
    """The block step of example i; returns what it added to the gap, to second order.

    Given  its scores s and ``live``, flat v and mu (n · K).
    Filled row i of v and mu; ``old`` and ``exps``, the μ before and after.
    """
    for k in range(K):
        new[k] = get(v, i * K + k)
        old[k] = get(mu, i * K + k)
        exps[k] = old[k]
    # 1. What the example adds to the gap.
    means, squares = zeros(s, L4), zeros(s, L4)
    for at in range(0, len(s), 4):
        away = add(load(new, at, L4), times(-1.0, load(s, at, L4)))
        part = mul(load(old, at, L4), away)
        means, squares = add(means, part), add(squares, mul(part, away))
    mean = total(means)
    gap = 0.5 * c * max(total(squares) - mean * mean, 0.0)
    # 2. The step.
    lam, good = -mean, False
    for _ in range(8):
        lam, size = _newton(s, old, Q, lam, new, exps, live)
        if size * min(1.0, 0.1 + Q) < 0.3:
            good = True
            break
    mass = _sum(exps)
    if not (good and 0.5 < mass < 2.0):  # also when the mass is NaN
        new[K:], exps[K:] = FAR, 0.0
        _careful(s[:K], old[:K], Q, new[:K], exps[:K])
        mass = _sum(exps)
    shift, inverse = np.log(mass), 1.0 / mass
    for k in range(K):
        exps[k] *= inverse
        put(v, i * K + k, new[k] - shift)
        put(mu, i * K + k, exps[k])
    return gap


@kernel
def sweep(order, indptr, indices, values, step, q, c, scale, B, U, b, h, v, mu):
    """Visit the examples in ``order`` once, one after the other.

    Given  rows; q (n,) curvatures ‖x‖² (scaled); c (n,) weights C·s_i; scale 1, or ½ for two classes.
    Filled U (d, P), float32 or float64, h (K,), v = log μ and mu (n, K).
    Returns Σ_i c_i KL(μ_i ‖ softmax(s_i)) to second order: the duality gap, were the scores frozen.
    """
    K, P, flat, row = mu.shape[1], U.shape[1], U.ravel(), np.zeros(U.shape[1], U.dtype)
    Z = -(-K // 4) * 4  # labels in whole vectors; those beyond K have no probability
    s, new = np.full(Z, FAR), np.full(Z, FAR)
    exps, old, live = np.zeros(Z), np.zeros(Z), np.zeros(Z)
    live[:K] = 1.0
    flat_v, flat_mu, gap = v.ravel(), mu.ravel(), 0.0
    for place in range(len(order)):
        i = order[place]
        if place + AHEAD < len(order):
            _send_for_example(
                order[place + AHEAD], indptr, indices, values, step, K, flat_v, flat_mu
            )
        first, last = indptr[i], indptr[i + 1]
        gather(indices, values, step, first, last, flat, P, row)
        Q, weight = c[i] * (q[i] + scale * B), c[i] * scale
        for k in range(K):
            s[k] = row[k] + b[k] + B * h[k]
        gap += visit(i, c[i], Q, s, live, new, old, exps, flat_v, flat_mu, K)
        for k in range(K):
            change = weight * (old[k] - exps[k])
            h[k] += change
            row[k] = change
        scatter(indices, values, step, first, last, flat, P, row)
    return gap
