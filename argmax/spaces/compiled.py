"""The recursions of a lattice on compiled kernels: the functions of ``recursions``, for large problems.

``kernels.sequences`` is the fast way: one table for all edges, in the dtype of the scores. It says which
sequences it could not do justice to. Those, and tables for every edge, go to ``kernels.lattice``, which works
in logarithms. So do questions that are seldom asked: entropies, draws, and curvatures of order 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..kernels import chain, sequences, triples
from ..kernels import lattice as logarithms
from ..records import Floats, Ints, Scores
from .lattice import Lattice

__all__ = ["argmax", "curvature", "entropy", "logz", "marginals", "sample", "top_k"]

SPREAD = {4: 12.0, 8: 110.0}
"""How far transitions may be apart, by bytes of the dtype, for a forward sweep to need no check."""


@final
@dataclass(frozen=True, slots=True)
class _Tables:
    """Transitions as the fast kernels want them: in lanes, and transposed as well."""

    lanes: tuple[int, ...]
    table: Floats  # (P · P,), or as ``triples`` has it
    turned: Floats

    @classmethod
    def of(cls, lattice: Lattice, values: Floats) -> _Tables:
        lanes, width = _width(lattice)
        table = np.zeros((width, width), lattice.node.dtype)
        table[: lattice.k, : lattice.k] = values
        return cls(lanes, table.ravel(), table.T.ravel())

    @classmethod
    def closed(cls, lattice: Lattice) -> _Tables:
        """The tables of ``sequences.best_path``."""
        if _first_order(lattice):
            return cls.of(lattice, lattice.edge[0])
        lanes, width = _width(lattice)
        table = _by_order(lattice, lattice.edge[0].astype(lattice.node.dtype))
        turned = triples.turned(table, width, table.dtype, -np.inf)
        return cls(lanes, table, turned)

    @classmethod
    def exp(cls, lattice: Lattice) -> tuple[_Tables, float]:
        """exp(e − max e), and max e."""
        if not _first_order(lattice):
            lanes, width = _width(lattice)
            edge = _by_order(lattice, lattice.edge[0])
            table, turned, top = triples.tables(edge, width, lattice.node.dtype)
            return cls(lanes, table, turned), top
        tables = cls.of(lattice, np.zeros((lattice.k, lattice.k)))
        return tables, chain.tables(lattice.edge[0], tables.table, tables.turned)


def _width(lattice: Lattice) -> Any:
    return chain.width(lattice.k, lattice.node.itemsize)  # type: ignore[no-untyped-call]


def _fast(lattice: Lattice) -> bool:
    """Whether vectors serve; otherwise logarithms do."""
    return lattice.shared


def _first_order(lattice: Lattice) -> bool:
    return lattice.states == lattice.k


def _by_order(lattice: Lattice, table: Floats) -> Floats:
    """A table (states, k) as kernels tell the orders apart: (k, k), or (k+1, k, k) for order 2."""
    return table if _first_order(lattice) else table.reshape(lattice.k + 1, lattice.k, lattice.k)


def _near(lattice: Lattice) -> bool:
    """Whether no transition is so far below the others that a forward sweep alone might lose a path."""
    low = lattice.edge.min()
    return bool(low > -np.inf and lattice.edge.max() - low <= SPREAD[lattice.node.itemsize])


def _arrays(lattice: Lattice) -> tuple[Any, ...]:
    """node, edge, offsets, edges: what the kernels in logarithms are given."""
    edges = np.empty(0, np.int64) if lattice.shared else lattice.first_edges
    node = lattice.finite().node.astype(np.float64, copy=False)
    return node, lattice.edge, lattice.offsets, edges


# Maxima


def argmax(lattice: Lattice) -> tuple[Ints, Floats]:
    """Labels (N,) and values (n,) of the best paths; of equals, the first in lexicographic order."""
    labels, value = np.zeros(len(lattice.node), np.intp), np.empty(len(lattice))
    if not _fast(lattice):
        given = _arrays(lattice)
        for block in lattice.blocks():
            logarithms.argmax(*given, *block, labels, value)
        return labels, value
    t = _Tables.closed(lattice)
    for block in lattice.blocks():
        given = (lattice.node, t.table, t.turned, lattice.offsets, *block)
        sequences.argmax(*given, labels, value, t.lanes)
    return labels, value


def top_k(lattice: Lattice, k: int) -> tuple[Ints, Floats]:
    """Labels (k, N) and values (k, n) of the k best paths."""
    labels = np.full((k, len(lattice.node)), -1)
    values, given = np.full((k, len(lattice)), -np.inf), _arrays(lattice)
    for block in lattice.blocks():
        logarithms.top_k(*given, *block, labels, values)
    return labels, values


# Sums


def logz(lattice: Lattice) -> Floats:
    """log Z of each sequence."""
    if not (_fast(lattice) and _first_order(lattice) and _near(lattice)):
        return marginals(lattice, np.ones(1), Scores(np.empty_like(lattice.node)))
    (t, top), value = _Tables.exp(lattice), np.empty(len(lattice))
    for block in lattice.blocks():
        sequences.logz(lattice.node, t.table, top, lattice.offsets, *block, value, t.lanes)
    if not np.isfinite(value).all():  # no answer, or no numbers: which of the two, logarithms tell
        which = np.flatnonzero(~np.isfinite(value))
        part, _ = lattice.take(which)
        value[which] = _log_marginals(part, np.ones(1), Scores(np.empty(part.node.shape)))
    return value


def marginals(lattice: Lattice, weight: Floats, out: Scores) -> Floats:
    """log Z; out: the marginals, times weight (n,) or a single 1."""
    if not _fast(lattice):
        return _log_marginals(lattice, weight, out)
    (t, top), value = _Tables.exp(lattice), np.empty(len(lattice))
    edge, fine = _first_table(lattice, out), np.empty(len(lattice), np.bool_)
    for block in lattice.blocks():
        given = (lattice.node, t.table, t.turned, top, lattice.offsets, *block, weight)
        sequences.marginals(*given, out.node, edge, value, fine, t.lanes)
    if not fine.all():
        which = np.flatnonzero(~fine)
        part, nodes = lattice.take(which)
        again = Scores(np.empty(part.node.shape), out.edge)
        value[which] = _log_marginals(part, _some(weight, which), again)
        out.node[nodes] = again.node
    return value


def curvature(lattice: Lattice, weight: Floats, direction: Scores, out: Scores) -> Floats:
    """log Z; out: weight (n,) or a single 1, times the change of the marginals along ``direction``."""
    if not (_fast(lattice) and _first_order(lattice)):
        return _log_curvature(lattice, weight, direction, out)
    (t, top), value = _Tables.exp(lattice), np.empty(len(lattice))
    slant = np.zeros((lattice.k, lattice.k)) if direction.edge is None else direction.edge[0]
    d = _Tables.of(lattice, slant)
    moves = np.ascontiguousarray(direction.node, lattice.node.dtype)
    edge, fine = _first_table(lattice, out), np.empty(len(lattice), np.bool_)
    for block in lattice.blocks():
        tables = (t.table, t.turned, t.table * d.table, t.turned * d.turned)
        given = (lattice.node, moves, *tables, top, lattice.offsets, *block, weight)
        sequences.curvature(*given, out.node, edge, value, fine, t.lanes)
    if not fine.all():
        which = np.flatnonzero(~fine)
        part, nodes = lattice.take(which)
        again = Scores(np.empty(part.node.shape), out.edge)
        along = Scores(direction.node[nodes], direction.edge)
        value[which] = _log_curvature(part, _some(weight, which), along, again)
        out.node[nodes] = again.node
    return value


def _log_marginals(lattice: Lattice, weight: Floats, out: Scores) -> Floats:
    value, given = np.empty(len(lattice)), _arrays(lattice)
    for block in lattice.blocks():
        logarithms.marginals(*given, *block, weight, out.node, _tables(out), value)
    return value


def _log_curvature(lattice: Lattice, weight: Floats, direction: Scores, out: Scores) -> Floats:
    value, given = np.empty(len(lattice)), _arrays(lattice)
    slant = np.zeros(lattice.edge.shape) if direction.edge is None else direction.edge
    moves = np.ascontiguousarray(direction.node, np.float64)
    for block in lattice.blocks():
        along = (weight, moves, np.ascontiguousarray(slant, np.float64))
        logarithms.curvature(*given, *block, *along, out.node, _tables(out), value)
    return value


def entropy(lattice: Lattice) -> tuple[Floats, Floats]:
    """log Z and the entropy of each sequence."""
    value, entropy, given = np.empty(len(lattice)), np.empty(len(lattice)), _arrays(lattice)
    for block in lattice.blocks():
        logarithms.entropy(*given, *block, value, entropy)
    return value, entropy


def sample(lattice: Lattice, uniform: Floats) -> tuple[Ints, Floats]:
    """Draws (draws, N) made of uniform numbers (draws, N); and log Z."""
    draws, value = np.zeros(uniform.shape, np.intp), np.empty(len(lattice))
    given = _arrays(lattice)
    for block in lattice.blocks():
        logarithms.sample(*given, *block, uniform, draws, value)
    return draws, value


# Small parts


def _tables(out: Scores) -> Floats:
    return np.empty((0, 0, 0)) if out.edge is None else out.edge


def _first_table(lattice: Lattice, out: Scores) -> Floats:
    if out.edge is not None:
        return _by_order(lattice, out.edge[0])
    return np.empty((0, 0) if _first_order(lattice) else (0, 0, 0))


def _some(weight: Floats, which: Ints) -> Floats:
    return weight if len(weight) == 1 else weight[which]
