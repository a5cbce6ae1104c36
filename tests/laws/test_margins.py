"""The margin losses: optima of an independent quadratic programme, of LIBLINEAR, and their reductions."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from argmax import LinearClassifier, MulticlassSVM, SoftmaxRegression, costs
from argmax.engines import Threads
from argmax.errors import NotSeparable
from argmax.solvers import Auto, Dual, Report, Smoothing, margins
from argmax.solvers.margin_rows import as_sparse
from argmax.solvers.margins import Climb
from tests.laws import problems
from tests.naive import box_step, simplex_step

SOLVERS = ("dual", "smoothing", "interior_point", "auto")
both_hinges = pytest.mark.parametrize("loss", ["hinge", "weston_watkins"])


def problem(n=14, d=3, k=3, seed=0):
    """Overlapping classes, weights that differ."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y, rng.uniform(0.3, 2.0, n), rng


def value(model, loss, X, y, C, weight=None, delta=None):
    """F in plain NumPy, intercept penalised."""
    scores = X @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        scores = np.hstack([-scores / 2, scores / 2])
    n, k = scores.shape
    delta = (1.0 - np.eye(k))[y] if delta is None else delta
    short = delta + scores - scores[np.arange(n), y][:, None]
    loss_ = short.max(axis=1) if loss == "hinge" else np.maximum(short, 0.0).sum(axis=1)
    total = loss_.sum() if weight is None else loss_ @ weight
    return C * total + 0.5 * (model.coef_**2).sum() + 0.5 * (model.intercept_**2).sum()


def programme(loss, X, y, C, weight, delta):
    """min ½‖w‖² + C Σ s ξ such that s_y − s_c ≥ Δ_c − ξ, by SLSQP: a ξ for each example or wrong answer."""
    X = np.hstack([X, np.ones((len(X), 1))])
    (n, d), k = X.shape, delta.shape[1]
    wrong = [(i, c) for i in range(n) for c in range(k) if c != y[i]]
    slack = {pair: pair[0] if loss == "hinge" else j for j, pair in enumerate(wrong)}
    size = 1 + max(slack.values())
    A, b, price = np.zeros((len(wrong), k * d + size)), np.zeros(len(wrong)), np.zeros(size)
    for row, (i, c) in enumerate(wrong):
        A[row, y[i] * d : y[i] * d + d] += X[i]
        A[row, c * d : c * d + d] -= X[i]
        A[row, k * d + slack[i, c]] = 1.0
        b[row], price[slack[i, c]] = delta[i, c], C * weight[i]

    def objective(v):
        return 0.5 * v[: k * d] @ v[: k * d] + price @ v[k * d :]

    def gradient(v):
        return np.concatenate([v[: k * d], price])

    start = np.concatenate([np.zeros(k * d), np.full(size, delta.max())])
    found = minimize(
        objective, start, jac=gradient, method="SLSQP",
        bounds=[(None, None)] * (k * d) + [(0.0, None)] * size,
        constraints={"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A},
        options={"ftol": 1e-15, "maxiter": 1000},
    )  # fmt: skip
    table = found.x[: k * d].reshape(k, d)
    best = SimpleNamespace(coef_=table[:, :-1], intercept_=table[:, -1])
    return value(best, loss, X[:, :-1], y, C, weight, delta)  # whatever the constraints are off by


@both_hinges
@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
def test_the_optimum_is_that_of_a_quadratic_programme(loss, C):
    X, y, weight, _ = problem()
    best = programme(loss, X, y, C, weight, (1.0 - np.eye(3))[y])
    for solver in SOLVERS:
        model = LinearClassifier(loss, C=C, solver=solver, tol=1e-9, max_iter=20000)
        model.fit(X, y, weight)
        assert value(model, loss, X, y, C, weight) == pytest.approx(best, rel=1e-8)
        assert model.solution_.objective == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("own", [False, True], ids=["table", "of each example"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_any_cost_is_a_distance_to_keep(own, solver):
    X, y, weight, rng = problem(seed=1)
    table = rng.uniform(0.2, 3.0, (3, 3)) * (1.0 - np.eye(3))
    delta = rng.uniform(0.2, 3.0, (len(y), 3)) if own else table[y]
    delta[np.arange(len(y)), y] = 0.0
    model = LinearClassifier("hinge", C=0.7, cost=None if own else table, solver=solver, tol=1e-9)
    model.fit(X, y, weight, example_cost=delta if own else None)
    best = programme("hinge", X, y, 0.7, weight, delta)
    assert value(model, "hinge", X, y, 0.7, weight, delta) == pytest.approx(best, rel=1e-8)
    assert model.solution_.objective == pytest.approx(best, rel=1e-8)


@both_hinges
@pytest.mark.parametrize("solver", [Dual(seed=3), Smoothing()], ids=["dual", "smoothing"])
@pytest.mark.parametrize("k", [2, 4])
def test_the_gap_is_true_at_every_report(loss, solver, k, monkeypatch):
    monkeypatch.setattr("argmax.solvers.margins.PATIENCE", 0.0)
    X, y, weight, _ = problem(n=60, d=5, k=k)
    best = LinearClassifier(loss, tol=1e-12).fit(X, y, weight).solution_.objective
    told = []
    LinearClassifier(loss, solver=solver, tol=1e-8, callbacks=[told.append]).fit(X, y, weight)
    assert len(told) > 3
    assert all(p.objective - p.gap <= best * (1 + 1e-10) <= p.objective * (1 + 2e-10) for p in told)


def toy(load, k=None):
    X, y = load(return_X_y=True)
    return (scale(X), y) if k is None else (scale(X)[y < k], y[y < k])


def peer(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        return LinearSVC(tol=1e-10, max_iter=200_000, random_state=0, **options)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("C", [0.03, 1.0])
def test_crammer_singer_is_liblinears(load, C):
    X, y = toy(load)
    ours = MulticlassSVM(C=C, tol=1e-10).fit(X, y)
    theirs = peer(multi_class="crammer_singer", C=C).fit(X, y)
    best = value(theirs, "hinge", X, y, C)
    assert ours.solution_.objective <= best * (1 + 1e-9)
    assert ours.solution_.objective == pytest.approx(best, rel=1e-4)
    assert value(ours, "hinge", X, y, C) == pytest.approx(ours.solution_.objective, rel=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "weston_watkins", "squared_hinge"])
def test_two_classes_are_the_textbooks(loss):
    X, y = toy(load_breast_cancer)
    ours = MulticlassSVM(loss, C=0.1, tol=1e-11).fit(X, y)
    theirs = peer(loss="squared_hinge" if loss == "squared_hinge" else "hinge", C=0.1).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


def test_squared_hinge_is_linear_svc():
    X, y = toy(load_wine)
    ours = MulticlassSVM("squared_hinge", C=0.5, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer(C=0.5).fit(X, y).coef_, atol=1e-6)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_squared_is_ridge_classifier(load):
    X, y = toy(load)
    ours = LinearClassifier("squared", C=0.3, tol=1e-14).fit(X, y)
    theirs = RidgeClassifier(alpha=1 / 0.3).fit(X, y)
    np.testing.assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-8)


def test_ovr_log_is_one_logistic_regression_a_class():
    X, y = toy(load_wine)
    ours = LinearClassifier("ovr_log", C=0.3, tol=1e-13).fit(X, y)
    theirs = OneVsRestClassifier(LogisticRegression(C=0.3, tol=1e-12, max_iter=10000)).fit(X, y)
    coef = np.vstack([model.coef_ for model in theirs.estimators_])
    np.testing.assert_allclose(ours.coef_, coef, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_ovr_log_of_two_classes_is_log(penalty):
    X, y = toy(load_breast_cancer)
    more = {"penalty": penalty, "l1_ratio": 0.5 if penalty == "elasticnet" else None}
    models = [
        LinearClassifier(loss, C=0.1, tol=1e-9, **more).fit(X, y) for loss in ("log", "ovr_log")
    ]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-5)
    np.testing.assert_allclose(models[0].predict_proba(X), models[1].predict_proba(X), atol=1e-5)


def test_softmax_of_f_and_minus_f_is_the_sigmoid_of_two_f():
    f = np.linspace(-3, 3, 7)
    model = SoftmaxRegression().fit(f[:, None], (f > 0).astype(int))
    f = model.decision_function(f[:, None]) / 2
    p = np.exp(f) / (np.exp(f) + np.exp(-f))
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-2 * f)), atol=1e-15)
    np.testing.assert_allclose(
        model.predict_proba(np.linspace(-3, 3, 7)[:, None])[:, 1], p, atol=1e-12
    )


@pytest.mark.parametrize("loss", ["softmax_margin", "squared_hinge", "squared", "ovr_log"])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_all_solvers_reach_one_objective(loss, load, route):
    X, y = toy(load)
    found = {
        solver: LinearClassifier(loss, C=0.5, solver=solver, tol=1e-12)
        .fit(X, y)
        .solution_.objective
        for solver in ("lbfgs", "newton", "newton_cg", "proximal", "auto")
    }
    assert found == pytest.approx(dict.fromkeys(found, min(found.values())), rel=1e-10)


@pytest.mark.parametrize("loss", ["log", "softmax_margin", "squared_hinge", "squared", "ovr_log"])
@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize("solver", ["proximal", "orthant"])
@pytest.mark.parametrize("intercept", [True, False])
def test_solvers_of_an_l1_penalty_reach_its_optimum(loss, ratio, solver, intercept):
    X, y = toy(load_wine)
    given = {"C": 1.0, "penalty": "elasticnet", "l1_ratio": ratio, "fit_intercept": intercept}
    model = LinearClassifier(loss, solver=solver, tol=1e-6, max_iter=10_000, **given).fit(X, y)
    best = LinearClassifier(loss, tol=1e-12, **given).fit(X, y)
    found, least = model.solution_, best.solution_.objective
    zero = found.gap / found.relative_gap if found.gap else 1.0
    assert found.status == "converged"
    assert least - 1e-9 * zero <= found.objective <= least + 1e-6 * zero
    assert found.objective - least <= found.gap + 1e-9 * zero


@pytest.mark.parametrize("loss", ["softmax_margin", "squared_hinge", "squared", "ovr_log"])
@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_smooth_losses_take_an_l1_penalty(loss, ratio):
    X, y = toy(load_wine)
    model = LinearClassifier(loss, C=0.1, penalty="elasticnet", l1_ratio=ratio, tol=1e-8).fit(X, y)
    assert model.solution_.relative_gap <= 1e-8
    assert (model.coef_ == 0).any()


@pytest.mark.parametrize(
    "loss", ["hinge", "weston_watkins", "softmax_margin", "squared_hinge", "squared", "ovr_log"]
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_weight_of_two_is_a_row_twice(loss, form):
    X, y, _, rng = problem(n=40, d=4)
    weight = rng.integers(0, 4, len(y))
    many = np.repeat(np.arange(len(y)), weight)
    once = LinearClassifier(loss).fit(form(X), y, weight)
    again = LinearClassifier(loss).fit(form(X[many]), y[many])
    np.testing.assert_allclose(once.coef_, again.coef_, atol=1e-7)
    np.testing.assert_allclose(once.intercept_, again.intercept_, atol=1e-7)


# Larger ones: compiled, sparse, warm


def words(n=400, d=300, k=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.05)
    X /= np.maximum(np.sqrt((X**2).sum(axis=1, keepdims=True)), 1e-9)
    X[7] = 0.0  # an empty row
    return sp.csr_array(X), (X @ rng.normal(size=(d, k)) + 0.05 * rng.gumbel(size=(n, k))).argmax(1)


@both_hinges
@pytest.mark.parametrize("intercept", [True, False])
def test_empty_rows_and_no_intercept(loss, intercept):
    X, y = words()
    model = LinearClassifier(loss, fit_intercept=intercept, solver="dual", tol=1e-7).fit(X, y)
    assert model.solution_.status == "converged"
    assert value(model, loss, X.toarray(), y, 1.0) == pytest.approx(
        model.solution_.objective, rel=1e-10
    )


@both_hinges
def test_a_path_starts_where_the_last_fit_ended(loss):
    X, y = words()
    Cs = [0.1, 0.5, 2.0]
    path = LinearClassifier(loss, solver="dual", tol=1e-6).path(X, y, Cs)
    for model, C in zip(path, Cs, strict=True):
        alone = LinearClassifier(loss, C=C, solver="dual", tol=1e-6).fit(X, y)
        assert model.solution_.objective == pytest.approx(alone.solution_.objective, rel=1e-4)
    again = path[-1].set_params(warm_start=True).fit(X, y)
    assert again.solution_.passes <= 3


def test_digits_of_every_solver():
    X, y = load_digits(return_X_y=True)
    found = [
        MulticlassSVM(C=0.05, solver=solver, tol=1e-5).fit(X / 16, y).solution_
        for solver in ("dual", "smoothing")
    ]
    assert [solution.status for solution in found] == ["converged"] * 2
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-3)


def test_auto_says_why():
    X, y = load_wine(return_X_y=True)
    assert MulticlassSVM().fit(X, y).solution_.solver == "interior_point"
    assert MulticlassSVM().fit(*words()).solution_.solver == "dual"
    objective = problems.classes("csr", 80, 6, 3, compiled=True, loss="hinge", C=0.01)
    assert Auto().why(objective).startswith("dual: a hinge has corners, and its dual an exact step")


# One visit


@both_hinges
@pytest.mark.parametrize("k", [2, 3, 70])
@pytest.mark.parametrize("precise", [True, False])
def test_a_visit_is_the_best_step_of_its_block(loss, k, precise):
    objective = problems.classes("csr", 80, 6, k, compiled=True, weighted=True, loss=loss, C=3.0)
    climb = Climb(objective, 0, None, {}, precise)
    data, report = climb.data, Report()
    X = problems.plain(data.rows)
    X = np.hstack([X, np.ones((len(X), 1))])
    for i in np.random.default_rng(0).integers(0, 80, 60):
        data.rest[:], data.counts[:] = 1, 0
        data.rest[i] = 0
        climb.rebuild()
        scores, y = (X[i] @ climb.exact)[:k], data.labels[i]
        g = scores + data.costs(i, np.arange(k)) - (scores[y] if climb.sum_of_hinges else 0.0)
        given = data.alpha[i].copy(), g, data.q[i], data.c[i]
        step = box_step(*given, y) if climb.sum_of_hinges else simplex_step(*given)
        climb.sweep(report)
        np.testing.assert_allclose(data.alpha[i], step, atol=1e-9 if precise else 1e-4)


@both_hinges
def test_lists_of_labels_lead_to_the_same_optimum(loss, monkeypatch):
    X, y = words(n=500, k=60)
    found = []
    for many in (48, 1000):
        monkeypatch.setattr("argmax.solvers.margin_rows.MANY", many)
        solution = LinearClassifier(loss, solver="dual", tol=1e-6).fit(X, y).solution_
        assert solution.status == "converged"
        found.append(solution.objective)
    assert found[0] == pytest.approx(found[1], rel=1e-4)


@both_hinges
def test_visits_in_float32_that_stall_go_on_in_float64(loss, monkeypatch):
    X, y = words(n=500, k=60)
    monkeypatch.setattr("argmax.solvers.margins.PRECISE", 0.0)
    solution = LinearClassifier(loss, solver="dual", tol=1e-10, max_iter=5000).fit(X, y).solution_
    assert solution.status == "converged"
    assert solution.gap <= 1e-10 * len(y) * (1 if loss == "hinge" else 59)


# The mean over sweeps


@both_hinges
@pytest.mark.parametrize("k", [2, 3, 60])
@pytest.mark.parametrize("precise", [True, False])
def test_the_gap_at_the_mean_is_true(loss, k, precise):
    """F(w̄) − D(α), by the formula and by what F is there; the answer is never worse than w(α)."""
    objective = problems.classes("csr", 90, 6, k, compiled=True, weighted=True, loss=loss, C=0.3)
    climb, report = Climb(objective, 0, None, {}, precise), Report()
    chosen = set()
    for _ in range(12):
        climb.sweep(report)
        climb.average()
        dual, gap = climb.look()
        chosen.add(climb.answer is climb.exact)
        assert objective.at(climb.w()).value - dual == pytest.approx(gap, rel=1e-6, abs=1e-9)
        climb.answer = climb.exact
        assert objective.at(climb.w()).value - dual >= gap - 1e-9
    assert False in chosen


def test_the_mean_is_that_of_the_first_sweeps_and_then_forgets():
    objective = problems.classes("csr", 90, 6, 3, compiled=True, loss="hinge", C=0.3)
    climb, report, seen = Climb(objective, 0, None, {}, True), Report(), []
    for _ in range(30):
        climb.sweep(report)
        climb.average()
        seen.append(climb.W.copy())
        if len(seen) == 5:
            np.testing.assert_allclose(climb.mean, np.mean(seen, axis=0), atol=1e-12)
    expected = np.mean(seen[:8], axis=0)
    for w in seen[8:]:
        expected += margins.FORGET * (w - expected)
    np.testing.assert_allclose(climb.mean, expected, atol=1e-12)


@both_hinges
def test_averaging_reaches_the_same_gap_with_fewer_visits(loss, monkeypatch):
    X, y = words(n=2000, k=20)
    needed = []
    for near in (margins.NEAR, 0.0):
        monkeypatch.setattr(margins, "NEAR", near)
        solution = LinearClassifier(loss, C=0.1, solver="dual", tol=1e-4).fit(X, y).solution_
        assert solution.status == "converged"
        needed.append(solution.passes)
    assert needed[0] < needed[1]


# Threads, and rows that are dense


@both_hinges
@pytest.mark.parametrize("k", [3, 60])
def test_threads_change_no_bits(loss, k, monkeypatch):
    monkeypatch.setattr("argmax.solvers.margin_rows.CHUNK", 1000)
    monkeypatch.setattr("argmax.solvers.margin_rows.ROWS", 64)
    monkeypatch.setattr("argmax.solvers.margin_rows.RENEWED", 16)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.3)
    y = np.r_[np.arange(k), rng.integers(0, k, 300 - k)]
    found = {
        LinearClassifier(loss, C=0.1, solver="dual", n_threads=n, tol=1e-5)
        .fit(X, y)
        .coef_.tobytes()
        for n in (1, 2, 7)
    }
    assert len(found) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 4), (200, 7)])
def test_dense_rows_are_compressed_as_scipy_does(dtype, shape, monkeypatch):
    monkeypatch.setattr("argmax.solvers.margin_rows.ROWS", 64)
    rng = np.random.default_rng(0)
    X = (rng.integers(-2, 3, shape) * (rng.random(shape) < 0.5)).astype(dtype)
    X[:1, :1] = np.nan  # not zero either
    with Threads(2).open() as crew:
        rows, wanted = as_sparse(X, crew.share), sp.csr_array(X)
    np.testing.assert_array_equal(rows.indptr, wanted.indptr)
    np.testing.assert_array_equal(rows.indices, wanted.indices)
    np.testing.assert_array_equal(rows.values, wanted.data)
    assert rows.values.dtype == dtype
    assert rows.width == shape[1]


# Hard margins


@both_hinges
def test_a_hard_margin_keeps_every_row_at_its_distance(loss):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    model = MulticlassSVM(loss, C=np.inf).fit(X, y)
    margin = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert margin.min() == pytest.approx(1.0, abs=1e-6)
    soft = MulticlassSVM(loss, C=1e4, tol=1e-9, max_iter=20000).fit(X, y)
    np.testing.assert_allclose(model.coef_, soft.coef_, atol=1e-5)


def test_a_hard_margin_of_three_classes():
    X = np.array([[0.0, 2.0], [0.0, 3.0], [2.0, 0.0], [3.0, 0.0], [-2.0, -2.0], [-3.0, -2.0]])
    y = np.repeat([0, 1, 2], 2)
    delta = costs.zero_one(3) * 2.0
    model = MulticlassSVM(C=np.inf, cost=delta, fit_intercept=False).fit(X, y)
    scores = model.decision_function(X)
    ahead = scores[np.arange(6), y][:, None] - scores + 3.0 * np.eye(3)[y]
    assert ahead.min() == pytest.approx(2.0, abs=1e-6)


def test_overlapping_classes_have_no_hard_margin():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    with pytest.raises(NotSeparable, match="not linearly separable"):
        MulticlassSVM(C=np.inf).fit(X, y)


def test_larger_C_makes_a_narrower_margin():
    """CORRECTIONS: C multiplies the slack, so a large C means a larger ‖w‖ and a narrower margin 2/‖w‖."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-1, 1, (100, 2)), rng.normal(1, 1, (100, 2))])
    models = MulticlassSVM(tol=1e-8).path(X, np.repeat([0, 1], 100), [0.001, 0.01, 0.1, 1.0, 100.0])
    widths = [2 / np.linalg.norm(model.coef_) for model in models]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 2 * widths[-1]
