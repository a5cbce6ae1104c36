"""A Gaussian over several numbers, held as mean and root: θ = mean + root z with z standard normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import stats
from scipy.special import ndtri

from .. import checks
from ..errors import InvalidInput
from ..records import Floats

__all__ = ["Ellipsoid", "Gaussian", "Predictive", "generator"]


def generator(random_state: Any) -> np.random.Generator:
    """A Generator from itself, a seed, a RandomState, or None for a new one each time."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    return np.random.default_rng(checks.seed(random_state))


@final
@dataclass(frozen=True, eq=False)
class Gaussian:
    """N(mean, root rootᵀ) over θ (p,). The root may have fewer columns than rows: then some are tied.

    >>> import numpy as np
    >>> from argmax import bayes
    >>> known = bayes.Gaussian(np.array([1.0, 0.0]), np.array([[2.0, 0.0], [1.0, 1.0]]))
    >>> known.covariance
    array([[4., 2.],
           [2., 2.]])
    >>> known.sample(3, random_state=0).shape
    (3, 2)
    >>> [0.0, 5.0] in known.ellipsoid(0.95), [1.0, 1.0] in known.ellipsoid(0.95)
    (False, True)
    """

    mean: Floats  # (p,)
    root: Floats  # (p, r)

    @property
    def covariance(self) -> Floats:
        """(p, p)."""
        return np.asarray(self.root @ self.root.T)

    @property
    def std(self) -> Floats:
        """Standard deviation of each number (p,)."""
        return np.asarray(np.sqrt((self.root**2).sum(axis=1)))

    def marginal(self, j: int) -> Any:
        """The distribution of θ_j alone, of scipy.stats: what ``point_estimate`` takes."""
        return stats.norm(self.mean[j], self.std[j])

    def sample(self, n: int, random_state: Any = None) -> Floats:
        """n draws (n, p)."""
        shape = checks.positive_integer("n", n), self.root.shape[1]
        z = generator(random_state).standard_normal(shape)
        return np.asarray(self.mean + z @ self.root.T)

    def credible_interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends (p,), each number for itself; ``ellipsoid`` is for all of them at once."""
        reach = _reach(level) * self.std
        return self.mean - reach, self.mean + reach

    def ellipsoid(self, level: float = 0.95, of: Any = None) -> Ellipsoid:
        """The smallest set that holds θ with probability ``level``; ``of`` picks some of its numbers."""
        chosen = slice(None) if of is None else np.asarray(of, dtype=np.intp)
        return Ellipsoid(
            self.mean[chosen], self.root[chosen], checks.number("level", level, 0.0, 1.0)
        )


@final
@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """{θ : (θ − mean)ᵀ Σ⁻¹ (θ − mean) ≤ the ``level`` quantile of χ²}, the set of highest density."""

    mean: Floats  # (p,)
    root: Floats  # (p, r)
    level: float

    def __contains__(self, theta: Any) -> bool:
        return bool(self.holds(np.asarray(theta, dtype=float)[None, :])[0])

    def holds(self, thetas: Any) -> Any:
        """Which of the rows of ``thetas`` (m, p) lie inside (m,)."""
        offset = np.asarray(thetas, dtype=float) - self.mean
        axes, lengths, _ = np.linalg.svd(self.root, full_matrices=False)
        kept = lengths > 1e-12 * lengths.max(initial=0.0)
        inside = offset @ axes[:, kept]
        stray = np.abs(offset - inside @ axes[:, kept].T).max(axis=1)
        square = ((inside / lengths[kept]) ** 2).sum(axis=1)
        tied = stray <= 1e-9 * (1.0 + np.abs(self.mean).max())
        return tied & (square <= stats.chi2.ppf(self.level, kept.sum()))

    def boundary(self, points: int = 200) -> Floats:
        """Points (points, 2) around the edge, for a picture; of two numbers only."""
        if len(self.mean) != 2:
            raise InvalidInput(
                f"a boundary is drawn of two numbers; this ellipsoid has {len(self.mean)}. "
                "Choose two, for example ellipsoid(level, of=[0, 1])."
            )
        angle = np.linspace(0.0, 2 * np.pi, points)
        circle = np.stack([np.cos(angle), np.sin(angle)])
        axes, lengths, _ = np.linalg.svd(self.root)
        reach = np.sqrt(stats.chi2.ppf(self.level, 2))
        return np.asarray(self.mean + (reach * (axes * lengths) @ circle).T)


@final
@dataclass(frozen=True, eq=False)
class Predictive:
    """The distribution of y at each of n rows: N(mean, inherent + parameter).

    ``inherent`` is the noise in y that no amount of data removes, ``parameter`` what comes from not knowing
    the weights: xᵀΣx, which falls as data come.

    >>> import numpy as np
    >>> from argmax import bayes
    >>> at = bayes.Predictive(np.array([0.0]), np.array([1.0]), np.array([3.0]))
    >>> at.std, at.interval(0.95)[1].round(2)
    (array([2.]), array([3.92]))
    """

    mean: Floats  # (n,)
    inherent: Floats  # (n,)
    parameter: Floats  # (n,)

    @property
    def variance(self) -> Floats:
        """(n,)."""
        return self.inherent + self.parameter

    @property
    def std(self) -> Floats:
        """(n,)."""
        return np.sqrt(self.variance)

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Where y lies with probability ``level`` at each row: low and high (n,)."""
        reach = _reach(level) * self.std
        return self.mean - reach, self.mean + reach

    def mean_interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Where E[y | x] lies with probability ``level``: the parameters' part alone."""
        reach = _reach(level) * np.sqrt(self.parameter)
        return self.mean - reach, self.mean + reach

    def log_density(self, y: Any) -> Floats:
        """log p(y | x, data) at each row (n,): minus their mean is the log loss."""
        y = np.asarray(y, dtype=float)
        checks.same_length(X=self.mean, y=y)
        scaled = (y - self.mean) ** 2 / self.variance
        return np.asarray(-0.5 * (np.log(2 * np.pi * self.variance) + scaled))


def _reach(level: float) -> float:
    return float(ndtri(0.5 + checks.number("level", level, 0.0, 1.0) / 2))
