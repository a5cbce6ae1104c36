"""A label for every position of a sequence: sums and maxima over all k^L paths in O(L k²).

    α_t(b) = s_t(b) + A_a [ α_{t−1}(a) + e(a, b) ]        A = max: Viterbi;  A = log-sum-exp: forward
    β_t(a) = A_b [ e(a, b) + s_{t+1}(b) + β_{t+1}(b) ]
    log Z  = A_a α_L(a)
    p_t(a) = exp(α_t(a) + β_t(a) − log Z)
    p_t(a, b) = exp(α_t(a) + e(a, b) + s_{t+1}(b) + β_{t+1}(b) − log Z)

In logs throughout, so a long sequence neither over- nor underflows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import final

import numpy as np

from .. import checks
from ..records import Answer, Floats, Ints, Scores, Value
from .base import Space

__all__ = ["Chain"]


@final
class Chain(Space):
    """y ∈ {0, …, k−1}^L for a sequence of L nodes; edges join consecutive nodes.

    ``scores.offsets`` says where each sequence starts; ``scores.edge`` is None, one shared table
    (1, k, k), or one table for each edge, sequences in order.

    >>> import numpy as np
    >>> from argmax.spaces import Chain
    >>> from argmax.records import Scores
    >>> node = np.array([[1.0, 0.0], [0.0, 0.2], [1.0, 0.0]])
    >>> stay = np.array([[[0.0, -1.0], [-1.0, 0.0]]])
    >>> Chain(2).argmax(Scores(node, stay, np.array([0, 3]))).labels
    array([0, 0, 0])
    """

    def __init__(self, k: int) -> None:
        self.k = checks.positive_integer("k", k)

    def _sequences(self, scores: Scores) -> Iterator[tuple[slice, Floats, Floats]]:
        """For each sequence: its nodes, their scores (L, k), and its edges' scores (L−1, k, k)."""
        node = checks.node_scores(scores, self.k)
        offsets = np.arange(len(node) + 1) if scores.offsets is None else scores.offsets
        used = 0
        for start, stop in pairwise(offsets):
            length = max(int(stop - start) - 1, 0)
            edge: Floats
            if scores.edge is None:
                edge = np.zeros((length, self.k, self.k))
            elif len(scores.edge) == 1:
                edge = np.broadcast_to(scores.edge, (length, self.k, self.k))
            else:
                edge = scores.edge[used : used + length]
            used += length
            yield slice(int(start), int(stop)), node[start:stop], edge

    def argmax(self, scores: Scores) -> Answer:
        labels, values = np.empty(len(scores.node), np.intp), np.zeros(len(scores))
        for i, (where, node, edge) in enumerate(self._sequences(scores)):
            if len(node):
                paths, best = _best_paths(node, edge, 1)
                labels[where], values[i] = paths[0], best[0]
        checks.some_answer(values)
        return Answer(labels, values, values)

    def logz(self, scores: Scores) -> Value:
        values = np.zeros(len(scores))
        for i, (_, node, edge) in enumerate(self._sequences(scores)):
            if len(node):
                values[i] = _lse(_forward(node, edge)[-1], axis=0)
        checks.some_answer(values)
        return Value(values)

    def marginals(
        self, scores: Scores, weight: Floats | None = None, out: Scores | None = None
    ) -> tuple[Value, Scores]:
        if out is None:
            edge_like = None if scores.edge is None else np.empty(scores.edge.shape)
            out = Scores(np.empty(scores.node.shape), edge_like, scores.offsets)
        if out.edge is not None:
            out.edge[:] = 0.0
        values, used = np.zeros(len(scores)), 0
        for i, (where, node, edge) in enumerate(self._sequences(scores)):
            if not len(node):
                continue
            forward, backward = _forward(node, edge), _backward(node, edge)
            values[i] = checks.some_answer(_lse(forward[-1], axis=0))
            share = 1.0 if weight is None else weight[i]
            out.node[where] = share * np.exp(forward + backward - values[i])
            if out.edge is not None:
                ahead = (node[1:] + backward[1:])[:, None, :]
                pairs = np.exp(forward[:-1, :, None] + edge + ahead - values[i])
                if len(out.edge) == 1:
                    out.edge[0] += share * pairs.sum(axis=0)
                else:
                    out.edge[used : used + len(pairs)] = share * pairs
                used += len(pairs)
        return Value(values), out

    def score(self, scores: Scores, labels: Ints) -> Floats:
        values = np.zeros(len(scores))
        for i, (where, node, edge) in enumerate(self._sequences(scores)):
            y, t = labels[where], np.arange(len(node))
            values[i] = node[t, y].sum() + edge[t[:-1], y[:-1], y[1:]].sum()
        return values

    def parts(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> None:
        used = 0
        for i, (where, node, _) in enumerate(self._sequences(scores)):
            share, y = (1.0 if weight is None else weight[i]), labels[where]
            out.node[np.arange(where.start, where.stop), y] -= share
            steps = np.arange(max(len(node) - 1, 0))
            if out.edge is not None:
                tables = np.zeros_like(steps) if len(out.edge) == 1 else used + steps
                np.subtract.at(out.edge, (tables, y[:-1], y[1:]), share)
            used += len(steps)

    def nll(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        total, _ = self.marginals(scores, weight, out)
        self.parts(scores, labels, weight, out)
        values: Floats = total.value - self.score(scores, labels)
        return values if weight is None else values * weight

    def sample(self, scores: Scores, n: int, rng: np.random.Generator) -> Ints:
        draws = np.empty((n, len(scores.node)), np.intp)
        for where, node, edge in self._sequences(scores):
            if not len(node):
                continue
            forward = _forward(node, edge)
            checks.some_answer(_lse(forward[-1], axis=0))
            for r in range(n):
                last = _draw(forward[-1], rng)
                draws[r, where.stop - 1] = last
                for t in range(len(node) - 2, -1, -1):
                    last = _draw(forward[t] + edge[t, :, last], rng)
                    draws[r, where.start + t] = last
        return draws

    def top_k(self, scores: Scores, k: int) -> tuple[Ints, Floats]:
        k = checks.positive_integer("k", k)
        labels = np.full((k, len(scores.node)), -1)
        values = np.full((k, len(scores)), -np.inf)
        for i, (where, node, edge) in enumerate(self._sequences(scores)):
            if not len(node):
                values[0, i] = 0.0  # the empty sequence has exactly one labelling
                continue
            paths, best = _best_paths(node, edge, k)
            legal = np.isfinite(best)
            labels[: legal.sum(), where] = paths[legal]
            values[: legal.sum(), i] = best[legal]
        return labels, values


def _lse(values: Floats, axis: int) -> Floats:
    """log Σ exp along an axis; −inf where everything is −inf."""
    top = values.max(axis=axis, keepdims=True)
    shift = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(values - shift).sum(axis=axis))
    result: Floats = total + np.squeeze(shift, axis=axis)
    return result


def _forward(node: Floats, edge: Floats) -> Floats:
    alpha = np.array(node, dtype=float)
    for t in range(1, len(node)):
        alpha[t] += _lse(alpha[t - 1][:, None] + edge[t - 1], axis=0)
    return alpha


def _backward(node: Floats, edge: Floats) -> Floats:
    beta = np.zeros(node.shape)
    for t in range(len(node) - 2, -1, -1):
        beta[t] = _lse(edge[t] + (node[t + 1] + beta[t + 1])[None, :], axis=1)
    return beta


def _draw(logits: Floats, rng: np.random.Generator) -> int:
    cumulative = np.cumsum(np.exp(logits - logits.max()))
    return int((rng.random() * cumulative[-1] >= cumulative).sum())


def _best_paths(node: Floats, edge: Floats, k: int) -> tuple[Ints, Floats]:
    """The k best paths (k, L) and their values: Viterbi with a list of k at each state.

    From the last node to the first, so that the walk back decides the first label first: of equals it
    then finds the first path in lexicographic order.
    """
    node, edge = node[::-1], edge[::-1].transpose(0, 2, 1)
    length, labels = node.shape
    best = np.full((labels, k), -np.inf)
    best[:, 0] = node[0]
    back = np.zeros((length, labels, k), np.intp)
    for t in range(1, length):
        # candidates (label, following label × rank); of equals the first one wins
        ways = (best[:, :, None] + edge[t - 1][:, None, :]).reshape(labels * k, labels).T
        order = np.argsort(-ways, axis=1, kind="stable")[:, :k]
        back[t] = order
        best = np.take_along_axis(ways, order, axis=1) + node[t][:, None]
    flat = best.ravel()
    ends = np.argsort(-flat, kind="stable")[:k]
    paths = np.zeros((k, length), np.intp)
    for rank, end in enumerate(ends):
        state = int(end)
        for t in range(length - 1, -1, -1):
            paths[rank, t], place = divmod(state, k)
            state = int(back[t, paths[rank, t], place])
    values = np.full(k, -np.inf)
    values[: len(ends)] = flat[ends]
    return paths[:, ::-1], values
