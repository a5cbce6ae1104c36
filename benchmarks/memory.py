"""Memory that a fit takes on top of a warm process that already holds its data.

Each measurement is a fresh process: load the arrays, fit a few rows (imports, compiled kernels, threads),
note the resident memory, clear the peak, fit, read the peak. Linux only: /proc/self/clear_refs does that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from .common import (
    ROOT,
    Check,
    Options,
    Outcome,
    child_environment,
    fresh_peak,
    median,
    no_peaks,
    note_ratio,
    peak,
    progress,
    say,
    spread,
    table,
    verdict,
)

PROBLEMS = {  # data set: the values of C
    "mnist": (0.01, 1.0),
    "20news": (1.0,),
    "clinc150": (10.0,),
    "letter": (1.0,),
    "satimage": (1.0,),
}
QUICK = ("satimage", "clinc150")
LIBRARIES = ("argmax", "lbfgs")
ROUNDS = 3

EXPLANATION = f"""\
Peak resident memory during a fit minus resident memory just before it, in fresh processes that hold the data
and have fitted a few rows. Ours: solver="auto" on the stated threads. Peer: LogisticRegression's lbfgs with
one BLAS thread (the fewest buffers). Both at their default tol and iterations: lbfgs allocates everything in
its first few. Medians of {ROUNDS} processes each, taken in turn."""


def run(options: Options) -> Outcome:
    from . import data

    outcome = Outcome("memory")
    why = data.missing() or no_peaks()
    if why:
        say(f"Left out: {why}")
        return outcome
    say(EXPLANATION)
    rows = []
    for name in options.data or (QUICK if options.quick else PROBLEMS):
        for C in PROBLEMS.get(name, (1.0,)):
            found = measure(data.load(name, options.quick), C, options)
            rows.append(_row(f"{name} C={C:g}", found))
            outcome.figures.append({"case": f"{name} C={C:g}", "runs": found})
            outcome.checks.append(_check(f"{name} C={C:g}", found))
    columns = ["", "argmax MB", "range", "lbfgs MB", "range", "peer/us"]
    table("Memory grown by a fit", columns, rows)
    return outcome


def measure(source: Any, C: float, options: Options) -> dict[str, list[dict[str, float]]]:
    """What each library's processes report, in turn."""
    found: dict[str, list[dict[str, float]]] = {library: [] for library in LIBRARIES}
    with tempfile.TemporaryDirectory() as folder:
        _store(source, Path(folder))
        for i in range(ROUNDS):
            for library in LIBRARIES:
                progress(f"{source.name} C={C:g}: {library}, process {i + 1}")
                found[library].append(_spawn(library, folder, C, options.threads))
    return found


def _spawn(library: str, folder: str, C: float, threads: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.memory", library, folder, repr(C), str(threads)]
    environment = child_environment(1)  # of BLAS: ours has its own threads
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _row(what: str, found: dict[str, list[dict[str, float]]]) -> list[str]:
    cells = [what]
    for library in LIBRARIES:
        grown = [run["grown"] for run in found[library]]
        cells += [f"{median(grown):.4g}", spread(grown)]
    return [*cells, note_ratio(_ratio(found))]


def _ratio(found: dict[str, list[dict[str, float]]]) -> float:
    ours, theirs = (median([run["grown"] for run in found[library]]) for library in LIBRARIES)
    return max(theirs, 1e-3) / max(ours, 1e-3)


def _check(what: str, found: dict[str, list[dict[str, float]]]) -> Check:
    ratio = _ratio(found)
    return Check(what, note_ratio(ratio), "not above lbfgs", verdict(ratio, 1.0))


# The arrays travel as plain files: reading them leaves no free memory behind that a fit could hide in.


def _store(source: Any, folder: Path) -> None:
    parts = {"dense": source.X} if isinstance(source.X, np.ndarray) else _csr_parts(source.X)
    for name, array in {**parts, "y": source.y}.items():
        np.save(folder / f"{name}.npy", array)


def _csr_parts(X: Any) -> dict[str, Any]:
    shape = np.array(X.shape)
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": shape}


def _restore(folder: Path) -> tuple[Any, Any]:
    y = np.load(folder / "y.npy")
    if (folder / "dense.npy").exists():
        return np.load(folder / "dense.npy"), y
    import scipy.sparse as sp

    parts = {
        name: np.load(folder / f"{name}.npy") for name in ("data", "indices", "indptr", "shape")
    }
    arrays = (parts["data"], parts["indices"], parts["indptr"])
    return sp.csr_matrix(arrays, shape=tuple(int(side) for side in parts["shape"])), y


# Inside the fresh process


def child(library: str, folder: str, C: float, threads: int) -> dict[str, float]:
    """Megabytes grown and seconds taken by one fit."""
    X, y = _restore(Path(folder))
    few = np.unique(np.concatenate([np.flatnonzero(y == label)[:5] for label in np.unique(y)]))
    os.environ["ARGMAX_COMPILED"] = _path(X, len(np.unique(y)))  # the few rows take the path of all
    _fit(library, X[few], y[few], C, threads)
    del os.environ["ARGMAX_COMPILED"]
    before = fresh_peak()
    began = time.perf_counter()
    model = _fit(library, X, y, C, threads)
    seconds = time.perf_counter() - began
    return {"grown": peak() - before, "seconds": seconds, "classes": len(model.classes_)}


def _path(X: Any, k: int) -> str:
    """Which path all of the rows take: compiled kernels, or NumPy for a small table."""
    from argmax.kernels import compiled

    entries = X.size if isinstance(X, np.ndarray) else X.nnz
    return "always" if compiled(entries * k) else "never"


def _fit(library: str, X: Any, y: Any, C: float, threads: int) -> Any:
    import warnings

    warnings.simplefilter("ignore")
    if library == "argmax":
        from argmax import LinearClassifier

        return LinearClassifier(C=C, n_threads=threads).fit(X, y)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver=library, C=C).fit(X, y)


if __name__ == "__main__":
    _library, _folder, _C, _threads = sys.argv[1:]
    print(json.dumps(child(_library, _folder, float(_C), int(_threads))))
