"""Best labellings by minimum cuts: two labels that attract each other exactly, more by expansion moves.

    −s(y) = const + Σ_v c_v y_v + Σ_(u,v) r_uv (1 − y_u) y_v              y ∈ {0, 1}^N,  r ≥ 0

A cut between a source (label 0) and a sink (label 1) costs just that: c_v > 0 is an arc from the source,
c_v < 0 one to the sink, r an arc from u to v. r ≥ 0 says that e(0, 0) + e(1, 1) ≥ e(0, 1) + e(1, 0).

An expansion move lets every node keep its label or take α, the best of all 2^N ways at once.

Kolmogorov and Zabih 2004 (PAMI 26); Boykov, Veksler and Zabih 2001 (PAMI 23).
"""

from __future__ import annotations

import numpy as np

from ..kernels import cuts
from ..records import Floats, Ints
from .pairwise import Pairwise

__all__ = ["attractive", "best_of_two", "expanded"]


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
    return _cut(pair.node, pair.edges, pair.tables[pair.which])


def _cut(node: Floats, edges: Ints, tables: Floats) -> Ints:
    """The best labels 0 and 1 of node scores (N, 2) and a table for each edge (E, 2, 2)."""
    N, (left, right) = len(node), edges.T
    c = node[:, 0] - node[:, 1]
    c = c + np.bincount(left, tables[:, 0, 0] - tables[:, 1, 0], N)
    c = c + np.bincount(right, tables[:, 1, 0] - tables[:, 1, 1], N)
    source, sink, nodes = N, N + 1, np.arange(N)
    tails = np.concatenate([left, np.where(c > 0, source, nodes)])
    heads = np.concatenate([right, np.where(c > 0, nodes, sink)])
    room = np.concatenate([np.maximum(_pull(tables), 0.0), np.abs(c)])
    m = len(room)
    every, ends = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    order = np.argsort(every, kind="stable")
    place = np.empty(2 * m, np.int64)
    place[order] = np.arange(2 * m)
    first = np.searchsorted(every[order], np.arange(N + 3))
    capacity = np.concatenate([room, np.zeros(m)])[order]
    beyond = np.empty(N + 2, np.bool_)
    least = 1e-13 * float(room.max(initial=0.0))
    twin = place[(order + m) % (2 * m)]
    cuts.minimum_cut(first, ends[order], twin, capacity, least, source, sink, beyond)
    return beyond[:N].astype(np.intp)


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
    u, v, new = labels[left], labels[right], np.full(len(tables), alpha)
    pairs = np.stack(
        [
            np.stack([tables[edges, u, v], tables[edges, u, new]], axis=1),
            np.stack([tables[edges, new, v], tables[edges, new, new]], axis=1),
        ],
        axis=1,
    )
    if (_pull(pairs) < 0.0).any():
        return None
    node = np.stack([pair.node[np.arange(len(labels)), labels], pair.node[:, alpha]], axis=1)
    return np.where(_cut(node, pair.edges, pairs) == 1, alpha, labels)
