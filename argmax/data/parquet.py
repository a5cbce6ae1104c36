"""Parquet files, by way of pyarrow: row group by row group, a few thousand rows at a time.

Strings are asked for as dictionaries, so that a value that repeats is held once until this module has
added up what the rows come to; what the pages claim to be is added up before Arrow sees them (``pages``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgmaxError, BadFile, MissingExtra, ResourceLimit
from ..records import Strings
from .cells import Cell
from .limits import FREE
from .pages import DELTA, pages
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
        wanted = list(columns)
        if nested := [name for name in wanted if name in self.fixed]:
            problem = "a column of lists or objects cannot be read."
            raise BadFile(problem, path=self._way.path, column=nested[0])
        self._way.origin.open(last).close()  # says so if the file has changed
        with _refusals(self._way.path), self._open(self._texts.intersection(wanted)) as file:
            first = 0
            for number in range(file.num_row_groups):
                group = file.metadata.row_group(number)
                most = min(rows, self._check_pages(group, wanted))
                end = first + group.num_rows
                for batch in file.iter_batches(most, [number], wanted, use_threads=False):
                    batch.validate(full=True)
                    for part in _cut(batch):
                        yield _ArrowPiece(self._way, part, first)
                        first += part.num_rows
                if first != end:
                    raise BadFile(f"{end - first:,} rows are missing.", path=self._way.path)

    def _open(self, texts: Sequence[str] | set[str] = ()) -> Any:
        try:
            from pyarrow import parquet
        except ImportError as error:
            raise MissingExtra(
                'a Parquet file needs pyarrow: pip install "argmax[io]", or write the table as CSV.'
            ) from error
        # Buffered, or Arrow would hold a whole column of a row group as it is stored.
        return parquet.ParquetFile(self._place, read_dictionary=sorted(texts), buffer_size=2**16)

    def _check_pages(self, group: Any, wanted: list[str]) -> int:
        """Refuse pages that together would not fit; return how many rows may be unpacked at a time."""
        stored = unpacked = longest = 0
        with open(self._place, "rb") as stream:
            for chunk in map(group.column, range(group.num_columns)):
                if chunk.path_in_schema in wanted:
                    held = _Held(stream, chunk)
                    stored += chunk.total_compressed_size
                    unpacked += held.unpacked
                    longest = max(longest, held.longest)
        self._way.limits.expansion(stored, unpacked, f"{self._way.path} (pages held at once)")
        return max(1, FREE // longest) if longest else ROWS


@final
class _Held:
    """What Arrow holds at a time of a column of a row group: a dictionary and one page.

    ``longest`` bounds the size of a single value where a page can hold many that are as long as itself.
    """

    def __init__(self, stream: Any, chunk: Any) -> None:
        start = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
            start = chunk.dictionary_page_offset
        data = other = self.longest = 0
        for page in pages(stream, start, chunk.total_compressed_size):
            if page.encoding is None:
                other = max(other, page.unpacked)
            else:
                data = max(data, page.unpacked)
            if page.encoding == DELTA:
                self.longest = max(self.longest, page.unpacked)
        self.unpacked = data + other


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
        column = self._batch.column(name)
        if not _is_numeric(column.type):
            return self._parsed(name, self.strings(name).tolist())
        with _refusals(self._way.path):
            values: NDArray[np.float64] = column.cast("float64", safe=False).to_numpy(False)
        wrong = np.flatnonzero(np.isinf(values))
        if len(wrong):
            raise self._not_a_number(name, int(wrong[0]), str(values[wrong[0]]))
        return values

    def strings(self, name: str) -> Strings:
        with _refusals(self._way.path):
            return self._measured(name, _strings(self._batch.column(name), self._way))

    def sample(self, name: str) -> Sequence[Cell] | NDArray[np.float64]:
        if _is_numeric(self._batch.column(name).type):
            return self.numbers(name)
        return self.strings(name).tolist()

    def _place(self, row: int) -> tuple[int | None, str]:
        return None, f"row {self._first + row + 1}: "


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
