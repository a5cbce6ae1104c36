"""scikit-learn's LogisticRegression solvers, and the time each needs to reach a value of the objective.

    F(w) = C Σ_i loss_i(w) + ½ ‖w‖²       ours, and C · n times the value that scikit-learn minimises

lbfgs, newton-cg and newton-cholesky are watched from inside: one fit at a tolerance they never meet, the
clock read at every evaluation of ``LinearModelLoss``. That favours them: a trial point of a line search
counts as soon as it is evaluated, and neither their stopping rule nor what follows it is charged. saga
evaluates nothing, so it is fitted for more and more epochs, each fit timed as a whole, until the fewest
that will do are known to within 15 % (to a factor of 2 where it is slower than another peer anyway).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model._linear_loss import LinearModelLoss
from threadpoolctl import threadpool_limits

from .common import in_turn
from .race import Case, Entrant, Reach, Task, quietly

CHOLESKY_WEIGHTS = 5000
"""newton-cholesky forms a Hessian of (k·d)² numbers: beyond so many weights (200 MB) it is left out."""

EPOCH_STEP = 1.15
"""saga's epochs are bracketed to within this factor."""


def entrants(case: Case) -> list[Entrant]:
    """The peers that fit the problem, the likely fastest first."""
    weights = case.table.k * case.table.X.shape[1]
    first: list[Entrant] = [Watched(case, "newton-cholesky")] if weights <= CHOLESKY_WEIGHTS else []
    return [*first, Watched(case, "newton-cg"), Watched(case, "lbfgs"), Saga(case)]


def warm_up(case: Case) -> None:
    """Each peer once on a few rows, so that no first call is charged."""
    for entrant in entrants(case):
        rows = np.unique(
            np.concatenate([np.arange(200), np.unique(case.table.y, return_index=True)[1]])
        )
        with quietly():
            model = LogisticRegression(solver=entrant.name, C=case.C, max_iter=2)
            model.fit(case.table.X[rows], case.table.y[rows])


def blas_threads(case: Case, threads: int) -> int:
    """1 or ``threads``, whichever multiplies this table faster: peers get the better of the two.

    Small products lose by being shared out, and on a machine that is not quiet a threaded BLAS waits for
    its slowest thread: dozens of times slower was seen.
    """
    if threads == 1 or not isinstance(case.table.X, np.ndarray):
        return 1  # SciPy's sparse products use one thread whatever is allowed
    X, W = case.table.X, np.ones((case.table.X.shape[1], case.table.k))
    R = np.ones((len(X), case.table.k))
    wide = X.shape[1] * case.table.k <= CHOLESKY_WEIGHTS

    def products() -> None:
        X @ W
        R.T @ X
        if wide:
            X.T @ X

    def limited(count: int) -> Callable[[], None]:
        def call() -> None:
            with threadpool_limits(count, user_api="blas"):
                for _ in range(5):
                    products()

        return call

    # Means, not medians: a product that now and then waits for a thread is slow, and fits are many products.
    taken = in_turn({"all": limited(threads), "one": limited(1)}, 6)
    return threads if sum(taken["all"][1:]) < 0.95 * sum(taken["one"][1:]) else 1


class _EndOfWatchError(Exception):
    """Raised inside a fit that has shown what it had to show."""


@dataclass
class _Curve:
    """(seconds, F) at each evaluation of one fit; ``cut`` if the limit ended it."""

    rows: list[tuple[float, float]] = field(default_factory=list)
    cut: bool = False

    def first(self, target: float) -> float | None:
        return next((seconds for seconds, value in self.rows if value <= target), None)


@final
class Watched(Entrant):
    """A solver whose evaluations can be watched."""

    def __init__(self, case: Case, solver: str) -> None:
        self.case, self.name = case, solver
        self.curves: list[_Curve] = []
        self.limit = math.inf

    def explore(self, task: Task) -> None:
        self.limit = task.limit
        self._run(task.limit, task.proven)

    def repeat(self, targets: Sequence[float]) -> None:
        reached = [target for target in targets if self.reach(target).times]
        self._run(math.inf, min(reached))

    def reach(self, target: float) -> Reach:
        times = [curve.first(target) for curve in self.curves]
        found = tuple(seconds for seconds in times if seconds is not None)
        return Reach(found, self.limit if self.curves and self.curves[0].cut else None)

    def _run(self, limit: float, below: float) -> None:
        curve = watch(self.case, self.name, limit, below)
        self.curves.append(curve)
        self.best = min([self.best, *(value for _, value in curve.rows)])


def watch(case: Case, solver: str, limit: float, below: float) -> _Curve:
    """The curve of one fit, ended at F ≤ below or after ``limit`` seconds."""
    curve, scale = _Curve(), case.C * len(case.table.y)
    model = LogisticRegression(solver=solver, C=case.C, tol=1e-14, max_iter=10**6)
    last: list[Any] = []
    began = time.perf_counter()

    def note(mean_value: float, coef: Any) -> None:
        seconds, value = time.perf_counter() - began, scale * mean_value
        curve.rows.append((seconds, value))
        if value <= below or seconds > limit:
            last.append(coef.copy())
            curve.cut = value > below
            raise _EndOfWatchError

    def tick() -> None:
        if time.perf_counter() - began > limit:
            curve.cut = True
            raise _EndOfWatchError

    with quietly(), _hooks(note, tick):
        try:
            model.fit(case.table.X, case.table.y)
        except _EndOfWatchError:
            model = None
    _confirm(case, solver, curve, model, last)
    return curve


def _confirm(case: Case, solver: str, curve: _Curve, model: Any, last: list[Any]) -> None:
    """The recorded values are F: checked where the fit ended."""
    if (
        model is not None
    ):  # the end of the fit is one of the last evaluations, not always the very last
        true = case.objective(model.coef_, model.intercept_)
        nearest = min((value for _, value in curve.rows[-50:]), key=lambda value: abs(value - true))
        case.confirm(solver, nearest, model.coef_, model.intercept_)
    elif last:
        table = last[0].reshape(case.table.k, -1, order="F")
        case.confirm(solver, curve.rows[-1][1], table[:, :-1], table[:, -1])


@contextmanager
def _hooks(note: Any, tick: Any) -> Iterator[None]:
    """Within, every evaluation of scikit-learn's linear loss is noted, and long steps look at the clock."""
    names = ("loss", "loss_gradient", "gradient_hessian", "gradient_hessian_product")
    originals = {name: getattr(LinearModelLoss, name) for name in names}

    def loss(self: Any, coef: Any, *args: Any, **kwargs: Any) -> Any:
        value = originals["loss"](self, coef, *args, **kwargs)
        note(value, coef)
        return value

    def loss_gradient(self: Any, coef: Any, *args: Any, **kwargs: Any) -> Any:
        value, gradient = originals["loss_gradient"](self, coef, *args, **kwargs)
        note(value, coef)
        return value, gradient

    def gradient_hessian(self: Any, *args: Any, **kwargs: Any) -> Any:
        tick()
        return originals["gradient_hessian"](self, *args, **kwargs)

    def gradient_hessian_product(self: Any, *args: Any, **kwargs: Any) -> Any:
        gradient, product = originals["gradient_hessian_product"](self, *args, **kwargs)

        def ticking(vector: Any) -> Any:
            tick()
            return product(vector)

        return gradient, ticking

    replacements = (loss, loss_gradient, gradient_hessian, gradient_hessian_product)
    try:
        for name, replacement in zip(names, replacements, strict=True):
            setattr(LinearModelLoss, name, replacement)
        yield
    finally:
        for name, original in originals.items():
            setattr(LinearModelLoss, name, original)


@final
class Saga(Entrant):
    """Whole fits of more and more epochs; the same seed, so that more epochs continue fewer."""

    name = "saga"

    def __init__(self, case: Case) -> None:
        self.case = case
        self.times: dict[int, list[float]] = {}
        self.values: dict[int, float] = {}
        self.limit = math.inf

    def explore(self, task: Task) -> None:
        self.limit = task.limit
        self._double(task.limit, min(task.targets))
        for target, rival in zip(task.targets, task.rivals, strict=True):
            self._narrow(target, rival)

    def repeat(self, targets: Sequence[float]) -> None:
        needed = {self._fewest(target) for target in targets if self.reach(target).times}
        for epochs in sorted(e for e in needed if e is not None):
            self._fit(epochs)

    def reach(self, target: float) -> Reach:
        epochs = self._fewest(target)
        return Reach(cut=self.limit) if epochs is None else Reach(tuple(self.times[epochs]))

    def _fewest(self, target: float) -> int | None:
        return min((e for e, value in self.values.items() if value <= target), default=None)

    def _fit(self, epochs: int) -> float:
        with quietly():
            model = LogisticRegression(
                solver="saga", C=self.case.C, tol=1e-30, max_iter=epochs, random_state=0
            )
            began = time.perf_counter()
            model.fit(self.case.table.X, self.case.table.y)
            seconds = time.perf_counter() - began
        self.times.setdefault(epochs, []).append(seconds)
        value = self.case.objective(model.coef_, model.intercept_)
        self.values[epochs] = value if math.isfinite(value) else math.inf
        self.best = min(self.best, self.values[epochs])
        return seconds

    def _double(self, limit: float, target: float) -> None:
        """1, 2, 4, … epochs, the last fit as long as the limit allows."""
        epochs, seconds = 1, self._fit(1)
        while self.values[epochs] > target:
            allowed = int(epochs * limit / seconds)
            following = min(2 * epochs, allowed)
            if following <= epochs:
                return
            epochs, seconds = following, self._fit(following)

    def _narrow(self, target: float, rival: float) -> None:
        """Halve the bracket (on a logarithmic scale) around the fewest epochs that reach the target.

        Where even its lower end takes longer than a rival did, exactness would change nothing.
        """
        while (high := self._fewest(target)) is not None and high > 1:
            low = max((e for e in self.values if e < high), default=0)
            middle = int(math.sqrt(low * high))
            if low == 0 or high <= EPOCH_STEP * low or middle in (low, high):
                return
            if self.times[low][0] > max(rival, 1.0):
                return
            self._fit(middle)
