"""Scores to try things on, and the arithmetic that laws need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import InvalidInput
from ..records import Floats, Scores

__all__ = ["EDGES", "direction", "inner", "like", "moved", "random_scores"]

EDGES = (None, "shared", "each")
"""The kinds of edge scores: none, one table for all edges, one table for each edge."""


def random_scores(
    rng: np.random.Generator,
    k: int,
    lengths: Sequence[int] = (1, 1, 1),
    edge: str | None = None,
    *,
    forbidden: float = 0.0,
    whole: bool = False,
    n_edges: int | None = None,
) -> Scores:
    """Scores of examples with so many nodes each, drawn at random.

    ``edge`` is None, "shared" or "each" (one table for each edge; ``n_edges`` of them, or those of a
    chain). A share ``forbidden`` of all scores is −inf, but at least one labelling of every example stays
    legal. ``whole`` numbers are exact and full of ties.

    >>> import numpy as np
    >>> from argmax.testing import random_scores
    >>> scores = random_scores(np.random.default_rng(0), 3, (2, 4), "shared", forbidden=0.3)
    >>> scores.node.shape, scores.edge.shape, scores.offsets
    ((6, 3), (1, 3, 3), array([0, 2, 6]))
    """
    if edge not in EDGES:
        raise InvalidInput(f"edge must be one of {EDGES}; got {edge!r}.")
    offsets = np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.intp))])
    chain = sum(max(length - 1, 0) for length in lengths)
    tables = 0 if edge is None else 1 if edge == "shared" else chain if n_edges is None else n_edges

    def draw(*shape: int) -> Floats:
        values = rng.integers(-1, 2, shape) if whole else 2.0 * rng.normal(size=shape)
        return np.where(rng.random(shape) < forbidden, -np.inf, values.astype(float))

    node, table = draw(int(offsets[-1]), k), draw(tables, k, k)
    legal = int(rng.integers(k))  # this label, all along, is always allowed
    node[:, legal] = np.where(np.isneginf(node[:, legal]), 0.0, node[:, legal])
    table[:, legal, legal] = np.where(
        np.isneginf(table[:, legal, legal]), 0.0, table[:, legal, legal]
    )
    alone = all(length == 1 for length in lengths)
    return Scores(node, None if edge is None else table, None if alone else offsets)


def like(scores: Scores, fill: float = 0.0) -> Scores:
    """Scores of the same shapes, every number the same."""
    edge = None if scores.edge is None else np.full(scores.edge.shape, fill)
    return replace(scores, node=np.full(scores.node.shape, fill), edge=edge)


def moved(scores: Scores, v: Scores, step: float) -> Scores:
    """scores + step · v"""
    edge = None if scores.edge is None or v.edge is None else scores.edge + step * v.edge
    return replace(scores, node=scores.node + step * v.node, edge=edge)


def direction(scores: Scores, rng: np.random.Generator) -> Scores:
    """Random numbers in the shapes of the scores."""
    edge = None if scores.edge is None else rng.normal(size=scores.edge.shape)
    return replace(scores, node=rng.normal(size=scores.node.shape), edge=edge)


def inner(a: Scores, b: Scores) -> float:
    """⟨a, b⟩"""
    edges = 0.0 if a.edge is None or b.edge is None else float(np.vdot(a.edge, b.edge))
    return float(np.vdot(a.node, b.node)) + edges
