"""A proper score, taken apart: what better calibration would save, and what it would not.

    score = calibration + refinement

The refinement is the score that is left when the probabilities are mapped to the best honest ones; the
calibration part is what that saves. The map is learned on other rows than it is judged on, so that neither
part flatters: a perfect model has a calibration part of about 0, and a little below it as often as above.

Reference: Bröcker, Reliability, sufficiency, and the decomposition of proper scores, 2009; Berta, Bach,
Jordan, Rethinking early stopping: refine, then calibrate, 2025, who measure it by recalibrating.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks, metrics
from ..metrics import Interval
from ..metrics.scores import SMALLEST, positions
from .selection import choose, out_of_fold

__all__ = ["Decomposition", "decomposition"]

SCORES = {"log_loss": metrics.log_loss, "brier": metrics.brier}


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A score = calibration + refinement, by the recalibration ``method``."""

    score: str
    total: float
    calibration: Interval
    refinement: float
    method: str


def decomposition(
    truth: Any,
    probabilities: Any,
    classes: Any,
    score: str = "log_loss",
    *,
    method: str = "auto",
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
) -> Decomposition:
    """The log loss or Brier score in its two parts, the first with an interval.

    ``method`` is any of ``Calibrated``'s. Rows whose label is not among the classes are left out: no
    calibration would help them.

    >>> import numpy as np
    >>> from argmax import calibration
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], size=2000)
    >>> truth = (rng.random((2000, 1)) < p.cumsum(axis=1)).argmax(axis=1)
    >>> sharp = p**2 / (p**2).sum(axis=1, keepdims=True)  # too sure of itself
    >>> found = calibration.decomposition(truth, sharp, [0, 1, 2])
    >>> round(found.total, 2), round(found.calibration.value, 2), round(found.refinement, 2)
    (0.95, 0.11, 0.84)
    """
    metric = SCORES[checks.choice("score", score, tuple(SCORES))]
    column = positions(truth, classes)
    table = checks.probabilities(probabilities, len(column), len(classes))
    column, table = column[column >= 0], table[column >= 0]
    numbers = np.arange(table.shape[1])
    logs = np.log(np.maximum(table, SMALLEST))
    name = method
    if method == "auto":
        name = choose(logs, column, folds=folds, seed=seed).name
    honest = out_of_fold(name, logs, column, folds=folds, seed=seed)
    saved = metrics.difference(
        metric, column, table, honest, classes=numbers, seed=seed, level=level
    )
    total = metric(column, table, numbers)
    return Decomposition(score, total, saved, total - saved.value, name)
