"""Whether a file holds sequences or a table, without taking a byte from a stream."""

from __future__ import annotations

import io
import os
import stat
import sys
from typing import Any, BinaryIO, final

from ..errors import ArgmaxError
from .blocks import known_encoding, recoded
from .conll import FORMATS, looks_like
from .limits import Limits
from .origin import File, Origin
from .packing import Unpacked

__all__ = ["holds_sequences"]

HEAD = 2**16


def holds_sequences(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    encoding: str | None = None,
    limits: Limits = Limits(),  # noqa: B008, frozen
) -> bool:
    """Whether ``open_conll`` is for this file, rather than ``open_table``; ``format`` decides if given.

    Of standard input, what is there is looked at and left there. A file that cannot be read, or a pipe with a
    name, is taken for a table: opening it will say what is wrong.

    >>> import os, tempfile
    >>> from argmax.data import holds_sequences
    >>> path = os.path.join(tempfile.mkdtemp(), "some file")
    >>> with open(path, "w") as file:
    ...     _ = file.write("the DT\\ncat NN\\n\\nso RB\\n")
    >>> holds_sequences(path), holds_sequences(path, format="csv")
    (True, False)
    """
    if format is not None:
        return format in FORMATS
    try:
        return _form(os.fsdecode(path), known_encoding(encoding), limits) is not None
    except (ArgmaxError, OSError, ValueError, TypeError):
        return False


def _form(path: str, encoding: str | None, limits: Limits) -> str | None:
    origin: Origin
    if path == "-":
        origin = _Glimpse(_peeked(sys.stdin.buffer))
    elif stat.S_ISREG(os.stat(path).st_mode):
        origin = File(path, path)
    else:
        return None
    content = _head(origin, encoding, limits)
    if content.startswith((b"PAR1", b"{")):
        return None
    from . import svmlight

    whole = content[: content.rfind(b"\n") + 1]
    return None if svmlight.looks_like(whole) else looks_like(content)


def _head(origin: Origin, encoding: str | None, limits: Limits) -> bytes:
    head = b""
    try:
        with Unpacked(origin, limits) as content:
            text = recoded(content, origin.path, encoding)
            while len(head) < HEAD and (part := text.read(HEAD - len(head))):
                head += part
    except ArgmaxError:  # a glimpse of compressed bytes ends where it ends
        if not head:
            raise
    return head


def _peeked(stream: Any) -> bytes:
    """What a stream holds ready, which stays in it."""
    if hasattr(stream, "peek"):
        return bytes(stream.peek(HEAD))
    if not stream.seekable():
        return b""
    place = stream.tell()
    found = stream.read(HEAD)
    stream.seek(place)
    return bytes(found)


@final
class _Glimpse(Origin):
    """The first bytes of a stream."""

    path = "standard input"

    def __init__(self, content: bytes) -> None:
        self.bytes, self._content = len(content), content

    def open(self, last: bool = False) -> BinaryIO:
        return io.BytesIO(self._content)

    def on_disk(self, limits: Limits) -> File:
        raise NotImplementedError

    def digest(self) -> None:
        return None
