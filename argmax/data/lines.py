"""A text cut into lines and fields, all at once: no loop over lines, and no string is made of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from ..features.fields import between_blanks, line_begins
from ..features.interning import spans
from ..records import Ints, Strings

__all__ = ["Lines"]

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32


@final
@dataclass(frozen=True, slots=True)
class Lines:
    """Lines and their fields: line i has the fields first[i] … first[i + 1] − 1; a blank one has none.

    >>> from argmax.data.lines import Lines
    >>> lines = Lines.of(b"the  DT\\r\\ncat\\tNN\\r\\n\\r\\nso RB", tabs=False)
    >>> lines.fields.tolist(), lines.text(3)
    ([2, 2, 0, 2], 'so RB')
    >>> lines.column([0, 1, 3], 1).tolist()
    ['DT', 'NN', 'RB']
    """

    data: NDArray[np.uint8]
    begins: Ints  # (lines,) the first byte of each line
    first: Ints  # (lines + 1,) its first field
    starts: Ints  # (all fields,)
    stops: Ints  # (all fields,)

    @staticmethod
    def of(text: bytes, tabs: bool) -> Lines:
        """Fields lie between tabs, and may be empty; or between runs of spaces and tabs."""
        data = np.frombuffer(bytearray(text), np.uint8)  # kernels want what can be written
        return _between_tabs(data) if tabs else Lines(data, *between_blanks(data))

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def fields(self) -> Ints:
        """(lines,) how many fields each line has."""
        return np.diff(self.first)

    def starting(self, text: str) -> NDArray[np.bool_]:
        """(lines,) whether a line starts with these characters, which are ASCII."""
        found = np.ones(len(self), np.bool_)
        for place, byte in enumerate(text.encode("ascii")):
            at = np.minimum(self.begins + place, len(self.data) - 1)
            found &= self.data[at] == byte
        return found

    def text(self, line: int) -> str:
        """One line as it stands, without its end."""
        end = self.begins[line + 1] if line + 1 < len(self) else len(self.data)
        return self.data[self.begins[line] : end].tobytes().rstrip(b"\r\n").decode("utf-8")

    def column(self, lines: Ints | list[int], field: int) -> Strings:
        """A field of some lines, which all have it."""
        which = self.first[lines] + field
        return spans(self.data, self.starts[which], self.stops[which])


def _between_tabs(data: NDArray[np.uint8]) -> Lines:
    begins = line_begins(data)
    breaks = np.flatnonzero((data == TAB) | (data == NEWLINE))
    starts, stops = np.append(0, breaks + 1), np.append(breaks, len(data))
    line = np.append(0, np.cumsum(data[breaks] == NEWLINE))
    if not len(data) or data[-1] == NEWLINE:  # nothing comes behind it
        starts, stops, line = starts[:-1], stops[:-1], line[:-1]
    starts, stops = _trimmed(data, starts, stops)
    there = np.bincount(line[stops > starts], minlength=len(begins)) > 0
    starts, stops, line = starts[there[line]], stops[there[line]], line[there[line]]
    first = np.append(0, np.cumsum(np.bincount(line, minlength=len(begins))))
    return Lines(data, begins, first, starts, stops)


def _trimmed(data: NDArray[np.uint8], starts: Ints, stops: Ints) -> tuple[Ints, Ints]:
    """Fields without the carriage return behind them and the spaces around them."""
    some = np.flatnonzero(stops > starts)
    stops[some] -= data[stops[some] - 1] == RETURN
    some = some[stops[some] > starts[some]]
    spaced = (data[starts[some]] == SPACE) | (data[stops[some] - 1] == SPACE)
    for field in some[spaced].tolist():  # few, if any
        raw = data[starts[field] : stops[field]].tobytes()
        starts[field] += len(raw) - len(raw.lstrip(b" "))
        stops[field] = starts[field] + len(raw.strip(b" "))
    return starts, stops
