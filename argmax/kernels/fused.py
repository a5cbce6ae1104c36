"""Scores, log loss and gradient of a block of rows in one call, a few dozen rows at a time.

What ``products`` and ``classes`` do one after another, chained while the rows are still in the second-level
cache, and without returning to the interpreter in between: there the threads would queue for its lock.
Where the scores are already in ``kept``, the caller says ``ready`` and they are used as they are.
Importing other kernels is safe here: the compile cache is named by a hash of this whole folder.
"""

import numpy as np

from .classes import curvature, nll
from .compile import kernel
from .products import csr_adjoint, csr_scores, dense_adjoint, dense_scores

__all__ = ["csr_curvature", "csr_log", "csr_residuals", "dense_log"]

ROWS = 48  # a multiple of the twelve and the sixteen rows that the dense products take at a time


@kernel
def dense_log(X, W, b, y, weight, ready, kept, G, bias):
    """Σ_i s_i loss_i. Given X (n, d), W (d, P), b (m,), y (n,), weight (n,) or a single 1.

    Filled kept (n, m): the scores; G (d, P) and bias (m,): the gradient is added.
    """
    n, m = kept.shape
    residual, value = np.empty((ROWS, m)), np.empty(ROWS)
    total = 0.0
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        rows, S, R = X[first:last], kept[first:last], residual[: last - first]
        s = weight if len(weight) == 1 else weight[first:last]
        if not ready:
            dense_scores(rows, W, b, S)
        nll(S, y[first:last], s, R, value)
        dense_adjoint(rows, R, G, bias)
        for i in range(last - first):
            total += value[i]
    return total


@kernel
def csr_log(indptr, indices, values, step, W, b, y, weight, ready, kept, G, bias):
    """The same for sparse rows."""
    n, m = kept.shape
    residual, value = np.empty((ROWS, m)), np.empty(ROWS)
    total = 0.0
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        pointers, S, R = indptr[first : last + 1], kept[first:last], residual[: last - first]
        s = weight if len(weight) == 1 else weight[first:last]
        if not ready:
            csr_scores(pointers, indices, values, step, W, b, S)
        nll(S, y[first:last], s, R, value)
        csr_adjoint(pointers, indices, values, step, R, G, bias)
        for i in range(last - first):
            total += value[i]
    return total


@kernel
def csr_residuals(indptr, indices, values, step, W, b, y, weight, ready, kept, R, bias):
    """Σ_i s_i loss_i and the residuals, where the gradient is summed by columns afterwards.

    Filled kept (n, m): the scores; R (n, P): residuals, columns m … P−1 untouched; bias (m,) += Σ_i R_i.
    """
    n, m = kept.shape
    residual, value = np.empty((n, m)), np.empty(n)
    if not ready:
        csr_scores(indptr, indices, values, step, W, b, kept)
    nll(kept, y, weight, residual, value)
    total = 0.0
    for i in range(n):
        total += value[i]
        for c in range(m):
            R[i, c] = residual[i, c]
        for c in range(len(bias)):
            bias[c] += residual[i, c]
    return total


@kernel
def csr_curvature(indptr, indices, values, step, V, v, p, weight, R, bias):
    """Residuals of a Hessian product: R_i = s_i (diag p_i − p_i p_iᵀ) (v + Σ_j x_ij V_j).

    Given V (d, P), v (m,), marginals p (n, m), weight s (n,). Filled R (n, P): columns m … P−1 untouched;
    bias (m,) += Σ_i R_i.
    """
    n, m = p.shape
    ahead = np.empty((ROWS, m))
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        some = ahead[: last - first]
        csr_scores(indptr[first : last + 1], indices, values, step, V, v, some)
        curvature(p[first:last], weight[first:last], some, some)
        for i in range(last - first):
            for c in range(m):
                R[first + i, c] = some[i, c]
            for c in range(len(bias)):
                bias[c] += some[i, c]
