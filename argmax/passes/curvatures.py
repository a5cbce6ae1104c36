"""Second derivatives over the rows of a shard.

    curvature   v          Σ Ψᵀ H_i Ψ v: a Hessian product
    gram        w          Σ c_i x̃ x̃ᵀ, for a preconditioner that all labels share
    diagonal    w          its diagonal, for many features

(``hessians`` has all of it, for few weights.) They start from the scores that ``rows.evaluate`` left
behind, or compute them anew.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..layouts import Full, Weights, as_matrix, csr_arguments
from ..losses import Log, SoftmaxMargin
from ..records import Csr, Floats, Scores, Structures, Truth
from .problem import Problem
from .sums import (
    adjoint,
    by_kernel,
    column_sums,
    kept_scores,
    like,
    summed_by_columns,
    weight_or_one,
    weights_of,
)

__all__ = ["curvature", "curved", "diagonal", "gram", "has_diagonal"]

GRAM_TILES = 7
"""Tiles on a side of a Gram matrix: 7 · 8 / 2 of them are two rounds of sixteen threads, hardly one idle."""


def curvature(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, direction: Floats) -> Sums:
    """{"gradient": Σ s_i Ψᵀ (∂² loss_i) Ψ · direction}: a Hessian product."""
    layout, space = problem.full, problem.space
    ahead = layout.weights(direction, layout.product_dtype(shard.structures.rows))
    bends, filled = problem.curvature, curved(shard, crew, problem, stamp)
    plain = by_kernel(problem) and isinstance(problem.loss, Log | SoftmaxMargin)
    plain = plain and layout.label_features is None
    if plain and shard.by_columns and shard.sparse:
        return _curvature_by_columns(shard, crew, problem, ahead, filled)

    def block_residual(structures: Structures, truth: Truth, nodes: slice) -> tuple[float, Scores]:
        step = layout.block_scores(structures, ahead)
        out = like(np.empty_like(step.node), step)
        bends.product(space, filled[nodes], weights_of(truth.weight, nodes), step.node, out.node)
        return 0.0, out

    return {"gradient": adjoint(shard, crew, problem, block_residual)["gradient"]}


def _curvature_by_columns(
    shard: Shard, crew: Crew, problem: Problem, ahead: Weights, marginals: Floats
) -> Sums:
    """``curvature`` of sparse rows by kernels; on disk a block at a time."""
    from ..kernels import fused

    layout = problem.full
    if not shard.on_disk:
        given = (ahead.W, ahead.b, marginals, weight_or_one(shard.truth.weight))
        return {"gradient": column_sums(shard, crew, problem, fused.csr_curvature_columns, *given)}
    residual = shard.padded_residual(layout.width)

    def rows_of(p: int) -> Floats:
        structures, truth, nodes = shard.spans(p)[0]
        assert isinstance(structures.rows, Csr)
        bias = np.zeros(layout.columns if layout.intercept else 0)
        weight = weight_or_one(truth.weight)
        rest = (ahead.W, ahead.b, marginals[nodes], weight, residual[nodes], bias)
        fused.csr_curvature(*csr_arguments(structures.rows), *rest)
        return bias

    totals = crew.run(rows_of, shard.parts)
    gradient = summed_by_columns(shard, crew, problem, residual)
    if layout.intercept:
        layout.matrix(gradient)[layout.features, : layout.columns] += sum(totals)
    return {"gradient": gradient}


def gram(
    shard: Shard,
    crew: Crew,
    problem: Problem,
    stamp: Stamp,
    every: int,
    mean: bool,
    single: bool = False,
) -> Sums:
    """{"gram": Σ c_i x̃ x̃ᵀ, its lower triangle, "rows": Σ s_i} over every ``every``-th dense row.

    x̃ is x with a 1 appended for the intercept; c as in ``_row_curvature``. ``single``: in float32.
    """
    layout = problem.full
    side = layout.features + int(layout.intercept)
    s, share = _row_curvature(shard, crew, problem, stamp, mean, every)
    total = np.zeros((side, side), np.float32 if single else float)
    _add_gram(shard, crew, layout, shard.every(every), share, total)
    return {"gram": total, "rows": float(s.sum())}


def _add_gram(
    shard: Shard, crew: Crew, layout: Full, sample: Floats, c: Floats, total: Floats
) -> None:
    """total += Σ c_i x̃_i x̃_iᵀ over the rows of a sample; only its lower triangle is sure to be filled."""
    if not layout.compiled:
        X = np.hstack([sample, np.ones((len(sample), 1))]) if layout.intercept else sample
        with np.errstate(over="ignore"):  # whoever asks for float32 looks
            total += (X * c[:, None]).T @ X
        return
    from ..kernels import gram, turns

    # Square tiles, one owner each: narrow ones would be multiplied slowly.
    side = len(total)
    edges = np.linspace(0, side, 1 + max(1, min(side // 48, GRAM_TILES))).astype(np.int64)
    count = len(edges) - 1
    pieces, chunks = count * (count + 1) // 2, -(-len(sample) // gram.ROWS)
    copied = np.zeros((count, gram.ROWS, int(np.diff(edges).max())), total.dtype)
    most = shard.at_once(2 * pieces * chunks, len(sample) * side * side)
    counts = np.zeros(turns.SHAPE, np.int64)
    given = (counts, sample, c, edges, copied, total)
    crew.together(lambda leads: bool(gram.tiles(leads, most, *given)), pieces, counts=[counts])


def has_diagonal(problem: Problem) -> bool:
    """Whether ``diagonal`` knows the space and the loss of a problem."""
    return problem.space.curved and problem.loss.smooth


def diagonal(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, mean: bool) -> Sums:
    """{"diagonal": Σ c_i x̃_ij² for each feature j}: the diagonal of ``gram``, for many features."""
    _, share = _row_curvature(shard, crew, problem, stamp, mean)
    if shard.by_columns and by_kernel(problem) and shard.sparse:
        return _with_intercept(problem, _squares_by_column(shard, crew, share), share)

    def block(i: int) -> Floats:
        structures, _, nodes = shard.open(i)
        rows, c = structures.rows, share[nodes]
        if not isinstance(rows, Csr):
            return np.asarray(np.einsum("ij,ij,i->j", rows, rows, c, dtype=float))
        X = as_matrix(rows)
        X.data = np.square(X.data, dtype=float)
        return np.asarray(X.T @ c)

    total = np.zeros(problem.full.features)
    for part in crew.run(block, len(shard.blocks)):
        total += part
    return _with_intercept(problem, total, share)


def _with_intercept(problem: Problem, total: Floats, share: Floats) -> Sums:
    return {"diagonal": np.append(total, share.sum()) if problem.full.intercept else total}


def _squares_by_column(shard: Shard, crew: Crew, share: Floats) -> Floats:
    """Σ_i share_i x_ij² for each feature j, each range of features by its owner."""
    from ..kernels import products

    rows = shard.by_column(crew.run)
    assert isinstance(rows, Csr)
    ranges = shard.column_ranges(rows)
    total = np.empty(len(rows))

    def owner(i: int) -> None:
        piece = shard.columns(rows, ranges[i])
        assert isinstance(piece, Csr)
        products.csr_squares(*csr_arguments(piece), share, total[ranges[i]])

    crew.run(owner, len(ranges))
    return total


def _row_curvature(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, mean: bool, every: int = 1
) -> tuple[Floats, Floats]:
    """Of every ``every``-th row: its weight s, and how strongly it curves one weight column.

    The bound that the loss has (Böhning's ½ s_i for a softmax); or with ``mean`` the mean curvature at w.
    """
    layout = problem.full
    s = weights_of(shard.weights(), slice(0, shard.structures.nodes))[::every]
    share = problem.curvature.bound(layout.labels) * s
    if mean:
        node = np.ascontiguousarray(kept_scores(shard, crew, problem, stamp)[::every])
        bounds = np.linspace(0, len(node), len(shard.groups) + 1).astype(int)
        truth = _every(shard, every)

        def piece(i: int) -> None:
            rows = slice(bounds[i], bounds[i + 1])
            spread = _spread(problem, node[rows], truth.block(rows, rows))
            # Rounding may make it negative; a factor needs it positive.
            share[rows] = s[rows] * np.maximum(spread, 1e-4)

        crew.run(piece, len(shard.groups))
    if layout.label_features is not None:
        share *= float((layout.label_features**2).sum())
    return s, share


def _every(shard: Shard, step: int) -> Truth:
    """The truth of every ``step``-th example."""
    truth = shard.truth if shard.reading is None else shard.reading.truth(shard.truth)
    weight = None if truth.weight is None else truth.weight[::step]
    prices = None if truth.prices is None else truth.prices[::step]
    return replace(truth, labels=truth.labels[::step], weight=weight, prices=prices)


def _spread(problem: Problem, node: Floats, truth: Truth) -> Floats:
    """The mean curvature of each row of scores: for a softmax (1 − ‖p_i‖²)/(K − 1)."""
    if by_kernel(problem) and isinstance(problem.loss, Log):
        from ..kernels import classes

        out = np.empty(len(node))
        classes.spread(node, out)
        return np.asarray(out / max(node.shape[1] - 1, 1))
    filled = np.empty_like(node)
    problem.curvature.fill(problem.space, Scores(node), truth, filled)
    return problem.curvature.spread(filled)


def curved(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp) -> Floats:
    """What Hessian products at a point need (N, K), kept for the next one; for a softmax its marginals."""
    filled = shard.slots.kept("curvature", stamp)
    if filled is None:
        node = kept_scores(shard, crew, problem, stamp)
        filled = shard.slots.keep("curvature", stamp, node.shape)
        edge = problem.full.weights(stamp.w).edge

        def group(i: int) -> None:
            truth, nodes, offsets = shard.answers(i)
            scores = Scores(node[nodes], edge, offsets)
            problem.curvature.fill(problem.space, scores, truth, filled[nodes])

        crew.run(group, len(shard.groups))
    return np.asarray(filled)
