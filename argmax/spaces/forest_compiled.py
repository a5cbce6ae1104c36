"""The functions of ``forest`` on compiled kernels: for large problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np

from ..kernels import trees
from ..records import Floats, Ints, Scores
from .forest import Forest

__all__ = ["argmax", "logz", "marginals", "sample"]

BLOCK_WORK = 1e6
"""Entries of tables after which a kernel returns to the interpreter: some ten milliseconds."""


@final
@dataclass(frozen=True, slots=True)
class _Run:
    """What the kernels of one forest share."""

    forest: Forest
    inside: Floats  # (N, k)
    scaled: Floats  # (N, k)

    @classmethod
    def of(cls, forest: Forest) -> _Run:
        return cls(forest, forest.pair.node.copy(), np.empty(forest.pair.node.shape))

    def blocks(self) -> Iterator[Ints]:
        """The nodes of some examples at a time, a parent ahead of its children: ten milliseconds of work."""
        pair = self.forest.pair
        size = max(1, int(BLOCK_WORK / pair.k**2))
        cuts = np.searchsorted(pair.offsets, np.arange(0, len(pair.node), size), "right") - 1
        for i, j in pairwise(np.unique([*cuts.tolist(), len(pair)]).tolist()):
            nodes = self.forest.order[pair.offsets[i] : pair.offsets[j]]
            if len(nodes):
                yield nodes

    @property
    def rooted(self) -> tuple[Any, ...]:
        forest = self.forest
        return forest.parent, forest.table, forest.turned, forest.pair.tables

    def exponentials(self) -> tuple[Floats, Floats, Floats]:
        """exp(e − max e), max e, and whether a table's sums cannot underflow."""
        tables = self.forest.pair.tables
        highest = tables.max(axis=(1, 2), initial=-np.inf)
        plain = highest - tables.min(axis=(1, 2), initial=np.inf) < trees.SPAN
        highest = np.where(np.isfinite(highest), highest, 0.0)
        return np.exp(tables - highest[:, None, None]), highest, plain

    def upwards(self) -> tuple[Floats, tuple[Any, ...]]:
        """log Z (n,); and what the kernels that go down again are given."""
        exps, highest, plain = self.exponentials()
        pair, value = self.forest.pair, np.zeros(len(self.forest.pair))
        for nodes in self.blocks():
            trees.sum_up(
                nodes,
                *self.rooted,
                exps,
                highest,
                plain,
                self.inside,
                self.scaled,
                pair.example,
                value,
            )
        return value, (*self.rooted, exps, plain, self.inside, self.scaled)


def argmax(forest: Forest) -> tuple[Ints, Floats]:
    """Labels (N,) and values (n,) of the best labellings; of equals, the first in lexicographic order."""
    run, labels = _Run.of(forest), np.zeros(len(forest.order), np.intp)
    for nodes in run.blocks():
        trees.max_up(nodes, *run.rooted, run.inside)
        if trees.max_down(nodes, *run.rooted, run.inside, labels):
            trees.first_of_equals(nodes, *run.rooted, run.inside, labels)
    roots = forest.roots
    return labels, forest.pair.sums(run.inside[roots].max(axis=1), roots)


def logz(forest: Forest) -> Floats:
    """log Z of each example."""
    return _Run.of(forest).upwards()[0]


def marginals(forest: Forest, weight: Floats, out: Scores) -> Floats:
    """log Z; out: the marginals, times weight (n,). ``out.edge`` is added to."""
    run = _Run.of(forest)
    value, down = run.upwards()
    p = np.zeros(run.inside.shape)
    edge = np.zeros((0, 1, 1)) if out.edge is None else out.edge
    forest.pair.answered(value)
    for nodes in run.blocks():
        trees.sum_down(nodes, *down, forest.pair.example, weight, p, edge)
    out.node[:] = p * weight[forest.pair.example][:, None]
    return value


def sample(forest: Forest, uniform: Floats) -> tuple[Ints, Floats]:
    """Draws (draws, N) made of uniform numbers (draws, N); and log Z."""
    run, draws = _Run.of(forest), np.zeros(uniform.shape, np.intp)
    value, down = run.upwards()
    forest.pair.answered(value)
    for nodes in run.blocks():
        trees.sample(nodes, *down, uniform, draws)
    return draws, value
