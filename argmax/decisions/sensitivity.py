"""How wrong the probabilities may be before the decision changes.

With a the action taken and b another one, g = cost(·, b) − cost(·, a) and p·g ≥ 0. The decision flips to b
when probability is moved until p'·g = 0. A unit moved from class y to the class where g is least changes p·g
by g_y − min g, so the least movement takes from the classes of the largest g first: a linear programme
solved by sorting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..records import Floats
from .actions import _checked, cost_table

__all__ = ["flip_distance"]


def flip_distance(
    probabilities: Any, cost: Any = None, classes: Any = None, *, actions: Any = None
) -> Floats:
    """The least probability that must be moved between classes until another action costs no more: (n,).

    It is the total variation distance between the probabilities and the nearest ones that lead to
    another decision: inf where no probabilities do. If the calibration error is well below it, the decision
    stands.

    >>> from argmax import decisions
    >>> decisions.flip_distance([[0.9, 0.1], [0.6, 0.4]]).round(3)  # plain argmax: half the lead
    array([0.4, 0.1])
    >>> decisions.flip_distance([[0.9, 0.1]], [[0, 1], [20, 0]]).round(3)  # flips below 1/21
    array([0.052])
    """
    table, names = _checked(probabilities, classes)
    given = 1.0 - np.eye(len(names)) if cost is None else cost
    costs = cost_table(given, names, actions)
    taken = (table @ costs).argmin(axis=1)
    found = np.full(len(table), np.inf)
    for action in np.unique(taken):
        rows = np.flatnonzero(taken == action)
        for other in range(costs.shape[1]):
            if other != action:
                moved = _moved(table[rows], costs[:, other] - costs[:, action])
                found[rows] = np.minimum(found[rows], moved)
    return found


def _moved(p: Floats, gain: Floats) -> Floats:
    """The least mass to move until p·gain ≤ 0: (n,)."""
    least = float(gain.min())
    lead = p @ gain
    if least > 0.0:
        return np.full(len(p), np.inf)  # the other action is dearer whatever is true
    order = np.argsort(-gain, kind="stable")
    each = (gain - least)[order]  # what a unit moved from this class changes
    held = p[:, order]
    before = np.cumsum(held * each, axis=1) - held * each
    wanted = np.clip(lead[:, None] - before, 0.0, held * each)
    share = np.divide(wanted, each, out=np.zeros_like(wanted), where=each > 0)
    return np.asarray(share.sum(axis=1))
