"""Which of k labels apply: the 2^k subsets of the labels, joined by a graph over the labels.

    s(y) = Σ_j s_j y_j + Σ_(a,b) J_ab y_a y_b            y ∈ {0, 1}^k

A label is a node with two states, "out" with score 0 and "in" with score s_j. The graph is the same for every
example, so its order is found once. With the edges of a forest log Z and marginals are a closed form
(``set_trees``) and the other answers those of a ``Tree``; with cycles all are those of a ``Graph``.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from .. import checks
from ..errors import InvalidInput
from ..records import Answer, Floats, Ints, Scores, Value
from .base import Space
from .graph import Graph
from .set_trees import SetForest
from .tree import Tree

__all__ = ["Sets"]


@final
class Sets(Space):
    """y ⊆ {0, …, k−1}: labels (n, k) of zeros and ones for the n rows of scores.

    ``scores.node`` (n, k) is the score of each label's being in the set, against 0 for its being out;
    ``scores.edge`` (E, 1, 1) is for each pair of ``edges`` (E, 2) the score of both being in: memory grows
    with the pairs that there are, not with the square of the labels. Where the pairs make a ``forest``, every
    answer is exact; otherwise answers are those of ``Graph``.

    ``compiled`` is passed on to ``Tree``.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.spaces import Sets
    >>> street = Sets(3, edges=[(0, 1)])  # bus, car, zebra: a bus makes a car likelier
    >>> scores = Scores(np.array([[1.0, -1.5, -3.0]]), np.array([[[2.0]]]))
    >>> street.argmax(scores).labels
    array([[1, 1, 0]])
    >>> street.marginals(scores)[1].node.round(2)
    array([[0.85, 0.56, 0.05]])
    >>> Sets(3).marginals(scores)[1].node.round(2)  # each for itself
    array([[0.73, 0.18, 0.05]])
    """

    def __init__(self, k: int, edges: Any = (), compiled: bool | None = None) -> None:
        self.k = checks.positive_integer("k", k)
        pairs = checks.array("edges", edges)
        pairs = checks.node_pairs(
            pairs.reshape(0, 2) if not pairs.size else pairs, np.zeros(self.k, np.int64)
        )
        self.edges = tuple((int(min(pair)), int(max(pair))) for pair in pairs)
        self.compiled = compiled
        if len(set(self.edges)) < len(self.edges):
            raise InvalidInput("edges must name each pair of labels once.")

    @cached_property
    def _tree(self) -> SetForest | None:
        return SetForest(self.k, self._pairs) if self.forest else None

    @cached_property
    def forest(self) -> bool:
        """Whether the pairs make no cycle: then every answer is exact."""
        joined = sp.coo_array(
            (np.ones(len(self.edges)), tuple(self._pairs.T)), shape=(self.k, self.k)
        )
        trees = int(connected_components(joined, directed=False)[0])
        return len(self.edges) == self.k - trees

    def _inner(self) -> Space:
        return Tree(2, self.compiled) if self.forest else Graph(2)

    @property
    def _pairs(self) -> Ints:
        return np.array(self.edges, np.int64).reshape(-1, 2)

    def _joint(self, scores: Scores) -> Floats:
        """J (E,), the score of each pair."""
        if not self.edges:
            return np.zeros(0)
        assert scores.edge is not None
        checks.lengths(edges=len(self.edges), edge=len(scores.edge))
        return np.asarray(scores.edge[:, 0, 0])

    def _nodes(self, scores: Scores) -> Scores:
        """The same scores with a node of two states for each label of each example."""
        node, pairs = checks.node_scores(scores, self.k), self._pairs
        n, states = len(node), np.zeros((node.size, 2))
        states[:, 1] = node.ravel()
        tables = np.zeros((max(len(pairs), 1), 2, 2))
        if self.edges and scores.edge is not None:
            tables[:, 1, 1] = self._joint(scores)
        edges = (self.k * np.arange(n)[:, None, None] + pairs).reshape(-1, 2)
        kind = np.tile(np.arange(len(pairs)), n)
        return Scores(states, tables, self.k * np.arange(n + 1), edges, kind)

    def argmax(self, scores: Scores) -> Answer:
        answer = self._inner().argmax(self._nodes(scores))
        return Answer(answer.labels.reshape(-1, self.k), answer.value, answer.bound)

    def logz(self, scores: Scores) -> Value:
        if self._tree is None:
            return self._inner().logz(self._nodes(scores))
        node = checks.node_scores(scores, self.k)
        return Value(checks.some_answer(self._tree.logz(node, self._joint(scores))))

    def marginals(
        self, scores: Scores, weight: Floats | None = None, out: Scores | None = None
    ) -> tuple[Value, Scores]:
        out = _like(scores) if out is None else out
        if self._tree is None:
            value, found = self._inner().marginals(self._nodes(scores), weight)
            out.node[:] = found.node[:, 1].reshape(-1, self.k)
            if out.edge is not None and found.edge is not None:
                out.edge[:, 0, 0] = found.edge[:, 1, 1]
            return value, out
        node = checks.node_scores(scores, self.k)
        logz, both, out.node[:] = self._tree.marginals(node, self._joint(scores))
        if weight is not None:
            out.node[:] *= weight[:, None]
        if out.edge is not None:
            out.edge[:] = 0.0
            out.edge[: len(both), 0, 0] = both.sum(axis=1) if weight is None else both @ weight
        return Value(checks.some_answer(logz)), out

    def score(self, scores: Scores, labels: Ints) -> Floats:
        total: Floats = (checks.node_scores(scores, self.k) * labels).sum(axis=1)
        if self.edges and scores.edge is not None:
            left, right = self._pairs.T
            total = total + (labels[:, left] * labels[:, right]) @ self._joint(scores)
        return total

    def parts(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> None:
        taken = labels.astype(float) if weight is None else labels * weight[:, None]
        out.node[:] -= taken
        if self.edges and out.edge is not None:
            left, right = self._pairs.T
            out.edge[:, 0, 0] -= (taken[:, left] * labels[:, right]).sum(axis=0)

    def nll(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        total, _ = self.marginals(scores, weight, out)
        self.parts(scores, labels, weight, out)
        values = total.value - self.score(scores, labels)
        return values if weight is None else values * weight

    def pseudo(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        node, joint = checks.node_scores(scores, self.k), np.zeros((self.k, self.k))
        left, right = self._pairs.T
        if scores.edge is not None:
            joint[left, right] = joint[right, left] = self._joint(scores)
        logits = node + labels @ joint
        share = np.ones(len(node)) if weight is None else weight
        values = share * (np.logaddexp(0.0, logits) - labels * logits).sum(axis=1)
        out.node[:] = (expit(logits) - labels) * share[:, None]
        if out.edge is not None:
            both = out.node.T @ labels
            out.edge[:, 0, 0] = (both + both.T)[left, right]
        return checks.some_answer(values)

    def sample(self, scores: Scores, n: int, rng: np.random.Generator) -> Ints:
        """n exact draws, as (n, rows, k) zeros and ones."""
        drawn = self._inner().sample(self._nodes(scores), n, rng)
        return drawn.reshape(n, -1, self.k)

    def top_k(self, scores: Scores, k: int) -> tuple[Ints, Floats]:
        """The k best sets: labels (k, n, labels), −1 as filler, and values (k, n)."""
        labels, values = self._inner().top_k(self._nodes(scores), k)
        return labels.reshape(k, -1, self.k), values


def _like(scores: Scores) -> Scores:
    edge = None if scores.edge is None else np.zeros(scores.edge.shape)
    return Scores(np.empty(scores.node.shape), edge)
