"""The columns of sparse rows: orders in which each feature has one owner."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast, final

import numpy as np

from ..layouts import as_matrix
from ..records import Csr, Ints
from .files import Scratch

__all__ = ["Run", "Splits", "columns_on_disk", "sampled", "split"]

Run = Callable[[Callable[[int], Any], int], list[Any]]
"""``Crew.run``: pieces of work side by side."""

ENTRIES = 2**23
"""Entries put into order at once: some 100 MB of them."""

OWNERS, SAMPLE = 16, 2**14
"""Ranges of features that rows are split at, and entries that are looked at to share the work."""


@final
@dataclass(frozen=True)
class Splits:
    """Ranges of features, each with an owner, in rows that are not transposed.

    ``edges`` (OWNERS + 1,) are the features where ranges begin; row i has the entries places[i, r] …
    places[i, r+1] − 1 in range r.
    """

    edges: Ints
    places: Ints


def split(rows: Csr, run: Run) -> Splits | None:
    """The rows split at OWNERS ranges with as much work each; None if some row is not sorted.

    Work is half the entries and half the features: rare ones come from further away than frequent ones.

    >>> import numpy as np
    >>> from argmax.engines.columns import split
    >>> from argmax.records import Csr
    >>> rows = Csr(np.array([0, 16, 17]), np.append(np.arange(16), 15), None, 16)
    >>> split(rows, lambda piece, count: [piece(i) for i in range(count)]).places[1]
    array([16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 17])
    """
    from ..kernels import structure

    found = sampled(rows, SAMPLE)
    some = np.sort(np.concatenate([found, np.linspace(0, rows.width - 1, len(found), dtype=int)]))
    inner = some[len(some) * np.arange(1, OWNERS) // OWNERS] if len(some) else np.zeros(OWNERS - 1)
    edges = np.concatenate([[0], inner, [rows.width]]).astype(np.int64)
    places = np.empty((len(rows), OWNERS + 1), rows.indptr.dtype)
    bounds = len(rows) * np.arange(OWNERS + 1) // OWNERS

    def piece(i: int) -> bool:
        first, last = bounds[i], bounds[i + 1]
        pointers = rows.indptr[first : last + 1]
        ascending = structure.split_rows(pointers, rows.indices, edges[1:-1], places[first:last])
        return bool(ascending)

    return Splits(edges, places) if all(run(piece, OWNERS)) else None


def sampled(rows: Csr, count: int) -> Ints:
    """The features of some ``count`` entries, all of them if there are fewer.

    Random ones: every so-manieth would always meet the same features where rows have the same length.

    >>> import numpy as np
    >>> from argmax.engines.columns import sampled
    >>> from argmax.records import Csr
    >>> sampled(Csr(np.array([0, 2]), np.array([3, 5]), None, 6), 4)
    array([3, 5])
    """
    here: Ints = rows.indices[
        int(rows.indptr[0]) : int(rows.indptr[-1])
    ]  # rows may be some of more
    if len(here) <= count:
        return here
    chosen: Ints = here[np.random.default_rng(0).integers(len(here), size=count)]
    return chosen


def columns_on_disk(
    blocks: Callable[[], Iterable[tuple[int, Csr]]], like: Csr, scratch: Scratch, name: str
) -> Csr:
    """The columns of rows that do not fit into memory, in a file that does not, each in the order of rows.

    ``blocks()`` yields (first row, rows) of consecutive blocks. They are read once to count the entries of
    each column, then once for every ``ENTRIES`` of them.
    """
    counts = np.zeros(like.width, np.int64)
    for _, rows in blocks():
        counts += np.bincount(rows.indices, minlength=like.width)
    indptr = np.append(0, np.cumsum(counts))
    assert like.values is not None
    indices = scratch.blank(f"{name} indices", like.indices.dtype, (like.entries,))
    values = scratch.blank(f"{name} values", like.values.dtype, (like.entries,))
    for first, last in pairwise(_bounds(indptr)):
        part = slice(int(indptr[first]), int(indptr[last]))
        where = np.empty(part.stop - part.start, like.indices.dtype)
        what = np.empty(len(where), like.values.dtype)
        cursor = indptr[first:last] - indptr[first]
        for row, rows in blocks():
            columns = as_matrix(rows)[:, first:last].tocsc()
            grown = np.diff(columns.indptr)
            places = np.repeat(cursor - columns.indptr[:-1], grown) + np.arange(columns.nnz)
            where[places], what[places] = columns.indices + row, columns.data
            cursor = cursor + grown
        scratch.fill(indices[part], where)
        scratch.fill(values[part], what)
    return Csr(indptr, cast("Any", indices), cast("Any", values), len(like))


def _bounds(indptr: Ints) -> list[int]:
    """Ranges of columns with at most ENTRIES in each, or one column."""
    bounds = [0]
    while bounds[-1] < len(indptr) - 1:
        reach = int(np.searchsorted(indptr, indptr[bounds[-1]] + ENTRIES, side="right")) - 1
        bounds.append(max(reach, bounds[-1] + 1))
    return bounds
