"""Sparse rows dealt out: each feature has an owner, and each owner the same share of the work.

Where rows are visited again and again (``solvers.ascent``), threads that own features keep the weights of
these in their caches. ``columns.split`` cuts features into ranges; here they are dealt out by how often they
occur, so that owners have as many entries each, and also as many features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapreplace
from typing import Any, final

import numpy as np

from ..layouts import csr_arguments
from ..records import Csr, Ints
from .columns import OWNERS, Run, sampled

__all__ = ["Dealt", "Hands", "deal", "hands"]

SAMPLE = 2**16
"""Entries that are looked at to see which features are frequent."""

FREQUENT = 1024
"""Features, at most, that are dealt one by one, to whoever has least; the others in turn."""

TOGETHER = 16
"""Places of an owner are a multiple of this: no two owners share a line of the cache."""

PIECES = 64
"""Pieces in which rows are dealt."""


@final
@dataclass(frozen=True)
class Hands:
    """Who owns each feature, owner (d,), and where its weights are, place (d,), among ``size`` places."""

    owner: Any
    place: Ints
    size: int


def hands(rows: Sequence[Csr]) -> Hands:
    """Features dealt out to OWNERS; the rows alone decide how.

    >>> import numpy as np
    >>> from argmax.engines.dealt import hands
    >>> from argmax.records import Csr
    >>> dealt = hands([Csr(np.array([0, 3, 5]), np.array([0, 1, 2, 0, 1]), None, 3)])
    >>> dealt.owner, dealt.place
    (array([0, 1, 2], dtype=uint8), array([ 0, 16, 32], dtype=int32))
    """
    width = rows[0].width
    counts = np.bincount(np.concatenate([sampled(part, SAMPLE) for part in rows]), minlength=width)
    owner = (np.arange(width) % OWNERS).astype(np.uint8)
    at_least = np.cumsum(np.bincount(counts)[::-1])[::-1]  # features seen so often, or more often
    frequent = np.flatnonzero(counts >= np.searchsorted(-at_least, -FREQUENT))
    loads = [(0, o) for o in range(OWNERS)]
    for j in frequent[np.argsort(-counts[frequent], kind="stable")]:
        load, o = loads[0]
        owner[j] = o
        # An entry more than were seen: features that were not seen at all must be spread, too.
        heapreplace(loads, (load + int(counts[j]) + 1, o))
    sizes = np.bincount(owner, minlength=OWNERS)
    ends = np.cumsum(-(-sizes // TOGETHER) * TOGETHER)
    place: Ints = np.empty(width, np.int32 if ends[-1] < 2**31 else np.int64)
    shift = np.append(0, ends[:-1]) - np.append(0, np.cumsum(sizes)[:-1])
    place[np.argsort(owner, kind="stable")] = np.arange(width) + np.repeat(shift, sizes)
    return Hands(owner, place, int(ends[-1]))


@final
@dataclass(frozen=True)
class Dealt:
    """Rows in groups, as ``kernels.dealt`` reads them: group g has rows order[16 g], order[16 g + 1], …"""

    order: Ints
    groups: int
    starts: Ints
    indices: Ints
    values: Any
    step: int

    def arguments(self) -> tuple[Any, ...]:
        """order, starts, indices, values, step."""
        return self.order, self.starts, self.indices, self.values, self.step


def deal(rows: Csr, given: Hands, kind: Any, run: Run) -> Dealt:
    """The entries of these rows, each with its owner, in a random order of rows that is always the same.

    Values are of this kind, float32 or float64: that of the weights they are multiplied with.

    Rows often come sorted, by their label even; those of a group are visited together and ought to have
    little in common.

    >>> import numpy as np
    >>> from argmax.engines.dealt import deal, hands
    >>> from argmax.records import Csr
    >>> rows = Csr(np.array([0, 3, 5]), np.array([0, 1, 2, 0, 1]), None, 3)
    >>> dealt = deal(
    ...     rows, hands([rows]), float, lambda piece, count: [piece(i) for i in range(count)]
    ... )
    >>> dealt.order, dealt.starts[:4], dealt.indices
    (array([0, 1]), array([0, 1, 2, 2], dtype=int32), array([ 0,  0, 16, 16, 32], dtype=int32))
    """
    from ..kernels import dealt

    n, entries = len(rows), rows.entries
    order = np.random.default_rng(0).permutation(n)
    groups = -(-n // dealt.GROUP)
    ends = np.cumsum(np.diff(rows.indptr)[order], dtype=np.int64)
    begins = np.append(0, ends[dealt.GROUP - 1 :: dealt.GROUP])
    wide = np.int32 if entries < 2**31 else np.int64
    starts: Ints = np.empty(groups * OWNERS * dealt.GROUP + 1, wide)
    starts[-1] = entries
    indptr, indices, values, step = csr_arguments(rows)
    places = np.empty(entries, given.place.dtype)
    numbers = np.empty(entries if step else 1, kind)
    numbers[:1] = values[:1]  # indicators are a single 1

    def piece(i: int) -> None:
        first, last = groups * i // PIECES, groups * (i + 1) // PIECES
        if first < last:
            dealt.deal(
                first, last, begins[first], order, indptr, indices, values, step, given.owner, given.place,
                starts, places, numbers,
            )  # fmt: skip

    run(piece, PIECES)
    return Dealt(order, groups, starts, places, numbers, step)
