"""Graphs: families that are drawn, the labeler, and the judge of its F.

    score(y) = Σ_v ⟨w_{y_v}, x_v⟩ + b_{y_v} + Σ_(u,v) V_{y_u y_v}

All weights are penalised; a Potts table V = v · 1 has one weight. On trees the judge sums and maximises from
the leaves up; "pseudo" asks each node given its neighbours' true labels. The hinge of a graph with cycles is
the library's own figure: nothing in plain NumPy is exact there.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from .families import log_uniform, scaled, whole
from .judge import Problem
from .rows import Facts

__all__ = ["FAMILIES", "LOSSES", "Graphs", "draw", "judged", "labeler"]

LOSSES = "log", "pseudo", "hinge"
PREFIX = "graphs-"

NODES = 4000
"""Nodes of a draw at most."""


@dataclass(frozen=True, eq=False)
class Graphs:
    """What a labeler is fitted to: X a list of (features (N, d), edges (E, 2)), y of codes (N,)."""

    name: str
    X: Any
    y: Any
    trees: bool
    potts: bool
    weight: None = None
    facts: Facts | None = None

    @property
    def k(self) -> int:
        return 1 + max(int(y.max()) for y in self.y)

    @property
    def nodes(self) -> int:
        return sum(map(len, self.y))

    @property
    def work(self) -> float:
        """Multiply-adds of the scores and of one message an edge."""
        edges = sum(len(e) for _, e in self.X)
        return float(self.nodes * self.X[0][0].shape[1] * self.k + 2 * edges * self.k**2)

    def describe(self) -> str:
        kind = "trees" if self.trees else "graphs"
        edges = sum(len(e) for _, e in self.X)
        table = "potts" if self.potts else "full"
        return f"{len(self.y)} {kind}, {self.nodes} nodes, {edges} edges, k = {self.k}, {table}"


def labeler(rows: Graphs, problem: Problem, **options: Any) -> Any:
    from argmax import GraphLabeler

    edges = "potts" if rows.potts else "full"
    return GraphLabeler(loss=problem.loss, C=problem.C, edges=edges, **options)


# The judge


def judged(rows: Graphs, problem: Problem, model: Any) -> tuple[float, float]:
    """F, and what rounding leaves in doubt: ε times F and the sizes of the scores of all nodes."""
    V = np.asarray(model.edge_coef_)[0]
    table = V[:1, :1] if rows.potts else V
    flat = np.concatenate([np.ravel(w) for w in (model.coef_, model.intercept_, table)])
    if problem.loss == "hinge" and not rows.trees:
        return model.solution_.objective, 0.0
    value, sizes = 0.5 * float(flat @ flat), 0.0
    for (x, edges), y in zip(rows.X, rows.y, strict=True):
        S = x @ model.coef_.T + model.intercept_
        value += problem.C * _loss(problem.loss, S, edges, V, y)
        sizes += float(np.abs(S).max(axis=1).sum() + len(edges) * np.abs(V).max())
    return value, float(np.finfo(float).eps) * (value + 2 * problem.C * sizes)


def at_zero(rows: Graphs, problem: Problem) -> float:
    """F(0): every node alone, with k labels of score 0 and their costs."""
    return problem.C * rows.nodes * (1.0 if problem.loss == "hinge" else float(np.log(rows.k)))


def _loss(loss: str, S: Any, edges: Any, V: Any, y: Any) -> float:
    own = S[np.arange(len(y)), y].sum()
    if loss == "pseudo":
        given = S.copy()
        np.add.at(given, edges[:, 0], V[:, y[edges[:, 1]]].T)
        np.add.at(given, edges[:, 1], V[y[edges[:, 0]]])
        return float((logsumexp(given, axis=1) - given[np.arange(len(y)), y]).sum())
    truth = own + V[y[edges[:, 0]], y[edges[:, 1]]].sum()
    if loss == "hinge":
        S = S + (np.arange(S.shape[1]) != y[:, None])
    return float(_gathered(S, edges, V, np.max if loss == "hinge" else logsumexp) - truth)


def _gathered(S: Any, edges: Any, V: Any, gather: Any) -> float:
    """Over all labellings of a forest, from the leaves up."""
    up, total = S.astype(float).copy(), 0.0
    beside: list[list[tuple[int, Any]]] = [[] for _ in S]
    for a, b in edges.tolist():
        beside[a].append((b, V))
        beside[b].append((a, V.T))
    seen = np.zeros(len(S), dtype=bool)
    for root in range(len(S)):
        if seen[root]:
            continue
        order, parent = [root], {root: -1}
        seen[root] = True
        for v in order:
            for u, _ in beside[v]:
                if not seen[u]:
                    seen[u], parent[u] = True, v
                    order.append(u)
        for v in reversed(order):
            for u, table in beside[v]:
                if parent.get(v) == u:  # the message of v, for each label of its parent
                    up[u] += gather(up[v][:, None] + table, axis=0)
        total += float(gather(up[root]))
    return total


# Families


def draw(name: str) -> Graphs:
    """The draw ``graphs-grids#12``."""
    family, seed = name.split("#")
    rng = np.random.default_rng([zlib.crc32(family.encode()), int(seed)])
    shapes, trees = FAMILIES[family](rng)
    k, d = whole(rng, 2, 8), whole(rng, 1, 20)
    noise, centres = log_uniform(rng, 0.1, 4), rng.standard_normal((k, d))
    if rng.random() < 0.2:
        centres = scaled(rng, centres)
    X, y = [], []
    for nodes, edges in shapes:
        labels = _smooth(rng, nodes, edges, k)
        spread = noise * np.abs(centres).mean(axis=0)
        X.append((centres[labels] + spread * rng.standard_normal((nodes, d)), edges))
        y.append(labels)
    codes = np.unique(np.concatenate(y), return_inverse=True)[1]
    if codes.max() == 0:
        codes[-1] = 1
    cuts = np.cumsum([len(one) for one in y])[:-1]
    return Graphs(name, X, np.split(codes, cuts), trees, potts=bool(rng.random() < 0.5))


Shapes = list[tuple[int, Any]]


def _smooth(rng: Generator, nodes: int, edges: Any, k: int) -> Any:
    """Labels that neighbours often share: each edge in turn may carry its label over."""
    y = rng.integers(k, size=nodes)
    for (a, b), carried in zip(edges, rng.random(len(edges)) < rng.uniform(0, 0.95), strict=True):
        if carried:
            y[b] = y[a]
    return y


def _several(rng: Generator, make: Callable[[], tuple[int, Any]]) -> Shapes:
    made: Shapes = []
    for _ in range(whole(rng, 2, 200)):
        one = make()
        if made and sum(n for n, _ in made) + one[0] > NODES:
            break
        made.append(one)
    return made


def _tree(rng: Generator, nodes: int) -> tuple[int, Any]:
    edges = [(int(rng.integers(v)), v) for v in range(1, nodes)]
    return nodes, np.array(edges, dtype=int).reshape(-1, 2)


def _trees(rng: Generator) -> tuple[Shapes, bool]:
    return _several(rng, lambda: _tree(rng, whole(rng, 1, 300))), True


def _paths(rng: Generator) -> tuple[Shapes, bool]:
    def path() -> tuple[int, Any]:
        nodes = whole(rng, 1, 200)
        return nodes, np.stack([np.arange(nodes - 1), np.arange(1, nodes)], axis=1)

    return _several(rng, path), True


def _grids(rng: Generator) -> tuple[Shapes, bool]:
    def grid() -> tuple[int, Any]:
        at = np.arange((h := whole(rng, 2, 20)) * (w := whole(rng, 2, 20))).reshape(h, w)
        across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
        down = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
        return h * w, np.vstack([across, down])

    return _several(rng, grid), False


def _random(rng: Generator) -> tuple[Shapes, bool]:
    """A tree and some more edges."""

    def graph() -> tuple[int, Any]:
        nodes, edges = _tree(rng, whole(rng, 3, 100))
        more = np.sort(rng.integers(nodes, size=(whole(rng, 1, nodes), 2)), axis=1)
        more = more[more[:, 0] != more[:, 1]]
        return nodes, np.unique(np.vstack([edges, more]), axis=0)

    return _several(rng, graph), False


FAMILIES: dict[str, Callable[[Generator], tuple[Shapes, bool]]] = {
    PREFIX + name: family
    for name, family in {
        "trees": _trees, "paths": _paths, "grids": _grids, "random": _random,
    }.items()
}  # fmt: skip
