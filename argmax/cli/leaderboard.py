"""What ``argmax compare`` says: every method on the same rows, the best first."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from .. import decisions, metrics
from ..decisions import Decisions
from ..metrics import Interval
from ..records import Floats
from .console import Console, count, seconds
from .contest import Contender
from .entrants import REDUCTIONS

__all__ = ["BY", "Exam", "Leaderboard", "Standing"]

BY = {"log-loss": "log-loss", "accuracy": "accuracy", "f1": "macro-F1", "cost": "cost"}
"""Scores as they are typed, and as they are called in the table."""

MORE_IS_BETTER = ("accuracy", "f1")

FEW = 30
"""Rows below which nothing is called worse than the best: resampling so few says too much."""

TIMED = 0.2
"""Seconds for which answers are timed."""


@final
@dataclass(frozen=True, slots=True)
class Exam:
    """Rows to judge by, their truth, and what actions cost: (k, a), a row for each class."""

    X: Any
    truth: Any
    classes: list[str]
    actions: list[str]
    cost: Floats


@final
class Standing:
    """What a contender is worth on the rows of an exam."""

    def __init__(self, contender: Contender, exam: Exam) -> None:
        self.contender, self.exam = contender, exam
        self.name = contender.entrant.name
        self.answer = contender.model.predict(exam.X)
        self.p = contender.probabilities(exam.X)
        self.microseconds = 1e6 * _quickest(contender.model.predict, exam.X) / len(exam.truth)

    @cached_property
    def decided(self) -> Decisions:
        """The action of the least expected cost for every row."""
        return decisions.decide(
            self.p, self.exam.cost, self.exam.classes, actions=self.exam.actions
        )

    @cached_property
    def scores(self) -> dict[str, Interval]:
        """Every score with its interval."""
        truth, classes = self.exam.truth, self.exam.classes
        return {
            "log-loss": metrics.interval(metrics.log_loss, truth, self.p, classes=classes),
            "accuracy": metrics.interval(metrics.accuracy, truth, self.answer),
            "f1": metrics.interval(metrics.f1, truth, self.answer),
            "cost": decisions.realised_cost(truth, self.decided, self.exam.cost, classes),
        }

    def behind(self, best: Standing, by: str) -> Interval:
        """How much worse it is than the best on the same rows, resampled together; never below 0."""
        truth, classes = self.exam.truth, self.exam.classes
        if by == "cost":
            return decisions.saving(truth, best.decided, self.decided, self.exam.cost, classes)
        if by == "log-loss":
            return metrics.difference(metrics.log_loss, truth, self.p, best.p, classes=classes)
        score = metrics.accuracy if by == "accuracy" else metrics.f1
        return metrics.difference(score, truth, best.answer, self.answer)


def _quickest(answer: Callable[[Any], Any], X: Any) -> float:
    """Seconds of the quickest of some calls."""
    began, best = time.perf_counter(), np.inf
    while time.perf_counter() - began < TIMED:
        start = time.perf_counter()
        answer(X)
        best = min(best, time.perf_counter() - start)
    return float(best)


@final
class Leaderboard:
    """All standings in order, and what was left out and why."""

    def __init__(self, standings: list[Standing], left_out: dict[str, str], by: str) -> None:
        sign = -1.0 if by in MORE_IS_BETTER else 1.0
        self.by, self.left_out = by, left_out
        self.standings = sorted(standings, key=lambda one: sign * one.scores[by].value)
        self.best = self.standings[0]
        self.behind = {one.name: one.behind(self.best, by) for one in self.standings[1:]}

    def is_worse(self, one: Standing) -> bool:
        """Whether these rows tell it from the best."""
        behind = self.behind.get(one.name)
        return behind is not None and behind.distinguishable and len(one.exam.truth) >= FEW

    # For people

    def show(self, console: Console, about: dict[str, Any], costs: str | None) -> None:
        """The table, the intervals, what the words in it mean, and what to type next."""
        rows, learned = len(self.best.exam.truth), about["rows_learned"]
        console.say(
            f"{about['data']}: {about['target']!r} ({count(len(self.best.exam.classes), 'class')}) from "
            f"{count(about['features'], 'feature')}; {learned:,} rows to learn from, {rows:,} to judge by."
        )
        console.heading(f"Every method on the same {rows:,} rows, which none has seen")
        self._table(console)
        self._gaps(console)
        console.heading("95 % intervals")
        self._intervals(console)
        console.heading("Methods")
        console.facts({one.name: one.contender.entrant.what for one in self.standings})
        console.heading("How to read it")
        self._explain(console, learned, costs)
        console.heading("Next")
        self._next(console, about)

    def _table(self, console: Console) -> None:
        """Scores and what they cost, in one table, or in a narrow window in two."""
        heads, prices = [f">{name}" for name in BY.values()], [">fit", ">µs/row", ">size"]
        heads.insert(1 + list(BY).index(self.by), "against the best")
        scored = [[one.name, *self._scored(one)] for one in self.standings]
        priced = [_priced(one) for one in self.standings]
        if console.narrow:
            console.table(["method", *heads], scored)
            console.heading("What they cost")
            names = [[one.name] for one in self.standings]
            console.table(["method", *prices], [a + b for a, b in zip(names, priced, strict=True)])
        else:
            rows = [a + b for a, b in zip(scored, priced, strict=True)]
            console.table(["method", *heads, *prices], rows)

    def _scored(self, one: Standing) -> list[str]:
        cells = [f"{one.scores[score].value:.4f}" for score in BY]
        cells.insert(1 + list(BY).index(self.by), self._verdict(one))
        return cells

    def _gaps(self, console: Console) -> None:
        """What the table does not have, or not to the end."""
        if (rows := len(self.best.exam.truth)) < FEW:
            console.say(f"{count(rows, 'row')} to judge by: too few to tell methods apart.")
        for one in self.standings:
            if why := one.contender.unfinished:
                console.say(f"{one.name} stopped before its optimum ({why}).")
        for name, reason in self.left_out.items():
            console.say(f"Left out: {name}, {reason}.", indent=4)

    def _verdict(self, one: Standing) -> str:
        if one is self.best:
            return "best"
        return "worse" if self.is_worse(one) else "not distinguishable"

    def _intervals(self, console: Console) -> None:
        form = "{0.low:.3f}–{0.high:.3f}" if console.narrow else "{0.low:.4f} to {0.high:.4f}"
        rows = [
            [one.name, *(form.format(one.scores[score]) for score in BY), _chosen(one.contender)]
            for one in self.standings
        ]
        console.table(["method", *(f">{name}" for name in BY.values()), ">C"], rows)

    def _explain(self, console: Console, learned: int, costs: str | None) -> None:
        score = BY[self.by]
        facts = {
            "order": f"by {score}; not distinguishable: the 95 % interval of the difference to the best, on "
            "the same rows, contains 0",
            "log-loss": "mean of −log p(truth); 0 is perfect" + self._scaled(),
            "cost": f"mean cost of the cheapest action by {costs}"
            if costs
            else "share of rows whose most probable class is wrong; for other costs pass --cost",
            "C": "the best on a part of the rows to learn from, by log-loss",
            "fit": f"one fit of {learned:,} rows of features, with that C",
            "µs/row": "to answer a row, its features given",
            "size": "of the weights",
        }
        for name, text in facts.items():
            console.say(f"{name:<10}{text}", indent=10)

    def _scaled(self) -> str:
        names = [one.name for one in self.standings if one.contender.best.temperature is not None]
        if not names:
            return ""
        return (
            f". The scores of {', '.join(names)} are no probabilities: a temperature, learned on the rows "
            "that chose C, makes them some and changes no answer"
        )

    def _next(self, console: Console, about: dict[str, Any]) -> None:
        console.say(f"{self.best.contender.python}    # the best, in Python")
        for one in (one.contender for one in self.standings):
            if one.entrant.name not in REDUCTIONS:
                words = ["argmax", "train", about["data"], "--target", about["target"]]
                words += ["--loss", one.entrant.name, "--C", f"{one.best.C:g}"]
                console.say(shlex.join(words))
                break

    # For programs

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return {
            "sorted_by": self.by,
            "methods": [self._told(one) for one in self.standings],
            "left_out": self.left_out,
        }

    def _told(self, one: Standing) -> dict[str, Any]:
        found, behind = one.contender, self.behind.get(one.name)
        scaled = found.best.temperature is not None
        return {
            "method": one.name,
            "what": found.entrant.what,
            "python": found.python,
            "C": found.best.C if len(found.entrant.Cs) > 1 else None,
            "trials": [{"C": trial.C, "log_loss": trial.loss} for trial in found.trials],
            "probabilities": "temperature" if scaled else "own",
            "scores": {score: _interval(found) for score, found in one.scores.items()},
            "behind_best": None if behind is None else _interval(behind),
            "distinguishable": self.is_worse(one),
            "fit_seconds": found.seconds,
            "choosing_seconds": found.choosing,
            "microseconds_a_row": one.microseconds,
            "bytes": found.bytes,
            "unfinished": found.unfinished or None,
        }


def _chosen(contender: Contender) -> str:
    return f"{contender.best.C:g}" if len(contender.entrant.Cs) > 1 else ""


def _priced(one: Standing) -> list[str]:
    """Seconds of a fit, microseconds of an answer, and the size of the weights."""
    took = seconds(one.contender.seconds)
    return [took, f"{one.microseconds:.2f}", _size(one.contender.bytes)]


def _interval(found: Interval) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high, "level": found.level}


def _size(size: float) -> str:
    """Bytes as people say them.

    >>> from argmax.cli.leaderboard import _size
    >>> _size(3536), _size(5_000_000)
    ('3.5 KiB', '4.8 MiB')
    """
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
