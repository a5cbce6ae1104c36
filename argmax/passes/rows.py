"""Passes over rows with a weight for every feature and label (``layouts.Full``).

    evaluate    w          Σ loss and its gradient; leaves scores behind
    direction   v          leaves Ψ v behind
    along       step       Σ loss and slope at scores + step · (Ψ v), without touching x
    slopes      steps      the slope in every weight column, where columns are separate problems
    conjugate   scale      the dual value of the residuals
    shifted     shift      gradient and Hessian in the intercept alone
    outputs     w          the scores

Each task cuts its shard into blocks or parts of rows; ``sums`` says how they are added up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..layouts import Weights, csr_arguments
from ..losses import Log
from ..records import Csr, Floats, Scores, Structures, Truth
from ..spaces import Classes
from . import rounds
from .problem import Problem
from .sums import (
    adjoint,
    by_kernel,
    column_sums,
    fill_scores,
    kept_scores,
    like,
    sum_parts,
    summed_by_columns,
    weight_or_one,
    weights_of,
)

__all__ = [
    "along",
    "at_zero",
    "conjugate",
    "direction",
    "evaluate",
    "outputs",
    "shifted",
    "shifted_product",
    "slopes",
]

WIDE = 64
"""Labels beyond which no matrix of labels against labels is formed to settle the intercepts."""


def evaluate(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, seldom: bool = False
) -> Sums:
    """{"value": Σ s_i loss_i(w), "gradient": its gradient}.

    Where the point is an earlier one with its intercept moved, the scores left there are moved as well
    instead of being computed. With ``seldom`` sparse rows are not transposed: it takes several passes until
    that pays.
    """
    layout = problem.full
    weights = layout.weights(stamp.w, layout.product_dtype(shard.structures.rows))
    ready = stamp.base is not None
    if ready:
        kept = kept_scores(shard, crew, problem, stamp)
    else:
        kept = shard.slots.keep("node", stamp, (shard.structures.nodes, layout.labels))
    if _fusible(shard, problem):
        return _evaluate_fused(shard, crew, problem, stamp, weights, ready, kept, seldom)

    def block_residual(structures: Structures, truth: Truth, nodes: slice) -> tuple[float, Scores]:
        if not ready:
            kept[nodes] = layout.block_scores(structures, weights).node
        scores = Scores(kept[nodes], weights.edge, structures.offsets)
        residual = like(np.empty_like(scores.node), scores)
        values = problem.loss.evaluate(problem.space, scores, truth, residual)
        return float(values.sum()), residual

    return adjoint(shard, crew, problem, block_residual, seldom)


def _fusible(shard: Shard, problem: Problem) -> bool:
    """Whether one kernel can do it all: k ≥ 3 classes, log loss, a weight vector for each label."""
    simple = by_kernel(problem) and isinstance(problem.loss, Log)
    plain = problem.full.label_features is None
    return simple and plain and not (shard.by_columns and not shard.sparse)


def _evaluate_fused(
    shard: Shard,
    crew: Crew,
    problem: Problem,
    stamp: Stamp,
    weights: Weights,
    ready: bool,
    kept: Floats,
    seldom: bool,
) -> Sums:
    """``evaluate`` by kernels that do all of it. ``ready`` says that ``kept`` already holds the scores."""
    if shard.on_disk or (shard.by_columns and seldom):
        return _evaluate_by_parts(shard, crew, problem, weights, ready, kept, seldom)
    if not shard.by_columns:
        return rounds.evaluate(shard, crew, stamp, weights, ready, kept)
    from ..kernels import fused

    values = np.zeros(shard.parts)
    answers = (shard.truth.labels, weight_or_one(shard.truth.weight), ready, kept, values)
    kernel = fused.csr_log_columns
    gradient = column_sums(shard, crew, problem, kernel, weights.W, weights.b, *answers)
    return {"value": float(sum(values)), "gradient": gradient}


def _evaluate_by_parts(
    shard: Shard,
    crew: Crew,
    problem: Problem,
    weights: Weights,
    ready: bool,
    kept: Floats,
    seldom: bool,
) -> Sums:
    """The same a part at a time, for rows that are read from files or whose columns are seldom asked for."""
    from ..kernels import fused

    layout, d = problem.full, problem.full.features
    wide = layout.columns if layout.intercept else 0

    def arguments(
        structures: Structures, truth: Truth, nodes: slice
    ) -> tuple[tuple[Any, ...], slice]:
        rows = structures.rows
        given = csr_arguments(rows) if isinstance(rows, Csr) else (rows,)
        answers = (truth.labels, weight_or_one(truth.weight), ready, kept[nodes])
        return (*given, weights.W, weights.b, *answers), nodes

    def part(p: int, out: Floats) -> float:
        table = layout.matrix(out)
        given, _ = arguments(*shard.spans(p)[0])
        bias = table[d, :wide] if wide else table[0, :0]
        if shard.sparse:
            return float(fused.csr_log(*given, table[:d], bias))
        small = np.zeros(weights.W.shape, weights.W.dtype)
        value = fused.dense_log(*given, small, bias)
        table[:d] = small
        return float(value)

    if not shard.by_columns:
        return sum_parts(shard, crew, part)
    residual = shard.padded_residual(layout.width)

    def rows_of(i: int) -> tuple[float, Floats]:
        bias = np.zeros(wide)
        # Groups are fewer, and opened already; but files must give the sums of ``csr_log_columns``.
        given, nodes = arguments(*(shard.group(i) if seldom else shard.spans(i)[0]))
        return fused.csr_residuals(*given, residual[nodes], bias), bias

    pieces = crew.run(rows_of, len(shard.groups) if seldom else shard.parts)
    gradient = summed_by_columns(shard, crew, problem, residual, seldom)
    if wide:
        layout.matrix(gradient)[d, :wide] += sum(bias for _, bias in pieces)
    return {"value": float(sum(value for value, _ in pieces)), "gradient": gradient}


def direction(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp) -> Sums:
    """Leaves the scores of a point and of a direction behind, for ``along``."""
    kept_scores(shard, crew, problem, stamp)
    kept_scores(shard, crew, problem, line, "step")
    return {}


def along(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp, step: float
) -> Sums:
    """{"value", "slope"} of Σ s_i loss_i at w + step · v, from the scores of w and of v."""
    layout = problem.full
    node = kept_scores(shard, crew, problem, stamp)
    ahead = kept_scores(shard, crew, problem, line, "step")
    edge, edge_ahead = layout.weights(stamp.w).edge, layout.weights(line.w).edge

    def block(i: int) -> tuple[float, float]:
        truth, nodes, offsets = shard.answers(i)
        there = None if edge is None or edge_ahead is None else edge + step * edge_ahead
        scores = Scores(node[nodes] + step * ahead[nodes], there, offsets)
        residual = like(np.empty_like(scores.node), scores)
        values = problem.loss.evaluate(problem.space, scores, truth, residual)
        slope = float(np.vdot(residual.node, ahead[nodes]))
        if residual.edge is not None and edge_ahead is not None:
            slope += float(np.vdot(residual.edge, edge_ahead))
        return float(values.sum()), slope

    pieces = crew.run(block, len(shard.groups))
    return {"value": sum(value for value, _ in pieces), "slope": sum(slope for _, slope in pieces)}


def slopes(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp, steps: Floats
) -> Sums:
    """{"slopes" (K,)}: ∂/∂t_c of Σ s_i loss_i where the scores of label c move by t_c times those of v."""
    node = kept_scores(shard, crew, problem, stamp)
    ahead = kept_scores(shard, crew, problem, line, "step")

    def block(i: int) -> Floats:
        truth, nodes, _ = shard.answers(i)
        scores = Scores(node[nodes] + steps * ahead[nodes])
        residual = Scores(np.empty_like(scores.node))
        problem.loss.evaluate(problem.space, scores, truth, residual)
        return np.asarray(np.einsum("ij,ij->j", residual.node, ahead[nodes]))

    pieces = crew.run(block, len(shard.groups))
    return {"slopes": sum(pieces[1:], pieces[0])}


def conjugate(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, scale: float) -> Sums:
    """{"conjugate": Σ s_i loss*(scale · r_i)} with the residuals r of w."""
    node = kept_scores(shard, crew, problem, stamp)
    edge = problem.full.weights(stamp.w).edge

    def block(i: int) -> float:
        truth, nodes, offsets = shard.answers(i)
        scores = Scores(node[nodes], edge, offsets)
        return problem.loss.conjugate(problem.space, scores, truth, scale)

    return {"conjugate": sum(crew.run(block, len(shard.groups)))}


def at_zero(shard: Shard, crew: Crew, problem: Problem) -> Sums:
    """{"value": Σ s_i loss_i(0)}, the yardstick that ``tol`` is measured with."""
    k, layout = problem.full.labels, problem.full
    if (
        isinstance(problem.loss, Log)
        and isinstance(problem.space, Classes)
        and shard.truth.allowed is None
    ):
        weight = shard.weights()  # all labels are equally likely
        return {"value": math.log(k) * (len(shard) if weight is None else float(weight.sum()))}
    edge = np.zeros(layout.edge_shape) if layout.edge_kinds else None

    def block(i: int) -> float:
        truth, nodes, offsets = shard.answers(i)
        scores = Scores(np.zeros((nodes.stop - nodes.start, k)), edge, offsets)
        residual = like(np.empty_like(scores.node), scores)
        return float(problem.loss.evaluate(problem.space, scores, truth, residual).sum())

    return {"value": sum(crew.run(block, len(shard.groups)))}


def shifted(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, shift: Stamp) -> Sums:
    """{"gradient" (m,), "hessian" (m, m)} of Σ s_i loss_i in the intercept, at intercept + shift.w.

    Of many labels there is the "diagonal" (m,) instead, and what ``shifted_product`` needs is left behind.
    """
    layout, space, loss = problem.full, problem.space, problem.loss
    node = kept_scores(shard, crew, problem, stamp)
    if layout.columns > WIDE and layout.label_features is None:
        return _shifted_wide(shard, crew, problem, node, shift)
    phi = layout.label_matrix
    move = phi @ shift.w

    def block(i: int) -> tuple[Floats, Floats]:
        truth, nodes, _ = shard.answers(i)
        if by_kernel(problem) and isinstance(loss, Log):
            return _shifted_by_kernel(node[nodes], move, truth)
        if isinstance(loss, Log):  # its marginals are all it takes
            _, p = space.marginals(Scores(node[nodes] + move))
            weight = weights_of(truth.weight, nodes)
            shares = p.node * weight[:, None]
            total = shares.sum(axis=0)
            g = total - np.bincount(truth.labels, weights=weight, minlength=layout.labels)
            return g, np.diag(total) - shares.T @ p.node
        scores = Scores(node[nodes] + move)
        residual, filled = Scores(np.empty_like(scores.node)), np.empty_like(scores.node)
        loss.evaluate(space, scores, truth, residual)
        problem.curvature.fill(space, scores, truth, filled)
        g = residual.node.sum(axis=0)
        return g, problem.curvature.summed(filled, weights_of(truth.weight, nodes))

    pieces = crew.run(block, len(shard.groups))
    g, h = (sum(parts[1:], parts[0]) for parts in zip(*pieces, strict=True))
    h = np.tril(h) + np.tril(h, -1).T  # kernels fill the lower triangle alone
    return {"gradient": phi.T @ g, "hessian": phi.T @ h @ phi}


def _shifted_wide(shard: Shard, crew: Crew, problem: Problem, node: Floats, shift: Stamp) -> Sums:
    space, loss, bends = problem.space, problem.loss, problem.curvature
    filled = shard.slots.keep("step", shift, node.shape)

    def block(i: int) -> tuple[Floats, Floats]:
        g, diagonal = np.zeros(node.shape[1]), np.zeros(node.shape[1])
        truth, nodes, _ = shard.answers(i)
        weight = weights_of(truth.weight, nodes)
        some = Scores(node[nodes] + shift.w)
        bends.fill(space, some, truth, filled[nodes])
        residual = Scores(np.empty_like(some.node))
        loss.evaluate(space, some, truth, residual)
        g += residual.node.sum(axis=0)
        diagonal += bends.summed_diagonal(filled[nodes], weight)
        return g, diagonal

    pieces = crew.run(block, len(shard.groups))
    g, diagonal = (sum(parts[1:], parts[0]) for parts in zip(*pieces, strict=True))
    return {"gradient": g, "diagonal": diagonal}


def shifted_product(shard: Shard, crew: Crew, problem: Problem, shift: Stamp, v: Floats) -> Sums:
    """{"product" (m,)}: the Hessian of ``shifted`` times v."""
    filled, bends = shard.slots.kept("step", shift), problem.curvature

    def block(i: int) -> Floats:
        truth, nodes, _ = shard.answers(i)
        return bends.summed_product(filled[nodes], weights_of(truth.weight, nodes), v)

    pieces = crew.run(block, len(shard.groups))
    return {"product": sum(pieces[1:], pieces[0])}


def _shifted_by_kernel(node: Floats, move: Floats, truth: Truth) -> tuple[Floats, Floats]:
    """Gradient (K,) and the lower triangle of the Hessian (K, K) in a shift common to all rows."""
    from ..kernels import classes

    k = node.shape[1]
    g, h = np.zeros(k), np.zeros((k, k))
    classes.shifted(node, move, truth.labels, weight_or_one(truth.weight), g, h)
    return g, h


def outputs(shard: Shard, crew: Crew, problem: Problem, w: Floats) -> Sums:
    """{"node": the scores of every node}. The caller looks for values that are not finite."""
    node = np.empty((shard.structures.nodes, problem.full.labels))
    with np.errstate(all="ignore"):
        fill_scores(shard, crew, problem.full, w, node)
    return {"node": node}
