"""A cluster is a place to compute: the same bits from one worker, from three, and from none."""

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import LinearClassifier, MulticlassSVM, SequenceTagger
from argmax.data import corpus
from argmax.engines import Dask, Held, Stored, remote
from argmax.engines import shards as sizes
from argmax.engines.base import BRANCHES
from argmax.errors import Unsupported, WorkerLost
from argmax.features import Templates
from argmax.records import Truth
from tests.laws import fits
from tests.laws.fits import bits, data

distributed = pytest.importorskip("distributed")


def fit(*arguments, **options):
    """A few passes say as much as many."""
    return fits.fit(*arguments, tol=1e-2, **options)


@pytest.fixture(scope="module", params=[1, 3])
def engine(request):
    """In-process workers: the real scheduler and protocol, without starting processes."""
    options = {"n_workers": request.param, "threads_per_worker": 2, "processes": False}
    with (
        distributed.LocalCluster(dashboard_address=":0", **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield Dask(client, timeout=60.0)


@pytest.fixture(autouse=True)
def small(many_shards, monkeypatch):
    """A few shards, and vectors of a few weights that travel as long ones do."""
    monkeypatch.setattr(sizes, "SHARD_BYTES", 8000)
    monkeypatch.setattr(remote, "LONG", 16)


def blocks(X, y, weight=None):
    for part in (slice(0, 45), slice(45, 100)):
        yield X[part], y[part], None if weight is None else weight[part]


@pytest.mark.parametrize(
    ("kind", "k", "solver"), [("float32", 2, "lbfgs"), ("csr", 5, "newton_cg")]
)
def test_rows_in_memory_are_sent(engine, kind, k, solver):
    X, y = data(kind, k, 100, 8)
    there, here = fit(X, y, engine=engine, solver=solver), fit(X, y, solver=solver)
    assert bits(there) == bits(here)


@pytest.mark.parametrize("loss", ["hinge", "weston_watkins", "squared_hinge"])
@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_support_vector_machines_of_rows_that_are_sent(engine, kind, loss):
    X, y = data(kind, 4, 100, 8)
    given = {"loss": loss, "tol": 1e-2}
    there = MulticlassSVM(engine=engine, **given).fit(X, y)
    here = MulticlassSVM(solver=there.solution_.solver, **given).fit(X, y)
    assert there.solution_.status == here.solution_.status == "converged"
    assert bits(there) == bits(here)


@pytest.mark.parametrize("loss", ["log", "ovr_log", "squared", "softmax_margin"])
@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_the_default_solver_of_every_smooth_loss(engine, kind, loss):
    X, y = data(kind, 4, 100, 8)
    there = LinearClassifier(loss, tol=1e-2, engine=engine).fit(X, y)
    here = LinearClassifier(loss, tol=1e-2, solver=there.solution_.solver).fit(X, y)
    assert bits(there) == bits(here)


@pytest.mark.parametrize("solver", ["lbfgs", "newton_cg"])
def test_a_client_that_is_closed_during_a_fit_is_a_lost_worker(solver):
    X, y = data("float64", 3, 100, 8)
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}

    def close(progress):
        if progress.passes == 2:
            client.close()

    with distributed.LocalCluster(dashboard_address=":0", **options) as cluster:
        client = distributed.Client(cluster)
        model = LinearClassifier(
            engine=Dask(client, timeout=20.0), solver=solver, callbacks=[close]
        )
        with pytest.raises(WorkerLost, match="client was closed"):
            model.set_params(tol=1e-12).fit(X, y)
        with pytest.raises(WorkerLost, match="client was closed"):
            model.fit(X, y)


@pytest.mark.parametrize(
    ("kind", "k", "solver"), [("float64", 5, "lbfgs"), ("csr", 2, "newton_cg")]
)
def test_rows_in_files_are_read_by_the_workers(engine, kind, k, solver, tmp_path):
    X, y = data(kind, k, 100, 8)
    stored = Stored.write(tmp_path, blocks(X, y))
    there, here = fit(stored, engine=engine, solver=solver), fit(X, y, solver=solver)
    assert bits(there) == bits(here)
    assert np.array_equal(there.predict_proba(stored), here.predict_proba(X))


def test_an_array_is_cut_anew(engine):
    array = pytest.importorskip("dask.array", exc_type=ImportError)
    X, y = data("float64", 4, 100, 8)
    weight = np.random.default_rng(0).integers(0, 3, 100) / 2.0
    rows, labels = array.from_array(X, chunks=((13, 57, 30), 3)), array.from_array(y, chunks=41)
    options = {"class_weight": "balanced", "solver": "lbfgs"}
    there = fit(rows, labels, array.from_array(weight, chunks=100), engine=engine, **options)
    here = fit(X, y, weight, **options)
    assert bits(there) == bits(here)
    assert np.array_equal(there.predict(rows), here.predict(X))


def test_an_array_may_hold_sparse_blocks(engine):
    array = pytest.importorskip("dask.array", exc_type=ImportError)
    X, y = data("csr", 3, 100, 8)
    dense = array.from_array(X.toarray(), chunks=((70, 30), 8))
    there = fit(dense.map_blocks(sp.csr_matrix), y, engine=engine, solver="newton_cg")
    assert bits(there) == bits(fit(X, y, solver="newton_cg"))


def test_a_dataframe_brings_the_names_of_its_columns(engine):
    frame = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    pandas = pytest.importorskip("pandas")
    X, y = data("float64", 3, 100, 8)
    table = pandas.DataFrame(X, columns=list("abcdefgh")).assign(y=np.array(["n", "o", "p"])[y])
    parts = frame.from_pandas(table, npartitions=3)
    there = fit(parts[list("abcdefgh")], parts["y"], engine=engine, solver="lbfgs")
    here = fit(table[list("abcdefgh")], table["y"], solver="lbfgs")
    assert bits(there) == bits(here)
    assert there.feature_names_in_.tolist() == list("abcdefgh")
    assert there.classes_.tolist() == ["n", "o", "p"]


def test_many_sums_are_added_on_the_workers(engine, monkeypatch):
    monkeypatch.setattr(sizes, "SHARD_BYTES", 1600)
    X, y = data("float64", 3, 100, 8)
    here = fit(X, y, solver="lbfgs")
    held = Held(X, Truth(y), here.classes_).cut(here._layout)
    assert len(held) > BRANCHES
    assert bits(fit(X, y, engine=engine, solver="lbfgs")) == bits(here)


@pytest.mark.parametrize("penalty", ["l1", None])
def test_every_penalty(engine, penalty):
    X, y = data("float64", 3, 100, 8)
    options = {"penalty": penalty, "C": 1e-3}
    assert bits(fit(1e3 * X, y, engine=engine, **options)) == bits(fit(1e3 * X, y, **options))


# Sequences


@pytest.mark.parametrize(
    "options", [{}, {"loss": "softmax_margin"}, {"order": 2}, {"C": 0.1, "penalty": "l1"}]
)
def test_sequences_are_sent(engine, options):
    tokens = corpus.sentences(60)
    words, labels = tokens.sequences("word"), tokens.sequences("pos")
    here, there = (
        SequenceTagger(Templates(["word[0]", "word[-1]"]), tol=0.1, engine=place, **options).fit(
            words, labels
        )
        for place in (None, engine)
    )
    assert here.solution_.objective == there.solution_.objective
    assert np.array_equal(here.transitions_, there.transitions_)
    assert (here.coef_ != there.coef_).nnz == 0
    assert here.predict(words) == there.predict(words)


@pytest.mark.parametrize("loss", ["hinge", "perceptron"])
def test_losses_that_visit_single_sequences_refuse_a_cluster(engine, loss):
    with pytest.raises(Unsupported, match="single"):
        SequenceTagger(loss=loss, engine=engine).fit([["a", "b"], ["b"]], [["A", "B"], ["B"]])
