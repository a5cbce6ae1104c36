"""Rows of numbers to fit on: in memory, or beyond that in files. The same rows either way.

The table of features is fitted once, on all rows to learn from, and C is chosen on a part of them. What the
table knows of the rest (which words there are, how frequent, and the means of numbers) has no labels in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..engines import Stored
from ..errors import BadFile
from ..features import Table
from .console import Stage
from .material import Material
from .splitting import Draws

__all__ = ["FEW", "STRETCH", "InFiles", "InMemory", "Rows"]

STRETCH = 5
"""One row in five is for choosing C."""

FEW = 2000
"""Rows up to which C is chosen on four different fifths, since one of them would decide by chance."""


class Rows(ABC):
    """What trials are fitted on and judged by, and what the model is fitted on."""

    table: Table
    folds: int
    count: int
    """Rows to learn from."""
    features: int
    sparse: bool

    @abstractmethod
    def whole(self) -> tuple[Any, Any]:
        """X and y of all rows to learn from."""

    @abstractmethod
    def part(self, fold: int) -> tuple[Any, Any]:
        """X and y of the rows that a trial is fitted on."""

    @abstractmethod
    def judging(self, fold: int) -> Iterator[tuple[Any, Any]]:
        """X and y, block by block, of the rows that it is judged by."""

    def loss(self, fold: int, model: Any) -> float:
        """Mean surprise at the labels of the rows that a trial did not see."""
        total, rows = 0.0, 0
        for X, y in self.judging(fold):
            column = np.searchsorted(model.classes_, y)
            total -= float(model.predict_log_proba(X)[np.arange(len(y)), column].sum())
            rows += len(y)
        return total / max(rows, 1)


def _places(material: Material, seed: int) -> tuple[NDArray[Any], int]:
    """The fold of each row to learn from, and how many folds are used.

    The last fold has the first row of every class, so it is always learned from.
    """
    codes = material.codes
    return Draws(STRETCH, seed)(codes), STRETCH - 1 if len(codes) <= FEW else 1


@final
class InMemory(Rows):
    """Rows in the memory of this process."""

    def __init__(self, material: Material, table: Table, seed: int) -> None:
        self.table = table
        self._fold, self.folds = _places(material, seed)
        self._y = material.classes[material.codes]
        self._X = table.fit_transform(material.whole())
        self.count, self.features = self._X.shape
        self.sparse = sp.issparse(self._X)

    def whole(self) -> tuple[Any, Any]:
        return self._X, self._y

    def part(self, fold: int) -> tuple[Any, Any]:
        rows = self._fold != fold
        return self._X[rows], self._y[rows]

    def judging(self, fold: int) -> Iterator[tuple[Any, Any]]:
        rows = self._fold == fold
        if rows.any():
            yield self._X[rows], self._y[rows]


@final
class InFiles(Rows):
    """Rows in files below ``folder``, for as many rows as the disk holds.

    The file is read twice more: once to learn its features, once to write the rows. Sets that an earlier run
    finished are taken as they are.
    """

    def __init__(
        self, material: Material, table: Table, seed: int, folder: Path, stage: Stage
    ) -> None:
        self.table, self._folder, self._stage = table, folder, stage
        self._memory = int(material.memory / 8)
        fold, self.folds = _places(material, seed)
        table.fit_batches(self._told("learning features", material.batches()))
        y = material.classes[material.codes]
        self._whole = self._stored("whole", self._rows(material, y))
        self.count, self.features = self._whole.shape
        self.sparse = self._whole.sparse
        self._parts = [
            (
                self._stored(f"part-{number}", self._some(fold != number)),
                self._stored(f"rest-{number}", self._some(fold == number)),
            )
            for number in range(self.folds)
        ]

    def whole(self) -> tuple[Any, Any]:
        return self._whole, None

    def part(self, fold: int) -> tuple[Any, Any]:
        return self._parts[fold][0], None

    def judging(self, fold: int) -> Iterator[tuple[Any, Any]]:
        for X, y, _ in self._parts[fold][1].blocks():
            yield X, y

    def _stored(self, name: str, blocks: Iterator[tuple[Any, Any]]) -> Stored:
        folder = self._folder / name
        try:
            return Stored.open(folder, memory=self._memory)
        except BadFile:  # not there, or cut off
            return Stored.write(folder, blocks, overwrite=True, memory=self._memory)

    def _rows(self, material: Material, y: NDArray[Any]) -> Iterator[tuple[Any, Any]]:
        """(X, y) of all rows, from the file."""
        first = 0
        for batch in self._told("writing rows", material.batches()):
            yield self.table.transform(batch), y[first : first + len(batch)]
            first += len(batch)

    def _some(self, rows: NDArray[np.bool_]) -> Iterator[tuple[Any, Any]]:
        """(X, y) of some rows, from the set that holds them all."""
        first = 0
        for X, y, _ in self._whole.blocks():
            chosen = rows[first : first + len(y)]
            first += len(y)
            if chosen.any():
                yield X[chosen], y[chosen]

    def _told(self, doing: str, batches: Iterator[Any]) -> Iterator[Any]:
        done = 0
        for batch in batches:
            yield batch
            done += len(batch)
            self._stage.update(f"{doing}, {done:,} rows")
