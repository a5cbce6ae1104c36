"""What a Parquet file says of itself, read before Arrow unpacks anything.

A page says how large it is once unpacked, and whoever reads it takes that much memory: a file of a few
hundred bytes can ask for two gigabytes in every column. This module finds the columns in the footer of a
file, walks over the headers of their pages, and hands back what they claim. All of it is written in
Thrift's compact protocol. (pyarrow can show the footer as well, but some damaged ones end the process.)

The format: ``parquet.thrift`` of https://github.com/apache/parquet-format.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, final

__all__ = ["DELTA", "DELTA_LENGTH", "BadPage", "Chunk", "Page", "RowGroup", "pages", "row_groups"]

DELTA_LENGTH, DELTA = 6, 7
"""Two encodings of strings. In the second, a long value costs a byte or two if it repeats another."""

HEADER = 2**10
"""Bytes read for a header at first. One with long statistics takes more: up to ``LONGEST``."""
LONGEST = 2**24

# The kinds of value in the compact protocol.
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = (
    0, 1, 2, 3, 7, 8, 9, 10, 12
)  # fmt: skip
_VARINTS = (4, 5, 6)


class BadPage(ValueError):
    """The bytes are not what the format says."""


@final
@dataclass(frozen=True, slots=True)
class Chunk:
    """Where a column of a row group is: ``size`` bytes from ``start`` on."""

    name: str
    start: int
    size: int


@final
@dataclass(frozen=True, slots=True)
class RowGroup:
    """Some rows of a file, column by column."""

    rows: int
    chunks: tuple[Chunk, ...]


@final
@dataclass(frozen=True, slots=True)
class Page:
    """The bytes of a page as stored and unpacked, and the encoding of its values.

    A page without data, such as a dictionary, has no encoding.
    """

    stored: int
    unpacked: int
    encoding: int | None


def row_groups(stream: BinaryIO) -> Iterator[RowGroup]:
    """The row groups of a file, in order."""
    end = stream.seek(-8, 2)
    size = int.from_bytes(stream.read(4), "little")
    if size > end:
        raise BadPage("the footer is longer than the file")
    stream.seek(end - size)
    reader = _Compact(stream.read(size))
    try:
        for number, kind in reader.fields():
            if number == 4 and kind == _LIST:
                count, _ = reader.list_header()
                for _ in range(count):
                    yield _row_group(reader.struct())
            else:
                reader.value(kind)
    except IndexError:
        raise BadPage("the footer ends too early") from None


def _row_group(fields: dict[int, Any]) -> RowGroup:
    try:
        chunks = tuple(_chunk(column[3]) for column in fields[1])
        return RowGroup(_number(fields[3]), chunks)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadPage(f"a row group without {error}") from None


def _chunk(fields: dict[int, Any]) -> Chunk:
    start, dictionary = _number(fields[9]), fields.get(11)
    if dictionary is not None and 0 < _number(dictionary) < start:
        start = dictionary
    path = b".".join(fields[3]).decode("utf-8")
    return Chunk(path, start, _number(fields[7]))


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise BadPage(f"{value!r} where there should be a number")
    return value


def pages(stream: BinaryIO, chunk: Chunk) -> Iterator[Page]:
    """The pages of a column of a row group, in order."""
    start, end = chunk.start, chunk.start + chunk.size
    while start < end:
        fields, length = _header(stream, start, end - start)
        stored, unpacked = _number(fields.get(3)), _number(fields.get(2))
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

    def fields(self) -> Iterator[tuple[int, int]]:
        """Number and kind of each field of a struct. Whoever asks reads the value before the next."""
        number = 0
        while (byte := self._byte()) & 15 != _STOP:
            number = number + (byte >> 4) if byte >> 4 else self._signed()
            yield number, byte & 15

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct by number."""
        if depth > 8:
            raise BadPage("structs are nested too deeply")
        return {number: self.value(kind, depth) for number, kind in self.fields()}

    def list_header(self) -> tuple[int, int]:
        """How many values a list has, and their kind."""
        head = self._byte()
        return (head >> 4 if head >> 4 < 15 else self._varint()), head & 15

    def value(self, kind: int, depth: int = 0) -> Any:
        """A value of the kind; bytes for what is neither a number nor made of others."""
        if kind in _VARINTS:
            return self._signed()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            count, kind = self.list_header()
            return [self._element(kind, depth) for _ in range(count)]
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (_BYTE, _DOUBLE, _BINARY):
            return self._bytes({_BYTE: 1, _DOUBLE: 8}.get(kind) or self._varint())
        raise BadPage(f"a value of kind {kind}")

    def _element(self, kind: int, depth: int) -> Any:
        """A value in a list, where true and false take a byte."""
        return self._bytes(1) if kind in (_TRUE, _FALSE) else self.value(kind, depth + 1)

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

    def _bytes(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self._data):
            raise IndexError
        return self._data[self.at - size : self.at]
