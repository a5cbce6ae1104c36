"""Attributes by hash: a fixed number of them, and an account of what they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from ...records import Strings
from ..hashing import Collisions, hashed
from ..vocabulary import joined
from .cells import Cells, Tables
from .keys import Encoded, Keys, Numbered
from .texts import Texts
from .windows import Layer, Plan

__all__ = ["Hashed"]


@final
class Hashed(Keys):
    """2^bits attributes. The one of a tuple is the top of a hash of its strings and of its template.

    No string is needed to find it, and none is kept but ``examples``: names of attributes, if they were
    asked for.
    """

    def __init__(
        self,
        plan: Plan,
        bits: int,
        examples: dict[int, list[str]],
        edge_examples: dict[int, list[str]],
    ) -> None:
        self.plan, self.bits = plan, bits
        self.width = 1 << bits
        self.edge_width = self.width if len(plan.edge) else 0
        self.examples, self.edge_examples = examples, edge_examples

    def encode(self, texts: Texts) -> Encoded:
        known, cells = Numbered.of(self.plan, texts)
        return self._encoded(cells, *self._tables(known))

    @staticmethod
    def learned(
        plan: Plan, texts: Texts, bits: int, examples: int
    ) -> tuple[Hashed, Callable[[], Encoded], Collisions]:
        """Attributes by hash, what they come to be on these tokens, and what shares an attribute."""
        known, cells = Numbered.of(plan, texts)
        tables = Hashed(plan, bits, {}, {})._tables(known)
        node, edge = (
            _Met.of(known, cells, layer, own, examples)
            for layer, own in zip((plan.node, plan.edge), tables, strict=True)
        )
        keys = Hashed(plan, bits, node.examples, edge.examples)
        return keys, lambda: keys._encoded(cells, *tables), node.collisions

    def _tables(self, known: Numbered) -> tuple[Tables, Tables]:
        """The attribute of each tuple, in templates of tokens and of transitions."""
        hashes = _tuple_hashes(known)
        return self._table(known, hashes, self.plan.node), self._table(
            known, hashes, self.plan.edge
        )

    def _table(self, known: Numbered, hashes: list[NDArray[np.uint64]], layer: Layer) -> Tables:
        tables = Tables.sized(known.sizes(layer), 0)
        salts = _string_hashes(joined([t.text.encode("utf-8") for t in layer.templates]))
        for j, window in enumerate(layer.windows):
            tables.of(j)[:] = _mixed(hashes[window] ^ salts[j]) >> np.uint64(64 - self.bits)
        return tables

    def name(self, attribute: int, edge: bool = False) -> str:
        known = (self.edge_examples if edge else self.examples).get(attribute)
        return f"#{attribute}" + (f" ({', '.join(known)})" if known else "")


@final
@dataclass(frozen=True, slots=True)
class _Met:
    """What training put where."""

    collisions: Collisions
    examples: dict[int, list[str]]

    @staticmethod
    def of(known: Numbered, cells: Cells, layer: Layer, tables: Tables, examples: int) -> _Met:
        there = np.flatnonzero(cells.counts(layer, known.sizes(layer)).numbers)
        slots = tables.numbers[there]
        _, place, sharing = np.unique(slots, return_inverse=True, return_counts=True)
        shared = int(np.count_nonzero(sharing[place] > 1))
        collisions = Collisions(len(there), True, len(sharing), shared)
        found: dict[int, list[str]] = {}
        for at, slot in zip(there.tolist(), slots.tolist(), strict=True) if examples else ():
            if len(names := found.setdefault(slot, [])) < examples:
                j = int(np.searchsorted(tables.starts, at, side="right")) - 1
                names.append(known.written(layer, j, at - int(tables.starts[j])))
        return _Met(collisions, found)


def _tuple_hashes(known: Numbered) -> list[NDArray[np.uint64]]:
    """For each window, a hash of the strings of each tuple."""
    marks = [known.string(0, code).encode() + b"\0" for code in range(known.plan.marks)]
    outside = _string_hashes(joined(marks))  # with a zero byte, which no text holds
    once = np.zeros(1, np.uint64)
    codes = [np.append(outside, once if v is None else _string_hashes(v)) for v in known.values]
    found = []
    for number, window in enumerate(known.plan.windows):
        keys, h = known.keys(number), np.zeros(known.size(number), np.uint64)
        for k, source in enumerate(window.sources):
            h = _mixed(h ^ codes[source][keys[:, k]])
        found.append(h)
    return found


def _string_hashes(strings: Strings) -> NDArray[np.uint64]:
    """64 bits of each string: two MurmurHash3."""
    high, low = hashed(strings).astype(np.uint64), hashed(strings, seed=1).astype(np.uint64)
    return high << np.uint64(32) | low


def _mixed(h: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of the result depends on every bit given (the end of SplitMix64: Steele, Lea, Flood 2014)."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))
