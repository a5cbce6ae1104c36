"""Columns of categories: one column for each value seen often enough, and one for a missing value."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ..records import Csr, Strings
from .grams import Analyzer
from .intake import missing_in
from .sorting import sorted_order
from .vocabulary import Tally, Vocabulary, taken

__all__ = ["Category", "CategoryLearner"]

WHOLE = Analyzer("value", lowercase=False)


@final
class Category:
    """A column of categories, learned. The last column, if ``missing``, is that of a missing value.

    >>> from argmax.features.categories import Category
    >>> from argmax.features.vocabulary import Vocabulary
    >>> from argmax.records import Strings
    >>> colour = Category(Vocabulary(Strings.of(["blue", "red"])), missing=True)
    >>> rows, unknown = colour.transform(Strings.of(["red", None, "green"]), float)
    >>> rows.indptr, rows.indices, unknown
    (array([0, 1, 2, 2]), array([1, 2], dtype=int32), 1)
    """

    def __init__(self, values: Vocabulary, missing: bool) -> None:
        self.values, self.missing = values, missing

    @property
    def width(self) -> int:
        return len(self.values) + self.missing

    def name(self, column: int) -> str:
        """The category of a column."""
        return "<missing>" if column == len(self.values) else str(self.values.strings[column])

    def names(self) -> list[str]:
        """The names of all columns."""
        return self.values.texts() + ["<missing>"] * self.missing

    def transform(self, strings: Strings, dtype: Any) -> tuple[Csr, int]:
        """Sparse rows (n, width), and how many values were unknown: their rows are empty."""
        codes = self.values.find(strings)
        unknown = codes < 0
        if strings.missing is not None:
            codes[strings.missing] = len(self.values) if self.missing else -1
            unknown &= ~strings.missing
        stay = codes >= 0
        indptr = np.concatenate([[0], np.cumsum(stay)])
        indices = codes[stay].astype(np.int32)
        return Csr(indptr, indices, np.ones(len(indices), dtype), self.width), int(unknown.sum())


@final
class CategoryLearner:
    """Reads a column of categories once, batch by batch."""

    def __init__(self, min_count: int, threads: int | None) -> None:
        self.min_count, self.threads = min_count, threads
        self.missing = 0
        self._tally = Tally()

    def add(self, strings: Strings) -> None:
        """Read some values."""
        self.missing += missing_in(strings)
        for counted in WHOLE.count(strings, self.threads):
            self._tally.absorb(counted.grams, counted.documents)

    def category(self) -> Category:
        """What was learned; values are sorted."""
        chosen = np.flatnonzero(self._tally.documents >= self.min_count)
        strings = taken(self._tally.strings, chosen)
        values = Vocabulary(taken(strings, sorted_order(strings)))
        return Category(values, self.missing > 0)
