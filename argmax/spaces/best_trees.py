"""The k best labellings of a tree: max-product with a list of k for every node and label.

    M_c(a) = the k best of e(a, b) + I_c(b)_j           over labels b and ranks j
    I_v(a) = s_v(a) ⊕ M_c(a) ⊕ M_c'(a) ⊕ …               ⊕: the k best sums of two lists

Every list remembers where its entries came from, so that the answers are read off from the roots down.
"""

from __future__ import annotations

import numpy as np

from ..records import Floats, Ints
from .forest import Forest

__all__ = ["top_k"]


def top_k(forest: Forest, k: int) -> tuple[Ints, Floats]:
    """Labels (k, N), −1 as filler, and values (k, n), −inf as filler."""
    pair = forest.pair
    labels = np.full((k, len(pair.node)), -1)
    values = np.full((k, len(pair)), -np.inf)
    lists = _Lists(forest, k)
    for i in range(len(pair)):
        nodes = forest.order[pair.offsets[i] : pair.offsets[i + 1]].tolist()
        values[:, i] = lists.example(nodes, labels)
    return labels, values


class _Lists:
    """The lists of one example at a time."""

    def __init__(self, forest: Forest, k: int) -> None:
        self.forest, self.size = forest, k
        self.best: dict[int, Floats] = {}  # node: I (K, size)
        self.joins: dict[
            int, tuple[Ints, Ints]
        ] = {}  # child: ranks (K, size) before it, codes of it

    def example(self, nodes: list[int], labels: Ints) -> Floats:
        """Values (k,) of the best labellings of these nodes, a parent ahead of its children."""
        self.best.clear()
        self.joins.clear()
        children: dict[int, list[int]] = {}
        for v in nodes:
            self.best[v] = np.full((self.forest.pair.k, self.size), -np.inf)
            self.best[v][:, 0] = self.forest.pair.node[v]
        for c in reversed(nodes):
            if self.forest.parent[c] >= 0:
                self._join(c)
                children.setdefault(int(self.forest.parent[c]), []).append(c)
        roots = [v for v in nodes if self.forest.parent[v] < 0]
        total, chosen = np.full(self.size, -np.inf), []
        total[0] = 0.0
        for root in roots:  # the trees of an example are joined like the children of a node
            own = np.argsort(-self.best[root].ravel(), kind="stable")[: self.size]
            total, before, rank = _sums(total, self._padded(self.best[root].ravel()[own]))
            chosen.append((before, own[np.minimum(rank, len(own) - 1)]))
        for place in range(self.size):
            if np.isneginf(total[place]):
                break
            at = place
            for root, (before, code) in zip(reversed(roots), reversed(chosen), strict=True):
                self._read(root, int(code[at]), children, labels[place])
                at = int(before[at])
        return total

    def _padded(self, values: Floats) -> Floats:
        return np.append(values, np.full(self.size - len(values), -np.inf))

    def _join(self, c: int) -> None:
        """I_parent ⊕ M_c."""
        forest, K = self.forest, self.forest.pair.k
        p, table = int(forest.parent[c]), forest.pair.tables[forest.table[c]]
        oriented = table.T if forest.turned[c] else table
        ways = (oriented[:, :, None] + self.best[c][None]).reshape(K, K * self.size)
        codes = np.argsort(-ways, axis=1, kind="stable")[:, : self.size]
        said = np.take_along_axis(ways, codes, axis=1)
        ranks, came = np.empty((K, self.size), np.intp), np.empty((K, self.size), np.intp)
        for a in range(K):
            joined, ranks[a], rank = _sums(self.best[p][a], self._padded(said[a]))
            self.best[p][a] = joined
            came[a] = codes[a][np.minimum(rank, codes.shape[1] - 1)]
        self.joins[c] = ranks, came

    def _read(self, v: int, code: int, children: dict[int, list[int]], out: Ints) -> None:
        """Write the labels below v, whose label and rank are ``code``."""
        waiting = [(v, code)]
        while waiting:
            u, code = waiting.pop()
            label, rank = divmod(code, self.size)
            out[u] = label
            for c in reversed(children.get(u, ())):  # the last joined is the first undone
                ranks, codes = self.joins[c]
                waiting.append((c, int(codes[label, rank])))
                rank = int(ranks[label, rank])


def _sums(first: Floats, second: Floats) -> tuple[Floats, Ints, Ints]:
    """The best sums of two lists, best first, and the places they came from."""
    size = len(first)
    every = (first[:, None] + second).ravel()
    order = np.argsort(-every, kind="stable")[:size]
    return every[order], order // size, order % size
