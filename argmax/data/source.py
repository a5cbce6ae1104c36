"""A table in a file: opened once, described, and read in batches as often as you like."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import final

import numpy as np

from ..checks import positive_integer
from ..errors import BadFile, InvalidInput
from ..features.kinds import SAMPLE
from ..records import Batch, Csr, Floats, Strings
from .blocks import known_encoding, recoded
from .cells import MISSING, Cells, missing_set
from .columns import Column, described
from .delimited import Delimited
from .jsonl import JsonLines
from .limits import Limits
from .origin import Origin, find
from .packing import Unpacked
from .parquet import Parquet
from .readers import Reader, Way, chosen
from .recognise import Form, recognise
from .svmlight import SvmLight

__all__ = ["Source", "open_table"]

ROWS = 2**16
HEAD = 2**16
"""Bytes of content that are enough to tell one format from another."""
SAMPLE_BYTES = 2**20


def open_table(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    kinds: Mapping[str, str] | None = None,
    limits: Limits = Limits(),  # noqa: B008, frozen
    missing: Iterable[str] = MISSING,
    sample_rows: int | None = None,
    once: bool = False,
) -> Source:
    """Open a CSV, TSV, JSON lines, Parquet or svmlight file, plain or compressed, as a ``Source``.

    The format is recognised by content. The first rows are read, and the kind of each column is
    inferred from them. Nothing else is read yet.

    Parameters
    ----------
    path : str or os.PathLike
        A file, or "-" for standard input. What cannot be read twice (standard input, a pipe) is
        copied to a temporary file first; see ``once``.
    format : "csv", "tsv", "jsonl", "parquet" or "svmlight"
        None: recognised by content.
    delimiter : str
        One character between the fields of a CSV file. None: a comma, a tab, a semicolon or a
        vertical bar, whichever cuts the first lines most evenly.
    encoding : str
        Of text; None is UTF-8.
    kinds : dict
        Kinds of columns that you know better: ``{"zip": "category"}``. One of "number", "category",
        "text", "id" and "ignore" each.
    limits : Limits
        How large things may get.
    missing : list of str
        Values that count as missing, compared without the spaces around them.
    sample_rows : int
        Rows that kinds are inferred from. None: the first 10,000, or the first MiB if that is less.
    once : bool
        Read a pipe as it comes, and only once.

    Examples
    --------
    >>> import os, tempfile
    >>> from argmax.data import open_table
    >>> path = os.path.join(tempfile.mkdtemp(), "cities.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("city;people\\nOslo;0.7\\nRome;NA\\nOslo;0.7\\n")
    >>> source = open_table(path)
    >>> source.kinds
    {'city': 'category', 'people': 'number'}
    >>> for batch in source.batches():
    ...     print(batch.columns["city"].tolist(), batch.columns["people"])
    ['Oslo', 'Rome', 'Oslo'] [0.7 nan 0.7]
    >>> source.missing
    {'city': 0, 'people': 1}
    """
    cells = Cells(missing_set(missing))
    encoding = known_encoding(encoding)
    if sample_rows is None:
        sample, sample_bytes = SAMPLE, float(SAMPLE_BYTES)
    else:
        sample, sample_bytes = positive_integer("sample_rows", sample_rows), math.inf
    origin = find(path, limits, once)
    form = recognise(*_head(origin, limits, encoding), format, delimiter)
    if form.format == "parquet":
        origin = _parquet_origin(origin, limits, encoding)
    way = Way(origin, limits, cells, encoding, sample, sample_bytes)
    reader = _reader(way, form)
    return Source(way, form, reader, described(way, reader, kinds or {}))


def _head(origin: Origin, limits: Limits, encoding: str | None) -> tuple[bytes, str]:
    """The first bytes of the content in UTF-8, and the name of the file."""
    with Unpacked(origin, limits) as content:
        text = recoded(content, origin.path, encoding)
        head = b""
        while len(head) < HEAD and (part := text.read(HEAD - len(head))):
            head += part
            if origin.bytes is None and b"\n" in head:
                break  # a pipe: whoever writes to it may be waiting for an answer
        if content.packing and head.startswith(b"PAR1"):
            problem = f"a Parquet file inside {content.packing}. Unpack it first."
            raise BadFile(problem, path=origin.path)
    return head, origin.path


def _parquet_origin(origin: Origin, limits: Limits, encoding: str | None) -> Origin:
    if encoding is not None:
        raise InvalidInput(f"encoding={encoding!r} is for text; {origin.path} is a Parquet file.")
    return origin.on_disk(limits)


def _reader(way: Way, form: Form) -> Reader:
    if form.format == "jsonl":
        return JsonLines(way)
    if form.format == "parquet":
        return Parquet(way)
    return SvmLight(way) if form.format == "svmlight" else Delimited(way, form.delimiter)


@final
class Source:
    """A table in a file; ``open_table`` makes it.

    >>> import os, tempfile
    >>> from argmax.data import open_table, samples
    >>> path = os.path.join(tempfile.mkdtemp(), "tickets.csv")
    >>> samples.write_tickets(path, n=200)
    >>> source = open_table(path)
    >>> source.format, len(source.columns), source.kinds["channel"], source.kinds["text"]
    ('csv', 7, 'category', 'text')
    >>> sum(len(batch) for batch in source.batches(["text"], strings=["team"]))
    200
    """

    def __init__(self, way: Way, form: Form, reader: Reader, columns: tuple[Column, ...]) -> None:
        self._way, self._form, self._reader, self._columns = way, form, reader, columns
        self._missing: dict[str, int] = {}
        self._rows = 0

    def __repr__(self) -> str:
        return f"<Source {self.path!r}: {self.format}, {len(self._columns)} columns>"

    @property
    def path(self) -> str:
        """The file, as it is named in messages."""
        return self._way.path

    @property
    def format(self) -> str:
        """One of "csv", "tsv", "jsonl", "parquet" and "svmlight"."""
        return self._form.format

    @property
    def delimiter(self) -> str | None:
        """What stands between two fields; None if the format has no such thing."""
        return self._form.delimiter if self.format in ("csv", "tsv") else None

    @property
    def columns(self) -> tuple[Column, ...]:
        """What was found of each column in the sampled rows."""
        return self._columns

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column."""
        return {column.name: column.kind for column in self._columns}

    @property
    def bytes(self) -> int | None:
        """Size of the file as stored; None for a pipe that is read once."""
        return self._way.origin.bytes

    @cached_property
    def digest(self) -> str | None:
        """SHA-256 of the file as stored; None for a pipe that is read once. Reads the whole file."""
        return self._way.origin.digest()

    @property
    def rows(self) -> int:
        """How many rows the latest ``batches`` have read so far."""
        return self._rows

    @property
    def missing(self) -> dict[str, int]:
        """How many values of each column were missing in what the latest ``batches`` have read so far."""
        return dict(self._missing)

    def batches(
        self,
        columns: Iterable[str] | None = None,
        *,
        rows: int = ROWS,
        strings: Iterable[str] = (),
        numbers: Iterable[str] = (),
    ) -> Iterator[Batch]:
        """The table from its first row to its last, in batches of at most ``rows`` rows.

        Number columns come as float64 with NaN for missing, all others as Strings. Columns named in
        ``strings`` come as Strings whatever their kind, with the characters of the file: a target is
        read like this, so that the labels 1, 1.0 and 01 stay apart. Those in ``numbers`` come as numbers
        whatever their kind: a model reads what it was fitted on. ``columns`` None is every column that
        is not ignored.

        A batch is also cut where a block of the file ends (about 256 KiB), so that memory does not
        grow with ``rows``. The same file gives the same batches.
        """
        kinds = self.kinds
        given = [name for name, kind in kinds.items() if kind != "ignore"]
        first = given if columns is None else chosen(_names(columns), tuple(kinds), "columns")
        as_strings = chosen(_names(strings), tuple(kinds), "strings")
        as_numbers = chosen(_names(numbers), tuple(kinds), "numbers")
        names = list(dict.fromkeys([*first, *as_strings, *as_numbers]))
        if not names:
            raise InvalidInput(f"{self.path}: no column is left to read. Name some, or set kinds=.")
        inferred = {name for name in names if kinds[name] == "number"} - set(as_strings)
        parsed = inferred | set(as_numbers)
        return self._batches(names, parsed, positive_integer("rows", rows), columns is None)

    def _batches(
        self, names: list[str], numbers: set[str], rows: int, strict: bool
    ) -> Iterator[Batch]:
        self._missing, self._rows = dict.fromkeys(names, 0), 0
        for piece in self._reader.pieces(names, rows, strict=strict, last=True):
            columns = {
                name: piece.numbers(name) if name in numbers else piece.strings(name)
                for name in names
            }
            batch = Batch(columns, self._rows)
            for name, column in columns.items():
                self._missing[name] += _count_missing(column)
            self._rows += len(piece)
            yield batch


def _names(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _count_missing(column: Floats | Strings | Csr) -> int:
    if isinstance(column, Strings):
        return 0 if column.missing is None else int(column.missing.sum())
    return 0 if isinstance(column, Csr) else int(np.isnan(column).sum())
