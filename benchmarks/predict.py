"""Prediction with identical weights: whole batches, and one row at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from argmax import LinearClassifier

from . import data
from .common import (
    Check,
    Options,
    Outcome,
    Side,
    median,
    note_ratio,
    per_call,
    progress,
    say,
    spread,
    table,
    verdict,
)
from .data import Table
from .peers import blas_threads
from .race import Case, quietly

SETS = {"mnist": 0.01, "20news": 1.0}  # data set: C of the fit that the weights come from
BATCH_FLOOR = 2.0
ROW_FLOOR = 50.0  # microseconds
ROUNDS = 9

EXPLANATION = f"""\
The same weights in both: ours, put into a LogisticRegression. Batch: predict on the whole test set. One row:
its class by row_scorer() (a dense row, or the positions and values of a sparse one) against scikit-learn's
predict on a table of one row. Each library has a process of its own, as its users have it, and they take
turns. scikit-learn's BLAS gets all threads or one, whichever is faster. Medians of {ROUNDS} rounds."""

Calls = dict[str, Callable[[], Any]]
SIDES = "argmax", "scikit-learn"


def run(options: Options) -> Outcome:
    outcome = Outcome("predict")
    if why := data.missing():
        say(f"Left out: {why}")
        return outcome
    say(EXPLANATION)
    rows = []
    for name in [name for name in SETS if not options.data or name in options.data]:
        progress(name)
        with Side(_prepare, options, name) as ours, Side(_prepare, options, name) as theirs:
            sides = dict(zip(SIDES, (ours, theirs), strict=True))
            for number, (what, floor) in enumerate(ours.ask(_described)):
                rounds = 3 if options.quick else ROUNDS
                calls = {who: partial(side.ask, _timed, number, who) for who, side in sides.items()}
                taken: dict[str, list[float]] = {who: [] for who in calls}
                for _, (who, call) in product(range(rounds), calls.items()):
                    taken[who].append(call())
                rows.append(_row(what, taken))
                outcome.figures.append({"what": what, "seconds": taken})
                outcome.checks.append(_check(what, taken, floor))
    columns = ["", "argmax µs", "range", "scikit-learn µs", "range", "peer/us"]
    table("Prediction, microseconds a call", columns, rows)
    return outcome


_work: list[tuple[str, Calls, float | None]] = []  # of a side's process


def _prepare(options: Options, name: str) -> None:
    source = data.load(name, options.quick)
    _work[:] = workloads(source, *models(source, SETS[name], options.threads))
    threadpool_limits(_peer_threads(source, options.threads), user_api="blas")


def _described() -> list[tuple[str, float | None]]:
    return [(what, floor) for what, _, floor in _work]


def _timed(number: int, who: str) -> float:
    """Seconds of one call, of a round of many."""
    return per_call({who: _work[number][1][who]}, 1)[who][0]


def models(source: Table, C: float, threads: int) -> tuple[Any, Any]:
    """A fit of ours, and scikit-learn's estimator with its weights."""
    with quietly():
        ours = LinearClassifier(C=C, tol=1e-2, n_threads=threads).fit(source.X, source.y)
    theirs = LogisticRegression()
    theirs.classes_, theirs.n_features_in_ = ours.classes_, source.X.shape[1]
    theirs.coef_, theirs.intercept_ = ours.coef_.copy(), ours.intercept_.copy()
    return ours, theirs


def workloads(source: Table, ours: Any, theirs: Any) -> list[tuple[str, Calls, float | None]]:
    """(what, who → call, floor of the ratio; None: the floor is in microseconds)."""
    X, scorer, classes = source.X_test, ours.row_scorer(), ours.classes_
    dense = isinstance(X, np.ndarray)
    kind = "dense" if dense else "sparse"
    one = X[:1]
    row, indices, values = (X[0], None, None) if dense else (None, one.indices, one.data)

    def answer() -> Any:
        scores = scorer(row) if dense else scorer.sparse(indices, values)
        return classes[scores.argmax()]

    _agree(f"{source.name} batch", ours.predict(X), theirs.predict(X))
    _agree(f"{source.name} one row", [answer()], theirs.predict(one))
    batch: Calls = {"argmax": lambda: ours.predict(X), "scikit-learn": lambda: theirs.predict(X)}
    single: Calls = {"argmax": answer, "scikit-learn": lambda: theirs.predict(one)}
    size = " × ".join(map(str, X.shape))
    return [
        (f"{source.name} {kind} batch {size}", batch, BATCH_FLOOR),
        (f"{source.name} {kind} one row", single, None),
    ]


def _agree(what: str, ours: Any, theirs: Any) -> None:
    """Scores are summed in different orders, so ties may fall differently; nothing else may."""
    differ = int((np.asarray(ours) != np.asarray(theirs)).sum())
    if differ > 1e-3 * len(theirs):
        raise RuntimeError(
            f"{what}: {differ} of {len(theirs)} answers differ with the same weights."
        )
    if differ:
        say(f"{what}: {differ} of {len(theirs)} answers differ (ties).")


def _peer_threads(source: Table, threads: int) -> int:
    labels = np.arange(source.X_test.shape[0]) % source.k
    return blas_threads(Case(Table(source.name, source.X_test, labels), 1.0), threads)


def _row(what: str, taken: dict[str, list[float]]) -> list[str]:
    cells = [what]
    for name in ("argmax", "scikit-learn"):
        micro = [1e6 * seconds for seconds in taken[name]]
        cells += [f"{median(micro):.4g}", spread(micro)]
    return [*cells, note_ratio(median(taken["scikit-learn"]) / median(taken["argmax"]))]


def _check(what: str, taken: dict[str, list[float]], floor: float | None) -> Check:
    ours, theirs = median(taken["argmax"]), median(taken["scikit-learn"])
    ratio = theirs / ours
    if floor is not None:
        return Check(what, note_ratio(ratio), f"{floor:g}×", verdict(ratio, floor))
    micro = 1e6 * ours
    decision = "peer wins" if ratio < 1 else "met" if micro < ROW_FLOOR else "not met"
    figure = f"{micro:.3g} µs; {note_ratio(ratio)} of scikit-learn"
    return Check(what, figure, f"< {ROW_FLOOR:g} µs", decision)
