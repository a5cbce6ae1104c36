"""Best labellings by minimum cuts: two labels that attract each other exactly, more by expansion moves.

    −s(y) = const + Σ_v c_v y_v + Σ_(u,v) r_uv [ y_u ≠ y_v ]              y ∈ {0, 1}^N,  r ≥ 0

A cut between a source (label 0) and a sink (label 1) costs just that: c_v > 0 is an arc from the source,
c_v < 0 one to the sink, r an arc from u to v and one back. 2r = e(0, 0) + e(1, 1) − e(0, 1) − e(1, 0).

An expansion move lets every node keep its label or take α, the best of all 2^N ways at once.

Kolmogorov and Zabih 2004 (PAMI 26); Boykov, Veksler and Zabih 2001 (PAMI 23).
"""

from __future__ import annotations

import numpy as np

from ..kernels import cuts
from ..records import Floats, Ints
from .pairwise import Pairwise

__all__ = ["attractive", "best_of_two", "expanded", "minimum_cut"]

STEPS = 3_000_000
"""Steps of a search between two looks at the clock and the keyboard: some 50 ms."""


def attractive(pair: Pairwise) -> bool:
    """Whether a cut finds the best labelling: two labels, finite scores, and no edge that likes to differ."""
    if pair.k != 2 or not (np.isfinite(pair.node).all() and np.isfinite(pair.tables).all()):
        return False
    return bool((_pull(pair.tables)[pair.which] >= 0.0).all())


def _pull(tables: Floats) -> Floats:
    """e(0, 0) + e(1, 1) − e(0, 1) − e(1, 0)."""
    return np.asarray(tables[:, 0, 0] + tables[:, 1, 1] - tables[:, 0, 1] - tables[:, 1, 0])


def best_of_two(pair: Pairwise) -> Ints:
    """The best labels of an attractive pair of labels; of equals, the first in lexicographic order."""
    return _cut(pair.node, pair.edges, pair.tables, pair.which)


def _cut(node: Floats, edges: Ints, tables: Floats, which: Ints) -> Ints:
    """The best labels 0 and 1 of node scores (N, 2), tables (T, 2, 2) and the one of each edge (E,)."""
    N, (left, right), e = len(node), edges.T, tables
    half = 0.5 * np.maximum(_pull(e), 0.0)
    c = node[:, 0] - node[:, 1]
    for ends, slope in (
        (left, e[:, 0, 0] - e[:, 1, 0] - half),
        (right, e[:, 0, 0] - e[:, 0, 1] - half),
    ):
        if slope.any():  # not for Potts
            c += np.bincount(ends, slope[which], N)
    return minimum_cut(c, edges, half[which], half[which])


def minimum_cut(c: Floats, edges: Ints, ahead: Floats, back: Floats) -> Ints:
    """The labels y (N,) of least cost Σ c_v y_v + Σ_e ahead_e (1 − y_u) y_v + back_e y_u (1 − y_v).

    Of several the one with the fewest 1s. ahead and back (E,) are not negative.

    >>> import numpy as np
    >>> from argmax.spaces.cuts import minimum_cut
    >>> one = np.ones(2)
    >>> minimum_cut(np.array([3.0, 0.5, -2.0]), np.array([[0, 1], [1, 2]]), one, one)
    array([0, 0, 1])
    """
    N, A = len(c), 2 * len(edges)
    first, arcs = np.empty(N + 1, np.int32), np.empty(A, cuts.ARC)
    largest = max(np.abs(c).max(initial=0.0), ahead.max(initial=0.0), back.max(initial=0.0))
    excess, ahead, back, least = c.copy(), ahead.copy(), back.copy(), 1e-13 * float(largest)
    cuts.push_direct(edges, ahead, back, excess)
    cuts.fill_arcs(edges, ahead, back, first, arcs)
    level, parent, following = (np.empty(N, np.int32) for _ in range(3))
    lists, listed = np.empty((2, 2, N), np.int32), np.empty((2, N), np.int32)
    state, bucket = np.empty(9, np.int64), np.full(N + 2, -1, np.int32)
    cuts.plant(excess, least, level, parent, lists, listed, state)
    while not cuts.grow(
        first, arcs, excess, level, parent, least, bucket, following, lists, listed, state, STEPS
    ):
        pass
    return (level < 0).astype(np.intp)


def expanded(pair: Pairwise, labels: Ints) -> Ints:
    """Labels that no expansion move improves, from given ones. Moves that cuts cannot make are left out."""
    labels, tables = labels.copy(), pair.tables[pair.which]
    if not (np.isfinite(pair.node).all() and np.isfinite(tables).all()):
        return labels
    value, stale, alpha = float(pair.score(labels).sum()), 0, 0
    while stale < pair.k:
        moved = _expansion(pair, tables, labels, alpha)
        score = -np.inf if moved is None else float(pair.score(moved).sum())
        stale += 1
        if moved is not None and score > value + 1e-12 * (1.0 + abs(value)):
            labels, value, stale = moved, score, 0
        alpha = (alpha + 1) % pair.k
    return labels


def _expansion(pair: Pairwise, tables: Floats, labels: Ints, alpha: int) -> Ints | None:
    """The best labelling in which every node keeps its label or takes α; None where a cut cannot find it."""
    edges, (left, right) = np.arange(len(tables)), pair.edges.T
    u, v = labels[left], labels[right]
    pairs = np.empty((len(tables), 2, 2))
    pairs[:, 0, 0], pairs[:, 0, 1] = tables[edges, u, v], tables[edges, u, alpha]
    pairs[:, 1, 0], pairs[:, 1, 1] = tables[edges, alpha, v], tables[:, alpha, alpha]
    if (_pull(pairs) < 0.0).any():
        return None
    node = np.stack([pair.node[np.arange(len(labels)), labels], pair.node[:, alpha]], axis=1)
    return np.where(_cut(node, pair.edges, pairs, edges) == 1, alpha, labels)
