"""Losses of single labels that online learners take steps along: nothing minimises them.

    loss             value                                        the step of its learner
    perceptron_sum   Σ_{c≠y} max(0, s_c − s_y)                    to the truth from every class ahead of it
    pa1              max(0, 1 + max_{c≠y} s_c − s_y)              as far as the loss asks, and C allows
    pa2              the square of that                           the same, shortened by C

Without a margin w = 0 has loss 0, and a penalty would leave w there: ``perceptron`` (of every space) and
``perceptron_sum`` take none. The steps are in ``kernels.online``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import numpy as np

from ..records import Floats, Scores, Truth
from ..spaces import Space
from .base import Loss, weighted

__all__ = ["PassiveAggressive1", "PassiveAggressive2", "PerceptronSum"]


class _OfOthers(Loss):
    """A function of how far the other classes are ahead of the truth; single labels only."""

    smooth = False
    convex = True
    takes_cost = False
    free_intercept = False
    probabilities = False
    structured = False
    online = True

    @abstractmethod
    def _ahead(self, lead: Floats, slope: Floats) -> Floats:
        """Values (n,) from s_c − s_y (n, K), −∞ for c = y; ``slope`` is filled with ∂value/∂s_c."""

    @abstractmethod
    def _dual(self, lead: Floats, scale: float) -> Floats:
        """loss*(scale · slope) (n,), the conjugate at slopes of ``_ahead``, shrunk."""

    def evaluate(self, space: Space, scores: Scores, truth: Truth, residual: Scores) -> Floats:
        own = np.arange(len(scores.node)), truth.labels
        residual.node[:] = 0.0
        values = self._ahead(_leads(scores, truth), residual.node)
        residual.node[own] = -residual.node.sum(axis=1)
        if truth.weight is not None:
            residual.node[:] *= truth.weight[:, None]
        return weighted(values, truth.weight)

    def conjugate(self, space: Space, scores: Scores, truth: Truth, scale: float) -> float:
        return float(weighted(self._dual(_leads(scores, truth), scale), truth.weight).sum())


def _leads(scores: Scores, truth: Truth) -> Floats:
    own = np.arange(len(scores.node)), truth.labels
    lead = scores.node - scores.node[own][:, None]
    lead[own] = -np.inf
    return lead


@final
class PerceptronSum(_OfOthers):
    """Σ_{c≠y} max(0, s_c − s_y): every class that is ahead of the truth counts. A tie is a mistake.

    >>> import numpy as np
    >>> from argmax.losses import PerceptronSum
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.array([[0.5, 1.0, 0.7]])), Scores(np.empty((1, 3)))
    >>> PerceptronSum().evaluate(Classes(3), scores, Truth(np.array([0])), residual)
    array([0.7])
    >>> residual.node
    array([[-2.,  1.,  1.]])
    """

    name = "perceptron_sum"

    def _ahead(self, lead: Floats, slope: Floats) -> Floats:
        np.greater_equal(lead, 0.0, out=slope)
        return np.asarray(np.maximum(lead, 0.0).sum(axis=1))

    def _dual(self, lead: Floats, scale: float) -> Floats:
        return np.zeros(len(lead))  # twice the scores, twice the loss: no slope has another price


class _PassiveAggressive(_OfOthers):
    """A power of max(0, 1 + max_{c≠y} s_c − s_y)."""

    power: int

    def _ahead(self, lead: Floats, slope: Floats) -> Floats:
        best = np.arange(len(lead)), lead.argmax(axis=1)
        short = np.maximum(1.0 + lead[best], 0.0)
        slope[best] = np.where(short > 0.0, self.power * short ** (self.power - 1), 0.0)
        return np.asarray(short**self.power)

    def _dual(self, lead: Floats, scale: float) -> Floats:
        """g = scale · slope costs −g where the loss is linear, and ¼g² − g where it is a square."""
        short = np.maximum(1.0 + lead.max(axis=1), 0.0)
        if self.power == 1:
            return np.where(short > 0.0, -scale, 0.0)
        return np.asarray((scale * short) ** 2 - 2.0 * scale * short)


@final
class PassiveAggressive1(_PassiveAggressive):
    """max(0, 1 + max_{c≠y} s_c − s_y), of the first passive-aggressive learner.

    Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006 (JMLR 7).

    >>> import numpy as np
    >>> from argmax.losses import PassiveAggressive1
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.array([[0.5, 0.0]])), Scores(np.empty((1, 2)))
    >>> PassiveAggressive1().evaluate(Classes(2), scores, Truth(np.array([0])), residual)
    array([0.5])
    """

    name = "pa1"
    power = 1


@final
class PassiveAggressive2(_PassiveAggressive):
    """The square of max(0, 1 + max_{c≠y} s_c − s_y), of the second passive-aggressive learner.

    >>> import numpy as np
    >>> from argmax.losses import PassiveAggressive2
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.array([[0.5, 0.0]])), Scores(np.empty((1, 2)))
    >>> PassiveAggressive2().evaluate(Classes(2), scores, Truth(np.array([0])), residual)
    array([0.25])
    """

    name = "pa2"
    power = 2
