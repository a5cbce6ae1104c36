"""The laws of a loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..losses import Loss
from ..records import Floats, Scores, Truth
from ..spaces import Classes, Space
from .comparing import holds, same, same_parts
from .scores import direction, inner, like, moved, random_scores

__all__ = ["check_loss"]


def check_loss(
    loss: Loss,
    space: Space | None = None,
    lengths: Sequence[int] = (1, 1, 1),
    edge: str | None = None,
    *,
    seed: int = 0,
) -> None:
    """Check values, residuals, weights and (where examples are single nodes) the conjugate of a loss.

    Residuals are compared with finite differences where the loss is smooth, with the subgradient
    inequality where it is convex; where a loss is relative, a shift of all scores of a node must change
    nothing, so residuals add up to zero.

    >>> from argmax.losses import Log
    >>> from argmax.spaces import Chain
    >>> from argmax.testing import check_loss
    >>> check_loss(Log())
    >>> check_loss(Log(), Chain(2), lengths=(3, 1, 2), edge="shared")
    """
    space, rng = space or Classes(3), np.random.default_rng(seed)
    where = f"loss {loss.name!r} on {space!r}, {edge or 'no'} edge scores"
    cost = np.ones((space.k, space.k)) - np.eye(space.k) if loss.takes_cost else None
    for _ in range(5):
        scores, other = (random_scores(rng, space.k, lengths, edge) for _ in range(2))
        labels = rng.integers(0, space.k, len(scores.node))
        truth = Truth(labels, rng.uniform(0.1, 3.0, len(scores)), cost)
        values, residual = _evaluate(loss, space, scores, truth)
        holds(values.shape == (len(scores),), f"evaluate: shape is {values.shape}", where)
        _check_weights(loss, space, scores, truth, values, where)
        if loss.relative:
            same("residual: sum over the labels of a node", residual.node.sum(axis=1), 0.0, where)
        if residual.edge is not None:
            same("residual: sum over a table of edges", residual.edge.sum(axis=(1, 2)), 0.0, where)
        if loss.smooth:
            _check_residual(loss, space, scores, truth, where, rng)
        if loss.convex:
            _check_convex(loss, space, scores, other, truth, where)
            if max(lengths) == 1:
                _check_conjugate(loss, space, scores, other, truth, where)


def _evaluate(loss: Loss, space: Space, scores: Scores, truth: Truth) -> tuple[Floats, Scores]:
    residual = like(scores, np.nan)
    return loss.evaluate(space, scores, truth, residual), residual


def _check_weights(
    loss: Loss, space: Space, scores: Scores, truth: Truth, values: Floats, where: str
) -> None:
    """Values and residuals of an example are proportional to its weight; no weight means 1."""
    plain, residual = _evaluate(loss, space, scores, Truth(truth.labels, None, truth.cost))
    ones = Truth(truth.labels, np.ones(len(scores)), truth.cost)
    again, equal = _evaluate(loss, space, scores, ones)
    share = np.ones(1) if truth.weight is None else truth.weight
    same("evaluate: values with weights", values, plain * share, where)
    same("evaluate: values with weight 1", again, plain, where)
    same_parts("residual with weight 1", equal, residual, where)


def _check_residual(
    loss: Loss, space: Space, scores: Scores, truth: Truth, where: str, rng: np.random.Generator
) -> None:
    v, h = direction(scores, rng), 1e-5
    ahead = _evaluate(loss, space, moved(scores, v, h), truth)[0].sum()
    behind = _evaluate(loss, space, moved(scores, v, -h), truth)[0].sum()
    slope = inner(_evaluate(loss, space, scores, truth)[1], v)
    same("residual: slope of the loss", np.array(slope), (ahead - behind) / (2 * h), where, 1e-7)


def _check_convex(
    loss: Loss, space: Space, scores: Scores, other: Scores, truth: Truth, where: str
) -> None:
    """Along the line from scores to other: above its tangent, below its chord."""
    here, residual = _evaluate(loss, space, scores, truth)
    there = _evaluate(loss, space, other, truth)[0]
    step = moved(other, scores, -1.0)
    tangent = float(here.sum()) + inner(residual, step)
    holds(float(there.sum()) >= tangent - 1e-9, "evaluate: a value lies below the tangent", where)
    for t in (0.25, 0.5, 0.75):
        between = _evaluate(loss, space, moved(scores, step, t), truth)[0]
        chord = (1 - t) * here + t * there
        holds(bool((between <= chord + 1e-9).all()), "evaluate: not convex along a line", where)


def _check_conjugate(
    loss: Loss, space: Space, scores: Scores, other: Scores, truth: Truth, where: str
) -> None:
    """Fenchel: loss*(r) ≥ ⟨r, s⟩ − loss(s) for every s, with equality where r is the residual."""
    here, residual = _evaluate(loss, space, scores, truth)
    there = _evaluate(loss, space, other, truth)[0]
    touching = inner(residual, scores) - float(here.sum())
    found = loss.conjugate(space, scores, truth, 1.0)
    same("conjugate of the residuals", np.array(found), touching, where)
    for scale in (0.0, 0.3, 0.9):
        bound = scale * inner(residual, other) - float(there.sum())
        found = loss.conjugate(space, scores, truth, scale)
        holds(found >= bound - 1e-9, f"conjugate: too small at scale {scale}", where)
