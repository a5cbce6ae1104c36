"""What a table passed from Python says of itself: its columns, and each row in a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final, overload

import numpy as np
import scipy.sparse as sp

from ..data import Column

__all__ = ["Lines", "described", "lines"]

WIDEST = 60
"""Columns beyond which an array is not described one by one, nor its rows written out."""


@final
class Lines(Sequence[str]):
    """Rows as lines, each written when it is asked for: a report shows few of many.

    >>> from argmax.report.tables import Lines
    >>> Lines({"size": [1.5, 2.0], "city": ["Rome", None]})[0]
    'size: 1.5, city: Rome'
    """

    def __init__(self, columns: dict[str, Any]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        cells = {name: values[row] for name, values in self.columns.items()}
        if len(cells) == 1:
            return str(next(iter(cells.values())))
        present = {name: value for name, value in cells.items() if not _is_missing(value)}
        return ", ".join(f"{name}: {_brief(value)}" for name, value in present.items())


def lines(X: Any) -> Lines | None:
    """The rows of a frame, a list of texts or a narrow array; None for anything else."""
    columns = _columns(X)
    return Lines(columns) if columns else None


def described(X: Any) -> list[Column]:
    """Kind, missing and distinct values of each column, where there are few enough to show.

    >>> from argmax.report.tables import described
    >>> (found,) = described(["a first text", "another text", "a third one"])
    >>> found.name, found.kind, found.distinct
    ('text', 'text', 3)
    """
    return [_described(name, values) for name, values in (_columns(X) or {}).items()]


def _described(name: str, values: Any) -> Column:
    if values.dtype.kind in "biuf":
        is_missing = np.isnan(values.astype(float))
        kind, present = "number", np.unique(values[~is_missing]).tolist()
    else:
        from ..features import infer_kind

        cells = [None if _is_missing(value) else str(value) for value in values.tolist()]
        is_missing = np.array([cell is None for cell in cells])
        kind = infer_kind(cells, rows=len(cells), name=name)
        present = list(dict.fromkeys(cell for cell in cells if cell is not None))
    examples = tuple(_brief(value) for value in present[:3])
    return Column(name, kind, False, len(values), int(is_missing.sum()), len(present), examples)


def _columns(X: Any) -> dict[str, Any] | None:
    """The columns as arrays, by name; None where there are none to speak of."""
    if sp.issparse(X):
        return None
    names = getattr(X, "columns", None)
    if names is not None:
        return {str(name): np.asarray(X[name]) for name in list(names)[:WIDEST]}
    values = np.asarray(X)
    if values.ndim == 1 and values.dtype.kind in "OUT":
        return {"text": values}
    if values.ndim != 2 or values.shape[1] > WIDEST:
        return None
    return {f"x{j}": values[:, j] for j in range(values.shape[1])}


def _is_missing(value: Any) -> bool:
    return value is None or bool(value != value)


def _brief(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
