"""Losses of single labels: Weston–Watkins, and those that ask one binary question for each label.

    loss             value                                          two labels, f = s₁ − s₀, t = ±1
    weston_watkins   Σ_{c≠y} max(0, 1 − (s_y − s_c))                max(0, 1 − t f)
    squared_hinge    Σ_c max(0, 1 − t_c s_c)²                       max(0, 1 − t f)²
    squared          ½ Σ_c (s_c − t_c)²                             ½ (f − t)²
    ovr_log          Σ_c log(1 + exp(−t_c s_c))                     log(1 + exp(−t f))

t_c is 1 for the truth and −1 for every other label. Two labels make one question, not the same one twice:
each loss is then the one of the textbook.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import final

import numpy as np
from scipy.special import expit, xlogy

from ..records import Floats, Scores, Truth
from ..spaces import Space
from .base import Loss, weighted
from .curvature import Separate, differences, spread_out

__all__ = ["OvrLog", "Squared", "SquaredHinge", "WestonWatkins"]


@final
class WestonWatkins(Loss):
    """Σ_{c≠y} max(0, 1 − (s_y − s_c)): every label that comes too close counts, not just the worst.

    Weston and Watkins 1999 (ESANN). The labels it wants at a distance of 1 are all of them, so costs have
    no place in it.

    >>> import numpy as np
    >>> from argmax.losses import WestonWatkins
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.array([[1.0, 0.5, 0.2]])), Scores(np.empty((1, 3)))
    >>> WestonWatkins().evaluate(Classes(3), scores, Truth(np.array([0])), residual)
    array([0.7])
    >>> residual.node
    array([[-2.,  1.,  1.]])
    """

    name = "weston_watkins"
    smooth = False
    convex = True
    takes_cost = False
    free_intercept = False
    probabilities = False
    structured = False

    def evaluate(self, space: Space, scores: Scores, truth: Truth, residual: Scores) -> Floats:
        own = np.arange(len(scores.node)), truth.labels
        short = 1.0 - (scores.node[own][:, None] - scores.node)
        short[own] = 0.0
        np.greater(short, 0.0, out=residual.node)
        residual.node[own] = -residual.node.sum(axis=1)
        if truth.weight is not None:
            residual.node[:] *= truth.weight[:, None]
        return weighted(np.maximum(short, 0.0).sum(axis=1), truth.weight)

    def conjugate(self, space: Space, scores: Scores, truth: Truth, scale: float) -> float:
        """loss*(r) = −Σ_{c≠y} r_c while 0 ≤ r_c ≤ 1 for all of them."""
        residual = Scores(np.empty(scores.node.shape))
        self.evaluate(space, scores, truth, residual)
        return scale * float(residual.node[np.arange(len(scores.node)), truth.labels].sum())


class _Binary(Loss):
    """Σ_c φ(t_c s_c) for a convex φ of one number."""

    smooth = True
    convex = True
    takes_cost = False
    structured = False
    relative = False
    foresees = True
    steepest = -math.inf, math.inf  # φ' lies between

    @abstractmethod
    def _value(self, margin: Floats) -> Floats:
        """φ."""

    @abstractmethod
    def _slope(self, margin: Floats) -> Floats:
        """φ'."""

    @abstractmethod
    def _dual(self, slope: Floats) -> Floats:
        """φ* of a slope between 0 and one that φ has."""

    def evaluate(self, space: Space, scores: Scores, truth: Truth, residual: Scores) -> Floats:
        f, t = differences(scores.node, truth)
        slope = t * self._slope(t * f)
        spread_out(slope * weight_or_one(truth.weight), residual.node)
        return weighted(self._value(t * f).sum(axis=1), truth.weight)

    def dual_point(
        self, space: Space, scores: Scores, truth: Truth, step: Floats, residual: Scores
    ) -> Floats:
        f, t = differences(scores.node, truth)
        ahead, _ = differences(step, truth)
        assert isinstance(self.curvature, Separate)
        slope = self._slope(t * f) + self.curvature.second(t * f) * t * ahead
        np.clip(slope, *self.steepest, out=slope)
        spread_out(t * slope * weight_or_one(truth.weight), residual.node)
        return self._dual(slope) * weight_or_one(truth.weight)

    def conjugate(self, space: Space, scores: Scores, truth: Truth, scale: float) -> float:
        f, t = differences(scores.node, truth)
        values = self._dual(scale * self._slope(t * f)).sum(axis=1)
        return float(weighted(values, truth.weight).sum())


def weight_or_one(weight: Floats | None) -> Floats | float:
    """What multiplies a row (n, 1), or all of them."""
    return 1.0 if weight is None else weight[:, None]


def _one(margin: Floats) -> Floats:
    return np.ones_like(margin)


def _sigmoid_slope(margin: Floats) -> Floats:
    return np.asarray(expit(margin) * expit(-margin))


def _twice_inside(margin: Floats) -> Floats:
    return np.where(margin < 1.0, 2.0, 0.0)


@final
class Squared(_Binary):
    """½ Σ_c (s_c − t_c)²: linear regression on codes of −1 and 1; its optimum is RidgeClassifier's.

    A right answer that is too sure (t·s above 1) costs as much as a wrong one: that is its weakness.

    >>> import numpy as np
    >>> from argmax.losses import Squared
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.array([[3.0, -1.0, 0.0]])), Scores(np.empty((1, 3)))
    >>> Squared().evaluate(Classes(3), scores, Truth(np.array([0])), residual)
    array([2.5])
    >>> residual.node  # 3 is two too much, 0 one
    array([[ 2., -0.,  1.]])
    """

    name = "squared"
    free_intercept = True
    probabilities = False
    curvature = Separate(1.0, _one)

    def _value(self, margin: Floats) -> Floats:
        return np.asarray(0.5 * (margin - 1.0) ** 2)

    def _slope(self, margin: Floats) -> Floats:
        return margin - 1.0

    def _dual(self, slope: Floats) -> Floats:
        return np.asarray(slope + 0.5 * slope**2)


@final
class SquaredHinge(_Binary):
    """Σ_c max(0, 1 − t_c s_c)²: the objective of scikit-learn's LinearSVC as it comes (LIBLINEAR -s 2).

    >>> import numpy as np
    >>> from argmax.losses import SquaredHinge
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.array([[3.0, -1.0, 0.0]])), Scores(np.empty((1, 3)))
    >>> SquaredHinge().evaluate(Classes(3), scores, Truth(np.array([0])), residual)
    array([1.])
    >>> residual.node + 0.0
    array([[0., 0., 2.]])
    """

    name = "squared_hinge"
    free_intercept = False
    probabilities = False
    curvature = Separate(2.0, _twice_inside)
    steepest = -math.inf, 0.0

    def _value(self, margin: Floats) -> Floats:
        return np.asarray(np.maximum(1.0 - margin, 0.0) ** 2)

    def _slope(self, margin: Floats) -> Floats:
        return np.asarray(np.minimum(2.0 * margin - 2.0, 0.0))

    def _dual(self, slope: Floats) -> Floats:
        return np.asarray(slope + 0.25 * slope**2)


@final
class OvrLog(_Binary):
    """Σ_c log(1 + exp(−t_c s_c)): k logistic regressions, each label against the rest, in one pass.

    >>> import numpy as np
    >>> from argmax.losses import OvrLog
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.zeros((1, 3))), Scores(np.empty((1, 3)))
    >>> OvrLog().evaluate(Classes(3), scores, Truth(np.array([0])), residual)  # 3 log 2
    array([2.07944154])
    >>> residual.node
    array([[-0.5,  0.5,  0.5]])
    """

    name = "ovr_log"
    free_intercept = True
    probabilities = True
    curvature = Separate(0.25, _sigmoid_slope)
    steepest = -1.0, 0.0

    def _value(self, margin: Floats) -> Floats:
        return np.logaddexp(0.0, -margin)

    def _slope(self, margin: Floats) -> Floats:
        return np.asarray(-expit(-margin))

    def _dual(self, slope: Floats) -> Floats:
        return np.asarray(xlogy(-slope, -slope) + xlogy(1.0 + slope, 1.0 + slope))
