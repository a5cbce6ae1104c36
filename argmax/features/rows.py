"""From counted n-grams to sparse rows: columns in order, then weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..records import Csr, Floats, Ints
from .grams import Counted
from .ways import by_kernel

__all__ = ["Counts", "arranged", "stacked"]

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
    stay = np.flatnonzero(where >= 0)
    shape = len(counted), int(columns.max(initial=0)) + 1
    X = sp.coo_array((amounts[stay], (rows[stay], where[stay])), shape=shape).tocsr()
    X.eliminate_zeros()
    X.sort_indices()
    return Counts(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data)


def stacked(
    parts: Sequence[tuple[Counts, Floats]], width: int, dtype: np.dtype[np.floating]
) -> Csr:
    """Weighted rows of chunks, one below the other."""
    sizes = [np.zeros(1, np.int64), *(np.diff(counts.indptr) for counts, _ in parts)]
    indptr = np.cumsum(np.concatenate(sizes))
    indices = [np.zeros(0, np.int32), *(counts.indices for counts, _ in parts)]
    values = [np.zeros(0, dtype), *(values for _, values in parts)]
    return Csr(indptr, np.concatenate(indices), np.concatenate(values), width)
