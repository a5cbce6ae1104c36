"""Crammer and Singer's SVM: seconds to the same quality of the same objective as LIBLINEAR's ``-s 4``.

Quality is relative suboptimality, (F − F*)/F* with F* the lowest value that anybody finds, the intercept
penalised as LIBLINEAR does. Both sides are charged whole fits: at the loosest ``tol`` of a sweep whose final
objective meets the target, taken in turn. LIBLINEAR has one thread; we have one, then all. Its face is
scikit-learn's LinearSVC or its own package, whichever is faster on a fifth of the rows.
"""

from __future__ import annotations

import gc
import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn.svm import LinearSVC

from argmax import MulticlassSVM

from . import data
from .common import Check, Options, Outcome, note_ratio, progress, say, table, verdict
from .data import Table
from .race import quietly

TARGETS = (1e-3, 1e-4, 1e-5)
PROBLEMS = {"20news": 1.0, "clinc150": 1.0, "mnist": 0.01, "letter": 1.0}
"""Data sets and the C of each."""

FLOORS = {"20news": 2.0}
"""What is promised at every target on one thread; 1 elsewhere. On all threads: THREADED everywhere."""

THREADED = 2.0
ROUNDS = 3
LIMIT = 20.0
"""Seconds after which a sweep ends. A fit of LIBLINEAR cannot be cut (it ignores ``max_iter``)."""


@dataclass
class Fitted:
    """Where a fit ended."""

    coef: Any  # (k, d)
    intercept: Any  # (k,)


class Side(ABC):
    """One side: fits over a sweep of tol, from loose to tight."""

    name: str
    tols: tuple[float, ...]

    def __init__(self, rows: Table, C: float) -> None:
        self.rows, self.C = rows, C
        self.times: dict[float, list[float]] = {}
        self.values: dict[float, float] = {}

    @abstractmethod
    def solve(self, tol: float) -> Fitted:
        """A whole fit that stops at this tol."""

    def fit(self, tol: float) -> float:
        """Seconds of one fit."""
        gc.collect()
        with quietly():
            began = time.perf_counter()
            found = self.solve(tol)
            seconds = time.perf_counter() - began
        self.times.setdefault(tol, []).append(seconds)
        self.values[tol] = objective(self.rows, self.C, found)
        return seconds

    def sweep(self, limit: float, best: float) -> None:
        """Every tol once, until one takes longer than the limit or ends at F ≤ best."""
        for tol in self.tols:
            progress(f"{self.rows.name}: {self.name}, tol = {tol:.0e}")
            if self.fit(tol) > limit or self.values[tol] <= best:
                break

    def reach(self, value: float) -> tuple[float | None, float]:
        """The loosest tol that ends at F ≤ value, and the median of its seconds."""
        good = [tol for tol, found in self.values.items() if found <= value]
        if not good:
            return None, math.inf
        return max(good), float(np.median(self.times[max(good)]))


@final
class Ours(Side):
    """MulticlassSVM with solver="auto". The bits are the same for any number of threads."""

    tols = tuple(10.0 ** (-i / 4) for i in range(8, 27))

    def __init__(self, rows: Table, C: float, threads: int) -> None:
        super().__init__(rows, C)
        self.threads = threads
        self.name = f"argmax, {threads} thread" + "s" * (threads > 1)

    def solve(self, tol: float) -> Fitted:
        model = MulticlassSVM(
            C=self.C, tol=tol, n_threads=self.threads, max_iter=100_000, time_limit=5 * LIMIT
        )
        model.fit(self.rows.X, self.rows.y)
        return Fitted(model.coef_, model.intercept_)


class Theirs(Side):
    """LIBLINEAR's ``-s 4``, by one of its faces."""

    tols = tuple(10.0 ** (-i / 4) for i in range(2, 17))


@final
class ScikitLearn(Theirs):
    """Its copy in scikit-learn."""

    name = "LinearSVC"

    def solve(self, tol: float) -> Fitted:
        model = LinearSVC(multi_class="crammer_singer", C=self.C, tol=tol, random_state=0)
        model.fit(self.rows.X, self.rows.y)
        return Fitted(model.coef_, model.intercept_)


@final
class Official(Theirs):
    """Its own package."""

    name = "liblinear"

    def solve(self, tol: float) -> Fitted:
        flags = f"-s 4 -c {self.C} -e {tol} -B 1 -q"
        return Fitted(*liblinear(self.rows.X, self.rows.y, flags))


def liblinear(X: Any, y: Any, flags: str) -> tuple[Any, Any]:
    """A fit by LIBLINEAR's own package with -B 1: coef (k, d) and intercept (k,).

    Two classes have (1, d) and (1,), the score of the second, but for -s 4.
    """
    from liblinear.liblinearutil import train
    from scipy.sparse import csr_matrix

    found = train(y, csr_matrix(X), flags)
    k, order = found.get_nr_class(), np.argsort(found.get_labels())
    width = 1 if k == 2 and found.param.solver_type != 4 else k
    W = np.ctypeslib.as_array(found.w, ((X.shape[1] + 1) * width,)).reshape(-1, width)
    W = W[:, order] if width == k else W * (1.0 if order[0] == 1 else -1.0)
    return W[:-1].T.copy(), W[-1].copy()


def faster(rows: Table, C: float) -> Theirs:
    """The faster face of LIBLINEAR, on a fifth of the rows."""
    few = replace(rows, X=rows.X[::5], y=np.unique(rows.y[::5], return_inverse=True)[1])
    faces: list[type[Theirs]] = [ScikitLearn]
    try:
        import liblinear  # noqa: F401

        faces.append(Official)
    except ImportError:
        say("Left out: LIBLINEAR's own package. pip install liblinear-official")
    times = [min(face(few, C).fit(0.1) for _ in range(2)) for face in faces]
    say(", ".join(f"{face.name} {t:.3g} s" for face, t in zip(faces, times, strict=True)))
    return faces[int(np.argmin(times))](rows, C)


def objective(rows: Table, C: float, found: Fitted) -> float:
    """F in plain NumPy."""
    scores = rows.X @ found.coef.T + found.intercept
    own = scores[np.arange(len(scores)), rows.y]
    scores += 1.0
    scores[np.arange(len(scores)), rows.y] = own
    loss = float((scores.max(axis=1) - own).sum())
    penalty = 0.5 * float((found.coef**2).sum() + (found.intercept**2).sum())
    return C * loss + penalty


def run(options: Options) -> Outcome:
    outcome = Outcome("svm")
    if why := data.missing():
        say(f"Left out: {why}")
        return outcome
    say(f"{(__doc__ or '').strip()}\n")
    for name in [known for known in options.data or PROBLEMS if known in PROBLEMS]:
        rows, C = data.load(name, options.quick), PROBLEMS[name]
        crews = sorted({1, options.threads})
        ours, theirs = [Ours(rows, C, threads) for threads in crews], faster(rows, C)
        best = hold(ours, theirs, options)
        show(rows, ours, theirs, best, outcome)
    return outcome


def hold(ours: list[Ours], theirs: Theirs, options: Options) -> float:
    """Sweeps, then what they chose again, in turn; the lowest F that anybody finds."""
    limit = options.limit or (1.0 if options.quick else LIMIT)
    for side in ours:
        side.fit(1e-2)  # compiles
        side.times.clear()
    ours[0].sweep(limit, -math.inf)
    best = min(ours[0].values.values())
    theirs.sweep(limit, best * (1.0 + min(TARGETS)))
    best = min(best, *theirs.values.values())
    for _ in range(1, ROUNDS):
        for side in (*ours, theirs):
            # Threads change no bits: what one of them chose serves all.
            like = ours[0] if isinstance(side, Ours) else side
            chosen = {like.reach(best * (1.0 + target))[0] for target in TARGETS}
            for tol in sorted(tol for tol in chosen if tol is not None):
                side.fit(tol)
    return best


def show(rows: Table, ours: list[Ours], theirs: Theirs, best: float, outcome: Outcome) -> None:
    lines: list[list[str]] = []
    figures: dict[str, Any] = {"case": rows.name, "optimum": best, "rows": rows.describe()}
    for target in TARGETS:
        peer = theirs.reach(best * (1.0 + target))[1]
        line = [f"{target:g}", f"{peer:.3g}"]
        figures[f"{target:g}"] = {theirs.name: peer}
        for side in ours:
            seconds = side.reach(best * (1.0 + target))[1]
            text, check = judged(rows.name, target, side, seconds, theirs, peer)
            line += [f"{seconds:.3g}", text]
            outcome.checks.append(check)
            figures[f"{target:g}"][side.name] = seconds
        lines.append(line)
    columns = [column for side in ours for column in (f"{side.name}, s", "ratio")]
    title = f"{rows.name}   {rows.describe()}"
    table(title, ["(F−F*)/F*", f"{theirs.name}, s", *columns], lines)
    outcome.figures.append(figures)


def judged(
    name: str, target: float, side: Ours, seconds: float, theirs: Theirs, peer: float
) -> tuple[str, Check]:
    """The ratio in words, and what was promised; a peer that never got there took longer than any fit."""
    bound = math.isinf(peer) and math.isfinite(seconds)
    longest = max(times[-1] for times in theirs.times.values())
    ratio = (longest if bound else peer) / seconds if math.isfinite(seconds) else 0.0
    text = f"> {ratio:.3g}×" if bound else note_ratio(ratio)
    floor = FLOORS.get(name, 1.0) if side.threads == 1 else THREADED
    what = f"{name} at {target:g}, {side.threads} thread" + "s" * (side.threads > 1)
    return text, Check(what, text, f"{floor:g}×", verdict(ratio, floor, bound))
