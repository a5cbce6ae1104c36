"""A number, or a row of numbers, for each class: vector, matrix and Dirichlet scaling.

All start from the scores z at the best temperature and learn how to deviate from them,

    vector      z' = (1 + δ) ∘ z + b                     2k numbers
    matrix      z' = z + M z + b                         k² + k numbers
    Dirichlet   the same of z = log p

with ½ λ ‖deviation‖² added to the log loss of all rows. Numbers outside the diagonal of M are many and each
is known from few rows, so that without the penalty matrix scaling gets worse with every class; with it,
the matrix is the best calibrator of many classes that is known.

Reference: Kull et al., Beyond temperature scaling: Dirichlet calibration, NeurIPS 2019, whose penalty spares
the diagonal; Berta, Holzmüller, Jordan, Bach, Structured matrix scaling, 2025.
"""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.special import log_softmax

from .. import checks
from ..records import Floats
from .base import Penalised, Scaling
from .passes import Rows
from .readout import Readout
from .solving import minimised
from .temperature import best_slope

__all__ = ["Dirichlet", "Matrix", "Vector"]


@final
class Vector(Penalised):
    """softmax(a ∘ scores + b): a scale and an offset for each class.

    The log loss of all rows plus ``penalty`` ½(‖a T − 1‖² + ‖b‖²), where T is the best temperature.

    Parameters
    ----------
    penalty : float
    on : "scores" or "probabilities"

    Examples
    --------
    >>> import numpy as np
    >>> from argmax import calibration
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 3, 300)
    >>> scores = np.eye(3)[truth] + rng.normal(size=(300, 3))
    >>> calibration.Vector().fit(scores, truth).readout_.scale.shape
    (3,)
    """

    def _deviated(self, rows: Rows, penalty: float) -> Readout:
        slope, k = best_slope(rows), rows.scores.shape[1]
        total = rows.total

        def objective(x: Floats) -> tuple[float, Floats]:
            value, of_scale, of_offset = rows.affine(slope * (1.0 + x[:k]), x[k:])
            gradient = np.append(slope * of_scale, of_offset) + penalty * x
            return (value + 0.5 * penalty * float(x @ x)) / total, gradient / total

        x = minimised(objective, np.zeros(2 * k))
        return Readout(slope * (1.0 + x[:k]), x[k:] - x[k:].mean())


class FullMatrix(Scaling):
    """A matrix of scales, learned from the scores or from what they stand for."""

    def __init__(self, penalty: float = 10.0, on: str = "scores") -> None:
        self.penalty = penalty
        self.on = on

    def _learned(self, seen: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """A and b of what is seen of the scores, (n, k)."""
        penalty = checks.number("penalty", self.penalty, 0.0)
        return _scaled(Rows.of(np.ascontiguousarray(seen), rows.truth, rows.weight), penalty)


@final
class Matrix(FullMatrix):
    """softmax(A·scores + b): every class may learn from the scores of every other.

    The log loss of all rows plus ½(λ‖diagonal‖² + k λ‖rest‖² + λ‖b‖²) of the deviation of A T from the
    identity, with λ = ``penalty`` and T the best temperature.

    Parameters
    ----------
    penalty : float
    on : "scores" or "probabilities"

    Examples
    --------
    >>> import numpy as np
    >>> from argmax import calibration
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 3, 300)
    >>> scores = np.eye(3)[truth] + rng.normal(size=(300, 3))
    >>> calibration.Matrix().fit(scores, truth).readout_.scale.shape
    (3, 3)
    """

    def _solved(self, rows: Rows) -> Readout:
        # A number added to all scores of a row says nothing; here it would.
        A, b = self._learned(rows.scores - rows.scores.mean(axis=1, keepdims=True), rows)
        return Readout(A - A.mean(axis=1, keepdims=True) if len(b) > 1 else A, b)


@final
class Dirichlet(FullMatrix):
    """softmax(A·log p + b): what makes probabilities honest that are Dirichlet-distributed in each class.

    As ``Matrix``, of log p, the log-probabilities that the scores stand for: then a number common to all
    scores of a row does count, as it does for probabilities.

    Parameters
    ----------
    penalty : float
    on : "scores" or "probabilities"

    Examples
    --------
    >>> import numpy as np
    >>> from argmax import calibration
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 3, 300)
    >>> p = rng.dirichlet([1, 1, 1], 300) * 0.5 + 0.5 * np.eye(3)[truth]
    >>> found = calibration.Dirichlet(on="probabilities").fit(p, truth)
    >>> found.predict_proba(p[:1]).sum().round(6)
    np.float64(1.0)
    """

    def _solved(self, rows: Rows) -> Readout:
        return Readout(*self._learned(log_softmax(rows.scores, axis=1), rows))

    def _probabilities(self, scores: Floats) -> Floats:
        return self.readout_.probabilities(log_softmax(scores, axis=1))


def _scaled(rows: Rows, penalty: float) -> tuple[Floats, Floats]:
    """A (k, k) and b (k,) of the least penalised log loss."""
    slope, k, total = best_slope(rows), rows.scores.shape[1], rows.total
    heavy = penalty * np.where(np.eye(k, dtype=bool), 1.0, k)

    def objective(x: Floats) -> tuple[float, Floats]:
        M, b = x[: k * k].reshape(k, k), x[k * k :]
        value, of_A, of_b = rows.matrix(slope * (np.eye(k) + M), b)
        value += 0.5 * float((heavy * M * M).sum() + penalty * b @ b)
        gradient = np.append((slope * of_A + heavy * M).ravel(), of_b + penalty * b)
        return value / total, gradient / total

    x = minimised(objective, np.zeros(k * k + k), tol=1e-5)
    b = x[k * k :]
    return slope * (np.eye(k) + x[: k * k].reshape(k, k)), b - b.mean()
