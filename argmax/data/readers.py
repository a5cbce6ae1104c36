"""What every format offers: the names of its columns, and its rows in pieces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile, InvalidInput
from ..records import Csr, Floats, Strings
from .blocks import Block, blocks
from .cells import Cell, Cells, shown
from .limits import Limits
from .origin import Origin
from .packing import Unpacked

__all__ = ["Columns", "Piece", "Reader", "TextPiece", "Way", "chosen", "unique_names"]

ROWS, BYTES = 64, 2**20
"""A piece goes on over several blocks until it has so many rows, or so many bytes."""


@final
@dataclass(frozen=True, slots=True)
class Way:
    """Where a table comes from and how it is to be read."""

    origin: Origin
    limits: Limits
    cells: Cells
    encoding: str | None
    sample_rows: int
    sample_bytes: float

    @property
    def path(self) -> str:
        """The name of the file in messages."""
        return self.origin.path

    @property
    def eager(self) -> bool:
        """Whether the bytes come from a pipe that is read as it comes."""
        return self.origin.bytes is None

    def enough(self, rows: int, weight: int) -> bool:
        """Whether so many rows, of so many bytes, are a sample."""
        return rows >= self.sample_rows or weight >= self.sample_bytes

    def blocks(self, last: bool = False) -> Iterator[Block]:
        """The file as blocks of lines."""
        with Unpacked(self.origin, self.limits, last) as content:
            yield from blocks(content, self.path, self.limits, self.encoding)


class Piece(ABC):
    """Some consecutive rows, whose columns are converted when they are asked for."""

    _way: Way

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def weight(self) -> int:
        """About how many bytes of the file these rows are."""

    @abstractmethod
    def numbers(self, name: str) -> Floats | Csr:
        """A column as numbers, NaN where missing."""

    @abstractmethod
    def strings(self, name: str) -> Strings:
        """A column as Strings."""

    @abstractmethod
    def sample(self, name: str) -> Sequence[Cell] | NDArray[Any]:
        """A column as it is stored: cells, or numbers with NaN for missing."""

    @abstractmethod
    def _place(self, row: int) -> tuple[int | None, str]:
        """Where a row is: its line; or where there are no lines, words that say so."""

    def _parsed(self, name: str, cells: Sequence[Cell]) -> NDArray[np.float64]:
        """Cells as numbers, or the error that names the first that is none."""
        try:
            return self._way.cells.numbers(cells)
        except ValueError:
            at = self._way.cells.first_bad(cells)
            raise self._not_a_number(name, at, cells[at] or "") from None

    def _not_a_number(self, name: str, row: int, cell: str, advice: str = "") -> BadFile:
        line, words = self._place(row)
        value = f"{words}: {shown(cell)}" if words else shown(cell)
        problem = f"{value} is not a finite number, and the column is read as numbers."
        usual = f"Pass kinds={{{name!r}: 'category'}} (or 'text'), or list it in missing=."
        return BadFile(f"{problem} {advice or usual}", path=self._way.path, line=line, column=name)

    def _measured(self, name: str, strings: Strings) -> Strings:
        """The strings, unless one of them is too long."""
        lengths = np.diff(strings.offsets)
        limits = self._way.limits
        if lengths.max(initial=0) > limits.field_bytes:
            line, words = self._place(int(lengths.argmax()))
            where = f"{self._way.path}, {words or f'line {line}'}"
            raise limits.exceeded("field_bytes", f"{where}: the value of {name!r} is too long")
        return strings


class Reader(ABC):
    """A file in one format.

    ``names`` are its columns, and ``fixed`` the kinds that follow from the format: lists and objects
    can only be ignored.
    """

    names: tuple[str, ...]
    fixed: dict[str, str]

    @abstractmethod
    def pieces(
        self, columns: Sequence[str], rows: int, *, strict: bool = False, last: bool = False
    ) -> Iterator[Piece]:
        """The whole file in pieces of at most ``rows`` rows, in which ``columns`` can be asked for.

        ``strict``: a column that is not among ``names`` is an error. ``last`` promises that the file
        is not opened again.
        """


@final
class TextPiece(Piece):
    """Rows of cells. ``lines`` holds the number of the line where each row starts."""

    def __init__(
        self, way: Way, columns: Mapping[str, Sequence[Cell]], lines: Sequence[int], weight: int
    ) -> None:
        self._way, self._columns, self._lines, self._weight = way, columns, lines, weight

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def weight(self) -> int:
        return self._weight

    def numbers(self, name: str) -> NDArray[np.float64]:
        return self._parsed(name, self._columns[name])

    def strings(self, name: str) -> Strings:
        try:
            return self._measured(name, self._way.cells.strings(self._columns[name]))
        except UnicodeEncodeError as error:
            raise self._no_text(name) from error

    def sample(self, name: str) -> Sequence[Cell]:
        return self._columns[name]

    def _place(self, row: int) -> tuple[int | None, str]:
        return self._lines[row], ""

    def _no_text(self, name: str) -> BadFile:
        cells = self._columns[name]
        surrogates = (i for i, cell in enumerate(cells) if cell and not _is_text(cell))
        problem = "half of a surrogate pair (\\ud800 to \\udfff) is no text."
        line = self._lines[next(surrogates)]
        return BadFile(problem, path=self._way.path, line=line, column=name)


@final
class Columns:
    """Rows, which arrive a few at a time, as columns."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._clear()

    def __len__(self) -> int:
        return len(self._lines)

    def worth(self, weight: int, eager: bool = False) -> bool:
        """Whether these rows, of so many bytes, are worth the work that each column of a piece is.

        If somebody is waiting for them (``eager``), any row is.
        """
        return len(self) >= (1 if eager else ROWS) or (weight >= BYTES and len(self) > 0)

    def extend(self, rows: Sequence[Sequence[Any]], lines: Sequence[int]) -> None:
        """Add rows, and the lines where they start."""
        for column, cells in zip(self._columns, zip(*rows, strict=True), strict=False):
            column.extend(cells)
        self._lines.extend(lines)

    def take(self) -> tuple[dict[str, list[Any]], list[int]]:
        """All columns and lines so far, which are then gone from here."""
        found = dict(zip(self._names, self._columns, strict=True)), self._lines
        self._clear()
        return found

    def _clear(self) -> None:
        self._columns: list[list[Any]] = [[] for _ in self._names]
        self._lines: list[int] = []


def _is_text(cell: str) -> bool:
    return cell.encode("utf-8", "replace").decode("utf-8") == cell


def unique_names(names: Sequence[str], way: Way, line: int | None = None) -> tuple[str, ...]:
    """Names of columns, checked: not too many, and each of them once."""
    if len(names) > way.limits.columns:
        raise way.limits.exceeded("columns", f"{way.path} has {len(names):,} columns or more")
    if len(set(names)) < len(names):
        first = next(name for name, count in Counter(names).items() if count > 1)
        where = [i + 1 for i, name in enumerate(names) if name == first]
        raise BadFile(
            f"two columns are called {shown(first)}: number {where[0]} and number {where[1]}. Give "
            "each a name of its own. If the file has no header, add one.",
            path=way.path,
            line=line,
            column=first,
        )
    return tuple(names)


def chosen(names: Sequence[str], known: Sequence[str], what: str) -> list[str]:
    """The names, each once; raises on one that is not known."""
    import difflib

    there = set(known)
    for name in names:
        if name not in there:
            near = difflib.get_close_matches(str(name), known, n=1)
            advice = f"Did you mean {near[0]!r}?" if near else f"The columns are {listed(known)}."
            raise InvalidInput(f"{what} names the column {name!r}, which is not there. {advice}")
    return list(dict.fromkeys(names))


def listed(names: Sequence[str]) -> str:
    """The first names, for a message."""
    return ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
