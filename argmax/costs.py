"""How wrong an answer is: Δ(y, y'), a table over labels with a zero diagonal.

On structures a table is applied to every node and added up, so ``zero_one`` there is the Hamming
distance. Losses with a margin (hinge, softmax margin) ask for one; the others refuse it.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from .errors import InvalidInput
from .records import Floats

__all__ = ["hierarchy", "matrix", "rows", "zero_one"]


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
    table: Floats = checks.array("cost", cost, float)
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


def rows(cost: ArrayLike, n: int, k: int) -> Floats:
    """Costs of every answer for each example by itself (n, k), checked: what ``example_cost`` takes.

    >>> from argmax import costs
    >>> costs.rows([[0, 5, 1], [2, 0, 2]], n=2, k=3)
    array([[0., 5., 1.],
           [2., 0., 2.]])
    """
    table: Floats = checks.array("example_cost", cost, float)
    if table.shape != (n, k):
        raise InvalidInput(
            f"example_cost must have a row for each of the {n} examples and a column for each of the {k} "
            f"classes; got shape {table.shape}. Columns are in the order of classes_."
        )
    if not np.isfinite(table).all() or (table < 0).any():
        raise InvalidInput("example_cost must be finite and not negative. Shift or scale it first.")
    return table


def hierarchy(parents: Mapping[Hashable, Hashable], labels: Sequence[Hashable]) -> Floats:
    """Δ(y, y') = how many steps up it takes from y or y', the deeper, to the first group that holds both.

    ``parents`` maps a label or a group to the group that holds it; what it does not mention is at the top.
    Steps are divided by the most there are, so costs lie between 0 and 1, and a label of the same group is
    the cheapest mistake. The table has rows and columns in the order of ``labels``: for ``cost=`` pass them
    sorted, as ``classes_`` has them.

    >>> from argmax import costs
    >>> parents = {"cat": "pet", "dog": "pet", "pet": "animal", "wolf": "animal", "ship": "thing"}
    >>> costs.hierarchy(parents, ["cat", "dog", "ship", "wolf"]).round(2)
    array([[0.  , 0.33, 1.  , 0.67],
           [0.33, 0.  , 1.  , 0.67],
           [1.  , 1.  , 0.  , 0.67],
           [0.67, 0.67, 0.67, 0.  ]])
    """
    paths = [_path(label, parents) for label in labels]
    steps = np.array([[_steps(mine, other) for other in paths] for mine in paths], dtype=float)
    table = np.maximum(steps, steps.T)
    return np.asarray(table / max(float(table.max(initial=0.0)), 1.0))


def _path(label: Hashable, parents: Mapping[Hashable, Hashable]) -> list[Hashable]:
    """The label, the group that holds it, the group that holds that one, …"""
    path = [label]
    while path[-1] in parents:
        path.append(parents[path[-1]])
        if len(set(path)) < len(path):
            raise InvalidInput(f"parents leads from {label!r} back to {path[-1]!r}: not a tree.")
    return path


def _steps(mine: list[Hashable], other: list[Hashable]) -> int:
    """Steps up from the first to an ancestor of the second; one beyond the top if there is none."""
    return next((step for step, group in enumerate(mine) if group in other), len(mine))
