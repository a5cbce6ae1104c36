"""One number for θ: the action with the least posterior risk.

    r(a) = E[loss(a, θ) | data]        point estimate = argmin over a of r(a)

    loss(a, θ)                                  the point estimate is
    "square"       (θ − a)²                     the posterior mean
    "absolute"     |θ − a|                      the posterior median
    "zero_one"     1[θ ≠ a]                     the posterior mode
    Asymmetric     u (θ − a)₊ + o (a − θ)₊      the u / (u + o) quantile
    Within         1[|θ − a| > ε]               the midpoint of the best interval
    any function   loss(a, θ)                   found by minimising r

For a continuous θ *every* action has zero-one risk 1, and the mode is no minimiser of anything: it is what
the minimisers of ``Within(ε)`` tend to as ε falls. ``posterior_risk`` says so, and returns 1.

Reference: Berger, Statistical decision theory and Bayesian analysis, 1985, chapter 4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks
from ..errors import InvalidInput, WrongType
from ..records import Floats
from .posteriors import LOOKS, Posterior, as_posterior, refined

__all__ = ["Asymmetric", "Loss", "Within", "point_estimate", "posterior_risk"]


class Loss(ABC):
    """How much an action a costs when θ is the truth, and which action is best under a posterior."""

    @abstractmethod
    def risk(self, known: Posterior, action: float) -> float:
        """E loss(action, θ)."""

    @abstractmethod
    def best(self, known: Posterior) -> float:
        """The action of the least risk."""


@final
@dataclass(frozen=True)
class _Square(Loss):
    """(θ − a)²."""

    def risk(self, known: Posterior, action: float) -> float:
        return _expected(known, lambda a, theta: (theta - a) ** 2, action)

    def best(self, known: Posterior) -> float:
        return known.mean()


@final
@dataclass(frozen=True)
class Asymmetric(Loss):
    """``under`` · (θ − a) for an action that is too low, ``over`` · (a − θ) for one that is too high.

    >>> from scipy import stats
    >>> from argmax import bayes
    >>> newsvendor = bayes.Asymmetric(under=3.0, over=1.0)  # a lost sale costs three unsold copies
    >>> round(bayes.point_estimate(stats.norm(100, 10), newsvendor), 2)  # the quantile of 3/4
    106.74
    """

    under: float
    over: float

    def __post_init__(self) -> None:
        checks.number("under", self.under, 0.0, open_low=True)
        checks.number("over", self.over, 0.0, open_low=True)

    def risk(self, known: Posterior, action: float) -> float:
        return _expected(
            known,
            lambda a, theta: np.where(theta > a, self.under * (theta - a), self.over * (a - theta)),
            action,
        )

    def best(self, known: Posterior) -> float:
        return float(known.quantile(self.under / (self.under + self.over)))


@final
@dataclass(frozen=True)
class Within(Loss):
    """1 unless the action comes within ``epsilon`` of θ: the loss whose limit is the posterior mode.

    >>> from scipy import stats
    >>> from argmax import bayes
    >>> [round(bayes.point_estimate(stats.gamma(3), bayes.Within(e)), 3) for e in (1.0, 0.1, 0.01)]
    [2.164, 2.002, 2.0]
    """

    epsilon: float

    def __post_init__(self) -> None:
        checks.number("epsilon", self.epsilon, 0.0, open_low=True)

    def risk(self, known: Posterior, action: float) -> float:
        return known.tails(action - self.epsilon, action + self.epsilon)

    def best(self, known: Posterior) -> float:
        return _minimiser(self, known)


@final
@dataclass(frozen=True)
class _ZeroOne(Loss):
    """1[θ ≠ a]."""

    def risk(self, known: Posterior, action: float) -> float:
        return known.tails(action, action)

    def best(self, known: Posterior) -> float:
        return known.mode()


@final
@dataclass(frozen=True)
class _Custom(Loss):
    """Somebody's own loss(action, θ), θ an array."""

    function: Callable[[float, Floats], Any]

    def risk(self, known: Posterior, action: float) -> float:
        return _expected(known, self.function, action)

    def best(self, known: Posterior) -> float:
        return _minimiser(self, known)


LOSSES: dict[str, Loss] = {
    "square": _Square(),
    "absolute": Asymmetric(1.0, 1.0),
    "zero_one": _ZeroOne(),
}


def _loss(given: Any) -> Loss:
    if isinstance(given, Loss):
        return given
    if isinstance(given, str):
        return LOSSES[checks.choice("loss", given, tuple(LOSSES))]
    if callable(given):
        return _Custom(given)
    raise WrongType(
        f"loss must be one of {', '.join(map(repr, LOSSES))}, a Loss of argmax.bayes, or a function "
        f"loss(action, theta); got {given!r}."
    )


def posterior_risk(posterior: Any, loss: Any, action: Any) -> Any:
    """r(a) = E[loss(a, θ) | data], for one action or an array of them.

    ``posterior`` is a frozen distribution of scipy.stats, a ``Grid``, a ``Discrete``, or an array of draws.

    >>> from scipy import stats
    >>> from argmax import bayes
    >>> posterior = stats.norm(1.0, 2.0)
    >>> risks = bayes.posterior_risk(posterior, "square", [0.0, 1.0, 2.0])
    >>> risks.round(6).tolist()  # variance plus squared distance from the mean
    [5.0, 4.0, 5.0]
    >>> bayes.posterior_risk(posterior, "zero_one", 1.0)  # no action ever hits a continuous θ
    1.0
    """
    known, cost = as_posterior(posterior), _loss(loss)
    risks = [cost.risk(known, float(a)) for a in np.ravel(action)]
    return risks[0] if np.ndim(action) == 0 else np.reshape(risks, np.shape(action))


def point_estimate(posterior: Any, loss: Any = "square", actions: Any = None) -> float:
    """The action of the least posterior risk: over all numbers, or among ``actions``.

    ``loss`` is "square", "absolute", "zero_one", an ``Asymmetric``, a ``Within``, or a function
    loss(action, theta) that takes θ as an array. Of equally good actions the first one is returned.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from argmax import bayes
    >>> posterior = stats.beta(3, 2)
    >>> [
    ...     round(bayes.point_estimate(posterior, loss), 4)
    ...     for loss in ("square", "absolute", "zero_one")
    ... ]
    [0.6, 0.6143, 0.6667]
    >>> def linex(action, theta):  # too high is worse than too low
    ...     return np.exp(2 * (action - theta)) - 2 * (action - theta) - 1
    >>> round(bayes.point_estimate(stats.norm(0, 1), linex), 4)  # mean − variance · 2 / 2
    -1.0
    >>> bayes.point_estimate(posterior, "square", actions=[0.0, 0.5, 1.0])
    0.5
    """
    known, cost = as_posterior(posterior), _loss(loss)
    if actions is None:
        return float(cost.best(known))
    choices = np.asarray(actions, dtype=float).ravel()
    if not len(choices):
        raise InvalidInput("actions is empty. Pass at least one action, or None for any number.")
    return float(choices[np.argmin([cost.risk(known, a) for a in choices])])


def _expected(known: Posterior, loss: Callable[[float, Floats], Any], action: float) -> float:
    theta, weights = known.nodes(action)
    values = np.asarray(loss(action, theta), dtype=float)
    if values.shape != theta.shape:
        raise InvalidInput(
            f"loss(action, theta) must return one number for each of the {len(theta)} values of theta; "
            f"got shape {values.shape}."
        )
    if np.isnan(values).any():
        raise InvalidInput(f"loss(action, theta) is NaN at action {action:g}. It must be a number.")
    return float(values @ weights)


def _minimiser(loss: Loss, known: Posterior) -> float:
    """argmin of the risk: looked for among the quantiles, beyond them while it falls there, then refined."""
    places = np.unique(known.quantile(np.linspace(1e-6, 1 - 1e-6, LOOKS)))
    reach = float(places[-1] - places[0]) or max(abs(float(places[0])), 1.0)
    risks = np.array([loss.risk(known, a) for a in places])
    for _ in range(60):
        best = int(np.argmin(risks))
        if not (best in (0, len(risks) - 1) and risks[best] < risks.max()) and len(places) > 2:
            return refined(lambda a: loss.risk(known, float(a)), places, risks)
        places = np.concatenate([[places[0] - reach], places, [places[-1] + reach]])
        ends = [loss.risk(known, places[0]), loss.risk(known, places[-1])]
        risks, reach = np.concatenate([ends[:1], risks, ends[1:]]), 2 * reach
    raise InvalidInput(
        "the risk of this loss falls for ever, so no action is the best one. Give actions to choose among."
    )
