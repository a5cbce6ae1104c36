"""Laws of bounds: promises are kept at least as often as they say, and perceptrons never break theirs.

Labels are noisy and weights are chosen to fit them, so that training mistakes flatter; rows lie in the unit
ball, so that R = 1 is known. The true share of mistakes is that of many fresh rows.
"""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from argmax import LinearClassifier, MulticlassPerceptron, bounds, margins
from argmax.bounds.linear import Linear

DELTA = 0.1
SETS = 60


@pytest.mark.parametrize("n", [5, 40, 171])
@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_the_test_set_bound_covers_every_true_share(n, delta):
    """All outcomes, not a sample of them; and somewhere it is as small as a bound can be."""
    values = np.array([bounds.test_set(m, n, delta=delta).value for m in range(n + 1)])
    shares = np.linspace(0.001, 0.999, 400)
    kept = [stats.binom.pmf(np.arange(n + 1), n, p)[values >= p].sum() for p in shares]
    assert min(kept) >= 1 - delta - 1e-9
    assert min(kept) <= 1 - delta + 0.03


@pytest.mark.parametrize("size", [1, 200])
def test_the_best_of_a_finite_class_keeps_its_promise(size):
    """Coins as predictors: the luckiest of them is chosen, and is wrong half of the time all the same."""
    rng = np.random.default_rng(size)
    n = 60
    least = rng.binomial(n, 0.5, size=(2000, size)).min(axis=1)
    values = [bounds.finite(m, n, math.log(size), delta=DELTA).value for m in least]
    assert np.mean(np.array(values) >= 0.5) >= 1 - DELTA


def rows(rng, n, k, d=3):
    """Rows of length at most 1, and labels that are right four times in five."""
    X = rng.normal(size=(n, d))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    plan = np.random.default_rng(1).normal(size=(k, d))
    y = (X @ plan.T).argmax(axis=1)
    return X, np.where(rng.random(n) < 0.8, y, rng.integers(0, k, n))


def least_squares(X, y, k):
    """Weights (k, d) that fit the labels, as one row for two classes."""
    W = np.linalg.lstsq(X, np.eye(k)[y] - 1 / k, rcond=None)[0].T
    return W[1:] - W[:1] if k == 2 else W


def from_training(linear, X, y):
    view = linear.view(X, y, bias=0.0)
    n, k, p, wrong = len(y), linear.k, linear.dimension, view.mistakes
    ramp = np.clip(1 - view.margins / 0.2, 0, 1).mean()
    yield bounds.vc(wrong, n, p, classes=k, delta=DELTA)
    yield bounds.rademacher(wrong / n, n, bounds.growth_complexity(n, p, k), delta=DELTA)
    yield bounds.margin(view.margins, 1.0, rho=0.2, classes=k, delta=DELTA)
    yield bounds.margin(view.margins, 1.0, classes=k, delta=DELTA)
    yield bounds.pac_bayes(*view.normalised, delta=DELTA)
    if k == 2:
        ball = bounds.ball_complexity(X) / 0.2
        yield bounds.rademacher(ramp, n, ball, empirical=True, delta=DELTA)


@pytest.mark.parametrize(("k", "n"), [(2, 300), (2, 4000), (4, 3000)])
def test_bounds_from_training_rows_keep_their_promise(k, n):
    rng = np.random.default_rng(n)
    fresh, labels = rows(rng, 20_000, k)
    kept, said_something = [], False
    for _ in range(SETS):
        X, y = rows(rng, n, k)
        linear = Linear.of(least_squares(X, y, k), None, np.arange(k))
        true = linear.wrong(fresh, labels) / len(labels)
        found = list(from_training(linear, X, y))
        kept.append([bound.value >= true for bound in found])
        said_something |= any(not bound.vacuous for bound in found)
    assert np.mean(kept, axis=0).min() >= 1 - DELTA
    assert said_something


def test_pac_bayes_and_rademacher_hold_on_noise():
    """Labels without any meaning: half of the answers are wrong, whatever training says."""
    rng, kept = np.random.default_rng(0), []
    for _ in range(SETS):
        X, y = rng.normal(size=(60, 20)), rng.integers(0, 2, 60)
        linear = Linear.of(least_squares(X, y, 2), None, [0, 1])
        assert linear.view(X, y, 0.0).mistakes < 30  # it flatters
        kept.append([bound.value >= 0.5 for bound in from_training(linear, X, y)])
    assert np.mean(kept, axis=0).min() >= 1 - DELTA


def test_fat_shattering_keeps_its_promise_where_its_conditions_hold():
    """Some new rows are wrong, so few that a sample may have none: then γ = ½ holds in it."""
    rng, n = np.random.default_rng(0), 300_000
    true, kept = 1 / n, []
    for _ in range(40):
        margins = np.full(n, 0.5)
        margins[: rng.binomial(n, true)] = -0.5
        found = bounds.fat_shattering(margins, 1.0, 0.5, delta=DELTA)
        assert found.defined == (margins.min() > 0)
        kept.append(not found.defined or true <= found.value < 1.0)
    assert np.mean(kept) >= 1 - DELTA


# Perceptrons: no chance is involved, so that nothing may ever break these


@pytest.mark.parametrize("n", [8, 32, 128])
def test_the_multiclass_bound_is_attained_and_the_printed_one_broken(n):
    """Rows e_1 … e_n of class 1 and −e_1 of class 0: n mistakes, margin √(2/n), radius 1."""
    X, y = np.vstack([np.eye(n), -np.eye(n)[:1]]), np.array([1] * n + [0])
    found = bounds.perceptron(X, y, coef=[-np.ones(n), np.ones(n)], bias=0)
    assert found.made == n
    assert found.margin == pytest.approx(math.sqrt(2 / n))
    assert found.bound == pytest.approx(n)
    assert (found.radius / found.margin) ** 2 < found.made  # without the 2
    binary = bounds.perceptron(X, y, coef=[np.ones(n)], bias=0)
    assert binary.bound == pytest.approx(n)  # the stacked margin is √2 times the binary one


def test_the_bias_costs_what_the_formula_says():
    """(R² + B²)(1 + b²/B²)/γ² for a unit w; with B = R and |b| ≤ R at most (2R/γ)²."""
    rng = np.random.default_rng(0)
    w, b = np.array([0.6, 0.8]), 0.3
    X = rng.normal(size=(200, 2))
    X = X[np.abs(X @ w + b) > 0.2]
    y = (X @ w + b > 0).astype(int)
    R, gamma = np.linalg.norm(X, axis=1).max(), np.abs(X @ w + b).min()
    for B in (0.5, 1.0, R):
        found = bounds.perceptron(X, y, coef=[w], intercept=[b], bias=B)
        assert found.bound == pytest.approx((R**2 + B**2) * (1 + b**2 / B**2) / gamma**2)
        assert found.made <= found.bound
        assert found.bound == pytest.approx(margins.mistake_bound(R, gamma, 2, B, b))
        assert found.finished
    assert found.bound <= (2 * R / gamma) ** 2
    stacked = bounds.perceptron(X, y, coef=[-w / 2, w / 2], intercept=[-b / 2, b / 2], bias=1.0)
    one = bounds.perceptron(X, y, coef=[w], intercept=[b], bias=1.0)
    assert stacked.bound == pytest.approx(one.bound)


@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 5),
    noise=st.sampled_from([0.0, 0.2]),
    sparse=st.booleans(),
)
def test_no_perceptron_makes_more_mistakes_than_its_bound(seed, k, noise, sparse):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4))
    W, b = rng.normal(size=(k, 4)), rng.normal(size=k)
    W[0], b[0] = (0, 0) if k > 2 else (W[0], b[0])
    y = (X @ W.T + b).argmax(axis=1)
    flipped = rng.random(80) < noise
    y = np.where(flipped, rng.integers(0, k, 80), y)
    given = sp.csr_array(X) if sparse else X
    found = bounds.perceptron(given, y, coef=W, intercept=b, classes=np.arange(k), passes=30)
    assert found.made <= found.bound
    assert found.made_first <= found.first_pass
    assert found.separable or found.bound == math.inf


def test_the_library_s_perceptron_keeps_within_the_bound_of_an_svm():
    """Whatever separates the rows is a comparator: here an SVM, whose margin is wide."""
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    wide = LinearClassifier("hinge", C=10.0).fit(X, y)
    found = bounds.perceptron(X, y, coef=wide.coef_, intercept=wide.intercept_)
    own = margins.of(
        X, y, wide.coef_ - wide.coef_.mean(axis=0), wide.intercept_ - wide.intercept_.mean()
    )
    assert found.bound == pytest.approx(own.mistake_bound)
    for seed in range(3):
        model = MulticlassPerceptron(random_state=seed).fit(X, y)
        assert model.solution_.status == "no mistakes"
        assert sum(model.solution_.mistakes) <= found.bound


def test_without_separation_one_pass_is_bounded():
    """Freund and Schapire: ((R + D)/γ)², here against a brute search over γ."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 2))
    y = (X[:, 0] > 0).astype(int)
    y[::100] = 1 - y[::100]
    found = bounds.perceptron(X, y, coef=[[1.0, 0.0]], bias=0, passes=1)
    margins, R = np.where(y == 1, 1, -1) * X[:, 0], np.linalg.norm(X, axis=1).max()
    tried = [
        ((R + math.sqrt((np.maximum(0, g - margins) ** 2).sum())) / g) ** 2
        for g in np.linspace(0.01, 5, 3000)
    ]
    assert found.first_pass == pytest.approx(min(tried), rel=1e-2)
    assert found.made_first <= found.first_pass < len(y)
    assert not found.separable
    assert "does not separate the rows" in str(found)
