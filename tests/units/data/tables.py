"""What the tests of readers share: small files, and whole tables from batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from argmax.records import Batch, Strings


def table(batches: Iterable[Batch]) -> dict[str, list[Any]]:
    """Batches put together: a list for each column, None where a value is missing."""
    columns: dict[str, list[Any]] = {}
    for batch in batches:
        for name, column in batch.columns.items():
            columns.setdefault(name, []).extend(_values(column))
    return columns


def _values(column: Any) -> list[Any]:
    if isinstance(column, Strings):
        return column.tolist()
    return [None if np.isnan(value) else value for value in column.tolist()]
