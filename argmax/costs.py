"""How wrong an answer is: Δ(y, y'), a table over labels with a zero diagonal.

On structures a table is applied to every node and added up, so ``zero_one`` there is the Hamming
distance. Losses with a margin (hinge, softmax margin) ask for one; the others refuse it.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from .errors import InvalidInput
from .records import Floats

__all__ = ["matrix", "zero_one"]


def zero_one(k: int) -> Floats:
    """Δ(y, y') = 1 if y ≠ y', else 0.

    >>> from argmax import costs
    >>> costs.zero_one(3)
    array([[0., 1., 1.],
           [1., 0., 1.],
           [1., 1., 0.]])
    """
    k = checks.positive_integer("k", k)
    return np.ones((k, k)) - np.eye(k)


def matrix(cost: ArrayLike, k: int) -> Floats:
    """A given table Δ[truth, answer], checked.

    >>> from argmax import costs
    >>> costs.matrix([[0, 20], [1, 0]], k=2)
    array([[ 0., 20.],
           [ 1.,  0.]])
    """
    table = np.array(cost, dtype=float)
    if table.shape != (k, k):
        raise InvalidInput(
            f"cost must have one row and one column for each of the {k} labels; got shape "
            f"{table.shape}. Rows are the truth, columns the answer."
        )
    if not np.isfinite(table).all() or (table < 0).any():
        raise InvalidInput("cost must be finite and not negative. Shift or scale the table first.")
    off_diagonal = np.where(np.eye(k, dtype=bool), np.inf, table)
    if k > 1 and (np.diag(table)[:, None] > off_diagonal).any():
        warnings.warn(
            "cost: some right answers cost more than wrong ones (the diagonal exceeds an entry of its "
            "row). If rows are answers in your table, pass its transpose.",
            UserWarning,
            stacklevel=2,
        )
    return table
