"""What a column is, from the first rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..checks import choice
from ..errors import BadFile, InvalidInput
from ..features import KINDS, infer_kind
from .cells import Cell
from .readers import Piece, Reader, Way, chosen

__all__ = ["Column", "described"]


@final
@dataclass(frozen=True, slots=True)
class Column:
    """What was found of a column in the sampled rows.

    ``kind`` is "number", "category", "text", "id" or "ignore", and ``given`` says that the caller or the
    format has fixed it. ``distinct`` counts different values; ``examples`` are the first of them.

    >>> import os, tempfile
    >>> from argmax.data import open_table
    >>> path = os.path.join(tempfile.mkdtemp(), "table.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("size,city\\n1,Oslo\\n2,\\n2,Oslo\\n")
    >>> open_table(path).columns[1]
    Column(name='city', kind='category', given=False, sampled=3, missing=1, distinct=1, examples=('Oslo',))
    """

    name: str
    kind: str
    given: bool
    sampled: int
    missing: int
    distinct: int
    examples: tuple[str, ...]


def described(way: Way, reader: Reader, kinds: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns of a table: kinds as the caller or the format says, else inferred from a sample."""
    for name in chosen(list(kinds), reader.names, "kinds"):
        choice(f"kinds[{name!r}]", kinds[name], KINDS)
        if kinds[name] not in (reader.fixed.get(name, kinds[name]), "ignore"):
            raise InvalidInput(
                f"kinds[{name!r}] must be {reader.fixed[name]!r} in {way.path}; got {kinds[name]!r}."
            )
    pieces, rows = _sample(way, reader)
    if not rows:
        raise BadFile("there is a header, and no row below it.", path=way.path)
    given = {**reader.fixed, **kinds}
    return tuple(_column(name, way, pieces, rows, given.get(name)) for name in reader.names)


def _sample(way: Way, reader: Reader) -> tuple[list[Piece], int]:
    pieces: list[Piece] = []
    rows = weight = 0
    readable = [name for name in reader.names if reader.fixed.get(name) != "ignore"]
    for piece in reader.pieces(readable, way.sample_rows):
        pieces.append(piece)
        rows += len(piece)
        weight += piece.weight
        if way.enough(rows, weight):
            break
    return pieces, min(rows, way.sample_rows)


def _column(name: str, way: Way, pieces: list[Piece], rows: int, given: str | None) -> Column:
    if given == "ignore":  # perhaps it cannot even be read
        return Column(name, given, True, 0, 0, 0, ())
    values, texts = _values(name, way, pieces, rows)
    kind = given or infer_kind(values, rows=rows, name=name)
    different = dict.fromkeys(texts)
    examples = tuple(text[:80] for text, _ in zip(different, range(3), strict=False))
    missing = rows - len(texts)
    return Column(name, kind, given is not None, rows, missing, len(different), examples)


def _values(
    name: str, way: Way, pieces: list[Piece], rows: int
) -> tuple[Sequence[Cell] | NDArray[Any], list[str]]:
    """The sampled values of a column as ``infer_kind`` takes them, and those present as strings."""
    parts: list[Any] = [piece.sample(name) for piece in pieces]
    if isinstance(parts[0], np.ndarray):
        numbers: NDArray[np.float64] = np.concatenate(parts)[:rows]
        return numbers, [f"{value:g}" for value in numbers[~np.isnan(numbers)].tolist()]
    cells = list(chain.from_iterable(parts))[:rows]
    present = way.cells.present(cells)
    texts = [cell for cell in present if cell is not None]
    try:
        return way.cells.numbers(cells), texts
    except ValueError:
        return present, texts
