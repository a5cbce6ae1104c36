"""Several answers instead of one: as many as wanted, as probable as wanted, or as cheap to be wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import InvalidInput
from ..records import Floats
from .actions import _checked

__all__ = ["cost_bounded_sets", "covering_sets", "top_k"]


def top_k(probabilities: Any, k: int, classes: Any = None) -> list[list[Any]]:
    """The k most probable classes of each row, the most probable first; of equals, the first.

    >>> from argmax import decisions
    >>> decisions.top_k([[0.2, 0.5, 0.3]], 2, classes=["a", "b", "c"])
    [['b', 'c']]
    """
    table, names = _checked(probabilities, classes)
    k = checks.positive_integer("k", k)
    if k > len(names):
        raise InvalidInput(f"k must be at most the {len(names)} classes; got {k}.")
    order = np.argsort(-table, axis=1, kind="stable")[:, :k]
    return [[names[at] for at in row] for row in order.tolist()]


def covering_sets(probabilities: Any, coverage: float) -> NDArray[np.bool_]:
    """The smallest set of classes whose probabilities add up to ``coverage``, as booleans (n, k).

    >>> from argmax import decisions
    >>> decisions.covering_sets([[0.2, 0.5, 0.3]], 0.75)
    array([[False,  True,  True]])
    """
    table, _ = _checked(probabilities, None)
    share = checks.number("coverage", coverage, 0.0, 1.0)
    return _smallest(table, table.sum(axis=1) - share)


def cost_bounded_sets(probabilities: Any, bound: float, miss: Any = None) -> NDArray[np.bool_]:
    """The smallest set with an expected cost of missing the truth of at most ``bound``: booleans (n, k).

    ``miss`` (k,) is the cost if the truth is this class and not in the set; None: 1 each, and the set is the
    one that covers 1 − bound. Classes are taken by probability times cost: a rare class that must not be
    missed comes first.

    >>> from argmax import decisions
    >>> decisions.cost_bounded_sets([[0.90, 0.07, 0.03]], bound=0.5, miss=[1, 1, 20])
    array([[ True, False,  True]])
    """
    table, names = _checked(probabilities, None)
    price = np.ones(len(names)) if miss is None else np.asarray(miss, dtype=float)
    if price.shape != (len(names),) or not (np.isfinite(price) & (price >= 0)).all():
        raise InvalidInput(f"miss must be {len(names)} costs, finite and 0 or more; got {miss!r}.")
    limit = checks.number("bound", bound, 0.0)
    found = _smallest(table * price, np.full(len(table), limit))
    none = ~found.any(axis=1)
    found[none, table[none].argmax(axis=1)] = True  # an empty set is no answer
    return found


def _smallest(value: Floats, left: Floats) -> NDArray[np.bool_]:
    """The fewest columns of each row whose removal leaves at most ``left``; the largest go first."""
    order = np.argsort(-value, axis=1, kind="stable")
    ranked = np.take_along_axis(value, order, axis=1)
    remaining = ranked[:, ::-1].cumsum(axis=1)[:, ::-1]  # of this and all that follow
    chosen = np.zeros(value.shape, dtype=np.bool_)
    np.put_along_axis(chosen, order, remaining > left[:, None] + 1e-12, axis=1)
    return chosen
