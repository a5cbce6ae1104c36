"""What a column is, from the first rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ..checks import choice
from ..errors import BadFile, InvalidInput, WrongType
from ..features import KINDS, infer_kind
from .cells import Cell
from .readers import Reader, Way, chosen

__all__ = ["Column", "described"]

PIECE = 1024
"""Rows read at a time: a sample is not much larger than it has to be."""

_Values: TypeAlias = Sequence[Cell] | NDArray[Any]


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
    if not isinstance(kinds, Mapping):
        raise WrongType(f"kinds must be a dict of columns and their kinds; got {kinds!r}.")
    for name in chosen(list(kinds), reader.names, "kinds"):
        choice(f"kinds[{name!r}]", kinds[name], KINDS)
        if kinds[name] not in (reader.fixed.get(name, kinds[name]), "ignore"):
            raise InvalidInput(
                f"kinds[{name!r}] must be {reader.fixed[name]!r} in {way.path}; got {kinds[name]!r}."
            )
    given = {**reader.fixed, **kinds}
    sample = _Sample(way, reader, [n for n in reader.names if given.get(n) != "ignore"])
    if not sample.rows:
        raise BadFile("there is a header, and no row below it.", path=way.path)
    return tuple(sample.column(name, given.get(name)) for name in reader.names)


@final
class _Sample:
    """The first rows of a table. ``whole`` says that there are no others."""

    def __init__(self, way: Way, reader: Reader, names: list[str]) -> None:
        self._way, self._pieces, self.whole = way, [], True
        count = weight = 0
        for piece in reader.pieces(names, PIECE):
            self._pieces.append(piece)
            count += len(piece)
            weight += piece.weight
            if way.enough(count, weight):
                self.whole = False  # perhaps it is after all, which does no harm
                break
        self.rows = min(count, way.sample_rows)

    def column(self, name: str, given: str | None) -> Column:
        """What the sample says of a column, whose kind may be given."""
        if given == "ignore":  # perhaps it cannot even be read
            return Column(name, given, True, 0, 0, 0, ())
        values, texts = self._values(name)
        different = dict.fromkeys(texts)
        return Column(
            name,
            given or self._kind(name, values, len(different)),
            given is not None,
            self.rows,
            self.rows - len(texts),
            len(different),
            tuple(text[:80] for text in islice(different, 3)),
        )

    def _kind(self, name: str, values: _Values, distinct: int) -> str:
        kind = infer_kind(values, rows=self.rows, name=name)
        if kind == "ignore" and distinct and not self.whole:
            # A file may be sorted: what is constant in its first rows need not stay so. One row more,
            # of which nothing is known, says as much to the rule.
            return infer_kind(values, rows=self.rows + 1, name=name)
        return kind

    def _values(self, name: str) -> tuple[_Values, list[str]]:
        """The values of a column as ``infer_kind`` takes them, and those present as strings."""
        parts: list[Any] = [piece.sample(name) for piece in self._pieces]
        if isinstance(parts[0], np.ndarray):
            numbers: NDArray[np.float64] = np.concatenate(parts)[: self.rows]
            return numbers, [f"{value:g}" for value in numbers[~np.isnan(numbers)].tolist()]
        cells = list(chain.from_iterable(parts))[: self.rows]
        present = self._way.cells.present(cells)
        texts = [cell for cell in present if cell is not None]
        try:
            return self._way.cells.numbers(cells), texts
        except ValueError:
            return present, texts
