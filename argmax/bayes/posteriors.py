"""What is known of one number θ: as a closed form, on a grid, as probabilities of points, or as draws.

    Continuous   a distribution of scipy.stats            mean, quantiles and mode of the closed form
    Discrete     points with probabilities
    Grid         points with the density at each          trapezoids between them
    Draws        a sample, such as that of a Markov chain

All answer the same questions, so that a loss is written once: ``mean``, ``quantile``, ``mode``, ``tails``,
and ``nodes``, which are points and weights whose weighted sums are expectations.

Expectations of a closed form are taken in the space of its probabilities, from either end towards the point
where the integrand may have a corner, by the double-exponential rule, which minds neither infinite tails nor
densities that are infinite at an end. With Q the quantiles and F = P(θ ≤ corner),

    E f(θ) = ∫₀ᶠ f(Q(u)) du + ∫₀¹⁻ᶠ f(Q(1 − v)) dv

Reference: Takahasi, Mori, Double exponential formulas for numerical integration, Publ. RIMS 9 (1974).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np
from scipy import optimize, stats
from scipy.stats.distributions import rv_frozen

from ..errors import InvalidInput, WrongType
from ..records import Floats

__all__ = [
    "Continuous",
    "Discrete",
    "Draws",
    "Grid",
    "Points",
    "Posterior",
    "as_posterior",
]

LOOKS = 401
"""Levels at which a function of θ is looked at before its best neighbourhood is refined."""

NOTHING = 1e-250
"""A probability whose parts would not be numbers any more; no expectation notices that it is left out."""


def _double_exponential(step: float = 1 / 16, reach: float = 4.0) -> tuple[Floats, Floats]:
    """Points u in (0, 1), crowded at both ends, and weights that sum to 1."""
    t = np.arange(-reach, reach + step / 2, step)
    u = 1 / (1 + np.exp(-math.pi * np.sinh(t)))
    weights = step * math.pi * np.cosh(t) * u * (1 - u)
    return u, weights / weights.sum()


_U, _WEIGHTS = _double_exponential()


def refined(
    function: Callable[[float], float], places: Floats, values: Floats, width: float = 0.0
) -> float:
    """The minimiser of ``function`` between the neighbours of the best of ``places``, to ``width``."""
    best = int(np.argmin(values))
    low, high = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
    if not low < high:
        return float(places[best])
    close = {"xatol": max(width, 1e-12 * (high - low))}
    with np.errstate(invalid="ignore"):  # a flat or infinite edge of the bracket is no news
        found = optimize.minimize_scalar(
            function, bounds=(low, high), method="bounded", options=close
        )
    return float(found.x if found.fun <= values[best] else places[best])


class Posterior(ABC):
    """A distribution of one number, asked in the four ways that point estimates need."""

    @abstractmethod
    def mean(self) -> float:
        """E θ."""

    @abstractmethod
    def quantile(self, q: Any) -> Any:
        """The least value with P(θ ≤ value) ≥ q, for one q or an array of them."""

    @abstractmethod
    def mode(self) -> float:
        """The most probable value, or the value of the highest density."""

    @abstractmethod
    def nodes(self, corner: float) -> tuple[Floats, Floats]:
        """Points and weights: Σ w f(points) is E f(θ), also for an f that is not smooth at ``corner``."""

    @abstractmethod
    def tails(self, low: float, high: float) -> float:
        """P(θ < low or θ > high)."""


@final
class Continuous(Posterior):
    """A closed form: any frozen continuous distribution of scipy.stats.

    >>> from scipy import stats
    >>> from argmax import bayes
    >>> known = bayes.Continuous(stats.beta(3, 2))
    >>> round(known.mean(), 4), round(known.mode(), 4), round(known.quantile(0.5), 4)
    (0.6, 0.6667, 0.6143)
    """

    def __init__(self, distribution: Any) -> None:
        self.distribution = distribution

    def mean(self) -> float:
        return float(self.distribution.mean())

    def quantile(self, q: Any) -> Any:
        return _plain(self.distribution.ppf(q))

    def mode(self) -> float:
        density = self.distribution.logpdf
        places = self.quantile(np.linspace(1e-9, 1 - 1e-9, LOOKS))
        ends = np.array([end for end in self.distribution.support() if math.isfinite(end)])
        places = np.unique(np.concatenate([places, ends]))
        return refined(lambda value: -float(density(value)), places, -density(places))

    def nodes(self, corner: float) -> tuple[Floats, Floats]:
        below, above = float(self.distribution.cdf(corner)), float(self.distribution.sf(corner))
        points, weights = [], []
        if below > NOTHING:
            points.append(np.minimum(self.distribution.ppf(below * _U), corner))
            weights.append(below * _WEIGHTS)
        if above > NOTHING:
            points.append(np.maximum(self.distribution.isf(above * _U), corner))
            weights.append(above * _WEIGHTS)
        return np.concatenate(points), np.concatenate(weights)

    def tails(self, low: float, high: float) -> float:
        return float(self.distribution.cdf(low) + self.distribution.sf(high))


class Points(Posterior):
    """Sorted points, each with a probability of its own; how a mode is found is left open."""

    points: Floats
    weights: Floats

    def mean(self) -> float:
        return float(self.points @ self.weights)

    def quantile(self, q: Any) -> Any:
        at = np.searchsorted(np.cumsum(self.weights) - 1e-12, q)
        return _plain(self.points[np.minimum(at, len(self.points) - 1)])

    def nodes(self, corner: float) -> tuple[Floats, Floats]:
        return self.points, self.weights

    def tails(self, low: float, high: float) -> float:
        return float(self.weights[(self.points < low) | (self.points > high)].sum())


@final
class Discrete(Points):
    """Points and their probabilities, which are divided by their sum.

    >>> from argmax import bayes
    >>> known = bayes.Discrete([0, 1, 2], [0.5, 0.2, 0.3])
    >>> known.mean(), known.quantile(0.6), known.mode()
    (0.8, 1.0, 0.0)
    """

    def __init__(self, points: Any, probabilities: Any) -> None:
        self.points, mass = _table("probabilities", points, probabilities)
        self.weights = mass / mass.sum()

    def mode(self) -> float:
        return float(self.points[np.argmax(self.weights)])


@final
class Draws(Points):
    """A sample of θ. Its mode is the most frequent value, or the peak of a kernel estimate if none repeats.

    >>> import numpy as np
    >>> from argmax import bayes
    >>> known = bayes.Draws(np.random.default_rng(0).normal(2.0, 1.0, 4000))
    >>> round(known.mean(), 1), round(known.quantile(0.5), 1)
    (2.0, 2.0)
    """

    def __init__(self, draws: Any) -> None:
        values = np.asarray(draws, dtype=float)
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise InvalidInput(f"draws must be finite numbers, (n,); got shape {values.shape}.")
        self.points, self.weights = np.sort(values), np.full(len(values), 1 / len(values))

    def mode(self) -> float:
        values, counts = np.unique(self.points, return_counts=True)
        if len(values) == 1 or counts.max() > 1:
            return float(values[np.argmax(counts)])
        kernel = stats.gaussian_kde(self.points)
        places = np.linspace(self.points[0], self.points[-1], LOOKS)
        return refined(lambda value: -float(kernel(value)[0]), places, -kernel(places))


@final
class Grid(Posterior):
    """Points and the density at each, up to a factor; between them θ may lie as well.

    Errors fall with the square of the distance between points.

    >>> import numpy as np
    >>> from argmax import bayes
    >>> points = np.linspace(-6, 8, 1401)
    >>> known = bayes.Grid(points, np.exp(-0.5 * (points - 1) ** 2))
    >>> round(known.mean(), 6), round(known.quantile(0.5), 6), round(known.mode(), 6)
    (1.0, 1.0, 1.0)
    """

    def __init__(self, points: Any, density: Any) -> None:
        self.points, self.density = _table("density", points, density)
        gaps = np.diff(self.points)
        if len(gaps) == 0 or not gaps.all():
            raise InvalidInput(
                "points must be two or more different numbers. Use Discrete for single ones."
            )
        area = gaps * (self.density[1:] + self.density[:-1]) / 2
        self.below = np.append(0.0, area.cumsum() / area.sum())  # P(θ ≤ point)
        around = np.append(gaps, 0.0) + np.append(0.0, gaps)
        self.weights = around * self.density / (around @ self.density)

    def mean(self) -> float:
        return float(self.points @ self.weights)

    def quantile(self, q: Any) -> Any:
        return _plain(np.interp(q, self.below, self.points))

    def mode(self) -> float:
        return float(self.points[np.argmax(self.density)])

    def nodes(self, corner: float) -> tuple[Floats, Floats]:
        return self.points, self.weights

    def tails(self, low: float, high: float) -> float:
        first, last = np.interp([low, high], self.points, self.below)
        return float(1.0 - (last - first))


def _plain(values: Any) -> Any:
    return values if np.ndim(values) else float(values)


def _table(name: str, points: Any, values: Any) -> tuple[Floats, Floats]:
    """Both as columns, sorted by point."""
    points, values = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    if points.ndim != 1 or points.shape != values.shape:
        raise InvalidInput(
            f"points and {name} must be columns of one length; got {points.shape}, {values.shape}."
        )
    fine = np.isfinite(points).all() and np.isfinite(values).all() and (values >= 0).all()
    if not fine or not values.any():
        raise InvalidInput(
            f"{name} must be finite, 0 or more, and not all 0; points must be finite."
        )
    order = np.argsort(points, kind="stable")
    return points[order], values[order]


def as_posterior(given: Any) -> Posterior:
    """A Posterior as it is, a frozen distribution of scipy.stats, or a sample (n,), as a Posterior.

    >>> from scipy import stats
    >>> from argmax import bayes
    >>> bayes.as_posterior(stats.binom(4, 0.5)).mode()
    2.0
    """
    if isinstance(given, Posterior):
        return given
    if isinstance(given, rv_frozen):
        return Continuous(given) if isinstance(given.dist, stats.rv_continuous) else _counted(given)
    if isinstance(given, (np.ndarray, list, tuple)):
        return Draws(given)
    raise WrongType(
        "posterior must be a Posterior of argmax.bayes, a frozen distribution of scipy.stats, or an array of "
        f"draws; got {type(given).__name__}."
    )


def _counted(distribution: Any) -> Discrete:
    """A distribution of whole numbers; of infinitely many, those that leave out 1e-15 on either side."""
    low, high = distribution.support()
    low = low if math.isfinite(low) else distribution.ppf(1e-15)
    high = high if math.isfinite(high) else distribution.isf(1e-15)
    points = np.arange(low, high + 1)
    return Discrete(points, distribution.pmf(points))
