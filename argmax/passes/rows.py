"""Passes over rows with a weight for every feature and label (``layouts.Full``).

    evaluate    w          Σ loss and its gradient; leaves scores behind
    curvature   v          Σ Ψᵀ H_i Ψ v, from the scores left behind
    direction   v          leaves Ψ v behind
    along       step       Σ loss and slope at scores + step · (Ψ v), without touching x
    conjugate   scale      the dual value of the residuals

Each task cuts its shard into blocks of rows. Where the gradient is small, a fixed number of row parts
each sum their own, and the parts are added in order. Where it is large (text: millions of weights),
blocks write residuals, then each range of features has one owner that sums in row order. Either way the
order of every sum comes from the data, not from the threads.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..layouts import Full, Weights, as_matrix, csr_arguments
from ..losses import Log, SoftmaxMargin
from ..records import Csr, Floats, Scores, Structures, Truth
from ..spaces import Classes
from .problem import Problem

__all__ = [
    "along",
    "at_zero",
    "conjugate",
    "curvature",
    "diagonal",
    "has_diagonal",
    "direction",
    "evaluate",
    "gram",
    "hessian",
    "outputs",
    "shifted",
]


GRAM_TILES = 7
"""Tiles on a side of a Gram matrix: 7 · 8 / 2 of them are two rounds of sixteen threads, hardly one idle."""


PIECES = 16
"""Ranges of features in which two gradients are added."""


def _like(problem: Problem, node: Floats, scores: Scores) -> Scores:
    """Scores-shaped memory over ``node``; shared edge tables get one private table each."""
    edge = None if scores.edge is None else np.zeros(scores.edge.shape)
    return Scores(node, edge, scores.offsets)


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
        kept = _kept_scores(shard, crew, problem, stamp)
    else:
        kept = shard.slots.keep("node", stamp, (shard.structures.nodes, layout.labels))
    if _fusible(shard, problem):
        return _evaluate_fused(shard, crew, problem, weights, ready, kept, seldom)

    def block_residual(structures: Structures, truth: Truth, nodes: slice) -> tuple[float, Scores]:
        if not ready:
            kept[nodes] = layout.block_scores(structures, weights).node
        scores = Scores(kept[nodes], weights.edge, structures.offsets)
        residual = _like(problem, np.empty_like(scores.node), scores)
        values = problem.loss.evaluate(problem.space, scores, truth, residual)
        return float(values.sum()), residual

    return _adjoint(shard, crew, problem, block_residual, seldom)


def _fusible(shard: Shard, problem: Problem) -> bool:
    """Whether one kernel can do it all: k ≥ 3 classes, log loss, a weight vector for each label."""
    simple = _by_kernel(problem) and isinstance(problem.loss, Log)
    plain = problem.full.label_features is None
    return simple and plain and not (shard.by_columns and not shard.sparse)


def _by_kernel(problem: Problem) -> bool:
    """Whether scores are those of plain classes, and enough of them to compile something."""
    return isinstance(problem.space, Classes) and problem.full.compiled


def _evaluate_fused(
    shard: Shard,
    crew: Crew,
    problem: Problem,
    weights: Weights,
    ready: bool,
    kept: Floats,
    seldom: bool,
) -> Sums:
    """``evaluate`` by one kernel call a part or block, or two sweeps where columns have owners.

    ``ready`` says that ``kept`` already holds the scores.
    """
    from ..kernels import fused

    layout, d = problem.full, problem.full.features
    blocks, sparse = len(shard.blocks), shard.sparse
    exact = sparse or weights.W.dtype == np.float64

    def arguments(block: int, end: int) -> tuple[Any, ...]:
        rows, labels, weight, nodes = _answered(shard, block, end)
        return (*rows, weights.W, weights.b, labels, weight, ready, kept[nodes])

    def gradient_of(out: Floats) -> tuple[Floats, Floats]:
        table = layout.matrix(out)
        return table[:d], (table[d, : layout.columns] if layout.intercept else table[0, :0])

    def part(p: int) -> float:
        value, gradient = 0.0, private[p]
        gradient[:] = 0.0
        table, bias = gradient_of(gradient)
        for span in shard.spans(p, joined=exact):
            given = arguments(*span)
            if sparse:
                value += fused.csr_log(*given, table, bias)
            elif exact:
                value += fused.dense_log(*given, table, bias)
            else:  # float32 products: a block at a time, then added up in float64
                small = np.zeros(table.shape, weights.W.dtype)
                value += fused.dense_log(*given, small, bias)
                table += small
        return value

    if not shard.by_columns:
        private = shard.private_gradients()
        return _sum_parts(crew.run(part, shard.parts), private)
    residual = shard.padded_residual(layout.width)
    wide = layout.columns if layout.intercept else 0

    def rows_of(block: int) -> tuple[float, Floats]:
        bias = np.zeros(wide)
        nodes = _answered(shard, block, block + 1)[-1]
        return fused.csr_residuals(*arguments(block, block + 1), residual[nodes], bias), bias

    pieces = crew.run(rows_of, blocks)
    gradient = _columns(shard, crew, problem, residual, seldom)
    for _, bias in pieces:
        gradient_of(gradient)[1][:] += bias
    return {"value": sum(value for value, _ in pieces), "gradient": gradient}


def _answered(shard: Shard, block: int, end: int) -> tuple[tuple[Any, ...], Any, Floats, slice]:
    """Of some blocks what a kernel takes: their rows, labels and weights; and where their nodes are.

    Kept at the shard where it is in memory: while one thread gathers them, the others wait for the
    interpreter's lock, and a pass may last no longer than a few milliseconds.
    """

    def make() -> tuple[tuple[Any, ...], Any, Floats, slice]:
        structures, truth, nodes = shard.open(block, end)
        rows = structures.rows
        given = csr_arguments(rows) if isinstance(rows, Csr) else (rows,)
        return given, truth.labels, _weight_or_one(truth.weight), nodes

    return make() if shard.on_disk else shard.made(("answered", block, end), make)


def curvature(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, direction: Floats) -> Sums:
    """{"gradient": Σ s_i Ψᵀ (∂² loss_i) Ψ · direction}: a Hessian product."""
    layout, space = problem.full, problem.space
    ahead = layout.weights(direction, layout.product_dtype(shard.structures.rows))
    bends, filled = problem.curvature, _curved(shard, crew, problem, stamp)
    plain = _by_kernel(problem) and isinstance(problem.loss, Log | SoftmaxMargin)
    plain = plain and layout.label_features is None
    if plain and shard.by_columns and shard.sparse:
        return _curvature_by_columns(shard, crew, problem, ahead, filled)

    def block_residual(structures: Structures, truth: Truth, nodes: slice) -> tuple[float, Scores]:
        step = layout.block_scores(structures, ahead)
        out = _like(problem, np.empty_like(step.node), step)
        bends.product(space, filled[nodes], _weight(truth.weight, nodes), step.node, out.node)
        return 0.0, out

    return {"gradient": _adjoint(shard, crew, problem, block_residual)["gradient"]}


def _curvature_by_columns(
    shard: Shard, crew: Crew, problem: Problem, ahead: Weights, marginals: Floats
) -> Sums:
    """``curvature`` of sparse rows by one kernel call a block, then the owners of the columns."""
    from ..kernels import fused

    layout = problem.full
    residual = shard.padded_residual(layout.width)

    def rows_of(block: int) -> Floats:
        structures, truth, nodes = shard.open(block)
        assert isinstance(structures.rows, Csr)
        bias = np.zeros(layout.columns if layout.intercept else 0)
        weight = _weight(truth.weight, nodes)
        rest = (ahead.W, ahead.b, marginals[nodes], weight, residual[nodes], bias)
        fused.csr_curvature(*csr_arguments(structures.rows), *rest)
        return bias

    totals = crew.run(rows_of, len(shard.blocks))
    gradient = _columns(shard, crew, problem, residual)
    if layout.intercept:
        layout.matrix(gradient)[layout.features, : layout.columns] += sum(totals)
    return {"gradient": gradient}


def direction(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp) -> Sums:
    """Leaves the scores of a point and of a direction behind, for ``along``."""
    _kept_scores(shard, crew, problem, stamp)
    _kept_scores(shard, crew, problem, line, "step")
    return {}


def along(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp, step: float
) -> Sums:
    """{"value", "slope"} of Σ s_i loss_i at w + step · v, from the scores of w and of v."""
    layout = problem.full
    node = _kept_scores(shard, crew, problem, stamp)
    ahead = _kept_scores(shard, crew, problem, line, "step")
    edge, edge_ahead = layout.weights(stamp.w).edge, layout.weights(line.w).edge

    def block(i: int) -> tuple[float, float]:
        truth, nodes, offsets = shard.answers(i)
        there = None if edge is None or edge_ahead is None else edge + step * edge_ahead
        scores = Scores(node[nodes] + step * ahead[nodes], there, offsets)
        residual = _like(problem, np.empty_like(scores.node), scores)
        values = problem.loss.evaluate(problem.space, scores, truth, residual)
        slope = float(np.vdot(residual.node, ahead[nodes]))
        if residual.edge is not None and edge_ahead is not None:
            slope += float(np.vdot(residual.edge, edge_ahead))
        return float(values.sum()), slope

    pieces = crew.run(block, len(shard.groups))
    return {"value": sum(value for value, _ in pieces), "slope": sum(slope for _, slope in pieces)}


def conjugate(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, scale: float) -> Sums:
    """{"conjugate": Σ s_i loss*(scale · r_i)} with the residuals r of w."""
    node = _kept_scores(shard, crew, problem, stamp)
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
        residual = _like(problem, np.empty_like(scores.node), scores)
        return float(problem.loss.evaluate(problem.space, scores, truth, residual).sum())

    return {"value": sum(crew.run(block, len(shard.groups)))}


def shifted(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, shift: Floats) -> Sums:
    """{"gradient" (m,), "hessian" (m, m)} of Σ s_i loss_i in the intercept, at intercept + shift."""
    layout, space, loss = problem.full, problem.space, problem.loss
    node = _kept_scores(shard, crew, problem, stamp)
    phi = layout.label_matrix
    move = phi @ shift

    def block(i: int) -> tuple[Floats, Floats]:
        truth, nodes, _ = shard.answers(i)
        if _by_kernel(problem) and isinstance(loss, Log):
            return _shifted_by_kernel(node[nodes], move, truth)
        if isinstance(loss, Log):  # its marginals are all it takes
            _, p = space.marginals(Scores(node[nodes] + move))
            weight = _weight(truth.weight, nodes)
            shares = p.node * weight[:, None]
            total = shares.sum(axis=0)
            g = total - np.bincount(truth.labels, weights=weight, minlength=layout.labels)
            return g, np.diag(total) - shares.T @ p.node
        scores = Scores(node[nodes] + move)
        residual, filled = Scores(np.empty_like(scores.node)), np.empty_like(scores.node)
        loss.evaluate(space, scores, truth, residual)
        problem.curvature.fill(space, scores, truth, filled)
        g = residual.node.sum(axis=0)
        return g, problem.curvature.summed(filled, _weight(truth.weight, nodes))

    pieces = crew.run(block, len(shard.groups))
    g, h = (sum(parts[1:], parts[0]) for parts in zip(*pieces, strict=True))
    h = np.tril(h) + np.tril(h, -1).T  # kernels fill the lower triangle alone
    return {"gradient": phi.T @ g, "hessian": phi.T @ h @ phi}


def _shifted_by_kernel(node: Floats, move: Floats, truth: Truth) -> tuple[Floats, Floats]:
    """Gradient (K,) and the lower triangle of the Hessian (K, K) in a shift common to all rows."""
    from ..kernels import classes

    k = node.shape[1]
    g, h = np.zeros(k), np.zeros((k, k))
    classes.shifted(node, move, truth.labels, _weight_or_one(truth.weight), g, h)
    return g, h


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
    shard.forget_gradients()  # the matrix is where a fit needs most memory
    s, share = _row_curvature(shard, crew, problem, stamp, mean, every)
    total, d = np.zeros((side, side), np.float32 if single else float), layout.features
    sample, c = shard.every(every), share.astype(shard.dtype, copy=False)
    # The lower triangle in square tiles, one owner each: narrow ones would read the sample too often.
    edges = np.linspace(0, d, 1 + max(1, min(d // 48, GRAM_TILES))).astype(int)
    tiles = [(a, b) for a in pairwise(edges) for b in pairwise(edges) if b[0] <= a[0]]

    def owner(i: int) -> None:
        (low, high), (left, right) = tiles[i]
        first, second, tile = (
            sample[:, low:high],
            sample[:, left:right],
            total[low:high, left:right],
        )
        sums = total[d, low:high] if layout.intercept and left == 0 else total[0, :0]
        if layout.compiled:
            from ..kernels import products

            products.dense_gram(first, second, c, tile, sums)
            return
        weighted = first * c[:, None]
        with np.errstate(over="ignore"):  # whoever asks for float32 looks
            tile += weighted.T @ second
        if len(sums):
            sums += weighted.sum(axis=0)

    crew.run(owner, len(tiles))
    if layout.intercept:
        total[d, d] = share.sum()
    return {"gram": total, "rows": float(s.sum())}


def hessian(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp) -> Sums:
    """{"hessian": Σ s_i ΦᵀH_iΦ ⊗ x̃_i x̃_iᵀ}, weights ordered (feature, column); H_i = ∂²loss_i/∂scores²."""
    layout = problem.full
    d, m = layout.features + int(layout.intercept), layout.columns
    filled = _curved(shard, crew, problem, stamp)
    total = np.zeros((d, m, d, m))
    for i in range(len(shard.blocks)):
        structures, truth, nodes = shard.open(i)
        X = as_matrix(structures.rows)
        X = X.toarray() if isinstance(structures.rows, Csr) else X.astype(float, copy=False)
        if layout.intercept:
            X = np.hstack([X, np.ones((len(X), 1))])
        s = _weight(truth.weight, nodes)
        if problem.curvature.crossed:
            _add_crossed(total, X, *problem.curvature.parts(filled[nodes]), s, layout)
        else:
            for a, h in enumerate(problem.curvature.diagonal(filled[nodes]).T):
                total[:, a, :, a] += (X * (s * h)[:, None]).T @ X
    return {"hessian": total.reshape(d * m, d * m)}


def _add_crossed(
    total: Floats, X: Floats, p: Floats, b: Floats | None, s: Floats, layout: Full
) -> None:
    """Σ s_i Φᵀ(diag p_i − b_i b_iᵀ)Φ ⊗ x̃_i x̃_iᵀ; without b, every label against the truth (a ``Star``)."""
    phi, m = layout.label_matrix, layout.columns
    if b is None:
        own = p.argmin(axis=1)
        for label in range(layout.labels):
            for c in range(layout.labels):
                if c != label:
                    e, some = phi[c] - phi[label], own == label
                    block = (X[some] * (s * p[:, c])[some, None]).T @ X[some]
                    total += np.einsum("a,b,ij->iajb", e, e, block)
        return
    # With z_i = x̃_i ⊗ Φᵀb_i the second term is a single product.
    Z = (X[:, :, None] * (np.sqrt(s)[:, None] * (b @ phi))[:, None, :]).reshape(len(X), -1)
    total -= (Z.T @ Z).reshape(total.shape)
    for a in range(m):
        for c in range(m):
            if a == c or layout.label_features is not None:
                share = p @ (phi[:, a] * phi[:, c])
                total[:, a, :, c] += (X * (s * share)[:, None]).T @ X


def outputs(shard: Shard, crew: Crew, problem: Problem, w: Floats) -> Sums:
    """{"node": the scores of every node}."""
    weights = problem.full.weights(w, problem.full.product_dtype(shard.structures.rows))
    node = np.empty((shard.structures.nodes, problem.full.labels))

    def group(i: int) -> None:
        structures, _, nodes = shard.group(i)
        with np.errstate(all="ignore"):  # the caller looks for values that are not finite
            node[nodes] = problem.full.block_scores(structures, weights).node

    crew.run(group, len(shard.groups))
    return {"node": node}


# What the tasks share


def _weight(weight: Floats | None, nodes: slice) -> Floats:
    return np.ones(nodes.stop - nodes.start) if weight is None else weight


def _weight_or_one(weight: Floats | None) -> Floats:
    """What kernels take: a weight for each row, or a single 1 for all."""
    return np.ones(1) if weight is None else weight


def _row_curvature(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, mean: bool, every: int = 1
) -> tuple[Floats, Floats]:
    """Of every ``every``-th row: its weight s, and how strongly it curves one weight column.

    The bound that the loss has (Böhning's ½ s_i for a softmax); or with ``mean`` the mean curvature at w.
    """
    layout = problem.full
    s = _weight(shard.weights(), slice(0, shard.structures.nodes))[::every]
    share = problem.curvature.bound(layout.labels) * s
    if mean:
        node = np.ascontiguousarray(_kept_scores(shard, crew, problem, stamp)[::every])
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
    if _by_kernel(problem) and isinstance(problem.loss, Log):
        from ..kernels import classes

        out = np.empty(len(node))
        classes.spread(node, out)
        return np.asarray(out / max(node.shape[1] - 1, 1))
    filled = np.empty_like(node)
    problem.curvature.fill(problem.space, Scores(node), truth, filled)
    return problem.curvature.spread(filled)


def has_diagonal(problem: Problem) -> bool:
    """Whether ``diagonal`` knows the space and the loss of a problem."""
    return problem.space.curved and problem.loss.smooth


def diagonal(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, mean: bool) -> Sums:
    """{"diagonal": Σ c_i x̃_ij² for each feature j}: the diagonal of ``gram``, for many features."""
    _, share = _row_curvature(shard, crew, problem, stamp, mean)
    if shard.by_columns and _by_kernel(problem) and shard.sparse:
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


def _kept_scores(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, name: str = "node"
) -> Floats:
    """The node scores of a point: those left behind, or computed anew in the same way."""
    layout, kept = problem.full, shard.slots.kept(name, stamp)
    if kept is not None:
        return np.asarray(kept)
    if stamp.base is not None and stamp.shift is not None:
        near = _kept_scores(shard, crew, problem, stamp.base, name)
        shard.slots.keep(name, stamp, near.shape)  # the same memory: that point is left
        near += layout.label_matrix @ stamp.shift
        return near
    node: Floats = shard.slots.keep(name, stamp, (shard.structures.nodes, layout.labels))
    weights = layout.weights(stamp.w, layout.product_dtype(shard.structures.rows))

    def block(i: int) -> None:
        structures, _, nodes = shard.open(i)
        node[nodes] = layout.block_scores(structures, weights).node

    crew.run(block, len(shard.blocks))
    return node


def _curved(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp) -> Floats:
    """What Hessian products at a point need (N, K), kept for the next one; for a softmax its marginals."""
    filled = shard.slots.kept("curvature", stamp)
    if filled is None:
        node = _kept_scores(shard, crew, problem, stamp)
        filled = shard.slots.keep("curvature", stamp, node.shape)
        edge = problem.full.weights(stamp.w).edge

        def group(i: int) -> None:
            truth, nodes, offsets = shard.answers(i)
            scores = Scores(node[nodes], edge, offsets)
            problem.curvature.fill(problem.space, scores, truth, filled[nodes])

        crew.run(group, len(shard.groups))
    return np.asarray(filled)


def _adjoint(
    shard: Shard, crew: Crew, problem: Problem, block_residual: Any, seldom: bool = False
) -> Sums:
    """Σ over blocks of value and Ψᵀ residual, in an order that the data alone decides."""
    if shard.by_columns:
        return _adjoint_by_columns(shard, crew, problem, block_residual, seldom)
    layout, blocks, parts = problem.full, len(shard.blocks), shard.parts
    private = shard.private_gradients()

    def part(p: int) -> float:
        value, gradient = 0.0, private[p]
        gradient[:] = 0.0
        for block in range(p * blocks // parts, (p + 1) * blocks // parts):
            opened = shard.open(block)
            more, residual = block_residual(*opened)
            layout.adjoint(opened[0], residual, gradient)
            value += more
        return value

    return _sum_parts(crew.run(part, parts), private)


def _sum_parts(values: list[float], private: Floats) -> Sums:
    """Values and private gradients, added in order."""
    gradient = private[0].copy()
    for more in private[1:]:
        gradient += more
    return {"value": sum(values), "gradient": gradient}


def _adjoint_by_columns(
    shard: Shard, crew: Crew, problem: Problem, block_residual: Any, seldom: bool
) -> Sums:
    layout = problem.full
    node = shard.padded_residual(layout.width)

    def block(i: int) -> tuple[float, Floats, Floats | None]:
        opened = shard.open(i)
        value, residual = block_residual(*opened)
        reduced = layout.reduced(residual.node)
        node[opened[2], : layout.columns] = reduced
        return value, reduced.sum(axis=0)[None, :], residual.edge

    pieces = crew.run(block, len(shard.blocks))
    gradient = _columns(shard, crew, problem, node, seldom)
    for _, total, edge in pieces:
        layout.adjoint_shared(total, edge, gradient)
    return {"value": sum(value for value, _, _ in pieces), "gradient": gradient}


def _columns(
    shard: Shard, crew: Crew, problem: Problem, node: Floats, seldom: bool = False
) -> Floats:
    """Xᵀ node, each range of features by its owner; zero in the entries that no row of X enters."""
    layout, rows = problem.full, shard.structures.rows
    gradient = np.empty(
        layout.size
    )  # not zeros: its pages are touched first by their owners, in parallel
    gradient[layout.features * layout.width :] = 0.0
    if seldom and isinstance(rows, Csr) and layout.compiled and not shard.on_disk:
        _columns_of_rows(rows, crew, node, layout.matrix(gradient)[: layout.features])
        return gradient
    rows = shard.by_column(crew.run)
    ranges = shard.column_ranges(rows)

    def owner(i: int) -> None:
        layout.adjoint_columns(shard.columns(rows, ranges[i]), node, gradient, ranges[i])

    crew.run(owner, len(ranges))
    return gradient


def _columns_of_rows(rows: Csr, crew: Crew, node: Floats, table: Floats) -> None:
    """The same from rows that are not transposed: two halves of them, each in a table of its own."""
    from ..kernels import products

    half, tables = len(rows) // 2, (table, np.empty(table.shape))
    parts = slice(0, half), slice(half, len(rows))

    def part(i: int) -> None:
        tables[i][:] = 0.0
        products.csr_adjoint(*csr_arguments(rows[parts[i]]), node[parts[i]], tables[i], node[0, :0])

    crew.run(part, 2)
    step = -(-len(table) // PIECES)

    def add(i: int) -> None:
        some = slice(i * step, (i + 1) * step)
        tables[0][some] += tables[1][some]

    crew.run(add, PIECES)
