"""Forests with a root, and max- and sum-product over them in NumPy and in logarithms.

    m_c(a)   = max_b [ e(a, b) + I_c(b) ]                 what child c says to its parent's label a
               log Σ_b exp [ e(a, b) + I_c(b) ]           the same for sums
    I_v(a)   = s_v(a) + Σ_c m_c(a)                        everything at and below node v
    P(b | a) ∝ exp [ e(a, b) + I_c(b) ]                   a child, given its parent

The route for small problems, and what the compiled one is compared with. Nodes of the same depth are one step
of a loop, over all examples at once.

Pearl 1988 (Probabilistic Reasoning in Intelligent Systems), chapter 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from ..errors import Unsupported
from ..records import Floats, Ints, Scores
from .pairwise import Pairwise
from .recursions import draw, log_sum, softmax

__all__ = ["Forest", "argmax", "logz", "marginals", "sample"]


@final
@dataclass(frozen=True, slots=True)
class Forest:
    """Scores with every component rooted at its first node.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.spaces.forest import Forest
    >>> from argmax.spaces.pairwise import Pairwise
    >>> star = Scores(np.zeros((3, 2)), None, np.array([0, 3]), np.array([[0, 2], [1, 2]]))
    >>> forest = Forest.of(Pairwise.of(star, 2))
    >>> forest.order, forest.parent, forest.turned
    (array([0, 2, 1]), array([-1,  2,  0]), array([False,  True, False]))
    """

    pair: Pairwise
    order: Ints  # (N,) example by example, a parent ahead of its children
    parent: Ints  # (N,) −1 for a root
    table: Ints  # (N,) the table of the edge to the parent; −1 for a root
    turned: Ints = field(repr=False)  # (N,) whether that table has the child's label in its rows

    @classmethod
    def of(cls, pair: Pairwise) -> Forest:
        order, parent = _rooted(pair.edges, pair.offsets)
        left, right = pair.edges.T
        down = parent[right] == left
        child = np.where(down, right, left)
        table, turned = np.full(len(parent), -1), np.zeros(len(parent), bool)
        table[child], turned[child] = pair.which, ~down
        return cls(pair, order, parent, table, turned)

    @property
    def roots(self) -> Ints:
        return np.flatnonzero(self.parent < 0)

    def levels(self) -> Iterator[Ints]:
        """The nodes that have a parent, by depth: children of roots first."""
        depth = np.zeros(len(self.parent), np.int64)
        for v in self.order.tolist():
            p = self.parent[v]
            depth[v] = depth[p] + 1 if p >= 0 else 0
        by_depth = np.argsort(depth, kind="stable")
        cuts = np.searchsorted(depth[by_depth], np.arange(1, depth.max(initial=0) + 2))
        for first, last in pairwise(cuts.tolist()):
            yield by_depth[first:last]

    def ways(self, inside: Floats, children: Ints) -> Floats:
        """e(a, b) + I_c(b) as (m, k, k)."""
        tables = self.pair.tables[self.table[children]]
        turned = self.turned[children][:, None, None]
        oriented: Floats = np.where(turned, tables.transpose(0, 2, 1), tables)
        return oriented + inside[children][:, None, :]


def _rooted(edges: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """Order and parents. Examples that all have the same edges (sets of labels) are walked through once."""
    n, nodes = len(offsets) - 1, int(offsets[-1])
    size, each = nodes // max(n, 1), len(edges) // max(n, 1)
    if n > 1 and size * n == nodes and each * n == len(edges):
        starts = size * np.arange(n)
        shifted = edges.reshape(n, each, 2) - starts[:, None, None]
        if np.array_equal(offsets[:-1], starts) and (shifted == shifted[0]).all():
            order, parent = _walked(shifted[0], offsets[:2])
            above = np.where(parent < 0, -1, parent + starts[:, None])
            return (order + starts[:, None]).ravel(), above.ravel()
    return _walked(edges, offsets)


def _walked(edges: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """Order and parents by a walk in breadth.

    A node beside all others is joined to the first of each component: one walk from there visits them all.
    """
    nodes, (left, right) = int(offsets[-1]), edges.T
    graph = sp.coo_array((np.ones(len(edges)), (left, right)), shape=(nodes, nodes))
    components, owner = connected_components(graph, directed=False)
    if len(edges) != nodes - components:
        raise Unsupported(
            f"edges must make trees: {nodes} nodes in {components} components have {nodes - components} "
            f"edges then, and there are {len(edges)}. Use spaces.Graph, which may have cycles."
        )
    firsts = np.unique(owner, return_index=True)[1]
    rows, columns = np.append(left, np.full(components, nodes)), np.append(right, firsts)
    joined = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(nodes + 1, nodes + 1))
    order, parent = breadth_first_order(joined, nodes, directed=False)
    order, parent = order[1:].astype(np.int64), parent[:nodes].astype(np.int64)
    parent[parent == nodes] = -1
    example = np.searchsorted(offsets, order, "right")
    return order[np.argsort(example, kind="stable")], parent


# Maxima


def argmax(forest: Forest) -> tuple[Ints, Floats]:
    """Labels (N,) and values (n,) of the best labellings; of equals, the first in lexicographic order."""
    inside, levels = forest.pair.node.copy(), list(forest.levels())
    best = np.zeros((*inside.shape, forest.pair.k), bool)  # which b are best for the parent's a
    for children in reversed(levels):
        ways = forest.ways(inside, children)
        said = ways.max(axis=2)
        best[children] = ways == said[:, :, None]
        np.add.at(inside, forest.parent[children], said)
    roots = forest.roots
    top = inside[roots].max(axis=1)
    live = np.zeros(inside.shape, bool)
    live[roots] = inside[roots] == top[:, None]
    for children in levels:
        live[children] = (live[forest.parent[children]][:, :, None] & best[children]).any(axis=1)
    return _first(forest, live, best), forest.pair.sums(top, roots)


def _first(forest: Forest, live: Floats, best: Floats) -> Ints:
    """The first labelling among equals.

    The best labellings are those whose labels are ``live`` and whose edges are ``best``. On a tree, a label
    that has a partner at every neighbour is part of one; so the nodes are settled in order, and what each
    choice rules out at its neighbours is taken away there, and at theirs.
    """
    undecided = np.flatnonzero(live.sum(axis=1) > 1)
    around: list[list[tuple[int, int]]] = [[] for _ in live]
    if len(undecided):
        for c, p in enumerate(forest.parent.tolist()):
            if p >= 0:
                around[c].append((p, c))
                around[p].append((c, c))
    for v in undecided.tolist():
        live[v, np.argmax(live[v]) + 1 :] = False
        changed = [v]
        while changed:
            u = changed.pop()
            for other, child in around[u]:
                table = best[child] if other == child else best[child].T
                left = live[other] & (live[u][:, None] & table).any(axis=0)
                if not np.array_equal(left, live[other]):
                    live[other] = left
                    changed.append(other)
    return np.asarray(live.argmax(axis=1))


# Sums


def _inside(forest: Forest, levels: list[Ints]) -> tuple[Floats, Floats]:
    """I (N, k), less what was moved from every message into log Z; and log Z (n,)."""
    inside, base = forest.pair.node.copy(), np.zeros(len(forest.pair))
    for children in reversed(levels):
        said = log_sum(forest.ways(inside, children))
        top = said.max(axis=1)
        top[np.isneginf(top)] = 0.0
        np.add.at(inside, forest.parent[children], said - top[:, None])
        base += forest.pair.sums(top, children)
    return inside, base + forest.pair.sums(log_sum(inside[forest.roots]), forest.roots)


def logz(forest: Forest) -> Floats:
    """log Z of each example."""
    return _inside(forest, list(forest.levels()))[1]


def marginals(forest: Forest, weight: Floats, out: Scores) -> Floats:
    """log Z; out: the marginals, times weight (n,). ``out.edge`` is added to."""
    pair, levels, roots = forest.pair, list(forest.levels()), forest.roots
    inside, value = _inside(forest, levels)
    p = np.zeros(inside.shape)
    p[roots] = softmax(inside[roots])
    for children in levels:
        chances = softmax(forest.ways(inside, children))
        pairs = p[forest.parent[children]][:, :, None] * chances
        p[children] = pairs.sum(axis=1)
        if out.edge is not None:
            turned = forest.turned[children][:, None, None]
            pairs = np.where(turned, pairs.transpose(0, 2, 1), pairs)
            share = weight[pair.example[children]][:, None, None]
            np.add.at(out.edge, forest.table[children], share * pairs)
    out.node[:] = p * weight[pair.example][:, None]
    return value


def sample(forest: Forest, uniform: Floats) -> tuple[Ints, Floats]:
    """Draws (draws, N) made of uniform numbers (draws, N); and log Z."""
    levels, roots = list(forest.levels()), forest.roots
    inside, value = _inside(forest, levels)
    draws = np.zeros(uniform.shape, np.intp)
    draws[:, roots] = draw(softmax(inside[roots])[None], uniform[:, roots])
    for children in levels:
        chances = softmax(forest.ways(inside, children))
        above = draws[:, forest.parent[children]]
        p = chances[np.arange(len(children)), above]
        draws[:, children] = draw(p, uniform[:, children])
    return draws, value
