"""The one abstract base of the classifiers: from tables to an objective and back."""

from __future__ import annotations

import copy
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import checks, engines, losses, passes, solvers, surveys
from ..errors import InvalidInput, NotConverged, NumericalFailure, Unsupported
from ..kernels import compiled
from ..layouts import Layout, two_classes
from ..objective import Objective
from ..records import Floats, Solution, Structures, Truth
from ..spaces import Classes
from . import answers, intake, resuming
from .listeners import Bridge, CallbackSupportMixin, with_callbacks
from .rows import RowScorer
from .units import Units

__all__ = ["Classifier"]

ADVICE = {
    "stalled": "Scale your features (for example with sklearn.preprocessing.MaxAbsScaler), or use "
    "dtype='float64' or a smaller C.",
    "separable": "Use a penalty with a finite C.",
}
"""What to do about a fit that did not converge, where more passes would not help."""

LARGE = 2**26
"""Bytes of scores from which on it is worth asking the system how much memory is left."""


SERIAL_WORK = 4_000_000
"""Multiply-adds of a pass below which one thread does it all."""


@dataclass(frozen=True)
class Settings:
    """The parameters of one fit, checked and in the engine's own terms."""

    loss: losses.Loss
    solver: solvers.Solver
    engine: engines.Engine
    C: float
    l1: float
    l2: float

    @property
    def penalised(self) -> bool:
        return math.isfinite(self.C) and (self.l1 > 0 or self.l2 > 0)


class Classifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC):
    """argmax over k classes of ⟨w_y, x⟩ + b_y, with any loss; final faces only declare parameters.

    A failed ``fit`` changes nothing: the work is done on a shallow copy, whose fitted attributes are
    taken over at the end.
    """

    C: float
    penalty: str | None
    l1_ratio: float | None
    fit_intercept: bool
    class_weight: Any
    solver: str | solvers.Solver
    tol: float
    max_iter: int
    time_limit: float | None
    warm_start: bool
    engine: engines.Engine | None
    n_threads: int | None
    dtype: Any
    random_state: Any
    callbacks: Any
    verbose: int

    _w: Floats
    _layout: Layout

    @abstractmethod
    def _loss(self) -> losses.Loss:
        """The loss of this face."""

    # Fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Classifier:
        """Learn from rows X (n, d), dense or sparse, and labels y (n,).

        X may also be an ``engines.Stored`` set, which brings its labels, or with ``engine=Dask(…)`` a dask
        array or dataframe.
        """
        attempt = copy.copy(self)
        try:
            attempt._fit(X, y, sample_weight)
        except KeyboardInterrupt:
            # Scripts must stop, so the interrupt goes on; an earlier fit stays as it was, and an
            # estimator that had none keeps the best weights found.
            if not hasattr(self, "solution_") and hasattr(attempt, "solution_"):
                self._take(attempt)
            raise
        self._take(attempt)
        if self.solution_.status not in ("converged", "stopped"):
            advice = ADVICE.get(self.solution_.status, "Raise max_iter, time_limit or tol.")
            warnings.warn(f"{self.solution_.message} {advice}", NotConverged, stacklevel=2)
        return self

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> list[Classifier]:
        """One fitted copy for each C, each started where the last one ended, in the order given.

        Go from small to large C: strongly penalised fits are quick and lead to the next.

        >>> from argmax import SoftmaxRegression
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> [round(model.score(X, y), 2) for model in SoftmaxRegression().path(X, y, [0.01, 1.0])]
        [0.87, 0.97]
        """
        models: list[Classifier] = []
        for C in Cs:
            model = copy.copy(models[-1] if models else self)
            model.C, model.warm_start = C, bool(models)
            model.fit(X, y, sample_weight)
            model.warm_start = self.warm_start
            models.append(model)
        return models

    def _take(self, other: Classifier) -> None:
        for name in [
            name for name in vars(self) if name.endswith("_") and not name.startswith("_")
        ]:
            delattr(self, name)
        self.__dict__.update(vars(other))

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        settings = self._settings()
        with settings.engine.open() as crew:
            examples = intake.examples(self, X, y, sample_weight, settings.engine, crew)
            objective, units = self._objective(examples, settings)
            layout, classes = objective.problem.layout, examples.classes
            bridge = Bridge(self, X, y, lambda w: self._attributes(layout, w, classes))
            report = self._report(
                [units.told(layout, listener) for listener in (*(self.callbacks or ()), bridge)]
            )
            start, state = self._start(objective, classes)
            start = units.inside(layout, start)
            state = resuming.found(self.callbacks or (), objective, settings.solver) or state
            try:
                solution = settings.solver.minimise(objective, start, report, state)
                solution = _judged(objective, solution)
            except KeyboardInterrupt:
                if report.w is not None:
                    report.stop("interrupted", "interrupted")
                    point = objective.at(report.w.copy())
                    solution = report.solution(objective, point, "interrupted")
                    self._accept(objective, solution, units, classes)
                raise
        self._accept(objective, solution, units, classes)
        bridge.close()

    def _report(self, listeners: list[Callable[[solvers.Progress], Any]]) -> solvers.Report:
        limit = self.time_limit
        return solvers.Report(
            checks.number("tol", self.tol, 0.0, open_low=True),
            checks.positive_integer("max_iter", self.max_iter),
            None if limit is None else checks.number("time_limit", limit, 0.0),
            listeners,
            self.verbose,
        )

    def _settings(self) -> Settings:
        loss = self._loss()
        C = checks.number("C", self.C, 0.0, open_low=True)
        l1, l2 = self._penalty()
        solver = solvers.get(self.solver)
        if isinstance(solver, (solvers.Auto, solvers.Dual)) and solver.seed is None:
            solver = copy.copy(solver)
            solver.seed = self._seed()
        if self.engine is not None and self.n_threads is not None:
            raise Unsupported(
                "n_threads belongs to the default engine. Pass engine=Threads(n) or n_threads."
            )
        if self.engine is not None and not isinstance(self.engine, engines.Engine):
            raise InvalidInput(f"engine must be an Engine or None; got {self.engine!r}.")
        engine = engines.Threads(self.n_threads) if self.engine is None else self.engine
        return Settings(loss, solver, engine, C, l1, l2)

    def _penalty(self) -> tuple[float, float]:
        """l1 and l2 of the objective."""
        checks.choice("penalty", self.penalty, ("l2", "l1", "elasticnet", None))
        if self.penalty != "elasticnet" and self.l1_ratio is not None:
            raise Unsupported(
                f"l1_ratio={self.l1_ratio!r} would be ignored with penalty={self.penalty!r}. "
                "Use penalty='elasticnet', or l1_ratio=None."
            )
        if self.penalty == "elasticnet":
            if self.l1_ratio is None:
                raise InvalidInput("penalty='elasticnet' needs l1_ratio, a number from 0 to 1.")
            ratio = checks.number("l1_ratio", self.l1_ratio, 0.0, 1.0)
            return ratio, 1.0 - ratio
        return {"l2": (0.0, 1.0), "l1": (1.0, 0.0), None: (0.0, 0.0)}[self.penalty]

    def _seed(self) -> int:
        """random_state as a seed; None is 0, so that a fit repeats to the bit."""
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, np.random.Generator):
            return int(self.random_state.integers(2**31))
        from sklearn.utils import check_random_state

        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _objective(self, examples: engines.Examples, settings: Settings) -> tuple[Objective, Units]:
        """F over the shards of the examples, and the units of the columns if they are free."""
        problem = self._problem(examples, settings.loss)
        checks.total_weight(settings.C, examples.totals)
        shards, units, held = (
            examples.cut(problem.layout),
            Units(),
            isinstance(examples, engines.Held),
        )
        self._check_memory(problem.layout, examples, shards)
        # A pass of a millisecond is not worth waking threads for, nor their memory.
        idle = self.engine is None and sum(shard.work for shard in shards) < SERIAL_WORK
        engine = engines.Threads(1) if idle else settings.engine
        shards = engine.place(shards)
        if not held or not settings.penalised:  # rows in memory have been looked at
            size = intake.inspected(engine, shards, problem, by_column=not settings.penalised)
            units = units if settings.penalised else Units.of(size)
        if units.scale is not None:
            shards = engine.place(examples.prepared(scale=units.scale).cut(problem.layout))
        objective = Objective(problem, shards, engine, settings.C, settings.l1, settings.l2)
        return objective, units

    def _check_memory(self, layout: Layout, examples: engines.Examples, shards: list[Any]) -> None:
        """Refuse a fit whose vectors and scores cannot fit, before it starts."""
        vectors = 8 if examples.sparse else 30
        in_turn = [len(shard) for shard in shards if shard.on_disk]
        rows = max(in_turn) if in_turn else sum(map(len, shards))
        (n, d), k = examples.shape, layout.labels
        checks.memory(
            8.0 * (vectors * layout.size + 4 * rows * k),
            f"fitting {n} rows, {d} features and {k} classes",
            "Reduce the features (for example by hashing or selection) or the classes.",
        )

    def _problem(self, examples: engines.Examples, loss: losses.Loss) -> passes.Problem:
        k = len(examples.classes)
        fast = compiled(examples.entries * k)
        layout = Layout(
            examples.shape[1],
            k,
            two_classes() if k == 2 else None,
            intercept=bool(self.fit_intercept),
            free_intercept=loss.free_intercept,
            sparse=examples.sparse,
            precise=not fast,  # a small problem can afford it
            compiled=fast,
        )
        return passes.Problem(Classes(k, compiled=fast), layout, loss)

    def _start(self, objective: Objective, classes: Any) -> tuple[Floats, Any]:
        """Zero weights with the log priors for an intercept, or the previous fit."""
        layout = objective.problem.layout
        if self.warm_start and hasattr(self, "solution_"):
            same = (
                np.array_equal(self.classes_, classes) and self._layout.features == layout.features
            )
            if not same or self._layout.intercept != layout.intercept:
                raise InvalidInput(
                    "warm_start: classes, features or fit_intercept differ from the previous fit. "
                    "Use warm_start=False, or clone the estimator."
                )
            return layout.pack(self.coef_, self.intercept_), self.solution_.state
        w = np.zeros(layout.size)
        if layout.intercept and layout.free_intercept:
            logs = np.log(objective.counts)
            w[layout.free] = logs - logs.mean() if layout.columns > 1 else logs[1] - logs[0]
        return w, None

    def _accept(self, objective: Objective, solution: Solution, units: Units, classes: Any) -> None:
        layout = objective.problem.layout
        solution = replace(solution, w=units.outside(layout, solution.w))
        if not np.isfinite(solution.w).all() or not math.isfinite(solution.objective):
            raise NumericalFailure(
                "the fit left the finite numbers (overflow). Scale your features."
            )
        if solution.status == "stalled" and solution.objective > objective.zero:
            raise NumericalFailure(
                f"the fit drowned in rounding: its objective is {solution.objective:.3g}, that of zero "
                f"weights {objective.zero:.3g}. {ADVICE['stalled']}"
            )
        self.__dict__.update(self._attributes(layout, solution.w, classes))
        self.solution_ = solution
        self.n_iter_ = max(solution.passes, 1)

    def _attributes(self, layout: Layout, w: Floats, classes: Any) -> dict[str, Any]:
        """What prediction needs, from a flat w."""
        w = _centred(layout, w)
        named = layout.named(w)
        return {
            "classes_": classes,
            "coef_": named["coef"],
            "intercept_": named["intercept"],
            "_w": w,
            "_layout": layout,
        }

    # Answers

    def _node_scores(self, X: Any) -> Floats:
        """Scores (n, k). Values that are not finite are found in the scores, at no extra pass over X."""
        check_is_fitted(self, "coef_")
        rows = checks.rows(self, X, reset=False, finite_later=True)
        k = self._layout.labels
        if (need := 16.0 * len(rows) * k) > LARGE:
            checks.memory(
                need, f"scores of {len(rows)} rows and {k} classes", "Pass fewer rows at a time."
            )
        problem = passes.Problem(*_predictor(engines.entries(rows), self._layout))
        truth = Truth(np.zeros(len(rows), np.intp))
        shards = engines.cut(Structures(rows), truth, problem.layout)
        engine = engines.Threads(self.n_threads if problem.layout.compiled else 1)
        hired = engine.open() if problem.layout.compiled else _nothing()
        with hired, np.errstate(invalid="ignore", over="ignore"):
            parts = list(engine.each(passes.outputs, shards, problem, self._w))
        node = parts[0]["node"] if len(parts) == 1 else np.concatenate([p["node"] for p in parts])
        with np.errstate(invalid="ignore", over="ignore"):
            total = node.sum()
        if not np.isfinite(total):
            checks.finite(rows)
            raise NumericalFailure("the scores are not finite (overflow). Scale your features.")
        return node.reshape(-1, k)

    def _answers(self, X: Any, answer: Callable[[Floats], Any]) -> Any:
        """What ``answer`` makes of the scores; rows that are not in memory are answered where they are."""
        found = X if isinstance(X, engines.Examples) else None
        if found is None and self.engine is not None:
            found = self.engine.collect(X, None, None)
        if found is None:
            return answer(self._node_scores(X))
        check_is_fitted(self, "coef_")
        intake.same_features(self, found)
        engine = engines.Threads(self.n_threads) if self.engine is None else self.engine
        problem = passes.Problem(*_predictor(found.entries, self._layout))
        return answers.streamed(found, engine, problem, self._w, answer)

    def decision_function(self, X: Any) -> Floats:
        """Scores (n, k); for two classes (n,), positive meaning ``classes_[1]``, as scikit-learn has it."""
        return np.asarray(self._answers(X, answers.margins))

    def predict(self, X: Any) -> Any:
        """The class of the highest score for each row; of equals, the first in ``classes_``."""
        places = self._answers(X, answers.best)
        return self.classes_[places]

    def predict_proba(self, X: Any) -> Floats:
        """P(y | x) for each row and class: softmax of the scores."""
        return np.asarray(self._answers(X, answers.probabilities))

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(y | x), without under- or overflow."""
        return np.asarray(self._answers(X, answers.log_probabilities))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted. A stored set brings its own labels and weights."""
        if isinstance(X, engines.Stored) and y is None:
            y, sample_weight = X.labels(), X.weights()
        return float(super().score(X, y, sample_weight))

    def row_scorer(self) -> RowScorer:
        """A scorer of single rows, for services: a few microseconds a row instead of hundreds."""
        check_is_fitted(self, "coef_")
        W, b = self.coef_.T, self.intercept_
        if len(self.classes_) == 2:
            W, b = np.hstack([-0.5 * W, 0.5 * W]), np.append(-0.5 * b, 0.5 * b)
        return RowScorer(np.ascontiguousarray(W), b, self.classes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


def _judged(objective: Objective, solution: Solution) -> Solution:
    """The solution; where no w is the best one, it says so instead of "converged"."""
    loss = objective.problem.loss
    if objective.penalised or not loss.probabilities or not _separates(objective, solution.w):
        return solution
    reason = (
        "the classes are linearly separable and there is no penalty, so larger weights are always "
        "better and none are best"
    )
    return replace(solution, status="separable", message=f"{solution.solver}: {reason}.")


def _separates(objective: Objective, w: Floats) -> bool:
    """Whether w gives every example's own label the highest score: then 2w does so by a wider margin."""
    return bool(objective.fold(surveys.wrong, w)["wrong"] == 0)


def _centred(layout: Layout, w: Floats) -> Floats:
    """Only differences between classes matter: intercepts are shifted to mean zero, as scikit-learn's."""
    w = w.copy()
    if layout.intercept and layout.free_intercept and layout.columns > 1:
        w[layout.free] -= w[layout.free].mean()
    return w


def _predictor(entries: int, layout: Layout) -> tuple[Classes, Layout, losses.Loss]:
    fast = compiled(entries * layout.labels)
    return Classes(layout.labels, compiled=fast), replace(layout, compiled=fast), losses.get("log")
