"""A bank of L binary models, one for each column of a code: learned together, or one after another."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, final

import joblib
import numpy as np
from scipy.special import expit, logit
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import has_fit_parameter

from .. import checks
from ..errors import NotConverged, Unsupported
from ..estimators.base import Classifier
from ..estimators.learner import ADVICE, FINE
from ..records import Floats, Ints, Rows, Solution
from .bits import Bits
from .intake import Given, some_rows
from .subsets import minimise_subsets, scattered
from .together import minimise

__all__ = ["Bank", "Separate", "Together", "has_chances", "learn", "obstacle"]


class Bank(ABC):
    """Scores of all problems; positive means the bit 1. What would not be finite is an error."""

    def scores(self, X: Any) -> Floats:
        """Margins (n, L)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return checks.finite_scores(self._scores(X))

    def chances(self, X: Any) -> Floats:
        """P(bit = 1) (n, L)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return checks.finite_scores(self._chances(X))

    def one(self, X: Any, problem: int) -> Floats:
        """Margins (n,) of one problem."""
        with np.errstate(over="ignore", invalid="ignore"):
            return checks.finite_scores(self._one(X, problem))

    @abstractmethod
    def _scores(self, X: Any) -> Floats:
        """Margins (n, L)."""

    @abstractmethod
    def _chances(self, X: Any) -> Floats:
        """P(bit = 1) (n, L)."""

    @abstractmethod
    def _one(self, X: Any, problem: int) -> Floats:
        """Margins (n,) of one problem."""


@final
class Together(Bank):
    """Linear models side by side: one product for all scores."""

    def __init__(self, coef: Floats, intercept: Floats, solution: Solution) -> None:
        self.weights = _columns(coef)
        self.intercept, self.solution = intercept, solution

    @property
    def coef(self) -> Floats:
        """Weights (L, d)."""
        return self.weights.T

    def _scores(self, X: Any) -> Floats:
        return np.asarray(X @ self.weights + self.intercept)

    def _chances(self, X: Any) -> Floats:
        return np.asarray(expit(self.scores(X)))

    def _one(self, X: Any, problem: int) -> Floats:
        return np.asarray(X @ self.weights[:, problem] + self.intercept[problem])


@final
class Separate(Bank):
    """Fitted clones of the base."""

    def __init__(self, models: list[Any]) -> None:
        self.models = models
        self.stacked: tuple[Floats, Floats] | None = None
        if all(isinstance(model, Classifier) for model in models):  # one product instead of L
            intercepts = np.concatenate([model.intercept_ for model in models])
            self.stacked = _columns(np.vstack([model.coef_ for model in models])), intercepts

    def _scores(self, X: Any) -> Floats:
        if self.stacked is not None:
            weights, intercept = self.stacked
            return np.asarray(X @ weights + intercept)
        return np.column_stack([_margins(model, X) for model in self.models])

    def _chances(self, X: Any) -> Floats:
        if self.stacked is not None:  # two classes of ours: σ of the margin, whatever the loss
            return np.asarray(expit(self.scores(X)))
        return np.column_stack([model.predict_proba(X)[:, 1] for model in self.models])

    def _one(self, X: Any, problem: int) -> Floats:
        return _margins(self.models[problem], X)


def _columns(coef: Floats) -> Floats:
    """Weights (d, L) from (L, d), contiguous: sparse rows would copy them for every product else."""
    return np.ascontiguousarray(coef.T)


def _margins(model: Any, X: Any) -> Floats:
    """A real number for each row, positive for the bit 1, from whatever the model offers."""
    if is_regressor(model):
        return np.asarray(model.predict(X), dtype=float).ravel()
    if (decide := getattr(model, "decision_function", None)) is not None:
        return np.asarray(decide(X), dtype=float).ravel()
    if has_chances(model):
        return np.asarray(logit(np.clip(model.predict_proba(X)[:, 1], 1e-15, 1.0 - 1e-15)))
    return 2.0 * np.asarray(model.predict(X), dtype=float) - 1.0


def has_chances(base: Any) -> bool:
    """Whether a model offers probabilities."""
    return getattr(base, "predict_proba", None) is not None


def learn(base: Any, given: Given, code: Any, together: Any, n_jobs: int | None) -> Bank:
    """The models of all columns of the code."""
    checks.choice("together", together, ("auto", True, False))
    reason = obstacle(base)
    if together is True and reason is not None:
        raise Unsupported(f"together=True, but {reason}. Use together='auto'.")
    if together is False or reason is not None:
        return _separate(base, given, code, n_jobs)
    assert given.rows is not None
    return _together(base, given.rows, given, code)


def obstacle(base: Any) -> str | None:
    """Why problems with this base are not solved together; None if they are."""
    if not isinstance(base, Classifier):
        return f"{type(base).__name__} is not a linear classifier of argmax"
    if base._loss().name != "log":
        return f"loss={base._loss().name!r} has no solver for many problems at once"
    settings = base._settings()
    if (settings.l1, settings.l2) != (0.0, 1.0) or not settings.penalised:
        return "only penalty='l2' with a finite C has one for many problems at once"
    plain = {"solver": "auto", "engine": None, "callbacks": None, "warm_start": False, "verbose": 0}
    for name, value in plain.items():
        if (found := getattr(base, name)) is not value and found != value:
            return f"{name}={found!r} belongs to a fit of its own"
    return None


def _together(base: Any, rows: Rows, given: Given, code: Any) -> Together:
    settings = base._settings()
    n, (d, L) = len(rows), (rows.shape[1], code.shape[1])
    weight = np.ones(1) if given.weight is None else given.weight
    bits = Bits(code.astype(float), _shares(base, given, code), settings.C, given.y, weight)
    apart = scattered(bits)
    checks.memory(
        8.0 * (2 * d * L if apart else 8 * n * L + 10 * d * L),
        f"solving {L} problems of {n} rows and {d} features together",
        "Use together=False, or fewer problems.",
    )
    checks.total_weight(settings.C, np.broadcast_to(weight, n))
    limit = base.time_limit
    solve = minimise_subsets if apart else minimise
    with settings.engine.open() as crew:
        coef, intercept, solution = solve(
            rows,
            bits,
            bool(base.fit_intercept),
            crew,
            checks.number("tol", base.tol, 0.0, open_low=True),
            checks.positive_integer("max_iter", base.max_iter),
            None if limit is None else checks.number("time_limit", limit, 0.0),
            base._seed(),
        )
    if solution.status not in FINE:
        advice = ADVICE.get(solution.status, "Raise max_iter, time_limit or tol.")
        warnings.warn(f"{solution.message} {advice}", NotConverged, stacklevel=5)
    return Together(coef, intercept, solution)


def _shares(base: Any, given: Given, code: Any) -> Floats:
    """The weight of each class in each problem (k, L): 0 where it takes no part, else its bit's weight."""
    share = np.asarray(code != 0, float)
    if base.class_weight is None:
        return share
    counts = np.bincount(given.y, given.weight, minlength=len(code)).astype(float)
    for l, bits in enumerate(code.T):
        totals = np.array([counts[bits == bit].sum() for bit in (-1, 1)])
        factors = checks.class_factors(base.class_weight, np.array([0, 1]), totals)
        share[:, l] *= np.where(bits == 1, factors[1], factors[0])
    return share


def _separate(base: Any, given: Given, code: Any, n_jobs: int | None) -> Separate:
    if given.weight is not None and not has_fit_parameter(base, "sample_weight"):
        raise Unsupported(
            f"sample_weight: {type(base).__name__} takes none and would ignore it. Use another base, or "
            "repeat the rows."
        )
    jobs = joblib.Parallel(n_jobs=n_jobs)
    models = jobs(joblib.delayed(_fitted)(base, given, bits) for bits in code.T)
    return Separate(list(models))


def _fitted(base: Any, given: Given, bits: Ints) -> Any:
    """A clone of the base that tells the classes of bit 1 from those of bit −1."""
    target = bits[given.y]
    used = np.flatnonzero(target)
    X = given.X if len(used) == len(target) else some_rows(given.X, used)
    weight = {} if given.weight is None else {"sample_weight": given.weight[used]}
    model = clone(base)
    wanted = target[used].astype(float) if is_regressor(base) else (target[used] > 0).astype(int)
    return model.fit(X, wanted, **weight)
