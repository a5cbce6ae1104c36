"""The Hessian over few weights, in one pass over the rows.

    H = Σ_i s_i (Φᵀ H_i Φ) ⊗ x̃_i x̃_iᵀ        x̃_i is x_i, and a 1 where there is an intercept

Both factors are symmetric, so H is told by the products of pairs of features, u_i = (x̃_if x̃_ig) for f ≤ g,
against those of pairs of weight columns, v_i = (s_i (Φᵀ H_i Φ)_ac) for a ≤ c:

    M = Σ_i u_i v_iᵀ        one product of matrices, at the speed of BLAS, with a quarter of H's entries

Where columns do not enter each other's derivatives (``Curvature.crossed``), v_i has one entry a column.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk

from ..engines import Crew, Shard, Stamp, limits
from ..engines.base import Sums
from ..layouts import Full, Rotation, as_matrix
from ..records import Csr, Floats, Ints, Rows
from .curvatures import curved
from .problem import Problem

__all__ = [
    "V",
    "crossed_pairs",
    "hessian",
    "label_pairs",
    "pair_sums",
    "pairs_of_columns",
    "separate_pairs",
    "spread_one",
    "spread_out",
]

Some = slice | Ints
"""Nodes of a shard: consecutive ones, or a list of them."""

V = Callable[[Some], Floats]
"""v of some rows (n, pairs of columns), as C-contiguous float64."""

FLAT = 1e-15
"""Curvature that is left out, as a share of the largest the loss can have: rounding would lose it."""

ROWS = 256
"""Rows whose products are formed together, in the second-level cache with those of ``PAIRS`` pairs."""

READ = 16 * ROWS
"""Rows that are opened together, where they lie in files."""

PAIRS = 512

THIN = 0.5
"""Share of rows that curve a column, up to which each column is summed over its own rows."""

ONE_COLUMN = 2**24
"""Products of pairs of features, of all rows, up to which a single weight column is one product of matrices:
beyond it threads have more to share."""

PARTS = 16
"""Pieces of work that threads share."""

PART_BYTES = 2**22
"""What the sums of one part of the rows may take; beyond it, parts are ranges of pairs of features too."""

SMALL = 2**18
"""Products of pairs of features, of all rows, that are kept between passes: two megabytes of them."""


def hessian(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, turn: Rotation | None = None
) -> Sums:
    """{"pairs": M} of the second derivatives of Σ s_i loss_i at w; with ``turn`` of rotated rows."""
    filled, bends = curved(shard, crew, problem, stamp), problem.curvature
    weight, layout = shard.weights(), problem.full

    def v(rows: Some) -> Floats:
        if bends.crossed:
            values = label_pairs(*bends.parts(filled[rows]), layout)
        else:
            values = bends.diagonal(filled[rows])
        return values if weight is None else values * weight[rows, None]

    def bent(rows: slice) -> Ints:
        """The rows that curve at all: where a loss is nearly flat, they are few."""
        least = FLAT * bends.bound(layout.labels)
        return np.asarray(rows.start + np.flatnonzero(bends.spread(filled[rows]) > least))

    columns = pairs_of_columns(layout.columns) if bends.crossed else layout.columns
    if not bends.crossed and columns > 1 and len(shard) >= ROWS:
        curving = bends.diagonal(filled) > FLAT * bends.bound(layout.labels)
        if np.count_nonzero(curving) < THIN * curving.size:
            return {"pairs": column_sums(shard, crew, layout, v, curving, turn)}
    side = layout.features + int(layout.intercept)
    if columns == 1 and SMALL < len(shard) * side * (side + 1) // 2 <= ONE_COLUMN:
        every = np.ones((len(shard), 1), bool)
        return {"pairs": column_sums(shard, crew, layout, v, every, turn)}
    return {"pairs": pair_sums(shard, crew, layout, v, bent, columns, turn)}


def crossed_pairs(shard: Shard, crew: Crew, problem: Problem, a: Floats, b: Floats | None) -> Sums:
    """{"pairs": M} of H_i = diag(a_i) − b_i b_iᵀ, a and b (N, K); without b, of stars (``label_pairs``)."""
    layout = problem.full

    def v(rows: Some) -> Floats:
        return label_pairs(a[rows], None if b is None else b[rows], layout)

    def every(rows: slice) -> Ints:
        return np.arange(rows.start, rows.stop)

    return {"pairs": pair_sums(shard, crew, layout, v, every, pairs_of_columns(layout.columns))}


def separate_pairs(shard: Shard, crew: Crew, problem: Problem, diagonal: Floats) -> Sums:
    """{"pairs": M} where H_i is a number for each weight column: ``diagonal`` (n, columns)."""
    layout = problem.full

    def v(rows: Some) -> Floats:
        return diagonal[rows]

    def every(rows: slice) -> Ints:
        return np.arange(rows.start, rows.stop)

    return {"pairs": pair_sums(shard, crew, layout, v, every, layout.columns)}


def pairs_of_columns(m: int) -> int:
    """How many pairs a ≤ c there are of m columns."""
    return m * (m + 1) // 2


def label_pairs(a: Floats, b: Floats | None, layout: Full) -> Floats:
    """v of H_i = diag(a_i) − b_i b_iᵀ; without b, of every label against the truth (a ``Star``).

    >>> import numpy as np
    >>> from argmax.layouts import Full
    >>> from argmax.passes.hessians import label_pairs
    >>> p = np.array([[0.5, 0.5]])
    >>> label_pairs(p, p, Full(features=1, labels=2))  # ¼ of [[1, −1], [−1, 1]]
    array([[ 0.25, -0.25,  0.25]])
    """
    phi = layout.label_features
    if b is None:
        return _of_star(a, layout)
    left, right = _places(layout.columns)
    if phi is None:
        v = -(b[:, left] * b[:, right])
        v[:, left == right] += a
        return v
    shared = a @ (phi[:, left] * phi[:, right])
    reduced = b @ phi
    return np.asarray(shared - reduced[:, left] * reduced[:, right])


def _of_star(h: Floats, layout: Full) -> Floats:
    """v of Σ_{c≠y} h_c (e_c − e_y)(e_c − e_y)ᵀ, where h_y = −Σ_{c≠y} h_c."""
    phi, own = layout.label_matrix, h.argmin(axis=1)
    left, right = _places(layout.columns)
    v = np.zeros((len(h), len(left)))
    for y in np.unique(own):
        apart, some = phi - phi[y], own == y
        weight = h[some]
        weight[:, y] = 0.0
        v[some] = weight @ (apart[:, left] * apart[:, right])
    return v


@lru_cache(maxsize=8)
def _places(m: int) -> tuple[Ints, Ints]:
    """a and c of the pairs of columns, in order."""
    left, right = np.triu_indices(m)
    return left, right


def pair_sums(
    shard: Shard,
    crew: Crew,
    layout: Full,
    v: V,
    bent: Callable[[slice], Ints],
    columns: int,
    turn: Rotation | None = None,
) -> Floats:
    """M = Σ_i u_i v_iᵀ (pairs of features, ``columns``) over the rows that ``bent`` finds in a range.

    ``v`` gives the right factor of some rows.
    """
    layout = layout if turn is None else turn.turned
    side = layout.features + int(layout.intercept)
    tiles = _tiles(side)
    total = side * (side + 1) // 2
    if len(shard) * total <= SMALL:
        name = "pairs" if turn is None else "rotated pairs"
        products = shard.made(name, lambda: _all_products(shard, layout, turn))
        return np.asarray(products @ v(slice(0, len(shard))))
    shares = int(np.clip(PART_BYTES // (8 * total * columns), 1, PARTS))
    parts = _parts(len(shard), shares)
    groups = np.array_split(np.arange(len(tiles)), min(len(tiles), -(-PARTS // len(parts))))
    sums = np.zeros((len(parts), total, columns))

    def piece(i: int) -> None:
        part, group = divmod(i, len(groups))
        some = [tiles[t] for t in groups[group]]
        for a in range(*parts[part], READ):
            limits.look()
            block = a, min(a + READ, parts[part][1])
            _add_block(shard, block, layout, v, bent, some, sums[part], turn)

    crew.run(piece, len(parts) * len(groups))
    for part in range(1, len(parts)):
        sums[0] += sums[part]
    return np.asarray(sums[0])


def column_sums(
    shard: Shard, crew: Crew, layout: Full, v: V, curving: Any, turn: Rotation | None
) -> Floats:
    """M as ``pair_sums`` has it, each column from the rows that curve it alone (``curving``, (n, columns)).

    Of a squared hinge, that is the few rows inside the margin of the column's own problem.
    """
    layout = layout if turn is None else turn.turned
    side = layout.features + int(layout.intercept)
    upper = np.triu_indices(side)
    sums = np.empty((len(upper[0]), curving.shape[1]))

    def column(a: int) -> None:
        places, total = np.flatnonzero(curving[:, a]), np.zeros((side, side), order="F")
        for some in np.array_split(places, max(1, -(-len(places) // READ))):
            limits.look()
            rows = np.ones((len(some), side))
            rows[:, : layout.features] = _listed(shard, some, turn)
            rows *= np.sqrt(v(some)[:, a])[:, None]
            total = dsyrk(1.0, rows.T, 1.0, total, overwrite_c=True)
        sums[:, a] = total[upper]

    crew.run(column, curving.shape[1])
    return sums


def _listed(shard: Shard, places: Ints, turn: Rotation | None) -> Floats:
    """Some rows of a shard as a dense table."""
    if not len(places):
        return np.zeros((0, 1))
    first, last = int(places[0]), int(places[-1]) + 1
    structures, _, nodes = shard.between(first, last)
    X = _table(structures.rows, places, nodes.start)
    return X if turn is None else turn.rows(X)


def _all_products(shard: Shard, layout: Full, turn: Rotation | None) -> Floats:
    """u of all rows of a small shard, transposed: rows of a table are gathered faster than columns."""
    rows = shard.between(0, len(shard))[0].rows
    X = rows if not isinstance(rows, Csr) else as_matrix(rows).toarray()
    X = X if turn is None else turn.rows(X)
    turned = np.ones((layout.features + int(layout.intercept), len(X)))
    turned[: layout.features] = X.T
    f, g = _places(len(turned))
    products = turned[f]
    products *= turned[g]
    return products


def _parts(n: int, most: int) -> list[tuple[int, int]]:
    """Consecutive ranges of n rows, ``most`` of them at the most: the same in memory and in files."""
    cuts = np.linspace(0, n, 1 + max(1, min(most, n // ROWS))).astype(int)
    return [(int(a), int(b)) for a, b in pairwise(cuts)]


def _tiles(side: int) -> list[tuple[int, int, int]]:
    """Ranges of f with about ``PAIRS`` pairs each: first, last, and the pairs before them."""
    tiles, first, before, count = [], 0, 0, 0
    for f in range(side):
        count += side - f
        if count >= PAIRS or f == side - 1:
            tiles.append((first, f + 1, before))
            first, before, count = f + 1, before + count, 0
    return tiles


def _add_block(
    shard: Shard,
    block: tuple[int, int],
    layout: Full,
    v: V,
    bent: Callable[[slice], Ints],
    tiles: list[tuple[int, int, int]],
    out: Floats,
    turn: Rotation | None,
) -> None:
    """out += Σ u_i v_iᵀ over the rows of a block, for the pairs of some tiles."""
    structures, _, nodes = shard.between(*block)
    curving = bent(nodes)
    for a in range(0, len(curving), ROWS):
        places = curving[a : a + ROWS]
        first, last = int(places[0]), int(places[-1]) + 1
        here = slice(first, last) if last - first == len(places) else places
        X = _table(structures.rows, here, nodes.start)
        X = X if turn is None else turn.rows(X)
        right = v(here)
        for first, last, before in tiles:
            U = _products(X, layout, first, last)
            out[before : before + U.shape[1]] += U.T @ right


def _table(rows: Rows, some: Some, start: int) -> Floats:
    """Some rows of a block that begins at node ``start``, as a dense table."""
    here = slice(some.start - start, some.stop - start) if isinstance(some, slice) else some - start
    if not isinstance(rows, Csr):
        return np.asarray(rows[here])
    return np.asarray(as_matrix(rows)[here].toarray())


def _products(X: Floats, layout: Full, first: int, last: int) -> Floats:
    """u of some rows, for f = first … last − 1."""
    side = layout.features + int(layout.intercept)
    if layout.compiled:
        from ..kernels import hessian

        pairs = (last - first) * side - (last * (last - 1) - first * (first - 1)) // 2
        U = np.empty((len(X), pairs))
        hessian.pair_products(X, layout.intercept, first, last, U)
        return U
    full = np.hstack([X, np.ones((len(X), 1))]) if layout.intercept else X
    full = full.astype(float, copy=False)
    f, g = _places(side)
    start, stop = np.searchsorted(f, [first, last])
    return np.asarray(full[:, f[start:stop]] * full[:, g[start:stop]])


def spread_out(pairs: Floats, side: int, m: int, compiled: bool) -> Floats:
    """H (side · m, side · m) over weights in the order (feature, column), from the M of crossed columns."""
    if compiled:
        from ..kernels import hessian

        H = np.empty((side * m, side * m))
        hessian.spread_pairs(pairs, side, m, H)
        return H
    return np.asarray(pairs.ravel()[_spread_places(side, m)])


@lru_cache(maxsize=8)
def _spread_places(side: int, m: int) -> Ints:
    """Of every entry of H, the place in M (side · m, side · m)."""
    features, columns = _pair_numbers(side), _pair_numbers(m)
    width = pairs_of_columns(m)
    places = features[:, None, :, None] * width + columns[None, :, None, :]
    return np.asarray(places.reshape(side * m, side * m))


def _pair_numbers(m: int) -> Ints:
    """The number of each pair (m, m), in the order of ``_places``."""
    numbers = np.empty((m, m), int)
    left, right = _places(m)
    numbers[left, right] = numbers[right, left] = np.arange(len(left))
    return numbers


def spread_one(pairs: Floats, side: int) -> Floats:
    """The Hessian (side, side) of one column, from its part of M."""
    H = np.empty((side, side))
    f, g = _places(side)
    H[f, g] = H[g, f] = pairs
    return H
