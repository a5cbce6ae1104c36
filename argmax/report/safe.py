"""Text from data, made safe for where it is shown: a page, a terminal, a spreadsheet.

Names of classes and columns, words and cells come from files that anybody may have written. A page must not
run them, a terminal must not obey them, and a spreadsheet must not compute them.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["csv_cell", "shorten", "terminal", "visible"]

# Controls, line separators, overrides of the direction of writing, a stray byte-order mark, half characters.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, movements of the cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]).*?(?:\x07|\x1b\\|\x9c|$)"  # titles, links, device strings
    r"|\x1b[ -/]*[0-~]",
    re.DOTALL,
)
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")


def visible(text: Any) -> str:
    """The text with control characters, half characters and changes of direction written out.

    >>> from argmax.report.safe import visible
    >>> print(visible("a\\nb\\x1b[31m \\u202egpj.exe"))
    a\\nb\\x1b[31m \\u202egpj.exe
    """
    return _CONTROL.sub(_written_out, str(text))


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return named.get(found[0], f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def shorten(text: Any, most: int = 160) -> str:
    """One line of at most ``most`` characters: runs of white space become one space, the rest an ellipsis.

    >>> from argmax.report.safe import shorten
    >>> shorten("Where is\\n  my parcel?", most=12)
    'Where is my…'
    """
    # Of a text of megabytes only the beginning is looked at.
    line = visible(" ".join(str(text)[: 8 * most].split()))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def terminal(text: Any) -> str:
    """One line that a terminal shows and does not obey: without escape sequences and control characters.

    >>> from argmax.report.safe import terminal
    >>> terminal("\\x1b[31mred\\x1b[0m\\nand\\x07 more")
    'red and more'
    """
    plain = _ESCAPE_SEQUENCE.sub("", str(text))
    return _CONTROL.sub("", re.sub(r"[\n\r\t\u2028\u2029]", " ", plain))


def csv_cell(value: Any) -> str:
    """A cell that a spreadsheet takes for text: one that begins like a formula gets an apostrophe in front.

    Numbers, also those written as text, stay as they are.

    >>> from argmax.report.safe import csv_cell
    >>> [csv_cell(value) for value in ("=cmd()", "-1.5", "@sum", "plain", 2.5)]
    ["'=cmd()", '-1.5', "'@sum", 'plain', '2.5']
    """
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    from ..features import is_number  # heavy, and seldom needed

    return is_number(text)
