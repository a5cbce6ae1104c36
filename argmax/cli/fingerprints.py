"""64 bits for each row or value: equal ones have equal bits, and different ones all but surely not.

Of ten million different rows two share their bits with a chance of 1 in 400,000.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..features.hashing import hashed
from ..records import Batch, Csr, Floats, Strings

__all__ = ["Bits", "of_column", "of_rows"]

Bits = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MISSING = np.uint64(0x2545F4914F6CDD1D)


def of_rows(batch: Batch, names: Iterable[str]) -> Bits:
    """The fingerprint of each row (n,): of the columns named, in this order.

    >>> from argmax.cli.fingerprints import of_rows
    >>> from argmax.records import Batch, Strings
    >>> bits = of_rows(Batch({"city": Strings.of(["Oslo", "Rome", "Oslo"])}), ["city"])
    >>> bool(bits[0] == bits[2]), bool(bits[0] == bits[1])
    (True, False)
    """
    bits = np.zeros(len(batch), np.uint64)
    for name in names:
        bits = _mixed(bits * GOLDEN + of_column(batch.columns[name]))
    return bits


def of_column(column: Floats | Strings | Csr) -> Bits:
    """The fingerprint of each value (n,)."""
    if isinstance(column, Strings):
        bits = hashed(column).astype(np.uint64) << np.uint64(32) | hashed(column, seed=1)
        return bits if column.missing is None else np.where(column.missing, MISSING, bits)
    if isinstance(column, Csr):
        return _of_sparse(column)
    values = np.asarray(column, np.float64) + 0.0  # −0 is 0
    return np.where(np.isnan(values), MISSING, _mixed(values.view(np.uint64)))


def _of_sparse(rows: Csr) -> Bits:
    entries = slice(rows.indptr[0], rows.indptr[-1])
    values = (
        np.ones(rows.entries) if rows.values is None else rows.values[entries].astype(np.float64)
    )
    places = rows.indices[entries].astype(np.uint64) * GOLDEN
    each = _mixed(_mixed((values + 0.0).view(np.uint64)) + places)
    ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(each)])  # sums modulo 2^64
    indptr = rows.indptr - rows.indptr[0]
    return np.asarray(ends[indptr[1:]] - ends[indptr[:-1]])


def _mixed(bits: Bits) -> Bits:
    """Each bit of the result depends on every bit given (the finaliser of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
