"""Scores and gradients over the rows of a shard, for the passes of ``rows`` and ``curvatures``.

Where the gradient is small, a fixed number of row parts each sum their own, and the parts are added in
pairs. Where it is large (text: millions of weights), blocks write residuals, then each range of features has
one owner that sums in row order. Either way the order of every sum comes from the data, not from the threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, final

import numpy as np

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..engines.columns import Splits
from ..layouts import Full, csr_arguments
from ..memory import cache_aligned
from ..records import Csr, Floats, Scores
from ..spaces import Classes
from .problem import Problem

__all__ = [
    "Tables",
    "adjoint",
    "by_kernel",
    "column_sums",
    "fill_scores",
    "kept_scores",
    "like",
    "sum_parts",
    "summed_by_columns",
    "tables_needed",
    "weight_or_one",
    "weights_of",
]


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
        phi = layout.label_features
        move = stamp.shift if phi is None else phi @ stamp.shift

        def shift(i: int) -> None:
            near[slice(*shard.structures.node_range(*shard.groups[i]))] += move

        crew.run(shift, len(shard.groups))
        return near
    node: Floats = shard.slots.keep(name, stamp, (shard.structures.nodes, layout.labels))
    fill_scores(shard, crew, layout, stamp.w, node)
    return node


def fill_scores(shard: Shard, crew: Crew, layout: Full, w: Floats, node: Floats) -> None:
    """node (N, K) becomes the scores at w of every node of a shard."""
    structures = shard.structures
    rows = structures.rows
    weights = layout.weights(w, layout.product_dtype(rows))
    plain = layout.label_features is None and structures.offsets is None
    if shard.on_disk or not (plain and layout.compiled_for(rows)):

        def block(i: int) -> None:
            some, _, nodes = shard.open(i)
            node[nodes] = layout.block_scores(some, weights).node

        crew.run(block, len(shard.blocks))
        return
    from ..kernels import fused, turns

    given: tuple[Any, ...]
    if isinstance(rows, Csr):
        kernel, given = fused.csr_scores_parts, (*csr_arguments(rows), weights.W)
    else:
        W = cache_aligned(weights.W.shape, weights.W.dtype)
        W[:] = weights.W
        kernel, given = fused.dense_scores_parts, (rows, W)
    counts, most = np.zeros(turns.SHAPE, np.int64), shard.at_once(shard.parts)
    given = counts, shard.part_starts, *given, weights.b, node
    crew.together(lambda leads: bool(kernel(leads, most, *given)), shard.parts, counts=[counts])


def adjoint(
    shard: Shard, crew: Crew, problem: Problem, block_residual: Any, seldom: bool = False
) -> Sums:
    """Σ over blocks of value and Ψᵀ residual, in an order that the data alone decides."""
    if shard.by_columns:
        return _adjoint_by_columns(shard, crew, problem, block_residual, seldom)

    def part(p: int, gradient: Floats) -> float:
        value = 0.0
        for opened in shard.spans(p, pieces=True):
            more, residual = block_residual(*opened)
            problem.full.adjoint(opened[0], residual, gradient)
            value += more
        return value

    return sum_parts(shard, crew, part)


def tables_needed(threads: int, parts: int) -> int:
    """How many tables so many threads have in use at most. With T of them, what is done has at most
    T + 1 stretches, and of a stretch no more than two sums of every size wait to be added.

    >>> from argmax.passes.sums import tables_needed
    >>> tables_needed(2, 128), tables_needed(16, 128), tables_needed(1, 1)
    (48, 128, 1)
    """
    return min(parts, 2 * (threads + 1) * parts.bit_length())


def sum_parts(shard: Shard, crew: Crew, part: Callable[[int, Floats], float]) -> Sums:
    """The values of all row parts and the gradients that they add to a table of zeros, in a fixed shape."""
    if shard.parts == 1:
        gradient = np.zeros(shard.layout.size)
        return {"value": part(0, gradient), "gradient": gradient}
    tables = Tables(shard.tables(tables_needed(crew.n, shard.parts)), shard.parts)

    def piece(p: int) -> None:
        table = tables.take(p)
        table[:] = 0.0
        tables.give(p, part(p, table))

    crew.run(piece, shard.parts)
    return tables.sums()


@final
class Tables:
    """Memory of row parts, and how they are added: as in ``kernels.partial_sums``.

    >>> import numpy as np
    >>> from argmax.passes.sums import Tables
    >>> tables = Tables(np.zeros((3, 2)), parts=3)
    >>> for part in (2, 0, 1):
    ...     tables.take(part)[:] = part
    ...     tables.give(part, 10.0 * part)
    >>> tables.sums()
    {'value': 30.0, 'gradient': array([3., 3.])}
    """

    def __init__(self, memory: Floats, parts: int) -> None:
        self.memory, self.values = memory, np.zeros(parts)
        self.places, self.met = np.zeros(parts, np.int64), np.zeros(parts, np.int64)
        # The first tables are used first, so that few are ever touched.
        self.free = list(reversed(range(len(memory))))
        self._lock = threading.Lock()

    def take(self, part: int) -> Floats:
        """A table for a part, with whatever was left there."""
        with self._lock:
            self.places[part] = self.free.pop()
        return np.asarray(self.memory[self.places[part]])

    def give(self, part: int, value: float) -> None:
        """The table of a part is ready, and its value is this."""
        self.values[part] = value
        width, parts = 1, len(self.values)
        while width < parts:
            first = part - part % (2 * width)
            second = first + width
            if second < parts:
                with self._lock:
                    self.met[second] += 1
                    if self.met[second] == 1:  # whoever is ready second adds
                        return
                mine, other = self.places[first], self.places[second]
                self.memory[mine] += self.memory[other]
                self.values[first] += self.values[second]
                with self._lock:
                    self.free.append(other)
            part, width = first, 2 * width

    def sums(self) -> Sums:
        """What all parts together come to."""
        return {"value": float(self.values[0]), "gradient": self.memory[self.places[0]].copy()}


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


def column_sums(
    shard: Shard, crew: Crew, problem: Problem, kernel: Callable[..., bool], *given: Any
) -> Floats:
    """A gradient by a ``…_columns`` of ``kernels.fused``: residuals by row parts, then owners of columns.

    For sparse rows in memory. ``given`` are the arguments between the columns and the residuals.
    """
    from ..kernels import turns

    layout, d, parts = problem.full, problem.full.features, shard.parts
    residual, columns = shard.padded_residual(layout.width), shard.by_column(crew.run)
    assert isinstance(columns, Csr)
    ranges = shard.column_ranges(columns, parts)
    bounds = np.full(parts + 1, d)  # as many ranges as there are row parts; the last may be empty
    bounds[: len(ranges)] = [some.start for some in ranges]
    biases = np.zeros((parts, layout.columns if layout.intercept else 0))
    gradient = np.empty(layout.size)  # not zeros: its pages are touched first by their owners
    table = layout.matrix(gradient)
    table[d:] = 0.0
    rows = shard.structures.rows
    assert isinstance(rows, Csr)
    counts = np.zeros(turns.SHAPE, np.int64)
    arguments = (
        shard.at_once(2 * parts), counts, shard.part_starts, bounds,
        *csr_arguments(rows), *csr_arguments(columns)[:3], *given, residual, table[:d], biases,
    )  # fmt: skip
    crew.together(lambda leads: kernel(leads, *arguments), parts, counts=[counts])
    if layout.intercept:
        table[d, : layout.columns] += sum(biases)
    return gradient


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
        table = layout.matrix(gradient)[: layout.features]
        if shard.dealt is not None and layout.width > 1:
            shard.dealt.adjoint(node, table, crew.n, crew.run)
            return gradient
        splits = shard.splits(crew.run)
        if splits is not None:
            _columns_of_rows(rows, splits, crew, node, table)
            return gradient
    rows = shard.by_column(crew.run)
    ranges = shard.column_ranges(rows)

    def owner(i: int) -> None:
        layout.adjoint_columns(shard.columns(rows, ranges[i]), node, gradient, ranges[i])

    crew.run(owner, len(ranges))
    return gradient


def _columns_of_rows(rows: Csr, splits: Splits, crew: Crew, node: Floats, table: Floats) -> None:
    """The same from rows that are not transposed.

    A thread takes several ranges at once: it reads ``node`` as often as it takes some. What is added to a
    feature comes in the order of rows in any case.
    """
    from ..kernels import products

    _, indices, values, step = csr_arguments(rows)
    edges, ranges = splits.edges, len(splits.edges) - 1
    owners = 1 if crew.n == 1 else min(2 * crew.n, ranges)

    def owner(i: int) -> None:
        begin, end = ranges * i // owners, ranges * (i + 1) // owners
        products.csr_adjoint_range(
            splits.places, begin, end, indices, values, step, node, table, edges[begin], edges[end]
        )

    crew.run(owner, owners)
