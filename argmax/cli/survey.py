"""One look at every row of a table: classes, repeated rows, empty texts, and a sample for closer looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..data import Column
from ..records import Batch, Ints, Strings
from .batches import joined, selected, size
from .console import count
from .findings import ERROR, NOTE, WARNING, Finding
from .fingerprints import Bits, of_column, of_rows
from .leaks import suspects

__all__ = ["RARE", "Labels", "Survey", "examples", "listed"]

SAMPLE_ROWS, SAMPLE_BYTES = 20_000, 2**26
"""Rows from the top of the file that are kept for a closer look."""

RARE = 10
"""Rows below which a class can hardly be learned, and not be judged."""

EXAMPLES = 5


@final
class Labels:
    """Codes for labels, in the order in which they come.

    >>> from argmax.cli.survey import Labels
    >>> from argmax.records import Batch, Strings
    >>> labels = Labels()
    >>> labels.codes(Batch({"y": Strings.of(["yes", None, "no", "yes"])}), "y"), labels.names
    (array([ 0, -1,  1,  0]), ['yes', 'no'])
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._known: dict[int, int] = {}  # code of each fingerprint

    def codes(self, batch: Batch, target: str) -> NDArray[np.int64]:
        """The code of each label (n,), which was read as Strings; −1 where it is missing."""
        column = batch.columns[target]
        assert isinstance(column, Strings)
        found, first, places = np.unique(of_column(column), return_index=True, return_inverse=True)
        codes = np.full(len(found), -1, np.int64)
        for at in np.argsort(first):  # new labels in the order of the rows
            label = column[int(first[at])]
            if label is not None:
                code = self._known.setdefault(int(found[at]), len(self.names))
                if code == len(self.names):
                    self.names.append(label)
                codes[at] = code
        return codes[places]


@final
class Survey:
    """Takes note of a table, batch by batch; ``findings`` says what it saw.

    ``columns`` are those of the file as it was opened, ``target`` the one to predict, and ``one`` what a row
    has of it.
    """

    def __init__(self, columns: tuple[Column, ...], target: str, one: str = "class") -> None:
        self.columns, self.target, self.one = columns, target, one
        self.kinds = {column.name: column.kind for column in columns if column.name != target}
        self.labels = Labels()
        self.rows = self.unlabelled = 0
        self.empty = {name: 0 for name, kind in self.kinds.items() if kind == "text"}
        self._codes: list[Ints] = []
        self._bits: list[Bits] = []
        self._sample: list[tuple[Batch, Ints]] = []
        self._room = (SAMPLE_ROWS, SAMPLE_BYTES)

    @property
    def names(self) -> list[str]:
        """The columns that make two rows the same."""
        return [name for name, kind in self.kinds.items() if kind not in ("id", "ignore")]

    @property
    def codes(self) -> Ints:
        return np.concatenate(self._codes) if self._codes else np.zeros(0, np.int64)

    @property
    def bits(self) -> Bits:
        return np.concatenate(self._bits) if self._bits else np.zeros(0, np.uint64)

    @property
    def counts(self) -> dict[str, int]:
        """Rows of each class, the largest first."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.labels.names))
        order = np.argsort(-counts, kind="stable")
        return {self.labels.names[i]: int(counts[i]) for i in order}

    def add(self, batch: Batch, codes: Ints) -> None:
        """Take note of some rows, whose labels have these codes."""
        self.rows += len(batch)
        self.unlabelled += int((codes < 0).sum())
        self._codes.append(codes)
        self._bits.append(of_rows(batch, self.names))
        for name in self.empty:
            self.empty[name] += _blank(batch.columns[name])
        self._keep(batch, codes)

    def _keep(self, batch: Batch, codes: Ints) -> None:
        rows, room = self._room
        if rows > 0 and room > 0 and len(batch):
            labelled = codes >= 0
            labelled[rows:] = False
            part = selected(batch, labelled)
            self._sample.append((part, codes[labelled]))
            self._room = rows - len(batch), room - size(part)

    # What it saw

    def findings(self) -> list[Finding]:
        """Everything worth saying about the table alone."""
        return [*self._of_classes(), *self.of_table()]

    def of_table(self) -> list[Finding]:
        """The same but for what concerns the classes alone."""
        return [*self._of_rows(), *self._of_columns(), *self._of_leaks()]

    def _of_classes(self) -> Iterator[Finding]:
        counts = self.counts
        if self.unlabelled:
            text = f"{count(self.unlabelled, 'row')} without a label in {self.target!r}: left out."
            rows = examples(self.codes < 0)
            yield Finding(WARNING, "unlabelled", text, self.target, self.unlabelled, rows)
        if len(counts) < 2:
            got = f"only {next(iter(counts))!r}" if counts else "none"
            text = f"{self.target!r} must have at least two classes; there is {got}."
            yield Finding(ERROR, "one-class", text, self.target, len(counts))
        if self.rows and len(counts) > max(20, 0.5 * self.rows):
            text = (
                f"{self.target!r} has {len(counts):,} different values in {self.rows:,} rows: it looks like "
                "a number or an identifier, not like a class."
            )
            yield Finding(ERROR, "not-classes", text, self.target, len(counts))
        elif rare := [name for name, n in counts.items() if n < RARE]:
            text = (
                f"{count(len(rare), 'class')} with fewer than {RARE} rows ({listed(rare)}): too few to "
                "learn from, and to judge by."
            )
            yield Finding(WARNING, "rare-classes", text, self.target, len(rare))
        yield from self._alike(list(counts))

    def _alike(self, names: list[str]) -> Iterator[Finding]:
        """Classes that differ by case or by spaces only."""
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(" ".join(name.split()).casefold(), []).append(name)
        for group in groups.values():
            if len(group) > 1:
                text = f"the classes {listed(group)} differ by capital letters or spaces only."
                yield Finding(WARNING, "alike-classes", text, self.target, len(group))

    def _of_rows(self) -> Iterator[Finding]:
        if not self.names or not self.rows:
            return
        _, first, group = np.unique(self.bits, return_index=True, return_inverse=True)
        repeated = np.arange(self.rows) != first[group]
        if repeated.any():
            total = int(repeated.sum())
            text = (
                f"{count(total, 'row')} {'repeats' if total == 1 else 'repeat'} an earlier one "
                f"({total / self.rows:.1%}). A row that is both learned from and held out flatters the score."
            )
            yield Finding(WARNING, "duplicates", text, None, total, examples(repeated))
        codes = self.codes
        low, high = np.full(len(first), codes.max() + 1), np.full(len(first), -1)
        known = codes >= 0
        np.minimum.at(low, group[known], codes[known])
        np.maximum.at(high, group[known], codes[known])
        conflict = known & (low < high)[group]
        if conflict.any():
            total = int(conflict.sum())
            text = (
                f"{count(total, 'row')} {'has' if total == 1 else 'have'} the same values as another row "
                f"and a different {self.one}. No model can get both right."
            )
            yield Finding(WARNING, "conflicts", text, self.target, total, examples(conflict))

    def _of_columns(self) -> Iterator[Finding]:
        for name, blank in self.empty.items():
            if blank:
                text = f"{count(blank, 'row')} with an empty text in {name!r} ({blank / self.rows:.1%})."
                yield Finding(WARNING, "empty-text", text, name, blank)
        for column in self.columns:
            if column.name == self.target or column.given:
                continue
            if column.kind == "ignore" and column.distinct <= 1:
                what = "is always " + repr(column.examples[0]) if column.examples else "is empty"
                text = f"column {column.name!r} {what} in the first {count(column.sampled, 'row')}: left out."
                yield Finding(NOTE, "constant", text, column.name)
            elif column.kind == "id":
                text = (
                    f"column {column.name!r} looks like an identifier: left out. If it means something, "
                    f"say what: --kinds '{column.name}=category'."
                )
                yield Finding(NOTE, "identifier", text, column.name)
            elif column.missing > 0.5 * column.sampled:
                share = column.missing / column.sampled
                text = f"column {column.name!r} is missing in {share:.0%} of the rows."
                yield Finding(NOTE, "missing", text, column.name)

    def _of_leaks(self) -> Iterator[Finding]:
        if self._sample:
            sample = joined([batch for batch, _ in self._sample])
            codes = np.concatenate([codes for _, codes in self._sample])
            yield from suspects(sample, codes, self.labels.names, self.kinds)

    def overlap(self, test: Survey) -> Iterator[Finding]:
        """What makes a test file unfit to judge a model of this one."""
        if test.rows and self.names:
            met = np.isin(test.bits, self.bits)
            total = int(met.sum())
            if total:
                share = total / test.rows
                text = (
                    f"{count(total, 'row')} of the test file ({share:.1%}) {'is' if total == 1 else 'are'} "
                    "also in the data to learn from: the score would flatter."
                )
                severity = ERROR if share > 0.05 else WARNING
                yield Finding(severity, "overlap", text, None, total, examples(met))
        if unseen := [name for name in test.labels.names if name not in self.labels.names]:
            text = f"the test file has classes that the data do not have: {listed(unseen)}."
            yield Finding(WARNING, "unseen-classes", text, self.target, len(unseen))


def _blank(column: Any) -> int:
    """Texts that are missing or hold nothing but white space."""
    if not isinstance(column, Strings):
        return int(np.isnan(column).sum())
    letters = ~np.isin(column.data, np.frombuffer(b" \t\r\n\x0b\x0c", np.uint8))
    ends = np.concatenate([[0], np.cumsum(letters)])
    return int((ends[column.offsets[1:]] == ends[column.offsets[:-1]]).sum())


def examples(marked: Any) -> tuple[int, ...]:
    """The first rows that are marked."""
    return tuple(np.flatnonzero(marked)[:EXAMPLES].tolist())


def listed(names: list[str], most: int = 5) -> str:
    """Some names for a message."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(repr(name[:40]) for name in names[:most]) + more
