"""Readout: scores ↦ A·scores + b, the form that every calibration by scaling has.

A   ()      one number: temperature, A = 1/T
    (k,)    a number for each class: vector scaling
    (k, k)  matrix scaling
b   (k,)    a number for each class, or zeros
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import log_softmax, softmax

from .. import checks
from ..records import Floats

__all__ = ["Readout"]


@final
@dataclass(frozen=True, slots=True)
class Readout:
    """Scores (n, k) ↦ A·scores + b. Their softmax are the calibrated probabilities.

    >>> import numpy as np
    >>> from argmax.calibration import Readout
    >>> halved = Readout(np.array(0.5), np.zeros(2))
    >>> halved([[2.0, 0.0]])
    array([[1., 0.]])
    >>> halved.probabilities([[2.0, 0.0]]).round(3)
    array([[0.731, 0.269]])
    """

    scale: Floats  # (), (k,) or (k, k)
    offset: Floats  # (k,)

    def __call__(self, scores: Floats) -> Floats:
        scores = np.asarray(scores, dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = scores @ self.scale.T if self.scale.ndim == 2 else scores * self.scale
            return checks.finite_scores(scaled + self.offset)

    def probabilities(self, scores: Floats) -> Floats:
        """softmax(A·scores + b), (n, k)."""
        with np.errstate(over="ignore"):  # a difference that overflows is a probability of 0
            return np.asarray(softmax(self(scores), axis=1))

    def log_probabilities(self, scores: Floats) -> Floats:
        """Their logarithms, without under- or overflow."""
        with np.errstate(over="ignore"):
            return checks.finite_scores(log_softmax(self(scores), axis=1))

    @property
    def matrix(self) -> Floats:
        """A as a table (k, k)."""
        k = len(self.offset)
        return self.scale if self.scale.ndim == 2 else np.eye(k) * self.scale

    def folded(self, coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
        """Weights (k, d) and intercept (k,) whose own scores are those read out.

        A calibrated linear model is a linear model: A(Wx + c) + b = (AW)x + (Ac + b). Of two classes with one
        row of weights, (1, d), whose scores are ∓½ of its value, one row comes back.

        >>> import numpy as np
        >>> from argmax.calibration import Readout
        >>> Readout(np.array(0.5), np.array([0.0, 1.0])).folded(np.array([[2.0]]), np.array([4.0]))
        (array([[1.]]), array([3.]))
        """
        if len(coef) == 1:
            apart = np.array([-1.0, 1.0])
            factor = 0.5 * apart @ self.matrix @ apart
            return factor * coef, factor * intercept + apart @ self.offset
        return self.matrix @ coef, self(intercept)
