"""The classifier as an object: parameters, warm starts, paths, interrupts, and a failed fit."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from argmax import LinearClassifier, SoftmaxRegression
from argmax.engines import Threads
from argmax.errors import ArgmaxError, InvalidInput, NotConverged, Unsupported, WrongType
from argmax.solvers import LBFGS

X, Y = load_iris(return_X_y=True)
SOLVERS = ["dual", "lbfgs", "newton", "newton_cg", "proximal"]
FACES = [LinearClassifier, SoftmaxRegression]


# Parameters


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"C": 0}, InvalidInput, "C must be greater than 0"),
        ({"C": "1"}, WrongType, "C must be a number"),
        (
            {"penalty": "l3"},
            InvalidInput,
            "penalty must be one of 'auto', 'l2', 'l1', 'elasticnet', None",
        ),
        ({"l1_ratio": 0.5}, Unsupported, "l1_ratio=0.5 would be ignored with penalty='(auto|l2)'"),
        ({"penalty": "l1", "l1_ratio": 0.5}, Unsupported, "would be ignored"),
        ({"penalty": "elasticnet"}, InvalidInput, "needs l1_ratio"),
        ({"penalty": "elasticnet", "l1_ratio": 2}, InvalidInput, "at most 1"),
        ({"solver": "sdg"}, InvalidInput, "solver must be one of"),
        ({"solver": "lbfgs", "penalty": "l1"}, Unsupported, "cannot handle an l1 penalty"),
        ({"solver": "dual", "penalty": None}, Unsupported, "needs a penalty"),
        ({"solver": "dual", "C": np.inf}, Unsupported, "needs a penalty"),
        ({"n_threads": 2, "engine": Threads(2)}, Unsupported, "n_threads belongs to the default"),
        ({"engine": 4}, InvalidInput, "engine must be an Engine"),
        ({"n_threads": 0}, InvalidInput, "n_threads must be at least 1"),
        ({"tol": 0.0}, InvalidInput, "tol must be greater than 0"),
        ({"max_iter": 0}, InvalidInput, "max_iter must be at least 1"),
        ({"max_iter": 1.5}, WrongType, "max_iter must be a whole number"),
        ({"time_limit": -1}, InvalidInput, "time_limit must be at least 0"),
        ({"class_weight": "even"}, InvalidInput, "class_weight"),
    ],
)
@pytest.mark.parametrize("face", FACES)
def test_a_wrong_parameter_is_one_sentence(face, options, error, words):
    with pytest.raises(error, match=words) as caught:
        face(**options).fit(X, Y)
    assert isinstance(caught.value, ArgmaxError)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "hinges"}, "loss must be one of"),
        ({"cost": np.eye(3)}, "loss 'log' has no cost"),
    ],
)
def test_a_wrong_loss_or_cost_is_one_sentence(options, words):
    with pytest.raises(ArgmaxError, match=words):
        LinearClassifier(**options).fit(X, Y)


def test_unsupported_choices_are_refused_before_the_data_is_read():
    class Untouchable:
        def __array__(self, *args, **kwargs):
            raise AssertionError("the data was read")

    with pytest.raises(Unsupported, match="l1_ratio"):
        LinearClassifier(l1_ratio=0.5).fit(Untouchable(), Y)


def test_parameters_are_stored_as_given_and_never_changed():
    solver, engine = LBFGS(memory=3), Threads(1)
    model = LinearClassifier(solver=solver, engine=engine, C=1, callbacks=[])
    before = dict(model.get_params())
    model.fit(X, Y)
    assert model.get_params() == before
    assert model.solver is solver
    assert model.engine is engine


def test_both_faces_are_the_same_model():
    one, other = LinearClassifier().fit(X, Y), SoftmaxRegression().fit(X, Y)
    np.testing.assert_array_equal(one.coef_, other.coef_)


# What a fit leaves behind


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_shapes(k, intercept):
    keep = np.isin(Y, range(k))
    model = SoftmaxRegression(fit_intercept=intercept).fit(X[keep], Y[keep])
    rows = 1 if k == 2 else k
    assert model.coef_.shape == (rows, 4)
    assert model.intercept_.shape == (rows,)
    assert intercept or not model.intercept_.any()
    assert model.n_features_in_ == 4
    assert model.n_iter_ == model.solution_.passes
    assert model.predict_proba(X).shape == (150, k)


def test_intercepts_have_mean_zero():
    assert abs(SoftmaxRegression().fit(X, Y).intercept_.mean()) < 1e-12


@pytest.mark.parametrize("answer", ["predict", "predict_proba", "decision_function", "row_scorer"])
def test_an_unfitted_model_has_no_answers(answer):
    method = getattr(SoftmaxRegression(), answer)
    with pytest.raises(NotFittedError):
        method() if answer == "row_scorer" else method(X)


def test_probabilities_add_up_and_agree_with_their_logs():
    model = SoftmaxRegression(C=1e4).fit(X, Y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(X), rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


def test_logs_of_tiny_probabilities_do_not_underflow():
    model = SoftmaxRegression().fit(X, Y)
    logs = model.predict_log_proba(1e4 * X)
    assert np.isfinite(logs).all()
    assert logs.min() < -1e3


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_dtype_asks_for_the_precision_of_rows(kind, route):
    model = SoftmaxRegression(dtype=kind).fit(X, Y)
    exact = SoftmaxRegression(tol=1e-10).fit(X, Y)
    assert model.coef_.dtype == np.float64
    assert model.solution_.objective == pytest.approx(exact.solution_.objective, rel=1e-3)


def test_dense_and_sparse_rows_have_one_answer(route):
    dense = SoftmaxRegression(tol=1e-10).fit(X, Y)
    sparse = SoftmaxRegression(tol=1e-10).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(
        dense.predict_proba(X), sparse.predict_proba(sp.csr_array(X)), atol=1e-4
    )


# A failed fit


@pytest.mark.parametrize(
    "spoil",
    [
        lambda m: m.fit(X, np.zeros(150)),
        lambda m: m.fit(np.full((150, 4), np.nan), Y),
        lambda m: m.fit(X, Y[:10]),
        lambda m: m.set_params(C=-1.0).fit(X, Y),
        lambda m: m.set_params(callbacks=[lambda progress: 1 / 0]).fit(X, Y),
    ],
)
def test_a_failed_fit_changes_nothing(spoil):
    model = SoftmaxRegression().fit(X[:, :2], Y)
    before, answers = dict(vars(model)), model.predict_proba(X[:, :2])
    with pytest.raises((ArgmaxError, ZeroDivisionError)):
        spoil(model)
    model.set_params(C=1.0, callbacks=None)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict_proba(X[:, :2]), answers)


def test_a_second_fit_forgets_the_first():
    model = SoftmaxRegression().fit(X, Y)
    model.fit(X[Y > 0][:, :3], Y[Y > 0])
    fresh = SoftmaxRegression().fit(X[Y > 0][:, :3], Y[Y > 0])
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
    assert model.n_features_in_ == 3
    assert model.classes_.tolist() == [1, 2]


# Interrupts


def interrupt_at(n):
    calls = []

    def callback(progress):
        calls.append(progress)
        if len(calls) == n:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_interrupt_goes_on_and_keeps_the_best_weights(solver, monkeypatch):
    monkeypatch.setattr("argmax.solvers.dual.PATIENCE", (0.0, 0.0))
    model = SoftmaxRegression(solver=solver, callbacks=[interrupt_at(2)])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    solution = model.solution_
    assert solution.status == "interrupted"
    assert "interrupted" in solution.message
    assert solution.objective <= solution.history[0][1]
    assert model.predict(X).shape == (150,)
    best = SoftmaxRegression().fit(X, Y).solution_.objective
    assert solution.objective > best


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_interrupt_leaves_an_earlier_fit_as_it_was(solver):
    model = SoftmaxRegression(solver=solver).fit(X[:, :2], Y)
    coef, solution = model.coef_, model.solution_
    model.set_params(callbacks=[interrupt_at(1)])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.coef_ is coef
    assert model.solution_ is solution


def test_an_interrupt_before_the_first_pass_leaves_nothing():
    class Slow:
        def __array__(self, *args, **kwargs):
            raise KeyboardInterrupt

    model = SoftmaxRegression()
    with pytest.raises(KeyboardInterrupt):
        model.fit(Slow(), Y)
    assert not hasattr(model, "solution_")


# Warm starts and paths


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_warm_start_at_the_end_is_the_end(solver, route):
    model = SoftmaxRegression(solver=solver, C=0.1, tol=1e-6, warm_start=True).fit(X, Y)
    first = model.solution_
    again = model.fit(X, Y).solution_
    assert again.converged
    assert again.passes <= first.passes
    assert again.objective == pytest.approx(first.objective, rel=1e-5)


def switches(pairs):
    for first, second in pairs:
        model = SoftmaxRegression(solver=first, C=0.1, warm_start=True).fit(X, Y)
        model.set_params(solver=second).fit(X, Y)
        best = SoftmaxRegression(C=0.1).fit(X, Y).solution_.objective
        assert model.solution_.objective == pytest.approx(best, rel=1e-6)


def test_a_warm_start_may_change_the_solver():
    pairs = [(a, b) for a in SOLVERS for b in SOLVERS if (a, b) != ("lbfgs", "dual")]
    switches(pairs)


def test_a_warm_start_may_change_from_lbfgs_to_dual():
    switches([("lbfgs", "dual")])


def test_a_warm_start_needs_the_same_problem():
    model = SoftmaxRegression(warm_start=True).fit(X, Y)
    for X2, Y2 in ((X[:, :3], Y), (X[Y > 0], Y[Y > 0])):
        with pytest.raises(InvalidInput, match="warm_start: classes, features or fit_intercept"):
            model.fit(X2, Y2)
    with pytest.raises(InvalidInput, match="warm_start"):
        model.set_params(fit_intercept=False).fit(X, Y)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_warm_start_may_change_the_form_of_the_rows(kind):
    model = SoftmaxRegression(warm_start=True).fit(X, Y)
    best = model.solution_.objective
    assert model.fit(kind(X), Y).solution_.objective == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("solver", [*SOLVERS, "auto"])
def test_a_path_equals_cold_fits(solver, route):
    Cs = [0.01, 0.1, 1.0]
    options = {"solver": solver, "tol": 1e-12, "max_iter": 5000}
    path = SoftmaxRegression(**options).path(X, Y, Cs)
    assert [model.C for model in path] == Cs
    for C, model in zip(Cs, path, strict=True):
        cold = SoftmaxRegression(C=C, **options).fit(X, Y)
        assert model.solution_.objective == pytest.approx(cold.solution_.objective, rel=1e-9)
        np.testing.assert_allclose(model.coef_, cold.coef_, atol=2e-4)


def test_a_path_with_l1_equals_cold_fits():
    options = {"penalty": "l1", "tol": 1e-8}
    for model in SoftmaxRegression(**options).path(X, Y, [0.02, 0.2, 2.0]):
        cold = SoftmaxRegression(C=model.C, **options).fit(X, Y)
        assert model.solution_.objective == pytest.approx(cold.solution_.objective, rel=1e-9)


def test_a_path_leaves_the_estimator_alone():
    model = SoftmaxRegression()
    models = model.path(X, Y, [0.1, 1.0])
    assert not hasattr(model, "coef_")
    assert (model.C, model.warm_start) == (1.0, False)
    assert [m.warm_start for m in models] == [False, False]
    assert models[0].coef_ is not models[1].coef_
    assert SoftmaxRegression().path(X, Y, []) == []


def test_the_order_of_a_path_does_not_matter():
    up = SoftmaxRegression(tol=1e-10).path(X, Y, [0.01, 1.0])
    down = SoftmaxRegression(tol=1e-10).path(X, Y, [1.0, 0.01])
    for one, other in zip(up, reversed(down), strict=True):
        assert one.solution_.objective == pytest.approx(other.solution_.objective, rel=1e-9)


# Randomness


@pytest.mark.parametrize(
    "seed", [None, 0, 7, np.int64(3), np.random.RandomState(1), np.random.default_rng(1)], ids=str
)
def test_every_kind_of_random_state_serves(seed):
    model = SoftmaxRegression(solver="dual", C=0.1, random_state=seed, tol=1e-8).fit(X, Y)
    best = SoftmaxRegression(C=0.1).fit(X, Y).solution_.objective
    assert model.solution_.objective == pytest.approx(best, rel=1e-7)


def test_without_a_random_state_fits_repeat(monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    monkeypatch.setattr("argmax.solvers.dual.PATIENCE", (np.inf, np.inf))
    one, two, other = (
        SoftmaxRegression(solver="dual", C=0.1, random_state=seed).fit(X, Y)
        for seed in (None, 0, 1)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert not np.array_equal(one.coef_, other.coef_)


# Limits


def test_without_a_penalty_separable_classes_have_no_best_weights():
    with pytest.warns(NotConverged, match="linearly separable"):
        model = SoftmaxRegression(penalty=None, max_iter=50).fit(X[Y < 2], Y[Y < 2])
    assert model.solution_.status == "separable"
    assert model.score(X[Y < 2], Y[Y < 2]) == 1.0
