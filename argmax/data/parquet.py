"""Parquet files, by way of pyarrow: row group by row group, a few thousand rows at a time.

Strings are asked for as dictionaries, so that a value that repeats is held once until this module has
added up what the rows come to; what the pages claim to be is added up before Arrow sees them (``pages``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, final

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgmaxError, BadFile, MissingExtra, ResourceLimit
from ..records import Strings
from .cells import Cell
from .limits import FREE
from .pages import DELTA, DELTA_LENGTH, Chunk, RowGroup, pages, row_groups
from .readers import Piece, Reader, Way, unique_names

__all__ = ["Parquet"]

ROWS = 8192
"""Rows that Arrow unpacks at a time."""


@contextmanager
def _refusals(path: str) -> Iterator[None]:
    """What pyarrow refuses, as our error."""
    try:
        yield
    except ArgmaxError:
        raise
    except MemoryError as error:
        raise ResourceLimit(f"{path}: memory is full ({error}).") from error
    except (OSError, ValueError, ArithmeticError, LookupError, NotImplementedError) as error:
        said = str(error).strip().rstrip(".")
        problem = f"this Parquet file is damaged or cut off ({said}). Fetch or write it again."
        raise BadFile(problem, path=path) from error


@final
class Parquet(Reader):
    """The columns of a Parquet file. Those that hold lists or structs are ignored."""

    def __init__(self, way: Way) -> None:
        self._way, self._place = way, way.origin.on_disk(way.limits).place
        with _refusals(way.path), self._open() as found:
            schema = found.schema_arrow
            self.names = unique_names(schema.names, way)
            self.fixed = {field.name: "ignore" for field in schema if _is_nested(field.type)}
            self._texts = {field.name for field in schema if _is_text(field.type)}

    def pieces(
        self, columns: Sequence[str], rows: int, *, strict: bool = False, last: bool = False
    ) -> Iterator[Piece]:
        if nested := [name for name in columns if name in self.fixed]:
            problem = "a column of lists or objects cannot be read."
            raise BadFile(problem, path=self._way.path, column=nested[0])
        first = 0
        with _refusals(self._way.path), self._way.origin.open(last) as stream, self._open() as file:
            for number, group in enumerate(row_groups(stream)):
                held = self._held(stream, group, set(columns))
                texts = [
                    name for name, column in held.items() if column.coded and name in self._texts
                ]
                most = min([rows, *(column.rows for column in held.values())])
                end = first + group.rows
                with self._open(texts, file.metadata) as reader:
                    for batch in reader.iter_batches(most, [number], columns, use_threads=False):
                        batch.validate(full=True)
                        for part in _cut(batch):
                            yield _ArrowPiece(self._way, part, first)
                            first += part.num_rows
                if first != end:
                    raise BadFile("a row group has too few rows, or too many.", path=self._way.path)

    def _held(self, stream: BinaryIO, group: RowGroup, wanted: set[str]) -> dict[str, _Held]:
        """What Arrow will hold of each column of a row group, unless all of it is too much."""
        chunks = [chunk for chunk in group.chunks if chunk.name in wanted]
        held = {chunk.name: _Held(stream, chunk) for chunk in chunks}
        stored = sum(chunk.size for chunk in chunks)
        unpacked = sum(column.unpacked for column in held.values())
        self._way.limits.expansion(stored, unpacked, f"{self._way.path} (pages held at once)")
        return held

    def _open(self, texts: Sequence[str] = (), metadata: Any = None) -> Any:
        try:
            from pyarrow import parquet
        except ImportError as error:
            raise MissingExtra(
                'a Parquet file needs pyarrow: pip install "argmax[io]", or write the table as CSV.'
            ) from error
        # Buffered, or Arrow would hold a whole column of a row group as it is stored.
        return parquet.ParquetFile(
            self._place, metadata=metadata, read_dictionary=texts, buffer_size=2**16
        )


@final
class _Held:
    """What Arrow holds at a time of a column of a row group: a dictionary and one page.

    ``coded`` says that Arrow can leave the values in the dictionary. Where it cannot, a page can hold
    any number of values as long as itself, and only ``rows`` of them may be unpacked at a time.
    """

    def __init__(self, stream: BinaryIO, chunk: Chunk) -> None:
        largest: dict[int | None, int] = {}  # by encoding
        for page in pages(stream, chunk):
            largest[page.encoding] = max(largest.get(page.encoding, 0), page.unpacked)
        dictionary = largest.pop(None, 0)
        self.unpacked = dictionary + max(largest.values(), default=0)
        self.coded = DELTA not in largest and DELTA_LENGTH not in largest
        longest = max(dictionary, largest.get(DELTA, 0))
        self.rows = ROWS if self.coded else max(1, min(ROWS, FREE // max(1, longest)))


def _cut(batch: Any) -> Iterator[Any]:
    """The batch in parts, none of which grows beyond ``FREE`` when dictionaries are written out."""
    import pyarrow.compute as pc

    sizes = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        if _is_coded(column.type):
            lengths = pc.binary_length(column.dictionary).fill_null(0).to_numpy()
            codes = column.indices.fill_null(0).to_numpy()
            sizes += lengths[codes] if len(lengths) else 0
    start = 0
    while start < batch.num_rows:
        stop = start + int(np.searchsorted(np.cumsum(sizes[start:]), FREE, side="right"))
        stop = max(stop, start + 1)
        yield batch.slice(start, stop - start)
        start = stop


@final
class _ArrowPiece(Piece):
    """A record batch. ``first`` is the number of its first row in the file, from 0."""

    def __init__(self, way: Way, batch: Any, first: int) -> None:
        self._way, self._batch, self._first = way, batch, first

    def __len__(self) -> int:
        return int(self._batch.num_rows)

    @property
    def weight(self) -> int:
        return int(self._batch.nbytes)

    def numbers(self, name: str) -> NDArray[np.float64]:
        if not _is_numeric(self._batch.column(name).type):
            return self._parsed(name, self.strings(name).tolist())
        values = self._floats(name)
        wrong = np.flatnonzero(np.isinf(values)).tolist()
        if wrong:
            advice = f"Write null instead, or pass kinds={{{name!r}: 'category'}}."
            raise self._not_a_number(name, wrong[0], str(values[wrong[0]]), advice)
        return values

    def strings(self, name: str) -> Strings:
        try:
            return self._measured(name, _strings(self._batch.column(name), self._way))
        except (ValueError, NotImplementedError) as error:
            problem = (
                f"the column cannot be read as text ({error}). Pass kinds={{{name!r}: 'ignore'}}."
            )
            raise BadFile(problem, path=self._way.path, column=name) from error

    def sample(self, name: str) -> Sequence[Cell] | NDArray[np.float64]:
        numeric = _is_numeric(self._batch.column(name).type)
        return self._floats(name) if numeric else self.strings(name).tolist()

    def _floats(self, name: str) -> NDArray[np.float64]:
        with _refusals(self._way.path):
            values = self._batch.column(name).cast("float64", safe=False)
            return np.asarray(values.to_numpy(zero_copy_only=False))

    def _place(self, row: int) -> tuple[int | None, str]:
        return None, f"row {self._first + row + 1}"


def _strings(column: Any, way: Way) -> Strings:
    """An Arrow column as Strings, without a Python object for each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if _is_coded(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    text = column.cast(pa.large_string())
    tokens = pa.array(way.cells.missing, pa.large_string())
    gone = pc.or_(text.is_null(), pc.is_in(pc.utf8_trim_whitespace(text), tokens))
    missing = gone.to_numpy(False)
    if missing.any():
        text = pc.if_else(gone, pa.scalar("", pa.large_string()), text)
    _, offsets, data = text.buffers()
    return Strings(
        np.frombuffer(data or b"", np.uint8),
        np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1],
        missing if missing.any() else None,
    )


def _is_numeric(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _is_coded(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_dictionary(kind)) and _is_text(kind.value_type)


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return any(is_kind(kind) for is_kind in (types.is_string, types.is_large_string)) or _is_coded(
        kind
    )


def _is_nested(kind: Any) -> bool:
    return bool(kind.num_fields) and not _is_coded(kind)
