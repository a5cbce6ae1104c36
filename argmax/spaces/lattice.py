"""Sequences as a stack of lattices: what every route through ``Chain`` works on.

States. The next step of a chain depends on its state: for order 1 that is the label; for order 2 the last two
labels, written (a, b) = a·k + b, where a = k stands for the start. State s shows the label s mod k, and has k
successors: label c leads from it to state ``successors[s, c]``. The first label b of a sequence is in state
states − k + b.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import final

import numpy as np

from .. import checks
from ..errors import NoLegalLabelling, NumericalFailure
from ..records import Floats, Ints, Scores

__all__ = ["Lattice"]

BLOCK_WORK = 2e7
"""Multiply-adds after which a compiled route returns to the interpreter: some ten milliseconds."""


@final
@dataclass(frozen=True, slots=True)
class Lattice:
    """Checked scores of n sequences with N nodes and E edges.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.spaces.lattice import Lattice
    >>> lattice = Lattice.of(Scores(np.zeros((5, 2)), None, np.array([0, 3, 5])), k=2, states=2)
    >>> len(lattice), lattice.lengths, lattice.first_edges
    (2, array([3, 2]), array([0, 2]))
    """

    node: Floats  # (N, k) float32 or float64, C-contiguous
    edge: Floats  # (1, states, k) for all edges, or (E, states, k)
    offsets: Ints  # (n + 1,)
    lengths: Ints = field(repr=False)  # (n,)
    first_edges: Ints = field(repr=False)  # (n,) where the tables of each sequence start

    @classmethod
    def of(cls, scores: Scores, k: int, states: int) -> Lattice:
        node, offsets = checks.node_scores(scores, k), checks.sequence_offsets(scores)
        dtype = np.float32 if node.dtype == np.float32 else np.float64
        lengths = np.diff(offsets)
        edges = np.maximum(lengths - 1, 0)
        edge = checks.edge_scores(scores, states, k, int(edges.sum()))
        return cls(
            np.ascontiguousarray(node, dtype),
            np.ascontiguousarray(edge, np.float64),
            offsets,
            lengths,
            np.cumsum(edges) - edges,
        )

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def k(self) -> int:
        return int(self.node.shape[1])

    @property
    def states(self) -> int:
        return int(self.edge.shape[1])

    @property
    def shared(self) -> bool:
        """Whether one table serves all edges."""
        return len(self.edge) == 1

    @property
    def work(self) -> int:
        """Multiply-adds of one sweep."""
        return len(self.node) * self.states * self.k

    @property
    def successors(self) -> Ints:
        """(states, k): the state that each label leads to."""
        labels = np.arange(self.states) % self.k
        turn = labels * self.k if self.states > self.k else np.zeros_like(labels)
        return np.asarray(np.add.outer(turn, np.arange(self.k)))

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Ranges of sequences, each some ten milliseconds of work or a single sequence."""
        size = max(1, int(BLOCK_WORK / (self.states * self.k)))
        cuts = np.searchsorted(self.offsets, np.arange(0, len(self.node), size), "right") - 1
        ends = np.unique(np.concatenate([[0], cuts, [len(self)]]))
        yield from pairwise(ends.tolist())

    def take(self, which: Ints) -> tuple[Lattice, Ints]:
        """Copies of some sequences, in float64, and the nodes they came from."""
        lengths = self.lengths[which]
        edges = np.maximum(lengths - 1, 0)
        nodes, tables = (
            np.repeat(starts[which] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
            for starts, sizes in ((self.offsets[:-1], lengths), (self.first_edges, edges))
        )
        part = Lattice(
            self.node[nodes].astype(np.float64),
            self.edge if self.shared else self.edge[tables],
            np.concatenate([[0], np.cumsum(lengths)]),
            lengths,
            np.cumsum(edges) - edges,
        )
        return part, nodes

    def finite(self) -> Lattice:
        """The lattice, if no score is NaN or +inf. Sums show it by themselves; a maximum may step over it."""
        if not (self.node < np.inf).all():
            raise NumericalFailure("scores.node has NaN or +inf. Scale your features.")
        return self

    # Given labels

    def path(self, labels: Ints) -> Ints:
        """The state at every node of these labels (N,)."""
        labels = np.asarray(labels)
        if self.states == self.k:
            return labels
        before = np.concatenate([labels[:1], labels[:-1]])
        before[self.offsets[:-1][self.lengths > 0]] = self.k
        return before * self.k + labels

    def steps(self) -> tuple[Ints, Ints]:
        """The node at the left end of every edge, in order, and the table of each edge."""
        inner = np.ones(len(self.node), bool)
        inner[self.offsets[1:][self.lengths > 0] - 1] = False
        left = np.flatnonzero(inner)
        return left, np.zeros(len(left), np.intp) if self.shared else np.arange(len(left))

    def score(self, labels: Ints) -> Floats:
        """s(labels) of each sequence."""
        left, tables = self.steps()
        each = self.node[np.arange(len(labels)), labels].astype(float)
        each[left + 1] += self.edge[tables, self.path(labels)[left], labels[left + 1]]
        sequence = np.repeat(np.arange(len(self)), self.lengths)
        return np.bincount(sequence, each, len(self)).astype(float)

    def subtract(self, labels: Ints, weight: Floats | None, out: Scores) -> None:
        """out −= weight · indicator(labels)."""
        share = np.ones(len(self)) if weight is None else weight
        share = np.repeat(share, self.lengths)
        out.node[np.arange(len(labels)), labels] -= share
        if out.edge is not None:
            left, tables = self.steps()
            places = (tables, self.path(labels)[left], labels[left + 1])
            np.subtract.at(out.edge, places, share[left])

    # No answer

    def answered(self, value: Floats) -> Floats:
        """The values; or an error that says which sequence has no answer, and from where on."""
        if np.isneginf(value).any() and not np.isnan(value).any():
            i = int(np.argmax(np.isneginf(value)))
            raise NoLegalLabelling(
                f"example {i} has no legal labelling: {self._dead_end(i)}. "
                "Allow at least one label there, or one more transition."
            )
        return checks.some_answer(value)

    def _dead_end(self, i: int) -> str:
        """Where the first position is that no legal path reaches."""
        start, stop = int(self.offsets[i]), int(self.offsets[i + 1])
        open_nodes, successors = np.isfinite(self.node[start:stop]), self.successors
        open_nodes |= self.node[start:stop] == np.inf
        reached = np.zeros(self.states, bool)
        reached[self.states - self.k :] = open_nodes[0]
        for t in range(stop - start):
            if t > 0:
                table = self.edge[0 if self.shared else int(self.first_edges[i]) + t - 1]
                legal = reached[:, None] & ~np.isneginf(table) & open_nodes[t]
                reached = np.zeros(self.states, bool)
                reached[successors[legal]] = True
            if not reached.any():
                place = f"at position {t} (node {start + t})"
                if not open_nodes[t].any():
                    return f"every label is forbidden {place}"
                return (
                    f"no transition leads from the labels before it to one that is allowed {place}"
                )
        return "every path has a score of −inf"
