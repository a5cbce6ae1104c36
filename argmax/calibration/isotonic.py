"""Any rising curve: isotonic regression of "it happened" on the scores, class by class or for the top answer.

Isotonic curves follow whatever the data show, and so they follow noise as well: they have the best
calibration error and, with many classes, often a worse log loss than no calibration at all. Prefer scaling
unless there are many rows for each class; ``Calibrated(method="auto")`` does.

Reference: Zadrozny, Elkan, Transforming classifier scores into accurate multiclass probability estimates, KDD
2002; top label: Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import final

import joblib
import numpy as np
from scipy.special import softmax

from ..records import Floats
from .base import Calibrator
from .passes import Rows

__all__ = ["Isotonic", "TopLabel"]

Curve = tuple[Floats, Floats]
"""Scores, and the frequencies at them; straight in between."""


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
        weight = np.broadcast_to(rows.weight, rows.truth.shape)

        def curve(c: int) -> Curve:
            return rising(np.ascontiguousarray(rows.scores[:, c]), rows.truth == c, weight)

        self.curves_ = _side_by_side(curve, rows.scores.shape[1], rows.scores.size)

    def _probabilities(self, scores: Floats) -> Floats:
        columns = [np.interp(scores[:, c], *curve) for c, curve in enumerate(self.curves_)]
        table = np.stack(columns, axis=1)
        return np.asarray(table / table.sum(axis=1, keepdims=True))


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
        weight = np.broadcast_to(rows.weight, rows.truth.shape)
        self.curve_ = rising(p.max(axis=1), p.argmax(axis=1) == rows.truth, weight)

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


def rising(score: Floats, happened: Floats, weight: Floats) -> Curve:
    """The rising curve of the least squared error, and so of the least log loss among rising curves."""
    from ..kernels import calibration

    if not (used := weight > 0).all():
        score, happened, weight = score[used], happened[used], weight[used]
    order = np.argsort(score)
    ranked = score[order]
    weights, means = weight[order], happened[order].astype(float)
    new = ranked[1:] > ranked[:-1]
    if not new.all():  # equal scores are one group
        starts = np.flatnonzero(np.append(True, new))
        hits, ranked = np.add.reduceat(means * weights, starts), ranked[starts]
        weights = np.add.reduceat(weights, starts)
        means = hits / weights
    ends = np.empty(len(ranked), np.intp)
    blocks = calibration.pooled(means, weights, ends)
    last = ends[:blocks]
    first = np.append(0, last[:-1] + 1)
    edge = 0.5 / (float(weight.sum()) + 1.0)
    value = np.clip(means[:blocks], edge, 1.0 - edge)
    # A block is flat from its first score to its last: two knots, or one where they are the same.
    knots = np.stack([ranked[first], ranked[last]], axis=1).ravel()
    heights = np.repeat(value, 2)
    keep = np.append(True, knots[1:] > knots[:-1])
    return knots[keep], heights[keep]


def _side_by_side(task: Callable[[int], Curve], count: int, work: int) -> list[Curve]:
    threads = min(joblib.cpu_count(), count) if work > 2**18 else 1
    if threads == 1:
        return [task(i) for i in range(count)]
    with ThreadPoolExecutor(threads, thread_name_prefix="argmax") as pool:
        return list(pool.map(task, range(count)))
