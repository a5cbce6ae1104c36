"""One pass over a table: what each column is, and what is learned from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import final

import numpy as np

from ..errors import InvalidInput
from ..records import Csr
from .categories import CategoryLearner
from .encoding import Encoding, Sparse, numbers_in, sparse_column
from .hashing import Collisions
from .intake import Sheet, as_strings, missing_in
from .kinds import SAMPLE, infer_kind
from .numbers import Moments, Numbers
from .settings import Settings
from .text import TextLearner

__all__ = ["Columns", "Learner", "decided", "refused"]


# Kinds


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """What is known of the columns before anything is learned from them."""

    kinds: dict[str, str]
    sparse: tuple[str, ...]
    named: bool


def decided(sheets: Iterable[Sheet], given: Mapping[str, str]) -> tuple[Columns, Iterator[Sheet]]:
    """The kind of every column, and all the sheets, those that were looked at included.

    What is not given is inferred from the first rows, as many as ``kinds.SAMPLE``.
    """
    waiting = iter(sheets)
    looked: list[Sheet] = []
    while sum(sheet.rows for sheet in looked) < SAMPLE:
        if (sheet := next(waiting, None)) is None:
            break
        looked.append(sheet)
    if not sum(sheet.rows for sheet in looked):
        raise InvalidInput("X has 0 rows. Give at least one.")
    first = looked[0]
    if absent := [name for name in given if name not in first.columns]:
        raise InvalidInput(
            f"kinds names {listed(absent)}, which X does not have. Its columns are "
            f"{listed(list(first.columns))}."
        )
    kinds = {name: given.get(name) or _inferred(name, looked) for name in first.columns}
    sparse = tuple(name for name, column in first.columns.items() if isinstance(column, Csr))
    columns = Columns(kinds, sparse, first.form in ("frame", "mapping"))
    return columns, chain(_let_go(looked), waiting)


def _let_go(sheets: list[Sheet]) -> Iterator[Sheet]:
    """The sheets in order, none held on to once it was read."""
    while sheets:
        yield sheets.pop(0)


def _inferred(name: str, sheets: list[Sheet]) -> str:
    if sheets[0].matrix is not None or isinstance(sheets[0].columns[name], Csr):
        return "number"
    if sheets[0].form == "texts":
        return "text"
    parts = [sheet.columns[name] for sheet in sheets if name in sheet.columns]
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    if len(arrays) == len(parts):
        numbers = np.concatenate(arrays)[:SAMPLE]
        return infer_kind(numbers, rows=len(numbers), name=name)
    listed = (as_strings(name, part[:SAMPLE]).tolist() for part in parts)
    strings = list(chain.from_iterable(listed))[:SAMPLE]
    return infer_kind(strings, rows=len(strings), name=name)


def listed(names: list[str]) -> str:
    """Some of the names, for an error."""
    return ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")


# Learning


@final
class Learner:
    """Reads sheets in order, each once; ``keep`` remembers the counts of texts for ``ready``."""

    def __init__(self, columns: Columns, settings: Settings, keep: bool) -> None:
        self.settings, self.keep, kinds = settings, keep, columns.kinds
        self.names = list(kinds)
        self.missing = dict.fromkeys(kinds, 0)
        by_kind: dict[str, list[str]] = {"number": [], "category": [], "text": []}
        for name, kind in kinds.items():
            by_kind.get(kind, []).append(name)
        numbers = by_kind["number"]
        self._sparse = {name: 0 for name in numbers if name in columns.sparse}
        self._numbers = tuple(name for name in numbers if name not in self._sparse)
        self._moments = Moments(self._numbers)
        self._categories = {
            name: CategoryLearner(settings.category_min_count, settings.threads)
            for name in by_kind["category"]
        }
        self._texts = {
            name: TextLearner.of(settings.text, settings.threads, keep) for name in by_kind["text"]
        }

    def add(self, sheet: Sheet) -> None:
        """Read one sheet."""
        self._same_columns(sheet)
        if self._numbers:
            self._moments.add(numbers_in(sheet, self._numbers))
        for name in self._sparse:
            self._sparse[name] = max(self._sparse[name], sparse_column(name, sheet).shape[1])
        learners: dict[str, CategoryLearner | TextLearner] = {**self._categories, **self._texts}
        for name, learner in learners.items():
            strings = as_strings(name, sheet.columns[name])
            learner.add(strings)
            self.missing[name] += missing_in(strings)

    def encoding(self) -> Encoding:
        """What was learned."""
        self._moments.close()
        self._count_missing_numbers()
        encoding = Encoding(
            Numbers.of(self._moments, self.settings.standardise),
            {name: Sparse(width) for name, width in self._sparse.items()},
            {name: learner.category() for name, learner in self._categories.items()},
            {name: learner.text() for name, learner in self._texts.items()},
        )
        if not encoding.width:
            raise InvalidInput(
                "no feature is left: every column is ignored, or all its values are too rare. Give kinds "
                "for the columns to use, or lower min_count."
            )
        return encoding

    def ready(self, encoding: Encoding) -> dict[str, Csr]:
        """The rows of all texts that were read, if they were kept."""
        if not self.keep:
            return {}
        return {
            name: learner.rows(encoding.texts[name], self.settings.dtype)
            for name, learner in self._texts.items()
        }

    @property
    def collisions(self) -> dict[str, Collisions]:
        """By column of hashed text."""
        found = {name: learner.collisions for name, learner in self._texts.items()}
        return {name: collisions for name, collisions in found.items() if collisions is not None}

    def _same_columns(self, sheet: Sheet) -> None:
        if sheet.columns.keys() == self.missing.keys():
            return
        raise InvalidInput(
            f"a batch has the columns {listed(list(sheet.columns))}; the first one had "
            f"{listed(self.names)}. All batches need the same."
        )

    def _count_missing_numbers(self) -> None:
        for name, count in zip(self._numbers, self._moments.count.tolist(), strict=True):
            self.missing[name] = self._moments.rows - count
        if self.settings.missing == "refuse":
            for name in self._numbers:
                if self.missing[name]:
                    raise refused(name, self.missing[name])


def refused(name: str, count: int) -> InvalidInput:
    """The error for missing numbers where ``missing="refuse"``."""
    return InvalidInput(
        f"column '{name}' has {count} missing value(s), and missing='refuse'. Fill them in, or use "
        "missing='mean'."
    )
