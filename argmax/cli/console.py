"""What people see: results on stdout, progress on stderr.

Whatever comes from data goes through ``plain``: a terminal shows it and does not obey it. Styles and moving
lines are for terminals only, and styles only without ``NO_COLOR``.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, final

__all__ = ["Console", "Stage", "count", "plain", "seconds"]

WIDE = 100
"""Columns of a window that a wide table is made for."""

RIGHT = ">"
"""Mark in front of a heading: the column is aligned to the right."""


def plain(text: Any) -> str:
    """Text without escape sequences and control characters, line by line.

    >>> from argmax.cli.console import plain
    >>> plain("\\x1b[31mred\\x1b[0m")
    'red'
    """
    from ..report.safe import terminal

    return "\n".join(terminal(line) for line in str(text).split("\n"))


def count(number: int, what: str) -> str:
    """A number of things: 1 row, 2,000 rows.

    >>> from argmax.cli.console import count
    >>> count(1, "row"), count(2000, "class")
    ('1 row', '2,000 classes')
    """
    many = f"{what}es" if what.endswith("s") else f"{what}s"
    return f"{number:,} {what if number == 1 else many}"


def seconds(duration: float) -> str:
    """A duration as people say it.

    >>> from argmax.cli.console import seconds
    >>> seconds(0.34), seconds(75.0)
    ('0.3 s', '1 min 15 s')
    """
    if duration < 60:
        return f"{duration:.1f} s"
    return f"{int(duration // 60)} min {int(duration % 60)} s"


@final
class Console:
    """Where a command speaks. With ``as_json`` stdout is for one JSON value; ``quiet`` silences stderr.

    >>> from argmax.cli.console import Console
    >>> Console().table(["name", ">rows"], [["yes", "20"], ["no", "7"]])
    name  rows
    yes     20
    no       7
    """

    def __init__(
        self, as_json: bool = False, quiet: bool = False, results: list[Any] | None = None
    ) -> None:
        self.as_json, self.quiet = as_json, quiet
        self._results = results  # where results go instead of stdout
        self._silent = True  # nothing was printed yet

    # Results

    def say(self, text: str, indent: int = 0) -> None:
        """A line of the results; with ``indent`` a paragraph, whose lines after the first are set in."""
        if indent:
            width = _terminal_width()
            lines = textwrap.wrap(plain(text), width, subsequent_indent=" " * indent)
            self._print("\n".join(lines))
        else:
            self._print(plain(text))

    def heading(self, text: str) -> None:
        """A line that stands out, with an empty one before it."""
        if not self._silent:
            self._print("")
        self._print(styled(plain(text), "1", sys.stdout))

    def facts(self, facts: Mapping[str, Any]) -> None:
        """Names and values, one below the other and never cut."""
        width = max(map(_width, map(plain, facts)), default=0)
        for name, value in facts.items():
            shown = plain(name)
            self._print(f"{shown}{' ' * (width - _width(shown))}  {plain(value)}")

    def _print(self, text: str) -> None:
        if not self.as_json:
            print(text)
            self._silent = False

    @property
    def narrow(self) -> bool:
        """Whether a line has room for less than a wide table needs."""
        return _terminal_width() < WIDE

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Aligned columns; a heading that starts with > is aligned to the right."""
        right = [heading.startswith(RIGHT) for heading in headings]
        titles = [heading.removeprefix(RIGHT) for heading in headings]
        cells = [[plain(cell).replace("\n", " ") for cell in row] for row in rows]
        widths = _fitted([max(map(_width, column)) for column in zip(titles, *cells, strict=True)])
        self._print(styled(_line(titles, widths, right), "2", sys.stdout))
        for row in cells:
            self._print(_line(row, widths, right))

    def result(self, value: dict[str, Any]) -> None:
        """The whole result as JSON, if that was asked for."""
        if self._results is not None:
            self._results.append(value)
        elif self.as_json:
            print(json.dumps(finite(value), ensure_ascii=False, indent=1, default=_converted))

    # Progress

    def note(self, text: str) -> None:
        """A line for whoever waits."""
        if not self.quiet:
            print(plain(text), file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """A line that is not to be missed, quiet or not."""
        print(f"{styled('warning:', '33', sys.stderr)} {plain(text)}", file=sys.stderr, flush=True)

    @contextmanager
    def stage(self, doing: str) -> Iterator[Stage]:
        """A step that takes time: a moving line on a terminal, else one line when it is done."""
        stage = Stage(plain(doing))
        began = time.perf_counter()
        with self._moving(stage):
            yield stage
        stage.seconds = time.perf_counter() - began
        if stage.done and not self.quiet:
            self.note(f"{stage.done} ({seconds(stage.seconds)})")

    @contextmanager
    def _moving(self, stage: Stage) -> Iterator[None]:
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console as Terminal
        from rich.text import Text

        with Terminal(stderr=True).status(Text(stage.doing)) as status:
            stage.show = lambda text: status.update(Text(text))
            yield
            stage.show = None


@final
class Stage:
    """One step: what it is doing, and what it will say when it is ``done``."""

    def __init__(self, doing: str) -> None:
        self.doing, self.done, self.seconds = doing, "", 0.0
        self.show: Any = None

    def update(self, text: str) -> None:
        """How far it is."""
        if self.show is not None:
            self.show(f"{self.doing}: {plain(text)}")


def styled(text: str, code: str, stream: IO[str]) -> str:
    """Text in a style of the terminal, if the stream is one and styles are welcome."""
    welcome = (
        stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
    return f"\x1b[{code}m{text}\x1b[0m" if welcome else text


def finite(value: Any) -> Any:
    """A value that JSON can hold: numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _converted(value: Any) -> Any:
    """NumPy's scalars and arrays as Python's."""
    return finite(value.tolist()) if hasattr(value, "tolist") else str(value)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts = []
    for cell, width, is_right in zip(cells, widths, right, strict=True):
        shown = _cut(cell, width)
        space = " " * (width - _width(shown))
        parts.append(space + shown if is_right else shown + space)
    return "  ".join(parts).rstrip()


def _terminal_width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def _fitted(widths: list[int]) -> list[int]:
    """Widths that fit the terminal: the widest column gives way, but never below ten."""
    room = _terminal_width() - 2 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > 10:
        widest = widths.index(max(widths))
        widths[widest] = max(10, widths[widest] - (sum(widths) - room))
    return widths


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    while _width(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def _width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )
