"""Graphs: families that are drawn, pictures of the data folder, the labeler, and the judge of its F.

    score(y) = Σ_v ⟨w_{y_v}, x_v⟩ + b_{y_v} + Σ_(u,v) Σ_j z_uvj V_{j y_u y_v}

z are features of an edge, or 1. All weights are penalised; a Potts table V_j = v_j · 1 has one. On trees the
judge sums and maximises from the leaves up; "pseudo" asks each node given its neighbours' true labels. The
hinge of a graph with cycles is the library's own figure: nothing in plain NumPy is exact there.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from .. import data, segmentation
from .families import log_uniform, scaled, whole
from .judge import Problem
from .rows import Facts

__all__ = ["FAMILIES", "LOSSES", "Graphs", "draw", "judged", "labeler", "pictures", "read"]

LOSSES = "log", "pseudo", "hinge"
PREFIX = "graphs-"

NODES = 4000
"""Nodes of a draw at most."""


@dataclass(frozen=True, eq=False)
class Graphs:
    """What a labeler is fitted to: X a list of (features (N, d), edges (E, 2)), y of codes (N,).

    A graph may have features of its edges (E, e), too.
    """

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
        return float(self.nodes * self.X[0][0].shape[1] * self.k + 2 * self.edges * self.k**2)

    @property
    def edges(self) -> int:
        return sum(len(graph[1]) for graph in self.X)

    def describe(self) -> str:
        kind = "trees" if self.trees else "graphs"
        table = "potts" if self.potts else "full"
        return (
            f"{len(self.y)} {kind}, {self.nodes} nodes, {self.edges} edges, k = {self.k}, {table}"
        )


def labeler(rows: Graphs, problem: Problem, **options: Any) -> Any:
    from argmax import GraphLabeler

    edges = "potts" if rows.potts else "full"
    return GraphLabeler(loss=problem.loss, C=problem.C, edges=edges, **options)


# The judge


def judged(rows: Graphs, problem: Problem, model: Any) -> tuple[float, float]:
    """F, and what rounding leaves in doubt: ε times F and the sizes of the scores of all nodes."""
    V = np.asarray(model.edge_coef_)
    free = V[:, 0, 0] if rows.potts else V
    flat = np.concatenate([np.ravel(w) for w in (model.coef_, model.intercept_, free)])
    if problem.loss == "hinge" and not rows.trees:
        return model.solution_.objective, 0.0
    value, sizes = 0.5 * float(flat @ flat), 0.0
    for graph, y in zip(rows.X, rows.y, strict=True):
        S, edges = graph[0] @ model.coef_.T + model.intercept_, graph[1]
        z = graph[2] if len(graph) > 2 else np.ones((len(edges), 1))
        tables = np.einsum("ej,jab->eab", z, V)
        value += problem.C * _loss(problem.loss, S, edges, tables, y)
        sizes += float(np.abs(S).max(axis=1).sum() + np.abs(tables).max(axis=(1, 2)).sum())
    return value, float(np.finfo(float).eps) * (value + 2 * problem.C * sizes)


def at_zero(rows: Graphs, problem: Problem) -> float:
    """F(0): every node alone, with k labels of score 0 and their costs."""
    return problem.C * rows.nodes * (1.0 if problem.loss == "hinge" else float(np.log(rows.k)))


def _loss(loss: str, S: Any, edges: Any, tables: Any, y: Any) -> float:
    """The loss of one graph from the scores of its nodes S (N, K) and of its edges (E, K, K)."""
    (a, b), at = edges.T, np.arange(len(edges))
    own = S[np.arange(len(y)), y].sum()
    if loss == "pseudo":
        given = S.copy()
        np.add.at(given, a, tables[at, :, y[b]])
        np.add.at(given, b, tables[at, y[a]])
        return float((logsumexp(given, axis=1) - given[np.arange(len(y)), y]).sum())
    truth = own + tables[at, y[a], y[b]].sum()
    if loss == "hinge":
        S = S + (np.arange(S.shape[1]) != y[:, None])
    return float(_gathered(S, edges, tables, np.max if loss == "hinge" else logsumexp) - truth)


def _gathered(S: Any, edges: Any, tables: Any, gather: Any) -> float:
    """Over all labellings of a forest, from the leaves up."""
    up, total = S.astype(float), 0.0
    beside: list[list[tuple[int, Any]]] = [[] for _ in S]
    for (a, b), table in zip(edges.tolist(), tables, strict=True):
        beside[a].append((b, table))
        beside[b].append((a, table.T))
    parent: dict[int, int] = {}
    for root in range(len(S)):
        if root in parent:
            continue
        order, parent[root] = [root], -1
        for v in order:
            for u, _ in beside[v]:
                if u not in parent:
                    parent[u] = v
                    order.append(u)
        for v in reversed(order):
            for u, table in beside[v]:
                if parent[v] == u:  # the message of v, for each label of its parent
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
    features = rng.random() < 1 / 3
    X, y = [], []
    for nodes, edges in shapes:
        labels = _smooth(rng, nodes, edges, k)
        spread = noise * np.abs(centres).mean(axis=0)
        x = centres[labels] + spread * rng.standard_normal((nodes, d))
        # How alike the ends of an edge are, beside a 1.
        alike = np.exp(-np.abs(x[edges[:, 0]] - x[edges[:, 1]]).mean(axis=1) / spread.mean())
        z = np.stack([np.ones(len(edges)), alike], axis=1)
        X.append((x, edges, z) if features else (x, edges))
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


# Pictures

PICTURES = {  # name: file, reader of training graphs
    f"{PREFIX}snakes": ("snakes", segmentation.snakes),
}
EVERY = 8
"""Of the pictures each eighth is taken."""


def pictures() -> list[str]:
    """Names of the sets of pictures at hand."""
    return [name for name, (file, _) in PICTURES.items() if _file(file).exists()]


@lru_cache(maxsize=2)
def read(name: str) -> Graphs:
    """Pictures whose pixels or patches have labels."""
    file, reader = PICTURES[name]
    X, labels, _, _ = reader(_file(file))
    X, y = X[::EVERY], labels[::EVERY]
    codes = np.unique(np.concatenate(y), return_inverse=True)[1]
    cuts = np.cumsum([len(one) for one in y])[:-1]
    return Graphs(name, X, np.split(codes, cuts), trees=False, potts=False)


def _file(name: str) -> Path:
    return data.folder() / "segmentation" / f"{name}.npz"
