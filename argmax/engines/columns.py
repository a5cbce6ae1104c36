"""The columns of sparse rows: the other order, in which each feature has one owner."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, cast

import numpy as np

from ..layouts import as_matrix
from ..records import Csr, Ints
from .files import Scratch

__all__ = ["columns_on_disk"]

ENTRIES = 2**23
"""Entries put into order at once: some 100 MB of them."""


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
