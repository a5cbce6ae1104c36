"""Those who take part in ``tagging``; every run of theirs is a fresh process."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, final

from ..common import ROOT, child_environment
from ..race import Reach
from .data import Corpus

C2 = 1.0
C = 1.0 / (2.0 * C2)
EPOCHS = 10
LAST, NEAR, FAR = (
    1e-9,
    1e-6,
    300,
)  # tol and passes of the fit that goes far, to see where the optimum is
LONG = 10_000  # iterations: tol decides
TIGHTER = 0.6
TRIES = 8
MEMORIES = 20  # of CRFsuite's L-BFGS
LEAN = 6  # its default


def call(module: str, given: dict[str, Any], threads: int) -> dict[str, Any]:
    """What a fresh process has to say."""
    command = [sys.executable, "-m", f"benchmarks.tagging.{module}", json.dumps(given)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=child_environment(threads),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@dataclass(frozen=True)
class Size:
    """How large a corpus is, by our templates."""

    sentences: int
    tokens: int
    labels: int
    attributes: int
    pairs: int

    @property
    def weights(self) -> int:
        """With all transitions: what CRFsuite calls features."""
        return self.pairs + self.labels**2

    @property
    def zero(self) -> float:
        """f at w = 0."""
        return self.tokens * math.log(self.labels)

    def __str__(self) -> str:
        return (
            f"{self.sentences} sentences, {self.tokens} tokens, {self.labels} labels, "
            f"{self.attributes} attributes, {self.pairs} observed pairs"
        )


def size(corpus: Corpus) -> Size:
    """Counted with NumPy, from the rows that the templates give."""
    import numpy as np

    from argmax import data, features

    tokens = data.open_conll(corpus.train, columns=corpus.columns).read()
    templates = features.Templates(list(corpus.recipe.templates), outside=corpus.recipe.outside)
    rows = templates.fit_transform(tokens).rows
    labels, codes = np.unique(tokens.column(corpus.columns[-1]).tolist(), return_inverse=True)
    k = len(labels)
    seen = np.zeros(rows.shape[1] * k, np.bool_)
    seen[rows.indices.astype(np.int64) * k + np.repeat(codes, np.diff(rows.indptr))] = True
    return Size(len(tokens), tokens.size, k, rows.shape[1], int(seen.sum()))


# Those who take part


@final
class Ours:
    """SequenceTagger, whole fits. The first goes far and shows which tol ends where."""

    def __init__(self, corpus: Corpus, size: Size, threads: int) -> None:
        self.corpus, self.size, self.threads = corpus, size, threads
        self.best, self.way = math.inf, list[tuple[float, float, float]]()
        self.tols: dict[str, float] = {}  # by target
        self.runs: dict[tuple[int, float], list[dict[str, Any]]] = {}  # by threads and tol
        self.perceptrons: list[dict[str, Any]] = []

    def explore(self, tol: float) -> None:
        told = self._fit(self.threads, tol, FAR)
        self.way = [(seconds, value, gap) for seconds, value, gap in told["curve"]]
        self.best = min(told["value"], *(value for _, value, _ in self.way))

    def aim(self, target: str, value: float) -> None:
        """Find a tol at which a fit ends at f ≤ value; the first fit says where to look."""
        reached = (gap for _, f, gap in self.way if f <= value and math.isfinite(gap))
        tol = next(reached, LAST * self.size.zero) / self.size.zero
        for _ in range(TRIES):
            if self.run(self.threads, tol) <= value:
                self.tols[target] = tol
                return
            tol *= TIGHTER

    def run(self, threads: int, tol: float) -> float:
        """One more fit; the value it ends at."""
        told = self._fit(threads, tol, LONG)
        self.runs.setdefault((threads, tol), []).append(told)
        self.best = min(self.best, told["value"])
        return float(told["value"])

    def reach(self, target: str, threads: int) -> Reach:
        return Reach(tuple(told["seconds"] for told in self.told(target, threads)))

    def told(self, target: str, threads: int) -> list[dict[str, Any]]:
        return self.runs.get((threads, self.tols.get(target, math.nan)), [])

    def perceptron(self, rounds: int) -> None:
        given = {"loss": "perceptron", "max_iter": EPOCHS, "rounds": rounds}
        self.perceptrons.append(self._call(given, self.threads))

    def _fit(self, threads: int, tol: float, max_iter: int) -> dict[str, Any]:
        return self._call({"loss": "log", "C": C, "tol": tol, "max_iter": max_iter}, threads)

    def _call(self, given: dict[str, Any], threads: int) -> dict[str, Any]:
        corpus = self.corpus
        about = {
            "train": str(corpus.train),
            "test": str(corpus.test),
            "few": str(corpus.few),
            "columns": corpus.columns,
            "templates": corpus.recipe.templates,
            "outside": corpus.recipe.outside,
            "threads": threads,
        }
        return call("ours", {**about, **given}, threads)


@final
class Peer:
    """CRFsuite or Wapiti."""

    def __init__(self, name: str, corpus: Corpus, threads: int) -> None:
        self.name, self.corpus, self.threads = name, corpus, threads
        self.runs: list[dict[str, Any]] = []
        self.perceptrons: list[dict[str, Any]] = []
        self.limit, self.grown = math.inf, math.nan

    @property
    def best(self) -> float:
        return min((value for run in self.runs for _, value in run["curve"]), default=math.inf)

    def run(self, below: float, limit: float) -> None:
        """L-BFGS until f ≤ below."""
        self.limit = min(self.limit, limit)
        given = {"what": "lbfgs", "c2": C2, "memories": MEMORIES, "below": below, "limit": limit}
        self.runs.append(self._call(given))
        self.grown = self.runs[-1]["grown"]

    def weigh(self) -> None:
        """Megabytes grown by L-BFGS: for CRFsuite with its default of memories, in as many iterations."""
        if self.name == "CRFsuite":
            given = {"what": "lbfgs", "c2": C2, "memories": LEAN, "below": 0.0, "limit": math.inf}
            self.grown = min(self.grown, self._call({**given, "most": 2 * LEAN})["grown"])

    def perceptron(self, rounds: int) -> None:
        given = {"what": "perceptron", "epochs": EPOCHS, "rounds": rounds}
        self.perceptrons.append(self._call({**given, "below": -1.0, "limit": math.inf}))

    def reach(self, value: float) -> Reach:
        firsts = (next((s for s, f in run["curve"] if f <= value), None) for run in self.runs)
        times = tuple(seconds for seconds in firsts if seconds is not None)
        cut = any(run["cut"] for run in self.runs)
        return Reach(times, self.limit if cut and not times else None)

    def _call(self, given: dict[str, Any]) -> dict[str, Any]:
        corpus = self.corpus
        about = {
            "train": str(corpus.train),
            "test": str(corpus.test),
            "recipe": corpus.recipe.name,
            "separator": corpus.separator,
            "threads": self.threads,
        }
        return call(self.name.lower(), {**about, **given}, self.threads)
