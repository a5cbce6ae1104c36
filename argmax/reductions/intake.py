"""What ``fit`` and ``predict`` of a reduction were given, checked, and in the terms of its base.

A base of ours takes rows of numbers, which are checked here once for all problems. Any other base takes what
it takes (tables, sparse matrices, data frames, texts in front of a pipeline): it is passed on as it is, and
the base checks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing as some_rows
from sklearn.utils.validation import _num_samples as count
from sklearn.utils.validation import validate_data

from .. import checks
from ..engines import Threads
from ..errors import InvalidInput
from ..estimators.base import Classifier
from ..layouts import as_matrix
from ..records import Floats, Ints, Rows

__all__ = ["Given", "count", "examples", "rows_of", "some_rows"]


@final
@dataclass(frozen=True)
class Given:
    """Rows with positive weight, the classes among them, and which of these each row has."""

    X: Any
    classes: Any
    y: Ints
    weight: Floats | None
    rows: Rows | None  # where the base is one of ours


def examples(reduction: Any, base: Any, X: Any, y: Any, sample_weight: Any) -> Given:
    """What is learned from."""
    if y is None:
        raise InvalidInput("requires y to be passed, but the target y is None.")
    X = rows_of(reduction, base, X, reset=True)
    n = count(X)
    classes, codes = checks.labels(reduction, y, n)
    weight = None if sample_weight is None else checks.sample_weight(sample_weight, n)
    if weight is not None and not weight.all():  # a row without weight is a row that is not there
        used = np.flatnonzero(weight)
        X, weight = some_rows(X, used), weight[used]
        present, codes = np.unique(codes[used], return_inverse=True)
        classes = classes[present]
    if len(classes) < 2:
        raise InvalidInput(
            f"y must have at least two classes with positive weight; got one class: "
            f"{classes.tolist()[0]!r}. Add rows of another class, or give the others weight."
        )
    rows = None
    if isinstance(base, Classifier):
        rows = checks.compressed(X) if sp.issparse(X) else X
        checks.magnitude(rows, Threads(1).run)
    return Given(X, classes, codes, weight, rows)


def rows_of(reduction: Any, base: Any, X: Any, reset: bool) -> Any:
    """X as the base takes it; a row can be picked from it by number."""
    if isinstance(base, Classifier):
        rows = checks.rows(reduction, X, reset=reset, dtype=base.dtype, finite_later=reset)
        return as_matrix(rows)
    checks.given_rows(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        # A table of numbers: its shape at least can be checked, once instead of L times.
        X = validate_data(reduction, X, reset=reset, dtype=None, ensure_all_finite=False)
    else:
        validate_data(reduction, X, reset=reset, skip_check_array=True)
    return X.tocsr() if sp.issparse(X) else X
