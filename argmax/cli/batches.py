"""Batches of a table: joined, and some of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records import Batch, Csr, Floats, Strings

__all__ = ["joined", "selected", "size"]

Column = Floats | Strings | Csr


def joined(batches: Sequence[Batch]) -> Batch:
    """The rows of all batches, one below the other.

    >>> from argmax.cli.batches import joined
    >>> from argmax.records import Batch, Strings
    >>> parts = [
    ...     Batch({"city": Strings.of(["Oslo"])}),
    ...     Batch({"city": Strings.of([None, "Rome"])}, 1),
    ... ]
    >>> joined(parts).columns["city"].tolist()
    ['Oslo', None, 'Rome']
    """
    if len(batches) == 1:
        return batches[0]
    names = list(batches[0].columns)
    columns = {name: _joined([batch.columns[name] for batch in batches]) for name in names}
    return Batch(columns, batches[0].first)


def _joined(parts: Sequence[Any]) -> Column:
    if isinstance(parts[0], Strings):
        data = [part.data[part.offsets[0] : part.offsets[-1]] for part in parts]
        gone = [np.zeros(len(p), np.bool_) if p.missing is None else p.missing for p in parts]
        offsets = _ends(np.concatenate([np.diff(part.offsets) for part in parts]))
        missing = np.concatenate(gone)
        return Strings(np.concatenate(data), offsets, missing if missing.any() else None)
    if isinstance(parts[0], Csr):
        entries = [slice(part.indptr[0], part.indptr[-1]) for part in parts]
        indices = [part.indices[entry] for part, entry in zip(parts, entries, strict=True)]
        values = [_values(part)[entry] for part, entry in zip(parts, entries, strict=True)]
        indptr = _ends(np.concatenate([np.diff(part.indptr) for part in parts]))
        width = max(part.width for part in parts)
        return Csr(indptr, np.concatenate(indices), np.concatenate(values), width)
    return np.concatenate(parts)


def selected(batch: Batch, rows: NDArray[Any]) -> Batch:
    """Some rows of a batch, in their order; ``rows`` says of each whether it stays.

    >>> import numpy as np
    >>> from argmax.cli.batches import selected
    >>> from argmax.records import Batch, Strings
    >>> batch = Batch({"size": np.array([1.0, 2.0]), "city": Strings.of(["Oslo", "Rome"])})
    >>> selected(batch, np.array([False, True])).columns["city"].tolist()
    ['Rome']
    """
    if rows.all():
        return batch
    return Batch({name: _selected(c, rows) for name, c in batch.columns.items()}, batch.first)


def _selected(column: Any, rows: NDArray[Any]) -> Any:
    if isinstance(column, Strings):
        lengths = np.diff(column.offsets)
        data = column.data[column.offsets[0] : column.offsets[-1]][np.repeat(rows, lengths)]
        missing = None if column.missing is None else column.missing[rows]
        return Strings(data, _ends(lengths[rows]), missing)
    if isinstance(column, Csr):
        lengths = np.diff(column.indptr)
        entries, stay = slice(column.indptr[0], column.indptr[-1]), np.repeat(rows, lengths)
        values = _values(column)[entries][stay]
        return Csr(_ends(lengths[rows]), column.indices[entries][stay], values, column.width)
    return column[rows]


def size(batch: Batch) -> int:
    """Bytes that a batch takes."""
    return sum(_bytes(column) for column in batch.columns.values())


def _bytes(column: Column) -> int:
    if isinstance(column, Strings):
        return int(column.offsets[-1] - column.offsets[0]) + column.offsets.nbytes
    if isinstance(column, Csr):
        return column.entries * 16 + column.indptr.nbytes
    return int(column.nbytes)


def _values(rows: Csr) -> Floats:
    return np.ones(len(rows.indices)) if rows.values is None else rows.values


def _ends(lengths: NDArray[Any]) -> NDArray[np.int64]:
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends
