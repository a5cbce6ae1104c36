"""Rows in files are the same rows: the same bits as in memory, whatever waits where between passes."""

from itertools import pairwise

import numpy as np
import pytest

from argmax.engines import Held, Shard, Stored
from argmax.records import Truth
from argmax.solvers import Proximal
from tests.laws import fits
from tests.laws.fits import bits, fit

SOLVERS = ("lbfgs", "newton", "newton_cg", "proximal", Proximal(full=0))


def data(kind, k, n=100, d=8):
    return fits.data(kind, k, n, d)


@pytest.fixture
def store(tmp_path):
    """store(X, y, weight): the same examples in files, written in uneven blocks."""

    def write(X, y, weight=None, **options):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        return Stored.write(folder, pieces(X, y, weight), **options)

    return write


def pieces(X, y, weight=None, bounds=(0, 30, 31, 80, 100)):
    for a, b in pairwise(bounds):
        yield X[a:b], y[a:b], None if weight is None else weight[a:b]


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("k", [2, 5])
def test_the_same_bits_from_files(kind, k, store, sums, many_shards, monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    X, y = data(kind, k)
    stored = store(X, y, memory=0)  # everything that waits does so in a file
    for solver in SOLVERS if k == 5 and kind != "float32" else ("lbfgs", "newton_cg"):
        assert bits(fit(stored, threads=2, solver=solver)) == bits(fit(X, y, solver=solver))


@pytest.mark.parametrize("kind", ["float64", "csr"])
@pytest.mark.parametrize("memory", [0, 5000])
def test_the_same_bits_with_weights_and_classes_of_weight(kind, memory, store, route, many_shards):
    X, y = data(kind, 4)
    weight = np.random.default_rng(1).integers(0, 4, len(y)) / 3.0  # some are zero
    stored = store(X, np.array(list("abcd"))[y], weight, memory=memory)
    options = {"class_weight": "balanced", "solver": "newton_cg"}
    here = fit(X, np.array(list("abcd"))[y], weight, **options)
    there = fit(stored, threads=2, **options)
    assert bits(there) == bits(here)
    assert there.classes_.tolist() == list("abcd")


@pytest.mark.parametrize("penalty", ["l1", "elasticnet", None])
@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_the_same_bits_with_every_penalty(kind, penalty, store, route, many_shards):
    X, y = data(kind, 3)
    X = X * 1000.0  # without a penalty columns get units of their own
    options = {"penalty": penalty, "l1_ratio": 0.5 if penalty == "elasticnet" else None, "C": 1e-3}
    assert bits(fit(store(X, y), **options)) == bits(fit(X, y, **options))


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("k", [2, 3])
def test_the_same_answers(kind, k, store, route, many_shards):
    X, y = data(kind, k)
    model, stored = fit(X, y), store(X, y)
    for name in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        answer = getattr(model, name)
        assert np.array_equal(answer(stored), answer(X))
    assert model.score(stored) == model.score(X, y)


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("k", [2, 5])
def test_what_is_forgotten_is_computed_anew_to_the_bit(kind, k, sums, monkeypatch):
    """A task may find nothing of what the last one left: it moved to another worker."""
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    X, y = data(kind, k)
    for solver in SOLVERS:
        kept = fit(X, y, solver=solver)
        with monkeypatch.context() as forgetful:
            forgetful.setattr(Shard, "rest", lambda shard: shard.slots.clear())
            assert bits(fit(X, y, solver=solver)) == bits(kept)


@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_the_same_bits_without_any_tricks(kind, tmp_path):
    """Enough data that the sizes of the library itself make several blocks and take the kernels."""
    X, y = data(kind, 5, n=6000, d=60 if kind != "csr" else 200)
    stored = Stored.write(tmp_path, pieces(X, y, bounds=(0, 2500, 6000)))
    here, there = fit(X, y, solver="newton_cg"), fit(stored, threads=3, solver="newton_cg")
    assert here._layout.compiled
    assert bits(there) == bits(here)


def test_the_shards_are_the_same(store, many_shards):
    X, y = data("float64", 3)
    model, stored = fit(X, y), store(X, y)
    layout = model._layout
    held = Held(X, Truth(y), model.classes_).cut(layout)
    assert [len(shard) for shard in stored.cut(layout)] == [len(shard) for shard in held]
    assert len(held) > 8
