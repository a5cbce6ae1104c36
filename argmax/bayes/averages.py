"""The average of a softmax over Gaussian scores, E softmax(s) with s ~ N(mean, covariance).

There is no closed form. For two classes, with m and v of the difference of the scores, the integral of the
sigmoid is close to σ(m / √(1 + πv/8)) (MacKay 1992). For more classes:

    probit       each class against the rest: m and v of s_c − log Σ_{j≠c} exp s_j, expanded at the mean
    mean_field   each class against each other one: 1 / Σ_j exp(−m_cj / √(1 + πv_cj/8)) with m_cj = m_c − m_j
    sampling     the mean over draws: points of a scrambled Sobol sequence, the same for every row

All three look at differences of scores only, as the softmax does, and agree for two classes up to MacKay's
error, which is below 0.02, and the noise of the draws. For more classes the first two are quicker, and the
coarser the wider the covariance: with random means and covariances of 3 to 26 classes "probit" lay nearer to
the integral than "mean_field", often by half; on handwritten digits they were equally far. "sampling" is the
reference.

References: MacKay, The evidence framework applied to classification networks, Neural Computation 4 (1992);
Lu, Ie, Sha, Mean-field approximation to Gaussian-softmax integral with application to uncertainty estimation,
arXiv 2006.07584.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp, ndtri, softmax
from scipy.stats.qmc import Sobol

from .. import checks
from ..errors import InvalidInput
from ..records import Floats
from .gaussian import generator

__all__ = ["METHODS", "average_softmax"]

METHODS = "probit", "mean_field", "sampling"

BLOCK = 2**18
"""Scores worked on together: what the cache holds."""


def average_softmax(
    mean: Any,
    covariance: Any,
    method: str = "probit",
    *,
    draws: int = 512,
    random_state: Any = 0,
) -> Floats:
    """E softmax(s) for rows of scores with mean (n, k) and covariance (n, k, k): probabilities (n, k).

    ``draws``, of "sampling", is rounded up to a power of two.

    >>> import numpy as np
    >>> from argmax import bayes
    >>> mean, covariance = np.array([[2.0, 0.0, 0.0]]), np.eye(3)[None]
    >>> bayes.average_softmax(mean, 0 * covariance).round(3)  # certain scores: the softmax itself
    array([[0.787, 0.107, 0.107]])
    >>> bayes.average_softmax(mean, covariance).round(2)
    array([[0.7 , 0.15, 0.15]])
    >>> bayes.average_softmax(mean, covariance, "sampling").round(2)
    array([[0.7 , 0.15, 0.15]])
    """
    mean, covariance = np.asarray(mean, dtype=float), np.asarray(covariance, dtype=float)
    if mean.ndim != 2 or covariance.shape != (*mean.shape, mean.shape[1]):
        raise InvalidInput(
            f"mean must be (n, k) and covariance (n, k, k); got {mean.shape} and {covariance.shape}."
        )
    for name, values in (("mean", mean), ("covariance", covariance)):
        if not np.isfinite(values).all():
            raise InvalidInput(f"{name} must be finite; it holds NaN or infinity.")
    checks.choice("method", method, METHODS)
    with np.errstate(over="ignore", invalid="ignore"):
        if method == "sampling":
            draws = checks.positive_integer("draws", draws)
            found = _sampled(mean, covariance, _normal(draws, mean.shape[1], random_state))
        else:
            found = (_against_rest if method == "probit" else _pairwise)(mean, covariance)
    return checks.finite_scores(found)


def _softened(mean: Floats, variance: Floats) -> Floats:
    """MacKay's m / √(1 + πv/8)."""
    return np.asarray(mean / np.sqrt(1 + math.pi / 8 * np.maximum(variance, 0.0)))


def _against_rest(mean: Floats, covariance: Floats) -> Floats:
    k = mean.shape[1]
    others = np.repeat(mean[:, None, :], k, axis=1)
    others[:, range(k), range(k)] = -np.inf
    rest = softmax(others, axis=2)  # (n, k, k): what the rest of class c is made of
    mixed = rest @ covariance
    own = np.diagonal(covariance, axis1=1, axis2=2)
    within = (mixed * rest).sum(axis=2)
    spread = (rest @ own[:, :, None])[:, :, 0] - within
    # A log-sum-exp bends upwards: its mean lies above its value at the mean, at first by half the spread.
    margin = mean - logsumexp(others, axis=2) - _softened(spread / 2, spread)
    variance = own - 2 * np.diagonal(mixed, axis1=1, axis2=2) + within
    p = expit(_softened(margin, variance))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _pairwise(mean: Floats, covariance: Floats) -> Floats:
    own = np.diagonal(covariance, axis1=1, axis2=2)
    variance = own[:, :, None] + own[:, None, :] - covariance - covariance.swapaxes(1, 2)
    ahead = _softened(mean[:, :, None] - mean[:, None, :], variance)
    p = np.exp(-logsumexp(-ahead, axis=2))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _sampled(mean: Floats, covariance: Floats, normal: Floats) -> Floats:
    # A trace of noise makes a singular covariance factorise; the factor is then a smooth function of it.
    size = np.trace(covariance, axis1=1, axis2=2)[:, None, None] + np.finfo(float).tiny
    try:
        root = np.linalg.cholesky(covariance + 1e-10 * size * np.eye(mean.shape[1]))
    except np.linalg.LinAlgError as error:
        raise InvalidInput(
            "covariance must be symmetric and positive semi-definite for every row, and its trace finite."
        ) from error
    result, step = np.empty_like(mean), max(BLOCK // normal.size, 1)
    for start in range(0, len(mean), step):
        rows = slice(start, start + step)
        p = root[rows] @ normal.T  # (b, k, draws)
        p += mean[rows, :, None]
        p -= p.max(axis=1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        result[rows] = p.mean(axis=2)
    return result


def _normal(draws: int, k: int, random_state: Any) -> Floats:
    """Standard normal numbers (draws, k), more evenly spread than random ones."""
    points = Sobol(k, seed=generator(random_state)).random_base2(math.ceil(math.log2(draws)))
    return np.asarray(ndtri(np.clip(points, 1e-12, 1 - 1e-12)))
