"""Checks of labels, targets, probabilities and weights."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..errors import InvalidInput, WrongType
from ..records import Floats, Ints
from .features import sparse_structure
from .parameters import array, choice, number
from .refusals import as_ours, no_mask

__all__ = [
    "class_factors",
    "class_weights",
    "comparable_labels",
    "is_label_matrix",
    "label_matrix",
    "labels",
    "lengths",
    "probabilities",
    "same_length",
    "sample_weight",
    "score_table",
    "targets",
]


def labels(estimator: Any, y: Any, n: int) -> tuple[Any, Ints]:
    """The sorted classes, and for each row the position of its class among them."""
    no_mask("y", y)
    with as_ours():
        given, y = y, column_or_1d(_of_own_kind(y), warn=True)
        lengths(X=n, y=len(y))
        if isinstance(given, (list, tuple)) and y.dtype.kind in "SU":
            _known_labels(np.asarray(given, dtype=object).ravel())  # before 1 and "1" became equal
        y = _known_labels(y)
        if y.dtype.kind in "iu" and len(y):
            return _counted(y)
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.intp, copy=False)


def _of_own_kind(y: Any) -> Any:
    """y; a nullable column of whole numbers or flags as a plain one, where scikit-learn makes it floats."""
    kind = getattr(y, "dtype", None)
    plain = getattr(kind, "numpy_dtype", None)
    if plain is None or plain.kind not in "iub" or y.isna().any():
        return y
    return y.to_numpy(dtype=plain)


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
    shape = array("y", y).shape
    return len(shape) == 2 and shape[1] > 1


def label_matrix(y: Any, n: int, k: int | None = None) -> Ints:
    """Labels (n, k) of zeros and ones, dense, from a dense or sparse matrix of them."""
    no_mask("y", y)
    with as_ours():
        if sp.issparse(y):
            sparse_structure(y, "y")
        given: Any = y.toarray() if sp.issparse(y) else array("y", y)
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
    matrix: Ints = given.astype(np.int64)
    return matrix


def targets(y: Any, n: int) -> Floats:
    """A finite number for each row."""
    no_mask("y", y)
    with as_ours():
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
        no_mask(name, values)
        with as_ours():
            values = column_or_1d(_of_own_kind(values))
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
    with as_ours():
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
    no_mask("scores", values)
    with as_ours():
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
    no_mask(name, weight)
    with as_ours():
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
