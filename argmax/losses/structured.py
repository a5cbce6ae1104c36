"""Losses over any space. With A = max or log-sum-exp:   loss = A(score + cost) − A(score | truth)."""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
from scipy.special import xlogy

from ..errors import Unsupported
from ..records import Floats, Ints, Scores, Truth
from ..spaces import Chain, Classes, Space
from .base import Loss, weighted
from .curvature import Softmax, shares_after

__all__ = ["Hinge", "Log", "Perceptron", "SoftmaxMargin", "augmented"]


def augmented(scores: Scores, truth: Truth) -> Scores:
    """score + cost: wrong labels are as much better as they are wrong."""
    if truth.prices is not None:
        return replace(scores, node=scores.node + truth.prices)
    if truth.cost is None:
        return scores
    if truth.cost.ndim == 1:
        return _raised(scores, truth.labels, float(truth.cost[0]))
    cost = truth.cost[truth.labels]
    if truth.cost_scale is not None:
        cost = cost * truth.cost_scale[:, None]
    return replace(scores, node=scores.node + cost)


def _raised(scores: Scores, labels: Ints, cost: float) -> Scores:
    """All wrong labels raised by the same cost."""
    node, own = scores.node + cost, (np.arange(len(labels)), labels)
    node[own] = scores.node[own]
    return replace(scores, node=node)


def _as_they_are(scores: Scores, truth: Truth) -> Scores:
    return scores


@final
class Log(Loss):
    """The negative log-likelihood −log P(y | x) = log Z − score(y).

    Cross-entropy with a one-hot truth, which is also the Kullback–Leibler divergence from it.

    >>> import numpy as np
    >>> from argmax.losses import Log
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.zeros((1, 4))), Scores(np.empty((1, 4)))
    >>> Log().evaluate(Classes(4), scores, Truth(np.array([2])), residual)  # log 4
    array([1.38629436])
    >>> residual.node
    array([[ 0.25,  0.25, -0.75,  0.25]])
    """

    name = "log"
    smooth = True
    convex = True
    takes_cost = False
    free_intercept = True
    probabilities = True
    foresees = True
    curvature = Softmax(_as_they_are)

    def evaluate(self, space: Space, scores: Scores, truth: Truth, residual: Scores) -> Floats:
        return space.nll(scores, truth.labels, truth.weight, residual)

    def conjugate(self, space: Space, scores: Scores, truth: Truth, scale: float) -> float:
        """−Σ weight · entropy of the mixture scale · P(y | x) + (1 − scale) · truth."""
        if isinstance(space, Chain):
            return self._conjugate_of_paths(space, scores, truth, scale)
        if not isinstance(space, Classes):
            raise Unsupported(f"an l1 penalty has no certificate over {space!r}. Use penalty='l2'.")
        values = _negative_entropy(_mixture(space, scores, truth, scale))
        return float(weighted(values, truth.weight).sum())

    def dual_point(
        self, space: Space, scores: Scores, truth: Truth, step: Floats, residual: Scores
    ) -> Floats:
        p = _after(self.curvature, space, scores, truth, step, residual)
        return weighted(_negative_entropy(p), truth.weight)[:, None]

    @staticmethod
    def _conjugate_of_paths(space: Chain, scores: Scores, truth: Truth, scale: float) -> float:
        """The same where answers are too many to list: all of them keep scale · P but the truth.

        With p = P(truth), m = scale · p + 1 − scale and the entropy H of P, it is
        m log m + scale [(1 − p) log scale − H − p log p].
        """
        if truth.allowed is not None:
            raise Unsupported(
                "an l1 penalty has no certificate with several labels a token. Use penalty='l2'."
            )
        logs = space.score(scores, truth.labels) - space.logz(scores).value
        p = np.exp(np.minimum(logs, 0.0))
        m = scale * p + 1.0 - scale
        own = m * np.log(np.where(m > 0, m, 1.0))
        rest = (
            np.log(scale) * (1.0 - p) - space.entropy(scores) - p * logs if scale > 0 else 0.0 * p
        )
        values = scale * rest + own
        return float(weighted(values, truth.weight).sum())


def _mixture(space: Classes, scores: Scores, truth: Truth, scale: float) -> Floats:
    """scale · P(y | x) + (1 − scale) · truth, (n, K)."""
    _, p = space.marginals(scores)
    mixture = scale * p.node
    mixture[np.arange(len(mixture)), truth.labels] += 1.0 - scale
    return mixture


def _after(
    curvature: Softmax, space: Space, scores: Scores, truth: Truth, step: Floats, residual: Scores
) -> Floats:
    """The shares after a step; ``residual`` becomes their difference to the truth, weighted."""
    filled = np.empty_like(scores.node)
    curvature.fill(space, scores, truth, filled)
    p = shares_after(filled, step)
    residual.node[:] = p
    residual.node[np.arange(len(p)), truth.labels] -= 1.0
    if truth.weight is not None:
        residual.node[:] *= truth.weight[:, None]
    return p


def _negative_entropy(p: Floats) -> Floats:
    return np.asarray(xlogy(p, p) @ np.ones(p.shape[1]))


def _no_conjugate(loss: Loss) -> Unsupported:
    return Unsupported(
        f"loss {loss.name!r} has no certificate with an l1 penalty. Use penalty='l2'."
    )


@final
class SoftmaxMargin(Loss):
    """log Σ exp(score + cost) − score(y): a log loss that keeps costly answers further away.

    Gimpel and Smith 2010 (NAACL).

    >>> import numpy as np
    >>> from argmax import costs
    >>> from argmax.losses import SoftmaxMargin
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.zeros((1, 2))), Scores(np.empty((1, 2)))
    >>> truth = Truth(np.array([0]), None, costs.zero_one(2))
    >>> SoftmaxMargin().evaluate(Classes(2), scores, truth, residual).round(4)  # log(1 + e)
    array([1.3133])
    """

    name = "softmax_margin"
    smooth = True
    convex = True
    takes_cost = True
    free_intercept = True
    probabilities = True
    foresees = True
    curvature = Softmax(augmented)

    def evaluate(self, space: Space, scores: Scores, truth: Truth, residual: Scores) -> Floats:
        return space.nll(augmented(scores, truth), truth.labels, truth.weight, residual)

    def dual_point(
        self, space: Space, scores: Scores, truth: Truth, step: Floats, residual: Scores
    ) -> Floats:
        p = _after(self.curvature, space, scores, truth, step, residual)
        cost = augmented(scores, truth).node - scores.node
        own = cost[np.arange(len(cost)), truth.labels]
        values = _negative_entropy(p) - np.einsum("ij,ij->i", p, cost) + own
        return weighted(values, truth.weight)[:, None]

    def conjugate(self, space: Space, scores: Scores, truth: Truth, scale: float) -> float:
        """−Σ weight · (entropy + expected cost) of the mixture scale · P(y | x) + (1 − scale) · truth."""
        if not isinstance(space, Classes):
            raise _no_conjugate(self)
        raised = augmented(scores, truth)
        mixture, cost = _mixture(space, raised, truth, scale), raised.node - scores.node
        own = cost[np.arange(len(cost)), truth.labels]
        values = _negative_entropy(mixture) - np.einsum("ij,ij->i", mixture, cost) + own
        return float(weighted(values, truth.weight).sum())


class _Max(Loss):
    """max_y' [score(y') + cost(y, y')] − score(y)."""

    smooth = False
    convex = True
    free_intercept = False
    probabilities = False

    def evaluate(self, space: Space, scores: Scores, truth: Truth, residual: Scores) -> Floats:
        answer = space.argmax(augmented(scores, truth))
        weight = np.ones(len(scores)) if truth.weight is None else truth.weight
        residual.node[:] = 0.0
        if residual.edge is not None:
            residual.edge[:] = 0.0
        space.parts(scores, answer.labels, -weight, residual)
        space.parts(scores, truth.labels, weight, residual)
        return np.asarray(weight * (answer.value - space.score(scores, truth.labels)))

    def conjugate(self, space: Space, scores: Scores, truth: Truth, scale: float) -> float:
        """−Σ weight · the cost of the mixture scale · answer + (1 − scale) · truth."""
        if not isinstance(space, Classes):
            raise _no_conjugate(self)
        raised = augmented(scores, truth)
        cost, places = raised.node - scores.node, np.arange(len(scores.node))
        answer = cost[places, space.argmax(raised).labels]
        values = scale * answer + (1.0 - scale) * cost[places, truth.labels]
        return -float(weighted(values, truth.weight).sum())


@final
class Hinge(_Max):
    """max_y' [score(y') + cost(y, y')] − score(y): zero once every answer is as far behind as it is wrong.

    Crammer and Singer 2001 for classes; Tsochantaridis, Joachims, Hofmann and Altun 2005 for structures.

    >>> import numpy as np
    >>> from argmax import costs
    >>> from argmax.losses import Hinge
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.array([[0.2, 0.0]])), Scores(np.empty((1, 2)))
    >>> Hinge().evaluate(
    ...     Classes(2), scores, Truth(np.array([0]), None, costs.zero_one(2)), residual
    ... )
    array([0.8])
    >>> residual.node
    array([[-1.,  1.]])
    """

    name = "hinge"
    takes_cost = True


@final
class Perceptron(_Max):
    """max_y' score(y') − score(y): zero for a right answer, however narrow.

    >>> import numpy as np
    >>> from argmax.losses import Perceptron
    >>> from argmax.records import Scores, Truth
    >>> from argmax.spaces import Classes
    >>> scores, residual = Scores(np.array([[0.2, 0.0]])), Scores(np.empty((1, 2)))
    >>> Perceptron().evaluate(Classes(2), scores, Truth(np.array([1])), residual)
    array([0.2])
    """

    name = "perceptron"
    takes_cost = False
    online = True
