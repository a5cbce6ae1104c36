"""Several labels a row in a table: columns of zeros and ones, or one column that lists them.

bus,car,text           --target bus,car
1,0,a long street
tags,text              --target tags
bus|tree,a long street
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ...data import Source
from ...errors import InvalidInput
from ...records import Batch, Ints, Strings
from ..reading import SHORT, others

__all__ = ["FirstRows", "LabelSets", "Target", "recognised", "target_of"]

DELIMITERS = ("|", ";", ",")
"""What is looked for between labels; any other is named with --labels."""

ROWS = 2000
"""Rows that are looked at for it."""

SEVERAL, SHARED = 0.05, 0.5
"""A column lists labels if at least this share of its rows has several, and this share of the labels occurs
in different company."""

LONGEST = 60
"""Characters of a label, beyond which a column is text."""

FLAGS = {
    **dict.fromkeys(("0", "0.0", "false", "no"), False),
    **dict.fromkeys(("1", "1.0", "true", "yes"), True),
}


@final
@dataclass(frozen=True, slots=True)
class Target:
    """The columns of the labels, and what stands between labels (None: columns of zeros and ones)."""

    columns: tuple[str, ...]
    delimiter: str | None = None

    @property
    def shown(self) -> str:
        """The columns, for a message."""
        if len(self.columns) > 6:
            return f"{', '.join(self.columns[:4])} and {len(self.columns) - 4} more"
        return ", ".join(self.columns)


def target_of(source: Source, text: str | None, labels: str) -> Target | None:
    """What ``--target`` and ``--labels`` say; None where rows have one label each."""
    names, labels = [column.name for column in source.columns], SHORT.get(labels, labels)
    if not labels:
        raise InvalidInput(
            "--labels must be auto, none, or what stands between labels; got nothing."
        )
    if source.format == "svmlight" and labels not in ("auto", "none"):
        raise InvalidInput(f"--labels: {source.path} is svmlight, which has one label a row.")
    if text is None or source.format == "svmlight":
        return None
    if text in names:
        return _listed(source, text, labels)
    pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
    if len(pieces) < 2 and "*" not in text:
        return None
    found = dict.fromkeys(name for piece in pieces for name in _matching(source, piece, names))
    if len(found) == 1:
        return _listed(source, next(iter(found)), labels)
    if labels != "auto":
        raise InvalidInput(
            f"--labels is for one column that lists labels, but --target names {len(found)} columns. Leave "
            "it out."
        )
    return Target(tuple(found))


def _matching(source: Source, piece: str, names: Sequence[str]) -> list[str]:
    found = [name for name in names if name == piece or ("*" in piece and fnmatchcase(name, piece))]
    if not found:
        near = difflib.get_close_matches(piece, names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else others(names)
        raise InvalidInput(f"{source.path} has no column {piece!r} for --target. {hint}")
    return found


def _listed(source: Source, name: str, labels: str) -> Target | None:
    if labels == "none":
        return None
    if labels != "auto":
        return Target((name,), labels)
    first = next(iter(source.batches([name], rows=ROWS, strings=[name])), None)
    values = [] if first is None else _texts(first, name)
    delimiter = recognised([value for value in values if value])
    return None if delimiter is None else Target((name,), delimiter)


def recognised(values: Sequence[str]) -> str | None:
    """What stands between the labels of each value; None where a value is one label.

    >>> from argmax.cli.label_sets.reading import recognised
    >>> recognised(["bus|car", "car", "tree|car", "bus", "bus|tree"])
    '|'
    >>> recognised(["Oslo, Norway", "Rome, Italy", "Bern, Switzerland"]) is None
    True
    """
    whole = set(values)
    for delimiter in DELIMITERS:
        pieces = {value: _pieces(value, delimiter) for value in whole}
        several = sum(len(pieces[value]) > 1 for value in values)
        company: dict[str, int] = {}
        for parts in pieces.values():
            for label in parts:
                company[label] = company.get(label, 0) + 1
        shared = sum(n > 1 for n in company.values())
        if (
            several
            and several >= SEVERAL * len(values)
            and len(company) < len(whole)
            and shared >= SHARED * len(company)
            and max(map(len, company)) <= LONGEST
        ):
            return delimiter
    return None


def _pieces(value: str, delimiter: str) -> tuple[str, ...]:
    stripped = (piece.strip() for piece in value.split(delimiter))
    return tuple(dict.fromkeys(piece for piece in stripped if piece))


def _texts(batch: Batch, name: str) -> list[str | None]:
    column = batch.columns[name]
    assert isinstance(column, Strings)
    return column.tolist()


@final
class LabelSets:
    """The sets of labels of a file, batch by batch: ``codes`` numbers them as they come.

    >>> from argmax.cli.label_sets.reading import LabelSets, Target
    >>> from argmax.records import Batch, Strings
    >>> sets = LabelSets(Target(("tags",), "|"))
    >>> sets.codes(Batch({"tags": Strings.of(["car|bus", "bus|car", None])}))
    array([0, 0, 1])
    >>> sets.labels, sets.matrix()
    (['bus', 'car'], array([[1, 1],
           [0, 0]]))
    """

    def __init__(self, target: Target, path: str = "") -> None:
        self.target, self._path, self._rows = target, path, 0
        self._place: dict[str, int] = {}
        if target.delimiter is None:
            self._place = {name: i for i, name in enumerate(target.columns)}
        self._known: dict[tuple[int, ...], int] = {}  # code of each set
        self.sets: list[tuple[int, ...]] = []

    @property
    def labels(self) -> list[str]:
        """The labels: columns in their order, listed labels in that of the alphabet."""
        return list(self._place) if self.target.delimiter is None else sorted(self._place)

    def codes(self, batch: Batch) -> Ints:
        """The code of the set of each row (n,); −1 where a cell of zeros and ones is missing."""
        rows = self._flags(batch) if self.target.delimiter is None else self._lists(batch)
        self._rows += len(batch)
        return np.array([self._code(row) for row in rows], np.int64).reshape(-1)

    def _code(self, row: tuple[int, ...] | None) -> int:
        if row is None:
            return -1
        code = self._known.setdefault(row, len(self.sets))
        if code == len(self.sets):
            self.sets.append(row)
        return code

    def _lists(self, batch: Batch) -> list[tuple[int, ...] | None]:
        assert self.target.delimiter is not None
        place, delimiter, cache = self._place, self.target.delimiter, dict[str, tuple[int, ...]]()
        rows: list[tuple[int, ...] | None] = []
        for value in _texts(batch, self.target.columns[0]):
            if value not in cache:
                labels = () if value is None else _pieces(value, delimiter)
                cache[value or ""] = tuple(sorted(place.setdefault(l, len(place)) for l in labels))
            rows.append(cache[value or ""])
        return rows

    def _flags(self, batch: Batch) -> list[tuple[int, ...] | None]:
        table = np.stack([self._column(batch, name) for name in self.target.columns], axis=1)
        missing: Any = (table < 0).any(axis=1)
        return [
            None if gone else tuple(np.flatnonzero(row).tolist())
            for row, gone in zip(table, missing.tolist(), strict=True)
        ]

    def _column(self, batch: Batch, name: str) -> NDArray[np.int8]:
        values = _texts(batch, name)
        table = {value: _flag(value) for value in set(values)}
        if (
            wrong := next((value for value, flag in table.items() if flag is None), None)
        ) is not None:
            raise InvalidInput(
                f"column {name!r} of {self._path} must hold 0 and 1, since --target names several columns; "
                f"row {self._rows + values.index(wrong)} has {wrong[:40]!r}."
            )
        return np.array([table[value] for value in values], np.int8)

    def matrix(self, labels: Sequence[str] | None = None) -> Ints:
        """Zeros and ones (sets, k): which of these labels (None: all) each set has."""
        order = {name: i for i, name in enumerate(self.labels if labels is None else labels)}
        column = [order.get(name, -1) for name in self._place]  # of each place
        table = np.zeros((len(self.sets), len(order)), np.int64)
        for row, places in enumerate(self.sets):
            table[row, [column[p] for p in places if column[p] >= 0]] = 1
        return table

    def names(self) -> list[str]:
        """Each set as it is written."""
        labels = list(self._place)
        return [" | ".join(labels[p] for p in row) or "(none)" for row in self.sets]


@final
class FirstRows:
    """Of each row, whether one of its labels is met in it for the first time, batch by batch."""

    def __init__(self, sets: LabelSets) -> None:
        self._sets = sets
        self._seen: set[int] = set()
        self._done: set[int] = {-1}

    def __call__(self, codes: Ints) -> NDArray[np.bool_]:
        """Given the codes of the sets of the next rows."""
        marks = np.zeros(len(codes), np.bool_)
        for i, code in enumerate(codes.tolist()):
            if code not in self._done:
                self._done.add(code)
                new = set(self._sets.sets[code]) - self._seen
                marks[i] = bool(new)
                self._seen |= new
        return marks


def _flag(value: str | None) -> Any:
    """0 or 1, −1 where it is missing, None where it is neither."""
    return -1 if value is None else FLAGS.get(value.strip().casefold())
