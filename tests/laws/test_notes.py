"""Formulas of the notes as tests, corrected as CORRECTIONS.md says; its letters are in the names."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax
from sklearn.datasets import load_iris, load_wine

from argmax import LinearClassifier, SoftmaxRegression
from argmax.records import Scores
from argmax.solvers import Newton, Report
from argmax.spaces import Classes
from tests.laws import problems

X, y = load_iris(return_X_y=True)
ONE_HOT = np.eye(3)[y]


def test_f_softmax_has_its_bias_inside_the_exponential():
    model = SoftmaxRegression().fit(X, y)
    z, b = X @ model.coef_.T, model.intercept_
    printed = (np.exp(z) + b) / np.exp(z + b).sum(axis=1, keepdims=True)
    correct = np.exp(z + b) / np.exp(z + b).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), correct, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-14)
    assert np.abs(printed.sum(axis=1) - 1.0).max() > 0.1
    assert (printed < 0).any()


def test_f_only_differences_between_classes_matter():
    model = SoftmaxRegression().fit(X, y)
    shift = np.linspace(-3, 3, X.shape[1])
    moved = X @ (model.coef_ + shift).T + model.intercept_ + 7.0
    np.testing.assert_allclose(
        np.exp(log_softmax(moved, axis=1)), model.predict_proba(X), rtol=1e-9
    )


def mean_loss_gradient(model):
    p = model.predict_proba(X)
    return (p - ONE_HOT).T @ X / len(X)


@pytest.mark.parametrize("C", [0.01, 1.0, 20.0])
def test_m_the_mean_form_has_lambda_one_over_nC(C):
    """λ ½‖w‖² + mean loss is stationary at our optimum for λ = 1/(nC), not for λ = 1/C."""
    model = SoftmaxRegression(C=C).fit(X, y)
    loss = mean_loss_gradient(model)
    right = loss + model.coef_ / (len(X) * C)
    wrong = loss + model.coef_ / C
    assert np.abs(right).max() < 1e-9
    assert np.abs(wrong).max() > 1e-3


@pytest.mark.parametrize("C", [0.01, 1.0, 20.0])
def test_m_the_sum_form_has_lambda_one_over_C(C):
    model = SoftmaxRegression(C=C).fit(X, y)
    assert np.abs(len(X) * mean_loss_gradient(model) + model.coef_ / C).max() < 1e-7


def test_m_without_the_half_C_is_twice_ours():
    """The first notes minimise ‖w‖² + C₀ Σ loss: C₀ = 2C."""

    def printed(flat):
        W, b = flat[:12].reshape(3, 4), flat[12:]
        logs = log_softmax(X @ W.T + b, axis=1)
        r = np.exp(logs) - ONE_HOT
        value = (W**2).sum() - 2.0 * C * (logs * ONE_HOT).sum()
        return value, np.concatenate([(2 * W + 2.0 * C * r.T @ X).ravel(), 2.0 * C * r.sum(axis=0)])

    C = 0.5
    model = SoftmaxRegression(C=C).fit(X, y)
    options = {"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(printed, np.zeros(15), jac=True, method="L-BFGS-B", options=options)
    np.testing.assert_allclose(model.coef_, found.x[:12].reshape(3, 4), atol=1e-4)
    assert 2 * model.solution_.objective == pytest.approx(found.fun, rel=1e-8)


def test_m_appending_a_one_would_penalise_the_bias():
    ours = SoftmaxRegression(C=0.01).fit(X, y)
    ones = np.hstack([X, np.ones((len(X), 1))])
    appended = SoftmaxRegression(C=0.01, fit_intercept=False).fit(ones, y)
    assert np.abs(ours.intercept_ - appended.coef_[:, -1]).max() > 0.1
    bigger = ours.solution_.objective
    assert bigger < appended.solution_.objective


def test_two_scores_f_and_minus_f_give_the_logistic_of_2f():
    f = np.linspace(-30.0, 30.0, 121)
    p = Classes(2).marginals(Scores(np.stack([f, -f], axis=1)))[1].node
    np.testing.assert_allclose(p[:, 0], expit(2 * f), rtol=1e-12)


def test_two_classes_are_the_textbooks_logistic_regression():
    Z, z = load_wine(return_X_y=True)
    Z, z = Z[z < 2], z[z < 2]
    model = LinearClassifier().fit(Z, z)
    assert model.coef_.shape == (1, Z.shape[1])
    assert model.intercept_.shape == (1,)
    f = Z @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(Z), f, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(Z)[:, 1], expit(f), rtol=1e-9)
    textbook = np.logaddexp(0, -np.where(z == 1, f, -f)).sum() + 0.5 * (model.coef_**2).sum()
    assert model.solution_.objective == pytest.approx(textbook, rel=1e-12)


@pytest.mark.parametrize("C", [0.1, 3.0])
def test_the_two_row_softmax_with_half_the_C_has_the_same_optimum(C):
    """½‖W‖² with W = (−½w, ½w) is ¼‖w‖²: all of F is halved."""
    one_vector = problems.classes(k=2, C=C)
    two_rows = problems.classes(k=2, C=C / 2, label_features=None)
    found = [
        Newton().minimise(objective, np.zeros(objective.size), Report(tol=1e-13))
        for objective in (one_vector, two_rows)
    ]
    assert 2 * found[1].objective == pytest.approx(found[0].objective, rel=1e-12)
    w, W = (
        objective.problem.layout.named(solution.w)["coef"]
        for objective, solution in zip((one_vector, two_rows), found, strict=True)
    )
    np.testing.assert_allclose(W, [-0.5 * w[0], 0.5 * w[0]], atol=1e-9)
