"""Cells of text -> numbers or Strings, a column at a time.

A cell is a string, or None where a row of JSON has no value. A cell counts as missing if it is None or if,
without the spaces around it, it is one of the strings that stand for "missing". Everything here works on
whole columns: what is done for each cell is done inside NumPy, or inside Python's own loops in C.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, WrongType
from ..features import is_number
from ..records import Strings

__all__ = ["MISSING", "Cell", "Cells", "missing_set", "shown"]

Cell: TypeAlias = str | None

MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL")
"""Strings that stand for a missing value unless the caller lists others."""


@final
@dataclass(frozen=True, slots=True)
class Cells:
    """How cells are converted: which of them are missing.

    >>> cells = Cells(frozenset({"", "NA"}))
    >>> cells.numbers(["1", "2.5", " NA", None])
    array([1. , 2.5, nan, nan])
    >>> cells.strings(["red", "NA", None]).tolist()
    ['red', None, None]
    """

    missing: frozenset[str]

    def numbers(self, cells: Sequence[Cell]) -> NDArray[np.float64]:
        """The cells as numbers, NaN where missing. Raises ValueError if one is not a finite number."""
        different = list(set(cells))
        if 2 * len(different) > len(cells):
            return self._parsed(cells)
        known = dict(zip(different, self._parsed(different).tolist(), strict=True))
        return np.fromiter(map(known.__getitem__, cells), np.float64, len(cells))

    def _parsed(self, cells: Sequence[Cell]) -> NDArray[np.float64]:
        """In one go if nothing is unusual; otherwise cell by cell."""
        blank = dict.fromkeys((*self.missing, None), "nan")
        filled: list[str] = list(map(blank.get, cells, cells))  # type: ignore[arg-type]
        joined = "".join(filled)
        if joined.isascii() and "_" not in joined:  # float() reads 1_000, and digits of all scripts
            try:
                values = np.fromiter(map(float, filled), np.float64, len(filled))
            except ValueError:
                return self._one_by_one(cells)
            odd = np.flatnonzero(~np.isfinite(values)).tolist()
            if all(cells[i] in blank for i in odd):
                return values
        return self._one_by_one(cells)

    def _one_by_one(self, cells: Sequence[Cell]) -> NDArray[np.float64]:
        return np.array([self._number(cell) for cell in cells], np.float64)

    def _number(self, cell: Cell) -> float:
        if self.is_missing(cell):
            return math.nan
        if cell is None or not is_number(cell) or not math.isfinite(value := float(cell)):
            raise ValueError(cell)
        return value

    def is_missing(self, cell: Cell) -> bool:
        """Whether a cell counts as missing."""
        return cell is None or cell.strip() in self.missing

    def first_bad(self, cells: Sequence[Cell]) -> int:
        """Where the first cell is that ``numbers`` cannot read."""
        for i, cell in enumerate(cells):
            try:
                self._number(cell)
            except ValueError:
                return i
        raise AssertionError("every cell is a number")

    def present(self, cells: Sequence[Cell]) -> Sequence[Cell]:
        """The cells, None where missing."""
        gone = self._gone(cells)
        return [None if g else c for c, g in zip(cells, gone, strict=True)] if any(gone) else cells

    def strings(self, cells: Sequence[Cell]) -> Strings:
        """The cells as Strings. Raises UnicodeEncodeError if one is no text (half a surrogate pair)."""
        gone = self._gone(cells)
        texts = ["" if g or c is None else c for c, g in zip(cells, gone, strict=True)]
        return _strings(texts, np.array(gone, np.bool_) if any(gone) else None)

    def _gone(self, cells: Sequence[Cell]) -> list[bool]:
        if None in cells:
            return [self.is_missing(cell) for cell in cells]
        return list(map(self.missing.__contains__, map(str.strip, cells)))  # type: ignore[arg-type]


def _strings(texts: Sequence[str], missing: NDArray[np.bool_] | None) -> Strings:
    joined = "".join(texts)
    parts: Sequence[str] | list[bytes] = texts
    if joined.isascii():
        data = joined.encode("ascii")
    else:
        parts = [text.encode("utf-8") for text in texts]
        data = b"".join(parts)
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
    return Strings(np.frombuffer(data, np.uint8), offsets, missing)


def missing_set(missing: Iterable[str]) -> frozenset[str]:
    """The strings that stand for a missing value, checked."""
    if isinstance(missing, str):
        raise WrongType(f"missing must be a list of strings; got one string. Pass [{missing!r}].")
    found = list(missing)
    for value in found:
        if not isinstance(value, str):
            raise WrongType(f"missing must be a list of strings; it holds {value!r}.")
        if value != value.strip():
            raise InvalidInput(
                f"missing holds {value!r}, with spaces around it. Leave them out: cells are compared "
                "without the spaces around them."
            )
    return frozenset(found)


def shown(value: str, width: int = 40) -> str:
    """A value for a message: quoted, escaped, and cut if it is long.

    >>> print(shown("a\\tb"), shown("x" * 50, 5))
    'a\\tb' 'xxxxx…'
    """
    return repr(value if len(value) <= width else value[:width] + "…")
