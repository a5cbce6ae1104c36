"""Gaussian regression along its own axes, where posterior, evidence and their optimum are sums over numbers.

Prior θ = m + L z, with z standard normal (or flat), Gram matrix G = XᵀSX, residuals r = y − Xm. With
LᵀGL = U diag(e) Uᵀ and q = Uᵀ Lᵀ XᵀS r, and prior = 1 (or 0 where z is flat),

    posterior    θ = m + LU (q / (prior σ² + e))  ±  root LU diag(prior + e/σ²)^(−½)
    evidence     log p(y) = −½ [ν log 2πσ² + Σ log(prior + e/σ²) + (rᵀSr − Σ q²/(prior σ² + e)) / σ²]

L, not Σ0⁻¹, so that a singular Σ0 (weights that are known, or tied) is as good as any other. ν is the number
of rows, less one for each flat direction that was integrated out.

Reference: MacKay, Bayesian interpolation, Neural Computation 4 (1992).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ..errors import InvalidInput
from ..records import Floats
from .gaussian import Gaussian
from .posteriors import refined

__all__ = ["Spectrum"]

LOOKS = 241
"""Places looked at on a logarithmic scale before the best one is refined: the evidence may have two peaks."""

NOISE_FLOOR = 1e-12
"""The least noise that evidence may choose, as a share of the variance of y: data on a line have none."""


@final
@dataclass(frozen=True, eq=False)
class Spectrum:
    """A regression problem in the coordinates in which everything is diagonal."""

    values: Floats  # (p,) e
    axes: Floats  # (p, p) LU
    loading: Floats  # (p,) q
    mean: Floats  # (p,) m
    square: float  # rᵀSr
    outside: float  # what of it no θ explains
    rows: float  # ν
    flat: bool  # whether z is

    @classmethod
    def of(
        cls,
        gram: Floats,
        xy: Floats,
        yy: float,
        rows: float,
        mean: Floats,
        root: Floats,
        flat: bool = False,
    ) -> Spectrum:
        """From sums over the data, the prior's mean (p,) and its root L (p, p)."""
        residual = xy - gram @ mean
        square = max(yy - float(mean @ (xy + residual)), 0.0)
        return cls._along(gram, residual, square, rows, mean, root, flat)

    @classmethod
    def _along(
        cls,
        gram: Floats,
        residual: Floats,
        square: float,
        rows: float,
        mean: Floats,
        root: Floats,
        flat: bool,
    ) -> Spectrum:
        values, vectors = np.linalg.eigh(root.T @ gram @ root)
        axes = root @ vectors
        seen = values > 1e-13 * values.max(initial=0.0)
        if flat and not seen.all():
            raise InvalidInput(
                "prior_covariance=inf leaves the posterior improper: fewer independent rows than weights "
                f"({len(values)}). Give prior_covariance a finite value."
            )
        loading = np.where(seen, axes.T @ residual, 0.0)
        values = np.where(seen, values, 0.0)
        outside = square - float((loading[seen] ** 2 / values[seen]).sum())
        outside = outside if outside > 1e-12 * square else 0.0
        return cls(values, axes, loading, mean, square, outside, rows, flat)

    def gram(self) -> Floats:
        """XᵀSX again, where the prior covariance is I."""
        return np.asarray((self.axes * self.values) @ self.axes.T)

    def reweighted(self, variances: Floats) -> Spectrum:
        """The same with these prior variances (p,), where the prior covariance is I."""
        root, residual = np.diag(np.sqrt(variances)), self.axes @ self.loading
        return Spectrum._along(
            self.gram(), residual, self.square, self.rows, self.mean, root, False
        )

    def scaled(self, variance: float) -> Spectrum:
        """The same with a prior covariance ``variance`` times as large."""
        s = math.sqrt(variance)
        values, axes, loading = variance * self.values, s * self.axes, s * self.loading
        return replace(self, values=values, axes=axes, loading=loading)

    def posterior(self, noise: float) -> Gaussian:
        """What is known of θ under noise of this variance."""
        shrunk = (0.0 if self.flat else noise) + self.values
        mean = self.mean + self.axes @ (self.loading / shrunk)
        return Gaussian(mean, self.axes * np.sqrt(noise / shrunk))

    def log_evidence(self, noise: Any, factor: Any = 1.0) -> Any:
        """log p(y) with the prior covariance times ``factor``; for one noise variance, or for many."""
        noise, factor = np.asarray(noise, dtype=float), np.asarray(factor, dtype=float)
        misfit = self._misfit(0.0 * noise if self.flat else noise / factor)
        logs = np.log((not self.flat) + (factor / noise)[..., None] * self.values).sum(axis=-1)
        if self.flat:  # the density of a flat prior is 1
            logs = logs - len(self.values) * math.log(2 * math.pi)
        return -0.5 * (self.rows * np.log(2 * math.pi * noise) + logs + misfit / noise)

    def _misfit(self, ridge: Any) -> Any:
        """rᵀSr − Σ q²/(ridge + e), as a sum of positive terms: nothing cancels when the fit is perfect."""
        ridge = np.asarray(ridge, dtype=float)[..., None]
        seen = self.values > 0
        e, q = self.values[seen], self.loading[seen]
        return self.outside + (q * q / e * (ridge / (e + ridge))).sum(axis=-1)

    def best_noise(self) -> float:
        """The noise variance of the highest evidence, for the prior as it is."""
        scale = self.scale()
        if self.flat:  # closed form: the unbiased estimate of least squares
            free = self.rows - len(self.values)
            if free <= 0:
                raise InvalidInput(
                    "noise_variance='evidence' needs more rows than weights under a flat prior; got "
                    f"{self.rows:g} and {len(self.values)}. Give noise_variance a number."
                )
            return max(self.outside / free, NOISE_FLOOR * scale)
        return _argmax(self.log_evidence, NOISE_FLOOR * scale, 1e3 * scale)

    def best_scale(self, noise: float) -> float:
        """The factor of the prior covariance with the highest evidence, for a noise variance as it is."""
        low, high = self._factors()
        return _argmax(lambda factor: self.log_evidence(noise, factor), low * noise, high * noise)

    def best_both(self) -> tuple[float, float]:
        """Noise variance and factor of the prior covariance with the highest evidence together.

        For a given ratio of the two the best noise is a closed form, so one number is searched.
        """
        floor = NOISE_FLOOR * self.scale()

        def noise_at(ratio: Any) -> Any:  # ratio: factor / noise
            return np.maximum(self._misfit(1 / ratio) / self.rows, floor)

        def evidence(ratio: Any) -> Any:
            noise = noise_at(ratio)
            return self.log_evidence(noise, ratio * noise)

        ratio = _argmax(evidence, *self._factors())
        noise = float(noise_at(ratio))
        return noise, ratio * noise

    def scale(self) -> float:
        """The variance of y around the prior's mean: the unit of the search."""
        if self.rows <= 0:
            raise InvalidInput(
                "'evidence' needs two rows or more, since the intercept takes one of them; got 1 sample. "
                "Give noise_variance and prior_covariance numbers."
            )
        return self.square / self.rows or 1.0

    def _factors(self) -> tuple[float, float]:
        """Least and largest ratio of prior to noise that could matter: beyond, nothing changes."""
        largest = float(self.values.max(initial=0.0)) or 1.0
        return 1e-8 / largest, 1e14 / largest


def _argmax(function: Callable[[Any], Any], low: float, high: float) -> float:
    """Where a function of a positive number is highest."""
    places = np.linspace(math.log(low), math.log(high), LOOKS)
    best = refined(lambda t: -float(function(math.exp(t))), places, -function(np.exp(places)))
    return math.exp(best)
