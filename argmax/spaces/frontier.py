"""Exact labels of wide graphs where a bound is near: a search over a frontier that drops what loses too much.

A dual point says how much a labelling loses against its bound, node by node and edge by edge, none of it
negative. A value already found says how much may be lost. So labels that lose more by themselves are out;
nodes with one label left are settled; the others are labelled one after the other, in an order that keeps
neighbours near each other. What a beginning must remember is the labels of its frontier, the nodes that
still wait for a neighbour: of all beginnings with the same frontier the best is enough, and those that have
lost too much are dropped. Before, losses are moved to the front of the order, so that they show early.

This is dynamic programming along a path decomposition with the pruning of branch and bound. How many states
it meets depends on how near the bound is rather than on the width: a frontier of 7 nodes with 11 labels has
10^7 states, of which a trained model leaves some hundreds.

Desmet, De Maeyer, Hazes and Lasters 1992 (Nature 356) for labels out by bounds; Kask and Dechter 2001
(Artificial Intelligence 129) for bounds by moved tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ..kernels import frontier
from ..records import Floats, Ints

__all__ = ["Losses", "least"]

LOSSES = 1_000_000
"""Losses added up between two looks at the clock and the keyboard: some 50 ms."""

STATES = 2**22
"""States at most, whatever the limit: some 100 MB."""

TABLES = 16
"""How many times more numbers than states the tables of open edges may have together."""


@final
@dataclass(frozen=True, slots=True)
class Losses:
    """What a labelling y loses against a bound: Σ_v node_v(y_v) + Σ_e edge_e(y_u, y_v), nothing negative.

    edge_e(a, b) = m_e→u(a) + m_e→v(b) − e(a, b), of the messages of a dual point.
    """

    node: Floats  # (N, k)
    edges: Ints  # (E, 2)
    tables: Floats  # (T, k, k), e
    which: Ints  # (E,) the table of each edge
    message: Floats  # (E, 2, k), m

    def edge(self, some: Ints, left: Ints, right: Ints) -> Floats:
        """edge_e(left, right) of some edges; the three are broadcast."""
        lost = self.message[some, 0, left] + self.message[some, 1, right]
        return np.asarray(lost - self.tables[self.which[some], left, right])


@final
@dataclass(frozen=True, slots=True)
class _Open:
    """Nodes with several labels left, in the order of the search, and the edges between them."""

    nodes: Ints  # (n,)
    starts: Ints  # (n + 1,) where the neighbours before each node begin
    before: Ints  # their places in the order
    edges: Ints  # the edge to each
    turned: Ints  # whether the second node of that edge comes first


def least(losses: Losses, most: float, limit: int) -> tuple[Ints | None, float]:
    """The labels (N,) that lose least and what they lose, of one example, if that is no more than ``most``.

    Where that would take more than ``limit`` states, (None, a loss that no labelling stays below unless it
    loses more than ``most``).
    """
    left = losses.node <= most
    labels: Ints = left.argmax(axis=1)
    open_ = left.sum(axis=1) > 1
    node, settled = _settled(losses, labels, open_)
    most -= settled
    if not open_.any():
        return labels, settled
    line = _line(losses.edges, open_)
    sizes, names = left[line.nodes].sum(axis=1), (~left[line.nodes]).argsort(axis=1, kind="stable")
    names = names[:, : sizes.max()]
    if names.shape[1] ** 2 * len(line.edges) > TABLES * limit:
        return None, settled
    places, lost = _searched(
        line, sizes, node[line.nodes[:, None], names], _tables(losses, line, names), most, limit
    )
    if places is None:
        return None, settled + lost
    labels[line.nodes] = names[np.arange(len(places)), places]
    return labels, settled + lost


def _settled(losses: Losses, labels: Ints, open_: Ints) -> tuple[Floats, float]:
    """Losses of nodes with those of edges to settled neighbours, and what is lost between settled nodes."""
    node, (u, v) = losses.node.copy(), losses.edges.T
    every = np.arange(node.shape[1])
    both, to_left, to_right = (
        np.flatnonzero(chosen)
        for chosen in (~open_[u] & ~open_[v], open_[u] & ~open_[v], ~open_[u] & open_[v])
    )
    some = to_left[:, None]
    np.add.at(node, u[to_left], losses.edge(some, every, labels[v[some]]))
    some = to_right[:, None]
    np.add.at(node, v[to_right], losses.edge(some, labels[u[some]], every))
    between = losses.edge(both, labels[u[both]], labels[v[both]]).sum()
    alone = node[~open_, labels[~open_]].sum()
    return node, float(between + alone)


def _line(edges: Ints, open_: Ints) -> _Open:
    """Open nodes in an order in which neighbours are near, one component after the other."""
    nodes = np.flatnonzero(open_)
    place = np.full(len(open_), -1)
    place[nodes] = np.arange(len(nodes))
    some = np.flatnonzero(open_[edges[:, 0]] & open_[edges[:, 1]])
    tails, heads = place[np.concatenate([edges[some], edges[some, ::-1]])].T
    around = np.argsort(tails, kind="stable")
    begins, order = np.searchsorted(tails[around], np.arange(len(nodes) + 1)), np.empty_like(nodes)
    frontier.line_up(heads[around], begins, order)
    nodes = nodes[order]
    place[nodes] = np.arange(len(nodes))
    first, last = np.sort(place[edges[some]], axis=1).T
    order = np.argsort(last, kind="stable")
    starts = np.searchsorted(last[order], np.arange(len(nodes) + 1))
    turned = place[edges[some, 0]] > place[edges[some, 1]]
    return _Open(nodes, starts, first[order], some[order], turned[order])


def _tables(losses: Losses, line: _Open, names: Ints) -> Floats:
    """Losses of the open edges (E, m, m) between the labels left, rows for the earlier node."""
    later = np.repeat(np.arange(len(line.nodes)), np.diff(line.starts))
    early, late = names[line.before][:, :, None], names[later][:, None, :]
    turned = line.turned[:, None, None]
    left, right = np.where(turned, late, early), np.where(turned, early, late)
    return losses.edge(line.edges[:, None, None], left, right)


def _searched(
    line: _Open, sizes: Ints, node: Floats, edge: Floats, most: float, limit: int
) -> tuple[Ints | None, float]:
    """Places of the best labels among those left, and their loss; as ``least`` otherwise."""
    n, bits = len(sizes), max(int(sizes.max() - 1).bit_length(), 1)
    field, stay = np.empty(n, np.int64), np.empty(n, np.int64)
    if not frontier.lay_out(line.starts, line.before, bits, field, stay):
        return None, 0.0
    frontier.push_ahead(line.starts, line.before, sizes, node, edge)
    limit = min(limit, STATES)
    key, loss = np.empty(limit, np.int64), np.empty(limit)
    parent, place = np.empty(limit, np.int32), np.empty(limit, np.int32)
    slots = np.zeros(1 << limit.bit_length(), np.int32)
    layers, progress = np.zeros(n + 2, np.int64), np.array([0, 0, 1])
    key[0], loss[0], layers[1] = 0, 0.0, 1
    state = 0
    while state == 0:
        state = frontier.search(
            line.starts, line.before, sizes, node, edge, bits, field, stay, most, LOSSES,
            key, loss, parent, place, slots, layers, progress,
        )  # fmt: skip
    if state < 0:
        v = progress[0]
        return None, float(loss[layers[v] : layers[v + 1]].min())
    if layers[n] == layers[n + 1]:
        return None, most
    places = np.empty(n, np.int64)
    frontier.trace(layers[n], parent, place, places)
    return places, float(loss[layers[n]])
