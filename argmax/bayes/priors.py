"""The prior of Gaussian regression, from the parameters that people write to a mean and a root.

θ = (intercept, weights). The intercept may be absent, flat (known nothing of, and never shrunk), or have a
distribution like everything else; a flat one drops out of the algebra when the data are centred.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.linalg import block_diag

from .. import checks
from ..errors import InvalidInput, Unsupported, WrongType
from ..records import Floats
from .gaussian import Gaussian
from .moments import Moments
from .spectrum import Spectrum

__all__ = ["Prior"]


@final
@dataclass(frozen=True, eq=False)
class Prior:
    """N(mean, root rootᵀ) over the weights, or over (intercept, weights) if ``intercept`` is "proper"."""

    mean: Floats  # (p,)
    root: Floats  # (p, p)
    flat: bool  # the weights' prior
    intercept: str  # "none" "flat" "proper"

    @classmethod
    def read(
        cls, d: int, mean: Any, covariance: Any, intercept_variance: Any, intercept: bool
    ) -> Prior:
        """From the parameters of GaussianRegression, for d features."""
        variance = _intercept_variance(intercept_variance, intercept)
        if isinstance(covariance, str):
            checks.choice("prior_covariance", covariance, ("evidence", "ard"))
            if variance is not None:
                raise Unsupported(
                    f"prior_covariance={covariance!r} needs a flat intercept. Use "
                    "intercept_variance=None, or give prior_covariance a number."
                )
            return cls(_mean(mean, d, False), np.eye(d), False, "flat" if intercept else "none")
        root, joint = _root(covariance, d, intercept)
        flat = root is None
        if joint and variance is not None:
            raise Unsupported(
                f"intercept_variance={intercept_variance!r} would be ignored: prior_covariance already "
                "covers the intercept. Use intercept_variance=None."
            )
        if flat and variance is not None:
            raise Unsupported(
                "prior_covariance=inf is flat on all weights and needs a flat intercept. "
                "Use intercept_variance=None."
            )
        root = np.eye(d) if root is None else root
        if variance is not None:
            root, joint = block_diag(math.sqrt(variance), root), True
        kind = "proper" if joint else "flat" if intercept else "none"
        return cls(_mean(mean, d, joint), root, flat, kind)

    @property
    def proper(self) -> bool:
        """Whether it is a distribution at all: nothing is flat."""
        return not self.flat and self.intercept != "flat"

    def spectrum(self, data: Moments) -> Spectrum:
        """The problem along its own axes: weights, and a proper intercept at the mean of the rows."""
        if self.intercept == "none":
            data, rows = data.about_zero(), data.weight
        else:
            rows = data.weight - 1.0
        if self.intercept != "proper":
            moments = data.xx, data.xy, data.yy
            return Spectrum.of(*moments, rows, self.mean, self.root, self.flat)
        # Measured from the means of x and y: b + w·x = (b + w·mean_x − mean_y) + w·(x − mean_x) + mean_y
        shift = np.eye(len(self.mean))
        shift[0, 1:] = data.mean_x
        mean = shift @ self.mean
        mean[0] -= data.mean_y
        gram, xy = block_diag(data.weight, data.xx), np.append(0.0, data.xy)
        return Spectrum.of(gram, xy, data.yy, data.weight, mean, shift @ self.root)

    def completed(self, known: Gaussian, data: Moments, noise: float) -> Gaussian:
        """The posterior of the spectrum with its intercept, both at the mean of the rows."""
        if self.intercept == "none":
            return known
        if self.intercept == "flat":
            mean, root = (
                np.append(0.0, known.mean),
                block_diag(math.sqrt(noise / data.weight), known.root),
            )
        else:
            mean, root = known.mean.copy(), known.root
        mean[0] += data.mean_y
        return Gaussian(mean, root)


def _intercept_variance(given: Any, intercept: bool) -> float | None:
    """None: flat, absent, or part of the covariance."""
    if given is None:
        return None
    if not intercept:
        raise Unsupported(
            "intercept_variance would be ignored with fit_intercept=False. Use intercept_variance=None."
        )
    variance = checks.number("intercept_variance", given, 0.0)
    return None if math.isinf(variance) else variance


def _root(covariance: Any, d: int, intercept: bool) -> tuple[Floats | None, bool]:
    """L with LLᵀ = Σ0, None if that is flat; and whether it covers the intercept as well."""
    if np.ndim(covariance) == 0:
        variance = checks.number("prior_covariance", covariance, 0.0)
        return (None if math.isinf(variance) else math.sqrt(variance) * np.eye(d)), False
    given = _numbers("prior_covariance", covariance)
    if given.ndim == 1:
        given = np.diag(given)
    p = given.shape[0]
    if given.shape != (p, p) or p not in ((d, d + 1) if intercept else (d,)):
        joint = f", or ({d + 1}, {d + 1}) with the intercept first" if intercept else ""
        raise InvalidInput(
            f"prior_covariance must be a number, ({d},) or ({d}, {d}){joint}, for {d} features; got shape "
            f"{np.shape(covariance)}."
        )
    values, vectors = np.linalg.eigh(given)
    largest = float(np.abs(values).max(initial=0.0))
    if not np.allclose(given, given.T, atol=1e-12 * largest) or values.min() < -1e-10 * largest:
        raise InvalidInput(
            "prior_covariance must be symmetric without negative eigenvalues; its least one is "
            f"{values.min():.3g}."
        )
    return vectors * np.sqrt(np.maximum(values, 0.0)), p == d + 1


def _mean(given: Any, d: int, joint: bool) -> Floats:
    mean = _numbers("prior_mean", given)
    if mean.ndim == 0:
        return np.append(0.0, np.full(d, mean)) if joint else np.full(d, float(mean))
    if joint and mean.shape == (d,):
        return np.append(0.0, mean)
    if mean.shape != (d + joint,):
        covered = f", or ({d + 1},) with the intercept first" if joint else ""
        raise InvalidInput(
            f"prior_mean must be a number or ({d},){covered}, for {d} features; got shape {mean.shape}."
        )
    return mean


def _numbers(name: str, given: Any) -> Floats:
    try:
        values = np.array(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise WrongType(f"{name} must be numbers; got {given!r}.") from error
    if not np.isfinite(values).all():
        raise InvalidInput(f"{name} must be finite; got {given!r}.")
    return values
