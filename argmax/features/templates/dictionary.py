"""Attributes by dictionary: those that training saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ...records import Ints
from ..vocabulary import Vocabulary, taken
from .cells import Cells, Tables
from .keys import Encoded, Keys, Numbered
from .texts import Texts
from .tuples import UNKNOWN, Codes, Tuples
from .windows import Plan

__all__ = ["Chosen", "Dictionary"]


@final
@dataclass(frozen=True, slots=True)
class Chosen:
    """The attributes of a layer, with their tuples; template j has starts[j] … starts[j + 1] − 1."""

    starts: NDArray[np.int64]  # (J + 1,)
    tuples: NDArray[np.int32]  # (attributes,) rising within a template

    def __len__(self) -> int:
        return len(self.tuples)

    @staticmethod
    def frequent(counts: Tables, least: int) -> Chosen:
        """The tuples that at least so many tokens have."""
        chosen = np.flatnonzero(counts.numbers >= least)
        starts = np.searchsorted(chosen, counts.starts)
        sizes = np.diff(starts)
        return Chosen(starts, (chosen - np.repeat(counts.starts[:-1], sizes)).astype(np.int32))

    def of(self, template: int) -> NDArray[np.int32]:
        """The tuples of one template."""
        return self.tuples[self.starts[template] : self.starts[template + 1]]

    def tables(self, sizes: Sequence[int]) -> Tables:
        """The attribute of each tuple of each template."""
        tables = Tables.sized(sizes, UNKNOWN)
        where = np.repeat(tables.starts[:-1], np.diff(self.starts)) + self.tuples
        tables.numbers[where] = np.arange(len(self), dtype=np.int32)
        return tables

    def template(self, attribute: int) -> int:
        """The template that an attribute belongs to."""
        return int(np.searchsorted(self.starts, attribute, side="right")) - 1

    def kept(self, which: NDArray[np.bool_]) -> Chosen:
        """Without the attributes that are not marked."""
        before = np.concatenate([[0], np.cumsum(which)])
        return Chosen(before[self.starts], self.tuples[which])

    def renumbered(self, places: Sequence[Ints]) -> Chosen:
        """With new numbers for the tuples, given those of each template's window."""
        parts = [new[self.of(j)] for j, new in enumerate(places)]
        return Chosen(self.starts, np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32))


@final
class Dictionary(Keys):
    """The attributes that training saw. Attributes of one template lie together, by first appearance."""

    def __init__(self, known: Numbered, node: Chosen, edge: Chosen) -> None:
        self.plan, self.known, self.node, self.edge = known.plan, known, node, edge
        self.width, self.edge_width = len(node), len(edge)
        self._values = [None if v is None else Vocabulary(v) for v in known.values]
        self._tables: tuple[Tables, Tables] | None = None

    def __getstate__(self) -> Any:
        return self.known, self.node, self.edge

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)

    @staticmethod
    def learned(plan: Plan, texts: Texts, least: int) -> tuple[Dictionary, Callable[[], Encoded]]:
        """What at least ``least`` tokens have; and their rows, for whoever asks."""
        known, cells = Numbered.of(plan, texts)
        chosen = [
            Chosen.frequent(cells.counts(layer, known.sizes(layer)), least)
            for layer in (plan.node, plan.edge)
        ]
        whole = Dictionary(known, *chosen)
        # Tables are made again where something is looked up: until then they would only take memory.
        return whole.pruned(), lambda: whole._encoded(cells, *whole._attributes())

    def pruned(self) -> Dictionary:
        """Without the tuples and strings that no attribute needs."""
        used = [np.zeros(self.known.size(w), np.bool_) for w in range(len(self.plan.windows))]
        layers = (self.plan.node, self.node), (self.plan.edge, self.edge)
        for layer, chosen in layers:
            for j, window in enumerate(layer.windows):
                used[window][chosen.of(j)] = True
        if all(map(np.all, used)):
            return self
        known, places = _without(self.known, used)
        node, edge = (
            chosen.renumbered([places[window] for window in layer.windows])
            for layer, chosen in layers
        )
        return Dictionary(known, node, edge)

    def kept(self, node: NDArray[np.bool_], edge: NDArray[np.bool_] | None) -> Dictionary:
        """Only the marked attributes, and what they need."""
        fewer = self.edge if edge is None else self.edge.kept(edge)
        return Dictionary(self.known, self.node.kept(node), fewer).pruned()

    def encode(self, texts: Texts) -> Encoded:
        plan, codes = self.plan, list[Codes]()
        for source, values in zip(plan.sources, self._values, strict=True):
            if values is None:
                codes.append(texts.constant(source.constant, plan.marks))
            else:
                table = values.find(texts.different(source)).astype(np.int32)
                codes.append(texts.codes(table, source, plan.marks))
        cells = Cells(plan, texts.offsets)
        for number, tuples in enumerate(self.known.tuples):
            shown = cells.shown(number, codes)
            cells.of(number)[:] = shown[:, 0] if tuples is None else tuples.find(shown)
        return self._rows(cells)

    def _rows(self, cells: Cells) -> Encoded:
        if self._tables is None:
            self._tables = self._attributes()
        return self._encoded(cells, *self._tables)

    def _attributes(self) -> tuple[Tables, Tables]:
        """The attribute of each tuple, of tokens and of transitions."""
        node, edge = (self.known.sizes(layer) for layer in (self.plan.node, self.plan.edge))
        return self.node.tables(node), self.edge.tables(edge)

    def name(self, attribute: int, edge: bool = False) -> str:
        layer, chosen = (self.plan.edge, self.edge) if edge else (self.plan.node, self.node)
        template = chosen.template(attribute)
        return self.known.written(layer, template, int(chosen.tuples[attribute]))


def _without(known: Numbered, used: list[NDArray[np.bool_]]) -> tuple[Numbered, list[Codes]]:
    """Only the tuples in use and their strings; and the new number of each tuple in each window."""
    plan = known.plan
    needed = [np.zeros(known.codes(s), np.bool_) for s in range(len(plan.sources))]
    for number, window in enumerate(plan.windows):
        keys = known.keys(number)[used[number]]
        for k, source in enumerate(window.sources):
            needed[source][keys[:, k]] = True
    for mask in needed:
        mask[: plan.marks] = True  # positions keep their codes
    codes = [np.cumsum(mask, dtype=np.int32) - 1 for mask in needed]
    values = tuple(
        None if strings is None else taken(strings, np.flatnonzero(mask[plan.marks :]))
        for strings, mask in zip(known.values, needed, strict=True)
    )
    tuples, places = list[Tuples | None](), list[Codes]()
    for number, window in enumerate(plan.windows):
        if known.tuples[number] is None:
            tuples.append(None)
            places.append(codes[window.sources[0]])
            continue
        keys = known.keys(number)[used[number]]
        moved = [codes[source][keys[:, k]] for k, source in enumerate(window.sources)]
        tuples.append(Tuples(np.stack(moved, axis=1)))
        places.append(np.cumsum(used[number], dtype=np.int32) - 1)
    return Numbered(plan, values, tuple(tuples)), places
