"""The pseudo-likelihood: every node given its neighbours."""

from __future__ import annotations

from typing import final

from ..errors import Unsupported
from ..records import Floats, Scores, Truth
from ..spaces import Space
from .base import Loss

__all__ = ["PseudoLikelihood"]


@final
class PseudoLikelihood(Loss):
    """Σ_v −log P(y_v | the true labels of its neighbours): convex, and no log Z over all answers.

    For graphs with cycles, where log Z is out of reach. Without edges it is the log loss. Besag 1975
    (The Statistician 24).

    >>> import numpy as np
    >>> from argmax.losses import PseudoLikelihood
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Sets
    >>> scores, residual = Scores(np.zeros((1, 2))), Scores(np.empty((1, 2)))
    >>> PseudoLikelihood().evaluate(Sets(2), scores, Truth(np.array([[1, 0]])), residual)  # 2 log 2
    array([1.38629436])
    """

    name = "pseudo"
    smooth = True
    convex = True
    takes_cost = False
    free_intercept = True
    probabilities = True

    def evaluate(self, space: Space, scores: Scores, truth: Truth, residual: Scores) -> Floats:
        return space.pseudo(scores, truth.labels, truth.weight, residual)

    def conjugate(self, space: Space, scores: Scores, truth: Truth, scale: float) -> float:
        raise Unsupported("loss 'pseudo' has no certificate with an l1 penalty. Use penalty='l2'.")
