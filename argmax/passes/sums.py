"""Scores and gradients over the rows of a shard, for the passes of ``rows`` and ``curvatures``.

Where the gradient is small, a fixed number of row parts each sum their own, and the parts are added in
order. Where it is large (text: millions of weights), blocks write residuals, then each range of features has
one owner that sums in row order. Either way the order of every sum comes from the data, not from the threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..layouts import csr_arguments
from ..records import Csr, Floats, Scores
from ..spaces import Classes
from .problem import Problem

__all__ = [
    "adjoint",
    "by_kernel",
    "kept_scores",
    "like",
    "sum_parts",
    "summed_by_columns",
    "weight_or_one",
    "weights_of",
]

PIECES = 16
"""Ranges of features in which two gradients are added."""


def like(node: Floats, scores: Scores) -> Scores:
    """Scores-shaped memory over ``node``; shared edge tables get one private table each."""
    edge = None if scores.edge is None else np.zeros(scores.edge.shape)
    return Scores(node, edge, scores.offsets)


def by_kernel(problem: Problem) -> bool:
    """Whether scores are those of plain classes, and enough of them to compile something."""
    return isinstance(problem.space, Classes) and problem.full.compiled


def weights_of(weight: Floats | None, nodes: slice) -> Floats:
    """A weight for each node."""
    return np.ones(nodes.stop - nodes.start) if weight is None else weight


def weight_or_one(weight: Floats | None) -> Floats:
    """What kernels take: a weight for each row, or a single 1 for all."""
    return np.ones(1) if weight is None else weight


def kept_scores(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, name: str = "node"
) -> Floats:
    """The node scores of a point: those left behind, or computed anew in the same way."""
    layout, kept = problem.full, shard.slots.kept(name, stamp)
    if kept is not None:
        return np.asarray(kept)
    if stamp.base is not None and stamp.shift is not None:
        near = kept_scores(shard, crew, problem, stamp.base, name)
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


def adjoint(
    shard: Shard, crew: Crew, problem: Problem, block_residual: Any, seldom: bool = False
) -> Sums:
    """Σ over blocks of value and Ψᵀ residual, in an order that the data alone decides."""
    if shard.by_columns:
        return _adjoint_by_columns(shard, crew, problem, block_residual, seldom)
    layout = problem.full
    private = shard.private_gradients()

    def part(p: int) -> float:
        value, gradient = 0.0, private[p]
        gradient[:] = 0.0
        for span in shard.spans(p, joined=False):
            opened = shard.open(*span)
            more, residual = block_residual(*opened)
            layout.adjoint(opened[0], residual, gradient)
            value += more
        return value

    return sum_parts(crew.run(part, shard.parts), private)


def sum_parts(values: list[float], private: Floats) -> Sums:
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
    gradient = summed_by_columns(shard, crew, problem, node, seldom)
    for _, total, edge in pieces:
        layout.adjoint_shared(total, edge, gradient)
    return {"value": sum(value for value, _, _ in pieces), "gradient": gradient}


def summed_by_columns(
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
