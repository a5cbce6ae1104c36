"""Rows with their labels and weights, wherever they lie: in memory, in files, on a cluster.

A fit asks for their shape, their classes and their shards, and never for the rows themselves. That is why
nothing in it changes when the rows no longer fit into memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np

from ..layouts import Layout
from ..records import Csr, Floats, Rows, Structures, Truth
from .reading import Reading
from .shards import Shard, cut, entries

__all__ = ["Examples", "Held"]


class Examples(ABC):
    """What a fit reads: (n, d) rows, their classes, and the shards that passes run over.

    >>> from argmax import engines
    >>> issubclass(engines.Stored, engines.Examples)
    True
    """

    shape: tuple[int, int]
    """(n, d)."""
    entries: int
    """Numbers stored in the rows."""
    sparse: bool
    dtype: np.dtype[Any]
    classes: Any
    """The sorted classes (k,)."""
    names: tuple[str, ...] | None = None
    """Names of the features, where they have some."""
    labelled: bool = True
    """Whether there is something to learn from; without labels rows can only be answered."""

    @property
    @abstractmethod
    def totals(self) -> Floats:
        """The weight of each class (k,), added row by row."""

    @abstractmethod
    def prepared(self, factors: Floats | None = None, scale: Floats | None = None) -> Examples:
        """The same, weights times ``factors`` (k,) of the classes, columns divided by ``scale`` (d,)."""

    @abstractmethod
    def check(self) -> None:
        """Before a fit: raise if the rows are known to be others than those that were given."""

    @abstractmethod
    def cut(self, layout: Layout) -> list[Shard]:
        """The shards, by the one rule of ``engines.cut``."""


@final
class Held(Examples):
    """Examples in memory.

    >>> import numpy as np
    >>> from argmax.engines.examples import Held
    >>> from argmax.records import Truth
    >>> examples = Held(np.zeros((4, 2)), Truth(np.array([0, 1, 1, 1])), np.array(["no", "yes"]))
    >>> examples.shape, examples.totals
    ((4, 2), array([1., 3.]))
    """

    def __init__(self, rows: Rows, truth: Truth, classes: Any) -> None:
        self.rows, self.truth, self.classes = rows, truth, classes
        self.shape = len(rows), int(rows.shape[1])
        self.entries, self.sparse, self.dtype = entries(rows), isinstance(rows, Csr), rows.dtype

    @property
    def totals(self) -> Floats:
        labels, weight = self.truth.labels, self.truth.weight
        return np.bincount(labels, weights=weight, minlength=len(self.classes)).astype(float)

    def prepared(self, factors: Floats | None = None, scale: Floats | None = None) -> Held:
        reading = Reading(factors=factors, scale=scale)
        return Held(reading.rows(self.rows), reading.truth(self.truth), self.classes)

    def check(self) -> None:
        """What is in memory is what was given."""

    def cut(self, layout: Layout) -> list[Shard]:
        return cut(Structures(self.rows), self.truth, layout)
