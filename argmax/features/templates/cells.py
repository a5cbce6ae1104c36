"""From codes to rows of attributes: what each window shows at each position, looked up for each template.

Two ways lead to the same numbers: NumPy for few tokens, the kernels of kernels/templates.py for many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ...records import Csr, Ints
from ..ways import by_kernel
from .tuples import ABSENT, UNKNOWN, Codes
from .windows import Layer, Plan, Window

__all__ = ["Cells", "Tables"]

PYTHON_COST = 10
"""Work of one cell in ``compiled``'s measure: 100 000 of them take NumPy a few milliseconds."""


@final
@dataclass(frozen=True, slots=True)
class Tables:
    """For each template of a layer, a number for each tuple of its window: table behind table."""

    starts: NDArray[np.int64]  # (J + 1,)
    numbers: NDArray[np.int32]

    @staticmethod
    def sized(sizes: Sequence[int], fill: int) -> Tables:
        """Tables of so many tuples each, filled with one number."""
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Tables(starts, np.full(starts[-1], fill, np.int32))

    def of(self, template: int) -> NDArray[np.int32]:
        """The table of one template."""
        return self.numbers[self.starts[template] : self.starts[template + 1]]


@final
class Cells:
    """The tuples that windows show at every position of some sequences, by number, window behind window.

    Sequence i has T_i + extra cells in a window; the first shows what is seen from the window's ``low``.
    """

    def __init__(self, plan: Plan, offsets: Ints) -> None:
        self.plan, self.offsets = plan, offsets
        sizes = [int(offsets[-1]) + w.extra * (len(offsets) - 1) for w in plan.windows]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.numbers = np.empty(self.starts[-1], np.int32)
        self._compiled = by_kernel(PYTHON_COST * len(self.numbers))

    def of(self, window: int) -> Codes:
        """The cells of one window."""
        return self.numbers[self.starts[window] : self.starts[window + 1]]

    def shown(self, window: int, codes: Sequence[Codes]) -> Codes:
        """(cells, m) what the window shows, given the codes (N,) of every source."""
        seen = self.plan.windows[window]
        keys = np.empty((len(self.of(window)), len(seen.sources)), np.int32)
        stacked = np.stack([codes[source] for source in seen.sources])
        marks = self.plan.left, self.plan.right
        if self._compiled:
            from ...kernels import templates

            relative = np.array(seen.relative, np.int64)
            templates.look(stacked, self.offsets, relative, seen.low, seen.extra, *marks, keys)
        else:
            _look(stacked, self.offsets, seen, *marks, keys)
        return keys

    def counts(self, layer: Layer, sizes: Sequence[int]) -> Tables:
        """How many tokens have each tuple, given how many tuples there are in each template."""
        tables = Tables.sized(sizes, 0)
        firsts, extras = self._places(layer)
        if self._compiled:
            from ...kernels import templates

            given = self.numbers, self.offsets, layer.skip, firsts, extras
            templates.count(*given, tables.starts, tables.numbers)
            return tables
        for j, seen in enumerate(self._seen(layer, firsts, extras)):
            tables.of(j)[:] = np.bincount(seen[seen >= 0], minlength=sizes[j])
        return tables

    def rows(self, layer: Layer, tables: Tables, width: int) -> tuple[Csr, Ints]:
        """The attributes of each token; and for each template, how often it had a tuple without one."""
        size = int(np.maximum(np.diff(self.offsets) - layer.skip, 0).sum())
        unknown, most = np.zeros(len(layer), np.int64), size * len(layer) + 1
        kind: type[np.signedinteger[Any]] = np.int32 if most < 2**31 else np.int64
        firsts, extras = self._places(layer)
        if self._compiled:
            from ...kernels import templates

            indptr, indices = np.empty(size + 1, kind), np.empty(most, np.int32)
            given = self.numbers, self.offsets, layer.skip, firsts, extras
            found = (tables.starts, tables.numbers, unknown, indptr, indices)
            return Csr(indptr, indices[: templates.rows(*given, *found)], None, width), unknown
        out = np.empty((size, len(layer)), np.int32)
        for j, seen in enumerate(self._seen(layer, firsts, extras)):
            inside = seen >= 0
            out[:, j] = seen
            out[inside, j] = tables.of(j)[seen[inside]]
        unknown[:], there = (out == UNKNOWN).sum(axis=0), out >= 0
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(kind)
        return Csr(indptr, out[there], None, width), unknown

    def _places(self, layer: Layer) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(J,) the cell of the first token in each template, and a sequence's cells beyond its tokens."""
        windows = [self.plan.windows[number] for number in layer.windows]
        starts = [int(self.starts[number]) for number in layer.windows]
        moves = [shift - window.low for shift, window in zip(layer.shifts, windows, strict=True)]
        firsts = np.array(starts, np.int64) + np.array(moves, np.int64)
        return firsts, np.array([window.extra for window in windows], np.int64)

    def _seen(self, layer: Layer, firsts: Ints, extras: Ints) -> list[Codes]:
        """What each template sees from each token that has a row."""
        sequence = _sequence_of(np.diff(self.offsets))
        tokens = np.arange(len(sequence))
        if layer.skip:
            later = tokens > self.offsets[:-1][sequence]
            sequence, tokens = sequence[later], tokens[later]
        pairs = zip(firsts, extras, strict=True)
        return [self.numbers[first + tokens + extra * sequence] for first, extra in pairs]


def _sequence_of(lengths: Ints) -> Ints:
    """The sequence that each position belongs to."""
    return np.repeat(np.arange(len(lengths)), lengths)


def _look(codes: Codes, offsets: Ints, seen: Window, left: int, right: int, keys: Codes) -> None:
    """``look`` of kernels/templates.py."""
    lengths = np.diff(offsets)
    sequence = _sequence_of(lengths + seen.extra)
    first = offsets[:-1] + seen.extra * np.arange(len(lengths))
    position = np.arange(len(keys)) - first[sequence] + seen.low
    for k, distance in enumerate(seen.relative):
        q, size = position + distance, lengths[sequence]
        before, behind = (q < 0) & (-q <= left), (q >= size) & (q - size < right)
        inside = (q >= 0) & (q < size)
        keys[:, k] = ABSENT
        keys[before, k] = -1 - q[before]
        keys[behind, k] = left + q[behind] - size[behind]
        keys[inside, k] = codes[k, offsets[sequence[inside]] + q[inside]]
