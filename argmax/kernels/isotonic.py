"""Rising curves of "it happened" against scores, of many columns, without sorting the rows.

The curve of a column can only rise where something happened: after a hit, rows without one pull it down and
are pooled with it. So the sorted hits h_1 ≤ … ≤ h_m of a column cut all its rows into m + 1 groups, and of
a group nothing matters but its weight, its hits and its highest score:

    group g of x = the number of hits ≤ x          0 … m

A grid over [h_1, h_m] says at which hit the search for x starts and ends: mostly there is one or none.
"""

import numpy as np

from .compile import kernel

__all__ = ["CELLS", "gridded", "grouped", "pooled"]

CELLS = 4  # of the grid for each hit: the search mostly has nothing left to do
ROWS = 512  # of a column worked on together, in the first-level cache with its groups


@kernel
def gridded(hits, ptr, grid, low, scale):
    """A grid of 4m + 1 cells over the m hits of each column: the hits before each cell.

    Given hits (H,), those of column c sorted at ptr[c] … ptr[c+1]−1. Filled: grid (4H + 2K,), that of column
    c from 4 ptr[c] + 2c on; low (K,) and scale (K,), by which x falls into the cell of (x/2 − low) · scale.
    Halves, so that no difference of finite scores is infinite.
    """
    for c in range(len(ptr) - 1):
        at, m = ptr[c], ptr[c + 1] - ptr[c]
        cells, here = CELLS * m, CELLS * at + 2 * c
        low[c] = 0.5 * hits[at] if m else 0.0
        width = 0.5 * hits[at + m - 1] - low[c] if m else 0.0
        scale[c] = cells / width if width > 0.0 else 0.0
        if np.isinf(scale[c]):
            scale[c] = 0.0
        j = 0
        for cell in range(cells + 1):
            while j < m and np.intp((0.5 * hits[at + j] - low[c]) * scale[c]) < cell:
                j += 1
            grid[here + cell] = j
        grid[here + cells + 1] = m


@kernel
def grouped(S, y, weight, columns, hits, ptr, grid, low, scale, mass, happened, top, bottom):
    """Add rows to the groups of some columns.

    Given S (n, K), y (n,) the column that happened in each row (−1: none), weight s (n,) or a single 1,
    columns (2,) the first and the one after the last; hits, ptr, grid, low and scale of ``gridded``. Added to
    mass and happened (H + K,), groups of column c from ptr[c] + c on: Σ s_i, and Σ s_i of hits; raised and
    lowered: top (H + K,) the highest score of a group, bottom (K,) the lowest of a column.
    """
    n, (c_0, c_1) = len(S), columns
    step = 0 if len(weight) == 1 else 1
    X, cell = np.empty((c_1 - c_0, ROWS)), np.empty(ROWS, np.int32)
    for first in range(0, n, ROWS):
        rows = min(ROWS, n - first)
        for i in range(rows):
            for c in range(c_0, c_1):
                X[c - c_0, i] = S[first + i, c]
        for c in range(c_0, c_1):
            x, at, m = X[c - c_0], ptr[c], ptr[c + 1] - ptr[c]
            h, start = hits[at : at + m], grid[CELLS * at + 2 * c :]
            mass_c, happened_c, top_c = mass[at + c :], happened[at + c :], top[at + c :]
            h_1, h_m = (h[0], h[m - 1]) if m else (0.0, 0.0)
            low_c, scale_c, lowest = low[c], scale[c], bottom[c]
            for i in range(rows):
                cell[i] = np.int32((0.5 * min(max(x[i], h_1), h_m) - low_c) * scale_c)
                lowest = min(lowest, x[i])
            bottom[c] = lowest
            for i in range(rows):
                g, end = start[cell[i]], start[cell[i] + 1]
                while g < end:
                    middle = (g + end) >> 1
                    if h[middle] <= x[i]:
                        g = middle + 1
                    else:
                        end = middle
                s = weight[(first + i) * step]
                mass_c[g] += s
                top_c[g] = max(top_c[g], x[i])
                if y[first + i] == c:
                    happened_c[g] += s


@kernel
def pooled(mass, happened, first, last):
    """Isotonic regression by pooling adjacent violators: the number of its blocks.

    Given groups in order, their weights mass (m,), those of hits happened (m,), and the first and last score
    of each (m,); groups without weight do not count. Filled: the first entries of all are those of the
    blocks, happened/mass rising. Ayer, Brunk, Ewing, Reid, Silverman 1955.
    """
    blocks = 0
    for j in range(len(mass)):
        if mass[j] == 0.0:
            continue
        s, h, start, end = mass[j], happened[j], first[j], last[j]
        while blocks > 0 and happened[blocks - 1] * s >= h * mass[blocks - 1]:
            blocks -= 1
            s, h, start = s + mass[blocks], h + happened[blocks], first[blocks]
        mass[blocks], happened[blocks], first[blocks], last[blocks] = s, h, start, end
        blocks += 1
    return blocks
