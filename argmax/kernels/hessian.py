"""Products of pairs of features: what a Hessian over few weights is summed from (``passes.hessians``)."""

import numpy as np

from .compile import kernel

__all__ = ["pair_products", "spread_pairs"]


@kernel
def pair_products(X, ones, first, last, U):
    """U_i = (x̃_if x̃_ig for f = first … last − 1, g = f … D − 1), where x̃_i is x_i, with ``ones`` and a 1.

    Given X (n, d), D = d or d + 1. Filled U (n, as many as there are such pairs).
    """
    n, d = X.shape
    D = d + 1 if ones else d
    row = np.empty(D)
    row[D - 1] = 1.0
    for i in range(n):
        for j in range(d):
            row[j] = X[i, j]
        place = 0
        for f in range(first, last):
            left = row[f]
            for g in range(f, D):
                U[i, place + g - f] = left * row[g]
            place += D - f


@kernel
def spread_pairs(pairs, side, m, out):
    """out[(f, a), (g, c)] = pairs[{f, g}, {a, c}], a symmetric matrix from what is told of it once.

    Given pairs (side (side + 1) / 2, m (m + 1) / 2), both in the order (0, 0), (0, 1), …, (1, 1), ….
    Filled out (side m, side m).
    """
    place = 0
    for f in range(side):
        for g in range(f, side):
            column = 0
            for a in range(m):
                for c in range(a, m):
                    value = pairs[place, column]
                    out[f * m + a, g * m + c] = value
                    out[f * m + c, g * m + a] = value
                    out[g * m + a, f * m + c] = value
                    out[g * m + c, f * m + a] = value
                    column += 1
            place += 1
