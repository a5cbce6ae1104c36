"""Sparse rows dealt out: each feature has an owner, and each owner the same share of the work.

Where rows are visited again and again (``solvers.ascent``), threads that own features keep the weights of
these in their caches. ``columns.split`` cuts features into ranges; here they are dealt out by how often they
occur, so that owners have as many entries each, and also as many features.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapreplace
from typing import Any, final

import numpy as np

from ..layouts import csr_arguments
from ..records import Csr, Floats, Ints
from .columns import OWNERS, Run, sampled

__all__ = ["Dealt", "Hands", "deal", "hands", "owners_of"]

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
    """Who owns each feature, owner (d,), and where its weights are, place (d,).

    The places of owner r are edges[r] … edges[r+1] − 1.
    """

    owner: Any
    place: Ints
    edges: Ints

    @property
    def size(self) -> int:
        """Places there are."""
        return int(self.edges[-1])


def hands(rows: Csr) -> Hands:
    """Features dealt out to OWNERS; the rows alone decide how.

    >>> import numpy as np
    >>> from argmax.engines.dealt import hands
    >>> from argmax.records import Csr
    >>> dealt = hands(Csr(np.array([0, 3, 5]), np.array([0, 1, 2, 0, 1]), None, 3))
    >>> dealt.owner, dealt.place
    (array([0, 1, 2], dtype=uint8), array([ 0, 16, 32], dtype=int32))
    """
    width = rows.width
    counts = np.bincount(sampled(rows, SAMPLE), minlength=width)
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
    return Hands(owner, place, np.append(0, ends))


@final
@dataclass(frozen=True)
class Dealt:
    """Rows in groups, as ``kernels.dealt`` reads them: group g has rows order[16 g], order[16 g + 1], …

    ``rest`` is what rounding to float32 has taken from the values; None where nothing is rounded.
    """

    hands: Hands
    order: Ints
    groups: int
    starts: Ints
    indices: Ints
    values: Any
    rest: Any
    step: int

    def arguments(self) -> tuple[Any, ...]:
        """order, starts, indices, values, step."""
        return self.order, self.starts, self.indices, self.values, self.step

    def adjoint(self, residual: Floats, gradient: Floats, threads: int, run: Run) -> None:
        """gradient (d, P) = Xᵀ residual, of all digits; P is a multiple of 4."""
        from ..kernels import dealt

        places, d = np.empty((self.hands.size, gradient.shape[1])), len(gradient)
        ranges = owners_of(threads)

        def piece(i: int) -> None:
            dealt.adjoint(
                *ranges[i], OWNERS, self.order, self.starts, self.indices, self.values, self.rest, self.step,
                self.hands.edges, residual, places,
            )  # fmt: skip

        def gather(i: int) -> None:
            some = slice(d * i // OWNERS, d * (i + 1) // OWNERS)
            np.take(places, self.hands.place[some], axis=0, out=gradient[some], mode="clip")

        run(piece, len(ranges))
        run(gather, OWNERS)


def owners_of(threads: int) -> list[tuple[int, int]]:
    """Owners in pieces, one for each of so many threads, if as many fall to each.

    >>> from argmax.engines.dealt import owners_of
    >>> owners_of(2), len(owners_of(3))
    ([(0, 8), (8, 16)], 16)
    """
    threads = min(threads, OWNERS)
    pieces = threads if OWNERS % threads == 0 else OWNERS
    return [(OWNERS * i // pieces, OWNERS * (i + 1) // pieces) for i in range(pieces)]


def deal(rows: Csr, given: Hands, kind: Any, run: Run) -> Dealt:
    """The entries of these rows, each with its owner, in a random order of rows that is always the same.

    Values are of this kind, float32 or float64: that of the weights they are multiplied with when rows are
    visited. What is lost of them is kept, for sums that need all digits.

    Rows often come sorted, by their label even; those of a group are visited together and ought to have
    little in common.

    >>> import numpy as np
    >>> from argmax.engines.dealt import deal, hands
    >>> from argmax.records import Csr
    >>> rows = Csr(np.array([0, 3, 5]), np.array([0, 1, 2, 0, 1]), None, 3)
    >>> dealt = deal(
    ...     rows, hands(rows), float, lambda piece, count: [piece(i) for i in range(count)]
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
    rest = np.empty_like(numbers) if step and numbers.itemsize < values.itemsize else None

    def piece(i: int) -> None:
        first, last = groups * i // PIECES, groups * (i + 1) // PIECES
        if first < last:
            dealt.deal(
                first, last, begins[first], order, indptr, indices, values, step, given.owner, given.place,
                starts, places, numbers, rest,
            )  # fmt: skip

    run(piece, PIECES)
    return Dealt(given, order, groups, starts, places, numbers, rest, step)
