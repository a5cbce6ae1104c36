"""The Bayesian classifier: its curvature, its four sizes, its averages, its evidence and its audit."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import integrate
from scipy.special import expit, log_softmax, softmax
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from argmax import LinearClassifier, metrics
from argmax.bayes import Audit, BayesianClassifier, average_softmax
from argmax.bayes.curvature import Curvature, Rows
from argmax.bayes.laplace import Diagonal, Full, Kronecker, LowRank
from argmax.errors import (
    InvalidInput,
    NotConverged,
    NumericalFailure,
    PosteriorTooWide,
    Unsupported,
)

STRUCTURES = "full", "kron", "diag", "low_rank"


# Classes that the checks make are easy to separate, so the warning is right more often than not.
@pytest.mark.filterwarnings("ignore::argmax.errors.PosteriorTooWide")
@pytest.mark.filterwarnings("ignore:C=.evidence.:argmax.errors.NotConverged")
@parametrize_with_checks([BayesianClassifier(), BayesianClassifier(C="evidence")])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def noisy(k, n=300, d=3, seed=0):
    """Rows whose classes overlap, so that averaging has something to average."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 2.0
    scores = (X - 2.0) @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))
    return X, scores.argmax(axis=1)


def curvature(k, intercept=True, sparse=False, precision=0.5):
    X, _ = noisy(k, 60)
    rng = np.random.default_rng(1)
    weight, p = rng.uniform(0.5, 2.0, 60), softmax(rng.normal(size=(60, k)), axis=1)
    centre = weight @ X / weight.sum() if intercept else np.zeros(3)
    rows = Rows.of(sp.csr_array(X) if sparse else X, centre, intercept)
    return Curvature(rows, weight, p, precision, intercept)


# Curvature


@pytest.mark.parametrize("k", [2, 3])
def test_the_full_curvature_is_the_hessian_of_the_objective(k):
    """H against second differences of −log posterior, the intercept at the mean of the rows."""
    X, y = noisy(k, 80)
    C = 0.7
    model = BayesianClassifier(C, held_out=None).fit(X, y)
    rows = Rows.of(X, X.mean(axis=0), True).stored
    m = 1 if k == 2 else k
    coef = model.coef_
    mode = np.hstack([coef, (model.intercept_ + coef @ X.mean(axis=0))[:, None]])

    def objective(flat):
        A = flat.reshape(m, 4)
        scores = rows @ A.T
        scores = np.hstack([-scores / 2, scores / 2]) if k == 2 else scores
        loss = -log_softmax(scores, axis=1)[np.arange(80), y].sum()
        return loss + (A[:, :3] ** 2).sum() / (2 * C) + (k > 2) * A[:, 3].sum() ** 2 / (2 * k)

    size, h = 4 * m, 1e-4
    steps = h * np.eye(size)
    flat = mode.ravel()

    def second(a, b):
        ends = objective(flat + a + b) + objective(flat - a - b)
        return (ends - objective(flat + a - b) - objective(flat - a + b)) / (4 * h * h)

    numeric = np.array([[second(a, b) for b in steps] for a in steps])
    full = model.posterior_.laplace
    assert np.allclose(np.linalg.inv(full.inverse.reshape(size, size)), numeric, atol=2e-4)
    assert full.log_determinant == pytest.approx(np.linalg.slogdet(numeric)[1], abs=1e-3)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_rows_curve_as_dense_ones_do(k, intercept):
    dense, sparse = curvature(k, intercept), curvature(k, intercept, sparse=True)
    assert np.allclose(dense.rows.gram(dense.weight), sparse.rows.gram(dense.weight))
    assert np.allclose(dense.rows.squares(dense.diagonal()), sparse.rows.squares(dense.diagonal()))
    A = np.random.default_rng(2).normal(size=(dense.blocks, 3))
    assert np.allclose(dense.times(A), sparse.times(A))
    assert np.allclose(dense.rows.dense(slice(3, 9)), sparse.rows.dense(slice(3, 9)))


# The four sizes


def _covariances(at, laplace):
    return laplace.covariance(at.rows.dense(slice(0, 5)))


@pytest.mark.parametrize("k", [2, 4])
def test_all_directions_of_low_rank_are_the_full_one(k):
    at = curvature(k, intercept=False)
    full, low = Full(at), LowRank(at, 100)
    assert np.allclose(_covariances(at, low), _covariances(at, full))
    assert low.log_determinant == pytest.approx(full.log_determinant)


def test_fewer_directions_are_never_narrower():
    at = curvature(4, intercept=False)
    truth = _covariances(at, Full(at))
    before = None
    for rank in (10, 6, 2):
        found = _covariances(at, LowRank(at, rank))
        assert np.linalg.eigvalsh(found - truth).min() > -1e-9
        if before is not None:
            assert np.linalg.eigvalsh(found - before).min() > -1e-9
        before = found


@pytest.mark.parametrize("k", [2, 3])
def test_kronecker_is_exact_where_all_probabilities_are_equal(k):
    at = curvature(k)
    at = Curvature(at.rows, at.weight, np.tile(softmax(np.arange(k)), (60, 1)), 0.5, True)
    full, kron = Full(at), Kronecker(at)
    assert np.allclose(_covariances(at, kron), _covariances(at, full))
    assert kron.log_determinant == pytest.approx(full.log_determinant)


def test_diagonal_is_the_diagonal():
    at = curvature(2, intercept=False)
    H = at.rows.gram(at.pair(0, 0)) + 0.5 * np.eye(3)
    X = at.rows.dense(slice(0, 5))
    assert np.allclose(_covariances(at, Diagonal(at))[:, 0, 0], X**2 @ (1 / np.diag(H)))
    assert Diagonal(at).log_determinant == pytest.approx(np.log(np.diag(H)).sum())


@pytest.mark.parametrize("make", [Full, Kronecker, Diagonal, lambda at: LowRank(at, 4)])
@pytest.mark.parametrize("k", [2, 3])
def test_draws_have_the_covariance(make, k):
    at = curvature(k)
    laplace = make(at)
    draws = laplace.sample(40_000, np.random.default_rng(0))
    row = at.rows.dense(slice(0, 1))
    scores = draws @ row[0]
    expected = laplace.covariance(row)[0]
    assert np.allclose(np.cov(scores.T), expected, atol=0.03 * expected.max())


# Averages


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("method", ["probit", "mean_field", "sampling"])
def test_certain_scores_are_the_softmax_itself(k, method):
    mean = np.random.default_rng(0).normal(size=(5, k))
    found = average_softmax(mean, np.zeros((5, k, k)), method)
    assert np.allclose(found, softmax(mean, axis=1))


def test_two_classes_against_quadrature():
    def exact(m, v):
        spread = math.sqrt(v)
        return integrate.quad(
            lambda z: expit(m + spread * z) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi), -9, 9
        )[0]

    for m, v in ((0.5, 1.0), (2.0, 4.0), (-1.0, 9.0)):
        mean, spread = np.array([[-m / 2, m / 2]]), v / 4 * np.array([[[1.0, -1], [-1, 1]]])
        for method in ("probit", "mean_field"):
            assert average_softmax(mean, spread, method)[0, 1] == pytest.approx(
                exact(m, v), abs=0.01
            )
        drawn = average_softmax(mean, spread, "sampling", draws=40_000)[0, 1]
        assert drawn == pytest.approx(exact(m, v), abs=0.005)


@pytest.mark.parametrize("method", ["probit", "mean_field", "sampling"])
def test_only_differences_of_scores_matter(method):
    rng = np.random.default_rng(4)
    mean, root = rng.normal(size=(6, 4)), rng.normal(size=(6, 4, 4))
    spread = root @ root.swapaxes(1, 2)
    shared = spread + 5.0 * np.ones((4, 4))  # noise that moves all scores together
    close = {"draws": 60_000} if method == "sampling" else {}
    one = average_softmax(mean, spread, method, **close)
    other = average_softmax(mean + 3.0, shared, method, **close)
    assert np.allclose(one, other, atol=0.01 if close else 1e-9)
    assert np.allclose(one.sum(axis=1), 1.0)


def test_the_probit_is_the_closest_without_draws():
    rng = np.random.default_rng(5)
    for k, size in ((3, 1.0), (3, 3.0), (10, 1.0), (10, 3.0)):
        root = size * rng.normal(size=(30, k, k)) / math.sqrt(k)
        mean, spread = 2 * rng.normal(size=(30, k)), root @ root.swapaxes(1, 2)
        exact = average_softmax(mean, spread, "sampling", draws=4096)

        def off(found, exact=exact):
            return np.abs(found - exact).sum(axis=1).mean()

        probit = off(average_softmax(mean, spread))
        assert probit < off(average_softmax(mean, spread, "mean_field"))
        own = np.diagonal(spread, axis1=1, axis2=2)
        assert probit < off(softmax(mean / np.sqrt(1 + math.pi / 8 * own), axis=1))


def test_shapes_of_scores_are_checked():
    with pytest.raises(InvalidInput, match=r"covariance \(n, k, k\)"):
        average_softmax(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(InvalidInput, match="method must be one of"):
        average_softmax(np.zeros((2, 3)), np.zeros((2, 3, 3)), "bridge")


# The estimator


@pytest.mark.parametrize("k", [2, 4])
def test_the_mode_is_the_linear_classifier(k):
    X, y = noisy(k)
    model = BayesianClassifier(0.5, predictive="map", held_out=None).fit(X, y)
    peer = LinearClassifier(C=0.5, tol=1e-8).fit(X, y)
    assert np.allclose(model.coef_, peer.coef_, atol=1e-4)
    assert np.allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("k", [2, 3])
def test_averages_of_drawn_boundaries_are_the_probabilities(structure, k):
    X, y = noisy(k, 100)
    model = BayesianClassifier(
        2.0, structure, "sampling", draws=20_000, held_out=None, fit_intercept=k == 3
    ).fit(X, y)
    coef, intercept = model.sample(20_000, random_state=1)
    scores = np.einsum("nmd,bd->bnm", coef, X[:5]) + intercept
    scores = np.concatenate([-scores / 2, scores / 2], axis=2) if k == 2 else scores
    drawn = softmax(scores, axis=2).mean(axis=1)
    assert np.allclose(drawn, model.predict_proba(X[:5]), atol=0.01)
    mean, spread = model.score_distribution(X[:5])
    assert mean.shape == (5, k)
    assert spread.shape == (5, k, k)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_sparse_rows_give_the_same_answers(structure):
    X, y = noisy(3)
    dense = BayesianClassifier(structure=structure, held_out=None).fit(X, y)
    sparse = BayesianClassifier(structure=structure, held_out=None).fit(sp.csr_matrix(X), y)
    found = sparse.predict_proba(sp.csr_matrix(X))
    assert np.allclose(found, dense.predict_proba(X), atol=1e-6)
    assert sparse.log_evidence_ == pytest.approx(dense.log_evidence_, abs=1e-5)


def test_far_from_the_data_the_average_stays_where_it_is():
    X, y = noisy(3)
    model = BayesianClassifier(predictive="probit", held_out=None).fit(X, y)
    direction = X[:5] - 2.0
    far, farther = (model.predict_proba(2.0 + reach * direction) for reach in (1e5, 1e7))
    assert np.allclose(far, farther, atol=1e-3)  # scores and what is unknown of them grow together
    assert far.max() < 1.0
    assert model.map_.predict_proba(2.0 + 1e5 * direction).max(axis=1).min() == 1.0


def test_more_data_make_averaging_the_mode():
    gaps = []
    for n in (50, 500, 5000):
        X, y = noisy(3, n)
        model = BayesianClassifier(held_out=None).fit(X, y)
        gaps.append(np.abs(model.predict_proba(X) - model.map_.predict_proba(X)).mean())
    assert gaps[0] > 3 * gaps[1] > 9 * gaps[2]


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_evidence_equals_quadrature_where_the_posterior_is_nearly_gaussian(C):
    X, y = noisy(2, 400, 1)
    model = BayesianClassifier(C, fit_intercept=False, held_out=None).fit(X, y)
    w = np.linspace(-6, 6, 4001)
    fit = np.stack([-np.logaddexp(0, -(2 * y - 1) * (X[:, 0] * v)).sum() for v in w])
    joint = np.exp(fit - fit.max() - w**2 / (2 * C)) / math.sqrt(2 * math.pi * C)
    exact = math.log(joint.sum() * (w[1] - w[0])) + fit.max()
    assert model.log_evidence_ == pytest.approx(exact, abs=0.01)


def test_evidence_chooses_c():
    X, y = noisy(3, 150)
    model = BayesianClassifier("evidence", held_out=None).fit(X, y)
    for factor in (0.3, 0.8, 1.25, 3.0):
        other = BayesianClassifier(factor * model.C_, held_out=None).fit(X, y)
        assert other.log_evidence_ < model.log_evidence_
    scaled = BayesianClassifier("evidence", held_out=None).fit(X * 100, y)
    assert pytest.approx(model.C_ / 1e4, rel=0.1) == scaled.C_


@pytest.mark.filterwarnings("ignore::argmax.errors.PosteriorTooWide")
def test_evidence_of_separable_classes_has_no_maximum_and_the_fit_says_so():
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    square = float(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    with pytest.warns(NotConverged, match="rises to the end of the range"):
        model = BayesianClassifier("evidence").fit(X, y)
    wider = BayesianClassifier(10 * model.C_, held_out=None).fit(X, y)
    assert model.log_evidence_ < wider.log_evidence_  # a flat intercept likes it ever wider
    # The best C for an intercept with a prior N(0, C · square), whose evidence is that of a flat one less
    # ½ log(2π C square) while the labels say where it is.
    for factor in (0.3, 0.7, 1.5, 3.0):
        other = BayesianClassifier(factor * model.C_, held_out=None).fit(X, y)
        assert other.log_evidence_ - 0.5 * math.log(factor) < model.log_evidence_
    assert model.score(X, y) == 1.0
    assert metrics.log_loss(y, model.predict_proba(X), model.classes_) < 0.2
    assert 1.0 < model.C_ * square < 1e5


def test_the_range_of_c_is_that_of_rows_measured_from_their_mean():
    X, y = noisy(3, 150)
    here = BayesianClassifier("evidence", held_out=None).fit(X, y)
    there = BayesianClassifier("evidence", held_out=None).fit(X + 3000.0, y)
    assert pytest.approx(here.C_, rel=0.1) == there.C_


@pytest.mark.parametrize("make", [Full, Kronecker])
def test_a_loss_without_curvature_is_refused(make):
    at = curvature(2)
    certain = np.tile([0.0, 1.0], (60, 1))
    with pytest.raises(NumericalFailure, match="where the intercept is"):
        make(Curvature(at.rows, at.weight, certain, 0.5, True))


# The audit


@pytest.mark.filterwarnings("ignore::argmax.errors.PosteriorTooWide")
def test_a_posterior_that_is_too_wide_is_flagged():
    """Digits are nearly separable: the Gaussian at the mode is far too wide, and everybody should know."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y, train_size=400, random_state=0, stratify=y)
    model = BayesianClassifier(C=10.0, structure="kron").fit(X, y)
    assert model.audit_.too_wide
    assert model.audit_.averaged_log_loss > 1.5 * model.audit_.map_log_loss
    assert "too wide" in str(model.audit_)
    found = model.audit(X_test, y_test)
    averaged = metrics.log_loss(y_test, model.predict_proba(X_test), model.classes_)
    assert found.averaged_log_loss == pytest.approx(averaged)
    assert found.rows == len(y_test)
    with pytest.warns(PosteriorTooWide, match="Use predictive="):
        BayesianClassifier(C=10.0, structure="kron").fit(X, y)


def test_where_averaging_helps_the_audit_says_so(capsys):
    """Few rows of noisy classes and a wide prior: the mode is overconfident, the average is not."""
    X, y = noisy(3, 120, 20)
    X_test, y_test = noisy(3, 4000, 20)
    model = BayesianClassifier(C=100.0, verbose=1).fit(X, y)
    assert not model.audit_.too_wide
    assert "held-out rows: MAP" in capsys.readouterr().err
    found = model.audit(X_test[1000:], y_test[1000:])
    assert found.difference.high < 0
    assert "better than its mode" in found.verdict


def test_the_audit_can_be_left_out_or_impossible():
    X, y = load_iris(return_X_y=True)
    assert BayesianClassifier(held_out=None).fit(X, y).audit_ is None
    assert BayesianClassifier().fit(X[::10], y[::10]).audit_ is None
    silent = BayesianClassifier(predictive="map").fit(
        X, y
    )  # nothing is averaged: nothing to warn of
    assert isinstance(silent.audit_, Audit)


def test_the_audit_leaves_the_answers_alone():
    X, y = noisy(3)
    with_audit = BayesianClassifier().fit(X, y)
    without = BayesianClassifier(held_out=None).fit(X, y)
    assert np.array_equal(with_audit.predict_proba(X), without.predict_proba(X))


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"structure": "kfac"}, InvalidInput, "structure must be one of"),
        ({"predictive": "bridge"}, InvalidInput, "predictive must be one of"),
        ({"C": "cv"}, InvalidInput, "C must be one of 'evidence'"),
        ({"C": math.inf}, InvalidInput, "C must be finite"),
        ({"C": 0.0}, InvalidInput, "C must be greater than 0"),
        ({"rank": 5}, Unsupported, "rank=5 would be ignored"),
        ({"draws": 5}, Unsupported, "draws=5 would be ignored"),
        ({"held_out": 1.0}, InvalidInput, "held_out must be less than 1"),
        ({"structure": "low_rank", "rank": 0}, InvalidInput, "rank must be at least 1"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, error, sentence):
    X, y = noisy(3, 50)
    with pytest.raises(error, match=sentence):
        BayesianClassifier(**options).fit(X, y)


def test_a_failed_fit_changes_nothing():
    X, y = noisy(3, 60)
    model = BayesianClassifier(held_out=None).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(InvalidInput, match="NaN"):
        model.fit(np.where(X > 3, np.nan, X), y)
    assert np.array_equal(model.predict_proba(X), before)
