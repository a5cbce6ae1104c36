"""The cluster's engine: what it refuses, who is late, and what the error says."""

import pickle
import sys
import threading
import time

import numpy as np
import pytest

from argmax import LinearClassifier
from argmax.engines import Dask, Stored, Threads, cluster, cut, remote
from argmax.engines import shards as sizes
from argmax.engines.base import add_up
from argmax.errors import BadFile, InvalidInput, MissingExtra, Unsupported, WorkerLost, WrongType
from argmax.layouts import Full
from argmax.records import Structures, Truth

distributed = pytest.importorskip("distributed")
array = pytest.importorskip("dask.array", exc_type=ImportError)

GATE = threading.Event()


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False}
    with (
        distributed.LocalCluster(dashboard_address=":0", **options) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.fixture
def gate(monkeypatch):
    """Closed while the test runs: tasks that wait for it hang until then."""
    monkeypatch.setattr(cluster, "SIGN_OF_LIFE", 1.0)
    GATE.clear()
    yield GATE
    GATE.set()


def three_shards(monkeypatch):
    monkeypatch.setattr(sizes, "SHARD_BYTES", 2000)
    monkeypatch.setattr(sizes, "GRADIENTS", 0)
    X = np.arange(120.0).reshape(60, 2)
    return cut(Structures(X), Truth(np.zeros(60, int)), Full(2, 2))


def total(shard, crew, scale):
    return {"sum": scale * shard.structures.rows.sum(), "n": len(shard)}


def hanging(shard, crew, names):
    """The first task on one of these workers does not end until the gate opens."""
    if distributed.get_worker().name in names:
        GATE.wait(30)
    return total(shard, crew, 1.0)


def broken(shard, crew):
    raise InvalidInput("this shard is broken.")


def test_a_fold_is_that_of_threads(client, monkeypatch):
    shards, engine = three_shards(monkeypatch), Dask(client)
    with engine.open():
        assert engine.fold(total, engine.place(shards), 0.1) == Threads(2).fold(total, shards, 0.1)
        parts = [part["n"] for part in engine.each(total, engine.place(shards), 0.1)]
    assert parts == [len(shard) for shard in shards]


def test_an_error_of_a_task_is_raised_as_it_is(client, monkeypatch):
    engine = Dask(client)
    with engine.open(), pytest.raises(InvalidInput, match="this shard is broken"):
        engine.fold(broken, engine.place(three_shards(monkeypatch)))


def test_a_late_shard_is_loaded_elsewhere(client, gate, monkeypatch):
    engine = Dask(client, timeout=2.0)
    shards = three_shards(monkeypatch)
    began = time.monotonic()
    with engine.open():
        placed = engine.place(shards)
        found = engine.fold(hanging, placed, [0])
        again = engine.fold(hanging, placed, [0])  # nobody asks that worker any more
    assert found == again == Threads(1).fold(total, shards, 1.0)
    assert time.monotonic() - began < 20.0


def test_the_error_names_the_shard_in_time(client, gate, monkeypatch):
    engine = Dask(client, timeout=3.0)
    began = time.monotonic()
    with engine.open(), pytest.raises(WorkerLost, match=r"shard \d of 3 \(rows \d+ to \d+\)"):
        engine.fold(hanging, engine.place(three_shards(monkeypatch)), [0, 1])
    assert time.monotonic() - began < 20.0


def test_a_cluster_without_workers_is_an_error():
    options = {"n_workers": 0, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
        engine = Dask(client, timeout=2.0)
        with pytest.raises(WorkerLost, match="no workers"):
            LinearClassifier(engine=engine).fit(np.eye(4), [0, 1, 0, 1])


def test_workers_that_differ_are_refused_unless_told_otherwise(client, monkeypatch):
    def one_of_two():
        version = {0: "2.4", 1: "2.3"}.get(distributed.get_worker().name, "")
        return {"argmax": "same", "numpy": version}

    monkeypatch.setattr(remote, "machine", one_of_two)
    monkeypatch.setattr(cluster, "machine", lambda: {"argmax": "same"})
    with pytest.raises(Unsupported, match=r"numpy is 2\.\d and 2\.\d.*mixed=True"):
        LinearClassifier(engine=Dask(client)).fit(np.eye(4), [0, 1, 0, 1])
    assert LinearClassifier(engine=Dask(client, mixed=True)).fit(np.eye(4), [0, 1, 0, 1])


def test_a_worker_that_joins_later_is_compared_too(client, monkeypatch):
    engine = Dask(client)
    shards = three_shards(monkeypatch)
    with engine.open():
        monkeypatch.setattr(remote, "machine", lambda: {"argmax": "another"})
        with pytest.raises(Unsupported, match="a worker joined that differs"):
            engine.fold(total, engine.place(shards), 1.0)


def test_the_client_is_checked():
    with pytest.raises(WrongType, match=r"must be a distributed\.Client"):
        Dask("tcp://somewhere:8786")


def test_without_dask_the_install_line_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r'pip install "argmax\[dask\]"'):
        Dask(None)


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan")])
def test_the_timeout_is_checked(client, timeout):
    with pytest.raises(InvalidInput, match="timeout"):
        Dask(client, timeout=timeout)


def test_solvers_that_visit_single_rows_are_refused(client):
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(Unsupported, match="single rows"):
        LinearClassifier(engine=Dask(client), solver="dual").fit(X, y)


def test_a_clone_means_the_same_cluster(client):
    from sklearn.base import clone

    engine = Dask(client)
    assert clone(LinearClassifier(engine=engine)).engine is engine


def test_a_model_can_be_pickled_and_answers_without_the_cluster(client):
    X, y = np.eye(4), [0, 1, 0, 1]
    model = LinearClassifier(engine=Dask(client)).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(X), model.predict(X))
    with pytest.raises(Unsupported, match="Connect again"):
        copy.fit(X, y)


def test_a_set_that_a_worker_does_not_see_is_an_error(client, tmp_path, monkeypatch):
    stored = Stored.write(tmp_path / "a", [(np.eye(4), [0, 1, 0, 1])])
    Stored.write(tmp_path / "b", [(np.eye(4), [1, 1, 0, 1])])
    (tmp_path / "a").rename(tmp_path / "gone")
    (tmp_path / "b").rename(tmp_path / "a")
    with pytest.raises(BadFile, match="another set"):
        LinearClassifier(engine=Dask(client)).fit(stored)


# Collections


def rows_of(n=20, chunks=10):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, array.from_array(X, chunks=(chunks, 3))


def test_a_bad_partition_is_named(client):
    X, _ = rows_of()
    X[13, 1] = np.nan
    engine = Dask(client)
    with pytest.raises(InvalidInput, match="NaN or infinity, first in row 13"):
        LinearClassifier(engine=engine).fit(array.from_array(X, chunks=10), np.arange(20) % 2)
    labels = array.from_array(np.array([0, 1] * 5 + [0.5, 1] * 5), chunks=10)
    with pytest.raises(InvalidInput, match=r"partition 1: Unknown label type.*0\.5"):
        LinearClassifier(engine=engine).fit(rows_of()[1], labels)


def test_lengths_must_agree(client):
    _, rows = rows_of()
    with pytest.raises(InvalidInput, match="X has 20, y has 19"):
        LinearClassifier(engine=Dask(client)).fit(rows, np.zeros(19, int))
    with pytest.raises(InvalidInput, match="X has 20, y has 30"):
        LinearClassifier(engine=Dask(client)).fit(rows, array.zeros(30, chunks=10))


def test_a_collection_needs_labels_beside_it(client):
    _, rows = rows_of()
    with pytest.raises(InvalidInput, match="y to be passed"):
        LinearClassifier(engine=Dask(client)).fit(rows)
    with pytest.raises(WrongType, match="y must be a dask array"):
        LinearClassifier(engine=Dask(client)).fit(rows, array.zeros((20, 2), chunks=10))


def test_one_class_is_refused(client):
    _, rows = rows_of()
    with pytest.raises(InvalidInput, match="one class: 7"):
        LinearClassifier(engine=Dask(client)).fit(rows, np.full(20, 7))


# What travels


def test_long_vectors_are_packed_once(monkeypatch):
    monkeypatch.setattr(remote, "LONG", 100)
    long, short = np.arange(50.0), np.arange(3.0)
    parcel = remote.Parcel.pack({"a": long, "b": [long, short], "c": long.copy()})
    assert len(parcel.vectors) == 1
    assert len(parcel.content) < 400
    found = parcel.unpack([long])
    assert found["a"] is long
    assert found["c"] is long
    np.testing.assert_array_equal(found["b"][1], short)


def test_a_shard_travels_without_what_tasks_left(monkeypatch):
    shard = three_shards(monkeypatch)[1]
    shard.slots.keep("node", None, (5, 5))
    copy = pickle.loads(pickle.dumps(shard))
    assert copy.slots.kept("node", None) is None
    assert copy.blocks == shard.blocks
    np.testing.assert_array_equal(copy.structures.rows, shard.structures.rows)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 64, 65, 100])
def test_sums_have_one_shape(count):
    """Adding groups of eight elsewhere, and those here, is what adding all here does."""
    parts = [{"x": 0.1 * i, "y": np.array([1.0 / (i + 1)])} for i in range(count)]

    def copies(some):
        return [{"x": part["x"], "y": part["y"].copy()} for part in some]

    level = copies(parts)
    while len(level) > 8:
        level = [add_up(copies(level[i : i + 8])) for i in range(0, len(level), 8)]
    assert add_up(copies(level)) == add_up(copies(parts))
