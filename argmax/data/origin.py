"""Where the bytes come from: a file that can be opened again, or a pipe that cannot."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import sys
import tempfile
import weakref
from abc import ABC, abstractmethod
from typing import Any, BinaryIO, Protocol, cast, final

from ..errors import ArgmaxError, BadFile, ResourceLimit, Unsupported, WrongType
from .limits import Limits, readable

__all__ = ["Origin", "Readable", "find"]


class Readable(Protocol):
    """The one method that readers use: at most ``size`` bytes, none at the end."""

    def read(self, size: int, /) -> bytes: ...


class Origin(ABC):
    """The bytes of a table. ``path`` is its name in messages."""

    path: str
    bytes: int | None
    """Size as stored; None if it is known only at the end."""

    @abstractmethod
    def open(self, last: bool = False) -> BinaryIO:
        """The bytes from the start. ``last`` promises that nobody opens it again."""

    @abstractmethod
    def on_disk(self, limits: Limits) -> File:
        """The same bytes in a file, for formats that are not read from start to end."""

    @abstractmethod
    def digest(self) -> str | None:
        """SHA-256 of the bytes as stored; None if they cannot be read again."""


@final
class File(Origin):
    """A regular file, which must stay as it is while it is in use."""

    def __init__(self, place: str, path: str) -> None:
        self.place, self.path = place, path
        self._state = self._look()
        self.bytes = self._state[0]

    def open(self, last: bool = False) -> BinaryIO:
        if self._look() != self._state:
            raise BadFile(
                "the file has changed since it was opened. Open it again.", path=self.path
            )
        try:
            return open(self.place, "rb")
        except OSError as error:
            raise _unreadable(error, self.path) from error

    def on_disk(self, limits: Limits) -> File:
        return self

    def digest(self) -> str:
        with self.open() as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]

    def _look(self) -> tuple[int, int]:
        try:
            found = os.stat(self.place)
        except OSError as error:
            raise _unreadable(error, self.path) from error
        return found.st_size, found.st_mtime_ns


@final
class Pipe(Origin):
    """A stream that is read once, as it comes: never more is waited for than what is there.

    The first rows are looked at before the one pass that counts: what was read of them is kept and
    read again.
    """

    bytes = None

    def __init__(self, stream: BinaryIO, path: str) -> None:
        self.path = path
        self._stream, self._kept, self._used = stream, bytearray(), False

    def open(self, last: bool = False) -> BinaryIO:
        if self._used:
            raise Unsupported(
                f"{self.path} was opened with once=True and has been read. Leave that out to keep "
                "a copy on disk, which can be read again."
            )
        self._used = last
        return cast("BinaryIO", _Replay(self._stream, self._kept, keep=not last))

    def on_disk(self, limits: Limits) -> File:
        return _spooled(self.open(last=True), self.path, limits)

    def digest(self) -> None:
        return None


@final
class _Replay(io.RawIOBase):
    """What was kept of a stream, then the stream itself."""

    def __init__(self, stream: BinaryIO, kept: bytearray, keep: bool) -> None:
        self._stream, self._kept, self._keep, self._at = stream, kept, keep, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        found = bytes(self._kept[self._at : self._at + len(buffer)])
        if not found:
            found = self._stream.read1(len(buffer))  # type: ignore[attr-defined]
            if self._keep:
                self._kept += found
        self._at += len(found)
        buffer[: len(found)] = found
        return len(found)


def find(path: str | os.PathLike[str], limits: Limits, once: bool) -> Origin:
    """The origin that a path names; ``-`` is standard input.

    What is not a regular file (standard input, a named pipe) is copied to a temporary file first, or
    with ``once`` read as it comes.
    """
    try:
        place = os.fsdecode(path)
    except TypeError as error:
        raise WrongType(f"path must be the name of a file; got {path!r}.") from error
    if place == "-":
        return _stream(sys.stdin.buffer, "standard input", limits, once)
    try:
        mode = os.stat(place).st_mode
        if stat.S_ISREG(mode):
            return File(place, place)
        if not stat.S_ISDIR(mode):
            return _pipe(place, limits, once)
    except (OSError, ValueError) as error:  # a path with a NUL byte is a ValueError
        if isinstance(error, ArgmaxError):
            raise
        raise _unreadable(error, place) from error
    raise BadFile("this is a folder. Name one file in it.", path=place)


def _pipe(place: str, limits: Limits, once: bool) -> Origin:
    stream = open(place, "rb")  # noqa: SIM115, closed with the origin
    origin = _stream(stream, place, limits, once)
    weakref.finalize(origin, stream.close)
    return origin


def _stream(stream: BinaryIO, path: str, limits: Limits, once: bool) -> Origin:
    return Pipe(stream, path) if once else _spooled(stream, path, limits)


def _spooled(stream: BinaryIO, path: str, limits: Limits) -> File:
    """A copy of the stream on disk, removed with the last reference to it."""
    with tempfile.NamedTemporaryFile(prefix="argmax-", delete=False) as copy:
        try:
            _copy(stream, copy, path, limits)
        except BaseException:
            os.unlink(copy.name)
            raise
    file = File(copy.name, path)
    weakref.finalize(file, os.unlink, copy.name)
    return file


def _copy(stream: BinaryIO, copy: Any, path: str, limits: Limits) -> None:
    size = 0
    try:
        while part := stream.read(2**20):
            size += len(part)
            if size > limits.spool_bytes:
                raise limits.exceeded("spool_bytes", f"{path} is longer than its copy may be")
            copy.write(part)
        copy.flush()
    except OSError as error:
        raise ResourceLimit(
            f"{path}: the copy in {tempfile.gettempdir()} failed after {readable(size)}: "
            f"{error.strerror}. Set TMPDIR to a folder with more space, or name a file."
        ) from error


def _unreadable(error: Exception, path: str) -> BadFile:
    reason = getattr(error, "strerror", None) or str(error)
    return BadFile(f"cannot be read: {reason}.", path=path)
