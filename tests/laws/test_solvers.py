"""All solvers reach one objective, from anywhere, and say truthfully how far off they are."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

from argmax import LinearClassifier, SoftmaxRegression
from argmax.errors import NotConverged
from argmax.solvers import Proximal, Report, get
from tests.laws import problems
from tests.laws.problems import random_w

L2 = ("dual", "lbfgs", "newton", "newton_cg", "proximal", Proximal(full=0))
every_solver = pytest.mark.parametrize("solver", L2, ids=str)


def text(n=300, d=400, k=4, seed=0):
    """Sparse rows of unit length, as TF-IDF makes them."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.05)
    X[:, 0] += 1e-3
    X /= np.sqrt((X**2).sum(axis=1, keepdims=True))
    y = (X @ rng.normal(size=(d, k)) + 0.1 * rng.gumbel(size=(n, k))).argmax(axis=1)
    return sp.csr_array(X), y


def blobs(n=400, d=20, k=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    return X, (2 * X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)


def toy(load):
    X, y = load(return_X_y=True)
    return scale(X), y


DATA = {
    "iris": lambda: toy(load_iris),
    "wine": lambda: toy(load_wine),
    "cancer": lambda: toy(load_breast_cancer),
    "digits": lambda: (load_digits().data[:300] / 16, load_digits().target[:300]),
    "text": text,
    "text, two classes": lambda: text(k=2),
    "blobs": blobs,
    "blobs, float32": lambda: (blobs()[0].astype("f4"), blobs()[1]),
}


def fit(X, y, *, sample_weight=None, **options):
    return SoftmaxRegression(max_iter=5000, **options).fit(X, y, sample_weight)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_all_solvers_reach_one_objective(name, C, route):
    X, y = DATA[name]()
    tol = 1e-9 if "float32" in name else 1e-12
    found = {s: fit(X, y, C=C, solver=s, tol=tol).solution_.objective for s in (*L2, "auto")}
    best = min(found.values())
    slack = 1e-7 if "float32" in name else 1e-9
    assert {s: value for s, value in found.items() if value > best * (1 + slack)} == {}


@pytest.mark.parametrize("name", ["iris", "cancer", "text"])
@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0])
def test_auto_and_proximal_reach_one_objective_with_l1(name, ratio, route):
    X, y = DATA[name]()
    models = [
        fit(X, y, C=0.3, penalty="elasticnet", l1_ratio=ratio, solver=s, tol=1e-8)
        for s in ("auto", "proximal", Proximal(full=0))
    ]
    values = [model.solution_.objective for model in models]
    assert values == pytest.approx([min(values)] * 3, rel=1e-9)
    assert all(model.solution_.relative_gap <= 1e-8 for model in models)


@every_solver
@pytest.mark.parametrize("intercept", [True, False])
def test_fits_with_and_without_an_intercept(solver, intercept, route):
    X, y = DATA["iris"]()
    X = X + 3.0
    best = fit(X, y, solver="newton", fit_intercept=intercept, tol=1e-13).solution_.objective
    found = fit(X, y, solver=solver, fit_intercept=intercept, tol=1e-12).solution_.objective
    assert found == pytest.approx(best, rel=1e-9)


# Certificates


@every_solver
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
def test_converged_means_within_tol_whatever_the_start(solver, tol, route):
    assert failures(solver, tol, route == "always", sizes=(0.0, 0.1, 1.0, 10.0)) == []


@pytest.mark.parametrize("solver", ["dual", "lbfgs", Proximal(full=0)], ids=str)
def test_a_far_start_is_as_good_as_any(solver):
    assert failures(solver, 1e-4, False, sizes=(100.0, 1000.0)) == []


@pytest.mark.parametrize("solver", ["newton", "newton_cg", "proximal"])
def test_a_far_start_is_as_good_as_any_for_newton(solver):
    assert failures(solver, 1e-4, False, sizes=(100.0, 1000.0)) == []


def failures(solver, tol, compiled, sizes):
    """Runs from random starts that end elsewhere than within tol, certified."""
    found = []
    for k, kind in [(2, "csr"), (3, "float64")]:
        objective = problems.classes(kind, n=60, k=k, compiled=compiled, C=0.5, weighted=True)
        layout = objective.problem.layout
        best = get("lbfgs").minimise(objective, np.zeros(layout.size), Report(tol=1e-13)).objective
        for seed, size in enumerate(sizes):
            start = random_w(layout, np.random.default_rng(seed), size)
            solution = get(solver).minimise(objective, start, Report(tol=tol, max_iter=2000))
            near = solution.objective - best <= tol * objective.zero + 1e-12 * best
            if not (near and solution.status == "converged" and solution.relative_gap <= tol):
                found.append((k, size, solution.objective, best, solution.message))
    return found


@pytest.mark.parametrize("penalty", [{"penalty": "l1"}, {"penalty": "elasticnet", "l1_ratio": 0.5}])
@pytest.mark.parametrize("tol", [1e-2, 1e-5])
def test_converged_means_within_tol_with_l1(penalty, tol, route):
    X, y = DATA["wine"]()
    best = fit(X, y, C=0.2, tol=1e-8, **penalty).solution_.objective
    solution = fit(X, y, C=0.2, tol=tol, **penalty).solution_
    zero = 0.2 * len(y) * np.log(3)
    assert best * (1 - 1e-8) <= solution.objective <= best + tol * zero
    assert solution.objective - solution.gap <= best


@pytest.mark.parametrize("solver", ["lbfgs", "newton_cg"])
def test_the_gap_of_a_fit_cut_short_is_true(solver):
    cut_short(solver)


@pytest.mark.parametrize("solver", ["dual", "newton", "proximal"])
def test_the_gap_of_a_settled_fit_cut_short_is_true(solver):
    cut_short(solver)


def cut_short(solver):
    wrong = []
    for name, C in [("iris", 0.01), ("wine", 0.01), ("wine", 1.0)]:
        X, y = DATA[name]()
        best = fit(X, y, C=C, tol=1e-13).solution_.objective
        for passes in (1, 2, 3, 4, 5, 8):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConverged)
                solution = (
                    SoftmaxRegression(C=C, solver=solver, max_iter=passes).fit(X, y).solution_
                )
            if solution.objective - solution.gap > best * (1 + 1e-12):
                wrong.append((name, C, passes, solution.objective - best, solution.gap))
    assert wrong == []


@every_solver
def test_history_ends_at_the_solution_and_never_rises_above_its_start(solver, route):
    X, y = DATA["wine"]()
    solution = fit(X, y, solver=solver).solution_
    values = [value for _, value, _ in solution.history]
    assert len(values) <= solution.passes
    assert min(values) <= values[0]
    assert solution.objective <= min(values) * (1 + 1e-9)


# Awkward columns


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "newton_cg", "proximal"])
@pytest.mark.parametrize("shift", [10.0, 300.0])
def test_adding_a_constant_to_the_columns_changes_nothing(solver, shift):
    """The intercept is free and takes it up."""
    X, y = load_iris(return_X_y=True)
    best = fit(X, y, tol=1e-12).solution_.objective
    assert fit(X + shift, y, solver=solver, tol=1e-8).solution_.objective == pytest.approx(
        best, rel=1e-6
    )


def test_columns_far_from_zero_are_solved_or_owned_up_to():
    X, y = load_iris(return_X_y=True)
    best = fit(X, y, tol=1e-12).solution_.objective
    for shift in (3e3, 1e4, 3e4, 1e5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            solution = SoftmaxRegression().fit(X + shift, y).solution_
        assert solution.objective - solution.gap <= best * (1 + 1e-6)


@pytest.mark.parametrize("solver", ["lbfgs", "newton_cg"])
def test_repeated_and_constant_columns_in_float32(solver):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3)).astype("f4")
    y = (X @ rng.normal(size=(3, 3)) + rng.gumbel(size=(200, 3))).argmax(axis=1)
    X = np.hstack([X, X[:, :1], np.ones((200, 1), "f4")])
    best = fit(X.astype(float), y, C=1e6, solver="newton").solution_.objective
    found = fit(X, y, C=1e6, solver=solver).solution_.objective
    assert found == pytest.approx(best, rel=1e-3)


# Weights and rows


@every_solver
def test_a_row_given_twice_equals_a_row_of_weight_two(solver):
    X, y = DATA["iris"]()
    rng = np.random.default_rng(0)
    times = rng.integers(1, 4, len(y))
    repeated = fit(np.repeat(X, times, axis=0), np.repeat(y, times), solver=solver)
    weighted = fit(X, y, solver=solver, sample_weight=times)
    np.testing.assert_allclose(repeated.coef_, weighted.coef_, atol=1e-7)
    np.testing.assert_allclose(repeated.intercept_, weighted.intercept_, atol=1e-7)


@every_solver
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_row_of_weight_zero_is_not_there(solver, kind, route):
    X, y = DATA["iris"]()
    keep = np.random.default_rng(1).random(len(y)) < 0.7
    removed = fit(kind(X[keep]), y[keep], solver=solver, tol=1e-10)
    ignored = fit(kind(X), y, solver=solver, sample_weight=keep.astype(float), tol=1e-10)
    np.testing.assert_array_equal(ignored.coef_, removed.coef_)
    np.testing.assert_array_equal(ignored.intercept_, removed.intercept_)


@every_solver
def test_weights_and_C_multiply(solver, route):
    X, y = DATA["cancer"]()
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    one = fit(X, y, C=0.1, solver=solver, sample_weight=weight, tol=1e-12).solution_
    other = fit(X, y, C=0.025, solver=solver, sample_weight=4 * weight, tol=1e-12).solution_
    assert one.objective == pytest.approx(other.objective, rel=1e-10)


@every_solver
def test_the_order_of_rows_does_not_matter(solver, route):
    X, y = DATA["wine"]()
    order = np.random.default_rng(3).permutation(len(y))
    one, other = (
        fit(A, b, solver=solver, tol=1e-12).solution_.objective
        for A, b in ((X, y), (X[order], y[order]))
    )
    assert one == pytest.approx(other, rel=1e-10)


@every_solver
def test_the_names_of_classes_do_not_matter(solver):
    X, y = DATA["iris"]()
    plain = fit(X, y, solver=solver)
    named = fit(X, np.array(["rose", "lily", "aster"])[y], solver=solver)
    assert list(named.classes_) == ["aster", "lily", "rose"]
    np.testing.assert_allclose(named.coef_[::-1], plain.coef_, atol=1e-7)


def test_class_weight_is_a_weight_for_every_row_of_the_class():
    X, y = DATA["iris"]()
    keep = np.r_[0:50, 50:70, 100:110]
    X, y = X[keep], y[keep]
    by_class = LinearClassifier(class_weight={0: 0.5, 2: 4.0}).fit(X, y)
    by_row = LinearClassifier().fit(X, y, np.array([0.5, 1.0, 4.0])[y])
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    balanced = LinearClassifier(class_weight="balanced").fit(X, y)
    by_row = LinearClassifier().fit(X, y, (len(y) / (3 * np.bincount(y)))[y])
    np.testing.assert_array_equal(balanced.coef_, by_row.coef_)


# No penalty


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "newton_cg"])
def test_without_a_penalty_the_gradient_vanishes(solver):
    X, y = DATA["blobs"]()
    model = fit(X, y, C=np.inf, solver=solver, tol=1e-6)
    p = model.predict_proba(X)
    assert np.abs((p - np.eye(5)[y]).T @ X).max() < 1e-6 * len(y)
    same = fit(X, y, penalty=None, solver=solver, tol=1e-6)
    np.testing.assert_array_equal(same.coef_, model.coef_)


@pytest.mark.filterwarnings("ignore::argmax.errors.NotConverged")
@pytest.mark.parametrize(
    ("loss", "solver"),
    [
        *(("log", solver) for solver in ("lbfgs", "newton", "newton_cg", "proximal", "orthant")),
        *(("squared_hinge", solver) for solver in ("lbfgs", "newton", "newton_cg")),
        ("hinge", "smoothing"),
        ("weston_watkins", "smoothing"),
        ("log", Proximal(full=0)),
        ("ovr_log", "auto"),
    ],
    ids=str,
)
def test_runs_of_a_single_pass_get_on(loss, solver, route):
    X, y = blobs(n=200, d=6, k=3)
    best = LinearClassifier(loss, tol=1e-10).fit(X, y).solution_.objective
    model = LinearClassifier(loss, solver=solver, max_iter=1, warm_start=True)
    values, zero = [], None
    for _ in range(60):
        found = model.fit(X, y).solution_
        assert found.passes == len(found.history) == 1 or found.converged
        zero = zero or found.gap / found.relative_gap
        values.append(found.objective)
        if found.converged:
            break
    assert values[0] < zero
    assert values[-1] <= best + 1e-3 * zero


def test_a_single_pass_is_told_where_it_ends():
    X, y = blobs()
    told = []
    model = SoftmaxRegression(max_iter=1, solver="lbfgs", callbacks=[told.append])
    with pytest.warns(NotConverged, match="max_iter of 1 passes reached"):
        model.fit(X, y)
    (progress,) = told
    assert (progress.passes, progress.last) == (1, True)
    assert model.solution_.objective <= progress.objective < len(y) * np.log(5)
    with pytest.warns(NotConverged, match="time_limit"):  # no time, no step
        model.set_params(time_limit=0.0, callbacks=None).fit(X, y)
    assert not model.coef_.any()
