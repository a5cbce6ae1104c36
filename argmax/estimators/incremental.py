"""``partial_fit`` of classifiers: one pass of single steps over some rows, then the next ones.

    perceptron, perceptron_sum, pa1, pa2   updates, and their average over everything seen so far
    every other loss                       the steps of ``solvers.SGD``, averaged from the second call on

With ``grow`` the layout gets a column for every new class and a row for every new feature, and what is known
keeps its weights: a classifier that met a class late is the one that had kept a column of zeros for it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks, passes, solvers
from ..engines import Held, Shard
from ..engines.joining import joined
from ..engines.reading import chosen
from ..errors import InvalidInput, NumericalFailure, Unsupported
from ..layouts import Full
from ..passes.online import RowWalk
from ..records import Floats, Ints, Rows, Solution, Truth
from .intake import costs_of

__all__ = ["Steps", "learn"]


LEARNERS = {
    "perceptron": "perceptron",
    "perceptron_sum": "perceptron",
    "pa1": "passive_aggressive",
    "pa2": "passive_aggressive",
}
"""Whose steps a loss takes; all others are those of "sgd"."""


@final
@dataclass
class Steps:
    """What is known after some calls: the walk so far, the rows seen, and the rate of gradient steps."""

    walk: RowWalk
    seen: int
    eta: float | None
    history: list[tuple[float, float, float]]


def learn(estimator: Any, X: Any, y: Any, classes: Any, sample_weight: Any, grow: bool) -> None:
    """Take the steps and set the fitted attributes of ``estimator``, a copy that may be thrown away."""
    began, settings = time.perf_counter(), estimator._settings()
    if estimator.class_weight == "balanced":
        raise Unsupported(
            "class_weight='balanced' needs all rows at once. Pass partial_fit a dict of weights, or fit."
        )
    rows = _rows(estimator, X, grow)
    known, codes = _labels(estimator, y, len(rows), classes, grow)
    weight = checks.sample_weight(sample_weight, len(rows))
    weight = checks.class_weights(estimator.class_weight, known, codes, weight)
    used = weight > 0
    cost, _ = costs_of(estimator.cost, settings.loss, None, len(rows), len(known))
    truth = Truth(codes[used], None if np.all(weight == 1.0) else weight[used], cost)
    examples = Held(rows if used.all() else chosen(rows, used), truth, known)
    problem = estimator._problem(examples, settings.loss)
    shards = examples.cut(problem.full)
    learner = _learner(settings)
    steps = _steps(estimator, shards, problem, known, learner.average)
    value = _one_pass(steps, settings, learner, estimator._seed())
    steps.history.append((time.perf_counter() - began, value, math.inf))
    w = steps.walk.mean()
    if not np.isfinite(w).all():
        raise NumericalFailure("the steps left the finite numbers (overflow). Scale your features.")
    estimator.__dict__.update(estimator._attributes(problem.full, w, known))
    estimator._walk = steps
    estimator.solution_ = _solution(w, value, settings.loss.name, steps.history)
    estimator.n_iter_ = len(steps.history)


Learner = solvers.Perceptron | solvers.PassiveAggressive | solvers.SGD


def _learner(settings: Any) -> Learner:
    """Whose options the steps follow: the solver's, if it is one that takes steps."""
    solver, name = settings.solver, LEARNERS.get(settings.loss.name, "sgd")
    if not isinstance(solver, Learner):
        solver = solvers.get(name)
    if not isinstance(solver, Learner) or solver.name != name:
        raise Unsupported(
            f"solver {solver.name!r} has no steps for loss {settings.loss.name!r}. Use solver={name!r}."
        )
    if isinstance(solver, solvers.SGD):
        solver.check_options()
    return solver


# Rows and labels, known and new


def _rows(estimator: Any, X: Any, grow: bool) -> Rows:
    """The rows; with ``grow`` they may have columns after those of earlier calls."""
    first = not hasattr(estimator, "coef_")
    if not grow or first:
        return checks.rows(estimator, X, reset=first, dtype=estimator.dtype)
    before, names = estimator.n_features_in_, getattr(estimator, "feature_names_in_", None)
    rows = checks.rows(estimator, X, reset=True, dtype=estimator.dtype)
    after = getattr(estimator, "feature_names_in_", None)
    if rows.shape[1] < before:
        raise InvalidInput(
            f"X has {rows.shape[1]} features and must have at least the {before} of the calls before, new "
            "ones after them."
        )
    first_names = None if after is None else list(after[:before])
    if first_names != (None if names is None else list(names)):
        raise InvalidInput(
            f"the names of the first {before} columns must be those of the calls before, new ones after them."
        )
    return rows


def _labels(estimator: Any, y: Any, n: int, classes: Any, grow: bool) -> tuple[Any, Ints]:
    """All classes known by now, sorted, and for each row the position of its class."""
    if y is None:
        raise InvalidInput("requires y to be passed, but the target y is None.")
    checks.same_length(X=np.empty((n, 1)), y=y)
    found, codes = checks.labels(estimator, y, n)
    named = None if classes is None else np.unique(np.asarray(classes))
    first = not hasattr(estimator, "coef_")
    known = (found if named is None else named) if first else estimator.classes_
    if not first and named is not None and not grow and not np.array_equal(named, known):
        raise InvalidInput(
            f"classes={classes!r} are not those of the calls before, {known.tolist()!r}. Leave classes out, "
            "or use grow=True."
        )
    checks.comparable_labels(y=found, classes=known)
    if grow:
        known = np.unique(np.concatenate([known, found, *([] if named is None else [named])]))
    missing = ~np.isin(found, known)
    if missing.any():
        raise InvalidInput(
            f"the label {found[missing].tolist()[0]!r} is none of the classes of the first call. Name them "
            "all there: partial_fit(X, y, classes=[…]), or use grow=True."
        )
    if len(known) < 2:
        raise InvalidInput(
            f"the first call must know two classes or more; got {known.tolist()!r}. Pass classes=[…], or "
            "more rows."
        )
    return known, np.searchsorted(known, found)[codes].astype(np.intp)


# The weights on their way


def _steps(
    estimator: Any, shards: list[Shard], problem: passes.Problem, known: Any, average: bool
) -> Steps:
    """Where the calls before ended, laid out for the classes and features known by now."""
    layout, steps = problem.full, estimator._walk
    walk = RowWalk(joined(shards), problem, np.zeros(layout.size), average)
    n = len(walk)
    if steps is None and not hasattr(estimator, "coef_"):
        return Steps(walk, n, None, [])
    places = np.searchsorted(known, estimator.classes_)
    twice = problem.loss.name in ("perceptron", "perceptron_sum")
    spread = _Spread(estimator._layout, layout, places, 1.0 if twice else 0.5)
    if steps is None:
        parts = estimator._layout.weights(estimator._w)
        _same_intercept(layout, parts.b)
        walk.W[:], walk.b[:] = spread.table(parts.W), spread.row(parts.b)
        return Steps(walk, n, None, [])
    old = steps.walk
    _same_intercept(layout, old.b)
    walk.W[:], walk.b[:] = spread.table(old.W), spread.row(old.b)
    if average and old.average:
        walk.late_W[:], walk.late_b[:] = spread.table(old.late_W), spread.row(old.late_b)
        walk.clock, walk.count = old.clock, old.count
    walk.scale, walk.steps = old.scale, old.steps
    return Steps(walk, steps.seen + n, steps.eta, list(steps.history))


def _same_intercept(layout: Full, b: Floats) -> None:
    """Refuse to go on without the intercepts that have been learned."""
    if not layout.intercept and b.any():
        raise InvalidInput(
            "partial_fit: fit_intercept is False, but intercepts have been learned before. Use "
            "fit_intercept=True, or fit."
        )


@final
@dataclass(frozen=True)
class _Spread:
    """Where old weights go: features stay, classes move to their places among more of them.

    Two classes have one column u, with scores −½u and ½u. A third one makes it two columns: ∓½u, which keeps
    the scores; ∓u for the perceptron, whose updates of two columns are twice as far apart.
    """

    old: Full
    new: Full
    places: Ints
    share: float

    def table(self, W: Floats) -> Floats:
        """(d, P) of the old layout in the new one."""
        out = np.zeros((self.new.features, self.new.width))
        out[: self.old.features, : self.new.columns] = self._columns(W[:, : self.old.columns])
        return out

    def row(self, b: Floats) -> Floats:
        """The same for the intercepts (m,): none where the new layout has none, else zeros for none."""
        if not self.new.intercept:
            return np.zeros(0)
        return self._columns(b[None, :])[0] if len(b) else np.zeros(self.new.columns)

    def _columns(self, table: Floats) -> Floats:
        if self.old.columns == 1 and self.new.columns > 1:
            table = np.hstack([-self.share * table, self.share * table])
        if self.new.columns == 1:
            return table
        out = np.zeros((len(table), self.new.columns))
        out[:, self.places] = table
        return out


def _one_pass(steps: Steps, settings: Any, learner: Learner, seed: int) -> float:
    """Every row once; the number of mistakes, or the sum of the losses."""
    walk, order = steps.walk, np.arange(len(steps.walk))
    rng = np.random.default_rng([seed, steps.seen])
    if learner.shuffle:
        order = rng.permutation(order)
    if not isinstance(learner, solvers.SGD):
        rate = learner.rate if isinstance(learner, solvers.Perceptron) else 1.0
        return float(walk.perceive(order, settings.C, rate))
    walk.schedule = learner.schedule
    decay = settings.l2 / (settings.C * steps.seen) if settings.penalised else 0.0
    if steps.eta is None:
        steps.eta = learner.first_rate(walk, rng, decay)
    if len(steps.history) == 1:
        walk.restart()
    return walk.descend(order, steps.eta, decay)


def _solution(w: Floats, value: float, loss: str, history: list[Any]) -> Solution:
    """How the calls so far ended, in the words of a fit."""
    calls = len(history)
    return Solution(
        w=w,
        objective=value,
        gap=math.inf,
        relative_gap=math.inf,
        status="epochs done",
        message=f"partial_fit: {calls} calls, one pass each.",
        solver=LEARNERS.get(loss, "sgd"),
        passes=calls,
        seconds=sum(seconds for seconds, _, _ in history),
        history=history,
    )
