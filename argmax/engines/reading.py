"""From what a file holds to what a pass takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import BadFile
from ..layouts import as_matrix
from ..records import Csr, Floats, Ints, Rows, Truth

__all__ = ["Reading", "chosen", "divided"]


@final
@dataclass(frozen=True, eq=False, slots=True)
class Reading:
    """How what was stored becomes what a pass takes: labels in order, weights and columns in their units.

    ``ranks`` gives the place of each stored label code among the sorted classes; ``origin`` is the folder of
    a stored set and its digest, for whoever reads it elsewhere.

    >>> import numpy as np
    >>> from argmax.engines.reading import Reading
    >>> from argmax.records import Truth
    >>> reading = Reading(ranks=np.array([1, 0]), factors=np.array([3.0, 1.0]))
    >>> truth = reading.truth(Truth(np.array([0, 1, 1])))
    >>> truth.labels, truth.weight
    (array([1, 0, 0]), array([1., 3., 3.]))
    """

    ranks: Ints | None = None  # (k,)
    factors: Floats | None = None  # (k,)
    scale: Floats | None = None  # (d,)
    origin: tuple[str, str] | None = None

    def rows(self, rows: Rows) -> Rows:
        rows = _loaded(rows)
        return rows if self.scale is None else divided(rows, self.scale)

    def truth(self, truth: Truth) -> Truth:
        codes = np.asarray(truth.labels)
        if self.ranks is not None:
            if len(codes) and (codes.min() < 0 or codes.max() >= len(self.ranks)):
                raise BadFile("a label is none of the classes. Write the set again.")
            codes = self.ranks[codes]
        weight = None if truth.weight is None else np.asarray(truth.weight)
        if weight is not None and not np.all((weight > 0) & np.isfinite(weight)):
            raise BadFile("a weight is not a positive number. Write the set again.")
        if self.factors is not None:
            factors = self.factors[codes]
            weight = factors if weight is None else weight * factors
        return replace(truth, labels=codes, weight=weight)


def _loaded(rows: Rows) -> Rows:
    """Rows as arrays, whatever they lie in. What a file says is checked: compiled code would follow it."""
    if not isinstance(rows, Csr):
        return np.asarray(rows)
    if isinstance(rows.indices, np.ndarray):
        return rows
    indptr = np.asarray(rows.indptr)
    first, last = int(indptr[0]), int(indptr[-1])
    indices = np.asarray(rows.indices[first:last])
    values = None if rows.values is None else np.asarray(rows.values[first:last])
    broken = first < 0 or len(indices) != last - first or bool(np.any(indptr[1:] < indptr[:-1]))
    if broken or (len(indices) and (indices.min() < 0 or indices.max() >= rows.width)):
        raise BadFile("the sparse rows point outside themselves. Write the set again.")
    return Csr((indptr - first).astype(indices.dtype), indices, values, rows.width)


def chosen(rows: Rows, used: NDArray[np.bool_]) -> Rows:
    """Some of the rows.

    >>> import numpy as np
    >>> from argmax.engines.reading import chosen
    >>> chosen(np.array([[1.0], [2.0], [3.0]]), np.array([True, False, True])).ravel()
    array([1., 3.])
    """
    return checks.compressed(as_matrix(rows)[used]) if isinstance(rows, Csr) else rows[used]


def divided(rows: Rows, scale: Floats) -> Rows:
    """Rows whose columns are divided by ``scale``, in the dtype they had."""
    if not isinstance(rows, Csr):
        return np.asarray(rows / scale, dtype=rows.dtype)
    values = np.ones(len(rows.indices)) if rows.values is None else rows.values
    return replace(rows, values=np.asarray(values / scale[rows.indices], dtype=values.dtype))
