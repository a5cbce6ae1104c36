"""Every check of what users pass, and its sentence. Nothing below this module checks again."""

from __future__ import annotations

import math
import numbers
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from .errors import (
    ArgmaxError,
    InvalidInput,
    NoLegalLabelling,
    NumericalFailure,
    ResourceLimit,
    WrongType,
)
from .kernels import compiled
from .records import Csr, Floats, Ints, Rows, Scores

__all__ = [
    "block",
    "choice",
    "class_factors",
    "class_weights",
    "comparable_labels",
    "compressed",
    "dense_rows",
    "edge_scores",
    "edge_tables",
    "finite",
    "is_label_matrix",
    "label_mask",
    "label_matrix",
    "labels",
    "magnitude",
    "memory",
    "node_pairs",
    "node_scores",
    "number",
    "positive_integer",
    "probabilities",
    "reach",
    "rows",
    "same_length",
    "sample_weight",
    "score_table",
    "sequence_offsets",
    "some_answer",
    "span_labels",
    "sparse_structure",
    "table",
    "targets",
    "total_weight",
]


@contextmanager
def _ours() -> Iterator[None]:
    """What scikit-learn and NumPy refuse, as our errors: their sentence, our code."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # ``finite`` and others look afterwards
            yield
    except ArgmaxError:
        raise
    except MemoryError as error:
        advice = "Pass fewer rows, float32, or a sparse matrix."
        raise ResourceLimit(f"{str(error) or 'Memory is full'}. {advice}") from error
    except (ValueError, OverflowError) as error:
        raise InvalidInput(str(error)) from error
    except TypeError as error:
        raise WrongType(str(error)) from error


# Parameters


def number(
    name: str, value: Any, low: float, high: float = math.inf, *, open_low: bool = False
) -> float:
    """A real number in [low, high], or (low, high] with ``open_low``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise WrongType(f"{name} must be a number; got {value!r}.")
    result = float(value)
    if math.isnan(result) or result > high or result < low or (open_low and result == low):
        kind = "greater than" if open_low else "at least"
        upper = "" if high == math.inf else f" and at most {high:g}"
        raise InvalidInput(f"{name} must be {kind} {low:g}{upper}; got {value!r}.")
    return result


def positive_integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise WrongType(f"{name} must be a whole number; got {value!r}.")
    if value < 1:
        raise InvalidInput(f"{name} must be at least 1; got {value}.")
    return int(value)


def choice(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    if not any(value is option or value == option for option in allowed):
        listed = ", ".join(repr(option) for option in allowed)
        raise InvalidInput(f"{name} must be one of {listed}; got {value!r}.")
    return value


# Scores


def node_scores(scores: Scores, k: int) -> Floats:
    if scores.node.ndim != 2 or scores.node.shape[1] != k:
        raise InvalidInput(
            f"scores.node must have shape (nodes, {k}) for this space; got {scores.node.shape}."
        )
    return scores.node


def sequence_offsets(scores: Scores) -> Ints:
    """Where each sequence starts (n + 1,); without offsets every node is a sequence of its own."""
    if scores.offsets is None:
        return np.arange(len(scores.node) + 1)
    offsets = np.asarray(scores.offsets)
    whole = offsets.ndim == 1 and offsets.size > 0 and offsets.dtype.kind in "iu"
    if not whole or offsets[0] != 0 or offsets[-1] != len(scores.node):
        raise InvalidInput(
            f"scores.offsets must be whole numbers from 0 to {len(scores.node)}, the number of nodes; "
            f"got {offsets!r}."
        )
    offsets = offsets.astype(np.int64)
    if (np.diff(offsets) < 0).any():
        at = int(np.argmax(np.diff(offsets) < 0))
        raise InvalidInput(f"scores.offsets must never fall; it does after entry {at}.")
    return offsets


def edge_scores(scores: Scores, states: int, k: int, edges: int) -> Floats:
    """Tables of transitions: one for all edges, or one for each of them."""
    edge = scores.edge
    if edge is None:
        return np.zeros((1, states, k))
    if edge.ndim != 3 or edge.shape[1:] != (states, k) or len(edge) not in (1, edges):
        raise InvalidInput(
            f"scores.edge must have shape (1, {states}, {k}), or ({edges}, {states}, {k}) with a table "
            f"for each of the {edges} edges; got {edge.shape}."
        )
    if not (edge < np.inf).all():
        raise NumericalFailure("scores.edge has NaN or +inf. Scale your features.")
    return edge


def node_pairs(edges: Any, example: Ints) -> Ints:
    """Edges (E, 2): two different nodes of one example each. Given the example of each node."""
    if edges is None:
        return np.empty((0, 2), np.int64)
    pairs = np.asarray(edges)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.size and pairs.dtype.kind not in "iu"):
        raise InvalidInput(
            f"edges must be pairs of whole numbers, (E, 2); got {pairs.dtype} of shape {pairs.shape}."
        )
    pairs = pairs.astype(np.int64)
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < len(example):
        raise InvalidInput(
            f"edges must name nodes 0 … {len(example) - 1}; got {pairs.min()} … {pairs.max()}."
        )
    left, right = pairs.T
    for wrong, problem in (
        (left == right, "joins a node with itself"),
        (example[left] != example[right], "joins nodes of two examples"),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InvalidInput(
                f"edges: edge {at}, {tuple(pairs[at].tolist())}, {problem}. Leave it out."
            )
    return pairs


def edge_tables(scores: Scores, k: int, edges: int) -> tuple[Floats, Ints]:
    """Tables (T, k, k) and the one that each edge uses (E,): one for all, for each edge, or of its kind."""
    kind = scores.edge_kind
    if scores.edge is None:
        return np.zeros((1, k, k)), np.zeros(edges, np.int64)
    tables = len(scores.edge) if scores.edge.ndim else 0
    if kind is None:
        shared = np.zeros(edges, np.int64) if tables == 1 else np.arange(edges)
        return edge_scores(scores, k, k, edges), shared
    kind = np.asarray(kind)
    whole = kind.shape == (edges,) and (kind.dtype.kind in "iu" or not edges)
    if not whole or (edges and not 0 <= kind.min() <= kind.max() < tables):
        raise InvalidInput(
            f"edge_kind must be {edges} whole numbers, one an edge, that name one of the {tables} tables of "
            f"scores.edge; got {kind!r}."
        )
    return edge_scores(scores, k, k, tables), kind.astype(np.int64)


def label_mask(allowed: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which labels each node may take: booleans (N, k)."""
    mask = np.asarray(allowed)
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise InvalidInput(
            f"allowed must be booleans of shape {shape}, one row a node and one column a label; got "
            f"{mask.dtype} of shape {mask.shape}."
        )
    return mask


def span_labels(labels: Any, spans: Any, k: int, offsets: Ints) -> tuple[Ints, Ints]:
    """Labels (N,) in 0 … k−1, and spans (m, 2) of nodes, none empty, each within one sequence."""
    labels, spans = np.asarray(labels), np.asarray(spans)
    if labels.shape != (offsets[-1],) or labels.dtype.kind not in "iu":
        raise InvalidInput(
            f"labels must be {offsets[-1]} whole numbers, one a node; got {labels!r}."
        )
    if len(labels) and not 0 <= labels.min() <= labels.max() < k:
        raise InvalidInput(f"labels must lie in 0 … {k - 1}; got {labels.min()} … {labels.max()}.")
    if spans.ndim != 2 or spans.shape[1] != 2 or spans.dtype.kind not in "iu":
        raise InvalidInput(
            f"spans must be pairs of whole numbers, (m, 2); got shape {spans.shape}."
        )
    start, stop = spans.T
    sequence = np.searchsorted(offsets, start, "right")
    good = (start >= 0) & (start < stop) & (start < offsets[-1])
    good &= stop <= offsets[np.minimum(sequence, len(offsets) - 1)]
    if not good.all():
        at = int(np.argmin(good))
        raise InvalidInput(
            f"spans must hold at least one node and stay within one sequence; span {at} is "
            f"{start[at]} … {stop[at]}."
        )
    return labels, spans


def some_answer(value: Floats) -> Floats:
    """Raise unless every example has an answer with a finite score."""
    finite = np.isfinite(value)
    if np.all(finite):
        return value
    first = int(np.argmin(finite)) if np.ndim(value) else 0
    if np.any(np.isneginf(value)):
        raise NoLegalLabelling(
            f"example {first} has no legal labelling: every answer has a score of −inf. "
            "Allow at least one label at each node, and one transition between neighbours."
        )
    raise NumericalFailure(f"the scores of example {first} are not finite. Scale your features.")


# Features


def sparse_structure(X: Any, name: str = "X") -> None:
    """Refuse a sparse matrix whose index arrays point outside it: C code would follow them."""
    if not sp.issparse(X):
        return
    if X.format in ("csr", "csc", "bsr"):
        problem = _broken_compressed(X)
    elif X.format in ("coo", "dia", "lil"):
        problem = {"coo": _broken_coo, "dia": _broken_dia, "lil": _broken_lil}[X.format](X)
    else:
        problem = None  # a dictionary of keys: SciPy itself checks them as it converts
    if problem:
        raise InvalidInput(
            f"{name} is a broken {X.format.upper()} matrix: {problem}. Build it again."
        )


def _broken_compressed(X: Any) -> str | None:
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
    return _outside(indices[: indptr[-1]], minor)


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


def _outside(indices: Ints, size: int) -> str | None:
    if len(indices) and (indices.min() < 0 or indices.max() >= size):
        at = int(np.argmax((indices < 0) | (indices >= size)))
        return f"entry {at} has index {indices[at]}, outside 0 … {size - 1}"
    return None


def finite(X: Rows) -> None:
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
        f"X contains {kind}: {int(bad.sum())} value(s), the first in row {i}, column {j}. "
        "Impute or remove them first (for example with sklearn.impute.SimpleImputer)."
    )


def rows(
    estimator: Any, X: Any, *, reset: bool, dtype: Any = None, finite_later: bool = False
) -> Rows:
    """X as rows ready for the kernels: C-ordered dense, or CSR, in float32 or float64.

    float32 stays float32 unless ``dtype`` says otherwise; every other type becomes float64. With
    ``finite_later`` the caller promises to look for NaN and infinity in what it computes from X.
    """
    _no_mask("X", X)
    kinds = [np.float64, np.float32] if dtype is None else np.dtype(dtype)
    with _ours():
        sparse_structure(X)
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
        result: Rows = compressed(X, sum_duplicates=reset) if sp.issparse(X) else X
    if not finite_later:
        finite(result)
    return result


def dense_rows(estimator: Any, X: Any, *, reset: bool) -> Floats:
    """X as dense float64 rows without NaN or infinity, for models whose arithmetic is on whole matrices."""
    _no_mask("X", X)
    with _ours():
        result: Floats = validate_data(
            estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=False
        )
    finite(result)
    return result


def block(X: Any, dtype: Any = None) -> Rows:
    """The same for some rows of a larger set, before there is an estimator. They may be none."""
    _no_mask("X", X)
    kinds = [np.float64, np.float32] if dtype is None else np.dtype(dtype)
    with _ours():
        sparse_structure(X)
        X = check_array(
            X,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=kinds,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
        return compressed(X) if sp.issparse(X) else X


def table(X: Any) -> Floats:
    """X (n, d) as numbers in which NaN is a missing value; whoever scales them refuses infinity."""
    _no_mask("X", X)
    with _ours():
        result: Floats = check_array(X, dtype=np.float64, ensure_all_finite=False)
    return result


def compressed(X: Any, sum_duplicates: bool = True) -> Csr:
    """A scipy CSR matrix as our record: duplicates summed, indices 32 bits wide where they fit."""
    used = int(X.indptr[-1])  # SciPy allows a tail that no row uses
    kind = np.int32 if max(X.shape[1], used) < 2**31 else np.int64
    result = Csr(
        X.indptr.astype(kind, copy=False),
        X.indices[:used].astype(kind, copy=False),
        np.ascontiguousarray(X.data[:used]),
        X.shape[1],
    )
    if sum_duplicates and _has_duplicates(result):
        X = X.copy()
        X.has_canonical_format = X.has_sorted_indices = False  # whatever somebody set or left there
        X.sum_duplicates()
        return compressed(X, sum_duplicates=False)
    return result


def _has_duplicates(rows: Csr) -> bool:
    if compiled(rows.entries) and rows.width <= rows.entries:
        from .kernels import structure

        return bool(structure.has_duplicates(rows.indptr, rows.indices, rows.width))
    X = sp.csr_array((rows.indices, rows.indices, rows.indptr), shape=rows.shape)
    return not (X if X.has_sorted_indices else X.sorted_indices()).has_canonical_format


def _no_mask(name: str, values: Any) -> None:
    if np.ma.is_masked(values):
        raise InvalidInput(
            f"{name} is a masked array with {int(np.ma.getmaskarray(values).sum())} masked value(s), "
            "which would be used as if they were not masked. Fill or remove them first."
        )


CHUNK = 2**20
"""Values looked at together: 8 MB, which the last-level cache holds for the second look."""


def magnitude(X: Rows, run: Callable[[Callable[[int], Any], int], list[Any]]) -> None:
    """Refuse NaN, infinity, and values whose squares would overflow into silent nonsense.

    ``run`` computes the pieces, side by side if it can (``Threads.run``).
    """
    values = X.values if isinstance(X, Csr) else X
    if values is None or not values.size:
        return
    flat = values.reshape(-1)  # C-ordered: a view

    def largest(piece: int) -> float:
        chunk = flat[piece * CHUNK : (piece + 1) * CHUNK]
        return float(np.maximum(chunk.max(), -chunk.min()))  # NaN wins over every number

    top = float(np.max(run(largest, -(-flat.size // CHUNK))))
    if not math.isfinite(top):
        finite(X)
    reach(top, values.dtype)


def reach(top: float, dtype: np.dtype[Any]) -> None:
    """Refuse values up to ``top`` if their squares would overflow into silent nonsense."""
    if top > (1e12 if dtype == np.float32 else 1e70):
        raise InvalidInput(
            f"X has values up to {top:.3g}; squares and sums of them overflow. "
            "Scale your features, for example with sklearn.preprocessing.MaxAbsScaler."
        )


def total_weight(C: float, weight: Floats) -> None:
    """Refuse weights whose sum, times C, would overflow."""
    with np.errstate(over="ignore"):
        total = float(weight.sum()) * (1.0 if math.isinf(C) else C)
    if not total <= 1e100:
        raise InvalidInput(
            f"C times the sum of the weights of the rows must be at most 1e100; got {total:.3g}. "
            "Use smaller weights or a smaller C."
        )


# Labels and weights


def labels(estimator: Any, y: Any, n: int) -> tuple[Any, Ints]:
    """The sorted classes, and for each row the position of its class among them."""
    _no_mask("y", y)
    with _ours():
        given, y = y, column_or_1d(y, warn=True)
        lengths(X=n, y=len(y))
        if isinstance(given, (list, tuple)) and y.dtype.kind in "SU":
            _known_labels(np.asarray(given, dtype=object).ravel())  # before 1 and "1" became equal
        y = _known_labels(y)
        if y.dtype.kind in "iu" and len(y):
            return _counted(y)
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.intp, copy=False)


def _counted(y: Any) -> tuple[Any, Ints]:
    """``np.unique`` of whole numbers with its inverse; those near each other are counted, not sorted."""
    low = y.min()
    if int(y.max()) - int(low) >= len(y):
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes.astype(np.intp, copy=False)
    codes = (y - low if y.dtype.itemsize == 8 else y.astype(np.intp) - int(low)).astype(np.intp)
    present = np.bincount(codes) > 0
    np.take(np.cumsum(present) - 1, codes, out=codes)
    return (np.flatnonzero(present).astype(y.dtype) + low).astype(y.dtype), codes


def is_label_matrix(y: Any) -> bool:
    """Whether y says of several labels which apply, instead of naming one a row."""
    if sp.issparse(y):
        return True
    shape = np.asarray(y).shape
    return len(shape) == 2 and shape[1] > 1


def label_matrix(y: Any, n: int, k: int | None = None) -> Ints:
    """Labels (n, k) of zeros and ones, dense, from a dense or sparse matrix of them."""
    _no_mask("y", y)
    with _ours():
        if sp.issparse(y):
            sparse_structure(y, "y")
        given = y.toarray() if sp.issparse(y) else np.asarray(y)
        lengths(X=n, y=len(given))
        wrong = ~np.isin(given, (0, 1))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InvalidInput(
            f"y must hold zeros and ones, one column a label; got {given[at]!r} in row {at[0]}, column "
            f"{at[1]}."
        )
    if k is not None and given.shape[1] != k:
        raise InvalidInput(
            f"y must have {k} columns, one a label of the fit; got {given.shape[1]}."
        )
    return given.astype(np.int64)


def targets(y: Any, n: int) -> Floats:
    """A finite number for each row."""
    _no_mask("y", y)
    with _ours():
        column = column_or_1d(y, warn=True)
        if column.dtype.kind == "c":
            raise InvalidInput("Complex data not supported: y must hold real numbers.")
        result = np.asarray(column, dtype=float)
    lengths(X=n, y=len(result))
    bad = ~np.isfinite(result)
    if bad.any():
        raise InvalidInput(
            f"y contains NaN or infinity: {int(bad.sum())} value(s), the first in row "
            f"{int(np.argmax(bad))}. Every target must be finite."
        )
    return result


def _known_labels(y: Any) -> Any:
    """y; whole numbers held as objects become numbers. Raises where a value cannot name a class."""
    if y.dtype.kind == "O":
        values = y.tolist()
        kind = str if isinstance(values[0], str) else numbers.Integral
        wrong = np.array([not isinstance(value, kind) for value in values])
        y = y if kind is str or wrong.any() else np.array(values)
    elif y.dtype.kind == "f":
        wrong = ~np.isfinite(y) | (y != np.floor(y))
    elif y.dtype.kind in "mM":
        wrong = np.isnat(y)
    else:
        wrong = np.full(len(y), y.dtype.kind in "cS")
    if wrong.any():
        at = int(np.argmax(wrong))
        beside = f", beside {y.tolist()[0]!r} in row 0" if at and y.dtype.kind == "O" else ""
        raise InvalidInput(
            f"Unknown label type: y holds {y[at : at + 1].tolist()[0]!r} in row {at}{beside}. Labels must "
            "be all strings or all whole numbers, without None, NaN, fractions or bytes."
        )
    return y


def comparable_labels(**named: Any) -> list[Any]:
    """Each list of labels as a 1-D array; all of them strings, or all of them whole numbers."""
    arrays = []
    for name, values in named.items():
        _no_mask(name, values)
        with _ours():
            values = column_or_1d(values)
            if not len(values):
                raise InvalidInput(f"{name} is empty. Pass at least one label.")
            arrays.append(_known_labels(values))
        if name == "classes" and len(np.unique(arrays[-1])) < len(values):
            raise InvalidInput("classes names a label twice. Each class needs a label of its own.")
    names, texts = list(named), [array.dtype.kind in "UTO" for array in arrays]
    if len(set(texts)) > 1:
        text, whole = names[texts.index(True)], names[texts.index(False)]
        raise InvalidInput(
            f"{text} holds strings but {whole} numbers, so that no label equals another. "
            "Convert one of them, for example with .astype(str)."
        )
    return arrays


def probabilities(values: Any, n: int, k: int) -> Floats:
    """A table (n, k) of finite probabilities whose rows sum to 1 within 0.001."""
    with _ours():
        table = np.asarray(values, dtype=float)
    if table.shape != (n, k):
        raise InvalidInput(
            f"probabilities must have shape ({n}, {k}), one row a label of the truth and one column a class; "
            f"got {table.shape}."
        )
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(table.sum(axis=1) - 1.0) <= 1e-3) | ~(table.min(axis=1) >= 0.0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InvalidInput(
            f"probabilities must be 0 or more and sum to 1 in each row; row {at} has the sum "
            f"{table[at].sum():g} and the least value {table[at].min():g}. Pass what predict_proba returns."
        )
    return table


def score_table(values: Any) -> Floats:
    """Finite scores (n, k) of at least two classes; (n,) are the lead of the second of two, halved."""
    _no_mask("scores", values)
    with _ours():
        table = np.asarray(values, dtype=float)
    if table.ndim == 1:
        table = np.multiply.outer(table, [-0.5, 0.5])
    if table.ndim != 2 or table.shape[1] < 2:
        raise InvalidInput(
            f"scores must have shape (n, k), one column for each of two or more classes, or (n,) for two "
            f"classes; got {table.shape}."
        )
    with np.errstate(invalid="ignore", over="ignore"):
        quick = np.isfinite(table.sum())
    if not quick and not np.isfinite(table).all():
        at = int(np.argmin(np.isfinite(table).all(axis=1)))
        raise InvalidInput(f"scores must be finite; row {at} holds NaN or infinity.")
    return table


def lengths(**named: int) -> None:
    if len(set(named.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in named.items())
        raise InvalidInput(
            f"inconsistent numbers of samples: {listed}. Each row needs one of each."
        )


def same_length(**named: Any) -> None:
    """Raise, with all lengths, unless everything that has a length has the same."""
    found = {}
    for name, values in named.items():
        try:
            found[name] = len(values)
        except TypeError:  # None, or one number for all rows
            continue
    lengths(**found)


def sample_weight(
    weight: Any, n: int, all_zero: bool = False, name: str = "sample_weight"
) -> Floats:
    """A finite weight ≥ 0 for each row; some must be positive, unless ``all_zero`` is fine."""
    if weight is None:
        return np.ones(n)
    if isinstance(weight, numbers.Real):
        weight = np.full(n, float(weight))
    _no_mask(name, weight)
    with _ours():
        given = np.asarray(weight)
        if given.dtype.kind == "c":
            raise WrongType(f"{name} must hold real numbers; got complex ones.")
        result = np.array(given, dtype=float)
    if result.ndim != 1:
        raise InvalidInput(f"Sample weights must be 1D array or scalar; got shape {result.shape}.")
    lengths(**{"X": n, name: len(result)})
    bad = ~np.isfinite(result)
    if bad.any():
        raise InvalidInput(
            f"{name} contains NaN or infinity: {int(bad.sum())} value(s), the first in row "
            f"{int(np.argmax(bad))}. Every weight must be finite."
        )
    if (result < 0).any():
        at = int(np.argmax(result < 0))
        raise InvalidInput(
            f"{name} must not be negative; got {result[at]:g} at row {at}. Negative values in "
            "data passed as sample weights have no meaning in a loss."
        )
    if not result.any() and not all_zero:
        raise InvalidInput("sample_weight is zero everywhere: no row is left to learn from.")
    return result


def class_weights(setting: Any, classes: Any, codes: Ints, weight: Floats) -> Floats:
    """Weights of the rows, multiplied by the weights of their classes."""
    if setting is None:
        return weight
    totals = np.bincount(codes, weights=weight, minlength=len(classes)).astype(float)
    factors = class_factors(setting, classes, totals)
    with np.errstate(over="ignore"):  # ``magnitude`` refuses what overflows
        result: Floats = weight * factors[codes]
    return result


def class_factors(setting: Any, classes: Any, totals: Floats) -> Floats:
    """What the weights of each class are multiplied by (k,), given their totals."""
    if setting is None:
        return np.ones(len(classes))
    if isinstance(setting, str):
        choice("class_weight", setting, ("balanced",))
        present = totals > 0  # a class whose rows have no weight is not there, and is not counted
        shares = present.sum() * np.where(present, totals, 1.0)
        return np.asarray(totals[present].sum() / shares)
    if not isinstance(setting, Mapping):
        raise WrongType(f"class_weight must be None, 'balanced' or a dict; got {setting!r}.")
    known = dict(zip(classes.tolist(), range(len(classes)), strict=True))
    if absent := [label for label in setting if label not in known]:
        raise InvalidInput(
            f"class_weight names {_listed(absent)}, which y does not have. "
            f"Remove them; the classes of y are {_listed(list(known))}."
        )
    factors = np.ones(len(classes))
    for label, value in setting.items():
        factors[known[label]] = number(f"class_weight[{label!r}]", value, 0.0, sys.float_info.max)
    return factors


def _listed(labels: list[Any]) -> str:
    return ", ".join(map(repr, labels[:10])) + (", …" if len(labels) > 10 else "")


# Resources


TRIFLE = 2**24
"""Bytes that are not worth a look at what is free: looking takes longer than tagging a sentence."""


def memory(needed: float, what: str, advice: str) -> None:
    """Refuse work that cannot fit, before it starts."""
    if needed <= TRIFLE:
        return
    available = available_memory()
    if needed > available:
        raise ResourceLimit(
            f"{what} needs about {needed / 2**30:.2f} GiB but {available / 2**30:.2f} GiB are "
            f"available. {advice}"
        )


def available_memory() -> float:
    """Bytes this process may still take: physical memory, control group and address-space limit."""
    limits = [math.inf]
    try:
        with open("/proc/meminfo") as lines:
            fields = dict(line.split(":") for line in lines)
        limits.append(1024.0 * float(fields["MemAvailable"].split()[0]))
        with open("/proc/self/statm") as line:
            pages = line.read().split()
        page = os.sysconf("SC_PAGE_SIZE")
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            limits.append(soft - page * float(pages[0]))
        with open("/sys/fs/cgroup/memory.max") as line:
            group = line.read().strip()
        if group != "max":
            limits.append(float(group) - page * float(pages[1]))
    except (OSError, ImportError, KeyError, ValueError):
        pass  # not Linux, or a container without these files: the limits found so far hold
    return max(min(limits), 0.0)
