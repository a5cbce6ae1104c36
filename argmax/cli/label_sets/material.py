"""Rows with sets of labels: read once, split on the way, and those to judge by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ...data import Source
from ...errors import InvalidInput, ResourceLimit
from ...records import Batch, Ints
from ..batches import joined, selected, size
from ..console import Console, Stage, count
from ..findings import ERROR, Finding, in_order
from ..held import ROOM, Held
from ..models import columns_of
from ..reading import lacking, opened
from ..splitting import HeldOut
from ..survey import Survey
from .reading import FirstRows, LabelSets, Target
from .survey import label_findings

__all__ = ["Material", "Truth", "gathered", "looked_through", "read_truth", "rows_of"]

FACTOR = 8
"""Bytes that a fit takes for each byte of its rows as they are read."""


@final
class _Apart:
    """Of each row, whether it is held out, batch by batch."""

    def __init__(self, sets: LabelSets, share: float, seed: int) -> None:
        self._drawn, self._first = HeldOut(share, seed), FirstRows(sets)

    def __call__(self, codes: Ints) -> NDArray[np.bool_]:
        """Given the codes of their sets."""
        held = codes >= 0
        held[held] = self._drawn(np.zeros(int(held.sum()), np.int64))
        return held & ~self._first(codes)


@final
class Material:
    """A table to learn from, in memory. Rows are held out at random, whatever their labels; but the first row
    of each label is learned from."""

    def __init__(
        self, source: Source, target: Target, share: float, seed: int, memory: float
    ) -> None:
        self.source, self.target, self.memory = source, target, memory
        columns = tuple(c for c in source.columns if c.name not in target.columns)
        self.kinds = {c.name: c.kind for c in columns if c.kind not in ("id", "ignore")}
        if not self.kinds:
            raise InvalidInput(
                f"{source.path} has no column to learn from beside {target.shown}: the others are "
                "identifiers, constant, or ignored. Say what they are with --kinds COLUMN=KIND."
            )
        self.sets = LabelSets(target, source.path)
        self.survey = Survey(columns, target.shown, "set of labels")
        self.held = Held(memory / FACTOR)
        self.seconds: dict[str, float] = {}  # by stage
        self._held_out = _Apart(self.sets, share, seed)
        self._batches: list[Batch] = []
        self._bytes = 0
        self._learn: list[NDArray[np.bool_]] = []

    def read(self, stage: Stage) -> None:
        """Read the whole file once."""
        names = list(self.target.columns)
        for batch in self.source.batches([*self.kinds, *names], strings=names):
            codes = self.sets.codes(batch)
            self.survey.add(batch, codes)
            held = self._held_out(codes)
            part = Batch({name: batch.columns[name] for name in self.kinds}, batch.first)
            if held.any():
                rows = batch.first + np.flatnonzero(held)
                self.held.add(selected(part, held), codes[held], rows)
            self._learn.append((codes >= 0) & ~held)
            self._keep(selected(part, self._learn[-1]))
            stage.update(f"{self.survey.rows:,} rows")
        self.survey.labels.names = self.sets.names()

    def _keep(self, part: Batch) -> None:
        self._batches.append(part)
        self._bytes += size(part)
        if self._bytes * FACTOR > self.memory:
            raise ResourceLimit(
                f"the rows do not fit into {self.memory / 2**20:,.0f} MiB (--memory), and a table with "
                "several labels a row is fitted in memory. Allow more with --memory, or train on fewer rows."
            )

    @property
    def codes(self) -> Ints:
        """The sets of the rows to learn from."""
        return np.asarray(self.survey.codes[np.concatenate(self._learn)])

    @property
    def matrix(self) -> Ints:
        """Zeros and ones (n, k) of the rows to learn from."""
        return np.asarray(self.sets.matrix()[self.codes])

    def whole(self) -> Batch:
        """All rows to learn from. They are handed over: this holds them no longer."""
        batches, self._batches = self._batches, []
        return joined(batches)

    @property
    def truth(self) -> Truth:
        """The rows held out."""
        return Truth(self.held, self.sets, self.sets.labels)


@final
class Truth:
    """Rows to judge by and their sets of labels: ``labels`` are those that a model knows, and then others."""

    def __init__(self, held: Held, sets: LabelSets, labels: Sequence[str]) -> None:
        self.held, self.sets, self.known = held, sets, len(labels)
        self.labels = [*labels, *(name for name in sets.labels if name not in set(labels))]

    def __len__(self) -> int:
        return len(self.held)

    @property
    def matrix(self) -> Ints:
        """Zeros and ones (n, k)."""
        return np.asarray(self.sets.matrix(self.labels)[self.held.labels])

    @property
    def unseen(self) -> dict[str, int]:
        """Labels that the model does not know, and their rows."""
        rows = self.matrix[:, self.known :].sum(axis=0).tolist()
        return {name: n for name, n in zip(self.labels[self.known :], rows, strict=True) if n}


def gathered(
    source: Source, target: Target, share: float, seed: int, memory: float, console: Console
) -> Material:
    """A whole file, read and split."""
    material = Material(source, target, share, seed, memory)
    with console.stage(f"Reading {source.path}") as stage:
        material.read(stage)
        stage.done = f"Read {count(material.survey.rows, 'row')} of {source.path}"
    material.seconds["read"] = stage.seconds
    return material


def looked_through(material: Material, console: Console) -> list[Finding]:
    """What is wrong with the data; what makes a model impossible is an error here."""
    with console.stage("Looking through the rows") as stage:
        of_labels = label_findings(material.sets, material.survey.codes)
        findings = in_order([*of_labels, *material.survey.of_table()])
    material.seconds["check"] = stage.seconds
    for finding in findings:
        if finding.code in ("one-class", "not-classes"):
            raise InvalidInput(f"{material.source.path}: {finding.message}")
        if finding.severity == ERROR:
            console.warn(finding.message)
    return findings


def read_truth(
    source: Source,
    target: Target,
    kinds: dict[str, str],
    labels: Sequence[str],
    room: float,
    console: Console,
) -> Truth:
    """The rows of a file that have labels, as many as there is room for, as a model reads them."""
    lacking(source, [*kinds, *target.columns])
    with console.stage(f"Reading {source.path}") as stage:
        held, sets = _held(source, target, kinds, room)
        stage.done = f"Read {count(held.met, 'row')} of {source.path}"
    if not len(held):
        raise InvalidInput(f"{source.path} has no row with labels in {target.shown} to judge by.")
    return Truth(held, sets, labels)


def _held(
    source: Source,
    target: Target,
    kinds: dict[str, str],
    room: float,
    share: float = 0.0,
    seed: int = 0,
) -> tuple[Held, LabelSets]:
    """The rows that have labels; with a ``share``, those that training would hold out."""
    held, sets, strings = Held(room), LabelSets(target, source.path), list(target.columns)
    apart = _Apart(sets, share, seed)
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    texts = [name for name in kinds if name not in numbers]
    for batch in source.batches([*kinds, *strings], strings=[*texts, *strings], numbers=numbers):
        codes = sets.codes(batch)
        taken = apart(codes) if share else codes >= 0
        part = selected(Batch({name: batch.columns[name] for name in kinds}), taken)
        held.add(part, codes[taken], batch.first + np.flatnonzero(taken))
    return held, sets


def rows_of(
    path: str,
    target: Sequence[str],
    delimiter: str | None,
    model: Any,
    *,
    test: float = 0.0,
    seed: int = 0,
    read: Sequence[str] = (),
    room: float = ROOM,
) -> tuple[Batch, Ints, Ints]:
    """The rows that ``argmax evaluate`` judges by, or (with a share ``test``) that ``argmax train`` held out.

    ``model`` is the pipeline of the model file. Gives the rows, their labels (n, k) as zeros and ones and
    their numbers in the file: what the numbers in a report were computed from.
    """
    where = Target(tuple(target), delimiter)
    held, sets = _held(opened(path, read=read), where, columns_of(model), room, test, seed)
    truth = Truth(held, sets, model.classes_.tolist())
    return held.batch, truth.matrix, held.rows
