"""Data larger than memory: fits and predictions under a limit that the system enforces.

A process does its imports, compiles its kernels, then sets a limit on its address space (RLIMIT_AS: all that
it may map, so also stacks, buffers and libraries) a quarter of the data above what it maps by now. It writes
the data block by block, fits and predicts. Another process fits the same rows in memory, without a limit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .common import ROOT, Check, Options, Outcome, child_environment, progress, say, table

ROWS = 10_000
"""Rows of a block."""


@dataclass(frozen=True)
class Case:
    """A data set to be generated, and the megabytes that a process may take beyond its imports."""

    name: str
    blocks: int
    features: int
    classes: int
    limit: int
    solver: str = "lbfgs"  # as auto chooses for dense rows, and for sparse ones in files
    density: float = 1.0

    @property
    def sparse(self) -> bool:
        return self.density < 1.0


CASES = (
    Case("dense", blocks=320, features=200, classes=5, limit=600),
    Case(
        "sparse",
        blocks=210,
        features=100_000,
        classes=5,
        limit=600,
        solver="newton_cg",
        density=1e-3,
    ),
)
QUICK = (Case("dense", blocks=48, features=200, classes=3, limit=90),)

EXPLANATION = """\
Limit: address space above that of the same process with its imports done and its kernels compiled. Grown:
resident memory above that point. Gap of objectives: |F(files) − F(memory)| / F(memory), after both fits
(tol 1e-6)."""


def run(options: Options) -> Outcome:
    outcome = Outcome("larger")
    if not Path("/proc/self/status").exists():
        say("Left out: this needs Linux.")
        return outcome
    say(EXPLANATION)
    rows = []
    for case in QUICK if options.quick else CASES:
        with tempfile.TemporaryDirectory() as folder:
            found = {way: _spawn(way, case, folder, options.threads) for way in WAYS}
        files, memory = found["files"], found["memory"]
        apart = abs(files["objective"] - memory["objective"]) / memory["objective"]
        same = files["digest"] == memory["digest"]
        figures = [files[name] for name in ("data", "limit", "grown", "predicting", "seconds")]
        cells = [f"{figure:.0f}" for figure in (*figures, memory["seconds"])]
        rows.append([case.name, *cells, f"{apart:.1e}", "yes" if same else "no"])
        kept = apart <= 1e-8 and files["data"] >= 4 * case.limit
        what = f"{case.name}: data over limit, gap of objectives"
        figure = f"{files['data'] / case.limit:.1f}×, {apart:.1e}"
        outcome.checks.append(Check(what, figure, "4×, 1e-8", "met" if kept else "not met"))
        outcome.figures.append({"case": case.name, **found})
    columns = [
        "", "data MB", "limit MB", "fit grown", "predict grown", "files s", "memory s", "gap", "same bits",
    ]  # fmt: skip
    table("Larger than memory", columns, rows)
    return outcome


WAYS = ("files", "memory")


def _spawn(way: str, case: Case, folder: str, threads: int) -> dict[str, Any]:
    progress(f"{case.name}: {way}")
    job = json.dumps([way, folder, threads, vars(case)])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.larger", job],
        cwd=ROOT, env=child_environment(1), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{case.name}, {way}: {done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


# Inside a fresh process


def blocks(case: Case) -> Iterator[tuple[Any, Any]]:
    """Rows and labels drawn from a softmax model: noisy, so never separable."""
    truth = np.random.default_rng(0).normal(size=(case.features, case.classes))
    truth *= 2.0 if case.sparse else 1.0 / np.sqrt(case.features)
    for i in range(case.blocks):
        rng = np.random.default_rng([1, i])
        X = _sparse(case, rng) if case.sparse else _dense(case, rng)
        yield X, (X @ truth + rng.gumbel(size=(ROWS, case.classes))).argmax(axis=1)


def _dense(case: Case, rng: np.random.Generator) -> Any:
    return rng.standard_normal((ROWS, case.features), dtype=np.float32)


def _sparse(case: Case, rng: np.random.Generator) -> Any:
    import scipy.sparse as sp

    each = int(case.features * case.density)
    indices = rng.integers(case.features, size=(ROWS, each), dtype=np.int32)
    indices.sort(axis=1)
    values = rng.random(ROWS * each) / np.sqrt(each)
    arrays = values, indices.ravel(), np.arange(0, ROWS * each + 1, each)
    X = sp.csr_array(arrays, shape=(ROWS, case.features))
    X.sum_duplicates()
    return X


def child(way: str, folder: str, threads: int, case: Case) -> dict[str, Any]:
    from argmax import LinearClassifier, engines

    model = LinearClassifier(C=1e-3, tol=1e-6, solver=case.solver, n_threads=threads)
    if way == "memory":
        X, y = _gathered(case)
        began = time.perf_counter()
        return {**_outcome(model.fit(X, y)), "seconds": time.perf_counter() - began}
    _warm_up(case, threads)
    before = limit(case.limit)
    place = Path(folder) / "rows"
    stored = engines.Stored.write(place, blocks(case), memory=case.limit * 2**20 // 8)
    began = time.perf_counter()
    model.fit(stored)
    seconds, grown = time.perf_counter() - began, status("VmHWM") - before
    data = sum(file.stat().st_size for file in place.iterdir()) / 2**20
    Path("/proc/self/clear_refs").write_text("5")
    wrong = sum(int(np.sum(model.predict(X) != y)) for X, y, _ in stored.blocks())
    assert len(model.predict(stored)) == len(stored)
    predicting = status("VmHWM") - before
    figures = {"data": data, "limit": case.limit, "grown": grown, "predicting": predicting}
    return {**_outcome(model), **figures, "seconds": seconds, "error": wrong / len(stored)}


def _outcome(model: Any) -> dict[str, Any]:
    import hashlib

    solution = model.solution_
    digest = hashlib.sha256(solution.w.tobytes()).hexdigest()
    return {"objective": solution.objective, "digest": digest, "status": solution.status}


def _gathered(case: Case) -> tuple[Any, Any]:
    import scipy.sparse as sp

    parts = list(blocks(case))
    stack = sp.vstack if case.sparse else np.concatenate
    return stack([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def _warm_up(case: Case, threads: int) -> None:
    """Imports, compiled kernels and threads: what the process takes with any data at all."""
    from argmax import LinearClassifier, engines

    small = Case("", 1, 2000 if case.sparse else 20, case.classes, 0, case.solver, case.density)
    os.environ["ARGMAX_COMPILED"] = "always"  # as all of the rows will be
    with tempfile.TemporaryDirectory() as folder:
        stored = engines.Stored.write(Path(folder) / "rows", blocks(small))
        LinearClassifier(C=1e-3, solver=case.solver, n_threads=threads).fit(stored).predict(stored)
    del os.environ["ARGMAX_COMPILED"]


def limit(megabytes: float) -> float:
    """Let this process map so much more than it does now; returns its resident memory."""
    import resource

    most = int((status("VmSize") + megabytes) * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return status("VmRSS")


def status(field: str) -> float:
    """A line of /proc/self/status, in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


if __name__ == "__main__":
    _way, _folder, _threads, _case = json.loads(sys.argv[1])
    print(json.dumps(child(_way, _folder, _threads, Case(**_case))))
