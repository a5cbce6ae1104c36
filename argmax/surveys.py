"""What a fit wants to know of its examples besides losses: how many, how large, how they come out.

    counts     weight of all examples, and of each label
    largest    max |x|, and whether every number is finite
    wrong      how many examples a w gets wrong
    answered   what a function makes of the scores
    centre     the sum of some dense rows
    squares    Σ x² of every column, and of how many entries
    itself     the shard, brought to whoever asks

Tasks like those of ``passes``: an engine runs them on every shard.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from . import checks
from .engines import Crew, Shard
from .engines.base import Sums
from .layouts import as_matrix
from .passes import Problem
from .records import Csr, Floats, Rows, Structures

__all__ = ["answered", "centre", "column_sizes", "counts", "itself", "largest", "squares", "wrong"]


def counts(shard: Shard, crew: Crew, problem: Problem) -> Sums:
    """{"weight": Σ s_i, "counts" (K,): the same over the nodes of each label}."""
    k = problem.layout.labels

    def group(i: int) -> tuple[float, Floats]:
        truth, nodes, offsets = shard.answers(i)
        examples = nodes.stop - nodes.start if offsets is None else len(offsets) - 1
        if truth.weight is None:
            return float(examples), np.bincount(truth.labels, minlength=k).astype(float)
        each = truth.weight if offsets is None else np.repeat(truth.weight, np.diff(offsets))
        counts = np.bincount(truth.labels, weights=each, minlength=k)
        return float(truth.weight.sum()), counts.astype(float)

    # Counting holds the interpreter's lock: nobody could help.
    pieces = [group(i) for i in range(len(shard.groups))]
    return {
        "weight": sum(weight for weight, _ in pieces),
        "counts": sum((counts for _, counts in pieces), np.zeros(k)),
    }


def centre(shard: Shard, crew: Crew, problem: Problem, step: int) -> Sums:
    """{"sum" (d,), "rows"} of every ``step``-th row, which is dense."""
    rows = shard.every(step)
    return {"sum": rows.sum(axis=0, dtype=float), "rows": len(rows)}


def squares(shard: Shard, crew: Crew, problem: Problem) -> Sums:
    """{"nodes": Σ s_i over all nodes, "rows" (2, d), "edges" (2, e)} of chains, graphs and sets.

    The tables are Σ s_i x² of every column, and Σ s_i over its entries that are not zero; those of the
    features of edges are (2, 0) where edges have none. Indicators, which have one scale, are not counted:
    all is zero.
    """
    size = problem.layout.features

    def block(i: int) -> tuple[float, Floats, Floats]:
        structures, truth, _ = shard.open(i)
        if isinstance(structures.rows, Csr) and structures.rows.values is None:
            return 0.0, np.zeros((2, size)), np.zeros((2, 0))
        weight = np.ones(len(structures)) if truth.weight is None else truth.weight
        offsets = structures.offsets
        each = weight if offsets is None else np.repeat(weight, np.diff(offsets))
        rows = _squares(structures.rows, each)
        edges: Floats = np.zeros((2, 0))
        if structures.edge_rows is not None:
            edges = _squares(structures.edge_rows, each[_starts_of_edges(structures)])
        return float(each.sum()), rows, edges

    pieces = crew.run(block, len(shard.blocks))
    return {
        "nodes": sum(nodes for nodes, _, _ in pieces),
        "rows": np.sum([rows for _, rows, _ in pieces], axis=0),
        "edges": np.sum([edges for _, _, edges in pieces], axis=0),
    }


def _starts_of_edges(structures: Structures) -> Any:
    """A node of each edge: its first one, or the second one in a chain."""
    if structures.edges is not None:
        return structures.edges[:, 0]
    assert structures.offsets is not None
    inside = np.ones(structures.nodes, bool)
    inside[structures.offsets[:-1][np.diff(structures.offsets) > 0]] = False
    return inside


def _squares(rows: Rows, weight: Floats) -> Floats:
    """Σ s x² of every column, and Σ s over its entries that are not zero (2, d)."""
    if not isinstance(rows, Csr):
        return np.stack([weight @ np.square(rows, dtype=float), weight @ (rows != 0)])
    table = as_matrix(rows)
    each = np.repeat(weight, np.diff(rows.indptr))
    sums = np.square(table.data, dtype=float) * each, each * (table.data != 0)
    return np.stack([np.bincount(table.indices, some, rows.width) for some in sums])


def answered(
    shard: Shard, crew: Crew, problem: Problem, w: Floats, answer: Callable[[Floats], Any]
) -> Sums:
    """{"answers": what ``answer`` makes of the scores of every node}, in little memory.

    ``answer`` is a module-level function, so that it can travel.
    """
    weights = problem.full.weights(w, problem.full.product_dtype(shard.structures.rows))

    def group(i: int) -> Any:
        with np.errstate(all="ignore"):
            node = problem.full.block_scores(shard.group(i)[0], weights).node
        return answer(checks.finite_scores(node))

    return {"answers": np.concatenate(crew.run(group, len(shard.groups)))}


def itself(shard: Shard, crew: Crew, problem: Problem) -> Sums:
    """{"shard": its rows and answers, without what tasks have left there}: for small data alone."""
    return {"shard": copy.copy(shard.loaded())}


def wrong(shard: Shard, crew: Crew, problem: Problem, w: Floats) -> Sums:
    """{"wrong": how many nodes have another label with a score at least that of their own}."""
    weights = problem.full.weights(w, problem.full.product_dtype(shard.structures.rows))

    def group(i: int) -> int:
        structures, truth, _ = shard.group(i)
        node = problem.full.block_scores(structures, weights).node
        own = np.arange(len(node)), truth.labels
        score = node[own]
        node[own] = -np.inf
        return int(np.count_nonzero(node.max(axis=1) >= score))

    return {"wrong": sum(crew.run(group, len(shard.groups)))}


def largest(shard: Shard, crew: Crew, problem: Problem, by_column: bool) -> Sums:
    """{"largest": max |x|, or with ``by_column`` of every feature (d,), "bad": row or −1}.

    ``bad`` is the first row of the shard that is not finite.
    """

    def block(i: int) -> tuple[Any, int]:
        structures, _, nodes = shard.open(i)
        size = column_sizes(structures.rows) if by_column else np.array(_largest(structures.rows))
        if np.isfinite(size).all():
            return size, -1
        return size, nodes.start + int(np.argmin(_finite_rows(structures.rows)))

    pieces = crew.run(block, len(shard.blocks))
    bad = [row for _, row in pieces if row >= 0]
    size = np.maximum.reduce([size for size, _ in pieces])
    return {"largest": size, "bad": bad[0] if bad else -1}


def _largest(rows: Rows) -> float:
    values = rows.values if isinstance(rows, Csr) else rows
    if values is None or not values.size:
        return float(values is None)
    return float(np.maximum(values.max(), -values.min()))  # NaN wins over every number


def _finite_rows(rows: Rows) -> Any:
    """Whether each row is finite."""
    if not isinstance(rows, Csr):
        return np.isfinite(rows).all(axis=1)
    bad = np.isfinite(as_matrix(rows).data)
    return np.array([bad[a:b].all() for a, b in pairwise(rows.indptr - rows.indptr[0])])


def column_sizes(rows: Rows) -> Floats:
    """max |x| of every column."""
    if not isinstance(rows, Csr):
        return np.asarray(np.maximum(rows.max(axis=0), -rows.min(axis=0)))
    size = np.zeros(rows.width)
    np.maximum.at(size, rows.indices, 1.0 if rows.values is None else np.abs(rows.values))
    return size
