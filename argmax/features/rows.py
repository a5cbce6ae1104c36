"""From counted n-grams to sparse rows: columns in order, then weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..records import Csr, Floats, Ints
from .grams import Counted
from .ways import by_kernel

__all__ = ["Counts", "arranged", "beside", "from_dense", "stacked"]

PYTHON_COST = 10
"""Work of one entry in ``compiled``'s measure: NumPy's passes over it against the kernel's."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of whole numbers with sorted columns."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (entries,)
    counts: NDArray[np.int32]  # (entries,) not zero

    @property
    def rows(self) -> Ints:
        """(entries,) the row of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


def arranged(counted: Counted, columns: Ints, signs: NDArray[np.int32]) -> Counts:
    """The rows, given the column (−1: none) and the sign of each n-gram.

    N-grams of one column are added up, and what adds up to zero is left out.
    """
    if by_kernel(PYTHON_COST * len(counted.indices)):
        from ..kernels import text

        stay = np.flatnonzero(columns >= 0)
        order = stay[np.argsort(columns[stay])]
        given = counted.indptr, counted.indices, counted.counts
        return Counts(*text.arrange(*given, columns, signs, order))
    rows = np.repeat(np.arange(len(counted)), np.diff(counted.indptr))
    where, amounts = columns[counted.indices], counted.counts * signs[counted.indices]
    order = np.lexsort((where, rows))
    order = order[where[order] >= 0]
    rows, where = rows[order], where[order]
    first = np.flatnonzero((np.diff(rows, prepend=-1) != 0) | (np.diff(where, prepend=-1) != 0))
    sums = np.add.reduceat(amounts[order], first) if len(first) else amounts[:0]
    first, sums = first[sums != 0], sums[sums != 0]
    return Counts(_pointers(rows[first], len(counted)), where[first].astype(np.int32), sums)


def _pointers(rows: Ints, n: int) -> NDArray[np.int64]:
    """indptr (n + 1,), from the row of each entry."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])


def from_dense(X: Floats) -> Csr:
    """What is not zero in dense rows."""
    rows, columns = np.nonzero(X)
    return Csr(_pointers(rows, len(X)), columns.astype(np.int32), X[rows, columns], X.shape[1])


def beside(blocks: Sequence[Csr]) -> Csr:
    """The columns of blocks, one to the right of the other."""
    if len(blocks) == 1:
        return blocks[0]
    ends = np.cumsum([np.diff(block.indptr) for block in blocks], axis=0)  # in each row
    indptr = np.concatenate([[0], np.cumsum(ends[-1])])
    width = sum(block.width for block in blocks)
    indices = np.empty(indptr[-1], np.int32 if width < 2**31 else np.int64)
    values = np.empty(indptr[-1], blocks[0].dtype)
    left = 0
    for block, end in zip(blocks, ends, strict=True):
        sizes = np.diff(block.indptr)
        start = indptr[:-1] + end - sizes  # where the block's part of each row begins
        to = np.arange(len(block.indices)) + np.repeat(start - block.indptr[:-1], sizes)
        indices[to], values[to] = block.indices.astype(indices.dtype) + left, block.values
        left += block.width
    return Csr(indptr, indices, values, width)


def stacked(
    parts: Sequence[tuple[Counts, Floats]], width: int, dtype: np.dtype[np.floating]
) -> Csr:
    """Weighted rows of chunks, one below the other."""
    sizes = [np.zeros(1, np.int64), *(np.diff(counts.indptr) for counts, _ in parts)]
    indptr = np.cumsum(np.concatenate(sizes))
    indices = [np.zeros(0, np.int32), *(counts.indices for counts, _ in parts)]
    values = [np.zeros(0, dtype), *(values for _, values in parts)]
    return Csr(indptr, np.concatenate(indices), np.concatenate(values), width)
