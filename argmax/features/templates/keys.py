"""Which attribute a tuple of strings is: what ``Dictionary`` and ``Hashed`` have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from ...records import Csr, Strings
from .cells import Cells, Tables
from .texts import Texts
from .tuples import Codes, Tuples
from .windows import Layer, Plan

__all__ = ["Encoded", "Keys", "Numbered"]


@final
@dataclass(frozen=True, slots=True)
class Encoded:
    """Rows of tokens and of transitions, and how often each template had a tuple that training did not."""

    node: Csr
    edge: Csr | None
    unknown: dict[str, int]


class Keys(ABC):
    """From tuples of strings to attributes."""

    plan: Plan
    width: int
    edge_width: int

    @abstractmethod
    def encode(self, texts: Texts) -> Encoded:
        """The attributes of these tokens."""

    @abstractmethod
    def name(self, attribute: int, edge: bool = False) -> str:
        """What an attribute stands for."""

    def _encoded(self, cells: Cells, node: Tables, edge: Tables) -> Encoded:
        """The rows of cells, given the attribute of each tuple."""
        plan = self.plan
        rows, missed = cells.rows(plan.node, node, self.width)
        unknown = dict(zip(map(str, plan.node.templates), missed.tolist(), strict=True))
        if not len(plan.edge):
            return Encoded(rows, None, unknown)
        edges, missed = cells.rows(plan.edge, edge, self.edge_width)
        for template, count in zip(plan.edge.templates, missed.tolist(), strict=True):
            unknown[str(template)] = unknown.get(str(template), 0) + count
        return Encoded(rows, edges, unknown)


@final
@dataclass(frozen=True, slots=True)
class Numbered:
    """The strings of each source and the tuples of each window, numbered.

    None for a source that is a constant, and for a window of one source: its tuples are codes.
    """

    plan: Plan
    values: tuple[Strings | None, ...]
    tuples: tuple[Tuples | None, ...]

    @staticmethod
    def of(plan: Plan, texts: Texts) -> tuple[Numbered, Cells]:
        """Everything that these tokens have, by first appearance, and where it is."""
        values, codes = list[Strings | None](), list[Codes]()
        for source in plan.sources:
            if source.column is None:
                values.append(None)
                codes.append(texts.constant(source.constant, plan.marks))
            else:
                table, different = texts.numbered(source)
                values.append(different)
                codes.append(texts.codes(table, source, plan.marks))
        cells, tuples = Cells(plan, texts.offsets), list[Tuples | None]()
        for number, window in enumerate(plan.windows):
            shown = cells.shown(number, codes)
            if len(window.sources) == 1:
                cells.of(number)[:] = shown[:, 0]
                tuples.append(None)
            else:
                cells.of(number)[:], known = Tuples.numbered(shown)
                tuples.append(known)
        return Numbered(plan, tuple(values), tuple(tuples)), cells

    def codes(self, source: int) -> int:
        """How many codes a source has."""
        values = self.values[source]
        return self.plan.marks + (1 if values is None else len(values))

    def size(self, window: int) -> int:
        """How many tuples a window has."""
        tuples = self.tuples[window]
        return self.codes(self.plan.windows[window].sources[0]) if tuples is None else len(tuples)

    def sizes(self, layer: Layer) -> list[int]:
        """How many tuples each template has."""
        return [self.size(window) for window in layer.windows]

    def keys(self, window: int) -> Codes:
        """(G, m) the codes of each tuple."""
        tuples = self.tuples[window]
        return (
            np.arange(self.size(window), dtype=np.int32)[:, None] if tuples is None else tuples.keys
        )

    def string(self, source: int, code: int) -> str:
        """What a code stands for; positions outside are written as in CRF++."""
        plan, values = self.plan, self.values[source]
        if code < plan.left:
            return f"_B-{code + 1}"
        if code < plan.marks:
            return f"_B+{code - plan.left + 1}"
        return "" if values is None else str(values[code - plan.marks])

    def written(self, layer: Layer, template: int, number: int) -> str:
        """A tuple in a template: ``word[-1]|word[0]=of|the``."""
        window, text = layer.windows[template], layer.templates[template].text
        sources = self.plan.windows[window].sources
        codes = self.keys(window)[number].tolist()
        strings = [self.string(s, code) for s, code in zip(sources, codes, strict=True)]
        return (
            text if all(self.values[s] is None for s in sources) else f"{text}={'|'.join(strings)}"
        )
