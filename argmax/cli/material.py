"""What a file gives to learn from and to judge by: read once, split on the way, kept if it fits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..data import Source
from ..errors import InvalidInput
from ..records import Batch
from .batches import joined, selected, size
from .console import Console, Stage, count
from .findings import ERROR, Finding, in_order
from .held import Held, add_labelled
from .splitting import HeldOut
from .survey import Survey

__all__ = ["Material", "gathered", "looked_through"]

FACTOR = 8
"""Bytes that a fit in memory takes for each byte of its rows as they are read: n-grams, rows of numbers, the
part of them that C is chosen on, and room to work."""


@final
class Material:
    """A table to learn from. ``kept`` says whether its rows are in memory, or must be read again.

    ``names`` are the columns to learn from and ``kinds`` what they are.
    """

    def __init__(self, source: Source, target: str, held_out: HeldOut, memory: float) -> None:
        self.source, self.target, self.memory = source, target, memory
        self.kinds = {
            name: kind
            for name, kind in source.kinds.items()
            if name != target and kind not in ("id", "ignore")
        }
        if not self.kinds:
            raise InvalidInput(
                f"{source.path} has no column to learn from beside {target!r}: the others are identifiers, "
                "constant, or ignored. Say what they are with --kinds COLUMN=KIND."
            )
        self.survey = Survey(source.columns, target)
        self.held = Held(memory / FACTOR)
        self.kept = True
        self.seconds: dict[str, float] = {}  # by stage
        self._held_out = held_out
        self._batches: list[Batch] = []
        self._bytes = 0
        self._learn: list[NDArray[np.bool_]] = []  # of each row, whether it is learned from

    def read(self, stage: Stage) -> None:
        """Read the whole file once."""
        for batch in self._all():
            codes = self.survey.labels.codes(batch, self.target)
            known = codes >= 0
            held = known.copy()
            held[known] = self._held_out(codes[known])
            self.survey.add(batch, codes)
            if held.any():
                add_labelled(self.held, batch, self.target, held)
            self._learn.append(known & ~held)
            self._keep(batch)
            stage.update(f"{self.survey.rows:,} rows")

    def _all(self) -> Iterator[Batch]:
        return self.source.batches([*self.kinds, self.target], strings=[self.target])

    def _keep(self, batch: Batch) -> None:
        if not self.kept:
            return
        self._batches.append(self._part(batch, self._learn[-1]))
        self._bytes += size(self._batches[-1])
        if self._bytes * FACTOR > self.memory:
            self.kept, self._batches = False, []

    def _part(self, batch: Batch, rows: NDArray[np.bool_]) -> Batch:
        columns = {name: batch.columns[name] for name in self.kinds}
        return selected(Batch(columns, batch.first), rows)

    @property
    def codes(self) -> NDArray[Any]:
        """The classes of the rows to learn from, as numbers in the order in which they were met."""
        return np.asarray(self.survey.codes[np.concatenate(self._learn)])

    @property
    def classes(self) -> NDArray[Any]:
        """The classes in the order in which they were met."""
        return np.array(self.survey.labels.names, dtype=str)

    def whole(self) -> Batch:
        """All rows to learn from. They are handed over: this holds them no longer."""
        batches, self._batches = self._batches, []
        return joined(batches)

    def batches(self) -> Iterator[Batch]:
        """The rows to learn from, read once more."""
        learn, first = np.concatenate(self._learn), 0
        for batch in self._all():
            rows = learn[first : first + len(batch)]
            first += len(batch)
            if rows.any():
                yield self._part(batch, rows)


def gathered(
    source: Source, target: str, held_out: HeldOut, memory: float, console: Console
) -> Material:
    """A whole file, read and split."""
    material = Material(source, target, held_out, memory)
    with console.stage(f"Reading {source.path}") as stage:
        material.read(stage)
        stage.done = f"Read {count(material.survey.rows, 'row')} of {source.path}"
    material.seconds["read"] = stage.seconds
    return material


def looked_through(material: Material, console: Console) -> list[Finding]:
    """What is wrong with the data; what makes a model impossible is an error here."""
    with console.stage("Looking through the rows") as stage:
        findings = in_order(material.survey.findings())
    material.seconds["check"] = stage.seconds
    for finding in findings:
        if finding.code in ("one-class", "not-classes"):
            raise InvalidInput(f"{material.source.path}: {finding.message}")
        if finding.severity == ERROR:
            console.warn(finding.message)
    return findings
