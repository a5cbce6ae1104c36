"""Rows to learn from and rows to test on, told apart by their numbers alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray

from ..checks import number, positive_integer
from ..errors import InvalidInput
from ..records import Batch, Csr, Floats, Strings
from .columns import Column
from .source import ROWS, Source

__all__ = ["Part", "split"]

STRETCH = 100
"""Consecutive rows among which the share of the test rows is as asked for."""


_Numbers: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


@overload
def split(rows: int, test: float = ..., seed: int = ...) -> _Numbers: ...
@overload
def split(rows: Source, test: float = ..., seed: int = ...) -> tuple[Part, Part]: ...
def split(rows: int | Source, test: float = 0.2, seed: int = 0) -> Any:
    """Split rows at random: those to learn from, and a share ``test`` to test on.

    For a number of rows, two arrays of row numbers; for a Source, two parts that are read like it. Both
    agree: whether a row is for testing depends on its number, ``test`` and ``seed``, and on nothing
    else, so rows added at the end of a file leave the others where they were. Of each 100
    consecutive rows, as many are for testing as the share says.

    >>> from argmax.data import split
    >>> train, test = split(1000, test=0.25, seed=7)
    >>> len(train), len(test)
    (750, 250)
    """
    share, seed = _share(test), _seed(seed)
    if isinstance(rows, Source):
        return Part(rows, share, seed, held_out=False), Part(rows, share, seed, held_out=True)
    chosen = _held_out(0, positive_integer("rows", rows), share, seed)
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


def _share(test: float) -> float:
    if not 0 < (share := number("test", test, 0, 1)) < 1:
        raise InvalidInput(f"test must lie between 0 and 1; got {test!r}.")
    return share


def _seed(seed: int) -> int:
    return int(number("seed", seed, 0, 2**63))


def _held_out(first: int, count: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Which of the rows first … first + count − 1 are for testing.

    The raw output of PCG64 is the same on every platform and in every version of NumPy: one number
    for each row of a stretch, of which the smallest are for testing, and one that rounds the share.
    """
    start, stop = first // STRETCH, -(-(first + count) // STRETCH)
    bits = np.random.PCG64(seed).advance(start * (STRETCH + 1))
    raw = bits.random_raw((stop - start) * (STRETCH + 1)).reshape(-1, STRETCH + 1)
    ranks = raw[:, :STRETCH].argsort(axis=1).argsort(axis=1)
    whole, rest = divmod(share * STRETCH, 1)
    sizes = int(whole) + (raw[:, STRETCH] < rest * 2.0**64)
    marks = (ranks < sizes[:, None]).ravel()[first - start * STRETCH :]
    return np.asarray(marks[:count], np.bool_)


@final
class Part:
    """Some of the rows of a Source, read like the whole.

    >>> import os, tempfile
    >>> from argmax.data import open_table, samples, split
    >>> path = os.path.join(tempfile.mkdtemp(), "tickets.csv")
    >>> samples.write_tickets(path, n=300)
    >>> train, test = split(open_table(path))
    >>> [sum(len(batch) for batch in part.batches(["text"])) for part in (train, test)]
    [240, 60]
    """

    def __init__(self, source: Source, share: float, seed: int, held_out: bool) -> None:
        self.source = source
        self._share, self._seed, self._held_out = share, seed, held_out

    @property
    def columns(self) -> tuple[Column, ...]:
        """What was found of each column of the whole table."""
        return self.source.columns

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column."""
        return self.source.kinds

    def keeps(self, first: int, count: int) -> NDArray[np.bool_]:
        """Which of the rows first … first + count − 1 of the file belong to this part."""
        held_out = _held_out(first, count, self._share, self._seed)
        return held_out if self._held_out else ~held_out

    def batches(
        self,
        columns: Iterable[str] | None = None,
        *,
        rows: int = ROWS,
        strings: Iterable[str] = (),
    ) -> Iterator[Batch]:
        """As ``Source.batches``; ``first`` counts the rows of this part."""
        return self._batches(self.source.batches(columns, rows=rows, strings=strings))

    def _batches(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        done = 0
        for batch in batches:
            keep = self.keeps(batch.first, len(batch))
            if size := int(keep.sum()):
                yield Batch({name: _some(c, keep) for name, c in batch.columns.items()}, done)
                done += size


def _some(column: Floats | Strings | Csr, keep: NDArray[np.bool_]) -> Floats | Strings | Csr:
    """The rows of a column that are kept."""
    if isinstance(column, Strings):
        starts, lengths = column.offsets[:-1], np.diff(column.offsets)
        data = column.data[starts[0] : column.offsets[-1]][np.repeat(keep, lengths)]
        missing = None if column.missing is None else column.missing[keep]
        return Strings(data, _ends(lengths[keep], np.dtype(np.int64)), missing)
    if isinstance(column, Csr):
        lengths = np.diff(column.indptr)
        entries = slice(column.indptr[0], column.indptr[-1])
        some = np.repeat(keep, lengths)
        values = None if column.values is None else column.values[entries][some]
        indptr = _ends(lengths[keep], column.indptr.dtype)
        return Csr(indptr, column.indices[entries][some], values, column.width)
    return column[keep]


def _ends(lengths: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    ends = np.zeros(len(lengths) + 1, kind)
    np.cumsum(lengths, out=ends[1:])
    return ends
