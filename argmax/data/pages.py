"""The pages of a Parquet file, looked at before Arrow unpacks them.

A page says how large it is once unpacked, and whoever reads it takes that much memory: a file of a few
hundred bytes can ask for two gigabytes in every column. This module walks over the headers of the pages
and hands back what they claim. They are written in Thrift's compact protocol, of which it reads the
numbers and steps over the rest.

The format: ``PageHeader`` in ``parquet.thrift`` of https://github.com/apache/parquet-format.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, final

__all__ = ["DELTA", "BadPage", "Page", "pages"]

DELTA = 7
"""The encoding in which a long value costs two bytes if it repeats the one before."""

HEADER = 2**10
"""Bytes read for a header at first. One with long statistics takes more: up to ``LONGEST``."""
LONGEST = 2**24

# The kinds of value in the compact protocol.
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = (
    0, 1, 2, 3, 7, 8, 9, 10, 12
)  # fmt: skip
_VARINTS = (4, 5, 6)


class BadPage(ValueError):
    """The bytes are no page header."""


@final
@dataclass(frozen=True, slots=True)
class Page:
    """What a page says of itself: its bytes as stored and unpacked, and how its values are encoded."""

    stored: int
    unpacked: int
    encoding: int | None


def pages(stream: BinaryIO, start: int, size: int) -> Iterator[Page]:
    """The pages in a part of a file, in order."""
    end = start + size
    while start < end:
        fields, length = _header(stream, start, end - start)
        stored, unpacked = fields.get(3), fields.get(2)
        if not (isinstance(stored, int) and isinstance(unpacked, int)):
            raise BadPage("a page without a size")
        if stored < 0 or unpacked < 0:
            raise BadPage("a page of negative size")
        yield Page(stored, unpacked, _encoding(fields))
        start += length + stored


def _encoding(fields: dict[int, Any]) -> int | None:
    first, second = fields.get(5), fields.get(8)  # headers of data pages, versions 1 and 2
    if isinstance(first, dict):
        return first.get(2)
    return second.get(4) if isinstance(second, dict) else None


def _header(stream: BinaryIO, start: int, most: int) -> tuple[dict[int, Any], int]:
    """The fields of the header at ``start``, and its length."""
    size = HEADER
    while True:
        stream.seek(start)
        reader = _Compact(stream.read(min(size, most)))
        try:
            return reader.struct(), reader.at
        except IndexError:
            if size >= min(most, LONGEST):
                raise BadPage("a page header that does not end") from None
            size *= 16


@final
class _Compact:
    """Values of Thrift's compact protocol. Raises IndexError where the bytes end too early."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct by number; None for what is stepped over."""
        if depth > 8:
            raise BadPage("structs are nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while (byte := self._byte()) & 15 != _STOP:
            number = number + (byte >> 4) if byte >> 4 else self._signed()
            fields[number] = self._value(byte & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _VARINTS:
            return self._signed()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind in (_BYTE, _DOUBLE, _BINARY):
            return self._step({_BYTE: 1, _DOUBLE: 8}.get(kind) or self._varint())
        raise BadPage(f"a value of kind {kind}")

    def _list(self, depth: int) -> None:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._varint()
        for _ in range(size):
            if head & 15 in (_TRUE, _FALSE):  # in a list, a byte each
                self._step(1)
            else:
                self._value(head & 15, depth)

    def _signed(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise BadPage("a number of more than 64 bits")

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _step(self, size: int) -> None:
        self.at += size
        if self.at > len(self._data):
            raise IndexError
