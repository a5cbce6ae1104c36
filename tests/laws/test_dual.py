"""Dual ascent for the log loss: where it begins, that float32 is enough, and what it does when it is not."""

import numpy as np
import pytest

from argmax import SoftmaxRegression, objective, solvers
from argmax.engines import Threads
from argmax.solvers import Report, dual
from argmax.solvers import ascent as ascents
from tests import naive
from tests.laws import problems
from tests.laws.fits import bits, data


@pytest.fixture(autouse=True)
def _not_small(monkeypatch):
    """Small problems go to the last digit in float64."""
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    monkeypatch.setattr(objective, "SMALL_WORK", 0)


def ascent(F, confidence=None, precise=True):
    return ascents.Ascent(F, solvers.Dual(confidence=confidence), None, {}, precise)


def value(F, begun):
    """D(μ) without an intercept, which the laws of the kernel know."""
    (shard,), held = F.shards, begun.data
    X, zero = problems.plain(shard.structures.rows), np.zeros(len(begun.b))
    return naive.lagrangian(X, held.labels, held.c, begun.scale, 0.0, zero, held.mu)


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_no_other_confidence_begins_higher(k, C):
    F = problems.classes("csr", 60, 8, k, compiled=True, weighted=True, C=C)
    best = value(F, ascent(F))
    for confidence in np.linspace(0.02, 0.98, 25):
        assert value(F, ascent(F, confidence)) <= best + 1e-9 * abs(best)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("precise", [True, False])
def test_it_begins_with_the_weights_of_its_dual_variables(k, precise):
    begun = ascent(problems.classes("csr", 60, 8, k, compiled=True, weighted=True), precise=precise)
    U, h = begun.U.copy(), begun.h.copy()
    begun._rebuild()
    np.testing.assert_allclose(U, begun.U, atol=1e-12 if precise else 1e-4)
    np.testing.assert_allclose(h, begun.h, atol=1e-10)


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("k", [2, 5])
def test_float32_visits_reach_what_float64_reaches_and_certify_it(kind, k, monkeypatch):
    X, y = data(kind, k)
    single = SoftmaxRegression(C=0.1, solver="dual", tol=1e-6).fit(X, y).solution_
    monkeypatch.setattr(dual, "PRECISE", np.inf)
    double = SoftmaxRegression(C=0.1, solver="dual", tol=1e-11).fit(X, y).solution_
    assert single.status == double.status == "converged"
    assert single.objective - single.gap <= double.objective
    assert double.objective - double.gap <= single.objective <= double.objective * (1 + 3e-6)


@pytest.mark.parametrize("k", [2, 5])
def test_where_float32_stalls_float64_goes_on(k, monkeypatch):
    X, y = data("csr", k)
    monkeypatch.setattr(dual, "PRECISE", 0.0)
    found = SoftmaxRegression(C=0.1, solver="dual", tol=1e-16, max_iter=300).fit(X, y).solution_
    assert found.relative_gap <= 1e-15


@pytest.mark.parametrize("k", [2, 5])
def test_float32_visits_have_the_same_bits_for_any_number_of_threads(k, monkeypatch):
    X, y = data("csr", k, n=900, d=60)
    monkeypatch.setattr("argmax.engines.shards.BLOCK_WORK", (500, 8000))
    monkeypatch.setattr("argmax.engines.shards.PART_BYTES", 1)  # owners of columns
    monkeypatch.setattr(ascents, "PIECE", 64)
    one, two, seven = (
        bits(SoftmaxRegression(C=0.1, solver="dual", engine=Threads(n), tol=1e-5).fit(X, y))
        for n in (1, 2, 7)
    )
    assert one == two == seven


@pytest.mark.parametrize("size", [1e-5, 1e20, 1e30])
def test_numbers_that_float32_cannot_hold_are_visited_in_float64(size):
    X, y = data("csr", 3)
    plain = SoftmaxRegression(C=0.1, solver="dual", tol=1e-9).fit(X, y)
    scaled = SoftmaxRegression(C=0.1 / size**2, solver="dual", tol=1e-6).fit(X * size, y)
    assert scaled.solution_.status == "converged"
    np.testing.assert_allclose(scaled.coef_ * size, plain.coef_, atol=1e-2)


def test_a_run_in_float32_goes_on_from_a_snapshot_with_the_same_bits(monkeypatch):
    monkeypatch.setattr(dual, "PATIENCE", (0.0, 0.0))
    F, kept = problems.classes("csr", 120, 6, 4, compiled=True, weighted=True, C=0.03), []
    keep = [lambda progress: kept.append(progress.snapshot())]
    whole = solvers.Dual().minimise(F, np.zeros(F.size), Report(1e-6, callbacks=keep))
    cut = next(snapshot for snapshot in kept if snapshot is not None)
    assert cut.values["U"].dtype == np.float32
    rest = solvers.Dual().minimise(F, np.zeros(F.size), Report(1e-6), cut)
    assert rest.w.tobytes() == whole.w.tobytes()


@pytest.mark.parametrize("k", [2, 5])
def test_a_pass_that_is_seldom_made_equals_any_other(k, monkeypatch):
    monkeypatch.setattr("argmax.engines.shards.BLOCK_WORK", (500, 8000))
    monkeypatch.setattr("argmax.engines.shards.PART_BYTES", 1)  # owners of columns
    F = problems.classes("csr", 90, 30, k, compiled=True, weighted=True)
    w = problems.random_w(F.problem.full, np.random.default_rng(0))
    assert F.shards[0].by_columns
    often, seldom = F.settled(w), F.settled(w, seldom=True)
    assert seldom.value == pytest.approx(often.value, rel=1e-13)
    np.testing.assert_allclose(seldom.gradient, often.gradient, atol=1e-10)


def test_a_gap_is_the_same_whether_or_not_the_gradient_was_asked_for(monkeypatch):
    monkeypatch.setattr(objective, "RANGE", 1)
    F = problems.classes("csr", 90, 30, 5, compiled=True)
    w = problems.random_w(F.problem.full, np.random.default_rng(0))
    asked, plain = F.settled(w), F.settled(w)
    assert asked.gradient is asked.gradient
    assert plain.gap == pytest.approx(asked.gap, rel=1e-12)
