"""What a fitted table knows, and how it makes rows of numbers, categories and texts, in this order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from ..errors import InvalidInput
from ..records import Csr
from .categories import Category
from .intake import Sheet, as_numbers, as_strings, missing_in, sparse
from .numbers import Numbers, NumbersIn
from .rows import beside, from_dense
from .text import Text

__all__ = ["Encoding", "Met", "Sparse", "numbers_in"]


@final
@dataclass(frozen=True, slots=True)
class Sparse:
    """Many columns of numbers under one name; used as they are."""

    width: int

    def name(self, column: int) -> str:
        """The place of a column."""
        return f"[{column}]"

    def names(self) -> list[str]:
        """The names of all columns."""
        return [self.name(column) for column in range(self.width)]


@final
@dataclass(frozen=True, slots=True)
class Met:
    """What a transform met that training had not: counts by column, of columns where there were any."""

    missing: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Encoding:
    """The learned parts, by input column. The output has the columns of each, one part after the other."""

    numbers: Numbers
    sparse: dict[str, Sparse]
    categories: dict[str, Category]
    texts: dict[str, Text]

    @property
    def dense(self) -> bool:
        """Whether every column is a number."""
        return not (self.sparse or self.categories or self.texts)

    @property
    def parts(self) -> list[tuple[str, Sparse | Category | Text]]:
        """(input column, part) of all but the numbers, in the order of the output."""
        return [*self.sparse.items(), *self.categories.items(), *self.texts.items()]

    @property
    def width(self) -> int:
        return self.numbers.width + sum(part.width for _, part in self.parts)

    def name(self, column: int, called: Mapping[str, str]) -> str:
        """What a column of the output says; ``called`` renames input columns."""
        if not 0 <= column < self.width:
            raise InvalidInput(f"column must be in 0 … {self.width - 1}; got {column}.")
        at = column - self.numbers.width
        if at < 0:
            return self.numbers.name(column, called)
        starts = [0, *accumulate(part.width for _, part in self.parts)]
        place = bisect_right(starts, at) - 1
        name, part = self.parts[place]
        return _before(name, part, called) + part.name(at - starts[place])

    def names(self, called: Mapping[str, str]) -> list[str]:
        """The names of all columns of the output."""
        found = [self.numbers.name(column, called) for column in range(self.numbers.width)]
        for name, part in self.parts:
            before = _before(name, part, called)
            found += [before + rest for rest in part.names()]
        return found

    def transform(
        self, sheet: Sheet, threads: int | None, dtype: Any, ready: Mapping[str, Csr] | None = None
    ) -> tuple[Any, Met]:
        """Rows (n, width), dense if every column is a number; ``ready`` has the rows of texts made before."""
        met = Met()
        dense, missing = self.numbers.transform(numbers_in(sheet, self.numbers.names), dtype)
        for name, count in zip(self.numbers.names, missing.tolist(), strict=True):
            _note(met.missing, name, count)
        if self.dense:
            return dense, met
        blocks = [from_dense(dense)] if dense.shape[1] else []
        for name, part in self.sparse.items():
            blocks.append(self._sparse(name, part, sheet, dtype, met))
        for name, category in self.categories.items():
            strings = as_strings(name, sheet.columns[name])
            rows, unknown = category.transform(strings, dtype)
            _note(met.unknown, name, unknown)
            _note(met.missing, name, missing_in(strings))
            blocks.append(rows)
        for name, text in self.texts.items():
            strings = as_strings(name, sheet.columns[name])
            _note(met.missing, name, missing_in(strings))
            done = (ready or {}).get(name)
            blocks.append(text.transform(strings, threads, dtype) if done is None else done)
        return _scipy(beside(blocks)), met

    @staticmethod
    def _sparse(name: str, part: Sparse, sheet: Sheet, dtype: Any, met: Met) -> Csr:
        X = sparse_column(name, sheet).astype(dtype)
        X.sum_duplicates()
        if X.shape[1] > part.width:
            _note(met.unknown, name, int((X.indices >= part.width).sum()))
            X = X[:, : part.width]
        return Csr(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, part.width)


def sparse_column(name: str, sheet: Sheet) -> Any:
    """A column of sparse numbers, finite ones."""
    column = sheet.columns[name]
    if not isinstance(column, Csr):
        raise InvalidInput(f"column '{name}' was sparse when the table was fitted; now it is not.")
    X = sparse(column)
    if not np.isfinite(X.data).all():
        raise InvalidInput(
            f"column '{name}' contains NaN or infinity. Sparse numbers must be finite."
        )
    return X


def numbers_in(sheet: Sheet, names: tuple[str, ...]) -> NumbersIn:
    """The columns of numbers, to be read block by block."""
    if sheet.matrix is not None and len(names) == sheet.matrix.shape[1]:
        return NumbersIn(sheet.matrix, sheet.rows)
    return NumbersIn([as_numbers(name, sheet.columns[name]) for name in names], sheet.rows)


def _before(name: str, part: Sparse | Category | Text, called: Mapping[str, str]) -> str:
    """What stands before the names of a column's parts: ``features[0]``, ``city=Oslo``, ``note: good``."""
    return called.get(name, name) + {Sparse: "", Category: "=", Text: ": "}[type(part)]


def _note(counts: dict[str, int], name: str, count: int) -> None:
    if count:
        counts[name] = count


def _scipy(rows: Csr) -> Any:
    kind = np.int32 if max(rows.width, len(rows.indices)) < 2**31 else np.int64
    indptr, indices = rows.indptr.astype(kind), rows.indices.astype(kind, copy=False)
    X = sp.csr_array((rows.values, indices, indptr), shape=rows.shape)
    X.has_sorted_indices = X.has_canonical_format = True
    return X
