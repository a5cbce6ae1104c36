"""Every check of what users pass, and its sentence. Nothing below this module checks again."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from .errors import InvalidInput, NoLegalLabelling, NumericalFailure, ResourceLimit, WrongType
from .records import Csr, Floats, Ints, Rows, Scores

__all__ = [
    "choice",
    "class_weights",
    "compressed",
    "finite",
    "labels",
    "magnitude",
    "memory",
    "node_scores",
    "number",
    "positive_integer",
    "rows",
    "sample_weight",
    "some_answer",
    "sparse_structure",
]


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
    """Refuse a CSR or CSC matrix whose index arrays point outside it: C code would follow them."""
    if not sp.issparse(X) or X.format not in ("csr", "csc"):
        return
    major, minor = X.shape if X.format == "csr" else X.shape[::-1]
    indptr, indices, data = X.indptr, X.indices, X.data
    problem = None
    if len(indptr) != major + 1:
        problem = f"indptr has {len(indptr)} entries but must have {major + 1}"
    elif indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        problem = "indptr must start at 0 and never fall"
    elif indptr[-1] > len(indices) or len(indices) != len(data):
        problem = (
            f"indptr asks for {indptr[-1]} entries; indices has {len(indices)}, data {len(data)}"
        )
    else:
        used = indices[: indptr[-1]]
        if len(used) and (used.min() < 0 or used.max() >= minor):
            at = int(np.argmax((used < 0) | (used >= minor)))
            problem = f"entry {at} has index {used[at]}, outside 0 … {minor - 1}"
    if problem:
        raise InvalidInput(
            f"{name} is a broken {X.format.upper()} matrix: {problem}. Build it again."
        )


def finite(X: Any) -> None:
    """Raise, naming the first one, if X holds NaN or infinity."""
    _finite_values(X if sp.issparse(X) else np.asarray(X, dtype=float))


def _finite_values(X: Any) -> None:
    values = X.data if sp.issparse(X) else X
    with np.errstate(invalid="ignore", over="ignore"):
        quick = np.isfinite(values.sum(dtype=float))  # one reduction, no temporary of the size of X
    if quick or np.isfinite(values).all():
        return
    bad = ~np.isfinite(values)
    if sp.issparse(X):
        coo = X.tocoo()
        i, j = int(coo.row[bad][0]), int(coo.col[bad][0])
    else:
        i, j = (int(part) for part in np.unravel_index(np.argmax(bad), bad.shape))
    kind = "NaN" if np.isnan(values).any() else "infinity (inf)"
    raise InvalidInput(
        f"X contains {kind}: {int(bad.sum())} value(s), the first in row {i}, column {j}. "
        "Impute or remove them first (for example with sklearn.impute.SimpleImputer)."
    )


def rows(estimator: Any, X: Any, *, reset: bool, dtype: Any = None, finite: bool = True) -> Rows:
    """X as rows ready for the kernels: C-ordered dense, or CSR, in float32 or float64.

    float32 stays float32 unless ``dtype`` says otherwise; every other type becomes float64. With
    ``finite`` False the caller promises to look for NaN and infinity in what it computes from X.
    """
    sparse_structure(X)
    kinds = [np.float64, np.float32] if dtype is None else np.dtype(dtype)
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
    if finite:
        _finite_values(X)
    return compressed(X) if sp.issparse(X) else X


def compressed(X: Any) -> Csr:
    """A scipy CSR matrix as our record: duplicates summed, indices 32 bits wide where they fit."""
    if not X.has_canonical_format and _has_duplicates(X):
        X = X.copy()
        X.sum_duplicates()
    small = max(X.shape[1], X.indptr[-1]) < 2**31
    kind = np.int32 if small else np.int64
    return Csr(
        X.indptr.astype(kind, copy=False),
        X.indices.astype(kind, copy=False),
        np.ascontiguousarray(X.data),
        X.shape[1],
    )


def _has_duplicates(X: Any) -> bool:
    if X.has_sorted_indices:
        ends = np.zeros(len(X.indices) + 1, bool)
        ends[X.indptr] = True
        return bool(np.any((X.indices[1:] == X.indices[:-1]) & ~ends[1:-1]))
    ordered = X.sorted_indices()
    return _has_duplicates(ordered)


def magnitude(X: Rows, C: float, weight: Floats) -> None:
    """Refuse values whose squares would overflow: a solver would return nonsense without a word."""
    values = X.values if isinstance(X, Csr) else X
    if values is None or values.size == 0:
        return
    # No temporaries of the size of X: minimum and maximum are reductions.
    largest = max(abs(float(values.max())), abs(float(values.min())))
    limit = 1e12 if values.dtype == np.float32 else 1e70
    if largest > limit:
        raise InvalidInput(
            f"X has values up to {largest:.3g}; squares and sums of them overflow. "
            "Scale your features, for example with sklearn.preprocessing.MaxAbsScaler."
        )
    if math.inf != C and C * float(weight.sum()) > 1e100:
        raise InvalidInput(
            "C times the sample weights overflows. Use smaller weights or a smaller C."
        )


# Labels and weights


def labels(estimator: Any, y: Any, n: int) -> tuple[Any, Ints]:
    """The sorted classes, and for each row the position of its class among them."""
    y = column_or_1d(y, warn=True)
    lengths(X=n, y=len(y))
    _known_label_type(y)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.intp, copy=False)


def _known_label_type(y: Any) -> None:
    if y.dtype.kind in "OSUV":
        kinds = {type(value).__name__ for value in y.tolist()}
        text = {"str", "str_"}
        wrong = [v for v in y.tolist() if v is None or isinstance(v, bytes) or v != v]
        if wrong or (kinds & text and kinds - text):
            example = wrong[0] if wrong else sorted(kinds)
            raise InvalidInput(
                f"Unknown label type: y holds {example!r}. Labels must be all strings or all whole "
                "numbers, without None, NaN or bytes."
            )


def lengths(**named: int) -> None:
    if len(set(named.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in named.items())
        raise InvalidInput(
            f"inconsistent numbers of samples: {listed}. Each row needs one of each."
        )


def sample_weight(weight: Any, n: int) -> Floats:
    if weight is None:
        return np.ones(n)
    if isinstance(weight, numbers.Real):
        weight = np.full(n, float(weight))
    result = np.array(weight, dtype=float)
    if result.ndim != 1:
        raise InvalidInput(f"Sample weights must be 1D array or scalar; got shape {result.shape}.")
    if len(result) != n:
        raise InvalidInput(
            f"sample_weight.shape == {result.shape}, expected ({n},): X has {n} rows. "
            "Each row needs one weight."
        )
    if not np.isfinite(result).all():
        raise InvalidInput("sample_weight contains NaN or infinity. Every weight must be finite.")
    if (result < 0).any():
        at = int(np.argmax(result < 0))
        raise InvalidInput(
            f"sample_weight must not be negative; got {result[at]:g} at row {at}. Negative values in "
            "data passed as sample weights have no meaning in a loss."
        )
    if not result.any():
        raise InvalidInput("sample_weight is zero everywhere: no row is left to learn from.")
    return result


def class_weights(setting: Any, classes: Any, codes: Ints, weight: Floats) -> Floats:
    """Weights of the rows, multiplied by the weights of their classes."""
    if setting is None:
        return weight
    if isinstance(setting, str):
        choice("class_weight", setting, ("balanced",))
        totals = np.bincount(codes, weights=weight, minlength=len(classes))
        factors = weight.sum() / (len(classes) * totals)
    elif isinstance(setting, Mapping):
        known = dict(zip(classes.tolist(), range(len(classes)), strict=True))
        factors = np.ones(len(classes))
        for label, value in setting.items():
            if label not in known:
                raise InvalidInput(
                    f"class_weight names class {label!r}, which y does not have. "
                    f"Classes are {list(known)[:10]}."
                )
            factors[known[label]] = number(f"class_weight[{label!r}]", value, 0.0)
    else:
        raise WrongType(f"class_weight must be None, 'balanced' or a dict; got {setting!r}.")
    result: Floats = weight * factors[codes]
    return result


# Resources


def memory(needed: float, what: str, advice: str) -> None:
    """Refuse work that cannot fit, before it starts."""
    available = _available_memory()
    if needed > available:
        raise ResourceLimit(
            f"{what} needs about {needed / 2**30:.2f} GiB but {available / 2**30:.2f} GiB are "
            f"available. {advice}"
        )


def _available_memory() -> float:
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
