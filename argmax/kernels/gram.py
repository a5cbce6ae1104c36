"""Σ_i c_i x̃_i x̃_iᵀ of dense rows, where x̃_i is x_i, or x_i and a 1: its lower triangle, in square tiles.

Some rows at a time are copied, times √c_i, into memory where the features of each tile lie together; then
BLAS multiplies, tile by tile. Both is done by all threads (``turns``), row by row the first, tile by tile the
second: each number is read from memory once, and no tile is added to by two threads.
"""

import numpy as np

from .compile import kernel
from .turns import done, next_piece, unfinished

__all__ = ["ROWS", "tiles"]

ROWS = 256  # copied at a time: what a tile is multiplied from stays in the second-level cache


@kernel
def tiles(leads, most, turns, X, c, edges, copied, total):
    """total += Σ_i c_i x̃_i x̃_iᵀ, for all threads at once (see ``fused`` for leads, most and the result).

    Given   X (n, d); c (n,), none negative; edges (T + 1,): where tiles begin, and the last one ends.
    Filled  total (D, D), D = d or d + 1, the tiles on and under the diagonal, in whose dtype all is
            multiplied; copied (T, ROWS, as many as the widest tile has features): zero, to begin with.
    """
    n, T, widest = len(X), len(edges) - 1, copied.shape[2]
    pieces, stages = T * (T + 1) // 2, 2 * (-(-n // ROWS))
    product = np.empty((widest, widest), total.dtype)
    for _ in range(most):
        piece = next_piece(turns, pieces, stages)
        if piece < 0:
            return leads and unfinished(turns, pieces * stages)
        stage, own = piece // pieces, piece % pieces
        if stage % 2 == 0:
            low, high = own * ROWS // pieces, (own + 1) * ROWS // pieces
            _copy(X, c, stage // 2 * ROWS, low, high, edges, total.shape[0], copied)
        else:
            a = 0
            while own > a:  # the tiles of row a of the triangle are a + 1
                own -= a + 1
                a += 1
            np.dot(copied[a].T, copied[own], product)
            for i in range(edges[a + 1] - edges[a]):
                for j in range(edges[own + 1] - edges[own]):
                    total[edges[a] + i, edges[own] + j] += product[i, j]
        done(turns)
    return True


@kernel
def _copy(X, c, first, low, high, edges, side, copied):
    """copied[t, r] = √c_i x̃_i, the features of tile t, for i = first + r and r = low … high−1; or zero."""
    n, d = X.shape
    for r in range(low, high):
        i = first + r
        root = np.sqrt(c[i]) if i < n else 0.0
        for t in range(len(edges) - 1):
            start, stop = edges[t], min(edges[t + 1], d)
            if i < n:
                for j in range(start, stop):
                    copied[t, r, j - start] = root * X[i, j]
            else:
                copied[t, r] = 0.0
            if edges[t] <= d < min(edges[t + 1], side):
                copied[t, r, d - start] = root
