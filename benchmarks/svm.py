"""Crammer and Singer's SVM: seconds to the same quality of the same objective as LIBLINEAR's ``-s 4``.

Quality is relative suboptimality, (F − F*)/F* with F* the lowest value that anybody finds, the intercept
penalised as LIBLINEAR does. Both sides are charged whole fits: at the loosest ``tol`` of a sweep whose final
objective meets the target, taken in turn. Neither uses more than one thread.
"""

from __future__ import annotations

import gc
import math
import time
from abc import ABC, abstractmethod
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
"""What is promised at every target; 1 elsewhere."""

ROUNDS = 3
LIMIT = 120.0
"""Seconds for one run. A fit of LIBLINEAR cannot be cut (it ignores ``max_iter``): its sweep ends there."""


class Side(ABC):
    """One side: fits over a sweep of tol, from loose to tight."""

    name: str
    tols: tuple[float, ...]

    def __init__(self, rows: Table, C: float) -> None:
        self.rows, self.C = rows, C
        self.times: dict[float, list[float]] = {}
        self.values: dict[float, float] = {}

    @abstractmethod
    def model(self, tol: float) -> Any:
        """An estimator that stops at this tol."""

    def fit(self, tol: float) -> float:
        """Seconds of one fit."""
        model = self.model(tol)
        gc.collect()
        with quietly():
            began = time.perf_counter()
            model.fit(self.rows.X, self.rows.y)
            seconds = time.perf_counter() - began
        self.times.setdefault(tol, []).append(seconds)
        self.values[tol] = objective(self.rows, self.C, model)
        return seconds

    def sweep(self, limit: float) -> None:
        """Every tol once, until one takes longer than the limit."""
        for tol in self.tols:
            progress(f"{self.rows.name}: {self.name}, tol = {tol:.0e}")
            if self.fit(tol) > limit:
                break

    def reach(self, value: float) -> tuple[float | None, float]:
        """The loosest tol that ends at F ≤ value, and the median of its seconds."""
        good = [tol for tol, found in self.values.items() if found <= value]
        if not good:
            return None, math.inf
        return max(good), float(np.median(self.times[max(good)]))


@final
class Ours(Side):
    """MulticlassSVM with solver="auto"."""

    name = "argmax"
    tols = tuple(10.0 ** (-i / 2) for i in range(2, 15))

    def model(self, tol: float) -> Any:
        return MulticlassSVM(C=self.C, tol=tol, n_threads=1, max_iter=100_000, time_limit=LIMIT)


@final
class Theirs(Side):
    """scikit-learn's LinearSVC, which is LIBLINEAR's ``-s 4``."""

    name = "LinearSVC"
    tols = tuple(10.0 ** (-i / 2) for i in range(1, 9))

    def model(self, tol: float) -> Any:
        return LinearSVC(multi_class="crammer_singer", C=self.C, tol=tol, random_state=0)


def objective(rows: Table, C: float, model: Any) -> float:
    """F in plain NumPy."""
    scores = rows.X @ model.coef_.T + model.intercept_
    own = scores[np.arange(len(scores)), rows.y]
    scores += 1.0
    scores[np.arange(len(scores)), rows.y] = own
    loss = float((scores.max(axis=1) - own).sum())
    penalty = 0.5 * float((model.coef_**2).sum() + (model.intercept_**2).sum())
    return C * loss + penalty


def run(options: Options) -> Outcome:
    outcome = Outcome("svm")
    if why := data.missing():
        say(f"Left out: {why}")
        return outcome
    say(f"{(__doc__ or '').strip()}\n")
    for name in [known for known in options.data or PROBLEMS if known in PROBLEMS]:
        rows = data.load(name, options.quick)
        sides = Ours(rows, PROBLEMS[name]), Theirs(rows, PROBLEMS[name])
        hold(sides, options)
        show(rows, sides, outcome, FLOORS.get(name, 1.0))
    return outcome


def hold(sides: tuple[Side, Side], options: Options) -> None:
    """Sweeps, then what they chose again, in turn."""
    limit = options.limit or (1.0 if options.quick else LIMIT)
    for side in sides:
        side.fit(side.tols[0])  # compiles
        side.times.clear()
        side.sweep(limit)
    best = min(value for side in sides for value in side.values.values())
    for _ in range(1, ROUNDS):
        for side in sides:
            chosen = {side.reach(best * (1.0 + target))[0] for target in TARGETS}
            for tol in sorted(tol for tol in chosen if tol is not None):
                side.fit(tol)


def show(rows: Table, sides: tuple[Side, Side], outcome: Outcome, floor: float) -> None:
    best = min(value for side in sides for value in side.values.values())
    lines, figures = [], {"case": rows.name, "optimum": best, "rows": rows.describe()}
    for target in TARGETS:
        ours, theirs = (side.reach(best * (1.0 + target))[1] for side in sides)
        ratio = theirs / ours if math.isfinite(ours) else 0.0
        bound = math.isinf(theirs) and math.isfinite(ours)
        ratio = max(side[-1] for side in sides[1].times.values()) / ours if bound else ratio
        text = f"> {ratio:.3g}×" if bound else note_ratio(ratio)
        lines.append([f"{target:g}", f"{ours:.3g}", f"{theirs:.3g}", text])
        decision = verdict(ratio, floor, bound)
        outcome.checks.append(Check(f"{rows.name} at {target:g}", text, f"{floor:g}×", decision))
        figures[f"{target:g}"] = {"argmax": ours, "LinearSVC": theirs}
    table(
        f"{rows.name}   {rows.describe()}", ["(F−F*)/F*", "argmax s", "LinearSVC s", "ratio"], lines
    )
    outcome.figures.append(figures)
