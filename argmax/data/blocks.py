"""Bytes -> blocks of whole lines in UTF-8, none of them longer than it may be."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from ..errors import BadFile, InvalidInput
from .limits import Limits, readable
from .origin import Readable

__all__ = ["Block", "blocks", "known_encoding", "recoded"]

BLOCK = 2**18
"""Bytes read at a time. Python holds a table of short cells in 20 times the bytes of the file, for as long
as it takes to convert them: this bounds what that comes to."""


@final
@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of a file. ``line`` is the number of the first, from 1; only the last block of a file
    can lack the newline at its end."""

    data: bytes
    line: int
    path: str

    def text(self) -> str:
        """The block as a string."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._not_utf8(error.start) from error

    @property
    def cut(self) -> bool:
        """Whether the last line has no end, as in a file that was cut off."""
        return not self.data.endswith(b"\n")

    def _not_utf8(self, at: int) -> BadFile:
        line, column = self._place(at)
        start, stop = self.data.rfind(b"\n", 0, at) + 1, self.data.find(b"\n", at)
        here = self.data[start : stop if stop >= 0 else None]
        encoding = "cp1252" if any(0x80 <= byte < 0xA0 for byte in here) else "latin-1"
        near = here[max(0, column - 16) : column + 15].decode(encoding, errors="replace")
        return BadFile(
            f"the byte 0x{self.data[at]:02x} is not UTF-8. In {encoding} it reads {near!r}: if that is "
            f"right, pass encoding='{encoding}'.",
            path=self.path,
            line=line,
            column=column,
        )

    def _place(self, at: int) -> tuple[int, int]:
        """Line and column of a byte, both from 1."""
        before = self.data[:at]
        return self.line + before.count(b"\n"), at - before.rfind(b"\n")

    def check(self) -> Block:
        """Raise on a NUL byte, which no text holds."""
        at = self.data.find(b"\0")
        if at < 0:
            return self
        line, column = self._place(at)
        near = self.data[max(0, at - 40) : at + 40]
        wide = 3 * near.count(b"\0") > len(near)
        if wide:  # every other byte
            encoding = "utf-16-le" if at % 2 else "utf-16-be"
            advice = f"The file looks like UTF-16: pass encoding='{encoding}'."
        else:
            advice = "The file is damaged, or not text at all."
        raise BadFile(f"a NUL byte. {advice}", path=self.path, line=line, column=column)


def blocks(stream: Readable, path: str, limits: Limits, encoding: str | None) -> Iterator[Block]:
    """The blocks of a text file, in order. A byte order mark is left out."""
    content = recoded(stream, path, encoding)
    line, pending = 1, b""
    step = min(BLOCK, limits.line_bytes)  # a line inside what one read brings is then short enough
    first = True
    while part := content.read(step):
        if first:
            part, first = _without_mark(part, path), False
        end = part.rfind(b"\n") + 1
        head = part.find(b"\n") if end else len(part)
        if len(pending) + head > limits.line_bytes:
            at_least = readable(limits.line_bytes)
            raise limits.exceeded("line_bytes", f"{path}, line {line} is longer than {at_least}")
        if not end:
            pending += part
            continue
        block = Block(pending + part[:end], line, path).check()
        yield block
        pending = part[end:]
        line += block.data.count(b"\n")
    if pending:
        yield Block(pending, line, path).check()


def _without_mark(start: bytes, path: str) -> bytes:
    for mark, encoding in (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if start.startswith(mark):
            raise BadFile(
                f"the file starts with the byte order mark of {encoding.upper()}. Pass "
                f"encoding='{encoding}'.",
                path=path,
                line=1,
                column=1,
            )
    return start.removeprefix(codecs.BOM_UTF8)


def recoded(stream: Readable, path: str, encoding: str | None) -> Readable:
    """The stream in UTF-8; None says that it is in UTF-8 already."""
    return stream if encoding is None else _Recoded(stream, path, encoding)


@final
class _Recoded:
    """A stream in another encoding, read as UTF-8."""

    def __init__(self, stream: Readable, path: str, encoding: str) -> None:
        self._stream, self._path, self._encoding = stream, path, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._line = 1

    def read(self, size: int, /) -> bytes:
        while True:
            part = self._stream.read(max(1, size // 4))  # a letter of UTF-8 has at most four bytes
            try:
                text = self._decoder.decode(part, final=not part)
                found = text.encode("utf-8")
            except UnicodeError as error:
                raise self._undecodable(error) from error
            self._line += text.count("\n")
            if found or not part:
                return found

    def _undecodable(self, error: UnicodeError) -> BadFile:
        line, reason = self._line, str(error)
        if isinstance(error, UnicodeDecodeError):
            line += error.object.count(b"\n", 0, error.start)
            reason = f"byte 0x{error.object[error.start]:02x}, {error.reason}"
        return BadFile(
            f"this is not {self._encoding} ({reason}). Pass the encoding that the file is written "
            "in, or none for UTF-8.",
            path=self._path,
            line=line,
        )


def known_encoding(encoding: str | None) -> str | None:
    """The name of a text encoding that Python has, or None for UTF-8."""
    if encoding is None:
        return None
    try:
        found = codecs.lookup(encoding)
        "".encode(encoding)  # codecs such as "hex" are no encodings of text, and say so here
    except (LookupError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"encoding must name a text encoding such as 'utf-8', 'cp1252' or 'utf-16'; got "
            f"{encoding!r}."
        ) from error
    return None if found.name == "utf-8" else found.name
