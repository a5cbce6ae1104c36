"""The rows of one problem, by name: a set, or a family and the seed of a draw.

    digits, digits/std        a set, raw and with standardised columns
    20news/counts             a text, as counts and as tf-idf
    scales#1234               a draw of the family ``scales``
    chains-short#7            a draw of sequences; ``chains-conll2000`` is a corpus
    graphs-grids#7            a draw of graphs; ``graphs-snakes`` is a set of pictures

A name says all: anybody can make the same rows again with ``load(name)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Facts", "Rows", "kind", "load"]


@dataclass(frozen=True)
class Facts:
    """What decides which peers can fit some rows."""

    n: int
    d: int
    k: int
    sparse: bool
    weighted: bool


@dataclass(frozen=True, eq=False)
class Rows:
    """What is fitted: X (n, d) dense or CSR, labels y (n,) 0 … k−1, and weights (n,) or None."""

    name: str
    X: Any
    y: Any
    weight: Any = None

    @property
    def k(self) -> int:
        return int(self.y.max()) + 1

    @property
    def work(self) -> float:
        """Multiply-adds of the scores of all rows: n·d·k, or entries times k."""
        entries = self.X.size if isinstance(self.X, np.ndarray) else self.X.nnz
        return float(entries) * self.k

    @property
    def facts(self) -> Facts:
        n, d = self.X.shape
        return Facts(n, d, self.k, not isinstance(self.X, np.ndarray), self.weight is not None)

    def describe(self) -> str:
        n, d = self.X.shape
        kind = "" if isinstance(self.X, np.ndarray) else ", sparse"
        return f"{n} × {d}, k = {self.k}{kind}"


def kind(name: str) -> str:
    """ "rows", "sequences" or "graphs"."""
    return {"chains": "sequences", "graphs": "graphs"}.get(name.split("-")[0], "rows")


def load(name: str) -> Any:
    """The rows of this name: ``Rows``, or ``Sequences`` or ``Graphs``."""
    if kind(name) == "sequences":
        from . import sequences

        return sequences.draw(name) if "#" in name else sequences.read(name)
    if kind(name) == "graphs":
        from . import graphs

        return graphs.draw(name) if "#" in name else graphs.read(name)
    if "#" in name:
        from .families import draw

        family, seed = name.split("#")
        return Rows(name, *draw(family, int(seed)))
    from .sets import read

    return read(name)
