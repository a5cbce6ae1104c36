"""Shards as one: the same examples, without copies of what was cut; and what depends on their order."""

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import LinearClassifier, MulticlassPerceptron, MulticlassSVM
from argmax.checks import compressed
from argmax.engines import Shard, cut
from argmax.engines import shards as sizes
from argmax.engines.joining import joined
from argmax.layouts import Full, as_matrix
from argmax.records import Structures, Truth

N, D, K = 40, 3, 4


def data(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.7)
    truth = Truth(
        rng.integers(0, K, N), rng.random(N), np.ones((K, K)) - np.eye(K), prices=rng.random((N, K))
    )
    return (compressed(sp.csr_matrix(X)) if kind == "csr" else X), truth


def arrays(rows):
    return (rows.indices, rows.values) if not isinstance(rows, np.ndarray) else (rows,)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_what_was_cut_is_put_together_without_a_copy(kind, monkeypatch):
    monkeypatch.setattr(sizes, "SHARD_BYTES", 300)
    monkeypatch.setattr(sizes, "GRADIENTS", 0)
    rows, truth = data(kind)
    shards = cut(Structures(rows), truth, Full(D, K, sparse=kind == "csr"))
    assert len(shards) > 2
    whole = joined(shards)
    np.testing.assert_array_equal(plain(whole.structures.rows), plain(rows))
    for found, given in zip(arrays(whole.structures.rows), arrays(rows), strict=True):
        assert np.shares_memory(found, given)
    for name in ("labels", "weight", "cost", "prices"):
        np.testing.assert_array_equal(getattr(whole.truth, name), getattr(truth, name))
    assert whole.truth.allowed is None


def plain(rows):
    return rows if isinstance(rows, np.ndarray) else as_matrix(rows).toarray()


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_what_lies_apart_is_copied(kind):
    rows, truth = data(kind)
    layout = Full(D, K, sparse=kind == "csr")
    apart = [Shard(Structures(rows), truth, layout), Shard(Structures(rows), truth, layout)]
    whole = joined(apart)
    np.testing.assert_array_equal(plain(whole.structures.rows), np.vstack([plain(rows)] * 2))
    np.testing.assert_array_equal(whole.truth.prices, np.vstack([truth.prices] * 2))


def test_one_shard_is_itself():
    rows, truth = data("dense")
    (shard,) = cut(Structures(rows), truth, Full(D, K))
    assert joined([shard]) is shard


ESTIMATORS = [
    LinearClassifier(solver="dual", tol=1e-8),
    MulticlassSVM(C=0.1, solver="dual"),
    LinearClassifier(solver="sgd", max_iter=5, tol=0.1),
    MulticlassPerceptron(max_iter=5),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_size_of_shards_changes_nothing_for_who_visits_single_rows(
    estimator, sparse, monkeypatch
):
    """Many rows of few features, where shard after shard would take a hundred times as many sweeps."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 4))
    y = (X @ rng.normal(size=(4, 3)) + rng.gumbel(size=(3000, 3))).argmax(axis=1)
    X = sp.csr_matrix(X) if sparse else X
    one = estimator.fit(X, y)
    coef, passes = one.coef_, one.n_iter_
    monkeypatch.setattr(sizes, "SHARD_BYTES", 30_000)
    monkeypatch.setattr(sizes, "GRADIENTS", 0)
    made = []
    monkeypatch.setattr(sizes.Shard, "__init__", _counted(sizes.Shard.__init__, made))
    several = estimator.fit(X, y)
    assert len(made) > 3
    assert several.n_iter_ == passes
    np.testing.assert_allclose(several.coef_, coef, rtol=1e-9, atol=1e-12)


def _counted(init, made):
    def counting(self, *given, **more):
        made.append(self)
        init(self, *given, **more)

    return counting
