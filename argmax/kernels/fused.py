"""Scores, log loss and gradient of a block of rows in one call, a few dozen rows at a time.

What ``products`` and ``classes`` do one after another, chained while the rows are still in the second-level
cache, and without returning to the interpreter in between: there the threads would queue for its lock.
Where the scores are already in ``kept``, the caller says ``ready`` and they are used as they are.
Kernels named ``…_parts`` and ``…_columns`` are called by all threads at once with the same arguments, but for
``leads``, which is true for one of them. That one does pieces until there are none, then waits for the others
for a while, and is back after ``most`` pieces at the latest; True means: look around, and call again.
Where there is a ``role`` instead (``turns``), others may stay for the next pass, until the ``bell`` rings:
then W, b and ``ready`` have changed, nothing else.
Importing other kernels is safe here: the compile cache is named by a hash of this whole folder.
"""

import numpy as np

from .classes import curvature, nll
from .compile import kernel
from .partial_sums import FREE, LOCK, MET, PLACES, TURNS, give, take
from .products import AT_ONCE, csr_adjoint, csr_scores, dense_adjoint, dense_scores
from .turns import HELPS, done, ended, next_for, next_piece, rung, unfinished

__all__ = [
    "csr_curvature",
    "csr_curvature_columns",
    "csr_log",
    "csr_log_columns",
    "csr_log_parts",
    "csr_residuals",
    "csr_scores_parts",
    "dense_log",
    "dense_log_parts",
    "dense_scores_parts",
]

ROWS = AT_ONCE


@kernel
def dense_scores_parts(leads, most, turns, starts, X, W, b, S):
    """``dense_scores`` of rows starts[p] … starts[p+1]−1 for every part p."""
    parts = len(starts) - 1
    for _ in range(most):
        part = next_piece(turns, parts, 1)
        if part < 0:
            return leads and unfinished(turns, parts)
        first, last = starts[part], starts[part + 1]
        dense_scores(X[first:last], W, b, S[first:last])
        done(turns)
    return True


@kernel
def csr_scores_parts(leads, most, turns, starts, indptr, indices, values, step, W, b, S):
    """The same for sparse rows."""
    parts = len(starts) - 1
    for _ in range(most):
        part = next_piece(turns, parts, 1)
        if part < 0:
            return leads and unfinished(turns, parts)
        first, last = starts[part], starts[part + 1]
        csr_scores(indptr[first : last + 1], indices, values, step, W, b, S[first:last])
        done(turns)
    return True


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
def dense_log_parts(
    role, most, starts, X, W, b, y, weight, ready, kept, tables, values, book, bell
):
    """``dense_log`` of rows starts[p] … starts[p+1]−1 for every part p, summed as in ``partial_sums``.

    A table is (d, P), then the bias if there is one. A part is summed in the dtype of W. ``ready`` (1,) is 0
    or 1.
    """
    (d, P), parts, m = W.shape, len(starts) - 1, kept.shape[1]
    G, bias = np.empty((d, P), W.dtype), np.empty(m if tables.shape[1] > d * P else 0)
    flat, turns, lock = G.ravel(), book[TURNS], book[LOCK]
    free, places, met = book[FREE], book[PLACES], book[MET]
    ringing, before = rung(bell), 0
    while before < most or role >= HELPS:
        part = next_for(role, turns, parts, bell, ringing, before)
        if part < 0:
            return ended(role, turns, parts, before)
        before += 1
        first, last = starts[part], starts[part + 1]
        s = weight if len(weight) == 1 else weight[first:last]
        G[:], bias[:] = 0.0, 0.0
        values[part] = dense_log(
            X[first:last], W, b, y[first:last], s, ready[0] > 0, kept[first:last], G, bias
        )
        _into_table(take(part, places, free, lock), flat, bias, tables)
        give(part, parts, tables, values, places, met, free, lock)
        done(turns)
    return True


@kernel
def _into_table(at, flat, bias, tables):
    for j in range(len(flat)):
        tables[at, j] = flat[j]
    for j in range(len(flat), tables.shape[1]):
        tables[at, j] = 0.0
    for c in range(len(bias)):
        tables[at, len(flat) + c] = bias[c]


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
def csr_log_parts(
    role, most, starts, indptr, indices, values, step, W, b, y, weight, ready, kept, tables, sums, book,
    bell,
):  # fmt: skip
    """``dense_log_parts`` for sparse rows; a part is summed in float64."""
    (d, P), parts, m = W.shape, len(starts) - 1, kept.shape[1]
    G, bias = np.empty((d, P)), np.empty(m if tables.shape[1] > d * P else 0)
    flat, turns, lock = G.ravel(), book[TURNS], book[LOCK]
    free, places, met = book[FREE], book[PLACES], book[MET]
    ringing, before = rung(bell), 0
    while before < most or role >= HELPS:
        part = next_for(role, turns, parts, bell, ringing, before)
        if part < 0:
            return ended(role, turns, parts, before)
        before += 1
        first, last = starts[part], starts[part + 1]
        s = weight if len(weight) == 1 else weight[first:last]
        G[:], bias[:] = 0.0, 0.0
        sums[part] = csr_log(
            indptr[first : last + 1], indices, values, step, W, b, y[first:last], s, ready[0] > 0,
            kept[first:last], G, bias,
        )  # fmt: skip
        _into_table(take(part, places, free, lock), flat, bias, tables)
        give(part, parts, tables, sums, places, met, free, lock)
        done(turns)
    return True


@kernel
def csr_residuals(indptr, indices, values, step, W, b, y, weight, ready, kept, R, bias):
    """Σ_i s_i loss_i and the residuals, where the gradient is summed by columns afterwards.

    Filled kept (n, m): the scores; R (n, P): residuals, columns m … P−1 untouched; bias (m,) += Σ_i R_i.
    """
    n, m = kept.shape
    residual, value = np.empty((ROWS, m)), np.empty(ROWS)
    total = 0.0
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        S, some = kept[first:last], residual[: last - first]
        s = weight if len(weight) == 1 else weight[first:last]
        if not ready:
            csr_scores(indptr[first : last + 1], indices, values, step, W, b, S)
        nll(S, y[first:last], s, some, value)
        for i in range(last - first):
            total += value[i]
            for c in range(m):
                R[first + i, c] = some[i, c]
            for c in range(len(bias)):
                bias[c] += some[i, c]
    return total


@kernel
def csr_log_columns(
    leads, most, turns, starts, columns, indptr, indices, values, step, t_indptr, t_indices, t_values, W, b,
    y, weight, ready, kept, sums, R, G, biases,
):  # fmt: skip
    """``csr_residuals`` of rows starts[p] … starts[p+1]−1 for every p, then G = XᵀR, range by range.

    Given   the rows and, transposed, the columns (t_…); starts and ``columns`` (T + 1,), where pieces of rows
            and of columns begin.
    Filled  kept, R (n, P), G (d, P); and of each piece of rows sums (T,), its value, and biases (T, m or 0).
    """
    pieces = len(starts) - 1
    for _ in range(most):
        piece = next_piece(turns, pieces, 2)
        if piece < 0:
            return leads and unfinished(turns, 2 * pieces)
        if piece < pieces:
            first, last = starts[piece], starts[piece + 1]
            s = weight if len(weight) == 1 else weight[first:last]
            sums[piece] = csr_residuals(
                indptr[first : last + 1], indices, values, step, W, b, y[first:last], s, ready,
                kept[first:last], R[first:last], biases[piece],
            )  # fmt: skip
        else:
            _columns(piece - pieces, columns, t_indptr, t_indices, t_values, step, R, G)
        done(turns)
    return True


@kernel
def _columns(piece, columns, indptr, indices, values, step, R, G):
    """One range of columns of G = XᵀR."""
    first, last = columns[piece], columns[piece + 1]
    none = np.zeros(G.shape[1])
    csr_scores(indptr[first : last + 1], indices, values, step, R, none, G[first:last])


@kernel
def csr_curvature(indptr, indices, values, step, V, v, p, weight, R, bias):
    """Residuals of a Hessian product: R_i = s_i (diag p_i − p_i p_iᵀ) (v + Σ_j x_ij V_j).

    Given V (d, P), v (m,), marginals p (n, m), weight s (n,) or a single 1.
    Filled R (n, P): columns m … P−1 untouched; bias (m,) += Σ_i R_i.
    """
    n, m = p.shape
    ahead = np.empty((ROWS, m))
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        some = ahead[: last - first]
        csr_scores(indptr[first : last + 1], indices, values, step, V, v, some)
        s = weight if len(weight) == 1 else weight[first:last]
        curvature(p[first:last], s, some, some)
        for i in range(last - first):
            for c in range(m):
                R[first + i, c] = some[i, c]
            for c in range(len(bias)):
                bias[c] += some[i, c]


@kernel
def csr_curvature_columns(
    leads, most, turns, starts, columns, indptr, indices, values, step, t_indptr, t_indices, t_values, V, v,
    p, weight, R, G, biases,
):  # fmt: skip
    """``csr_curvature`` of rows starts[p] … starts[p+1]−1 for every p, then G = XᵀR, range by range."""
    pieces = len(starts) - 1
    for _ in range(most):
        piece = next_piece(turns, pieces, 2)
        if piece < 0:
            return leads and unfinished(turns, 2 * pieces)
        if piece < pieces:
            first, last = starts[piece], starts[piece + 1]
            s = weight if len(weight) == 1 else weight[first:last]
            csr_curvature(
                indptr[first : last + 1], indices, values, step, V, v, p[first:last], s, R[first:last],
                biases[piece],
            )  # fmt: skip
        else:
            _columns(piece - pieces, columns, t_indptr, t_indices, t_values, step, R, G)
        done(turns)
    return True
