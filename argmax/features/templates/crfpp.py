"""Template files of CRF++ (and of Wapiti, as far as they agree) as templates of ours.

    U05:%x[-1,0]/%x[0,0]      word[-1]|word[0]
    B                         transitions, which every chain has
    B01:%x[0,1]               edge: pos[0]
    *02:%x[0,1]               both: pos[0]        (Wapiti)

The text around the macros only tells lines apart, and so do templates here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from ...errors import BadFile

__all__ = ["read_crfpp"]

_MACRO = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")
_MARKS = {"U": "", "B": "edge: ", "*": "both: "}


def read_crfpp(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> list[str]:
    """The templates of a CRF++ file, for ``Templates``.

    ``columns`` names the columns that CRF++ numbers; None calls them ``word``, ``column1``, ``column2``, …
    Positions outside a sequence are marked as CRF++ marks them with ``outside="mark"``, the default of
    ``Templates``. A chain always has weights for its transitions, with or without a line ``B``.

    >>> import os, tempfile
    >>> from argmax.features import Templates, read_crfpp
    >>> path = os.path.join(tempfile.mkdtemp(), "template")
    >>> with open(path, "w") as file:
    ...     _ = file.write("# words\\nU00:%x[0,0]\\nU01:%x[-1,0]/%x[0,1]\\n\\nB\\n")
    >>> read_crfpp(path, columns=["word", "pos"])
    ['word[0]', 'word[-1]|pos[0]']
    """
    place = os.fspath(path)
    try:
        with open(place, encoding="utf-8-sig") as file:
            lines = [line.strip() for line in file]
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot be read: {error}.", path=place) from error
    return list(_templates(place, lines, columns))


def _templates(path: str, lines: list[str], columns: Sequence[str] | None) -> Iterator[str]:
    texts, macros = dict[str, int](), dict[str, int]()
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        mark = _MARKS.get(line[0].upper())
        if mark is None:
            raise BadFile(
                "a line must begin with U or B (or * as in Wapiti).", path=path, line=number
            )
        own, text = _values(path, number, line, columns), _MACRO.sub("", line)
        if not own and mark == "edge: ":
            continue  # transitions alone
        if (first := texts.setdefault(text, number)) != number:
            raise BadFile(
                f"the text around the macros is that of line {first}, so CRF++ takes what the two find "
                "for the same. This cannot be done here: give each line its own number (U01, U02).",
                path=path,
                line=number,
            )
        template = mark + ("|".join(own) or "bias")
        if (first := macros.setdefault(template, number)) != number:
            raise BadFile(
                f"this says the same as line {first}. Remove one.", path=path, line=number
            )
        yield template


def _values(path: str, number: int, line: str, columns: Sequence[str] | None) -> list[str]:
    """``%x[-1,0]`` → ``word[-1]``, for each macro of a line."""
    rest = _MACRO.sub("", line)
    if "%" in rest:
        wrong = rest[rest.index("%") :][:20]
        problem = f"a macro must look like %x[-1,0]; this one does not: {wrong!r}."
        raise BadFile(problem, path=path, line=number)
    return [
        f"{_name(path, number, int(c), columns)}[{int(row)}]" for row, c in _MACRO.findall(line)
    ]


def _name(path: str, number: int, column: int, columns: Sequence[str] | None) -> str:
    if columns is None:
        return f"column{column}" if column else "word"
    if column >= len(columns):
        raise BadFile(
            f"column {column} is asked for, and columns names {len(columns)}, from 0.",
            path=path,
            line=number,
        )
    return columns[column]
