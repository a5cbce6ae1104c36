"""Fault 13: problems without a best answer, or with many."""

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import LinearClassifier, SoftmaxRegression
from argmax.errors import NotConverged
from tests.faults.cases import problem, routes
from tests.faults.harness import alone


def apart(k):
    """Blobs that a plane separates."""
    rng = np.random.default_rng(0)
    y = np.arange(40 * k) % k
    return rng.normal(size=(len(y), 3)) + 9 * np.eye(3)[y], y


@alone
def test_13_separable_data_without_a_penalty_warn_with_the_reason():
    for _ in routes():
        for k in (2, 3):
            X, y = apart(k)
            for form in (np.asarray, sp.csr_array):
                for setting in ({"C": np.inf}, {"penalty": None}):
                    for solver in ("auto", "lbfgs", "newton_cg"):
                        model, told = LinearClassifier(solver=solver, **setting), []
                        model.callbacks = [told.append]
                        with pytest.warns(NotConverged, match=r"separable.*finite C"):
                            model.fit(form(X), y)
                        assert not model.solution_.converged
                        assert np.isfinite(model.coef_).all()
                        assert np.isfinite(model.predict_proba(X)).all()
                        assert np.array_equal(model.predict(X), y)
                        assert model.n_iter_ == len(told) <= model.max_iter


@alone
def test_13_separable_data_with_a_penalty_have_an_answer():
    X, y = apart(3)
    for C in (1.0, 1e6, 1e12):
        assert SoftmaxRegression(C=C).fit(X, y).solution_.converged


@alone
def test_13_collinear_and_constant_columns_change_nothing():
    X, y = problem()
    more = np.c_[X, X[:, 0], np.ones(len(X)), X[:, 1] + X[:, 2], np.zeros(len(X))]
    for _ in routes():
        for form in (np.asarray, sp.csr_array):
            for solver in ("auto", "lbfgs", "newton_cg"):
                plain = SoftmaxRegression(C=np.inf, solver=solver).fit(form(X), y)
                model = SoftmaxRegression(C=np.inf, solver=solver).fit(form(more), y)
                assert np.isfinite(model.coef_).all()
                assert np.abs(model.coef_).max() < 10
                assert model.solution_.converged
                p, expected = model.predict_proba(form(more)), plain.predict_proba(form(X))
                np.testing.assert_allclose(p, expected, atol=1e-4)
                penalised = SoftmaxRegression(solver=solver).fit(form(more), y)
                assert penalised.solution_.converged


@alone
def test_13_the_number_of_iterations_is_true():
    X, y = problem()
    for solver in ("newton", "lbfgs", "newton_cg"):
        told = []
        model = SoftmaxRegression(solver=solver, callbacks=[told.append]).fit(X, y)
        assert model.n_iter_ == len(told) == model.solution_.passes
        with pytest.warns(NotConverged, match=r"max_iter of 2 .*Raise max_iter"):
            assert SoftmaxRegression(solver=solver, max_iter=2).fit(X, y).n_iter_ == 2


@alone
def test_13_the_number_of_sweeps_is_true():
    X, y = problem()
    with pytest.warns(NotConverged, match="max_iter of 7"):
        model = SoftmaxRegression(solver="dual", C=1e4, max_iter=7).fit(X, y)
    assert model.n_iter_ == 7
