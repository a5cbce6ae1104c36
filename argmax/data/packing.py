"""Compressed files, unpacked as they are read: gzip, bz2, xz and zstd, recognised by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, final

from ..errors import BadFile, MissingExtra, ResourceLimit
from .limits import Limits, readable
from .origin import Origin, Readable

__all__ = ["Unpacked", "packing"]

MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
DICTIONARY = 2**27
"""Memory that unpacking xz may ask for: `xz -9` writes files that need 65 MiB."""


def packing(head: bytes) -> str | None:
    """How a file that starts with these bytes is compressed; None if it is not.

    >>> packing(b"\\x1f\\x8b\\x08"), packing(b"id,text")
    ('gzip', None)
    """
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


@final
class Unpacked:
    """The content of an origin: unpacked if need be, counted, and held to its limits.

    A context manager with a ``read``; ``packing`` says what was unpacked.
    """

    def __init__(self, origin: Origin, limits: Limits, last: bool = False) -> None:
        self._path, self._limits = origin.path, limits
        self._raw, self._size = _Counted(origin.open(last)), 0
        self.packing = packing(self._raw.peek())
        try:
            self._content = _OPENERS[self.packing](self._raw)
        except BaseException:
            self._raw.close()
            raise

    def __enter__(self) -> Unpacked:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes of content; none at the end."""
        try:
            part = self._content.read(size)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise self._broken(error) from error
        self._size += len(part)
        if self._size > self._limits.total_bytes:
            raise self._limits.exceeded("total_bytes", f"{self._path} holds more than may be read")
        if self.packing:
            self._limits.expansion(self._raw.count, self._size, f"{self._path} ({self.packing})")
        return part

    def _broken(self, error: Exception) -> BadFile | ResourceLimit:
        if self.packing is None:
            return BadFile(f"reading failed: {error}.", path=self._path)
        if "Memory usage limit" in str(error):
            what = f"{self._path} (xz) needs more than {readable(DICTIONARY)} to be unpacked"
            return ResourceLimit(f"{what}. Unpack it first: xz -d.")
        ended = isinstance(error, EOFError)
        problem = "end in the middle: the file is cut off" if ended else f"are damaged ({error})"
        return BadFile(
            f"the {self.packing} data {problem}. Fetch or compress the file again.", path=self._path
        )


@final
class _Counted(io.RawIOBase):
    """A stream that knows how many bytes were taken from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.count = stream, 0
        self._ahead = b""

    def peek(self) -> bytes:
        while len(self._ahead) < 8 and (part := self._stream.read(8 - len(self._ahead))):
            self._ahead += part
        return self._ahead

    def readable(self) -> bool:
        return True

    def read(self, size: int, /) -> bytes:  # type: ignore[override]
        part, self._ahead = self._ahead[:size], self._ahead[size:]
        part += self._stream.read(size - len(part))
        self.count += len(part)
        return part

    def close(self) -> None:
        self._stream.close()
        super().close()


@final
class _Streams:
    """Compressed streams one after the other, zeros that fill a block between them, and nothing else.

    ``lzma.LZMAFile`` has no bound on the memory that a header can ask for, and ``bz2.BZ2File`` ignores what
    follows the last stream.
    """

    def __init__(self, raw: Readable, new: Callable[[], Any]) -> None:
        self._raw, self._new, self._decoder = raw, new, new()

    def read(self, size: int, /) -> bytes:
        while True:
            if self._decoder.eof:  # another stream may follow, or zeros that fill a block
                rest = self._decoder.unused_data.lstrip(b"\0")
                rest = rest or self._raw.read(2**16).lstrip(b"\0")
                if not rest:
                    return b""
                self._decoder = self._new()
            elif self._decoder.needs_input:
                rest = self._raw.read(2**16)
                if not rest:
                    raise EOFError
            else:
                rest = b""
            part: bytes = self._decoder.decompress(rest, size)
            if part:
                return part


def _new_xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=DICTIONARY)


def _zstd(raw: Any) -> Readable:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtra(
            'a zstd file needs pyarrow: pip install "argmax[io]", or unpack it first with zstd -d.'
        ) from error
    stream: Readable = pa.CompressedInputStream(raw, "zstd")
    return stream


_OPENERS: dict[str | None, Callable[[Any], Readable]] = {
    None: lambda raw: raw,
    "gzip": lambda raw: gzip.GzipFile(fileobj=raw),
    "bz2": lambda raw: _Streams(raw, bz2.BZ2Decompressor),
    "xz": lambda raw: _Streams(raw, _new_xz),
    "zstd": _zstd,
}
