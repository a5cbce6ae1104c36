"""Conjugate updates against numerical integration of likelihood times prior."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from argmax import bayes
from argmax.errors import InvalidInput

ONES_AND_ZEROS = [1, 0, 1, 1, 0, 1, 1]
NUMBERS = [0.3, -1.2, 2.5, 0.9]


def integrated(likelihood, prior, low, high):
    """Evidence and the normalised posterior density, by quadrature."""
    evidence = integrate.quad(lambda t: likelihood(t) * prior(t), low, high, epsabs=1e-14)[0]
    return evidence, lambda t: likelihood(t) * prior(t) / evidence


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2.5, 0.7), (30, 4)])
def test_a_beta_update_equals_quadrature(a, b):
    def likelihood(t):
        return t ** sum(ONES_AND_ZEROS) * (1 - t) ** (len(ONES_AND_ZEROS) - sum(ONES_AND_ZEROS))

    prior = bayes.BetaBernoulli(a, b)
    after = prior.update(ONES_AND_ZEROS)
    evidence, density = integrated(likelihood, prior.distribution.pdf, 0, 1)
    assert prior.log_evidence(ONES_AND_ZEROS) == pytest.approx(math.log(evidence), abs=1e-9)
    for theta in (0.1, 0.5, 0.8):
        assert after.distribution.pdf(theta) == pytest.approx(density(theta), rel=1e-8)
    mean = integrate.quad(lambda t: t * density(t), 0, 1)[0]
    assert after.predictive() == pytest.approx(mean, rel=1e-8)


@pytest.mark.parametrize("alpha", [(1, 1, 1), (0.8, 2.0, 5.0)])
def test_a_dirichlet_update_equals_quadrature(alpha):
    counts = np.array([3, 0, 2])
    prior = bayes.DirichletMultinomial(alpha)
    after = prior.update(counts)

    def joint(t2, t1):
        t = np.array([t1, t2, max(1 - t1 - t2, 0.0)])
        return np.prod(t ** (counts + np.array(alpha) - 1))

    total = integrate.dblquad(joint, 0, 1, 0, lambda t1: 1 - t1, epsabs=1e-11)[0]
    first = integrate.dblquad(lambda b, a: a * joint(b, a), 0, 1, 0, lambda a: 1 - a, epsabs=1e-11)[
        0
    ]
    constant = math.lgamma(sum(alpha)) - sum(map(math.lgamma, alpha))
    assert prior.log_evidence(counts) == pytest.approx(math.log(total) + constant, abs=1e-5)
    assert after.predictive()[0] == pytest.approx(first / total, rel=1e-5)
    theta = np.array([0.5, 0.1, 0.4])
    assert after.distribution.pdf(theta) == pytest.approx(joint(0.1, 0.5) / total, rel=1e-5)


@pytest.mark.parametrize(("mean", "variance", "noise"), [(0, 1, 1), (-2, 0.3, 2.0), (1, 50, 0.1)])
def test_an_update_of_a_mean_equals_quadrature(mean, variance, noise):
    def likelihood(t):
        return np.prod(stats.norm(t, math.sqrt(noise)).pdf(NUMBERS))

    prior = bayes.GaussianMean(mean, variance, noise)
    after = prior.update(NUMBERS)
    low, high = after.mean - 12 * after.variance**0.5, after.mean + 12 * after.variance**0.5
    evidence, density = integrated(likelihood, prior.distribution.pdf, low, high)
    assert prior.log_evidence(NUMBERS) == pytest.approx(math.log(evidence), abs=1e-8)
    for theta in (after.mean, after.mean + 0.3):
        assert after.distribution.pdf(theta) == pytest.approx(density(theta), rel=1e-7)
    y = 0.4
    spread = math.sqrt(noise)
    predictive = integrate.quad(lambda t: stats.norm(t, spread).pdf(y) * density(t), low, high)[0]
    assert after.predictive().pdf(y) == pytest.approx(predictive, rel=1e-7)


def test_a_flat_prior_of_a_mean_leaves_the_sample_mean():
    flat = bayes.GaussianMean(noise_variance=2.0)
    after = flat.update(NUMBERS)
    assert after.mean == pytest.approx(np.mean(NUMBERS))
    assert after.variance == pytest.approx(2.0 / len(NUMBERS))

    def likelihood(t):
        return np.prod(stats.norm(t, math.sqrt(2.0)).pdf(NUMBERS))

    evidence = integrate.quad(likelihood, -15, 15)[0]
    assert flat.log_evidence(NUMBERS) == pytest.approx(math.log(evidence), abs=1e-9)
    with pytest.raises(InvalidInput, match="flat prior is no distribution"):
        flat.distribution  # noqa: B018


@pytest.mark.parametrize(
    ("prior", "first", "second", "both"),
    [
        (bayes.BetaBernoulli(2, 3), [1, 0], [1, 1], [1, 0, 1, 1]),
        (bayes.DirichletMultinomial([1, 2]), [3, 1], [0, 4], [[3, 1], [0, 4]]),
        (bayes.GaussianMean(1, 2, 3), [0.5], [2.0, -1.0], [0.5, 2.0, -1.0]),
    ],
    ids=["beta", "dirichlet", "gaussian"],
)
def test_today_s_posterior_is_tomorrow_s_prior(prior, first, second, both):
    in_turn, at_once = prior.update(first).update(second), prior.update(both)
    assert np.allclose(in_turn.distribution.mean(), at_once.distribution.mean(), rtol=1e-12)
    chained = prior.log_evidence(first) + prior.update(first).log_evidence(second)
    assert prior.log_evidence(both) == pytest.approx(chained, abs=1e-10)


def test_nothing_seen_changes_nothing():
    assert bayes.BetaBernoulli(2, 3).update([]) == bayes.BetaBernoulli(2, 3)
    assert bayes.GaussianMean(1, 2, 3).update([]) == bayes.GaussianMean(1, 2, 3)


@pytest.mark.parametrize(
    ("model", "data", "sentence"),
    [
        (bayes.BetaBernoulli(), [0, 2], "zeros and ones"),
        (bayes.DirichletMultinomial([1, 1]), [1, 2, 3], "counts of 2 classes"),
        (bayes.DirichletMultinomial([1, 1]), [0.5, 1], "counts of 2 classes"),
        (bayes.GaussianMean(), [1.0, math.nan], "finite numbers"),
    ],
)
def test_data_of_another_kind_are_refused(model, data, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        model.update(data)


def test_priors_must_be_positive():
    with pytest.raises(InvalidInput, match="a must be greater than 0"):
        bayes.BetaBernoulli(0, 1)
    with pytest.raises(InvalidInput, match="two or more positive numbers"):
        bayes.DirichletMultinomial([1, -1])
    with pytest.raises(InvalidInput, match="noise_variance must be greater"):
        bayes.GaussianMean(0, 1, 0)


def test_intervals_hold_their_level():
    known = bayes.BetaBernoulli(3, 9)
    for kind in ("equal", "shortest"):
        low, high = known.credible_interval(0.9, kind)
        held = known.distribution.cdf(high) - known.distribution.cdf(low)
        assert held == pytest.approx(0.9, abs=1e-9)
    equal = np.subtract(*known.credible_interval(0.9)[::-1])
    assert np.subtract(*known.credible_interval(0.9, "shortest")[::-1]) < equal
    lows, highs = bayes.DirichletMultinomial([3, 4, 5]).credible_interval(0.9)
    assert (lows[0], highs[0]) == known.credible_interval(0.9)
