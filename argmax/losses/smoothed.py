"""The hinges with their corners rounded off: what Newton's method can climb down, colder and colder.

    hinge            τ log Σ_c exp((s_c + Δ_c) / τ) − s_y         within τ log k of max_c (s_c + Δ_c) − s_y
    weston_watkins   Σ_{c≠y} τ log(1 + exp((1 − (s_y − s_c)) / τ))   within (k − 1) τ log 2

Nesterov 2005 (Mathematical Programming 103). At every temperature τ the residuals are a feasible point of the
dual of the hinge itself, so each smooth fit comes with a true bound on the hinge (``conjugate``).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, final

import numpy as np
from scipy.special import expit

from ..records import Floats, Scores, Truth
from ..spaces import Space
from .base import Loss, weighted
from .curvature import Softmax, Star
from .structured import augmented

__all__ = ["Smoothed", "smoothed"]


class Smoothed(Loss):
    """A hinge at a temperature; ``conjugate`` is that of the hinge, at these residuals."""

    smooth = True
    convex = True
    free_intercept = False
    probabilities = False
    structured = False

    def __init__(self, temperature: float) -> None:
        self.temperature = temperature
        self.curvature = self._curvature()

    @abstractmethod
    def _curvature(self) -> Any:
        """The second derivatives at this temperature."""

    @abstractmethod
    def shares(self, space: Space, scores: Scores, truth: Truth) -> Floats:
        """The dual variables α / c (n, K) that these scores stand for."""


@final
class _SmoothedHinge(Smoothed):
    name = "hinge"
    takes_cost = True

    def _curvature(self) -> Softmax:
        return Softmax(augmented, self.temperature)

    def evaluate(self, space: Space, scores: Scores, truth: Truth, residual: Scores) -> Floats:
        raised = augmented(scores, truth).node
        values = space.nll(Scores(raised / self.temperature), truth.labels, truth.weight, residual)
        places = np.arange(len(raised)), truth.labels
        own = weighted(raised[places] - scores.node[places], truth.weight)
        return self.temperature * values + own

    def shares(self, space: Space, scores: Scores, truth: Truth) -> Floats:
        filled = np.empty_like(scores.node)
        self._curvature().fill(space, scores, truth, filled)
        return filled

    def conjugate(self, space: Space, scores: Scores, truth: Truth, scale: float) -> float:
        """−Σ weight · expected cost: what the dual of the hinge has for these residuals."""
        cost = augmented(scores, truth).node - scores.node
        values = np.einsum("ij,ij->i", self.shares(space, scores, truth), cost)
        return -float(weighted(values, truth.weight).sum())


@final
class _SmoothedSum(Smoothed):
    name = "weston_watkins"
    takes_cost = False

    def _curvature(self) -> Star:
        return Star(0.25 / self.temperature, self._second)

    def _second(self, margin: Floats) -> Floats:
        z = (1.0 - margin) / self.temperature
        return np.asarray(expit(z) * expit(-z) / self.temperature)

    def evaluate(self, space: Space, scores: Scores, truth: Truth, residual: Scores) -> Floats:
        own = np.arange(len(scores.node)), truth.labels
        z = (1.0 - (scores.node[own][:, None] - scores.node)) / self.temperature
        z[own] = -np.inf
        residual.node[:] = self.shares(space, scores, truth)
        if truth.weight is not None:
            residual.node[:] *= truth.weight[:, None]
        values = self.temperature * np.logaddexp(0.0, z).sum(axis=1)
        return weighted(values, truth.weight)

    def shares(self, space: Space, scores: Scores, truth: Truth) -> Floats:
        own = np.arange(len(scores.node)), truth.labels
        share = expit((1.0 - (scores.node[own][:, None] - scores.node)) / self.temperature)
        share[own] = 0.0
        share[own] = -share.sum(axis=1)
        return np.asarray(share)

    def conjugate(self, space: Space, scores: Scores, truth: Truth, scale: float) -> float:
        """−Σ weight · Σ_{c≠y} α_c: what the dual of the sum of hinges has for these residuals."""
        share = self.shares(space, scores, truth)
        values = share[np.arange(len(share)), truth.labels]
        return float(weighted(values, truth.weight).sum())


def smoothed(loss: Loss, temperature: float) -> Smoothed:
    """A hinge at a temperature.

    >>> import numpy as np
    >>> from argmax import costs, losses
    >>> from argmax.losses.smoothed import smoothed
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.array([[0.2, 0.0]])), Scores(np.empty((1, 2)))
    >>> truth = Truth(np.array([0]), None, costs.zero_one(2))
    >>> cold = smoothed(losses.get("hinge"), 0.01)
    >>> cold.evaluate(Classes(2), scores, truth, residual).round(6)  # the hinge has 0.8
    array([0.8])
    """
    kinds = {"hinge": _SmoothedHinge, "weston_watkins": _SmoothedSum}
    return kinds[loss.name](temperature)
