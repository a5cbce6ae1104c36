"""The time that kernels take to be compiled, and that limits leave out."""

import os
import subprocess
import sys
import threading

import pytest

from argmax.kernels import compiling
from argmax.solvers import Report


@pytest.fixture
def clock(monkeypatch):
    """A clock that is moved by hand."""
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    return now


def test_what_is_nested_counts_once(clock):
    before = compiling.seconds()
    with compiling.preparing():
        clock[0] += 1.0
        with compiling.preparing():
            clock[0] += 2.0
            assert compiling.seconds() - before == pytest.approx(3.0)
        clock[0] += 4.0
    clock[0] += 8.0
    assert compiling.seconds() - before == pytest.approx(7.0)


def test_threads_that_compile_side_by_side_count_once(clock):
    before = compiling.seconds()
    with compiling.preparing():
        clock[0] += 1.0
        other = threading.Thread(target=compiling._begin)
        other.start()
        other.join()
        clock[0] += 1.0
    clock[0] += 1.0
    compiling._end()
    assert compiling.seconds() - before == pytest.approx(3.0)


def test_an_end_without_a_beginning_is_no_beginning(clock):
    compiling._end()
    before = compiling.seconds()
    clock[0] += 1.0
    assert compiling.seconds() == before


def test_numba_says_when_it_compiles():
    from numba import njit

    from argmax.kernels import compile as _  # noqa: F401 which listens

    before = compiling.seconds()
    assert njit(lambda x: x + 1)(1) == 2
    assert compiling.seconds() > before


def test_a_limit_does_not_count_it(clock):
    report = Report(time_limit=5.0)
    with compiling.preparing():
        clock[0] += 60.0
    assert not report.out_of_time()
    assert report.seconds == pytest.approx(60.0)
    assert report.compiled == pytest.approx(60.0)
    clock[0] += 6.0
    assert report.out_of_time()
    assert report.left == 0.0


FIRST = """
import numpy as np
from argmax import MulticlassSVM
X = np.repeat(np.eye(3), 20, axis=0)
model = MulticlassSVM(solver="dual", time_limit=0.4, n_threads=1).fit(X, np.repeat([0, 1, 2], 20))
print(model.solution_.status, model.solution_.passes, "Compiling kernels took" in model.solution_.message)
"""


def test_the_first_fit_of_a_machine_has_its_time(tmp_path):
    """Its kernels take many times as long as its limit."""
    given = {**os.environ, "ARGMAX_CACHE_DIR": str(tmp_path), "ARGMAX_COMPILED": "always"}
    found = subprocess.run(
        [sys.executable, "-c", FIRST], env=given, capture_output=True, text=True, check=True
    )
    status, passes, told = found.stdout.split()
    assert status == "converged"
    assert int(passes) > 1
    assert told == "True"
