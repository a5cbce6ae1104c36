"""Gaussian regression with a Gaussian prior: posterior, predictive and evidence in closed form.

    θ ~ N(m, Σ0)         y_i | x_i, θ ~ N(θᵀx_i, σ²)

    Σ_P = (σ⁻² XᵀX + Σ0⁻¹)⁻¹         μ_P = m + Σ_P σ⁻² Xᵀ(y − Xm)

    y_new | x_new, data ~ N(μ_Pᵀx_new,  x_newᵀ Σ_P x_new  +  σ²)
                                        not knowing θ        noise in y

What falls out of it. A flat prior (``prior_covariance=inf``) leaves maximum likelihood, which is empirical
risk minimisation under the log loss: −log N(y; θᵀx, σ²) is (y − θᵀx)²/2σ² and a constant. With m = 0 and
Σ0 = τ²I the mean, which is also the mode, minimises Σ(y − θᵀx)² + λ‖θ‖² with λ = σ²/τ²: ridge regression,
in the form with the *sum* of squares. The intercept is left alone only because its prior is flat.
"""

from __future__ import annotations

import copy
import math
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..errors import InvalidInput, NumericalFailure
from ..records import Floats
from .gaussian import Gaussian, Predictive
from .moments import Moments
from .priors import Prior
from .relevance import relevances
from .spectrum import Spectrum

__all__ = ["GaussianRegression"]

LEAST = 1e-70
"""The least size of values of which evidence makes variances: the mirror of the largest that are taken."""


@final
class GaussianRegression(RegressorMixin, BaseEstimator):
    """y = b + wᵀx + noise, with a Gaussian prior on the weights and everything else in closed form.

    Parameters
    ----------
    prior_covariance : "evidence", "ard", number, (d,), (d, d) or (d + 1, d + 1)
        Σ0 of the weights: one variance for all, one each, or a matrix, which may be singular. A matrix one
        larger covers (intercept, weights). ``inf`` is a flat prior. "evidence" chooses τ² in Σ0 = τ²I so that
        the data are most probable, "ard" one variance for each weight: those of no use become exactly 0.
    noise_variance : "evidence" or number
        σ².
    prior_mean : number, (d,), or (d + 1,) where the prior covers the intercept
    fit_intercept : bool
    intercept_variance : number or None
        Prior variance of the intercept. None: flat, unless ``prior_covariance`` covers it.

    Attributes
    ----------
    posterior_ : Gaussian
        Of θ = (intercept, weights), or of the weights alone without intercept.
    coef_, intercept_ : the posterior mean, which is also the mode
    noise_variance_, prior_covariance_ : what was given or chosen
    log_evidence_ : log p(y | X), a flat intercept counted with density 1
    n_features_in_

    Weights of rows (``sample_weight``) count rows: 2 is the row twice.

    Examples
    --------
    >>> import numpy as np
    >>> from argmax.bayes import GaussianRegression
    >>> x = np.array([[-0.6], [0.1], [0.9]])
    >>> y = np.array([-0.62, -0.21, 0.12])
    >>> model = GaussianRegression(
    ...     prior_covariance=0.5, intercept_variance=0.5, noise_variance=0.04
    ... )
    >>> _ = model.fit(x, y)
    >>> model.posterior_.mean.round(3), model.posterior_.std.round(3)
    (array([-0.29 ,  0.456]), array([0.116, 0.182]))
    >>> at = model.predictive([[0.0], [5.0]])
    >>> at.inherent.round(3), at.parameter.round(3)  # far away, the weights are the unknown
    (array([0.04, 0.04]), array([0.014, 0.798]))
    """

    def __init__(
        self,
        prior_covariance: Any = "evidence",
        noise_variance: Any = "evidence",
        prior_mean: Any = 0.0,
        fit_intercept: bool = True,
        intercept_variance: float | None = None,
    ) -> None:
        self.prior_covariance = prior_covariance
        self.noise_variance = noise_variance
        self.prior_mean = prior_mean
        self.fit_intercept = fit_intercept
        self.intercept_variance = intercept_variance

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Condition on rows X (n, d) and targets y (n,), forgetting what was seen before."""
        return self._learn(X, y, sample_weight, None)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Condition on more rows. Batch after batch gives what all rows at once would give."""
        return self._learn(X, y, sample_weight, getattr(self, "_moments", None))

    def _learn(self, X: Any, y: Any, sample_weight: Any, seen: Moments | None) -> Self:
        """On a copy, whose attributes are taken over at the end: a failed fit changes nothing."""
        attempt = copy.copy(self)
        X = checks.dense_rows(attempt, X, reset=seen is None)
        y = checks.targets(y, len(X))
        self._measurable(X, y)
        batch = Moments.of(X, y, checks.sample_weight(sample_weight, len(X)))
        attempt._conditioned(batch if seen is None else seen + batch)
        self.__dict__.update(vars(attempt))
        return self

    def _measurable(self, X: Floats, y: Floats) -> None:
        """Refuse values whose squares overflow; or underflow, where something is chosen by them."""
        columns, top = np.abs(X).max(axis=0), float(np.abs(y).max())
        checks.reach(float(columns.max()), X.dtype)
        checks.reach(top, y.dtype, "y")
        if not (isinstance(self.prior_covariance, str) or isinstance(self.noise_variance, str)):
            return
        each = isinstance(self.prior_covariance, str) and self.prior_covariance == "ard"
        least = float(columns[columns > 0].min(initial=columns.max()) if each else columns.max())
        ratio = top / least if top and least else 1.0
        if 0.0 < min(least or 1.0, top or 1.0) < LEAST or not LEAST <= ratio <= 1.0 / LEAST:
            raise InvalidInput(
                f"a column of X has values of {least:.3g} at most and y of {top:.3g}: squares of them, or "
                "of their ratio, underflow. Use other units, or give prior_covariance and "
                "noise_variance numbers."
            )

    def _conditioned(self, data: Moments) -> None:
        """``_condition``, unless what it finds is not finite."""
        try:
            with np.errstate(all="ignore"):
                self._condition(data)
            known, local = self.posterior_, self._local
            parts = (known.mean, known.root, local.mean, local.root, self.log_evidence_)
            good = self.noise_variance_ > 0.0 and all(np.isfinite(part).all() for part in parts)
        except np.linalg.LinAlgError:
            good = False
        if not good:
            raise NumericalFailure(
                "the fit left the finite numbers (overflow). Scale the columns of X, or y."
            )

    def _condition(self, data: Moments) -> None:
        prior = self._prior(len(data.mean_x))
        spectrum, noise = self._chosen(prior.spectrum(data))
        local = prior.completed(spectrum.posterior(noise), data, noise)
        self._moments, self._local = data, local
        self._centre = data.mean_x if self.fit_intercept else np.zeros(len(data.mean_x))
        self.noise_variance_ = noise
        self.prior_covariance_ = self._covariance(prior, spectrum)
        evidence = float(spectrum.log_evidence(noise))
        self.log_evidence_ = evidence - (prior.intercept == "flat") * 0.5 * math.log(data.weight)
        self.posterior_ = self._natural(local)
        self.intercept_ = float(self.posterior_.mean[0]) if self.fit_intercept else 0.0
        self.coef_ = self.posterior_.mean[int(self.fit_intercept) :]

    def _prior(self, d: int) -> Prior:
        return Prior.read(
            d,
            self.prior_mean,
            self.prior_covariance,
            self.intercept_variance,
            bool(self.fit_intercept),
        )

    def _chosen(self, spectrum: Spectrum) -> tuple[Spectrum, float]:
        """The problem with the prior and the noise that were given, or those of the highest evidence."""
        given = None if isinstance(self.noise_variance, str) else self._noise()
        if given is None:
            checks.choice("noise_variance", self.noise_variance, ("evidence",))
        if not isinstance(self.prior_covariance, str):
            return spectrum, spectrum.best_noise() if given is None else given
        if self.prior_covariance == "ard":
            return relevances(spectrum, given)
        if given is None:
            noise, factor = spectrum.best_both()
            return spectrum.scaled(factor), noise
        return spectrum.scaled(spectrum.best_scale(given)), given

    def _noise(self) -> float:
        noise = checks.number("noise_variance", self.noise_variance, 0.0, open_low=True)
        if math.isinf(noise):
            raise InvalidInput("noise_variance must be finite; got inf.")
        return noise

    def _covariance(self, prior: Prior, spectrum: Spectrum) -> Any:
        if prior.flat:
            return math.inf
        root = spectrum.axes if isinstance(self.prior_covariance, str) else prior.root
        return root @ root.T

    def _natural(self, local: Gaussian) -> Gaussian:
        """From the intercept at the mean of the rows to that at zero."""
        if not self.fit_intercept:
            return local
        shift = np.eye(len(local.mean))
        shift[0, 1:] = -self._centre
        return Gaussian(shift @ local.mean, shift @ local.root)

    # Answers

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """E[y | x, data] for each row; with ``return_std`` also the standard deviation of y."""
        if return_std:
            at = self.predictive(X)
            return at.mean, at.std
        rows = self._answerable(X)
        with np.errstate(over="ignore", invalid="ignore"):
            return checks.finite_scores(rows @ self._local.mean)

    def predictive(self, X: Any) -> Predictive:
        """The distribution of y at each row, its variance in two parts: noise, and not knowing θ."""
        return _predictive(self._answerable(X), self._local, self.noise_variance_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², the share of the variance of y that the prediction explains; below 0 the mean is better."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = super().score(X, y, sample_weight)
        return float(checks.finite_scores(np.asarray(found)))

    def _answerable(self, X: Any) -> Floats:
        """Rows of a prediction, measured from where those of the fit lie."""
        check_is_fitted(self, "posterior_")
        return self._rows(checks.dense_rows(self, X, reset=False) - self._centre)

    def prior(self, features: int = 1) -> Gaussian:
        """What is believed of θ before any data; of a fitted model with "evidence", what was chosen."""
        return self._believed(features)[0]

    def prior_predictive(self, X: Any) -> Predictive:
        """The distribution of y at each row before any data. A flat prior leaves ``parameter`` infinite."""
        X = checks.dense_rows(copy.copy(self), X, reset=True)
        prior, n = self._prior(X.shape[1]), len(X)
        if prior.proper:
            return _predictive(self._rows(X), *self._believed(X.shape[1]))
        noise = self._believed_noise()
        return Predictive(X @ prior.mean, np.full(n, noise), np.full(n, math.inf))

    def _believed(self, d: int) -> tuple[Gaussian, float]:
        prior = self._prior(d)
        if not prior.proper:
            raise InvalidInput(
                "a flat prior is no distribution. Give prior_covariance and intercept_variance finite "
                "numbers."
            )
        root = prior.root
        if isinstance(self.prior_covariance, str):
            check_is_fitted(self, "posterior_")
            root = np.diag(np.sqrt(np.diag(self.prior_covariance_)))  # both choices are diagonal
        return Gaussian(prior.mean, root), self._believed_noise()

    def _believed_noise(self) -> float:
        if not isinstance(self.noise_variance, str):
            return self._noise()
        check_is_fitted(self, "posterior_")
        return float(self.noise_variance_)

    def _rows(self, X: Floats) -> Floats:
        """The rows that θ is multiplied with: a 1 before x where there is an intercept."""
        return np.hstack([np.ones((len(X), 1)), X]) if self.fit_intercept else X


def _predictive(rows: Floats, known: Gaussian, noise: float) -> Predictive:
    with np.errstate(over="ignore", invalid="ignore"):
        mean, parameter = rows @ known.mean, ((rows @ known.root) ** 2).sum(axis=1)
    return Predictive(
        checks.finite_scores(mean), np.full(len(rows), noise), checks.finite_scores(parameter)
    )
