"""Exact labels where a bound is near: what cannot be in a better labelling is dropped, the rest eliminated.

A dual point B with Σ_v max B_v ≥ s(y) for all y says more: with label a at node v no labelling scores more
than Σ_u max B_u − (max B_v − B_v(a)). Where that is below a value already found, a is out. Nodes with one
label left are settled; the others are eliminated with the labels they still have, if that is affordable.

Desmet, De Maeyer, Hazes and Lasters 1992 (Nature 356) for elimination by bounds; Wolsey 1998 (Integer
Programming), section 7.5, for reduced costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..records import Floats, Ints
from .pairwise import Pairwise

__all__ = ["best_of_the_rest"]

OPEN = 500
"""Nodes with several labels left, beyond which no order of elimination is looked for."""

Table = tuple[tuple[int, ...], Any]
"""Nodes, and scores with an axis for each."""


def best_of_the_rest(pair: Pairwise, belief: Floats, value: float, limit: int) -> Ints | None:
    """The best labels of one example, given a dual point and a value found; None where that takes too much.

    ``limit`` is how many numbers the tables of the elimination may have together.
    """
    apart = belief.max(axis=1, keepdims=True) - belief
    bound = float(belief.max(axis=1).sum())
    left = apart <= bound - value + 1e-9 * (1.0 + abs(bound))
    labels: Ints = left.argmax(axis=1)
    open_ = np.flatnonzero(left.sum(axis=1) > 1)
    if len(open_) > OPEN:
        return None
    allowed: dict[int, Ints] = {v: np.flatnonzero(left[v]) for v in open_.tolist()}
    tables = _tables(pair, allowed, labels)
    order = _order(tables, {v: len(some) for v, some in allowed.items()}, limit)
    if order is None:
        return None
    for v, chosen in _eliminated(tables, order).items():
        labels[v] = allowed[v][chosen]
    return labels


def _tables(pair: Pairwise, allowed: dict[int, Ints], labels: Ints) -> list[Table]:
    """Scores of the open nodes, with what their settled neighbours add, and of the edges between them."""
    tables: list[Table] = [((v,), pair.node[v, some]) for v, some in allowed.items()]
    for (u, v), t in zip(pair.edges.tolist(), pair.which.tolist(), strict=True):
        if u in allowed and v in allowed:
            tables.append(((u, v), pair.tables[t][np.ix_(allowed[u], allowed[v])]))
        elif u in allowed:
            tables.append(((u,), pair.tables[t, allowed[u], labels[v]]))
        elif v in allowed:
            tables.append(((v,), pair.tables[t, labels[u], allowed[v]]))
    return tables


def _order(tables: list[Table], sizes: dict[int, int], limit: int) -> list[int] | None:
    """Nodes, that of the smallest table next; None where all tables have more than ``limit`` numbers."""
    around: dict[int, set[int]] = {v: set() for v in sizes}
    for nodes, _ in tables:
        for v in nodes:
            around[v] |= set(nodes) - {v}
    order, total = [], 0

    def numbers(v: int) -> int:
        return int(np.prod([sizes[u] for u in around[v]], dtype=float)) * sizes[v]

    while around:
        v = min(around, key=lambda u: (numbers(u), u))
        total += numbers(v)
        if total > limit or len(around[v]) > 30:  # NumPy's axes are not many more
            return None
        rest = around.pop(v)
        for u in rest:
            around[u] |= rest
            around[u] -= {u, v}
        order.append(v)
    return order


def _eliminated(tables: list[Table], order: list[int]) -> dict[int, int]:
    """The best place of each node among its labels: maxima in order, read off in reverse."""
    taken = []
    for v in order:
        mine = [table for table in tables if v in table[0]]
        tables = [table for table in tables if v not in table[0]]
        axes = (*sorted({u for nodes, _ in mine for u in nodes} - {v}), v)
        joined = sum(_aligned(table, axes) for table in mine)
        taken.append((v, axes[:-1], np.asarray(joined).argmax(axis=-1)))
        tables.append((axes[:-1], np.asarray(joined).max(axis=-1)))
    found: dict[int, int] = {}
    for v, others, best in reversed(taken):
        found[v] = int(best[tuple(found[u] for u in others)])
    return found


def _aligned(table: Table, axes: tuple[int, ...]) -> Any:
    """The table with its nodes in the order of ``axes``, and an axis of one number for those it lacks."""
    nodes, scores = table
    turned = np.transpose(scores, sorted(range(len(nodes)), key=lambda i: axes.index(nodes[i])))
    sizes = iter(turned.shape)
    return turned.reshape([next(sizes) if u in nodes else 1 for u in axes])
