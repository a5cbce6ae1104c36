"""Gaussian regression against the closed forms of the notes, quadrature, ridge regression and itself."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from sklearn.linear_model import ARDRegression, BayesianRidge, LinearRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from argmax.bayes import Gaussian, GaussianRegression, point_estimate
from argmax.errors import InvalidInput, Unsupported, WrongType

RNG = np.random.default_rng(3)
X = RNG.normal(1.0, 1.0, (30, 3))
Y = 0.5 + X @ [1.0, -2.0, 0.0] + 0.3 * RNG.normal(size=30)
MATRIX = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, -0.2], [0.0, -0.2, 0.5]])


@parametrize_with_checks([GaussianRegression(), GaussianRegression("ard")])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def closed_form(rows, y, covariance, noise, mean=0.0):
    """μ_P and Σ_P as the notes print them, for any prior mean."""
    mean = np.zeros(rows.shape[1]) + mean
    inverse = np.linalg.inv(covariance)
    after = np.linalg.inv(rows.T @ rows / noise + inverse)
    return after @ (rows.T @ y / noise + inverse @ mean), after


# Closed forms


@pytest.mark.parametrize(
    "covariance", [0.7, [0.2, 1.0, 3.0], MATRIX], ids=["number", "each", "any"]
)
@pytest.mark.parametrize("mean", [0.0, [1.0, 0.0, -1.0]], ids=["zero", "given"])
def test_the_posterior_is_the_closed_form(covariance, mean):
    model = GaussianRegression(covariance, 0.09, mean, fit_intercept=False).fit(X, Y)
    sigma = np.diag(np.zeros(3) + covariance) if np.ndim(covariance) < 2 else covariance
    expected, spread = closed_form(X, Y, sigma, 0.09, mean)
    assert np.abs(model.posterior_.mean - expected).max() < 1e-10
    assert np.abs(model.posterior_.covariance - spread).max() < 1e-10
    assert np.abs(model.prior_covariance_ - sigma).max() < 1e-12


def test_an_intercept_with_a_prior_is_one_more_weight():
    joint = np.diag([4.0, 0, 0, 0])
    joint[1:, 1:] = MATRIX
    expected, spread = closed_form(np.hstack([np.ones((30, 1)), X]), Y, joint, 0.09)
    for model in (
        GaussianRegression(MATRIX, 0.09, intercept_variance=4.0),
        GaussianRegression(joint, 0.09),
    ):
        model.fit(X, Y)
        assert np.abs(model.posterior_.mean - expected).max() < 1e-10
        assert np.abs(model.posterior_.covariance - spread).max() < 1e-10
    tied = joint.copy()
    tied[0, 1] = tied[1, 0] = 1.5
    expected, spread = closed_form(np.hstack([np.ones((30, 1)), X]), Y, tied, 0.09, [1.0, 0, 2, 0])
    model = GaussianRegression(tied, 0.09, [1.0, 0, 2, 0]).fit(X, Y)
    assert np.abs(model.posterior_.mean - expected).max() < 1e-10
    assert np.abs(model.posterior_.covariance - spread).max() < 1e-10


def test_a_flat_intercept_is_the_limit_of_a_wide_one():
    flat = GaussianRegression(MATRIX, 0.09).fit(X, Y)
    wide = GaussianRegression(MATRIX, 0.09, intercept_variance=1e9).fit(X, Y)
    assert np.allclose(flat.posterior_.mean, wide.posterior_.mean, atol=1e-7)
    assert np.allclose(flat.posterior_.covariance, wide.posterior_.covariance, atol=1e-7)
    density = stats.norm(0, math.sqrt(1e9)).logpdf(0)  # what a wide prior pays for its width
    assert flat.log_evidence_ == pytest.approx(wide.log_evidence_ - density, abs=1e-6)


def test_a_singular_prior_keeps_what_it_knows():
    tied = np.outer([1.0, 1.0, 0.0], [1.0, 1.0, 0.0])  # w₁ = w₂, and w₃ = 0
    model = GaussianRegression(tied, 0.09).fit(X, Y)
    assert model.coef_[0] == pytest.approx(model.coef_[1])
    assert model.coef_[2] == pytest.approx(0.0, abs=1e-12)
    reference = Ridge(alpha=0.09).fit(X[:, :2].sum(axis=1, keepdims=True), Y)
    assert model.coef_[0] == pytest.approx(reference.coef_[0])
    inside = model.posterior_.ellipsoid(0.9, of=[1, 2, 3])
    assert model.coef_ in inside
    assert np.add(model.coef_, [0.0, 0.0, 0.1]) not in inside


def test_the_slides_example():
    """Prior N(0, ½I), noise 0.2², x in [−1, 1]: the posterior by the closed form and by quadrature."""
    rng = np.random.default_rng(7)
    truth, x = np.array([-0.3, 0.5]), rng.uniform(-1, 1, 20)
    y = truth[0] + truth[1] * x + 0.2 * rng.normal(size=20)
    model = GaussianRegression(0.5, 0.2**2, intercept_variance=0.5)
    assert np.allclose(model.prior(1).covariance, 0.5 * np.eye(2))
    before = model.prior_predictive([[0.0], [1.0]])
    assert np.allclose(before.variance, [0.5 + 0.04, 1.0 + 0.04])
    spreads = []
    for n in (1, 2, 20):
        model.fit(x[:n, None], y[:n])
        rows = np.stack([np.ones(n), x[:n]], axis=1)
        mean = np.linalg.solve(rows.T @ rows + 0.04 * 2 * np.eye(2), rows.T @ y[:n])
        spread = np.linalg.inv(rows.T @ rows / 0.04 + 2 * np.eye(2))
        assert np.abs(model.posterior_.mean - mean).max() < 1e-10
        assert np.abs(model.posterior_.covariance - spread).max() < 1e-10
        new = np.array([1.0, 0.4])
        at = model.predictive([[0.4]])
        assert at.mean == pytest.approx(mean @ new, abs=1e-10)
        assert at.parameter == pytest.approx(new @ spread @ new, abs=1e-10)
        assert at.inherent == pytest.approx(0.04)
        spreads.append(np.linalg.det(spread))
    assert spreads[0] > spreads[1] > spreads[2]
    assert truth in model.posterior_.ellipsoid(0.99)

    places = np.linspace(-4, 4, 801)
    w0, w1 = np.meshgrid(places, places, indexing="ij")
    lines = w0[:, :, None] + w1[:, :, None] * x[:2]
    joint = stats.norm(0, math.sqrt(0.5)).pdf(w0) * stats.norm(0, math.sqrt(0.5)).pdf(w1)
    joint *= stats.norm(lines, 0.2).pdf(y[:2]).prod(axis=2) * 0.01**2
    model.fit(x[:2, None], y[:2])
    assert model.log_evidence_ == pytest.approx(math.log(joint.sum()), abs=1e-9)
    assert model.intercept_ == pytest.approx((w0 * joint).sum() / joint.sum(), abs=1e-9)


def test_far_columns_keep_their_digits():
    far = X * [1.0, 1e-4, 1.0] + [1e8, 5.0, -1e6]
    near = GaussianRegression(1.0, 0.09).fit(X * [1.0, 1e-4, 1.0], Y)
    model = GaussianRegression(1.0, 0.09).fit(far, Y)
    assert np.allclose(model.coef_, near.coef_, rtol=1e-6)
    assert np.allclose(model.predict(far), near.predict(X * [1.0, 1e-4, 1.0]), atol=1e-6)


# Batches


@pytest.mark.parametrize("options", [{}, {"prior_covariance": MATRIX, "noise_variance": 0.1}])
@pytest.mark.parametrize("intercept", [True, False])
def test_batch_after_batch_equals_all_at_once(options, intercept):
    at_once = GaussianRegression(**options, fit_intercept=intercept).fit(X, Y)
    in_turn = GaussianRegression(**options, fit_intercept=intercept)
    for rows in (slice(0, 7), slice(7, 9), slice(9, 30)):
        in_turn.partial_fit(X[rows], Y[rows])
    assert np.abs(in_turn.posterior_.mean - at_once.posterior_.mean).max() < 1e-7
    tolerance = 1e-10 if options else 1e-7
    assert np.abs(in_turn.posterior_.covariance - at_once.posterior_.covariance).max() < tolerance
    assert in_turn.log_evidence_ == pytest.approx(at_once.log_evidence_, abs=1e-9)


def test_today_s_posterior_is_tomorrow_s_prior():
    first = GaussianRegression(MATRIX, 0.09, intercept_variance=2.0).fit(X[:10], Y[:10])
    known = first.posterior_
    chained = GaussianRegression(known.covariance, 0.09, known.mean).fit(X[10:], Y[10:])
    at_once = GaussianRegression(MATRIX, 0.09, intercept_variance=2.0).fit(X, Y)
    assert np.allclose(chained.posterior_.mean, at_once.posterior_.mean, atol=1e-10)
    assert np.allclose(chained.posterior_.covariance, at_once.posterior_.covariance, atol=1e-10)
    assert first.log_evidence_ + chained.log_evidence_ == pytest.approx(at_once.log_evidence_)


def test_a_weight_of_two_is_the_row_twice():
    weight = np.where(np.arange(30) < 5, 2.0, 1.0)
    weighted = GaussianRegression(1.0, 0.1).fit(X, Y, weight)
    twice = GaussianRegression(1.0, 0.1).fit(np.vstack([X, X[:5]]), np.append(Y, Y[:5]))
    assert np.allclose(weighted.posterior_.mean, twice.posterior_.mean, atol=1e-12)
    assert np.allclose(weighted.posterior_.covariance, twice.posterior_.covariance, atol=1e-12)


# What falls out of it


def test_the_mean_is_ridge_regression():
    noise, variance = 0.3, 0.05
    model = GaussianRegression(variance, noise).fit(X, Y)
    ridge = Ridge(alpha=noise / variance, solver="cholesky").fit(X, Y)
    assert np.abs(model.coef_ - ridge.coef_).max() < 1e-10
    assert model.intercept_ == pytest.approx(ridge.intercept_, abs=1e-10)
    shrunk = GaussianRegression(variance, noise, intercept_variance=variance).fit(X, Y)
    assert abs(shrunk.intercept_ - ridge.intercept_) > 0.01  # only a flat prior leaves it alone


def test_a_flat_prior_is_maximum_likelihood_which_is_erm_under_log_loss():
    model = GaussianRegression(math.inf, 0.09).fit(X, Y)
    least_squares = LinearRegression().fit(X, Y)
    assert np.abs(model.coef_ - least_squares.coef_).max() < 1e-10

    def risk(theta):
        return -stats.norm(theta[0] + X @ theta[1:], 0.3).logpdf(Y).mean()

    found = optimize.minimize(risk, np.zeros(4), tol=1e-10).x
    assert np.allclose(model.posterior_.mean, found, atol=1e-5)
    noisy = GaussianRegression(math.inf).fit(X, Y)
    residual = Y - least_squares.predict(X)
    assert noisy.noise_variance_ == pytest.approx(residual @ residual / (30 - 4))


def test_the_mode_and_the_estimates_of_one_weight_are_its_mean():
    known = GaussianRegression(1.0, 0.09).fit(X, Y).posterior_
    for loss in ("square", "absolute", "zero_one"):
        assert point_estimate(known.marginal(1), loss) == pytest.approx(known.mean[1], abs=1e-7)


# Evidence


def test_evidence_is_the_density_of_the_targets():
    model = GaussianRegression(MATRIX, 0.09, [1.0, 0.0, 0.0], fit_intercept=False).fit(X, Y)
    marginal = stats.multivariate_normal(X @ [1.0, 0, 0], X @ MATRIX @ X.T + 0.09 * np.eye(30))
    assert model.log_evidence_ == pytest.approx(marginal.logpdf(Y), abs=1e-8)
    rows = np.hstack([np.ones((30, 1)), X])
    joint = np.diag([3.0, 1.0, 1.0, 1.0])
    model = GaussianRegression(1.0, 0.09, intercept_variance=3.0).fit(X, Y)
    marginal = stats.multivariate_normal(np.zeros(30), rows @ joint @ rows.T + 0.09 * np.eye(30))
    assert model.log_evidence_ == pytest.approx(marginal.logpdf(Y), abs=1e-8)


def test_a_flat_prior_s_evidence_equals_quadrature():
    x, y = X[:6, :1], Y[:6]
    model = GaussianRegression(math.inf, 2.0, fit_intercept=False).fit(x, y)

    def likelihood(w):
        return stats.norm(w * x[:, 0], math.sqrt(2)).pdf(y).prod()

    value, _ = integrate.quad(likelihood, -20, 20, epsabs=0, epsrel=1e-10, points=[model.coef_[0]])
    assert model.log_evidence_ == pytest.approx(math.log(value), abs=1e-8)


def test_evidence_is_highest_where_it_says():
    model = GaussianRegression().fit(X, Y)
    noise, variance = model.noise_variance_, model.prior_covariance_[0, 0]
    for a, b in ((1.03, 1), (0.97, 1), (1, 1.1), (1, 0.9), (3, 3), (0.2, 5)):
        other = GaussianRegression(variance * b, noise * a).fit(X, Y)
        assert other.log_evidence_ < model.log_evidence_
    for given in ({"noise_variance": noise}, {"prior_covariance": variance}):
        same = GaussianRegression(**given).fit(X, Y)
        assert same.log_evidence_ == pytest.approx(model.log_evidence_, abs=1e-7)
    assert model.noise_variance_ == pytest.approx(0.09, rel=0.6)


def test_scikit_learns_evidence_is_not_higher():
    peer = BayesianRidge(alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, tol=1e-10, max_iter=3000)
    peer.fit(X, Y)
    theirs = GaussianRegression(1 / peer.lambda_, 1 / peer.alpha_).fit(X, Y)
    ours = GaussianRegression().fit(X, Y)
    assert ours.log_evidence_ >= theirs.log_evidence_ - 1e-9


def test_every_variance_of_ard_is_at_its_best():
    rows = RNG.normal(size=(60, 8))
    y = 3 + rows[:, :3] @ [2.0, -1.0, 0.5] + 0.3 * RNG.normal(size=60)
    model = GaussianRegression("ard").fit(rows, y)
    variances, noise = np.diag(model.prior_covariance_), model.noise_variance_
    assert (variances[:3] > 0.01).all()
    assert (variances[3:] == 0).sum() >= 2  # of no use, and exactly nothing
    assert (model.coef_[variances == 0] == 0).all()
    for j in range(8):
        for other in (1.2 * variances[j] + 1e-4, 0.8 * variances[j]):
            changed = np.where(np.arange(8) == j, other, variances)
            again = GaussianRegression(changed, noise).fit(rows, y)
            assert again.log_evidence_ <= model.log_evidence_ + 1e-9
    assert model.log_evidence_ > GaussianRegression().fit(rows, y).log_evidence_
    given = GaussianRegression("ard", noise).fit(rows, y)
    assert given.log_evidence_ == pytest.approx(model.log_evidence_, abs=1e-4)
    peer = ARDRegression(alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, tol=1e-8, max_iter=2000)
    peer.fit(rows, y)
    theirs = np.where(peer.coef_ == 0, 0.0, 1 / peer.lambda_)
    assert (
        model.log_evidence_
        >= GaussianRegression(theirs, 1 / peer.alpha_).fit(rows, y).log_evidence_
    )


def test_data_on_a_line_have_next_to_no_noise():
    model = GaussianRegression().fit(X, 1 + X @ [1.0, 2.0, 3.0])
    assert np.allclose(model.coef_, [1, 2, 3], atol=1e-4)
    assert GaussianRegression().fit(X, np.full(30, 2.0)).predict(X[:2]) == pytest.approx(2.0)
    wide = RNG.normal(size=(8, 40))
    assert np.isfinite(GaussianRegression().fit(wide, wide[:, 0]).predict(wide)).all()


# Bands and sets


def test_bands_count_the_intercept():
    """At the mean of the rows only the intercept is uncertain: variance σ²/n, which some leave out."""
    model = GaussianRegression(1.0, 0.09).fit(X, Y)
    at = model.predictive(X.mean(axis=0, keepdims=True))
    assert at.parameter == pytest.approx(0.09 / 30, abs=1e-12)
    assert at.std == pytest.approx(math.sqrt(0.09 + 0.09 / 30), abs=1e-10)
    mean, std = model.predict(X, return_std=True)
    low, high = model.predictive(X).interval(0.9)
    assert np.allclose(stats.norm(mean, std).cdf(high) - stats.norm(mean, std).cdf(low), 0.9)
    inner, outer = model.predictive(X).mean_interval(0.9)
    assert (inner > low).all()
    assert (outer < high).all()
    assert np.allclose(model.predictive(X).log_density(Y), stats.norm(mean, std).logpdf(Y))


def test_draws_have_the_posterior_s_moments():
    known = GaussianRegression(MATRIX, 0.5).fit(X, Y).posterior_
    draws = known.sample(200_000, random_state=0)
    assert np.allclose(draws.mean(axis=0), known.mean, atol=4e-3)
    assert np.allclose(np.cov(draws.T), known.covariance, atol=4e-3)
    assert np.array_equal(known.sample(2, 5), known.sample(2, np.random.default_rng(5)))
    assert known.ellipsoid(0.8).holds(draws).mean() == pytest.approx(0.8, abs=5e-3)
    edge = known.ellipsoid(0.8, of=[1, 2]).boundary()
    offset = edge - known.mean[[1, 2]]
    square = (offset @ np.linalg.inv(known.covariance[1:3, 1:3]) * offset).sum(axis=1)
    assert np.allclose(square, stats.chi2.ppf(0.8, 2))


def test_credible_sets_cover_at_their_level():
    """2,000 data sets, θ drawn from the prior each time: intervals, ellipsoids and bands hold their share."""
    rng = np.random.default_rng(11)
    sets, n = 2000, 6
    thetas = Gaussian(np.zeros(3), np.sqrt(0.5) * np.eye(3)).sample(sets, rng)
    rows, new = rng.uniform(-1, 1, (n, 2)), rng.uniform(-2, 2, (1, 2))
    y = thetas[:, :1] + thetas[:, 1:] @ rows.T + 0.2 * rng.normal(size=(sets, n))
    y_new = thetas[:, 0] + thetas[:, 1:] @ new[0] + 0.2 * rng.normal(size=sets)
    model = GaussianRegression(0.5, 0.04, intercept_variance=0.5)
    # The rows are the same in all sets, so the mean is linear in y: fits to unit vectors give all of them.
    means = y @ np.array([model.fit(rows, unit).posterior_.mean for unit in np.eye(n)])
    assert np.allclose(means[7], model.fit(rows, y[7]).posterior_.mean, atol=1e-12)
    known, at = model.posterior_, model.predictive(new)
    errors = thetas - means + known.mean  # as if every set had the last one's mean
    miss = y_new - means @ np.append(1.0, new) + at.mean
    for level in (0.5, 0.8, 0.95):
        low, high = known.credible_interval(level)
        first, last = at.interval(level)
        shares = [
            *((low <= errors) & (errors <= high)).mean(axis=0),
            known.ellipsoid(level).holds(errors).mean(),
            ((first <= miss) & (miss <= last)).mean(),
        ]
        assert np.abs(np.array(shares) - level).max() < 3.5 * math.sqrt(level * (1 - level) / sets)


# Refusals


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"prior_covariance": "cv"}, InvalidInput, "prior_covariance must be one of 'evidence'"),
        ({"prior_covariance": [1.0, 2.0]}, InvalidInput, r"or \(3, 3\), or \(4, 4\)"),
        ({"prior_covariance": -np.eye(3)}, InvalidInput, "negative eigenvalues"),
        ({"prior_covariance": np.triu(np.ones((3, 3)))}, InvalidInput, "symmetric"),
        ({"prior_covariance": -1.0}, InvalidInput, "prior_covariance must be at least 0"),
        ({"prior_covariance": ["a", "b", "c"]}, WrongType, "must be numbers"),
        ({"noise_variance": 0.0}, InvalidInput, "noise_variance must be greater than 0"),
        ({"noise_variance": math.inf}, InvalidInput, "noise_variance must be finite"),
        ({"prior_mean": [1.0]}, InvalidInput, "prior_mean must be a number"),
        ({"intercept_variance": 1.0}, Unsupported, "needs a flat intercept"),
        ({"intercept_variance": 1.0, "prior_covariance": math.inf}, Unsupported, "flat on all"),
        ({"intercept_variance": 1.0, "prior_covariance": np.eye(4)}, Unsupported, "be ignored"),
        ({"intercept_variance": 1.0, "fit_intercept": False}, Unsupported, "be ignored"),
    ],
)
def test_a_prior_that_makes_no_sense_is_refused(options, error, sentence):
    with pytest.raises(error, match=sentence):
        GaussianRegression(**options).fit(X, Y)


def test_a_flat_prior_needs_as_many_rows_as_weights():
    with pytest.raises(InvalidInput, match="posterior improper"):
        GaussianRegression(math.inf, 1.0).fit(X[:2], Y[:2])
    with pytest.raises(InvalidInput, match="more rows than weights"):
        GaussianRegression(math.inf).fit(X[:4], Y[:4])
    with pytest.raises(InvalidInput, match="no distribution"):
        GaussianRegression(1.0, 1.0).prior(3)
    assert np.isinf(GaussianRegression(1.0, 1.0).prior_predictive(X).variance).all()


def test_a_failed_fit_changes_nothing():
    model = GaussianRegression(1.0, 0.1).fit(X, Y)
    before = model.coef_.copy()
    with pytest.raises(InvalidInput, match="y contains NaN"):
        model.fit(X, np.append(Y[:-1], math.nan))
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(X[:, :2], Y)
    assert np.array_equal(model.coef_, before)
    with pytest.raises(InvalidInput, match="drawn of two numbers"):
        model.posterior_.ellipsoid().boundary()
