"""JSON lines: one object a line, read by the standard library's parser and held to the letter of JSON.

A value is a string, a number, true, false or null. Numbers keep the characters they are written with
until a column is converted, so that as labels 1 and 1.0 stay apart and no digit of an identifier is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NoReturn, TypeAlias, final

from ..errors import BadFile
from .blocks import Block
from .cells import Cell, shown
from .readers import Columns, Piece, Reader, TextPiece, Way

__all__ = ["JsonLines"]

TOGETHER = 64
"""Objects that exist as Python lists of pairs at a time, for the sake of Python's search for garbage."""

_Pairs: TypeAlias = list[tuple[str, Any]]
_WORDS = {True: "true", False: "false"}


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON. Write null for a missing number.")


# Objects stay lists of pairs, so that a repeated key is seen, and numbers stay as they are written.
_DECODER = json.JSONDecoder(
    object_pairs_hook=list, parse_int=str, parse_float=str, parse_constant=_no_constant
)


@final
class JsonLines(Reader):
    """One object a line. The columns are the keys of the sampled lines, in order of appearance.

    A key that a line lacks is missing there. A key that no sampled line has is an error where it
    appears, unless the caller named the columns to read.
    """

    def __init__(self, way: Way) -> None:
        self._way = way
        self._known: dict[str, None] = {}
        nested: set[str] = set()
        scalar: set[str] = set()
        for line, pairs in self._sample():
            self._known.update(dict.fromkeys(key for key, _ in pairs))
            for key, value in pairs:
                if value is not None:
                    (nested if type(value) is list else scalar).add(key)
            if len(self._known) > way.limits.columns:
                what = (
                    f"{way.path}, line {line}: there are {len(self._known):,} different keys by now"
                )
                raise way.limits.exceeded("columns", what)
        if not self._known:
            raise BadFile("the file is empty, or its objects are.", path=way.path)
        self.names, self.fixed = tuple(self._known), dict.fromkeys(nested - scalar, "ignore")

    def pieces(
        self, columns: Sequence[str], rows: int, *, strict: bool = False, last: bool = False
    ) -> Iterator[Piece]:
        few = min(rows, TOGETHER)
        table = Columns(self.names)
        weight = 0
        for block in self._way.blocks(last):
            weight += len(block.data)
            found = self._objects(block)
            while group := list(islice(found, few)):
                values = [self._row(line, pairs, strict) for line, pairs in group]
                table.extend(values, [line for line, _ in group])
                if len(table) + few > rows:
                    yield self._piece(table, columns, weight)
                    weight = 0
            if table.worth(weight, self._way.eager):
                yield self._piece(table, columns, weight)
                weight = 0
        if len(table):
            yield self._piece(table, columns, weight)

    def _piece(self, table: Columns, columns: Sequence[str], weight: int) -> TextPiece:
        found, lines = table.take()
        cells = {name: self._cells(name, found[name], lines) for name in columns}
        return TextPiece(self._way, cells, lines, weight)

    def _sample(self) -> Iterator[tuple[int, _Pairs]]:
        rows = weight = 0
        for block in self._way.blocks():
            for row in self._objects(block):
                yield row
                rows += 1
                if self._way.enough(rows, weight):
                    return
            weight += len(block.data)
            if self._way.enough(rows, weight):
                return

    def _objects(self, block: Block) -> Iterator[tuple[int, _Pairs]]:
        """The objects of a block with the numbers of their lines."""
        for line, text in enumerate(block.text().split("\n"), block.line):
            if stripped := text.strip(" \t\r"):
                yield line, self._object(stripped, line, block)

    def _object(self, text: str, line: int, block: Block) -> _Pairs:
        try:
            value, end = _DECODER.raw_decode(text)
        except json.JSONDecodeError as error:
            said = error.msg[:1].lower() + error.msg[1:].removesuffix(" at").removesuffix(
                " starting"
            )
            problem = f"{said}. {_advice(error, block)}".rstrip()
            raise self._bad(problem, line, error.pos + 1) from None
        except RecursionError:
            raise self._bad("brackets are nested too deeply.", line) from None
        except ValueError as error:
            raise self._bad(str(error), line) from None
        if text[0] != "{":
            raise self._bad(
                f"the line holds {_kind(text)}, not an object. Write each row as one object with its "
                'columns as keys: {"text": "…", "label": "…"}.',
                line,
            )
        if end < len(text):
            raise self._bad("the object ends here, but the line goes on.", line, end + 1)
        pairs: _Pairs = value
        return pairs

    def _row(self, line: int, pairs: _Pairs, strict: bool) -> Sequence[Any]:
        """The values of an object in the order of the columns. ``strict``: it may have no other keys."""
        if len(pairs) == len(self.names):
            keys, values = zip(*pairs, strict=True)
            if keys == self.names:
                return values
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = tuple(key for key, _ in pairs)
            twice = next(key for key in keys if keys.count(key) > 1)
            raise self._bad(f"the key {shown(twice)} appears twice.", line, twice)
        if strict and (extra := found.keys() - self._known.keys()):
            name = min(extra)
            raise self._bad(
                f"no line before this one was seen to have the key {shown(name)}. Open the file with "
                f"sample_rows={line} or more, or name the columns that you want to read.",
                line,
                name,
            )
        return [found.get(name) for name in self.names]

    def _cells(self, name: str, values: Sequence[Any], lines: list[int]) -> Sequence[Cell]:
        """A column of values as cells."""
        types = set(map(type, values))
        if list in types:
            at = next(i for i, value in enumerate(values) if type(value) is list)
            problem = f"a list or an object inside a column. Pass kinds={{{name!r}: 'ignore'}}."
            raise self._bad(problem, lines[at], name)
        if bool in types:
            return [_WORDS[value] if type(value) is bool else value for value in values]
        return values

    def _bad(self, problem: str, line: int, column: str | int | None = None) -> BadFile:
        return BadFile(problem, path=self._way.path, line=line, column=column)


def _advice(error: json.JSONDecodeError, block: Block) -> str:
    if error.pos < len(error.doc) and not error.msg.startswith("Unterminated"):
        return ""
    if block.cut and block.data.rstrip().endswith(error.doc[-20:].encode("utf-8", "replace")):
        return "The file may be cut off: its last line has no end."
    return "Write each object on one line."


def _kind(text: str) -> str:
    return {"[": "an array", '"': "a string"}.get(text[0], "a bare value")
