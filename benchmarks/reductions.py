"""Reductions to binary problems: solved together against scikit-learn's one by one, and what each costs.

The peers are ``OneVsRestClassifier`` and ``OutputCodeClassifier`` over ``LogisticRegression`` with the same C
and code: the same penalised binary problems, one after another; the first of them also over our own base. All
run with their default tolerance. Speed counts only at equal objective: the mean of the binary objectives at
our weights must not exceed theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier

from argmax import LinearClassifier, OneVsOne, OneVsRest, OutputCode

from .common import (
    Check,
    Options,
    Outcome,
    in_turn,
    median,
    note_ratio,
    progress,
    say,
    table,
    verdict,
)
from .data import Table, load, missing
from .race import quietly

SETS = {"20news": 1.0, "clinc150": 1.0, "letter": 1.0, "mnist": 0.01}
"""Data sets and their C."""

FLOOR = 3.0
"""How much faster together must be."""

CLASSES = (4, 8, 16, 26)
"""Classes of the letters that the cost of one-vs-rest and one-vs-one is measured on."""


@dataclass(frozen=True)
class Duel:
    """One reduction on one data set: what to run on both sides, and how to judge it."""

    name: str
    source: Table
    C: float
    ours: Any
    theirs: Any

    def bits(self, fitted: Any) -> Any:
        """±1 for every row and problem (n, L)."""
        if isinstance(fitted, OneVsRestClassifier):
            return np.where(self.source.y[:, None] == np.arange(self.source.k), 1, -1)
        code = fitted.code_ if isinstance(fitted, OneVsRest | OutputCode) else fitted.code_book_
        return np.asarray(code)[self.source.y]

    def objective(self, fitted: Any) -> float:
        """The mean of the binary objectives, in plain NumPy."""
        if isinstance(fitted, OneVsRest | OutputCode):
            coef, intercept = fitted.coef_, fitted.intercept_
        else:
            coef = np.vstack([model.coef_[0] for model in fitted.estimators_])
            intercept = np.array([model.intercept_[0] for model in fitted.estimators_])
        scores = self.source.X @ coef.T + intercept
        losses = np.logaddexp(0.0, -self.bits(fitted) * scores).sum()
        return float((self.C * losses + 0.5 * (coef * coef).sum()) / len(coef))


def run(options: Options) -> Outcome:
    """Both parts; promises only for the first."""
    outcome = Outcome("reductions")
    if reason := missing():
        say(reason)
        return outcome
    names = [name for name in SETS if not options.data or name in options.data]
    rows = []
    for name in names:
        for duel in _duels(load(name, options.quick), SETS[name], options.threads):
            progress(f"{name}: {duel.name}")
            rows.append(_fought(duel, outcome, 1 if options.quick else 3))
    table(
        "Binary problems together, against scikit-learn's one by one",
        ["what", "problems", "argmax s", "scikit-learn s", "ratio", "mean objectives"],
        rows,
    )
    if not options.data or "letter" in options.data:
        _costs(load("letter", options.quick), outcome)
    return outcome


def _duels(source: Table, C: float, threads: int) -> list[Duel]:
    base, peer = LinearClassifier(C=C, n_threads=threads), LogisticRegression(C=C, max_iter=1000)
    rest = Duel("one-vs-rest", source, C, OneVsRest(base), OneVsRestClassifier(peer))
    same = Duel("one-vs-rest, our base", source, C, OneVsRest(base), OneVsRestClassifier(base))
    if source.name in ("clinc150", "mnist"):
        return [rest, same]  # minutes of scikit-learn, for the same story
    theirs = OutputCodeClassifier(peer, code_size=1.5, random_state=0)
    drawn = np.random.RandomState(0).uniform(
        size=(source.k, int(1.5 * source.k))
    )  # as they draw it
    ours = OutputCode(base, code=np.where(drawn > 0.5, 1, -1))
    return [rest, same, Duel("output code", source, C, ours, theirs)]


def _fought(duel: Duel, outcome: Outcome, rounds: int) -> list[str]:
    X, y, fitted = duel.source.X, duel.source.y, {}

    def fit(name: str, model: Any) -> Any:
        def once() -> None:
            with quietly():
                fitted[name] = model.fit(X, y)

        return once

    entries = {"ours": fit("ours", duel.ours), "theirs": fit("theirs", duel.theirs)}
    entries["ours"]()  # compiled once, as everybody's library is
    seconds = {name: median(taken) for name, taken in in_turn(entries, rounds).items()}
    values = {name: duel.objective(model) for name, model in fitted.items()}
    ratio = seconds["theirs"] / seconds["ours"]
    what = f"{duel.source.name}, {duel.name}"
    fair = values["ours"] <= values["theirs"] * (1 + 1e-5)
    decision = verdict(ratio, FLOOR) if fair else "not met"
    outcome.checks.append(Check(what, note_ratio(ratio), f"{FLOOR:g}×", decision))
    outcome.figures.append({"what": what, "seconds": seconds, "objectives": values})
    problems = str(len(fitted["ours"].coef_))
    cells = [f"{seconds[name]:.3g}" for name in ("ours", "theirs")]
    return [
        what,
        problems,
        *cells,
        note_ratio(ratio),
        f"{values['ours']:.6g}, {values['theirs']:.6g}",
    ]


def _costs(letters: Table, outcome: Outcome) -> None:
    """k fits on n rows against k(k − 1)/2 fits on 2n/k rows each, the same base: one by one, and together."""
    base, rows = LinearClassifier(), []
    for k in CLASSES:
        some = letters.y < k
        X, y = letters.X[some], letters.y[some]
        models = {
            "rest": OneVsRest(base, together=False),
            "pairs": OneVsOne(base, together=False),
            "rest together": OneVsRest(base),
            "pairs together": OneVsOne(base),
        }
        with quietly():
            fits = in_turn({name: partial(model.fit, X, y) for name, model in models.items()}, 1)
        answers = in_turn({name: partial(model.predict, X) for name, model in models.items()}, 3)
        cells = [f"{fits[name][0]:.3g}" for name in models]
        cells += [f"{1e6 * median(answers[name]) / len(X):.3g}" for name in ("rest", "pairs")]
        rows.append([str(k), str(len(X)), f"{k} / {k * (k - 1) // 2}", *cells])
        outcome.figures.append({"what": f"cost, k = {k}", "fit": fits, "predict": answers})
    columns = ["k", "rows", "fits", "rest s", "pairs s", "rest together s", "pairs together s"]
    columns += ["predict rest µs", "predict pairs µs"]
    table("What one-vs-rest and one-vs-one cost on letters", columns, rows)
