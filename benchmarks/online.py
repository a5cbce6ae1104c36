"""Online learners: seconds an epoch, and accuracy after the same number of epochs.

Whole fits of EPOCHS epochs, divided by their number: input checks and setup are in ours and in theirs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron, SGDClassifier

from argmax import LinearClassifier, MulticlassPerceptron

from . import data
from .common import (
    Check,
    Options,
    Outcome,
    median,
    note_ratio,
    progress,
    say,
    spread,
    table,
    verdict,
)
from .data import Table
from .race import quietly

EPOCHS = 10
ROUNDS = 3
SETS = ("clinc150", "20news", "mnist", "letter")
POINTS = {
    "clinc150": 2.0,
    "20news": 0.0,
    "mnist": 2.0,
    "letter": 2.0,
}  # above Perceptron, in accuracy
PERCEPTRON_FLOOR, SGD_FLOOR = 3.0, 2.0
STRENGTHS = {"hinge": 3.0, "ovr_log": 10.0, "log": 10.0}  # C of each loss; λ = 1 / (n C)
NAMES = {"hinge": "hinge", "ovr_log": "log_loss", "log": "log_loss"}  # what SGDClassifier has
EQUAL = 0.005  # accuracies that differ by less are called equal

EXPLANATION = f"""\
Whole fits of {EPOCHS} epochs in processor seconds, divided by {EPOCHS}; kernels are compiled before.
averaged perceptron: MulticlassPerceptron(), against scikit-learn's Perceptron, which is one-vs-rest.
by sgd: solver="sgd", calibration and certificates included, against SGDClassifier with the same λ, plain and
averaged, which is one-vs-rest: ovr_log is its own loss; hinge and log are ours over all labels. Accuracy on
the published test rows (letter: the last 4000).
Medians of {ROUNDS} rounds taken in turn."""


@dataclass(frozen=True)
class Contest:
    """Ours against theirs on one data set: (name, a fresh estimator) each."""

    what: str
    ours: Callable[[], Any]
    theirs: dict[str, Callable[[], Any]]
    floor: float


def run(options: Options) -> Outcome:
    outcome = Outcome("online")
    if why := data.missing():
        say(f"Left out: {why}")
        return outcome
    say(EXPLANATION)
    for name in [name for name in options.data or SETS if name in SETS]:
        progress(name)
        source = split(data.load(name, options.quick))
        for contest in contests(source):
            measured = hold(contest, source, 1 if options.quick else ROUNDS)
            show(source, contest, measured)
            outcome.figures.append({"set": name, "what": contest.what, "measured": measured})
            outcome.checks += promises(name, contest, measured)
    return outcome


def split(source: Table) -> Table:
    """The set with test rows; letter's are its last fifth, as its authors have it."""
    if source.y_test is not None:
        return source
    n = len(source.y) * 4 // 5
    return replace(source, X=source.X[:n], y=source.y[:n], X_test=source.X[n:], y_test=source.y[n:])


def contests(source: Table) -> list[Contest]:
    perceptron = Contest(
        "averaged perceptron",
        lambda: MulticlassPerceptron(max_iter=EPOCHS),
        {"Perceptron": lambda: Perceptron(max_iter=EPOCHS, tol=None, random_state=0)},
        PERCEPTRON_FLOOR,
    )
    if isinstance(source.X, np.ndarray):
        return [perceptron]
    return [perceptron, *(descent(loss, C, len(source.y)) for loss, C in STRENGTHS.items())]


def descent(loss: str, C: float, n: int) -> Contest:
    """The same loss and λ by stochastic gradients."""

    def theirs(average: bool) -> Callable[[], Any]:
        options = {"alpha": 1.0 / (n * C), "max_iter": EPOCHS, "tol": None, "random_state": 0}
        return lambda: SGDClassifier(loss=NAMES[loss], average=average, **options)

    return Contest(
        f"{loss} by sgd",
        lambda: LinearClassifier(loss, C=C, solver="sgd", max_iter=EPOCHS, tol=1e-9),
        {"SGDClassifier": theirs(False), "SGDClassifier, averaged": theirs(True)},
        SGD_FLOOR,
    )


Measured = dict[str, tuple[list[float], float]]
"""By name: seconds an epoch in every round, and the accuracy."""


def hold(contest: Contest, source: Table, rounds: int) -> Measured:
    everybody = {"argmax": contest.ours, **contest.theirs}
    seconds: dict[str, list[float]] = {name: [] for name in everybody}
    accuracy = {}
    with quietly():
        contest.ours().fit(source.X, source.y)  # compiles
        for _ in range(rounds):
            for name, make in everybody.items():
                began = time.process_time()
                model = make().fit(source.X, source.y)
                epochs = min(int(model.n_iter_), EPOCHS)
                seconds[name].append((time.process_time() - began) / epochs)
                accuracy[name] = float(model.score(source.X_test, source.y_test))
    return {name: (seconds[name], accuracy[name]) for name in everybody}


def show(source: Table, contest: Contest, measured: Measured) -> None:
    ours = median(measured["argmax"][0])
    rows = []
    for name, (seconds, accuracy) in measured.items():
        ratio = "" if name == "argmax" else note_ratio(median(seconds) / ours)
        micro = [1e3 * second for second in seconds]
        rows.append([name, f"{median(micro):.4g}", spread(micro), ratio, f"{accuracy:.4f}"])
    columns = ["", "ms an epoch", "range", "peer/us", "accuracy"]
    table(f"{source.name} {contest.what}   {source.describe()}", columns, rows)


def promises(name: str, contest: Contest, measured: Measured) -> list[Check]:
    """Speed against the fastest peer; accuracy against the best one."""
    ours, accuracy = median(measured["argmax"][0]), measured["argmax"][1]
    peers = [measured[peer] for peer in contest.theirs]
    ratio = min(median(seconds) for seconds, _ in peers) / ours
    points = 100.0 * (accuracy - max(found for _, found in peers))
    wanted = POINTS[name] if contest.floor == PERCEPTRON_FLOOR else -100.0 * EQUAL
    what = f"{name} {contest.what}"
    return [
        Check(
            f"{what}, an epoch",
            note_ratio(ratio),
            f"{contest.floor:g}×",
            verdict(ratio, contest.floor),
        ),
        Check(
            f"{what}, accuracy",
            f"{points:+.1f} points",
            f"{wanted:+.1f}",
            "met" if points >= wanted else "not met" if points >= 0 else "peer wins",
        ),
    ]
