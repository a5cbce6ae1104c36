"""The oracles of k classes: maximum, log-sum-exp and its derivatives, row by row."""

import numpy as np

from .compile import kernel
from .simd import exp_in_place

__all__ = ["argmax", "curvature", "marginals", "nll", "shifted", "spread"]

ROWS = 64  # of scores worked on together, in the first-level cache


@kernel
def marginals(S, P, value):
    """P_i = softmax(S_i), value_i = log Σ_c exp S_ic. Given S (n, K). Filled P (n, K), value (n,)."""
    n, K = S.shape
    for i in range(n):
        top = S[i, 0]
        for c in range(1, K):
            top = max(top, S[i, c])
        value[i] = top
        for c in range(K):
            P[i, c] = S[i, c] - top
    exp_in_place(P.ravel())
    for i in range(n):
        total = 0.0
        for c in range(K):
            total += P[i, c]
        value[i] += np.log(total)
        scale = 1.0 / total
        for c in range(K):
            P[i, c] *= scale


@kernel
def nll(S, y, weight, R, value):
    """value_i = s_i (log Σ_c exp S_ic − S_iy), R_i = s_i (softmax(S_i) − e_y).

    Given S (n, K), labels y (n,), weight s (n,) or a single 1. Filled R (n, K), value (n,).
    """
    n, K = S.shape
    step = 0 if len(weight) == 1 else 1
    for i in range(n):
        top = S[i, 0]
        for c in range(1, K):
            top = max(top, S[i, c])
        value[i] = top - S[i, y[i]]
        for c in range(K):
            R[i, c] = S[i, c] - top
    exp_in_place(R.ravel())
    for i in range(n):
        total = 0.0
        for c in range(K):
            total += R[i, c]
        s = weight[i * step]
        value[i] = s * (value[i] + np.log(total))
        scale = s / total
        for c in range(K):
            R[i, c] *= scale
        R[i, y[i]] -= s


@kernel
def argmax(S, labels, value):
    """labels_i = argmax_c S_ic (the first of equals), value_i = S_i,labels_i."""
    n, K = S.shape
    for i in range(n):
        best = 0
        top = S[i, 0]
        for c in range(1, K):
            if S[i, c] > top:
                best, top = c, S[i, c]
        labels[i] = best
        value[i] = top


@kernel
def curvature(P, weight, V, out):
    """out_i = weight_i (diag(p_i) − p_i p_iᵀ) v_i. Given P, V (n, K), weight (n,) or a single 1.

    Filled out (n, K).
    """
    n, K = P.shape
    for i in range(n):
        mean, s = 0.0, weight[0] if len(weight) == 1 else weight[i]
        for c in range(K):
            mean += P[i, c] * V[i, c]
        for c in range(K):
            out[i, c] = s * P[i, c] * (V[i, c] - mean)


@kernel
def spread(S, out):
    """out_i = 1 − ‖softmax(S_i)‖²: how undecided row i is. Given S (n, K). Filled out (n,)."""
    n, K = S.shape
    P, value = np.empty((ROWS, K)), np.empty(ROWS)
    for first in range(0, n, ROWS):
        rows = min(ROWS, n - first)
        marginals(S[first : first + rows], P[:rows], value)
        for i in range(rows):
            square = 0.0
            for c in range(K):
                square += P[i, c] * P[i, c]
            out[first + i] = 1.0 - square


@kernel
def shifted(S, move, y, weight, gradient, hessian):
    """Derivatives of Σ_i s_i (log Σ_c exp(S_ic + u_c) − S_iy − u_y) in u, at u = ``move``.

    With p_i = softmax(S_i + u): gradient = Σ_i s_i (p_i − e_y), hessian = Σ_i s_i (diag p_i − p_i p_iᵀ).
    Given S (n, K), move (K,), y (n,), weight s (n,) or a single 1. Added to gradient (K,) and to the lower
    triangle of hessian (K, K).
    """
    n, K = S.shape
    step = 0 if len(weight) == 1 else 1
    P, value, total = np.empty((ROWS, K)), np.empty(ROWS), np.zeros(K)
    for first in range(0, n, ROWS):
        rows = min(ROWS, n - first)
        for i in range(rows):
            for c in range(K):
                P[i, c] = S[first + i, c] + move[c]
        marginals(P[:rows], P[:rows], value)
        for i in range(rows):
            s = weight[(first + i) * step]
            gradient[y[first + i]] -= s
            for c in range(K):
                share = s * P[i, c]
                total[c] += share
                for e in range(c + 1):
                    hessian[c, e] -= share * P[i, e]
    for c in range(K):
        gradient[c] += total[c]
        hessian[c, c] += total[c]
