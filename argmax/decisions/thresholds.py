"""Answer only where it is right often enough: the lowest confidence that keeps a promised precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks
from ..errors import InvalidInput
from ..metrics import Interval, proportion
from ..metrics.intervals import wilson

__all__ = ["Threshold", "threshold_for_precision"]


@final
@dataclass(frozen=True, slots=True)
class Threshold:
    """Answer where the confidence is at least ``value``; None where no threshold keeps the promise.

    ``precision`` is the share of the answered rows that are right, ``answered`` the share of the rows that
    are answered.
    """

    value: float | None
    precision: Interval
    answered: Interval


def threshold_for_precision(
    right: Any, confidence: Any, precision: float, *, level: float | None = 0.95
) -> Threshold:
    """The lowest confidence from which on answers are right in a share ``precision`` of the rows.

    ``right`` (n,) says of each row whether its answer is right (or whether the event happened),
    ``confidence`` (n,) how sure the model was. With a ``level`` it is the lower end of Wilson's interval
    that must reach the precision, so that the promise holds beyond these rows; with None the share itself.

    >>> import numpy as np
    >>> from argmax import decisions
    >>> sure = np.linspace(0.5, 1.0, 2001)
    >>> right = np.random.default_rng(0).random(2001) < sure
    >>> found = decisions.threshold_for_precision(right, sure, 0.9)
    >>> round(found.value, 2), found.precision.value > 0.9
    (0.85, True)
    """
    hit = np.asarray(right, dtype=bool)
    sure = np.asarray(confidence, dtype=float)
    checks.same_length(right=hit, confidence=sure)
    if not len(hit) or not np.isfinite(sure).all():
        raise InvalidInput("confidence must be finite numbers, one for each row, and not empty.")
    target = checks.number("precision", precision, 0.0, 1.0)
    order = np.argsort(-sure, kind="stable")
    ranked = sure[order]
    hits, rows = np.cumsum(hit[order]), np.arange(1, len(hit) + 1)
    # Rows of one confidence are answered together: a cut stands only after the last of them.
    cut = np.append(ranked[1:] < ranked[:-1], True)
    reached = wilson(hits, rows, 2 * level - 1)[0] if level is not None else hits / rows
    good = np.flatnonzero(cut & (reached >= target))
    width = 0.95 if level is None else level
    if not len(good):
        return Threshold(None, proportion(0, 0, width), proportion(0, len(hit), width))
    at = int(good[-1])
    return Threshold(
        float(ranked[at]),
        proportion(float(hits[at]), float(rows[at]), width),
        proportion(float(rows[at]), float(len(hit)), width),
    )
