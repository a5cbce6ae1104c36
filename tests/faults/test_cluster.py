"""Fault 35: a worker dies or hangs in the middle of a fit."""

import logging
import os
import signal
import tempfile
import time

import numpy as np
import pytest

from argmax import LinearClassifier, engines
from argmax.engines import remote
from argmax.engines import shards as sizes
from argmax.engines.cluster import SIGN_OF_LIFE
from argmax.errors import WorkerLost
from tests.faults.cases import problem, refuses, same_bits
from tests.faults.harness import GIB, alone

distributed = pytest.importorskip("distributed")

TIMEOUT = 20.0


def present(client, dead, seconds=60.0):
    """The processes of all three workers, once those that died have been replaced."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        workers = list(client.run(os.getpid, on_error="ignore").values())
        if len(workers) == 3 and not dead & set(workers):
            return workers
        time.sleep(0.1)
    raise AssertionError(f"after {seconds:g} s there are not three workers")


def strike(client, how, whom, dead=frozenset()):
    """A callback that hits workers after the third pass; ``.at`` says when."""
    workers = present(client, dead)[:whom]

    def callback(progress):
        if progress.passes == 3:
            callback.at = time.monotonic()
            for worker in workers:
                os.kill(worker, how)

    callback.workers = workers
    return callback


def small_pieces():
    """Several shards of small data, and weights that travel as long vectors do."""
    sizes.SHARD_BYTES, sizes.GRADIENTS, remote.LONG = 200_000, 0, 64


def cluster():
    """Three processes: one is killed in each of two fits."""
    return distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
    )


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")
@alone(memory=64 * GIB, seconds=300)
def test_35_a_worker_that_dies_or_hangs_changes_no_bit_or_is_named_in_time():
    small_pieces()
    X, y = problem(n=3000, d=20, k=4)
    here = LinearClassifier(tol=1e-6).fit(X, y)
    folder = tempfile.mkdtemp()
    stored = engines.Stored.write(f"{folder}/rows", [(X, y)])
    with cluster() as workers, distributed.Client(workers) as client:
        engine = engines.Dask(client, timeout=TIMEOUT)
        dead = set()
        for given in ((stored,), (X, y)):
            killed = strike(client, signal.SIGKILL, 1, dead)
            there = LinearClassifier(tol=1e-6, engine=engine, callbacks=[killed]).fit(*given)
            assert same_bits(there, here)
            assert time.monotonic() - killed.at < 2 * TIMEOUT
            dead |= set(killed.workers)
        stopped = strike(client, signal.SIGSTOP, 3, dead)
        model = LinearClassifier(tol=1e-6, callbacks=[stopped])
        try:
            model.engine = engines.Dask(client, timeout=3.0)
            refuses(model.fit, X, y, says=("shard", "rows", "3 s"), error=WorkerLost)
            assert time.monotonic() - stopped.at < 3 * 3.0 + 2 * SIGN_OF_LIFE + 10.0
        finally:
            for worker in stopped.workers:
                os.kill(worker, signal.SIGCONT)
    assert np.isfinite(here.coef_).all()
