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
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import checks, engines, losses, passes, solvers
from ..errors import InvalidInput, NotConverged, NumericalFailure, Unsupported
from ..kernels import compiled
from ..layouts import Layout, as_matrix, two_classes
from ..objective import Objective
from ..records import Csr, Floats, Rows, Solution, Structures, Truth
from ..spaces import Classes
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Classifier:
        """Learn from rows X (n, d), dense or sparse, and labels y (n,)."""
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
            rows = checks.rows(self, X, reset=True, dtype=self.dtype, finite_later=True)
            checks.magnitude(rows, crew.run)
            rows, truth, classes = self._examples(rows, y, sample_weight, settings)
            units = Units() if settings.penalised else Units.of(rows)
            objective = self._objective(units.rows(rows), truth, len(classes), settings)
            layout = objective.problem.layout
            bridge = Bridge(self, X, y, lambda w: self._attributes(layout, w, classes))
            report = self._report(
                [units.told(layout, listener) for listener in (*(self.callbacks or ()), bridge)]
            )
            start, state = self._start(objective, truth, classes)
            start = units.inside(layout, start)
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

    def _examples(
        self, rows: Rows, y: Any, sample_weight: Any, settings: Settings
    ) -> tuple[Rows, Truth, Any]:
        """Rows of positive weight, their labels and weights, and the classes among them."""
        n = len(rows)
        if y is None:
            raise InvalidInput("requires y to be passed, but the target y is None.")
        checks.same_length(X=rows, y=y, sample_weight=sample_weight)
        weight = checks.sample_weight(sample_weight, n)
        classes, codes = checks.labels(self, y, n)
        weight = checks.class_weights(self.class_weight, classes, codes, weight)
        used = weight > 0
        if not used.all():  # a row without weight is a row that is not there
            rows = (
                rows[used]
                if not isinstance(rows, Csr)
                else checks.compressed(as_matrix(rows)[used])
            )
            weight, codes = weight[used], codes[used]
            present, codes = np.unique(codes, return_inverse=True)
            classes = classes[present]
        if len(classes) < 2:
            got = f"one class: {classes.tolist()[0]!r}" if len(classes) else "none"
            raise InvalidInput(
                f"y must have at least two classes with positive weight; got {got}. "
                "Add rows of another class, or give the others weight."
            )
        checks.total_weight(settings.C, weight)
        truth = Truth(codes.astype(np.intp), None if np.all(weight == 1.0) else weight)
        settings.loss.check(truth)
        return rows, truth, classes

    def _objective(self, rows: Rows, truth: Truth, k: int, settings: Settings) -> Objective:
        problem = self._problem(rows, k, settings.loss)
        vectors = 30 if not isinstance(rows, Csr) else 8
        need = 8.0 * (vectors * problem.layout.size + 4 * len(rows) * k)
        checks.memory(
            need,
            f"fitting {len(rows)} rows, {problem.layout.features} features and {k} classes",
            "Reduce the features (for example by hashing or selection) or the classes.",
        )
        shards = engines.cut(Structures(rows), truth, problem.layout)
        # A pass of a millisecond is not worth waking threads for, nor their memory.
        work = sum(shard.work for shard in shards)
        idle = self.engine is None and work < SERIAL_WORK
        engine = engines.Threads(1) if idle else settings.engine
        return Objective(problem, shards, engine, settings.C, settings.l1, settings.l2)

    def _problem(self, rows: Rows, k: int, loss: losses.Loss) -> passes.Problem:
        d = rows.shape[1]
        entries = rows.entries if isinstance(rows, Csr) else rows.size
        fast = compiled(entries * k)
        layout = Layout(
            d,
            k,
            two_classes() if k == 2 else None,
            intercept=bool(self.fit_intercept),
            free_intercept=loss.free_intercept,
            sparse=isinstance(rows, Csr),
            precise=not fast,  # a small problem can afford it
            compiled=fast,
        )
        return passes.Problem(Classes(k, compiled=fast), layout, loss)

    def _start(self, objective: Objective, truth: Truth, classes: Any) -> tuple[Floats, Any]:
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
            counts = np.bincount(truth.labels, weights=truth.weight, minlength=layout.labels)
            logs = np.log(counts)
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
        problem = passes.Problem(*_predictor(rows, self._layout))
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

    def decision_function(self, X: Any) -> Floats:
        """Scores (n, k); for two classes (n,), positive meaning ``classes_[1]``, as scikit-learn has it."""
        node = self._node_scores(X)
        return node[:, 1] - node[:, 0] if node.shape[1] == 2 else node

    def predict(self, X: Any) -> Any:
        """The class of the highest score for each row; of equals, the first in ``classes_``."""
        best = self._node_scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Floats:
        """P(y | x) for each row and class: softmax of the scores."""
        return np.asarray(softmax(self._node_scores(X), axis=1))

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(y | x), without under- or overflow."""
        return np.asarray(log_softmax(self._node_scores(X), axis=1))

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
    outputs = objective.engine.each(passes.outputs, objective.shards, objective.problem, w)
    for shard, output in zip(objective.shards, outputs, strict=True):
        node, own = output["node"], (np.arange(len(shard)), shard.truth.labels)
        score = node[own]
        node[own] = -np.inf
        if np.any(node.max(axis=1) >= score):
            return False
    return True


def _centred(layout: Layout, w: Floats) -> Floats:
    """Only differences between classes matter: intercepts are shifted to mean zero, as scikit-learn's."""
    w = w.copy()
    if layout.intercept and layout.free_intercept and layout.columns > 1:
        w[layout.free] -= w[layout.free].mean()
    return w


def _predictor(rows: Rows, layout: Layout) -> tuple[Classes, Layout, losses.Loss]:
    entries = rows.entries if isinstance(rows, Csr) else rows.size
    fast = compiled(entries * layout.labels)
    return Classes(layout.labels, compiled=fast), replace(layout, compiled=fast), losses.get("log")
