"""CSV and TSV: the standard library's reader in strict mode, fed with blocks of lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import final

from ..errors import BadFile, ResourceLimit
from .blocks import Block
from .cells import shown
from .readers import Columns, Piece, Reader, TextPiece, Way, unique_names

__all__ = ["DELIMITERS", "Delimited", "best_delimiter"]

DELIMITERS = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a vertical bar"}
"""What may stand between two fields. A file that fits several belongs to the first of them."""


TOGETHER = 512
"""Rows that exist as Python lists at a time. With many more alive, most of the time would go into
Python's search for garbage among them."""


def best_delimiter(text: str) -> str | None:
    """The delimiter that cuts the first lines most evenly; None if none cuts the header at all.

    >>> best_delimiter("name;price\\nbread;1,50\\nmilk;0,90\\n")
    ';'
    """

    def evenness(delimiter: str) -> tuple[float, int]:
        rows = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter)
        try:
            header, *widths = [len(row) for row in rows if row] or [0]
        except csv.Error:
            return -1.0, 0
        agree = sum(width == header for width in widths) / max(1, len(widths))
        return (agree, header) if header > 1 else (-1.0, 0)

    best = max(DELIMITERS, key=evenness)
    return best if evenness(best)[1] else None


@final
class Delimited(Reader):
    """Rows of fields under a header, quoted as RFC 4180 says.

    Every row has as many fields as the header. Blank lines are left out. A column without a name is
    called after its position: ``column 3``.
    """

    def __init__(self, way: Way, delimiter: str) -> None:
        self._way, self._delimiter = way, delimiter
        # The module has one limit for the whole process: it is raised, never lowered.
        longest = min(way.limits.field_bytes, 2**31 - 1)  # what every platform can hold
        csv.field_size_limit(max(csv.field_size_limit(), longest))
        self.fixed = {}
        rows = _Rows(way, delimiter)
        header = rows.header()
        names = [name.strip() or f"column {i}" for i, name in enumerate(header, 1)]
        self.names = unique_names(names, way, rows.line)

    def pieces(
        self, columns: Sequence[str], rows: int, *, strict: bool = False, last: bool = False
    ) -> Iterator[Piece]:
        source = _Rows(self._way, self._delimiter, last)
        source.header()
        few = min(rows, TOGETHER)
        table = Columns(self.names)
        for fields, lines in source.groups(few, len(self.names)):
            table.extend(fields, lines)
            ended = source.feed.fresh and table.worth(source.feed.weight, self._way.eager)
            if ended or len(table) + few > rows:
                yield TextPiece(self._way, *table.take(), source.feed.taken())
        if len(table):
            yield TextPiece(self._way, *table.take(), source.feed.taken())


_Group = tuple[list[list[str]], list[int]]


@final
class _Rows:
    """The rows of a file, and the lines where they start. ``line`` is that of the latest."""

    def __init__(self, way: Way, delimiter: str, last: bool = False) -> None:
        self._way, self._delimiter = way, delimiter
        self.feed = _Feed(way, delimiter, last)
        self._reader = csv.reader(self.feed.lines(), delimiter=delimiter, strict=True)
        self.line = 1

    def header(self) -> list[str]:
        """The first row that is not blank."""
        try:
            for row in self._reader:
                self.feed.open = 0
                if row:
                    return row
                self.line = self._reader.line_num + 1
        except (csv.Error, _Endless) as error:
            raise self._broken(error, self.line) from error
        raise BadFile("the file is empty.", path=self._way.path)

    def groups(self, most: int, width: int) -> Iterator[_Group]:
        """Rows of the given width, at most so many at a time, and the lines where they start."""
        feed, reader = self.feed, self._reader
        rows: list[list[str]] = []
        ends = [reader.line_num]
        feed.fresh = False
        try:
            for row in reader:
                feed.open = 0
                rows.append(row)
                ends.append(reader.line_num)
                if feed.fresh or len(rows) == most:
                    yield self._group(rows, ends, width)
                    rows, ends, feed.fresh = [], ends[-1:], False
        except (csv.Error, _Endless) as error:
            self._group(rows, ends, width)  # an earlier row may say better what is wrong
            raise self._broken(error, ends[-1] + 1) from error
        yield self._group(rows, ends, width)

    def _group(self, rows: list[list[str]], ends: list[int], width: int) -> _Group:
        starts = [end + 1 for end in ends[:-1]]
        widths = list(map(len, rows))
        if widths.count(width) < len(rows):
            for i, found in enumerate(widths):
                if found not in (0, width):
                    raise self._ragged(found, width, starts[i], ends, i)
            rows = list(filter(None, rows))  # without blank lines
            starts = list(compress(starts, widths))
        return rows, starts

    def _ragged(self, found: int, width: int, line: int, ends: list[int], row: int) -> BadFile:
        near = [j for j in (row, row - 1) if j >= 0 and ends[j + 1] > ends[j] + 1]
        if near:  # a row of several lines
            hint = f"A quote on line {ends[near[0]] + 1} may not be closed."
        elif found > width:
            hint = f"A value that contains {self._named_delimiter()} needs quotes around it."
        elif self.feed.cut and ends[row + 1] == self._reader.line_num:
            hint = "The file may be cut off: its last line has no end."
        else:
            empty = shown(f"a{self._delimiter}{self._delimiter}c")
            hint = f"Where a value is missing, leave its place empty: {empty}."
        fields = "1 field" if found == 1 else f"{found:,} fields"
        problem = f"{fields}, the header has {width:,}. {hint}"
        return BadFile(problem, path=self._way.path, line=line)

    def _broken(self, error: Exception, line: int) -> BadFile | ResourceLimit:
        path, limits = self._way.path, self._way.limits
        quote = f"A quote on line {line} may not be closed"
        if isinstance(error, _Endless):
            return limits.exceeded(
                "line_bytes", f"{path}, line {line}: the row does not end. {quote}"
            )
        if "field larger" in str(error):
            return limits.exceeded(
                "field_bytes", f"{path}, line {line}: a field is too long. {quote}"
            )
        if "end of data" in str(error):
            return BadFile(f"the file ends inside a field. {quote}.", path=path, line=line)
        if "new-line" in str(error):
            problem = (
                "a carriage return without a line feed. Write the file with ordinary line ends."
            )
            return BadFile(problem, path=path, line=line)
        problem = (
            f"after a closing quote comes neither {self._named_delimiter()} nor the end of the line. "
            f'Inside quotes, write a quote twice (""). {quote}.'
        )
        return BadFile(problem, path=path, line=self._reader.line_num)

    def _named_delimiter(self) -> str:
        return DELIMITERS.get(self._delimiter, repr(self._delimiter))


class _Endless(Exception):
    """A row has taken more lines than a row may."""


@final
class _Feed:
    """The lines of a file for ``csv.reader``, with an eye on how much a row takes.

    ``fresh`` is set when the last line of a block is handed out, and ``open`` bounds the bytes handed out
    since whoever reads set it to 0, which is after each row. ``weight`` counts the bytes since ``taken`` was
    last asked, and ``cut`` says that the file ends without a newline.
    """

    def __init__(self, way: Way, delimiter: str, last: bool) -> None:
        self._way, self._mark, self._last = way, delimiter.encode("utf-8"), last
        self.fresh, self.cut, self.open, self.weight = False, False, 0, 0

    def lines(self) -> Iterator[str]:
        for block in self._way.blocks(self._last):
            if self.open > self._way.limits.line_bytes:
                raise _Endless
            if block.data.count(self._mark) >= self._way.limits.columns:
                self._check_widths(block)
            self.cut = block.cut
            self.open += len(block.data)
            self.weight += len(block.data)
            text = block.text()
            last = text.rfind("\n", 0, -1) + 1
            yield from io.StringIO(text[:last], newline="\n")
            self.fresh = True
            yield text[last:]

    def taken(self) -> int:
        """Bytes handed out since this was last asked."""
        weight, self.weight = self.weight, 0
        return weight

    def _check_widths(self, block: Block) -> None:
        """Refuse a line with too many fields before a string is made of each."""
        limits = self._way.limits
        for line, data in enumerate(block.data.split(b"\n"), block.line):
            if len(data) >= limits.columns <= data.count(self._mark):
                what = f"{self._way.path}, line {line} has {data.count(self._mark) + 1:,} columns"
                raise limits.exceeded("columns", what)
