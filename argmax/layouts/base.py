"""Where each weight lives: rows and a flat w in, scores out, and the adjoint of that map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..records import Csr, Floats, Rows

__all__ = ["Layout", "as_matrix", "csr_arguments"]


class Layout(ABC):
    """A flat w, as solvers see it, and its meaning.

    >>> from argmax import layouts
    >>> issubclass(layouts.Full, layouts.Layout), issubclass(layouts.Pairs, layouts.Layout)
    (True, True)
    """

    features: int
    """d"""
    labels: int
    """K"""
    intercept: bool
    precise: bool
    """Whether products run in float64 whatever the rows are."""
    compiled: bool

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of the flat w."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Numbers worked on for each entry of a row."""

    @property
    @abstractmethod
    def free(self) -> slice:
        """The entries that no penalty touches."""

    @property
    @abstractmethod
    def kept(self) -> int:
        """Numbers that passes leave behind at a node, for the next one: scores, marginals, residuals."""

    @property
    @abstractmethod
    def vectors(self) -> np.dtype[Any]:
        """That of w and of its gradient while a solver is at work."""

    @abstractmethod
    def rounded(self, sparse: bool, dtype: np.dtype[Any]) -> bool:
        """Whether products over such rows run in float32, whose noise may hide the last steps."""

    @abstractmethod
    def spread(self, columns: Floats, edges: Floats, constant: float) -> Floats:
        """A number for each column of the rows (d,) and of the features of edges (e,), at all its weights.

        Intercepts, starts and transitions without features (e = 0) have that of the ``constant``.
        """

    @abstractmethod
    def named(self, w: Floats) -> dict[str, Any]:
        """The parts of w under the names users know."""


def csr_arguments(rows: Csr) -> tuple[Any, ...]:
    """indptr, indices, values, step: indicators are a single 1 read again and again."""
    if rows.values is None:
        return rows.indptr, rows.indices, np.ones(1), 0
    return rows.indptr, rows.indices, rows.values, 1


def as_matrix(rows: Rows) -> Any:
    """The rows as something NumPy can multiply."""
    if not isinstance(rows, Csr):
        return rows
    first, last = int(rows.indptr[0]), int(rows.indptr[-1])
    values = np.ones(last - first) if rows.values is None else rows.values[first:last]
    arrays = (values, rows.indices[first:last], rows.indptr - first)
    return sp.csr_array(arrays, shape=rows.shape)
