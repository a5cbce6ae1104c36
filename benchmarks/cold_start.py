"""What a fresh process pays before its first answer, with an empty folder of compiled kernels.

Small problems never meet a compiler: the first fit on iris must cost little more than importing scikit-learn
does. Large ones compile once for each machine: cold is that first time, warm is a new process later on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
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
FIRST, DEMO = 4.0, 20.0  # seconds of a first large fit, and of all jobs of the demo
SMALL_ROUNDS, LARGE_ROUNDS = 5, 3
REPEATS = 3  # copies of digits: 3.4 million multiply-adds a pass, beyond the small limit

EXPLANATION = f"""\
Fresh processes, the clock started after NumPy is imported; BLAS has one thread, the best for tables so small.
Small: imports, and one fit on iris, with an empty cache of compiled kernels. Medians of {SMALL_ROUNDS}.
Large: digits {REPEATS} times over, which is compiled. Medians of {LARGE_ROUNDS}. "cold" has an empty cache,
"warm" is a new process with the cache that the cold one left, "again" is the second fit of the same process.
Everybody stops at a default tol of their own: this shows what a first fit costs; softmax compares speed.
Families: drawn data that each of our families compiles for, imports included, and CPU seconds of all threads
beside the clock. The demo is timed from the start of its process to the end."""

# What each process times; X and y are loaded before.
OURS = "from argmax import LinearClassifier\nLinearClassifier(n_threads=THREADS).fit(X, y)"
IMPORT = "import sklearn.linear_model\nfrom sklearn.linear_model import LogisticRegression"
PEER = f"{IMPORT}\nLogisticRegression(max_iter=1000).fit(X, y)"
SMALL = {
    "import scikit-learn": IMPORT,
    "import scikit-learn, fit": PEER,
    "import argmax, fit": OURS,
}
CLASSIFIER = "from argmax import LinearClassifier\nLinearClassifier(n_threads=THREADS).fit(X, y)"
MACHINE = "from argmax import MulticlassSVM\nMulticlassSVM(n_threads=THREADS).fit(X, y)"
TAGGER = """from argmax import SequenceTagger
from argmax.features import Templates
SequenceTagger(features=Templates(), n_threads=THREADS).fit(X, y)"""
FAMILIES = {
    "import argmax": ("import argmax\nargmax.LinearClassifier", "iris.npz"),
    "dense rows, log loss": (CLASSIFIER, "dense.npz"),
    "dense rows, hinge": (MACHINE, "few.npz"),
    "sparse rows, log loss": (CLASSIFIER, "sparse.npz"),
    "sparse rows, hinge": (MACHINE, "sparse.npz"),
    "sentences, CRF": (TAGGER, "sentences.json"),
}
READ = {
    "rows": """
with np.load(PATH) as arrays:
    X, y = arrays["X"], arrays["y"]
""",
    "entries": """
from scipy.sparse import csr_array
with np.load(PATH) as arrays:
    X, y = csr_array((arrays["data"], arrays["indices"], arrays["indptr"])), arrays["y"]
""",
    "sentences": """
with open(PATH, encoding="utf-8") as file:
    X, y = json.load(file)
""",
}
CHILD = """
import json, time, warnings
import numpy as np
warnings.simplefilter("ignore")
THREADS, PATH = {threads}, {path!r}
{read}
times = []
for _ in range({fits}):
    began, worked = time.perf_counter(), time.process_time()
    exec({code!r})
    times.append((time.perf_counter() - began, time.process_time() - worked))
print(json.dumps(times))
"""


def run(options: Options) -> Outcome:
    outcome = Outcome("cold_start")
    say(EXPLANATION)
    with tempfile.TemporaryDirectory() as folder:
        iris, digits = _arrays(Path(folder))
        _drawn(Path(folder), options.quick)
        _small(outcome, iris, options)
        _large(outcome, digits, options)
        _families(outcome, Path(folder), options)
        _demo(outcome, Path(folder), options)
    return outcome


def _arrays(folder: Path) -> tuple[Path, Path]:
    import numpy as np
    from sklearn.datasets import load_digits, load_iris

    X, y = load_iris(return_X_y=True)
    np.savez(folder / "iris.npz", X=X, y=y)
    X, y = load_digits(return_X_y=True)
    np.savez(folder / "digits.npz", X=np.tile(X, (REPEATS, 1)), y=np.tile(y, REPEATS))
    return folder / "iris.npz", folder / "digits.npz"


def _drawn(folder: Path, quick: bool) -> None:
    """Dense rows, sparse rows and sentences, each large enough to be compiled for."""
    import numpy as np

    from argmax.data.corpus import write_sentences

    rng, k = np.random.default_rng(0), 10
    # On few features the fit of a hinge is short, and compiling is what is seen.
    for name, n, d in (("dense", 80_000, 200), ("few", 80_000, 20)):
        n = n // 10 if quick else n
        y = rng.integers(0, k, n)
        X = rng.standard_normal((n, d)) + rng.standard_normal((k, d))[y]
        np.savez(folder / f"{name}.npz", X=X, y=y)
    n, d, entries = (4_000, 5_000, 50) if quick else (40_000, 20_000, 50)
    y = rng.integers(0, k, n)
    # Half of the features of a row are those of its class.
    own = rng.integers(0, d // k, (n, entries // 2)) + (y * (d // k))[:, None]
    indices = np.hstack([own, rng.integers(0, d, (n, entries - entries // 2))])
    indices.sort(axis=1)
    indptr, data = np.arange(0, n * entries + 1, entries), rng.random(n * entries)
    np.savez(folder / "sparse.npz", data=data, indices=indices.ravel(), indptr=indptr, y=y)
    write_sentences(folder / "sentences.conll", 200 if quick else 2_000, seed=0)
    blocks = (folder / "sentences.conll").read_text(encoding="utf-8").strip().split("\n\n")
    tokens = [[line.split() for line in block.splitlines()] for block in blocks]
    columns = [[[fields[at] for fields in sentence] for sentence in tokens] for at in (0, -1)]
    (folder / "sentences.json").write_text(json.dumps(columns), encoding="utf-8")


def _small(outcome: Outcome, iris: Path, options: Options) -> None:
    taken: dict[str, list[float]] = {name: [] for name in SMALL}
    _child(OURS, iris, options.threads)  # reads the files and writes .pyc, which is not our subject
    for i in range(2 if options.quick else SMALL_ROUNDS):
        progress(f"iris: round {i + 1}")
        for name, code in SMALL.items():
            taken[name].append(_child(code, iris, options.threads)[0][0])
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
        for name, (seconds, _) in zip(names, [*cold, *warm, *peer], strict=True):
            taken[name].append(seconds)
    rows = [[name, f"{median(times):.3f}", spread(times)] for name, times in taken.items()]
    table("First fit of a compiled problem, import included, seconds", ["", "s", "range"], rows)
    outcome.figures.append({"what": "digits", "seconds": taken})


def _families(outcome: Outcome, folder: Path, options: Options) -> None:
    rows = []
    for name, (code, file) in FAMILIES.items():
        cold: list[tuple[float, float]] = []
        warm: list[tuple[float, float]] = []
        for i in range(1 if options.quick else LARGE_ROUNDS):
            progress(f"{name}: round {i + 1}")
            with tempfile.TemporaryDirectory() as cache:
                for taken in (cold, warm):
                    taken += _child(code, folder / file, options.threads, cache=cache)
        clocks = [median([seconds for seconds, _ in taken]) for taken in (cold, warm)]
        worked = [median([cpu for _, cpu in taken]) for taken in (cold, warm)]
        rows.append(
            [
                name,
                f"{clocks[0]:.2f}",
                spread([seconds for seconds, _ in cold]),
                f"{clocks[1]:.2f}",
                f"{worked[0]:.2f}",
                f"{worked[1]:.2f}",
            ]
        )
        decision = "met" if clocks[0] <= FIRST else "not met"
        what = f"first time on a machine: {name}"
        outcome.checks.append(Check(what, f"{clocks[0]:.2f} s", f"{FIRST:g} s", decision))
        outcome.figures.append({"what": name, "cold": cold, "warm": warm})
    columns = ["", "cold", "range", "warm", "CPU cold", "CPU warm"]
    table("First fit of each family, import included, seconds", columns, rows)


def _demo(outcome: Outcome, folder: Path, options: Options) -> None:
    taken = []
    for i in range(1 if options.quick else LARGE_ROUNDS):
        progress(f"argmax demo: round {i + 1}")
        with tempfile.TemporaryDirectory() as cache:
            began = time.perf_counter()
            _run(["-m", "argmax", "demo", "-o", str(folder / f"demo-{i}")], options.threads, cache)
            taken.append(time.perf_counter() - began)
    seconds = median(taken)
    say(f"argmax demo with nothing compiled: {seconds:.1f} s (range {spread(taken)}).")
    decision = "met" if seconds <= DEMO else "not met"
    what = "first time on a machine: argmax demo"
    outcome.checks.append(Check(what, f"{seconds:.1f} s", f"{DEMO:g} s", decision))
    outcome.figures.append({"what": "demo", "seconds": taken})


def _child(
    code: str, data: Path, threads: int, fits: int = 1, cache: str = ""
) -> list[tuple[float, float]]:
    """Seconds, and CPU seconds, of each execution of ``code`` in one fresh process.

    Without ``cache`` the process has an empty one.
    """
    kind = {"sparse.npz": "entries", "sentences.json": "sentences"}.get(data.name, "rows")
    program = CHILD.format(threads=threads, path=str(data), read=READ[kind], fits=fits, code=code)
    with tempfile.TemporaryDirectory() as empty:
        printed = _run(["-c", program], 1, cache or empty)
    return [(seconds, cpu) for seconds, cpu in json.loads(printed.splitlines()[-1])]


def _run(arguments: list[str], threads: int, cache: str) -> str:
    """What a fresh process prints whose compiled kernels are in ``cache``; BLAS has so many threads."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=child_environment(threads, ARGMAX_CACHE_DIR=cache),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"a fresh process failed:\n{done.stderr}")
    return done.stdout
