"""Rising curves of "it happened" against a score: isotonic regression of many columns at once.

Of n rows and k columns only the hits are sorted, each row in the column of its truth: n numbers instead of
nk. All other rows fall between two hits, and there only their weight and their highest score count
(``kernels/isotonic.py`` says why). Columns are worked on side by side, each in the order of the rows, so any
number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from .. import checks
from ..records import Floats, Ints
from .passes import BLOCK, Rows

__all__ = ["Curve", "rising", "side_by_side"]

Curve = tuple[Floats, Floats]
"""Scores, and the frequencies at them; straight in between."""

TOGETHER = 8
"""Columns that are worked on together: the scores of a row in a line of the cache."""


def rising(rows: Rows) -> list[Curve]:
    """For each column the rising curve of the least squared error, and so of the least log loss.

    ``rows.truth`` says in which column it happened, −1 in none. A curve stays half a row away from 0 and 1.

    >>> import numpy as np
    >>> from argmax.calibration.passes import Rows
    >>> from argmax.calibration.rising import rising
    >>> scores = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> ((knots, heights),) = rising(Rows.of(scores, np.array([-1, 0, -1, 0])))
    >>> knots, heights
    (array([1., 2., 3., 4.]), array([0.1, 0.5, 0.5, 0.9]))
    """
    if not (used := rows.weight > 0).all():
        rows = rows.some(used)
    hits, ptr = _hits(rows)
    groups = _by_kernel(rows, hits, ptr) if rows.fast else _by_sorting(rows, hits, ptr)
    edge = 0.5 / (rows.total + 1.0)
    starts = ptr + np.arange(len(ptr))  # a column has one group more than hits
    parts = [tuple(part[a:b] for part in groups) for a, b in pairwise(starts)]
    return [_curve(part, edge, rows.fast) for part in parts]


Groups = tuple[Floats, ...]
"""Of the groups of all columns, one after another: weight, weight of the hits, first and last score."""


def _hits(rows: Rows) -> tuple[Floats, Ints]:
    """Scores at which it happened, (H,), those of column c sorted at ptr[c] … ptr[c+1]−1."""
    order = np.argsort(rows.truth, kind="stable")
    ptr = np.searchsorted(rows.truth[order], np.arange(rows.scores.shape[1] + 1))
    order = order[ptr[0] :]
    hits, ptr = rows.scores[order, rows.truth[order]], ptr - ptr[0]
    for first, stop in pairwise(ptr):
        hits[first:stop].sort()
    return hits, ptr


def _by_kernel(rows: Rows, hits: Floats, ptr: Ints) -> Groups:
    from ..kernels import isotonic

    (n, k), size = rows.scores.shape, len(hits) + len(ptr) - 1
    grid = np.empty(isotonic.CELLS * len(hits) + 2 * k, np.int32)
    low, scale = np.empty(k), np.empty(k)
    isotonic.gridded(hits, ptr, grid, low, scale)
    mass, happened = np.zeros(size), np.zeros(size)
    top, bottom = np.full(size, -np.inf), np.full(k, np.inf)

    def task(number: int) -> None:
        columns = np.array([number * TOGETHER, min((number + 1) * TOGETHER, k)])
        for first in range(0, n, BLOCK):  # to answer an interrupt
            some = rows.some(slice(first, first + BLOCK))
            given = (some.scores, some.truth, some.weight, columns, hits, ptr, grid, low, scale)
            isotonic.grouped(*given, mass, happened, top, bottom)

    side_by_side(task, -(-k // TOGETHER), rows.scores.size)
    return mass, happened, _firsts(hits, ptr, bottom), top


def _by_sorting(rows: Rows, hits: Floats, ptr: Ints) -> Groups:
    parts = []
    weight = np.broadcast_to(rows.weight, rows.truth.shape)
    for c, (first, stop) in enumerate(pairwise(ptr)):
        x, m = rows.scores[:, c], stop - first
        group = np.searchsorted(hits[first:stop], x, side="right")
        top = np.full(m + 1, -np.inf)
        np.maximum.at(top, group, x)
        sums = (np.bincount(group, given, m + 1) for given in (weight, weight * (rows.truth == c)))
        parts.append((*sums, top))
    mass, happened, top = (np.concatenate(part) for part in zip(*parts, strict=True))
    return mass, happened, _firsts(hits, ptr, rows.scores.min(axis=0)), top


def _firsts(hits: Floats, ptr: Ints, bottom: Floats) -> Floats:
    """The first score of each group: the hit that opens it, or the lowest of all."""
    return np.insert(hits, ptr[:-1], bottom)


def _curve(groups: tuple[Floats, ...], edge: float, fast: bool) -> Curve:
    """Groups pooled to blocks. A block is flat from its first score to its last: two knots, or one."""
    mass, happened, first, last = groups
    if fast:
        from ..kernels import isotonic

        blocks = isotonic.pooled(mass, happened, first, last)
    else:
        blocks = _pooled(mass, happened, first, last)
    value = np.clip(happened[:blocks] / mass[:blocks], edge, 1.0 - edge)
    knots = np.stack([first[:blocks], last[:blocks]], axis=1).ravel()
    keep = np.append(True, knots[1:] > knots[:-1])
    return knots[keep], np.repeat(value, 2)[keep]


def _pooled(mass: Floats, happened: Floats, first: Floats, last: Floats) -> int:
    """The kernel of that name, in plain Python."""
    blocks: list[tuple[float, float, float, float]] = []
    for s, h, start, end in zip(*(a.tolist() for a in (mass, happened, first, last)), strict=True):
        while s and blocks and blocks[-1][1] * s >= h * blocks[-1][0]:
            before = blocks.pop()
            s, h, start = s + before[0], h + before[1], before[2]
        if s:
            blocks.append((s, h, start, end))
    for array, values in zip((mass, happened, first, last), zip(*blocks, strict=True), strict=True):
        array[: len(blocks)] = values
    return len(blocks)


def side_by_side(task: Callable[[int], Any], count: int, work: int) -> list[Any]:
    """task(i) for each i below ``count``, in order; much work on all cores."""
    threads = min(checks.cores(), count) if work > BLOCK else 1
    if threads == 1:
        return [task(i) for i in range(count)]
    with ThreadPoolExecutor(threads, thread_name_prefix="argmax") as pool:
        return list(pool.map(task, range(count)))
