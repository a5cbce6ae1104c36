"""What a fresh process pays before its first answer, with an empty folder of compiled kernels.

Small problems never meet a compiler: the first fit on iris must cost little more than importing scikit-learn
does. Large ones compile once for each machine: cold is that first time, warm is a new process later on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from .common import (
    ROOT,
    Check,
    Options,
    Outcome,
    child_environment,
    median,
    progress,
    say,
    spread,
    table,
)

FLOOR = 0.5  # seconds that we may add
SMALL_ROUNDS, LARGE_ROUNDS = 5, 3
REPEATS = 3  # copies of digits: 3.4 million multiply-adds a pass, beyond the small limit

EXPLANATION = f"""\
Fresh processes, the clock started after NumPy is imported; BLAS has one thread, the best for tables so small.
Small: imports, and one fit on iris, with an empty cache of compiled kernels. Medians of {SMALL_ROUNDS}.
Large: digits {REPEATS} times over, which is compiled. Medians of {LARGE_ROUNDS}. "cold" has an empty cache,
"warm" is a new process with the cache that the cold one left, "again" is the second fit of the same process.
Everybody stops at a default tol of their own: this shows what a first fit costs; softmax compares speed."""

# What each process times; X and y are loaded before.
OURS = "from argmax import LinearClassifier\nLinearClassifier(n_threads=THREADS).fit(X, y)"
IMPORT = "import sklearn.linear_model\nfrom sklearn.linear_model import LogisticRegression"
PEER = f"{IMPORT}\nLogisticRegression(max_iter=1000).fit(X, y)"
SMALL = {
    "import scikit-learn": IMPORT,
    "import scikit-learn, fit": PEER,
    "import argmax, fit": OURS,
}
CHILD = """
import json, time, warnings
import numpy as np
warnings.simplefilter("ignore")
THREADS = {threads}
with np.load({path!r}) as arrays:
    X, y = arrays["X"], arrays["y"]
times = []
for _ in range({fits}):
    began = time.perf_counter()
    exec({code!r})
    times.append(time.perf_counter() - began)
print(json.dumps(times))
"""


def run(options: Options) -> Outcome:
    outcome = Outcome("cold_start")
    say(EXPLANATION)
    with tempfile.TemporaryDirectory() as folder:
        iris, digits = _arrays(Path(folder))
        _small(outcome, iris, options)
        _large(outcome, digits, options)
    return outcome


def _arrays(folder: Path) -> tuple[Path, Path]:
    import numpy as np
    from sklearn.datasets import load_digits, load_iris

    X, y = load_iris(return_X_y=True)
    np.savez(folder / "iris.npz", X=X, y=y)
    X, y = load_digits(return_X_y=True)
    np.savez(folder / "digits.npz", X=np.tile(X, (REPEATS, 1)), y=np.tile(y, REPEATS))
    return folder / "iris.npz", folder / "digits.npz"


def _small(outcome: Outcome, iris: Path, options: Options) -> None:
    taken: dict[str, list[float]] = {name: [] for name in SMALL}
    _child(OURS, iris, options.threads)  # reads the files and writes .pyc, which is not our subject
    for i in range(2 if options.quick else SMALL_ROUNDS):
        progress(f"iris: round {i + 1}")
        for name, code in SMALL.items():
            taken[name] += _child(code, iris, options.threads)
    bare = median(taken["import scikit-learn"])
    added = {name: median(seconds) - bare for name, seconds in taken.items()}
    rows = [
        [name, f"{median(seconds):.3f}", spread(seconds), f"{added[name]:+.3f}"]
        for name, seconds in taken.items()
    ]
    table("First fit on iris, seconds", ["fresh process", "s", "range", "added to import"], rows)
    ours, peer = added["import argmax, fit"], added["import scikit-learn, fit"]
    figure = f"{ours:+.3f} s (scikit-learn's own fit: {peer:+.3f} s)"
    decision = "met" if ours <= FLOOR else "not met"
    what = "import and fit iris, beyond scikit-learn's import"
    outcome.checks.append(Check(what, figure, f"{FLOOR:g} s", decision))
    outcome.figures.append({"what": "iris", "seconds": taken})


def _large(outcome: Outcome, digits: Path, options: Options) -> None:
    names = ("argmax cold", "argmax warm", "argmax again", "scikit-learn", "scikit-learn again")
    taken: dict[str, list[float]] = {name: [] for name in names}
    for i in range(1 if options.quick else LARGE_ROUNDS):
        progress(f"digits: round {i + 1}")
        with tempfile.TemporaryDirectory() as cache:
            cold = _child(OURS, digits, options.threads, cache=cache)
            warm = _child(OURS, digits, options.threads, 2, cache)
        peer = _child(PEER, digits, options.threads, 2)
        for name, seconds in zip(names, [*cold, *warm, *peer], strict=True):
            taken[name].append(seconds)
    rows = [[name, f"{median(times):.3f}", spread(times)] for name, times in taken.items()]
    table("First fit of a compiled problem, import included, seconds", ["", "s", "range"], rows)
    outcome.figures.append({"what": "digits", "seconds": taken})


def _child(code: str, arrays: Path, threads: int, fits: int = 1, cache: str = "") -> list[float]:
    """Seconds of each execution of ``code`` in one fresh process; without ``cache``, an empty one."""
    program = CHILD.format(threads=threads, path=str(arrays), fits=fits, code=code)
    with tempfile.TemporaryDirectory() as empty:
        environment = child_environment(1, ARGMAX_CACHE_DIR=cache or empty)
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"a fresh process failed:\n{done.stderr}")
    result: list[float] = json.loads(done.stdout.splitlines()[-1])
    return result
