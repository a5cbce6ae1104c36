"""Any rising curve: isotonic regression of "it happened" on the scores, class by class or for the top answer.

Isotonic curves follow whatever the data show, and so they follow noise as well: they have the best
calibration error and, with many classes, often a worse log loss than no calibration at all. Prefer scaling
unless there are many rows for each class; ``Calibrated(method="auto")`` does.

Reference: Zadrozny, Elkan, Transforming classifier scores into accurate multiclass probability estimates, KDD
2002; top label: Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.
"""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.special import softmax

from ..records import Floats
from .base import Calibrator
from .passes import Rows
from .rising import rising, side_by_side

__all__ = ["Isotonic", "TopLabel"]


@final
class Isotonic(Calibrator):
    """One rising curve for each class, of its own score; the values of a row are divided by their sum.

    A curve stays half a row away from 0 and 1: an event that never happened so far may still.

    Parameters
    ----------
    on : "scores" or "probabilities"

    Examples
    --------
    >>> from argmax import calibration
    >>> p = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> found = calibration.Isotonic(on="probabilities").fit(p, [0, 1, 1, 1])
    >>> found.predict_proba([[0.9, 0.1], [0.5, 0.5]]).round(3)
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """

    def __init__(self, on: str = "scores") -> None:
        self.on = on

    def _fit(self, rows: Rows) -> None:
        self.curves_ = rising(rows)

    def _probabilities(self, scores: Floats) -> Floats:
        table = np.empty_like(scores)

        def fill(c: int) -> None:
            table[:, c] = np.interp(scores[:, c], *self.curves_[c])

        side_by_side(fill, len(self.curves_), table.size)
        table /= table.sum(axis=1, keepdims=True)
        return table


@final
class TopLabel(Calibrator):
    """One rising curve for the confidence of the answer; the other classes share what is left as before.

    What a user of the answers needs, and little to learn: one curve, however many classes there are.

    Parameters
    ----------
    on : "scores" or "probabilities"

    Examples
    --------
    >>> from argmax import calibration
    >>> p = [[0.9, 0.1]] * 10
    >>> found = calibration.TopLabel(on="probabilities").fit(p, [0] * 7 + [1] * 3)
    >>> found.predict_proba(p[:1]).round(3)
    array([[0.7, 0.3]])
    """

    def __init__(self, on: str = "scores") -> None:
        self.on = on

    def _fit(self, rows: Rows) -> None:
        p = softmax(rows.scores, axis=1)
        right = np.where(p.argmax(axis=1) == rows.truth, 0, -1)
        (self.curve_,) = rising(Rows.of(p.max(axis=1)[:, None], right, rows.weight))

    def _probabilities(self, scores: Floats) -> Floats:
        table = softmax(scores, axis=1)
        rows, best = np.arange(len(table)), table.argmax(axis=1)
        sure = table[rows, best]
        table[rows, best] = 0.0
        rest = table.sum(axis=1)
        table[rest < 1e-200] = 1.0 / (
            table.shape[1] - 1
        )  # so sure that nothing is known of the others
        table[rows, best] = 0.0
        honest = np.interp(sure, *self.curve_)
        table *= ((1.0 - honest) / table.sum(axis=1))[:, None]
        table[rows, best] = honest
        return np.asarray(table)
