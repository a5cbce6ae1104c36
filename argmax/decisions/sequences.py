"""Label sequences under a cost: the labels of the least expected cost instead of the most probable sequence.

A cost that adds up over positions has an expectation that does too, Σ_t Σ_y P(y_t = y) cost(y, a_t), so
marginals are all it takes. Without constraints each position decides by itself; with a space the expected
costs are scores of its positions, and its own argmax finds the cheapest *legal* sequence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..records import Floats, Scores
from .actions import cost_table, decide

__all__ = ["decode"]


def decode(marginals: list[Any], cost: Any, classes: Any, *, space: Any = None) -> list[list[Any]]:
    """The labels with the least expected cost of each sequence.

    ``marginals`` has an array (tokens, k) for each sequence, as ``predict_marginals`` gives; ``cost`` is a
    table (k, k) or a function of truth and label. A ``space``, such as ``spaces.Chain(k, constraints=…)``,
    allows only what it allows.

    >>> import numpy as np
    >>> from argmax import decisions, spaces
    >>> p = [np.array([[0.55, 0.45, 0.0], [0.4, 0.0, 0.6]])]
    >>> labels = ["O", "B", "I"]
    >>> decisions.decode(p, 1 - np.eye(3), labels)
    [['O', 'I']]
    >>> legal = spaces.constraints.get("BIO", ["O", "B-X", "I-X"])
    >>> decisions.decode(p, 1 - np.eye(3), labels, space=spaces.Chain(3, constraints=legal))
    [['B', 'I']]
    """
    if not len(marginals):
        return []
    names = np.asarray(classes).tolist()
    table = np.concatenate([np.asarray(part, dtype=float) for part in marginals])
    lengths = [len(part) for part in marginals]
    if table.ndim != 2 or table.shape[1] != len(names):
        raise InvalidInput(
            f"marginals must have a column for each of the {len(names)} classes; got shape {table.shape}."
        )
    if space is None:
        place = decide(table, cost, names).place
    else:
        place = _legal(table @ cost_table(cost, names), lengths, space)
    parts = np.split(place, np.cumsum(lengths)[:-1])
    return [[names[at] for at in part.tolist()] for part in parts]


def _legal(risk: Floats, lengths: list[int], space: Any) -> Any:
    offsets = np.append(0, np.cumsum(lengths))
    return space.argmax(Scores(-risk, None, offsets)).labels
