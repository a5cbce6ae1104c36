"""What decisions cost on rows whose truth is known, with intervals, and over a range of costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks
from ..errors import InvalidInput
from ..metrics import Interval, bootstrap, difference
from ..metrics.scores import positions
from ..records import Floats
from .actions import Decisions, cost_table

__all__ = ["CostCurve", "cost_curve", "realised_cost", "saving"]


def realised_cost(
    truth: Any,
    decisions: Decisions,
    cost: Any,
    classes: Any,
    *,
    reject: float = 0.0,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """The mean cost of the decisions where the truth is known, with a bootstrap interval.

    >>> from argmax import decisions
    >>> p = [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]
    >>> found = decisions.decide(p, [[0, 1], [20, 0]])
    >>> print(decisions.realised_cost([0, 1, 1], found, [[0, 1], [20, 0]], [0, 1]))
    0.3333 (0.0000 to 1.0000)
    """
    each = _each(truth, decisions, cost, classes, reject)
    return bootstrap(_mean, each, each, seed=seed, level=level)


def saving(
    truth: Any,
    one: Decisions,
    other: Decisions,
    cost: Any,
    classes: Any,
    *,
    reject: float = 0.0,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """What ``one`` costs less than ``other`` on the same rows, in the mean; rows are resampled together.

    >>> import numpy as np
    >>> from argmax import decisions
    >>> p, cost = np.tile([0.9, 0.1], (100, 1)), [[0, 1], [20, 0]]
    >>> bayes, plain = decisions.decide(p, cost), decisions.decide(p)
    >>> truth = np.arange(100) % 10 == 0
    >>> round(decisions.saving(truth * 1, bayes, plain, cost, [0, 1]).value, 3)
    1.1
    """
    sides = [_each(truth, side, cost, classes, reject) for side in (other, one)]
    return difference(_mean, sides[0], *sides, seed=seed, level=level)


@final
@dataclass(frozen=True, slots=True)
class CostCurve:
    """Costs of acting on "the truth is this class", when a miss costs 1 − t and a false alarm t: (m,) each.

    ``cost`` is that of acting where the probability is at least t, the Bayes action if the probabilities are
    honest; ``best`` that of the threshold that would have been best on these rows; ``never`` and
    ``always`` those of acting on no row and on all. What lies between ``cost`` and ``best`` is the price of
    probabilities that are not calibrated.
    """

    t: Floats
    cost: Floats
    best: Floats
    never: Floats
    always: Floats


def cost_curve(
    truth: Any, probabilities: Any, classes: Any, label: Any, points: int = 101
) -> CostCurve:
    """The mean cost over all shares t of the cost between the two errors, for one class.

    >>> from argmax import decisions
    >>> found = decisions.cost_curve([0, 1], [[0.8, 0.2], [0.1, 0.9]], [0, 1], label=1, points=3)
    >>> found.t, found.cost
    (array([0. , 0.5, 1. ]), array([0., 0., 0.]))
    """
    column = positions(truth, classes)
    table = checks.probabilities(probabilities, len(column), len(classes))
    (at,) = positions([label], classes)
    if at < 0:
        raise InvalidInput(f"label must be one of the classes; got {label!r}.")
    t = np.linspace(0.0, 1.0, max(2, checks.positive_integer("points", points)))
    p, happened = np.sort(table[:, at]), column == at
    order = np.argsort(table[:, at])
    n, events = len(column), int(happened.sum())
    missed = np.append(0, np.cumsum(happened[order]))  # if the i lowest rows are left alone
    alarms = (n - events) - np.append(0, np.cumsum(~happened[order]))

    def price(miss: Any, alarm: Any, share: Floats) -> Floats:
        return np.asarray((miss * (1.0 - share) + alarm * share) / n)

    left = np.searchsorted(p, t, side="left")
    return CostCurve(
        t,
        price(missed[left], alarms[left], t),
        np.array([price(missed, alarms, share).min() for share in t]),
        price(events, 0, t),
        price(0, n - events, t),
    )


def _each(truth: Any, found: Decisions, cost: Any, classes: Any, reject: float) -> Floats:
    """The cost of each row's action."""
    column = positions(truth, classes)
    checks.same_length(truth=column, decisions=found.place)
    if (column < 0).any():
        raise InvalidInput("truth must hold labels of the classes: other labels have no cost.")
    table = cost_table(cost, classes, found.actions)
    each = table[column, np.maximum(found.place, 0)]
    return np.where(found.rejected, checks.number("reject", reject, -np.inf), each)


def _mean(_: Any, each: Any) -> float:
    return float(np.mean(each))
