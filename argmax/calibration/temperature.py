"""One number for all scores: p = softmax(scores / T), and with a number for each class added.

The mean log loss is convex in a = 1/T, and one pass over the rows gives its value and two derivatives:

    F'(a) = mean of E_p[score] − score of the truth        F''(a) = mean of Var_p[score] ≥ 0

so Newton's steps within a bracket reach F' = 0 to rounding in a handful of passes; of many rows, most steps
are taken on every sixteenth one.

Reference: Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, ICML 2017; bias-corrected
temperature: Alexandari, Kundaje, Shrikumar, Maximum likelihood with bias-corrected calibration, ICML 2020.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np

from ..records import Floats
from .base import Penalised, Scaling
from .passes import Rows
from .readout import Readout
from .solving import minimised

__all__ = ["BiasCorrected", "Identity", "Temperature", "best_slope"]

EXACT = 1e-10
"""Mean gradient, in a and in log a, at which a temperature is solved."""

MANY, SOME = 2**20, 16
"""Scores from which on the first steps are taken on every 16th row."""


@final
class Identity(Scaling):
    """softmax(scores), as they are: what every other calibrator has to beat on rows that it has not seen.

    Parameters
    ----------
    on : "scores" or "probabilities"

    Examples
    --------
    >>> from argmax import calibration
    >>> calibration.Identity().fit([[0.0, 0.0]], [1]).predict_proba([[0.0, 0.0]])
    array([[0.5, 0.5]])
    """

    def __init__(self, on: str = "scores") -> None:
        self.on = on

    def _solved(self, rows: Rows) -> Readout:
        return Readout(np.array(1.0), np.zeros(rows.scores.shape[1]))


@final
class Temperature(Scaling):
    """softmax(scores / T), the T ≥ 0 of the least log loss on these rows.

    Answers stay the same, and the log loss is never above that of T = 1. Where every row is right there is no
    best T, since sharper is always better; then one row in n + 1 is taken to have a label drawn blindly.

    Parameters
    ----------
    on : "scores" or "probabilities"

    Attributes
    ----------
    temperature_ : float
        T; above 1 the scores were too sure.
    readout_ : Readout

    Examples
    --------
    >>> import numpy as np
    >>> from argmax import calibration
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(5000, 3))
    >>> p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    >>> truth = (rng.random((5000, 1)) < p.cumsum(axis=1)).argmax(axis=1)
    >>> found = calibration.Temperature().fit(3 * scores, truth)  # three times too sure
    >>> round(found.temperature_, 1)
    3.0
    """

    def __init__(self, on: str = "scores") -> None:
        self.on = on

    def _solved(self, rows: Rows) -> Readout:
        slope = best_slope(rows)
        self.temperature_ = math.inf if slope == 0 else float(1.0 / slope)
        return Readout(np.array(slope), np.zeros(rows.scores.shape[1]))


@final
class BiasCorrected(Penalised):
    """softmax(scores / T + b): a temperature, and a number for each class.

    The least log loss of all rows plus ``penalty`` ½‖b‖². It is the safe choice before priors of classes are
    changed.

    Parameters
    ----------
    penalty : float
        0 for none.
    on : "scores" or "probabilities"

    Examples
    --------
    >>> import numpy as np
    >>> from argmax import calibration
    >>> scores = np.tile([0.0, 0.0], (100, 1))
    >>> found = calibration.BiasCorrected(penalty=0).fit(scores, np.arange(100) % 4 == 0)
    >>> found.predict_proba(scores[:1]).round(3)
    array([[0.75, 0.25]])
    """

    def _deviated(self, rows: Rows, penalty: float) -> Readout:
        slope, k = best_slope(rows), rows.scores.shape[1]
        total = rows.total

        def objective(x: Floats) -> tuple[float, Floats]:
            b = x[1:]
            scale = np.full(k, slope * (1.0 + x[0]))
            value, of_scale, of_offset = rows.affine(scale, b)
            gradient = np.append(slope * of_scale.sum(), of_offset + penalty * b)
            return (value + 0.5 * penalty * float(b @ b)) / total, gradient / total

        x = minimised(objective, np.zeros(k + 1))
        return Readout(np.array(slope * (1.0 + x[0])), x[1:] - x[1:].mean())


def best_slope(rows: Rows) -> float:
    """The a ≥ 0 of the least Σ s_i loss(a·S_i): 0 where the scores say nothing, or the opposite."""
    S, n = rows.scores, len(rows.scores)
    own, tilt = S[np.arange(n), rows.truth], 0.0
    if np.all((own >= S.max(axis=1)) | (rows.weight == 0)):
        # One row in n + 1 of a blind label tilts the loss by this much for each unit of a.
        tilt = float((rows.weight * (own - S.mean(axis=1))).sum()) / (rows.total + 1.0)
    start = _usual(S)
    if S.size >= MANY:
        start = _descended(rows.some(slice(None, None, SOME)), start, tilt / SOME) or start
    slope = _descended(rows, start, tilt)
    worse = tilt and rows.tempered(slope)[0] > rows.tempered(1.0)[0]
    return 1.0 if worse else slope


def _usual(scores: Floats) -> float:
    """One over the spread of the scores of some rows: where a slope usually lies."""
    spread = float(scores[:: -(-len(scores) // 1000)].std(axis=1).mean())
    return 1.0 / spread if spread > 0.0 and math.isfinite(1.0 / spread) else 1.0


def _descended(rows: Rows, start: float, tilt: float) -> float:
    """Newton's steps from ``start``, halved within a bracket where they leave it."""
    low, high, a, total = 0.0, math.inf, start, rows.total
    if rows.tempered(0.0)[1] + tilt >= 0.0:
        return 0.0 if rows.tempered(start)[2] > 0.0 else 1.0
    for _ in range(200):
        _, slope, bend = rows.tempered(a)
        slope += tilt
        if abs(slope) * max(a, 1.0) <= EXACT * total:
            break
        low, high = (low, a) if slope > 0 else (a, high)
        furthest = min(high, 16.0 * a)
        step = a - slope / bend if bend > 0 else furthest
        if not low < step < high:
            step = 0.5 * (low + furthest)
        if step == a or step > furthest:
            step = furthest
        if abs(step - a) <= 1e-15 * a:
            break
        a = step
    return a
