"""Log-partition and marginals of sets of labels joined by a forest, in closed form.

A label out of the set scores 0, and a pair scores J when both are in. So what a child c tells its parent p
is one number (σ⁺(s) = log(1 + eˢ)):

    inside     s_p ← s_p + σ⁺(s_c + J) − σ⁺(s_c)              children first
    log Z      Σ_v σ⁺(s_v)                                     over all labels, with the scores after that
    outside    P(c, p) = P(p) σ(s_c + J)                       parents first
               P(c)    = P(c, p) + (1 − P(p)) σ(s_c)

All labels of one depth, of all examples, are one operation on arrays.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order
from scipy.special import expit

from ..records import Floats, Ints

__all__ = ["SetForest"]


class _Level(NamedTuple):
    """The labels of one depth, sorted by their parents."""

    child: Ints  # (m,)
    parent: Ints  # (m,)
    pair: Ints  # (m,) which edge joins them
    first: Ints  # where the children of each different parent start
    owner: Ints  # these parents


@final
class SetForest:
    """The forest of ``edges`` (E, 2) over k labels, rooted once for all examples.

    >>> import numpy as np
    >>> from argmax.spaces.set_trees import SetForest
    >>> forest = SetForest(2, np.array([[0, 1]]))
    >>> logz, both, p = forest.marginals(np.zeros((1, 2)), np.array([np.log(3.0)]))
    >>> np.exp(logz), p, both  # of ∅, {0}, {1}, {0, 1} the last has weight 3
    (array([6.]), array([[0.66666667, 0.66666667]]), array([[0.5]]))
    """

    def __init__(self, k: int, edges: Ints) -> None:
        self.k, self.size = k, len(edges)
        depth, parent, pair = _rooted(k, edges)
        self.roots = np.flatnonzero(depth == 0)
        self.levels = []
        for d in range(1, int(depth.max()) + 1):
            child = np.flatnonzero(depth == d)
            child = child[np.argsort(parent[child], kind="stable")]
            owner, first = np.unique(parent[child], return_index=True)
            self.levels.append(_Level(child, parent[child], pair[child], first, owner))

    def logz(self, node: Floats, joint: Floats) -> Floats:
        """log Z (n,) of scores (n, k) and J (E,)."""
        return self._inside(node, joint)[0]

    def marginals(self, node: Floats, joint: Floats) -> tuple[Floats, Floats, Floats]:
        """log Z (n,), P(both of a pair) (E, n) and P(y_j = 1) (n, k)."""
        logz, s, told = self._inside(node, joint)
        p, both = np.empty_like(s), np.empty((self.size, s.shape[1]))
        p[self.roots] = expit(s[self.roots])
        for level, (alone, beside) in zip(self.levels, reversed(told), strict=True):
            above = p[level.parent]
            both[level.pair] = joined = above * beside
            p[level.child] = joined + (1.0 - above) * alone
        return logz, both, p.T

    def _inside(
        self, node: Floats, joint: Floats
    ) -> tuple[Floats, Floats, list[tuple[Floats, Floats]]]:
        """log Z, scores (k, n) with all that is below a label in its own, and from the deepest level up
        P(c | p out) and P(c | p in)."""
        s, told = np.array(node.T, order="C"), []
        logz = np.zeros(s.shape[1])
        for level in reversed(self.levels):
            said, plus, alone, beside = _told(s[level.child], joint[level.pair, None])
            s[level.owner] += np.add.reduceat(said, level.first, axis=0)
            logz += plus.sum(axis=0)
            told.append((alone, beside))
        return logz + _softplus(s[self.roots]).sum(axis=0), s, told


LARGEST = 300.0
"""Of |J|, up to which e^J can be multiplied with without a thought."""


def _told(s: Floats, J: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """σ⁺(s + J) − σ⁺(s), σ⁺(s), σ(s) and σ(s + J), of scores (m, n) and J (m, 1).

    With t = e^−|s| one exponential does for all four, and two logarithms.
    """
    if not (np.abs(J) <= LARGEST).all():
        plus = _softplus(s)
        return _softplus(s + J) - plus, plus, expit(s), expit(s + J)
    t, on, weight = np.exp(-np.abs(s)), s >= 0.0, np.exp(J)
    share = np.where(on, 1.0, t)  # of "in", where "out" has the rest of 1 + t
    out, both = 1.0 + t, share * weight
    total = np.where(on, t, 1.0) + both
    return np.log(total / out), np.maximum(s, 0.0) + np.log(out), share / out, both / total


def _rooted(k: int, edges: Ints) -> tuple[Ints, Ints, Ints]:
    """Depth (k,), parent (k,) and edge to it (k,) of each label; a root has depth 0."""
    left, right = edges[:, 0], edges[:, 1]
    both = sp.csr_array((np.ones(len(edges)), (left, right)), shape=(k, k))
    place = {(int(a), int(b)): i for i, (a, b) in enumerate(edges)}
    depth, parent, pair = np.full(k, -1), np.full(k, -1), np.full(k, -1)
    for root in range(k):
        if depth[root] >= 0:
            continue
        depth[root] = 0
        order, before = breadth_first_order(both, root, directed=False)
        for v in order[1:].tolist():
            u = int(before[v])
            depth[v], parent[v], pair[v] = depth[u] + 1, u, place[min(u, v), max(u, v)]
    return depth, parent, pair


def _softplus(s: Floats) -> Floats:
    """log(1 + eˢ), without overflow."""
    return np.asarray(np.maximum(s, 0.0) + np.log1p(np.exp(-np.abs(s))))
