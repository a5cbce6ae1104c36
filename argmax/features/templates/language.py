"""The language of templates: what around a token makes its features.

    template  =  [ "edge:" | "both:" ]  value { "|" value }
    value     =  column "[" offset "]"  |  function "(" value [ "," number ] ")"  |  constant
    constant  =  "bias"  |  "first"  |  "last"

``word[-1]`` is the string that column *word* has one token to the left. Values joined by ``|`` make one
feature together. ``bias`` is there at every token; ``first`` and ``last`` at the first and the last of a
sequence.

A template describes a token; with ``edge:`` it describes the transition into it from the token before,
and with ``both:`` either.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, final

from ...errors import InvalidInput, WrongType
from .functions import FUNCTIONS, Step

__all__ = ["CONSTANTS", "Place", "Source", "Template", "parse", "parse_all"]

CONSTANTS = ("bias", "first", "last")
REACH = 100
"""How far from its token a template may look."""
LONGEST = 1000
"""Characters of a template, which also bounds how deep functions stand in functions."""


@final
@dataclass(frozen=True, slots=True)
class Source:
    """A column and the functions applied to it, first to last; or, with no column, one of CONSTANTS."""

    column: str | None
    steps: tuple[Step, ...] = ()
    constant: str = ""

    def at(self, offset: int) -> str:
        """As it is written in a template."""
        written = self.constant if self.column is None else f"{self.column}[{offset}]"
        for step in self.steps:
            size = f",{step.size}" if FUNCTIONS[step.name].sized else ""
            written = f"{step.name}({written}{size})"
        return written


@final
@dataclass(frozen=True, slots=True)
class Place:
    """A source at a distance from the token."""

    source: Source
    offset: int = 0

    def __str__(self) -> str:
        return self.source.at(self.offset)


@final
@dataclass(frozen=True, slots=True)
class Template:
    """Places whose strings, together, are a feature of the token, of the transition into it, or of both.

    >>> from argmax.features.templates.language import parse
    >>> str(parse(" edge: suffix( lower(word[ 0 ]), 3 ) | pos[+1]"))
    'edge: suffix(lower(word[0]),3)|pos[1]'
    """

    places: tuple[Place, ...]
    node: bool = True
    edge: bool = False

    def __str__(self) -> str:
        mark = {(True, False): "", (False, True): "edge: "}.get((self.node, self.edge), "both: ")
        return mark + self.text

    @property
    def text(self) -> str:
        """Without the mark in front."""
        return "|".join(map(str, self.places))


def parse_all(templates: Any) -> list[Template]:
    """Templates from a list of them, or from a text with one a line and # comments."""
    if isinstance(templates, str):
        lines = (line.strip() for line in templates.splitlines())
        templates = [line for line in lines if line and not line.startswith("#")]
    if not isinstance(templates, Iterable):
        raise WrongType(f"templates must be a list of strings; got {templates!r}.")
    parsed = [parse(text) for text in templates]
    if not parsed:
        raise InvalidInput("templates is empty. Name at least one, such as 'word[0]'.")
    _differ(parsed)
    if not any(template.node for template in parsed):
        raise InvalidInput(
            "templates describe transitions only. Add one for tokens, such as 'word[0]'."
        )
    return parsed


def _differ(templates: Sequence[Template]) -> None:
    seen = set[tuple[str, str]]()
    for template in templates:
        uses = {(template.text, use) for use in ("node", "edge") if getattr(template, use)}
        if uses & seen:
            raise InvalidInput(f"templates names {template.text!r} twice. Remove one of the two.")
        seen |= uses


def parse(text: Any) -> Template:
    """One template.

    >>> from argmax.features.templates.language import parse
    >>> parse("sufix(word[0],3)")
    Traceback (most recent call last):
      ...
    argmax.errors.InvalidInput: template 'sufix(word[0],3)', character 1: there is no function 'sufix'.
    Did you mean 'suffix'?
    """
    if not isinstance(text, str):
        raise WrongType(f"a template must be a string such as 'word[0]'; got {text!r}.")
    if len(text) > LONGEST:
        raise InvalidInput(f"a template has at most {LONGEST} characters; got {len(text)}.")
    return _Parser(text).template()


_TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>[+-]?\d+)|(?P<sign>[\[\](),|:]))")


@final
class _Parser:
    """Recursive descent, one method a rule. The next symbol is ``symbol``, and starts ``at``."""

    def __init__(self, text: str) -> None:
        self.text, self.end = text, 0
        self.next()

    def next(self) -> str:
        """The symbol read so far; reads the one behind it."""
        read = getattr(self, "symbol", "")
        found = _TOKEN.match(self.text, self.end)
        if found is None:
            rest = self.text[self.end :]
            self.at, self.kind = self.end + len(rest) - len(rest.lstrip()), "end"
            if rest.strip():
                self.fail(f"{rest.strip()[0]!r} has no meaning here.")
            self.symbol = ""
            return str(read)
        self.kind = found.lastgroup or ""
        self.at, self.symbol, self.end = found.start(self.kind), found[self.kind], found.end()
        return str(read)

    def fail(self, problem: str) -> NoReturn:
        raise InvalidInput(f"template {self.text!r}, character {self.at + 1}: {problem}")

    def expect(self, sign: str, after: str) -> None:
        if self.symbol != sign:
            found = repr(self.symbol) if self.symbol else "the end"
            self.fail(f"expected {sign!r} after {after}, found {found}.")
        self.next()

    def template(self) -> Template:
        node, edge = True, False
        if self.symbol in ("edge", "both") and self.text[self.end :].lstrip().startswith(":"):
            node, edge = self.next() == "both", True
            self.next()
        places = [self.value()]
        while self.symbol == "|":
            self.next()
            places.append(self.value())
        if self.kind != "end":
            self.fail(f"expected '|' or the end, found {self.symbol!r}.")
        if len(set(places)) < len(places):
            self.fail("a value is there twice. Once says as much.")
        return Template(tuple(places), node, edge)

    def value(self) -> Place:
        if self.kind != "name":
            found = repr(self.symbol) if self.symbol else "the end"
            self.fail(f"expected a column (word[0]) or a function (lower(word[0])), found {found}.")
        start, name = self.at, self.next()
        if self.symbol == "[":
            return Place(Source(name), self.offset(name))
        if self.symbol == "(":
            return self.call(name, start)
        if name in CONSTANTS:
            return Place(Source(None, constant=name))
        return self.fail(f"expected '[' and a distance after {name!r}, as in {name}[0].")

    def offset(self, column: str) -> int:
        self.next()
        if self.kind != "number":
            self.fail(f"expected a whole number such as -1, as in {column}[-1].")
        if abs(int(self.symbol)) > REACH:
            self.fail(f"{self.symbol} is too far away: at most {REACH} tokens.")
        offset = int(self.next())
        self.expect("]", "the distance")
        return offset

    def call(self, name: str, start: int) -> Place:
        if name not in FUNCTIONS:
            self.at = start
            self.fail(f"there is no function {name!r}. {_advice(name)}")
        self.next()
        inner = self.value()
        if inner.source.column is None:
            self.fail(f"{name} needs a column inside, not {inner.source.constant!r}.")
        size = self.size(name) if FUNCTIONS[name].sized else 0
        self.expect(")", "the argument" if not size else "the number")
        steps = (*inner.source.steps, Step(name, size))
        return Place(Source(inner.source.column, steps), inner.offset)

    def size(self, name: str) -> int:
        self.expect(",", f"the first argument of {name}, and then a number")
        if self.kind != "number" or not 1 <= int(self.symbol) <= REACH:
            self.fail(f"expected a number of characters between 1 and {REACH}.")
        return int(self.next())


def _advice(name: str) -> str:
    near = difflib.get_close_matches(name, FUNCTIONS, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(FUNCTIONS)}."
