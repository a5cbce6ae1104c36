"""Losses: how far the scores of a model are from the truth. Each is an object, or its name.

With A = max or log-sum-exp, on every space:   loss = A(score + cost) − A(score | truth).

    loss             A     cost   residual = ∂loss/∂scores
    log              sum   no     marginals − truth               softmax regression; CRF
    softmax_margin   sum   yes    marginals of score + cost − truth
    hinge            max   yes    argmax of score + cost − truth  SVM; structured SVM
    perceptron       max   no     argmax − truth                  (averaged) perceptron
    pseudo           sum   no     of each node given its neighbours − truth

Of single labels only (``flat``): ``weston_watkins``, ``squared_hinge``, ``squared``, ``ovr_log``; and for
online learners (``online``): ``perceptron_sum``, ``pa1``, ``pa2``.

A loss declares what it is (smooth, convex, with or without a cost) and fills residuals; it knows spaces,
but neither features nor weights. The same few lines serve classes and sequences.
"""

from __future__ import annotations

from ..errors import InvalidInput
from .base import Curvature, Loss
from .flat import OvrLog, Squared, SquaredHinge, WestonWatkins
from .online import PassiveAggressive1, PassiveAggressive2, PerceptronSum
from .pseudo import PseudoLikelihood
from .structured import Hinge, Log, Perceptron, SoftmaxMargin

__all__ = [
    "Curvature",
    "Hinge",
    "Log",
    "Loss",
    "OvrLog",
    "PassiveAggressive1",
    "PassiveAggressive2",
    "Perceptron",
    "PerceptronSum",
    "PseudoLikelihood",
    "SoftmaxMargin",
    "Squared",
    "SquaredHinge",
    "WestonWatkins",
    "get",
]

_BY_NAME = {
    loss.name: loss
    for loss in (
        Log(), SoftmaxMargin(), Hinge(), Perceptron(), WestonWatkins(), SquaredHinge(), Squared(), OvrLog(),
        PerceptronSum(), PassiveAggressive1(), PassiveAggressive2(), PseudoLikelihood(),
    )
}  # fmt: skip


def get(loss: str | Loss) -> Loss:
    """A loss by its name, or the loss itself.

    >>> from argmax import losses
    >>> losses.get("log").smooth
    True
    """
    if isinstance(loss, Loss):
        return loss
    if loss not in _BY_NAME:
        raise InvalidInput(f"loss must be one of {sorted(_BY_NAME)}; got {loss!r}.")
    return _BY_NAME[loss]
