"""Passes over graphs with weights of nodes and edges (``layouts.Linked``).

    evaluate    w          Σ loss and its gradient
    direction   v          nothing: a graph costs far more to answer than to score
    along       step       Σ loss and slope at w + step · v
    diagonal    w          about the second derivatives by single weights

Blocks of examples run side by side; a fixed number of parts sum their own gradients, added in order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..errors import Unsupported
from ..layouts import Linked
from ..records import Csr, Floats, Rows, Scores
from .problem import Problem

__all__ = ["along", "at_zero", "conjugate", "diagonal", "direction", "evaluate", "has_diagonal"]

MOST = {"log": 1.0, "pseudo": 2.0}
"""The largest residual of an edge: the pseudo-likelihood asks both of its ends."""


def _linked(problem: Problem) -> Linked:
    assert isinstance(problem.layout, Linked)
    return problem.layout


def _residual(scores: Scores) -> Scores:
    edge = None if scores.edge is None else np.zeros(scores.edge.shape)
    return Scores(np.empty(scores.node.shape), edge, scores.offsets, scores.edges)


def evaluate(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp) -> Sums:
    """{"value": Σ s_i loss_i(w), "gradient": its gradient}."""
    layout, blocks, parts = _linked(problem), len(shard.blocks), max(shard.parts, 1)

    def part(p: int) -> tuple[float, Floats]:
        value, gradient = 0.0, np.zeros(layout.size)
        for block in range(p * blocks // parts, (p + 1) * blocks // parts):
            structures, truth, _ = shard.open(block)
            scores = layout.scores(structures, stamp.w)
            residual = _residual(scores)
            value += float(problem.loss.evaluate(problem.space, scores, truth, residual).sum())
            layout.adjoint(structures, residual, gradient)
        return value, gradient

    pieces = crew.run(part, parts)
    total = pieces[0][1]
    for _, more in pieces[1:]:
        total += more
    return {"value": sum(value for value, _ in pieces), "gradient": total}


def at_zero(shard: Shard, crew: Crew, problem: Problem) -> Sums:
    """{"value": Σ s_i loss_i(0)}, the yardstick that ``tol`` is measured with."""
    return {"value": evaluate(shard, crew, problem, Stamp(np.zeros(problem.layout.size)))["value"]}


def direction(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp) -> Sums:
    """Nothing that ``along`` would need."""
    return {}


def along(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp, step: float
) -> Sums:
    """{"value", "slope"} of Σ s_i loss_i at w + step · v."""
    sums = evaluate(shard, crew, problem, Stamp(stamp.w + step * line.w))
    return {"value": sums["value"], "slope": float(sums["gradient"] @ line.w)}


def conjugate(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, scale: float) -> Sums:
    """No certificate for l1."""
    raise Unsupported("an l1 penalty has no certificate over graphs. Use penalty='l2'.")


def has_diagonal(problem: Problem) -> bool:
    """Whether ``diagonal`` can be asked for."""
    return problem.loss.name in MOST


def diagonal(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, mean: bool) -> Sums:
    """{"diagonal": about the second derivative of Σ s_i loss_i by each weight}, at w.

    A residual is r = p − 1 where a label is right, and p where it is not: |r| (1 − |r|) is the variance
    p (1 − p). The variances are added up as if nodes and edges had nothing to do with each other, which is
    true of the pseudo-likelihood and nodes.
    """
    assert mean
    layout, most = _linked(problem), MOST[problem.loss.name]

    def block(i: int) -> Floats:
        structures, truth, _ = shard.open(i)
        assert structures.edges is not None
        scores, out = layout.scores(structures, stamp.w), np.zeros(layout.size)
        assert scores.edge is not None
        if structures.edge_rows is None:  # one table for all edges: their residuals would be summed
            tables = np.broadcast_to(scores.edge, (len(structures.edges), *scores.edge.shape[1:]))
            scores = replace(scores, edge=tables.copy())
        residual, weight = _residual(scores), truth.weight
        problem.loss.evaluate(problem.space, scores, replace(truth, weight=None), residual)
        assert residual.edge is not None
        parts = (residual.node, 1.0), (residual.edge, most)
        node, edge = (np.abs(r) * np.maximum(1.0 - np.abs(r) / top, 0.0) for r, top in parts)
        if weight is not None:
            each = (
                weight
                if structures.offsets is None
                else np.repeat(weight, np.diff(structures.offsets))
            )
            node *= each[:, None]
            edge *= each[structures.edges[:, 0], None, None]
        squared = replace(structures, rows=_squared(structures.rows))
        if structures.edge_rows is not None:
            squared = replace(squared, edge_rows=_squared(structures.edge_rows))
        else:
            edge = edge.sum(axis=0, keepdims=True)
        layout.adjoint(squared, Scores(node, edge, scores.offsets, scores.edges), out)
        return out

    pieces = crew.run(block, len(shard.blocks))
    return {"diagonal": sum(pieces[1:], pieces[0])}


def _squared(rows: Rows) -> Rows:
    if not isinstance(rows, Csr):
        return np.square(rows, dtype=float)
    return replace(
        rows, values=None if rows.values is None else np.square(rows.values, dtype=float)
    )
