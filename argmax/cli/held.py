"""Rows to judge a model by, as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..data import Source
from ..errors import InvalidInput
from ..records import Batch, Ints, Strings
from .batches import joined, selected, size
from .console import Console, count
from .reading import lacking, opened, read_as
from .splitting import HeldOut
from .survey import Labels

__all__ = ["Held", "add_labelled", "read_held", "rows_of"]

ROOM = 2**28
"""Bytes of rows that are kept to be judged by, unless told otherwise: half a million short texts."""


@final
class Held:
    """Rows, their labels and their numbers in the file; of more than fit, every second, fourth, … one.

    >>> import numpy as np
    >>> from argmax.cli.held import Held
    >>> from argmax.records import Batch
    >>> held = Held(room=80)
    >>> for first in range(0, 30, 10):
    ...     held.add(Batch({"x": np.arange(10.0)}), ["a"] * 10, np.arange(first, first + 10))
    >>> held.met, held.rows
    (30, array([ 0,  4,  8, 12, 16, 20, 24, 28]))
    """

    def __init__(self, room: float = ROOM) -> None:
        self.room, self.met, self._step = room, 0, 1
        self._batches: list[Batch] = []
        self._labels: list[NDArray[Any]] = []
        self._rows: list[Ints] = []
        self._bytes = 0

    def add(self, batch: Batch, labels: Sequence[str] | NDArray[Any], rows: Ints) -> None:
        """Take some more rows."""
        taken = np.arange(self.met, self.met + len(batch)) % self._step == 0
        self.met += len(batch)
        self._append(selected(batch, taken), np.asarray(labels)[taken], rows[taken])
        while self._bytes > self.room and len(self) > 1:
            self._thin_out()

    def _append(self, batch: Batch, labels: NDArray[Any], rows: Ints) -> None:
        if len(rows):
            self._batches.append(batch)
            self._labels.append(labels)
            self._rows.append(rows)
            self._bytes += size(batch)

    def _thin_out(self) -> None:
        batch, labels, rows = self.batch, self.labels, self.rows
        self._step *= 2
        self._batches, self._labels, self._rows, self._bytes = [], [], [], 0
        stay = np.arange(len(rows)) % 2 == 0
        self._append(selected(batch, stay), labels[stay], rows[stay])

    def __len__(self) -> int:
        return sum(map(len, self._rows))

    @property
    def batch(self) -> Batch:
        """All rows that are held."""
        self._batches = [joined(self._batches)]
        return self._batches[0]

    @property
    def labels(self) -> NDArray[Any]:
        """Their labels."""
        return np.concatenate(self._labels)

    @property
    def rows(self) -> Ints:
        """Their numbers in the file."""
        return np.concatenate(self._rows)


def rows_of(
    path: str,
    target: str,
    columns: dict[str, str],
    *,
    test: float = 0.0,
    seed: int = 0,
    read: Sequence[str] = (),
    room: float = ROOM,
) -> tuple[Batch, NDArray[Any], Ints]:
    """The rows that ``argmax evaluate`` judges by, or (with a share ``test``) that ``argmax train`` held out.

    ``columns`` are the columns that the model reads, and their kinds. Gives the rows, their labels and
    their numbers in the file: what the numbers in a report were computed from.

    >>> import os, tempfile
    >>> from argmax.cli.held import rows_of
    >>> from argmax.data import samples
    >>> path = os.path.join(tempfile.mkdtemp(), "tickets.csv")
    >>> samples.write_tickets(path, n=200)
    >>> X, y, rows = rows_of(path, "team", {"text": "text"}, test=0.2)
    >>> len(X), len(y), len(rows)
    (39, 39, 39)
    """
    source, labels, held = opened(path, read=read), Labels(), Held(room)
    chosen = HeldOut(test, seed) if test else None
    for batch in read_as(columns, source, target):
        codes = labels.codes(batch, target)
        taken = codes >= 0
        if chosen is not None:
            taken[taken] = chosen(codes[taken])
        add_labelled(held, batch, target, taken)
    return held.batch, held.labels, held.rows


def read_held(
    source: Source, target: str, kinds: dict[str, str], room: float, console: Console
) -> Held:
    """The rows of a file that have a label, as many as there is room for, as a model reads them."""
    lacking(source, [*kinds, target])
    held, unlabelled = Held(room), 0
    with console.stage(f"Reading {source.path}") as stage:
        for batch in read_as(kinds, source, target):
            labels: Any = batch.columns[target]
            known = np.ones(len(batch), np.bool_) if labels.missing is None else ~labels.missing
            unlabelled += int((~known).sum())
            add_labelled(held, batch, target, known)
            stage.update(f"{held.met:,} rows")
        stage.done = f"Read {count(held.met, 'row')} of {source.path}"
    if unlabelled:
        console.warn(f"{count(unlabelled, 'row')} of {source.path} without a label: left out.")
    if not len(held):
        raise InvalidInput(f"{source.path} has no row with a label in {target!r} to judge by.")
    return held


def add_labelled(held: Held, batch: Batch, target: str, taken: NDArray[np.bool_]) -> None:
    """Put some rows of a batch to those held."""
    part = selected(batch, taken)
    columns = {name: column for name, column in part.columns.items() if name != target}
    labels = part.columns[target]
    assert isinstance(labels, Strings)
    held.add(
        Batch(columns), np.array(labels.tolist(), dtype=str), batch.first + np.flatnonzero(taken)
    )
