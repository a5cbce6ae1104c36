"""Scores of nodes and of the edges given with them: what trees and graphs work on.

s(y) = Σ_v s_v(y_v) + Σ_(u,v) e_uv(y_u, y_v)            entry (a, b) of a table: a at ``edges[:, 0]``
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from .. import checks
from ..errors import InvalidInput, NoLegalLabelling, NumericalFailure
from ..records import Floats, Ints, Scores

__all__ = ["Pairwise"]


@final
@dataclass(frozen=True, slots=True)
class Pairwise:
    """Checked scores of n examples with N nodes and E edges.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.spaces.pairwise import Pairwise
    >>> edges, tables = np.array([[0, 1], [0, 2]]), np.zeros((1, 2, 2))
    >>> pair = Pairwise.of(Scores(np.zeros((4, 2)), tables, np.array([0, 3, 4]), edges), 2)
    >>> len(pair), pair.example, pair.which
    (2, array([0, 0, 0, 1]), array([0, 0]))
    """

    node: Floats  # (N, k) float64
    tables: Floats  # (T, k, k) float64
    edges: Ints  # (E, 2)
    which: Ints  # (E,) the table of each edge
    offsets: Ints  # (n + 1,)
    example: Ints  # (N,)

    @classmethod
    def of(cls, scores: Scores, k: int) -> Pairwise:
        node, offsets = checks.node_scores(scores, k), checks.sequence_offsets(scores)
        if not (node < np.inf).all():
            raise NumericalFailure("scores.node has NaN or +inf. Scale your features.")
        example = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        edges = checks.node_pairs(scores.edges, example)
        if scores.edge is not None and scores.edges is None and len(node) > len(offsets) - 1:
            raise InvalidInput(
                "scores.edge has tables, but scores.edges is None, so that they join nothing. Give the "
                "pairs of nodes: edges (E, 2)."
            )
        tables, which = checks.edge_tables(scores, k, len(edges))
        return cls(
            np.ascontiguousarray(node, np.float64),
            np.ascontiguousarray(tables, np.float64),
            edges,
            which,
            offsets,
            example,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def k(self) -> int:
        return int(self.node.shape[1])

    @property
    def work(self) -> int:
        """Multiply-adds of one sweep over all edges."""
        return len(self.node) * self.k + len(self.edges) * self.k**2

    def take(self, which: Ints) -> tuple[Pairwise, Ints, Ints]:
        """Some of the examples, and the nodes and edges they came from."""
        chosen = np.zeros(len(self), bool)
        chosen[which] = True
        nodes = np.flatnonzero(chosen[self.example])
        edges = np.flatnonzero(chosen[self.example[self.edges[:, 0]]])
        place = np.full(len(self.node), -1)
        place[nodes] = np.arange(len(nodes))
        sizes = np.diff(self.offsets)[chosen]
        part = Pairwise(
            self.node[nodes],
            self.tables,
            place[self.edges[edges]],
            self.which[edges],
            np.concatenate([[0], np.cumsum(sizes)]),
            np.repeat(np.arange(len(sizes)), sizes),
        )
        return part, nodes, edges

    def singles(self, which: Ints) -> Iterator[tuple[int, Pairwise, slice, Ints]]:
        """Some of the examples one by one: (i, example i, its nodes, its edges)."""
        owner = self.example[self.edges[:, 0]]
        order = np.argsort(owner, kind="stable")
        first = np.searchsorted(owner[order], np.arange(len(self) + 1))
        for i in which.tolist():
            nodes = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
            edges, size = order[first[i] : first[i + 1]], nodes.stop - nodes.start
            yield (
                i,
                Pairwise(
                    self.node[nodes],
                    self.tables,
                    self.edges[edges] - nodes.start,
                    self.which[edges],
                    np.array([0, size]),
                    np.zeros(size, np.int64),
                ),
                nodes,
                edges,
            )

    def sums(self, each: Floats, nodes: Ints | None = None) -> Floats:
        """Σ over the nodes (all, or these) of each example."""
        example = self.example if nodes is None else self.example[nodes]
        return np.bincount(example, each, len(self)).astype(float)

    def score(self, labels: Ints) -> Floats:
        """s(labels) of each example."""
        left, right = self.edges.T
        total = self.sums(self.node[np.arange(len(labels)), labels])
        if len(self.edges):
            total += self.sums(self.tables[self.which, labels[left], labels[right]], left)
        return total

    def subtract(self, labels: Ints, weight: Floats | None, out: Scores) -> None:
        """out −= weight · indicator(labels)."""
        share = np.ones(len(self)) if weight is None else weight
        share = share[self.example]
        out.node[np.arange(len(labels)), labels] -= share
        if out.edge is not None:
            left, right = self.edges.T
            np.subtract.at(out.edge, (self.which, labels[left], labels[right]), share[left])

    def answered(self, value: Floats) -> Floats:
        """The values; or an error that says which example has no answer, and where it fails."""
        if np.isneginf(value).any():
            i = int(np.argmax(np.isneginf(value)))
            closed = np.flatnonzero(np.isneginf(self.node).all(axis=1) & (self.example == i))
            reason = (
                f"every label is forbidden at node {closed[0] - self.offsets[i]}"
                if len(closed)
                else "no labels of its nodes are allowed together"
            )
            raise NoLegalLabelling(
                f"example {i} has no legal labelling: {reason}. Allow one more label, or one more pair."
            )
        return checks.some_answer(value)
