"""The one abstract base of the classifiers: from tables to an objective and back."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import checks, engines, losses, passes, solvers, surveys
from ..errors import InvalidInput, NoProbabilities, NoSteps, NumericalFailure
from ..kernels import compiled
from ..layouts import Full, two_classes
from ..objective import Objective
from ..records import Floats, Solution, Structures, Truth
from ..solvers import Report
from ..spaces import Classes
from . import answers, intake, resuming
from .incremental import Steps, learn
from .learner import Learner, Settings, check_end
from .listeners import Bridge, CallbackSupportMixin, with_callbacks
from .rows import RowScorer
from .units import Units

if TYPE_CHECKING:
    from ..calibration import Readout

__all__ = ["Classifier"]

LARGE = 2**26
"""Bytes of scores from which on it is worth asking the system how much memory is left."""


SERIAL_WORK = 4_000_000
"""Multiply-adds of a pass below which one thread does it all."""


class Classifier(CallbackSupportMixin, ClassifierMixin, Learner):
    """argmax over k classes of ⟨w_y, x⟩ + b_y, with any loss; final faces only declare parameters."""

    fit_intercept: bool
    class_weight: Any
    dtype: Any
    cost: Any = None

    _w: Floats
    _layout: Full
    _walk: Steps | None = None  # what ``partial_fit`` goes on with

    # Fitting

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, example_cost: Any = None
    ) -> Self:
        """Learn from rows X (n, d), dense or sparse, and labels y (n,).

        X may also be an ``engines.Stored`` set, which brings its labels, or with ``engine=Dask(…)`` a dask
        array or dataframe. ``example_cost`` (n, k) says for losses with a margin what each answer costs for
        each row, columns in the order of ``classes_``.
        """
        return self._learn(X, y, sample_weight, example_cost)

    def path(
        self, X: Any, y: Any, Cs: Any, sample_weight: Any = None, example_cost: Any = None
    ) -> list[Self]:
        """One fitted copy for each C, each started where the last one ended, in the order given.

        Go from small to large C: strongly penalised fits are quick and lead to the next.

        >>> from argmax import SoftmaxRegression
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> [round(model.score(X, y), 2) for model in SoftmaxRegression().path(X, y, [0.01, 1.0])]
        [0.87, 0.97]
        """
        return self._path(Cs, X, y, sample_weight, example_cost)

    # To scikit-learn a method that cannot answer must not be there: ``hasattr`` decides, hence properties.

    @property
    def partial_fit(self) -> Callable[..., Self]:
        """One pass of single steps over some rows, on top of what earlier calls, or a ``fit``, have learned.

        ``partial_fit(X, y, classes=None, sample_weight=None, grow=False)``. ``classes`` are all there will
        be; without it, those of the first call. With ``grow`` classes never seen before are welcome in any
        call, and so are new features, in columns after the known ones. Both begin with weights of zero.

        The losses of online learners take their own steps, all others those of ``solvers.SGD``. Options of
        these solvers count where ``solver`` is one of them; other solvers are for ``fit`` alone.

        >>> import numpy as np
        >>> from argmax import MulticlassPerceptron
        >>> model = MulticlassPerceptron()
        >>> _ = model.partial_fit(np.eye(2), ["cat", "dog"])
        >>> _ = model.partial_fit(np.eye(3), ["cat", "dog", "ship"], grow=True)
        >>> model.predict(np.eye(3)).tolist()
        ['cat', 'dog', 'ship']
        """
        if self.penalty in ("l1", "elasticnet"):
            raise NoSteps(
                f"partial_fit: single steps know no penalty={self.penalty!r}. Use penalty='l2', or fit."
            )
        return self._partial_fit

    def _partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        grow: bool = False,
    ) -> Self:
        attempt = copy.copy(self)
        learn(attempt, X, y, classes, sample_weight, grow)
        self._take(attempt)
        return self

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any, example_cost: Any) -> None:
        settings = self._settings()
        if self._walk is not None:
            self._walk = None
        with settings.engine.open() as crew:
            examples = intake.examples(
                self, settings.loss, X, y, sample_weight, example_cost, settings.engine, crew
            )
            objective, units = self._objective(examples, settings)
            layout, classes = objective.problem.full, examples.classes
            bridge = Bridge(self, X, y, lambda w: self._attributes(layout, w.copy(), classes))
            listeners = [*(self.callbacks or ()), *([bridge] if bridge.listening else ())]
            report = self._report([units.told(layout, listener) for listener in listeners])
            start, state = self._start(objective, classes)
            start = units.inside(layout, start)
            state = resuming.found(self.callbacks or (), objective, settings.solver) or state
            try:
                solve = partial(settings.solver.minimise, objective, start, report, state)
                solution = report.run(solve, objective, start)
                solution = _judged(objective, solution)
            except KeyboardInterrupt:
                if report.w is not None:
                    solution = _best_so_far(objective, report)
                    self._accept(objective, solution, units, classes)
                raise
        self._accept(objective, solution, units, classes)
        bridge.close()

    def _objective(self, examples: engines.Examples, settings: Settings) -> tuple[Objective, Units]:
        """F over the shards of the examples, and the units of the columns if they are free."""
        problem = self._problem(examples, settings.loss)
        checks.total_weight(settings.C, examples.totals)
        shards, units, held = (
            examples.cut(problem.full),
            Units(),
            isinstance(examples, engines.Held),
        )
        self._check_memory(problem, examples, shards, settings.solver)
        # A pass of a millisecond is not worth waking threads for, nor their memory.
        idle = self.engine is None and sum(shard.work for shard in shards) < SERIAL_WORK
        engine = engines.Threads(1) if idle else settings.engine
        shards = engine.place(shards)
        if not held or settings.scalable:  # rows in memory have been looked at
            size = intake.inspected(engine, shards, problem, by_column=settings.scalable)
            units = Units.of(size) if settings.scalable else units
        if units.scale is not None:
            shards = engine.place(examples.prepared(scale=units.scale).cut(problem.full))
        objective = Objective(problem, shards, engine, settings.C, settings.l1, settings.l2)
        return objective, units

    def _check_memory(
        self,
        problem: passes.Problem,
        examples: engines.Examples,
        shards: list[Any],
        solver: solvers.Solver,
    ) -> None:
        """Refuse a fit whose vectors and scores cannot fit, before it starts."""
        in_turn = [len(shard) for shard in shards if shard.on_disk]
        rows = max(in_turn) if in_turn else sum(map(len, shards))
        n, d = examples.shape
        checks.memory(
            solver.bytes_held(problem, rows),
            f"fitting {n} rows, {d} features and {problem.full.labels} classes",
            "Reduce the features (for example by hashing or selection) or the classes.",
        )

    def _problem(self, examples: engines.Examples, loss: losses.Loss) -> passes.Problem:
        k = len(examples.classes)
        fast = compiled(examples.entries * k)
        layout = Full(
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
        layout = objective.problem.full
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
        if layout.intercept and layout.free_intercept and objective.problem.loss.relative:
            logs = np.log(objective.counts)
            w[layout.free] = logs - logs.mean() if layout.columns > 1 else logs[1] - logs[0]
        return w, None

    def _accept(self, objective: Objective, solution: Solution, units: Units, classes: Any) -> None:
        layout = objective.problem.full
        solution = replace(solution, w=units.outside(layout, solution.w))
        check_end(objective, solution)
        self.__dict__.update(self._attributes(layout, solution.w, classes))
        self.solution_ = solution
        self.n_iter_ = max(solution.passes, 1)

    def _attributes(self, layout: Full, w: Floats, classes: Any) -> dict[str, Any]:
        """What prediction needs, from a flat w."""
        w = _centred(layout, w) if self._loss().relative else w
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
        shards = engines.cut(Structures(rows), truth, problem.full)
        engine = engines.Threads(self.n_threads if problem.full.compiled else 1)
        hired = engine.open() if problem.full.compiled else _nothing()
        with hired, np.errstate(invalid="ignore", over="ignore"):
            parts = list(engine.each(passes.outputs, shards, problem, self._w))
        node = parts[0]["node"] if len(parts) == 1 else np.concatenate([p["node"] for p in parts])
        try:
            return checks.finite_scores(node).reshape(-1, k)
        except NumericalFailure:
            checks.finite(rows)  # it says where, if the rows were at fault
            raise

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
        return np.asarray(copy.copy(self)._answers(X, answers.margins))

    def predict(self, X: Any) -> Any:
        """The class of the highest score for each row; of equals, the first in ``classes_``."""
        known = copy.copy(self)  # one fit, whatever another thread does meanwhile
        places = known._answers(X, answers.best)
        return known.classes_[places]

    @property
    def predict_proba(self) -> Callable[[Any], Floats]:
        """P(y | x) for each row and class: softmax of the scores; for "ovr_log" σ of each, normalised."""
        return self._with_probabilities("predict_proba", answers.probabilities, answers.shares)

    @property
    def predict_log_proba(self) -> Callable[[Any], Floats]:
        """log P(y | x), without under- or overflow."""
        return self._with_probabilities(
            "predict_log_proba", answers.log_probabilities, answers.log_shares
        )

    def _with_probabilities(self, name: str, joint: Any, separate: Any) -> Callable[[Any], Floats]:
        loss = self._loss()
        if not loss.probabilities:
            raise NoProbabilities(
                f"{name}: the scores of loss {loss.name!r} are no probabilities. Wrap the classifier in "
                "calibration.Calibrated, or use loss='log'."
            )
        answer = joint if loss.relative else separate
        return lambda X: np.asarray(copy.copy(self)._answers(X, answer))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted. A stored set brings its own labels and weights."""
        if isinstance(X, engines.Stored) and y is None:
            y, sample_weight = X.labels(), X.weights()
        return float(super().score(X, y, sample_weight))

    def read_out(self, readout: Readout) -> Self:
        """A copy whose scores are ``readout`` of this one's: calibrated, and still a linear model.

        Its ``solution_`` remains that of the fit; fitting it again gives scores as they were.

        >>> import numpy as np
        >>> from argmax import SoftmaxRegression
        >>> from argmax.calibration import Readout
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = SoftmaxRegression().fit(X, y)
        >>> halved = model.read_out(Readout(np.array(0.5), np.zeros(3)))
        >>> np.allclose(halved.decision_function(X), model.decision_function(X) / 2)
        True
        """
        check_is_fitted(self, "coef_")
        coef, intercept = readout.folded(self.coef_, self.intercept_)
        layout = replace(self._layout, intercept=True)
        found = copy.copy(self)
        found.__dict__.update(self._attributes(layout, layout.pack(coef, intercept), self.classes_))
        return found

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


def _best_so_far(objective: Objective, report: Report) -> Solution:
    """What an interrupt leaves; no pass is spent on the value of what gets no certificate in any case."""
    assert report.w is not None
    report.stop("interrupted", "interrupted")
    if objective.problem.loss.online or not report.certifies:
        return report.online(report.w.copy(), report.solver)
    return report.solution(objective, objective.at(report.w.copy()), "interrupted")


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


def _judged(objective: Objective, solution: Solution) -> Solution:
    """The solution; where no w is the best one, it says so instead of "converged"."""
    loss, k = objective.problem.loss, objective.problem.layout.labels
    unlimited = loss.probabilities and (loss.relative or k == 2)
    if objective.penalised or not unlimited or not _separates(objective, solution.w):
        return solution
    reason = (
        "the classes are linearly separable and there is no penalty, so larger weights are always "
        "better and none are best"
    )
    return replace(solution, status="separable", message=f"{solution.solver}: {reason}.")


def _separates(objective: Objective, w: Floats) -> bool:
    """Whether w gives every example's own label the highest score: then 2w does so by a wider margin."""
    return bool(objective.fold(surveys.wrong, w)["wrong"] == 0)


def _centred(layout: Full, w: Floats) -> Floats:
    """Only differences between classes matter: intercepts are shifted to mean zero, as scikit-learn's."""
    if not (layout.intercept and layout.free_intercept and layout.columns > 1):
        return w
    intercept = w[layout.free]
    if abs(intercept.mean()) <= 1e-14 * abs(intercept).max():
        return w
    w = w.copy()
    w[layout.free] -= intercept.mean()
    return w


def _predictor(entries: int, layout: Full) -> tuple[Classes, Full, losses.Loss]:
    fast = compiled(entries * layout.labels)
    return Classes(layout.labels, compiled=fast), replace(layout, compiled=fast), losses.get("log")
