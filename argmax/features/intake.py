"""Whatever holds a table, as named columns: numbers with NaN for missing, Strings, or Csr.

form        from
"texts"     a list, array or Series of strings: one column
"array"     a 2-D array: columns x0, x1, …
"frame"     pandas, polars, pyarrow, or anything with ``columns`` and ``frame[name].to_numpy()``
"mapping"   a dict of columns, or a Batch
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import checks
from ..errors import InvalidInput, WrongType
from ..records import Batch, Csr, Floats, Strings
from .kinds import is_number

__all__ = ["Sheet", "as_numbers", "as_strings", "missing_in", "sheet"]

Column = Floats | Strings | Csr


@dataclass(frozen=True, slots=True)
class Sheet:
    """Columns of one length by name; ``matrix`` is the 2-D array they came from, if they did."""

    columns: dict[str, Column]
    rows: int
    form: str
    matrix: Floats | None = None


def sheet(X: Any) -> Sheet:
    """X as named columns, whatever holds it.

    >>> from argmax.features.intake import sheet
    >>> sheet({"size": [1, None], "city": ["Rome", "Oslo"]}).columns["size"]
    array([ 1., nan])
    >>> list(sheet([[1.0, 2.0]]).columns), list(sheet(["some text"]).columns)
    (['x0', 'x1'], ['text'])
    """
    if sp.issparse(X):  # first: a dictionary of keys is a Mapping
        raise WrongType(
            "Sparse data was passed for X. It holds numbers already and needs no Table: give it to the "
            "estimator, or pass X.toarray()."
        )
    if isinstance(X, Batch):
        return _sheet({name: _checked(name, column) for name, column in X.columns.items()})
    if isinstance(X, Strings):
        return _texts("text", _checked("text", X))
    if isinstance(X, Mapping):
        return _sheet({str(name): _column(str(name), values) for name, values in X.items()})
    if (names := _frame_names(X)) is not None:
        return _sheet({str(name): _column(str(name), X[name]) for name in names}, "frame")
    return _from_array(X)


def _frame_names(X: Any) -> list[Any] | None:
    """The names of a frame's columns; None if X is no frame."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    # pyarrow's ``columns`` are the columns themselves, and their names are elsewhere.
    names = X.column_names if any(hasattr(column, "to_numpy") for column in columns) else columns
    listed, seen = list(names), set[str]()
    for name in map(str, listed):
        if name in seen:
            raise InvalidInput(f"X has more than one column named '{name}'. Rename them.")
        seen.add(name)
    return listed


def _sheet(columns: dict[str, Column], form: str = "mapping") -> Sheet:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"'{name}' has {n}" for name, n in list(lengths.items())[:10])
        raise InvalidInput(f"columns of X differ in length: {listed}. Each needs one value a row.")
    return Sheet(columns, next(iter(lengths.values()), 0), form)


def _texts(name: str, column: Column) -> Sheet:
    return Sheet({name: column}, len(column), "texts")


def _from_array(X: Any) -> Sheet:
    if isinstance(X, str | bytes):
        raise WrongType("X is one string. Pass a list of strings, one for each row.")
    array = X if isinstance(X, np.ndarray) else _values(X)
    if array.ndim == 1 and array.dtype.kind in "OUT" and _has_string(array):
        name = getattr(X, "name", None)
        return _texts(name if isinstance(name, str) and name else "text", _column("text", array))
    if array.ndim == 2 and array.dtype.kind in "OUT" and _has_string(array.ravel()):
        columns = {f"x{j}": _column(f"x{j}", array[:, j]) for j in range(array.shape[1])}
        return _sheet(columns, "array")
    matrix = checks.table(X)
    columns = {f"x{j}": matrix[:, j] for j in range(matrix.shape[1])}
    return Sheet(columns, len(matrix), "array", matrix)


def _has_string(array: Any) -> bool:
    return array.dtype.kind in "UT" or any(isinstance(value, str) for value in array)


def _values(given: Any) -> Any:
    """An array of what a list or a Series holds; mixed and missing values stay objects."""
    if callable(convert := getattr(given, "to_numpy", None)):
        return np.asarray(convert())
    items = list(given) if isinstance(given, Sequence) else given
    if isinstance(items, list) and any(isinstance(item, str) or item is None for item in items):
        array = np.empty(len(items), object)
        array[:] = items
        return array
    try:
        return np.asarray(items)
    except ValueError as error:
        raise InvalidInput(f"X is no table: {error}") from error


# Columns


def _column(name: str, values: Any) -> Column:
    if isinstance(values, Strings | Csr):
        return _checked(name, values)
    if isinstance(values, str | bytes):
        raise WrongType(f"column '{name}' is one string. Pass a list of strings, one for each row.")
    array = values if isinstance(values, np.ndarray) else _values(values)
    if array.ndim != 1:
        raise InvalidInput(f"column '{name}' must be one-dimensional; got shape {array.shape}.")
    kind = array.dtype.kind
    if kind in "biuf":
        return array.astype(np.float64, copy=False)
    if kind in "mM":
        seconds = array.astype(f"{kind}8[s]").astype(np.float64)
        seconds[np.isnat(array)] = np.nan
        return seconds
    if kind in "OUT":
        return _from_objects(name, array.tolist())
    raise WrongType(
        f"column '{name}' has type {array.dtype}; it must hold numbers or strings. Complex data "
        "not supported, and bytes need decoding."
    )


def _from_objects(name: str, values: list[Any]) -> Floats | Strings:
    kinds = {type(value) for value in values}
    if not kinds <= {str, type(None)}:
        values = [_plain(name, row, value) for row, value in enumerate(values)]
        if not any(isinstance(value, str) for value in values):
            return np.array([np.nan if value is None else value for value in values], np.float64)
        values = [value if isinstance(value, str | None) else written(value) for value in values]
    try:
        return Strings.of(values)
    except UnicodeEncodeError as error:
        row = next(i for i, value in enumerate(values) if value and not _encodes(value))
        raise InvalidInput(
            f"column '{name}', row {row}: the string has a lone surrogate ({error.reason}), which "
            "no text has. Read the file with its own encoding."
        ) from error


def _encodes(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _plain(name: str, row: int, value: Any) -> str | float | None:
    """A string, a number, or None for whatever means missing: None, NaN, NaT, pandas' NA."""
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, numbers.Real | Decimal | np.bool_):
        number = float(value)
        return None if np.isnan(number) else number
    raise WrongType(
        f"column '{name}', row {row} holds {value!r}; the argument must be a string or a number, "
        "or None for a missing value."
    )


def _checked(name: str, column: Column) -> Column:
    """A column of a Batch, looked at before kernels follow its offsets."""
    if isinstance(column, Strings):
        offsets, size = column.offsets, len(column.data)
        if len(offsets) < 1 or offsets[0] < 0 or offsets[-1] > size or np.any(np.diff(offsets) < 0):
            raise InvalidInput(f"column '{name}' is broken: offsets must rise within its bytes.")
        if column.missing is not None and (
            len(column.missing) != len(column) or np.diff(offsets)[column.missing].any()
        ):
            raise InvalidInput(f"column '{name}' is broken: missing must mark rows, empty ones.")
        return column
    if isinstance(column, Csr):
        checks.sparse_structure(sparse(column), f"column '{name}'")
        return column
    return _column(name, column)


def sparse(column: Csr) -> Any:
    """A Csr column as a SciPy array that shares its memory."""
    low, high = int(column.indptr[0]), int(column.indptr[-1])
    if not 0 <= low <= high <= len(column.indices):
        raise InvalidInput("a sparse column is broken: indptr points outside its indices.")
    values = np.ones(high - low) if column.values is None else column.values[low:high]
    X = sp.csr_array(column.shape)
    X.data, X.indices, X.indptr = values, column.indices[low:high], column.indptr - low
    return X


# A column as the other kind: what a user asked for, or what another file held


def as_numbers(name: str, column: Column) -> Floats:
    """Numbers (n,); strings are read as numbers."""
    if isinstance(column, Csr):
        raise InvalidInput(f"column '{name}' is sparse: many columns, not one of numbers.")
    if isinstance(column, np.ndarray):
        return column
    values = column.tolist()
    result = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if value is None or not value.strip():
            continue
        if not is_number(value):
            raise InvalidInput(
                f"column '{name}' is a column of numbers, but row {row} holds {value[:40]!r}. Mend the "
                f"value, or fit with kinds={{'{name}': 'category'}}."
            )
        result[row] = float(value)
    return result


def as_strings(name: str, column: Column) -> Strings:
    """Strings; numbers are written as briefly as they can be (3, 2.5), NaN is missing."""
    if isinstance(column, Csr):
        raise InvalidInput(f"column '{name}' is sparse: many columns, not one of strings.")
    if isinstance(column, Strings):
        return column
    values, codes = np.unique(column, return_inverse=True)
    texts = [None if np.isnan(value) else written(value) for value in values.tolist()]
    return Strings.of([texts[code] for code in codes.tolist()])


def missing_in(strings: Strings) -> int:
    """How many of the strings are missing."""
    return 0 if strings.missing is None else int(strings.missing.sum())


def written(number: float) -> str:
    """A number as a category: 3 and not 3.0."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
