"""The judge: F(w) = C Σ s_i loss_i(w) + penalty in plain NumPy, apart from the library.

A model is (coef, intercept): (k, d) and (k,), for two classes (1, d) and (1,) with the score f of class 1.
The intercept is penalised for the losses that have a margin, as the weight of a column of ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from .rows import Rows

__all__ = ["Problem", "certified", "judged", "objective", "suboptimality"]

MARGINS = "hinge", "weston_watkins", "squared_hinge"
"""Losses whose intercept is penalised."""

BLOCK = 2**22
"""Scores that are looked at together."""


@dataclass(frozen=True)
class Problem:
    """What is minimised: a loss, C, and the share of l1 in the penalty (0: l2, 1: l1)."""

    loss: str
    C: float
    l1: float = 0.0

    def __str__(self) -> str:
        penalty = {0.0: "", 1.0: " l1"}.get(self.l1, f" elasticnet {self.l1:.2g}")
        return f"{self.loss} C={self.C:.3g}{penalty}"


def objective(rows: Rows, problem: Problem, coef: Any, intercept: Any) -> float:
    """F."""
    return judged(rows, problem, coef, intercept)[0]


def judged(rows: Rows, problem: Problem, coef: Any, intercept: Any) -> tuple[float, float]:
    """F, and what rounding leaves in doubt: ε · (F + C Σ s_i Σ_c |slope_ic| (Σ_j |x_ij w_cj| + |b_c|)).

    A score is in doubt by about ε times the sizes of its terms, and the loss by its slope times that.
    """
    coef, intercept = np.asarray(coef, dtype=float), np.asarray(intercept, dtype=float)
    weights = coef
    if problem.loss in MARGINS:
        weights = np.hstack([coef, intercept[:, None]])
    penalty = problem.l1 * np.abs(weights).sum() + (1 - problem.l1) * 0.5 * (weights**2).sum()
    total, doubt, step = 0.0, 0.0, max(BLOCK // max(rows.k, rows.X.shape[1]), 1)
    for start in range(0, len(rows.y), step):
        block = slice(start, start + step)
        X = rows.X[block]
        X = X.astype(float) if X.dtype != np.float64 else X
        scores = X @ coef.T + intercept
        values = losses(problem.loss, scores, rows.y[block])
        sizes = abs(X) @ np.abs(coef.T) + np.abs(intercept)
        doubts = sizes.max(axis=1) * _steepness(problem.loss, scores, rows.y[block])
        weight = 1.0 if rows.weight is None else rows.weight[block]
        total += float((values * weight).sum())
        doubt += float((doubts * weight).sum())
    value = problem.C * total + float(penalty)
    return value, float(np.finfo(float).eps) * (value + problem.C * doubt)


def losses(loss: str, scores: Any, y: Any) -> Any:
    """The loss of each row, (n,), from scores (n, k), or (n, 1) for two classes."""
    if scores.shape[1] == 1:
        return _two(loss, scores[:, 0] * (2 * y - 1))
    own = np.arange(len(y)), y
    if loss in ("squared_hinge", "squared", "ovr_log"):
        sign = -np.ones_like(scores)
        sign[own] = 1.0
        return _binary(loss, sign * scores).sum(axis=1)
    behind = scores - scores[own][:, None]  # how far each class is ahead of the truth
    if loss == "log":
        return logsumexp(behind, axis=1)
    behind += 1.0
    behind[own] = 0.0
    if loss == "softmax_margin":
        return logsumexp(behind, axis=1)
    if loss == "hinge":
        return behind.max(axis=1)
    return np.maximum(behind, 0.0).sum(axis=1)  # weston_watkins


def _steepness(loss: str, scores: Any, y: Any) -> Any:
    """What a common error of all scores of a row multiplies: at most Σ_c |slope_c|."""
    if loss in ("log", "softmax_margin", "hinge"):
        return 2.0
    if loss == "weston_watkins":
        return 2.0 * scores.shape[1]
    if loss == "ovr_log":
        return float(scores.shape[1])
    if scores.shape[1] == 1:
        margins = scores * (2 * y - 1)[:, None]
    else:
        margins = -scores
        margins[np.arange(len(y)), y] *= -1
    short = 1.0 - margins
    return np.abs(short).sum(axis=1) if loss == "squared" else 2 * np.maximum(short, 0).sum(axis=1)


def _two(loss: str, margin: Any) -> Any:
    if loss in ("squared_hinge", "squared", "ovr_log"):
        return _binary(loss, margin)
    if loss == "log":
        return np.logaddexp(0.0, -margin)
    if loss == "softmax_margin":
        return np.logaddexp(0.0, 1.0 - margin)
    return np.maximum(1.0 - margin, 0.0)


def _binary(loss: str, margin: Any) -> Any:
    if loss == "ovr_log":
        return np.logaddexp(0.0, -margin)
    if loss == "squared":
        return 0.5 * (margin - 1.0) ** 2
    return np.maximum(1.0 - margin, 0.0) ** 2


def at_zero(rows: Rows, problem: Problem) -> float:
    """F(0), the unit of every gap."""
    width = 1 if rows.k == 2 else rows.k
    values = losses(problem.loss, np.zeros((len(rows.y), width)), rows.y)
    return problem.C * float(values.sum() if rows.weight is None else values @ rows.weight)


def suboptimality(value: float, best: float, zero: float) -> float:
    """How far F is above the best that anybody found, in units of F(0).

    >>> suboptimality(3.0, 2.0, 100.0)
    0.01
    """
    return max(value - best, 0.0) / zero


ROUNDING = 1e-9
"""Differences of F, in units of F(0), that are no evidence: sums over a million rows are not exact."""


def certified(value: float, gap: float, best: float, zero: float, rounding: float = 0.0) -> bool:
    """Whether a claim (F, gap) holds: F is nowhere below F − gap, as far as anybody found.

    >>> certified(3.0, 1.0, 2.0, 100.0), certified(3.0, 0.5, 2.0, 100.0)
    (True, False)
    """
    return value - gap <= best + ROUNDING * max(zero, abs(value)) + 2 * rounding
