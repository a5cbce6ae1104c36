"""The structure of sparse rows: questions about it, how dense ones become sparse, and the transpose."""

import numpy as np

from .compile import kernel

__all__ = [
    "ascending",
    "compress",
    "count_columns",
    "count_entries",
    "has_duplicates",
    "split_rows",
    "transpose",
]


@kernel
def ascending(indptr, indices):
    """Whether the features of every row ascend, none named twice. Given indptr (R+1,), indices."""
    for i in range(len(indptr) - 1):
        falls = 0
        for t in range(indptr[i] + 1, indptr[i + 1]):
            falls += indices[t] <= indices[t - 1]
        if falls:
            return False
    return True


@kernel
def has_duplicates(indptr, indices, width):
    """Whether some row names a feature twice. Given indptr (R+1,), indices in 0 … width−1, in any order."""
    seen = np.full(width, -1, np.int64)  # the last row that named each feature
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            if seen[indices[t]] == i:
                return True
            seen[indices[t]] = i
    return False


@kernel
def count_entries(X, counts):
    """counts_i = how many entries of row i are not zero. Given X (R, d). Filled counts (R,)."""
    for i in range(len(X)):
        count = 0
        for j in range(X.shape[1]):
            count += X[i, j] != 0.0
        counts[i] = count


@kernel
def compress(X, indptr, indices, values):
    """The entries that are not zero, row by row. Given X (R, d), indptr (R+1,). Filled indices, values.

    Every entry is written and only the others let the place move on: no branch that can be guessed wrong.
    """
    for i in range(len(X)):
        at, j = indptr[i], 0
        while at < indptr[i + 1]:
            indices[at], values[at] = j, X[i, j]
            at += X[i, j] != 0.0
            j += 1


@kernel
def split_rows(indptr, indices, edges, splits):
    """Where each row enters each range of features; returns whether indices ascend in every row.

    Given  indptr (R+1,), indices; edges (T−1,), features at which ranges 1, 2, … begin.
    Filled splits (R, T + 1): row i has entries splits[i, r] … splits[i, r+1] − 1 in range r.
    """
    for i in range(len(indptr) - 1):
        at, last, before = indptr[i], indptr[i + 1], -1
        splits[i, 0] = at
        for r in range(len(edges) + 1):
            while at < last and (r == len(edges) or indices[at] < edges[r]):
                if indices[at] <= before:
                    return False
                before = indices[at]
                at += 1
            splits[i, r + 1] = at
    return True


# The transpose of some rows, by counting. Ranges of rows are worked on side by side: each counts its
# entries in every column; the sums of those counts say where each range's entries go.


@kernel
def count_columns(indptr, indices, counts):
    """counts_j += number of entries in column j. Given indptr (R+1,), indices. Added to counts (d,)."""
    for t in range(indptr[0], indptr[-1]):
        counts[indices[t]] += 1


@kernel
def transpose(indptr, indices, values, step, first, place, rows, entries):
    """Put each entry of rows first, first + 1, … where its column has room: at place_j, then place_j + 1, …

    Given indptr (R+1,), indices, values; place (d,), which moves on. Filled rows and entries (unless
    step is 0: indicators) at those places, in the order of the rows.
    """
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            at = place[j]
            place[j] = at + 1
            rows[at] = first + i
            if step:
                entries[at] = values[t]
