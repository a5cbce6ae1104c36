"""What a set of templates asks for, with nothing asked twice.

    source     a column, or what functions make of it: one string a token, known by its code
    window     sources at fixed distances from each other; at each position it shows a tuple of codes
    template   a window at a distance from the token

``word[-2]``, ``word[-1]`` and ``word[0]`` are one window seen from three places, and so are all pairs of
neighbouring words: tuples are numbered once for a window, whatever the number of templates that use it.
That is most of the work, and the rest is looking up numbers in arrays.

Codes: 0 … left−1 are the positions −1, −2, … before a sequence, then come the ``right`` positions behind
it, and behind those the strings. UNKNOWN is a string that training did not have, ABSENT is none at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from .language import Place, Source, Template

__all__ = ["Layer", "Plan", "Window"]


@final
@dataclass(frozen=True, slots=True)
class Window:
    """Sources at distances from a position, which runs from ``low`` to T − 1 + ``low`` + ``extra``."""

    sources: tuple[int, ...]
    relative: tuple[int, ...]
    low: int
    extra: int


@final
@dataclass(frozen=True, slots=True)
class Layer:
    """Templates of tokens, or of transitions; template j is window windows[j] at the distance shifts[j]."""

    templates: tuple[Template, ...]
    windows: tuple[int, ...]
    shifts: tuple[int, ...]
    skip: int  # tokens at the start of a sequence that have no row: 0, or 1 for transitions

    def __len__(self) -> int:
        return len(self.templates)


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """What a set of templates asks for: each source and each window once.

    >>> from argmax.features.templates.language import parse_all
    >>> from argmax.features.templates.windows import Plan
    >>> plan = Plan.of(parse_all(["word[-1]", "word[0]", "word[1]", "word[0]|word[1]"]), marks=True)
    >>> len(plan.sources), [window.relative for window in plan.windows], plan.node.shifts
    (1, [(0,), (0, 1)], (-1, 0, 1, 0))
    """

    templates: tuple[Template, ...]
    sources: tuple[Source, ...]
    windows: tuple[Window, ...]
    node: Layer
    edge: Layer
    left: int
    right: int

    @property
    def marks(self) -> int:
        """How many codes are positions outside."""
        return self.left + self.right

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that templates read, in their order."""
        return tuple(dict.fromkeys(source.column for source in self.sources if source.column))

    @property
    def used(self) -> tuple[Template, ...]:
        """All templates of tokens, then all of transitions."""
        return self.node.templates + self.edge.templates

    @classmethod
    def of(cls, templates: Sequence[Template], marks: bool) -> Plan:
        """``marks``: positions outside a sequence have codes; else they are ABSENT."""
        node = [template for template in templates if template.node]
        edge = _transitions([template for template in templates if template.edge])
        used = [*node, *edge]
        sources = tuple(dict.fromkeys(place.source for t in used for place in t.places))
        shapes, shifts = zip(*(_shape(template, sources) for template in used), strict=True)
        different = list(dict.fromkeys(shapes))
        windows = tuple(_window(shape, shapes, shifts) for shape in different)
        seen = tuple(different.index(shape) for shape in shapes)
        n, reach = len(node), [place.offset for t in used for place in t.places] if marks else []
        return cls(
            tuple(templates),
            sources,
            windows,
            Layer(tuple(node), seen[:n], shifts[:n], 0),
            Layer(tuple(edge), seen[n:], shifts[n:], 1),
            -min(0, *reach, 0),
            max(0, *reach, 0),
        )


def _transitions(templates: list[Template]) -> list[Template]:
    """The templates and, in front, the constant: a transition keeps the weight that it has everywhere."""
    constant = Template((Place(Source(None, constant="bias")),), node=False, edge=True)
    others = [template for template in templates if template.text != constant.text]
    return [constant, *others] if templates else []


_Shape = tuple[tuple[int, ...], tuple[int, ...]]


def _shape(template: Template, sources: tuple[Source, ...]) -> tuple[_Shape, int]:
    """(sources and their distances from the first one, distance of the first one from the token)."""
    shift = template.places[0].offset
    numbers = tuple(sources.index(place.source) for place in template.places)
    return (numbers, tuple(place.offset - shift for place in template.places)), shift


def _window(shape: _Shape, shapes: Sequence[_Shape], shifts: Sequence[int]) -> Window:
    own = [shift for other, shift in zip(shapes, shifts, strict=True) if other == shape]
    return Window(*shape, min(own), max(own) - min(own))
