"""Columns of numbers: mean and scale, missing values filled in and marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np

from ..errors import InvalidInput
from ..records import Floats, Ints

__all__ = ["Moments", "Numbers", "NumbersIn"]


@final
class NumbersIn:
    """p columns of n numbers, read a block of rows at a time: a matrix, or columns side by side.

    >>> import numpy as np
    >>> from argmax.features.numbers import NumbersIn
    >>> NumbersIn([np.array([1, 2]), np.array([3.0, np.nan])], 2).block(1, 2)
    array([[ 2., nan]])
    """

    def __init__(self, columns: Floats | Sequence[Floats], rows: int) -> None:
        self.rows = rows
        self._matrix = columns if isinstance(columns, np.ndarray) else None
        self._columns = columns

    def block(self, start: int, stop: int) -> Floats:
        """Rows start … stop−1 as a new (rows, p) array."""
        if self._matrix is not None:
            return np.array(self._matrix[start:stop], np.float64, order="C")
        block = np.empty((stop - start, len(self._columns)))
        for j, column in enumerate(self._columns):
            block[:, j] = column[start:stop]
        return block


@final
class Moments:
    """Count, mean and sum of squared deviations of p columns, missing values (NaN) left out.

    Rows are summed in blocks cut by their number, and the blocks are merged in order (Chan, Golub and
    LeVeque 1983), so that the bits do not depend on the batches in which rows come.

    >>> import numpy as np
    >>> from argmax.features.numbers import Moments, NumbersIn
    >>> moments = Moments(["size"])
    >>> moments.add(NumbersIn(np.array([[1.0], [np.nan], [3.0]]), 3))
    >>> moments.close()
    >>> moments.mean, moments.variance, moments.count
    (array([2.]), array([1.]), array([2]))
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names, p = names, len(names)
        self.rows = 0
        self.count: Ints = np.zeros(p, np.int64)
        self.mean, self._squares = np.zeros(p), np.zeros(p)
        self._size = block_rows(p)
        self._waiting = np.empty((self._size, p))
        self._filled = 0

    @property
    def variance(self) -> Floats:
        return self._squares / np.maximum(self.count, 1)

    def add(self, numbers: NumbersIn) -> None:
        """Read some rows."""
        start = 0
        while start < numbers.rows:
            stop = min(start + self._size - self._filled, numbers.rows)
            self._waiting[self._filled : self._filled + stop - start] = numbers.block(start, stop)
            self._filled += stop - start
            start = stop
            if self._filled == self._size:
                self.close()

    def close(self) -> None:
        """Count what waits for its block to fill up."""
        with np.errstate(over="ignore", invalid="ignore"):
            self._merge(self._waiting[: self._filled])
        self.rows, self._filled = self.rows + self._filled, 0

    def _merge(self, block: Floats) -> None:
        missing = np.isnan(block)
        count = len(block) - missing.sum(axis=0)
        values = np.where(missing, 0.0, block) if missing.any() else block
        many = np.maximum(count, 1)
        mean = values.sum(axis=0) / many
        self._refuse_infinite(block, mean)
        off = np.where(missing, 0.0, block - mean)
        rest = off.sum(axis=0) / many  # what rounding left in the mean
        squares = (off * off).sum(axis=0) - many * rest * rest
        shift, total = mean + rest - self.mean, np.maximum(self.count + count, 1)
        self.mean = self.mean + shift * count / total
        self._squares = self._squares + squares + shift * shift * self.count * count / total
        self.count = self.count + count
        self._refuse_infinite(block, self._squares)

    def _refuse_infinite(self, block: Floats, sums: Floats) -> None:
        if np.isfinite(sums).all():
            return
        infinite = np.argwhere(np.isinf(block))
        if len(infinite):
            row, j = infinite[0].tolist()
            raise infinity(self.names[j], self.rows + row)
        j = int(np.argmin(np.isfinite(sums)))
        raise InvalidInput(
            f"column '{self.names[j]}' has values up to {np.nanmax(np.abs(block[:, j])):.3g}, whose "
            "squares overflow. Divide it by a power of ten."
        )


def infinity(name: str, row: int) -> InvalidInput:
    """The error for a value that is infinite, or too large for the number type."""
    return InvalidInput(
        f"column '{name}' contains infinity, or a value too large to be scaled, in row {row}. Replace it "
        "by a number, or by NaN if it is missing."
    )


BLOCK = 4096


def block_rows(columns: int) -> int:
    """Rows summed together: no more than 8 MB of them, and no more than BLOCK."""
    return max(1, min(BLOCK, 2**20 // max(columns, 1)))


@final
class Numbers:
    """p columns of numbers, learned: (x − mean) / scale, 0 where missing, and a column that says so for each
    column of which some training value was missing.

    >>> import numpy as np
    >>> from argmax.features.numbers import Numbers, NumbersIn
    >>> numbers = Numbers(
    ...     ["a", "b"], mean=np.array([1.0, 2]), scale=np.array([1.0, 2]), marked=np.array([1])
    ... )
    >>> numbers.transform(NumbersIn(np.array([[3.0, 2], [0, np.nan]]), 2), float)
    (array([[ 2.,  0.,  0.],
           [-1.,  0.,  1.]]), array([0, 1]))
    """

    def __init__(
        self, names: Sequence[str], mean: Floats, scale: Floats | None, marked: Ints
    ) -> None:
        self.names, self.mean, self.scale, self.marked = tuple(names), mean, scale, marked

    @classmethod
    def of(cls, moments: Moments, standardise: bool) -> Numbers:
        """From what was counted. A constant column keeps its scale; without ``standardise`` all do."""
        marked = np.flatnonzero(moments.count < moments.rows)
        if not standardise:
            return cls(moments.names, moments.mean, None, marked)
        variance, n = moments.variance, moments.rows
        noise = n * np.finfo(np.float64).eps  # what rounding alone can make of a constant column
        constant = variance <= noise * variance + (noise * moments.mean) ** 2
        scale = np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, variance)))
        return cls(moments.names, moments.mean, scale, marked)

    @property
    def width(self) -> int:
        return len(self.names) + len(self.marked)

    def name(self, column: int, called: Mapping[str, str]) -> str:
        """The input column, as it is ``called``, or that its value is missing."""
        p = len(self.names)
        name = self.names[column if column < p else self.marked[column - p]]
        return called.get(name, name) + ("" if column < p else "=<missing>")

    def transform(self, numbers: NumbersIn, dtype: Any) -> tuple[Floats, Ints]:
        """Dense rows (n, width), and how many values of each column were missing (p,)."""
        out = np.empty((numbers.rows, self.width), dtype)
        missing = np.zeros(len(self.names), np.int64)
        for start, stop in self._blocks(numbers.rows):
            missing += self._fill(numbers.block(start, stop), out[start:stop], start)
        return out, missing

    def _blocks(self, rows: int) -> Iterator[tuple[int, int]]:
        size = block_rows(len(self.names))
        return ((start, min(start + size, rows)) for start in range(0, rows, size))

    def _fill(self, block: Floats, out: Floats, first: int) -> Ints:
        p = len(self.names)
        absent = np.isnan(block)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.scale is not None:
                block -= self.mean
                block /= self.scale
            fill = self.mean if self.scale is None else np.zeros(p)
            if absent.any():
                np.copyto(block, fill, where=absent)
            out[:, :p] = block
            self._refuse_infinite(out[:, :p], first)
        out[:, p:] = absent[:, self.marked]
        return np.asarray(absent.sum(axis=0))

    def _refuse_infinite(self, block: Floats, first: int) -> None:
        if np.isfinite(block.sum(dtype=np.float64)):  # one reduction, no temporary
            return
        infinite = np.argwhere(~np.isfinite(block))
        if len(infinite):
            row, j = infinite[0].tolist()
            raise infinity(self.names[j], first + row)
