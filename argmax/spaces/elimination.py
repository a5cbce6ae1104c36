"""Exact answers over graphs that are narrow: nodes are eliminated one after the other.

    ψ_v(y_v, y_S) = s_v + scores of edges to S + messages of nodes eliminated before       S: neighbours left
    m_v(y_S)      = max or log Σ exp over y_v of ψ_v
    P(y_v | y_S)  = exp(ψ_v − m_v)                                                          on the way back

Eliminating v joins its neighbours S; the work is k^(|S| + 1) numbers for each node, which the order decides.
From the last node to the first, S holds earlier nodes only, so that reading the maxima off in order gives the
first labelling among equals; where that order is too wide, the node with the fewest neighbours goes first.

Dechter 1999 (Artificial Intelligence 113); Lauritzen and Spiegelhalter 1988 for the way back.
"""

from __future__ import annotations

from functools import lru_cache
from typing import final

import numpy as np

from ..records import Floats, Ints
from .pairwise import Pairwise
from .recursions import draw, softmax

__all__ = ["Elimination", "steps"]

Step = tuple[int, tuple[int, ...]]
"""A node, and the neighbours it has left when it is eliminated."""


@lru_cache(maxsize=4096)
def steps(edges: bytes, nodes: int, k: int, limit: int) -> tuple[Step, ...] | None:
    """The order of elimination, or None where every order tried takes more than ``limit`` numbers.

    >>> import numpy as np
    >>> from argmax.spaces.elimination import steps
    >>> ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> steps(ring.tobytes(), 4, 2, 1000)
    ((3, (0, 2)), (2, (0, 1)), (1, (0,)), (0, ()))
    """
    pairs = np.frombuffer(edges, np.int64).reshape(-1, 2).tolist()
    return _ordered(pairs, nodes, k, limit, False) or _ordered(pairs, nodes, k, limit, True)


def _ordered(
    pairs: list[list[int]], nodes: int, k: int, limit: int, fewest: bool
) -> tuple[Step, ...] | None:
    around: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in pairs:
        around[a].add(b)
        around[b].add(a)
    left, order, total = set(range(nodes)), [], 0
    for last in reversed(range(nodes)):
        v = min(left, key=lambda u: (len(around[u]), -u)) if fewest else last
        rest = around[v]
        total += k ** (len(rest) + 1)
        if total > limit or len(rest) > 25:  # NumPy has so many axes, and no more
            return None
        for u in rest:
            around[u] |= rest
            around[u] -= {u, v}
        left.discard(v)
        order.append((v, tuple(sorted(rest))))
    return tuple(order)


@final
class Elimination:
    """One example, its nodes and edges, and the order in which they go."""

    def __init__(self, pair: Pairwise, order: tuple[Step, ...], maximum: bool = False) -> None:
        self.pair, self.order, self.k = pair, order, pair.k
        self.turn = {v: i for i, (v, _) in enumerate(order)}
        self.psi: dict[int, Floats] = {}
        self.message: dict[int, Floats] = {}
        self.home: list[int] = []  # of each edge: the node in whose ψ it is
        self.value = self._upwards(maximum)

    def _upwards(self, maximum: bool) -> float:
        given: dict[int, list[tuple[tuple[int, ...], Floats]]] = {
            v: [((v,), self.pair.node[v])] for v, _ in self.order
        }
        for (a, b), table in zip(self.pair.edges.tolist(), self.pair.which.tolist(), strict=True):
            self.home.append(a if self.turn[a] < self.turn[b] else b)
            given[self.home[-1]].append(((a, b), self.pair.tables[table]))
        total = 0.0
        for v, rest in self.order:
            scope = (v, *rest)
            psi = np.zeros((self.k,) * len(scope))
            for names, factor in given[v]:
                psi = psi + _spread(names, factor, scope)
            message = psi.max(axis=0) if maximum else _log_sum_first(psi)
            self.psi[v], self.message[v] = psi, message
            if rest:
                given[min(rest, key=self.turn.__getitem__)].append((rest, message))
            else:
                total += float(message)
        return total

    def labels(self) -> Ints:
        """The best labels, after an upward pass of maxima."""
        found = np.zeros(len(self.order), np.intp)
        for v, rest in reversed(self.order):
            found[v] = self.psi[v][(slice(None), *found[list(rest)])].argmax()
        return found

    def marginals(self) -> tuple[Floats, Floats]:
        """P(y_v) (N, k) and P(y_u, y_v) (E, k, k)."""
        joint: dict[int, Floats] = {}
        node, edge = np.zeros(self.pair.node.shape), np.zeros((len(self.home), self.k, self.k))
        for v, rest in reversed(self.order):
            closed = np.isneginf(self.message[v])
            p = np.exp(self.psi[v] - np.where(closed, 0.0, self.message[v]))
            if rest:
                above = min(rest, key=self.turn.__getitem__)
                scope = (above, *self._rest(above))
                p = p * _marginal(joint[above], scope, rest)
            joint[v] = p
            node[v] = _marginal(p, (v, *rest), (v,))
        for e, (a, b) in enumerate(self.pair.edges.tolist()):
            v = self.home[e]
            edge[e] = _marginal(joint[v], (v, *self._rest(v)), (a, b))
        return node, edge

    def _rest(self, v: int) -> tuple[int, ...]:
        return self.order[self.turn[v]][1]

    def sample(self, uniform: Floats) -> Ints:
        """Draws (draws, N) made of uniform numbers (draws, N)."""
        draws = np.zeros(uniform.shape, np.intp)
        for v, rest in reversed(self.order):
            ways = self.psi[v][(slice(None), *draws[:, list(rest)].T)]
            p = softmax(np.broadcast_to(ways.T, (len(draws), self.k)))
            draws[:, v] = draw(p, uniform[:, v])
        return draws


def _spread(names: tuple[int, ...], factor: Floats, scope: tuple[int, ...]) -> Floats:
    """A factor over some of the nodes of a scope, with an axis for each of them."""
    places = [scope.index(name) for name in names]
    turned = factor.transpose(sorted(range(len(places)), key=places.__getitem__))
    shape = [1] * len(scope)
    for place in places:
        shape[place] = factor.shape[0]
    return turned.reshape(shape)


def _marginal(p: Floats, scope: tuple[int, ...], names: tuple[int, ...]) -> Floats:
    """Σ over all nodes but these, whose axes come in the order of ``names``."""
    kept = [scope.index(name) for name in names]
    out: Floats = p.sum(axis=tuple(i for i in range(len(scope)) if i not in kept))
    return np.transpose(out, np.argsort(np.argsort(kept)))


def _log_sum_first(values: Floats) -> Floats:
    top = values.max(axis=0)
    shift = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        result: Floats = np.log(np.exp(values - shift).sum(axis=0)) + shift
    return result
