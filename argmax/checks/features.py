"""Checks of rows of features."""

from __future__ import annotations

import math
from collections.abc import Callable, Set
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _num_samples, check_array, validate_data

from ..errors import InvalidInput, WrongType
from ..kernels import compiled
from ..records import Csr, Floats, Ints, Rows
from .parameters import float_type
from .refusals import as_ours, no_mask

__all__ = [
    "block",
    "compressed",
    "dense_rows",
    "finite",
    "given_rows",
    "magnitude",
    "matrix",
    "reach",
    "rows",
    "sparse_structure",
    "table",
    "total_weight",
]


Run = Callable[[Callable[[int], Any], int], list[Any]]
"""``Threads.run``: pieces of work, side by side if that can be."""


def _alone(piece: Callable[[int], Any], count: int) -> list[Any]:
    return [piece(i) for i in range(count)]


CHUNK = 2**20
"""Values looked at by one thread."""


def sparse_structure(X: Any, name: str = "X", run: Run = _alone) -> None:
    """Refuse a sparse matrix whose index arrays point outside it: C code would follow them."""
    if not sp.issparse(X):
        return
    if X.format in ("csr", "csc", "bsr"):
        problem = _broken_compressed(X, run)
    elif X.format in ("coo", "dia", "lil"):
        problem = {"coo": _broken_coo, "dia": _broken_dia, "lil": _broken_lil}[X.format](X)
    else:
        problem = None  # a dictionary of keys: SciPy itself checks them as it converts
    if problem:
        raise InvalidInput(
            f"{name} is a broken {X.format.upper()} matrix: {problem}. Build it again."
        )


def given_rows(X: Any, name: str = "X") -> Any:
    """X as it is: anything that has rows, for models that are not ours to read and check.

    Every function that hands rows to such a model, or picks some of them, asks here first: SciPy and other
    compiled code would follow the indices of a broken matrix out of its memory.
    """
    sparse_structure(X, name)
    counted = not isinstance(X, (str, bytes, Set))
    if counted:
        try:
            with as_ours():
                _num_samples(X)
        except WrongType:
            counted = False
    if not counted:
        raise WrongType(
            f"{name} must be an array, a table, a sparse matrix or a list, with one entry a row; got "
            f"{type(X).__name__}."
        )
    return X


def _broken_compressed(X: Any, run: Run) -> str | None:
    """What is wrong with a CSR, CSC or BSR matrix; None if nothing is."""
    indptr, indices, data = X.indptr, X.indices, X.data
    if not (_whole(indptr) and _whole(indices) and _array(data, 3 if X.format == "bsr" else 1)):
        return "indptr and indices must be 1-D arrays of whole numbers, data an array of numbers"
    block = data.shape[1:] or (1, 1)
    if 0 in block or X.shape[0] % block[0] or X.shape[1] % block[1]:
        return f"blocks of shape {block} do not fill the shape {X.shape}"
    major, minor = X.shape[0] // block[0], X.shape[1] // block[1]
    if X.format == "csc":
        major, minor = minor, major
    if len(indptr) != major + 1:
        return f"indptr has {len(indptr)} entries but must have {major + 1}"
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        return "indptr must start at 0 and never fall"
    if indptr[-1] > len(indices) or len(indices) != len(data):
        return f"indptr asks for {indptr[-1]} entries; indices has {len(indices)}, data {len(data)}"
    return _outside(indices[: indptr[-1]], minor, run)


def _broken_coo(X: Any) -> str | None:
    if not (_array(X.data, 1) and all(_whole(c) and len(c) == len(X.data) for c in X.coords)):
        return (
            "row, column and data must be 1-D arrays of one length, the first two of whole numbers"
        )
    found = (_outside(c, size) for c, size in zip(X.coords, X.shape, strict=True))
    return next((problem for problem in found if problem), None)


def _broken_dia(X: Any) -> str | None:
    if not (_whole(X.offsets) and _array(X.data, 2) and len(X.offsets) == len(X.data)):
        return "offsets must be a 1-D array of whole numbers, with one row of data for each"
    if len(X.offsets) and (min(X.offsets) <= -X.shape[0] or max(X.offsets) >= X.shape[1]):
        return f"offsets must lie between {1 - X.shape[0]} and {X.shape[1] - 1}"
    return None


def _broken_lil(X: Any) -> str | None:
    if not (len(X.rows) == len(X.data) == X.shape[0]):
        return f"rows has {len(X.rows)} entries and data {len(X.data)}, but the shape is {X.shape}"
    for i, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            return f"row {i} has {len(columns)} columns but {len(values)} values"
        if columns and (min(columns) < 0 or max(columns) >= X.shape[1]):
            return f"row {i} has a column outside 0 … {X.shape[1] - 1}"
    return None


def _array(values: Any, ndim: int) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == ndim and values.dtype.kind in "biufc"


def _whole(values: Any) -> bool:
    return _array(values, 1) and values.dtype.kind in "iu"


def _outside(indices: Ints, size: int, run: Run = _alone) -> str | None:
    def inside(i: int) -> bool:
        some = indices[i * CHUNK : (i + 1) * CHUNK]
        return bool(some.min() >= 0 and some.max() < size)

    if not all(run(inside, -(-len(indices) // CHUNK))):
        at = int(np.argmax((indices < 0) | (indices >= size)))
        return f"entry {at} has index {indices[at]}, outside 0 … {size - 1}"
    return None


def finite(X: Rows, name: str = "X") -> None:
    """Raise, naming the first one, if X holds NaN or infinity."""
    values = X.values if isinstance(X, Csr) else X
    if values is None:
        return
    with np.errstate(invalid="ignore", over="ignore"):
        quick = np.isfinite(values.sum(dtype=float))  # one reduction, no temporary of the size of X
    if quick:
        return
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    at = int(np.argmax(bad))
    if isinstance(X, Csr):
        i, j = int(np.searchsorted(X.indptr, at, side="right")) - 1, int(X.indices[at])
    else:
        i, j = divmod(at, X.shape[1])
    kind = "NaN" if np.isnan(values).any() else f"infinity (inf, or too large for {values.dtype})"
    raise InvalidInput(
        f"{name} contains {kind}: {int(bad.sum())} value(s), the first in row {i}, column {j}. "
        "Impute or remove them first (for example with sklearn.impute.SimpleImputer)."
    )


def rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    dtype: Any = None,
    finite_later: bool = False,
    run: Run | None = None,
) -> Rows:
    """X as rows ready for the kernels: C-ordered dense, or CSR, in float32 or float64.

    float32 stays float32 unless ``dtype`` says otherwise; every other type becomes float64. With
    ``finite_later`` the caller promises to look for NaN and infinity in what it computes from X.
    """
    no_mask("X", X)
    kinds, run = _kinds(dtype), run or _alone
    with as_ours():
        sparse_structure(X, run=run)
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=kinds,
            order="C",
            ensure_all_finite=False,
        )
        # Scores are sums over entries: only a fit, which also squares them, minds duplicates.
        result: Rows = compressed(X, reset, run) if sp.issparse(X) else X
    if not finite_later:
        finite(result)
    return result


def _kinds(dtype: Any) -> Any:
    """The types that rows keep: both, or the one that was asked for."""
    return [np.float64, np.float32] if dtype is None else float_type("dtype", dtype, "None, ")


def dense_rows(estimator: Any, X: Any, *, reset: bool) -> Floats:
    """X as dense float64 rows without NaN or infinity, for models whose arithmetic is on whole matrices."""
    no_mask("X", X)
    with as_ours():
        result: Floats = validate_data(
            estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=False
        )
    finite(result)
    return result


def block(X: Any, dtype: Any = None, name: str = "X") -> Rows:
    """The same for some rows of a larger set, before there is an estimator. They may be none."""
    no_mask(name, X)
    kinds = _kinds(dtype)
    with as_ours():
        sparse_structure(X, name)
        X = check_array(
            X,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=kinds,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=0,
            input_name=name,
        )
        return compressed(X) if sp.issparse(X) else X


def matrix(X: Any, name: str = "X") -> Any:
    """X (n, d) as finite numbers that can be multiplied and sliced: a dense array, or SciPy's CSR."""
    found = block(X, name=name)
    finite(found, name)
    if isinstance(found, Csr):
        return sp.csr_array((found.values, found.indices, found.indptr), shape=found.shape)
    return found


def table(X: Any) -> Floats:
    """X (n, d) as numbers in which NaN is a missing value; whoever scales them refuses infinity."""
    no_mask("X", X)
    with as_ours():
        result: Floats = check_array(X, dtype=np.float64, ensure_all_finite=False)
    return result


def compressed(X: Any, sum_duplicates: bool = True, run: Run = _alone) -> Csr:
    """A scipy CSR matrix as our record: duplicates summed, indices 32 bits wide where they fit."""
    used = int(X.indptr[-1])  # SciPy allows a tail that no row uses
    kind = np.int32 if max(X.shape[1], used) < 2**31 else np.int64
    result = Csr(
        X.indptr.astype(kind, copy=False),
        X.indices[:used].astype(kind, copy=False),
        np.ascontiguousarray(X.data[:used]),
        X.shape[1],
    )
    if sum_duplicates and _has_duplicates(result, run):
        X = X.copy()
        X.has_canonical_format = X.has_sorted_indices = False  # whatever somebody set or left there
        X.sum_duplicates()
        return compressed(X, sum_duplicates=False)
    return result


def _has_duplicates(rows: Csr, run: Run) -> bool:
    if compiled(rows.entries) and rows.width <= rows.entries:
        from ..kernels import structure

        count = -(-rows.entries // CHUNK)
        bounds = [len(rows) * i // count for i in range(count + 1)]
        pieces = [rows.indptr[a : b + 1] for a, b in pairwise(bounds)]
        if all(run(lambda i: structure.ascending(pieces[i], rows.indices), count)):
            return False  # the common case
        return bool(structure.has_duplicates(rows.indptr, rows.indices, rows.width))
    X = sp.csr_array((rows.indices, rows.indices, rows.indptr), shape=rows.shape)
    return not (X if X.has_sorted_indices else X.sorted_indices()).has_canonical_format


def magnitude(X: Rows, run: Run) -> None:
    """Refuse NaN, infinity, and values whose squares would overflow into silent nonsense."""
    values = X.values if isinstance(X, Csr) else X
    if values is None or not values.size:
        return
    flat = values.reshape(-1)  # C-ordered: a view
    largest = _largest
    if compiled(flat.size):
        from ..kernels import vectors

        largest = vectors.magnitude

    def piece(i: int) -> float:
        return float(largest(flat[i * CHUNK : (i + 1) * CHUNK]))

    top = float(np.max(run(piece, -(-flat.size // CHUNK))))  # NaN wins over every number
    if not math.isfinite(top):
        finite(X)
    reach(top, values.dtype)


def _largest(values: Floats) -> Any:
    return np.maximum(values.max(), -values.min())


def reach(top: float, dtype: np.dtype[Any], name: str = "X") -> None:
    """Refuse values up to ``top`` if their squares would overflow into silent nonsense."""
    if top > (1e12 if dtype == np.float32 else 1e70):
        raise InvalidInput(
            f"{name} has values up to {top:.3g}; squares and sums of them overflow. "
            "Scale your features, for example with sklearn.preprocessing.MaxAbsScaler."
        )


def total_weight(C: float, weight: Floats) -> None:
    """Refuse weights whose sum, times C, would overflow, or vanish in what is multiplied with it."""
    with np.errstate(over="ignore"):
        total = float(weight.sum()) * (1.0 if math.isinf(C) else C)
    if not 1e-300 <= total <= 1e100:
        more = "larger" if total < 1.0 else "smaller"
        raise InvalidInput(
            "C times the sum of the weights of the rows must be at least 1e-300 and at most 1e100; got "
            f"{total:.3g}. Use {more} weights or a {more} C."
        )
