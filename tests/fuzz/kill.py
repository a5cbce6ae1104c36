"""Training and saving, killed with signal 9 at random moments, and taken up again each time.

    python -m tests.fuzz.kill 200

A worker trains one model after another with a checkpoint after every pass, and saves each over the last.
After every kill the model file must be one of the models that uninterrupted fits gave, to the bit, and the
checkpoint, if there is one, whole. The next worker goes on from it.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from argmax import LinearClassifier, load, persist, save
from argmax.persist import Checkpoint, replace_file
from argmax.solvers import dual

TURNS: list[dict[str, Any]] = [
    {"solver": "lbfgs", "C": 10.0},
    {"solver": "dual", "C": 0.5},
    {"solver": "newton_cg", "C": 10.0},
    {"solver": "proximal", "penalty": "l1", "C": 1.0},
]
LONGEST = 1.0
"""Seconds from the start of a worker to its end, at most."""
SAVES = 30
"""How often a model is written over the last, so that kills meet that as well."""


def problem() -> tuple[Any, Any]:
    """Enough features that a file takes a while to be written."""
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 5_000), density=0.004, rng=rng, format="csr")
    return X, rng.integers(0, 3, 300)


def model(turn: int, callbacks: Any = None) -> LinearClassifier:
    options = TURNS[turn % len(TURNS)]
    return LinearClassifier(tol=1e-7, n_threads=1, callbacks=callbacks, **options)


def work(folder: Path, X: Any, y: Any) -> None:
    """Turn after turn, from where the last worker was killed, until killed."""
    dual.PATIENCE = 0.0, 0.0  # a look, and a checkpoint, after every sweep
    while True:
        turn = int((folder / "turn").read_bytes())
        checkpoint = Checkpoint(folder / "checkpoint", every=0.0, resume=True)
        fitted = model(turn, [checkpoint]).fit(X, y)
        for _ in range(SAVES):
            save(fitted, folder / "model", overwrite=True)
        checkpoint.remove()
        after = str(turn + 1).encode()
        replace_file(
            folder / "turn", lambda stream, after=after: stream.write(after), overwrite=True
        )


def bits(fitted: LinearClassifier) -> bytes:
    return fitted.coef_.tobytes() + fitted.intercept_.tobytes()


def kill_one(folder: Path, X: Any, y: Any, seconds: float) -> None:
    """Start a worker and kill it after so many seconds."""
    worker = os.fork()
    if worker == 0:
        try:
            work(folder, X, y)
        finally:
            os._exit(1)  # reached by an error only
    time.sleep(seconds)
    os.kill(worker, signal.SIGKILL)
    _, status = os.waitpid(worker, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "the worker ended by itself"


def look(folder: Path, expected: list[bytes]) -> Counter[str]:
    """Check what a killed worker left, clear the unfinished files away, and say what was found."""
    found: Counter[str] = Counter()
    if (folder / "model").exists():
        assert bits(load(folder / "model")) in expected, "the model is none of those trained"
        found["models"] += 1
    if (folder / "checkpoint").exists():
        assert persist.describe(folder / "checkpoint")["kind"] == "checkpoint"
        found["checkpoints"] += 1
    for part in folder.glob(".*.part"):
        found[f"killed while writing a {part.name.split('.')[1]}"] += 1
        part.unlink()
    return found


def run(kills: int, folder: Path, seed: int = 0) -> Counter[str]:
    """So many kills; then the fit at hand is taken up once more and must end with its model."""
    rng, (X, y) = np.random.default_rng(seed), problem()
    expected = [bits(model(turn).fit(X, y)) for turn in range(len(TURNS))]
    (folder / "turn").write_bytes(b"0")
    found: Counter[str] = Counter()
    for _ in range(kills):
        kill_one(folder, X, y, rng.uniform(0.0, LONGEST))
        found += look(folder, expected)
    turn = int((folder / "turn").read_bytes())
    last = model(turn, [Checkpoint(folder / "checkpoint", resume=True)]).fit(X, y)
    assert bits(last) == expected[turn % len(TURNS)], "the fit that was taken up went elsewhere"
    found["turns done"] = turn
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = run(given.kills, Path(folder), given.seed)
    print(f"{given.kills} kills in {time.perf_counter() - began:.0f} s: {dict(found)}")


if __name__ == "__main__":
    main()
