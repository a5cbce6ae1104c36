"""What ``fit`` was given, checked and made into examples: in memory, in files, or on a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks, costs, surveys
from ..engines import Crew, Engine, Examples, Held, Shard
from ..engines.reading import chosen
from ..errors import InvalidInput, Unsupported
from ..losses import Loss
from ..passes import Problem
from ..records import Floats, Truth

__all__ = ["costs_of", "elsewhere", "examples", "inspected", "same_features"]


def examples(
    estimator: Any,
    loss: Loss,
    X: Any,
    y: Any,
    sample_weight: Any,
    example_cost: Any,
    engine: Engine,
    crew: Crew,
) -> Examples:
    """Rows of positive weight with their labels, weights and costs, and the classes among them."""
    found = elsewhere(X, y, sample_weight, engine)
    if found is None:
        found = _held(estimator, loss, X, y, sample_weight, example_cost, crew)
    else:
        if loss.takes_cost or example_cost is not None:
            raise Unsupported(
                f"loss {loss.name!r} and its costs need rows in the memory of this process. Pass arrays, or "
                "use loss='log'."
            )
        if not found.labelled:
            raise InvalidInput("requires y to be passed, but the target y is None.")
        if engine.random_access:  # elsewhere one process would read for all
            found.check()
        _note_features(estimator, found)
        found = _with_class_weights(estimator.class_weight, found)
        asked = estimator.dtype
        if asked is not None and checks.float_type("dtype", asked, "None, ") != found.dtype:
            raise Unsupported(
                f"dtype={estimator.dtype!r}, but these rows are {found.dtype} where they lie. Use "
                "dtype=None, or store them again with another dtype."
            )
    if len(found.classes) < 2:
        got = f"one class: {found.classes.tolist()[0]!r}" if len(found.classes) else "none"
        raise InvalidInput(
            f"y must have at least two classes with positive weight; got {got}. "
            "Add rows of another class, or give the others weight."
        )
    return found


def elsewhere(X: Any, y: Any, sample_weight: Any, engine: Engine) -> Examples | None:
    """Examples that are not in this process's memory; None if they are."""
    if not isinstance(X, Examples):
        return engine.collect(X, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise Unsupported(
            f"{X!r} brings its own labels and weights. Leave out y and sample_weight, or write the set "
            "again with other ones."
        )
    return X


def _held(
    estimator: Any, loss: Loss, X: Any, y: Any, sample_weight: Any, example_cost: Any, crew: Crew
) -> Held:
    kind, run = estimator.dtype, crew.run
    rows = checks.rows(estimator, X, reset=True, dtype=kind, finite_later=True, run=run)
    checks.magnitude(rows, crew.run)
    n = len(rows)
    if y is None:
        raise InvalidInput("requires y to be passed, but the target y is None.")
    checks.same_length(X=rows, y=y, sample_weight=sample_weight)
    weight = checks.sample_weight(sample_weight, n)
    classes, codes = checks.labels(estimator, y, n)
    weight = checks.class_weights(estimator.class_weight, classes, codes, weight)
    cost, prices = costs_of(estimator.cost, loss, example_cost, n, len(classes))
    used = weight > 0
    if not used.all():  # a row without weight is a row that is not there
        rows, weight, codes = chosen(rows, used), weight[used], codes[used]
        present, codes = np.unique(codes, return_inverse=True)
        classes = classes[present]
        if cost is not None and cost.ndim == 2:
            cost = cost[np.ix_(present, present)]
        prices = None if prices is None else prices[np.ix_(used, present)]
    labels, weights = codes.astype(np.intp), None if np.all(weight == 1.0) else weight
    return Held(rows, Truth(labels, weights, cost, prices=prices), classes)


def costs_of(
    cost: Any, loss: Loss, example_cost: Any, n: int, k: int
) -> tuple[Floats | None, Floats | None]:
    """Costs of labels, as ``Truth`` has them, or costs of each example (n, k), where the loss has some."""
    if example_cost is None:
        if not loss.takes_cost:
            return None, None
        # The default is one number: a table of many labels against labels would be larger than the data.
        return np.ones(1) if cost is None else costs.matrix(cost, k), None
    if not loss.takes_cost or cost is not None:
        reason = f"loss {loss.name!r} has no cost" if not loss.takes_cost else "cost is set as well"
        raise Unsupported(f"example_cost would be ignored: {reason}. Leave one of them out.")
    return None, costs.rows(example_cost, n, k)


def _with_class_weights(setting: Any, found: Examples) -> Examples:
    factors = checks.class_factors(setting, found.classes, found.totals)
    if not factors.all():
        label = found.classes.tolist()[int(np.argmin(factors))]
        raise Unsupported(
            f"class_weight is 0 for {label!r}, which would leave rows out. Rows that are not in memory "
            "cannot be left out in a fit: store them without that class."
        )
    return found if np.all(factors == 1.0) else found.prepared(factors=factors)


def _note_features(estimator: Any, found: Examples) -> None:
    estimator.n_features_in_ = found.shape[1]
    if found.names is not None:
        estimator.feature_names_in_ = np.array(found.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def same_features(estimator: Any, found: Examples) -> None:
    """Refuse rows that have other columns than those of the fit."""
    expected, got = estimator.n_features_in_, found.shape[1]
    if got != expected:
        raise InvalidInput(
            f"X has {got} features, but {type(estimator).__name__} is expecting {expected} features as "
            "input."
        )
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or found.names is None or list(names) == list(found.names):
        return
    at = next(i for i, (a, b) in enumerate(zip(names, found.names, strict=True)) if a != b)
    raise InvalidInput(
        f"the feature names should match those of the fit; column {at} was {names[at]!r} and is "
        f"{found.names[at]!r}."
    )


def inspected(
    engine: Engine, shards: list[Shard], problem: Problem, by_column: bool = False
) -> Floats:
    """The largest |x|, of every column if asked; refuses what is not finite or would overflow."""
    largest: Any = 0.0
    first = 0
    for shard, found in zip(
        shards, engine.each(surveys.largest, shards, problem, by_column), strict=True
    ):
        if found["bad"] >= 0:
            raise InvalidInput(
                f"X contains NaN or infinity, first in row {first + found['bad']}. Impute or remove them "
                "first (for example with sklearn.impute.SimpleImputer)."
            )
        largest = np.maximum(largest, found["largest"])
        first += len(shard)
    checks.reach(float(np.max(largest)), shards[0].dtype)
    return np.asarray(largest)
