"""Priors that keep their form: an update is arithmetic on a few numbers.

    model                  prior          data                         posterior
    BetaBernoulli          Beta(a, b)     n₁ ones, n₀ zeros            Beta(a + n₁, b + n₀)
    DirichletMultinomial   Dirichlet(α)   counts n (k,)                Dirichlet(α + n)
    GaussianMean           N(m, v)        y (n,) with noise variance   precision 1/v + n/σ², mean in between

Each is a value: ``update`` returns a new one, so that today's posterior is tomorrow's prior.
``log_evidence(data)`` is log p(data) with θ integrated out, for data in the order they came.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
from scipy import stats
from scipy.special import betaln, gammaln

from .. import checks
from ..errors import InvalidInput
from ..records import Floats
from .credible import credible_interval

__all__ = ["BetaBernoulli", "Conjugate", "DirichletMultinomial", "GaussianMean"]


class Conjugate(ABC):
    """A prior that keeps its form."""

    @abstractmethod
    def update(self, data: Any) -> Self:
        """What is known after the data."""

    @abstractmethod
    def log_evidence(self, data: Any) -> float:
        """log p(data) = log ∫ p(data | θ) p(θ) dθ."""

    @property
    @abstractmethod
    def distribution(self) -> Any:
        """The distribution of θ, of scipy.stats."""


@final
@dataclass(frozen=True)
class BetaBernoulli(Conjugate):
    """θ = P(y = 1), with a prior worth a − 1 ones and b − 1 zeros beyond the uniform one.

    >>> from argmax import bayes
    >>> known = bayes.BetaBernoulli().update([1, 1, 1, 0])
    >>> known.a, known.b, round(known.predictive(), 4)  # (3 + 1) / (4 + 2): Laplace's rule
    (4.0, 2.0, 0.6667)
    >>> low, high = known.credible_interval()
    >>> round(low, 3), round(high, 3)
    (0.284, 0.947)
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        checks.number("a", self.a, 0.0, open_low=True)
        checks.number("b", self.b, 0.0, open_low=True)

    def _counts(self, data: Any) -> tuple[float, float]:
        values = np.asarray(data)
        if values.ndim != 1 or not np.isin(values, (0, 1)).all():
            raise InvalidInput(
                "data must be zeros and ones, (n,). Compare labels first: y == 'spam'."
            )
        ones = float(values.sum())
        return ones, len(values) - ones

    def update(self, data: Any) -> BetaBernoulli:
        ones, zeros = self._counts(data)
        return BetaBernoulli(self.a + ones, self.b + zeros)

    def log_evidence(self, data: Any) -> float:
        ones, zeros = self._counts(data)
        return float(betaln(self.a + ones, self.b + zeros) - betaln(self.a, self.b))

    @property
    def distribution(self) -> Any:
        return stats.beta(self.a, self.b)

    def predictive(self) -> float:
        """P(next y = 1) = E θ."""
        return self.a / (self.a + self.b)

    def credible_interval(self, level: float = 0.95, kind: str = "equal") -> tuple[float, float]:
        """Where θ lies with probability ``level``."""
        return credible_interval(self.distribution, level, kind)


@final
@dataclass(frozen=True, eq=False)
class DirichletMultinomial(Conjugate):
    """θ (k,) are the probabilities of k classes; data are counts (k,), or counts of several batches (m, k).

    >>> from argmax import bayes
    >>> known = bayes.DirichletMultinomial([1, 1, 1]).update([5, 2, 0])
    >>> known.alpha, known.predictive()
    (array([6., 3., 1.]), array([0.6, 0.3, 0.1]))
    >>> low, high = known.credible_interval()
    >>> high.round(3)  # a class that was never seen may still have a third
    array([0.863, 0.6  , 0.336])
    """

    alpha: Any  # (k,)

    def __post_init__(self) -> None:
        alpha = np.array(self.alpha, dtype=float)
        if alpha.ndim != 1 or len(alpha) < 2 or not (np.isfinite(alpha) & (alpha > 0)).all():
            raise InvalidInput(f"alpha must be two or more positive numbers; got {self.alpha!r}.")
        object.__setattr__(self, "alpha", alpha)

    def _counts(self, data: Any) -> Floats:
        counts = np.asarray(data, dtype=float)
        whole = counts.ndim in (1, 2) and counts.shape[-1] == len(self.alpha)
        if not whole or not ((counts >= 0) & (counts == np.floor(counts))).all():
            raise InvalidInput(
                f"data must be counts of {len(self.alpha)} classes, (k,) or (m, k); got {data!r}. "
                "Labels become counts with numpy.bincount(codes, minlength=k)."
            )
        return np.asarray(counts.reshape(-1, len(self.alpha)).sum(axis=0))

    def update(self, data: Any) -> DirichletMultinomial:
        return DirichletMultinomial(self.alpha + self._counts(data))

    def log_evidence(self, data: Any) -> float:
        after = self.alpha + self._counts(data)
        ratio = gammaln(after).sum() - gammaln(self.alpha).sum()
        return float(ratio + gammaln(self.alpha.sum()) - gammaln(after.sum()))

    @property
    def distribution(self) -> Any:
        return stats.dirichlet(self.alpha)

    def marginal(self, j: int) -> BetaBernoulli:
        """What is known of θ_j alone, against all other classes."""
        own = float(self.alpha[j])
        return BetaBernoulli(own, float(self.alpha.sum()) - own)

    def predictive(self) -> Floats:
        """P(next class = j) for each j (k,)."""
        return np.asarray(self.alpha / self.alpha.sum())

    def credible_interval(self, level: float = 0.95, kind: str = "equal") -> tuple[Floats, Floats]:
        """Lower and upper ends (k,), each class for itself."""
        pairs = [self.marginal(j).credible_interval(level, kind) for j in range(len(self.alpha))]
        low, high = np.array(pairs).T
        return low, high


@final
@dataclass(frozen=True)
class GaussianMean(Conjugate):
    """θ is the mean of numbers with Gaussian noise of a known variance; ``variance=inf`` is a flat prior.

    >>> from argmax import bayes
    >>> known = bayes.GaussianMean(mean=0.0, variance=4.0, noise_variance=1.0).update([1.0, 3.0])
    >>> round(known.mean, 4), round(known.variance, 4)  # 1/v + n/σ² = 1/4 + 2
    (1.7778, 0.4444)
    >>> low, high = known.credible_interval()
    >>> round(low, 3), round(high, 3)
    (0.471, 3.084)
    """

    mean: float = 0.0
    variance: float = math.inf
    noise_variance: float = 1.0

    def __post_init__(self) -> None:
        checks.number("mean", self.mean, -math.inf)
        checks.number("variance", self.variance, 0.0, open_low=True)
        checks.number("noise_variance", self.noise_variance, 0.0, open_low=True)

    def _numbers(self, data: Any) -> Floats:
        values = np.asarray(data, dtype=float)
        if values.ndim != 1 or not np.isfinite(values).all():
            raise InvalidInput(f"data must be finite numbers, (n,); got shape {values.shape}.")
        return values

    def update(self, data: Any) -> GaussianMean:
        values = self._numbers(data)
        if not len(values):
            return self
        own = len(values) / self.noise_variance
        precision = 1 / self.variance + own
        mean = (self.mean / self.variance + own * float(values.mean())) / precision
        return replace(self, mean=mean, variance=1 / precision)

    def log_evidence(self, data: Any) -> float:
        """Of a flat prior, ∫ p(data | θ) dθ."""
        values = self._numbers(data)
        n, noise = len(values), self.noise_variance
        if not n:
            return 0.0
        spread = float(((values - values.mean()) ** 2).sum())
        residual = -0.5 * ((n - 1) * math.log(2 * math.pi * noise) + spread / noise + math.log(n))
        if math.isinf(self.variance):
            return residual
        wide = self.variance + noise / n
        return residual + float(stats.norm(self.mean, math.sqrt(wide)).logpdf(values.mean()))

    @property
    def distribution(self) -> Any:
        if math.isinf(self.variance):
            raise InvalidInput("a flat prior is no distribution. Update it with data first.")
        return stats.norm(self.mean, math.sqrt(self.variance))

    def predictive(self) -> Any:
        """The distribution of the next number: N(mean, variance + noise)."""
        return stats.norm(self.mean, math.sqrt(self.variance + self.noise_variance))

    def credible_interval(self, level: float = 0.95, kind: str = "equal") -> tuple[float, float]:
        """Where θ lies with probability ``level``."""
        return credible_interval(self.distribution, level, kind)
