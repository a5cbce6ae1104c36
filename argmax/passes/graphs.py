"""Passes over graphs with weights of nodes and edges (``layouts.Linked``).

    evaluate    w          Σ loss and its gradient
    direction   v          nothing: a graph costs far more to answer than to score
    along       step       Σ loss and slope at w + step · v

Blocks of examples run side by side; a fixed number of parts sum their own gradients, added in order.
"""

from __future__ import annotations

import numpy as np

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..errors import Unsupported
from ..layouts import Linked
from ..records import Floats, Scores
from .problem import Problem

__all__ = ["along", "at_zero", "conjugate", "diagonal", "direction", "evaluate", "has_diagonal"]


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
    return False


def diagonal(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, mean: bool) -> Sums:
    """No curvature of single weights."""
    raise Unsupported("graphs offer gradients only. Use solver='lbfgs'.")
