"""The number of threads changes the time, never the bits."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import LinearClassifier
from argmax.checks import compressed
from argmax.engines import Shard, Threads
from argmax.records import Structures, Truth
from argmax.solvers import Proximal
from tests.laws.fits import bits, data, fit
from tests.laws.problems import make_layout

SOLVERS = ("dual", "lbfgs", "newton", "newton_cg", "proximal", Proximal(full=0))


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("k", [2, 5])
def test_the_same_bits_for_any_number_of_threads(solver, kind, k, monkeypatch, sums):
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    X, y = data(kind, k)
    one, two, seven = (fit(X, y, threads=threads, solver=solver) for threads in (1, 2, 7))
    assert bits(one) == bits(two)
    assert bits(one) == bits(seven)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_the_same_bits_without_kernels(solver, kind, monkeypatch, many_pieces):
    monkeypatch.setenv("ARGMAX_COMPILED", "never")
    X, y = data(kind, 3)
    assert bits(fit(X, y, threads=1, solver=solver)) == bits(fit(X, y, threads=7, solver=solver))


@pytest.mark.parametrize("penalty", [{"penalty": "l1"}, {"penalty": "elasticnet", "l1_ratio": 0.5}])
@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_the_same_bits_with_l1(penalty, kind, route, many_pieces):
    X, y = data(kind, 4)
    assert bits(fit(X, y, threads=1, **penalty)) == bits(fit(X, y, threads=7, **penalty))


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_the_same_bits_twice(solver, kind, route, many_pieces):
    X, y = data(kind, 5)
    model = fit(X, y, threads=3, solver=solver)
    first = bits(model)
    assert bits(model.fit(X, y)) == first


def test_news_on_the_way_change_nothing(monkeypatch):
    """The dual reports when somebody has waited for a while: on a slow machine more often."""
    X, y = data("csr", 5)
    found = []
    for patience in (0.0, np.inf):
        monkeypatch.setattr("argmax.solvers.dual.PATIENCE", (patience, patience))
        found.append(LinearClassifier(solver="dual", C=3.0, tol=1e-3).fit(X, y))
    assert len(found[0].solution_.history) > len(found[1].solution_.history)
    assert bits(found[0]) == bits(found[1])


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
def test_the_same_bits_without_any_tricks(kind):
    """Enough data that the sizes of the library itself make several blocks and take the kernels."""
    X, y = data(kind, 5, n=6000, d=60 if kind != "csr" else 200)
    one, three = fit(X, y, threads=1), fit(X, y, threads=3)
    assert one._layout.compiled
    assert bits(one) == bits(three)
    for name in ("decision_function", "predict_proba"):
        assert getattr(one, name)(X).tobytes() == getattr(three, name)(X).tobytes()


@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_the_same_answers_for_any_number_of_threads(kind, route, many_pieces):
    X, y = data(kind, 5)
    model = fit(X, y, threads=1)
    alone = model.predict_proba(X).tobytes()
    assert model.set_params(n_threads=7).predict_proba(X).tobytes() == alone


@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_an_engine_of_ones_own_gives_the_same_bits(kind, route, many_pieces):
    X, y = data(kind, 5)
    own = LinearClassifier(C=0.1, tol=1e-6, engine=Threads(3)).fit(X, y)
    assert bits(own) == bits(fit(X, y, threads=1))


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_the_same_bits_after_pickling(solver, route):
    X, y = data("float64", 3)
    model = LinearClassifier(solver=solver, C=0.1, engine=Threads(2)).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert bits(copy) == bits(model)
    assert copy.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert bits(copy.fit(X, y)) == bits(model)


@pytest.mark.parametrize("kind", ["float64", "csr"])
@pytest.mark.parametrize("k", [2, 5])
def test_both_routes_agree(kind, k, monkeypatch, sums):
    X, y = data(kind, k)
    found = []
    for route in ("never", "always"):
        monkeypatch.setenv("ARGMAX_COMPILED", route)
        found.append(fit(X, y, threads=2, tol=1e-18, solver="newton"))
    np.testing.assert_allclose(found[0].coef_, found[1].coef_, atol=1e-7)
    objectives = [model.solution_.objective for model in found]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-12)
    answers = []
    for route in ("never", "always"):
        monkeypatch.setenv("ARGMAX_COMPILED", route)
        answers.append(found[0].decision_function(X))
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-10, atol=1e-12)


def test_unsorted_and_repeated_indices_are_summed(route):
    """A CSR matrix may hold an entry in two parts, in any order; it is still the same matrix."""
    X, y = data("csr", 3)
    rough = sp.csr_array(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
    )
    np.testing.assert_allclose(fit(rough, y).coef_, fit(X, y).coef_, atol=1e-9)


def test_both_sums_were_really_taken(sums):
    X, y = data("csr", 5)
    rows = compressed(X)
    shard = Shard(Structures(rows), Truth(y), make_layout(rows, 5, True))
    assert len(shard.blocks) > 7
    assert shard.by_columns == (sums == "columns")
