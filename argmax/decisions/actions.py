"""The Bayes action: argmin over actions a of Σ_y P(y | x) cost(y, a)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import InvalidInput
from ..records import Floats, Ints

__all__ = ["Decisions", "cost_table", "decide", "expected_costs"]


def cost_table(
    cost: Any, classes: Any, actions: Sequence[Any] | NDArray[Any] | None = None
) -> Floats:
    """Costs (k, a) of each action under each truth, from a table or from a function cost(truth, action).

    Without ``actions`` these are the classes. Costs may be negative: then they are gains.

    >>> from argmax import decisions
    >>> decisions.cost_table(lambda truth, action: abs(truth - action), classes=[1, 2, 4])
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    names = list(np.asarray(classes).tolist())
    taken = names if actions is None else list(actions)
    if callable(cost):
        cost = [[cost(truth, action) for action in taken] for truth in names]
    with np.errstate(invalid="ignore"):
        table = np.asarray(cost, dtype=float)
    if table.shape != (len(names), len(taken)):
        raise InvalidInput(
            f"cost must have a row for each of the {len(names)} classes (the truth) and a column for each of "
            f"the {len(taken)} actions; got shape {table.shape}."
        )
    if not np.isfinite(table).all():
        raise InvalidInput("cost must be finite. Use a large number for what must not happen.")
    return table


def expected_costs(probabilities: Any, cost: Any, classes: Any = None) -> Floats:
    """Σ_y p_y cost(y, a) of every action a: (n, a).

    >>> from argmax import decisions
    >>> decisions.expected_costs(
    ...     [[0.9, 0.1]], [[0, 1], [20, 0]]
    ... )  # missing the second class costs 20
    array([[2. , 0.9]])
    """
    table, names = _checked(probabilities, classes)
    return np.asarray(
        table @ (cost_table(cost, names) if callable(cost) else _any_width(cost, names))
    )


@final
@dataclass(frozen=True, slots=True)
class Decisions:
    """What to do with each row: ``place`` of the action (−1: reject) among ``actions``, and what it costs.

    ``risk`` is the expected cost of what is done, ``next_best`` that of the best action not taken.
    """

    actions: tuple[Any, ...]
    place: Ints  # (n,)
    risk: Floats  # (n,)
    next_best: Floats  # (n,)

    @property
    def taken(self) -> list[Any]:
        """The action of each row; None where there is none."""
        return [None if at < 0 else self.actions[at] for at in self.place.tolist()]

    @property
    def rejected(self) -> NDArray[np.bool_]:
        """Which rows are not answered."""
        return np.asarray(self.place < 0)


def decide(
    probabilities: Any,
    cost: Any = None,
    classes: Any = None,
    *,
    actions: Sequence[Any] | None = None,
    reject: float | None = None,
) -> Decisions:
    """The action of the least expected cost for each row; the first of equals.

    ``cost`` is a table (k, a), a function of truth and action, or None for 0 if right and 1 if wrong. With
    ``reject``, the cost of not answering, a row is rejected where every action would cost more: with
    the cost of errors 1, where the largest probability is below 1 − reject (Chow's rule).

    >>> from argmax import decisions
    >>> p = [[0.9, 0.1], [0.99, 0.01], [0.6, 0.4]]
    >>> decisions.decide(p, [[0, 1], [20, 0]], classes=["ham", "virus"]).taken
    ['virus', 'ham', 'virus']
    >>> decisions.decide(p, classes=["ham", "virus"], reject=0.2).taken
    ['ham', 'ham', None]
    """
    table, names = _checked(probabilities, classes)
    if cost is None:
        if actions is not None:
            raise InvalidInput("actions need a cost. Pass the cost of each under each class.")
        cost = 1.0 - np.eye(len(names))
    taken = tuple(names if actions is None else actions)
    risks = table @ cost_table(cost, names, taken)
    place = risks.argmin(axis=1)
    if risks.shape[1] > 1:
        ranked = np.partition(risks, 1, axis=1)[:, :2]
    else:
        ranked = np.column_stack([risks, np.full(len(risks), np.inf)])
    best, second = ranked[:, 0], ranked[:, 1]
    if reject is not None:
        price = checks.number("reject", reject, -np.inf)
        no = best > price
        place = np.where(no, -1, place)
        best, second = np.where(no, price, best), np.where(no, best, np.minimum(second, price))
    return Decisions(taken, place, best, second)


def _checked(probabilities: Any, classes: Any) -> tuple[Floats, list[Any]]:
    shape = np.shape(probabilities)
    k = shape[1] if len(shape) == 2 else 0
    names = list(range(k)) if classes is None else np.asarray(classes).tolist()
    return checks.probabilities(probabilities, shape[0] if shape else 0, len(names)), names


def _any_width(cost: Any, names: list[Any]) -> Floats:
    width = np.shape(cost)[1] if np.ndim(cost) == 2 else len(names)
    return cost_table(cost, names, range(width))
