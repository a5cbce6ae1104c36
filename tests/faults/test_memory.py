"""Data larger than memory: a limit that the system enforces, four times smaller than the rows."""

import os
import resource
import tempfile
from pathlib import Path

import numpy as np
import pytest

from argmax import LinearClassifier
from argmax.engines import Stored
from tests.faults.cases import same_bits
from tests.faults.harness import GIB, alone

MIB = 2**20
BLOCKS, ROWS, FEATURES = 80, 2000, 200  # 122 MiB as float32


def blocks(count=BLOCKS, d=FEATURES):
    truth = np.random.default_rng(0).normal(size=(d, 3)) / np.sqrt(d)
    for i in range(count):
        rng = np.random.default_rng([1, i])
        X = rng.standard_normal((ROWS, d), dtype=np.float32)
        yield X, (X @ truth + rng.gumbel(size=(ROWS, 3))).argmax(axis=1)


def mapped():
    """Bytes of address space that this process takes."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[0]) * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not tell")
@alone(memory=16 * GIB)
def test_rows_four_times_larger_than_the_limit_are_learned_inside_it():
    folder = Path(tempfile.mkdtemp())
    model = LinearClassifier(C=0.01, tol=1e-6, n_threads=1)
    os.environ["ARGMAX_COMPILED"] = "always"  # imports and kernels come before the limit
    model.fit(Stored.write(folder / "few", blocks(1, 20))).score(Stored.open(folder / "few"))
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (mapped() + 30 * MIB, hard))
    stored = Stored.write(folder / "all", blocks(), memory=4 * MIB)
    assert sum(file.stat().st_size for file in stored.folder.iterdir()) > 4 * 30 * MIB
    there = model.fit(stored)
    answers = there.predict(stored)
    right = sum(int(np.sum(there.predict(X) == y)) for X, y, _ in stored.blocks(ROWS))
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    X, y = (np.concatenate(parts) for parts in zip(*blocks(), strict=True))
    here = LinearClassifier(C=0.01, tol=1e-6).fit(X, y)
    assert same_bits(there, here)
    assert there.solution_.objective == here.solution_.objective
    assert np.array_equal(answers, here.predict(X))
    assert right == int(np.sum(answers == y))
