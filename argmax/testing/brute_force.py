"""A space that answers every question by listing all labellings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np

from .. import checks
from ..errors import InvalidInput
from ..records import Answer, Floats, Ints, Scores, Value
from ..spaces import Space
from .scores import like

__all__ = ["BruteForce"]

LIMIT = 200_000
"""Labellings of one example that are still listed."""


@dataclass(frozen=True, slots=True)
class _Listing:
    """One example with all its labellings (A, L) in lexicographic order and their scores (A,)."""

    nodes: Ints  # (L,) positions in scores.node
    left: Ints  # (e,) positions in ``nodes`` of the first end of each edge
    right: Ints  # (e,)
    tables: Ints  # (e,) positions in scores.edge
    labels: Ints  # (A, L)
    values: Floats  # (A,)


@final
class BruteForce(Space):
    """Every oracle by listing all labellings: k^L of them, so for a handful of nodes only.

    ``edges`` (E, 2) are pairs of nodes of the whole stack; None joins consecutive nodes of an example,
    as in a chain. An edge belongs to the example of its first node. ``scores.edge`` holds one table for
    all edges, or one for each.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.testing import BruteForce
    >>> triangle = BruteForce(2, edges=[(0, 1), (1, 2), (0, 2)])
    >>> differ = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    >>> scores = Scores(np.zeros((3, 2)), differ, np.array([0, 3]))
    >>> triangle.argmax(scores)
    Answer(labels=array([0, 0, 1]), value=array([2.]), bound=array([2.]))
    >>> bool(np.isclose(triangle.logz(scores).value[0], np.log(6 * np.exp(2) + 2)))
    True
    """

    def __init__(self, k: int, edges: Any = None) -> None:
        self.k = checks.positive_integer("k", k)
        self.edges = None if edges is None else [(int(a), int(b)) for a, b in edges]

    def _edges(self, offsets: Ints) -> list[tuple[int, int]]:
        if self.edges is not None:
            return self.edges
        starts = set(offsets.tolist())
        return [(t, t + 1) for t in range(int(offsets[-1]) - 1) if t + 1 not in starts]

    def _examples(self, scores: Scores) -> Iterator[_Listing]:
        node = checks.node_scores(scores, self.k)
        offsets = np.arange(len(node) + 1) if scores.offsets is None else scores.offsets
        edges = self._edges(offsets)
        for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            if self.k ** (stop - start) > LIMIT:
                raise InvalidInput(
                    f"an example of {stop - start} nodes and {self.k} labels has too many labellings "
                    f"to list (at most {LIMIT}). Use fewer nodes."
                )
            mine = [(e, a, b) for e, (a, b) in enumerate(edges) if start <= a < stop]
            which, left, right = np.array(mine, np.intp).reshape(-1, 3).T
            tables = (
                np.zeros_like(which) if scores.edge is not None and len(scores.edge) == 1 else which
            )
            listed = list(product(range(self.k), repeat=stop - start))
            labels = np.array(listed, np.intp).reshape(len(listed), stop - start)
            values = node[np.arange(start, stop), labels].sum(axis=1)
            left, right = left - start, right - start
            if scores.edge is not None:
                values = values + scores.edge[tables, labels[:, left], labels[:, right]].sum(axis=1)
            yield _Listing(np.arange(start, stop), left, right, tables, labels, values)

    def argmax(self, scores: Scores) -> Answer:
        labels, best = np.empty(len(scores.node), np.intp), []
        for example in self._examples(scores):
            first = int(example.values.argmax())
            labels[example.nodes] = example.labels[first]
            best.append(example.values[first])
        value = checks.some_answer(np.array(best))
        return Answer(labels, value, value)

    def logz(self, scores: Scores) -> Value:
        tops = checks.some_answer(np.array([e.values.max() for e in self._examples(scores)]))
        sums = [
            np.exp(e.values - top).sum()
            for e, top in zip(self._examples(scores), tops, strict=True)
        ]
        return Value(tops + np.log(sums))

    def marginals(
        self, scores: Scores, weight: Floats | None = None, out: Scores | None = None
    ) -> tuple[Value, Scores]:
        total = self.logz(scores)
        out = like(scores) if out is None else out
        out.node[:] = 0.0
        if out.edge is not None:
            out.edge[:] = 0.0
        for i, example in enumerate(self._examples(scores)):
            share = 1.0 if weight is None else float(weight[i])
            for y, value in zip(example.labels, example.values, strict=True):
                _add(example, y, share * float(np.exp(value - total.value[i])), out)
        return total, out

    def score(self, scores: Scores, labels: Ints) -> Floats:
        values = []
        for example in self._examples(scores):
            same = (example.labels == labels[example.nodes]).all(axis=1)
            values.append(example.values[int(same.argmax())])
        return np.array(values)

    def parts(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> None:
        for i, example in enumerate(self._examples(scores)):
            share = 1.0 if weight is None else float(weight[i])
            _add(example, labels[example.nodes], -share, out)

    def nll(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        total, _ = self.marginals(scores, weight, out)
        self.parts(scores, labels, weight, out)
        share = np.ones(len(scores)) if weight is None else weight
        values: Floats = share * (total.value - self.score(scores, labels))
        return values

    def sample(self, scores: Scores, n: int, rng: np.random.Generator) -> Ints:
        total, draws = self.logz(scores).value, np.empty((n, len(scores.node)), np.intp)
        for i, example in enumerate(self._examples(scores)):
            p = np.exp(example.values - total[i])
            chosen = rng.choice(len(p), n, p=p / p.sum())
            draws[:, example.nodes] = example.labels[chosen]
        return draws

    def top_k(self, scores: Scores, k: int) -> tuple[Ints, Floats]:
        k = checks.positive_integer("k", k)
        labels = np.full((k, len(scores.node)), -1)
        values = np.full((k, len(scores)), -np.inf)
        for i, example in enumerate(self._examples(scores)):
            order = np.argsort(-example.values, kind="stable")[:k]
            order = order[~np.isneginf(example.values[order])]
            labels[: len(order), example.nodes] = example.labels[order]
            values[: len(order), i] = example.values[order]
        return labels, values


def _add(example: _Listing, y: Ints, amount: float, out: Scores) -> None:
    """out += amount · indicator of the parts of y."""
    out.node[example.nodes, y] += amount
    if out.edge is not None:
        np.add.at(out.edge, (example.tables, y[example.left], y[example.right]), amount)
