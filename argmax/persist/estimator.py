"""A fitted estimator as a document and tensors, and back.

    document  estimator, parameters, left_out, classes, layout, solution
    tensors   coef (m, d)  intercept (m,)  classes, or classes.data and classes.offsets
              names.data and names.offsets, where the columns had names
              solution.numbers (objective, gap, relative gap, seconds)  solution.history (h, 3)

Rows of the training data, and what a solver keeps for each of them, are never part of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelFileError
from ..estimators import LinearClassifier, SoftmaxRegression
from ..layouts import Full, two_classes
from ..records import Solution
from .checked import Room, same_keys, take
from .container import Tensors
from .labels import label_tensors, labels, name_tensors, names
from .parameters import decoded, encoded

__all__ = ["ESTIMATORS", "estimator_parts", "rebuilt_estimator"]

ESTIMATORS = {kind.__name__: kind for kind in (LinearClassifier, SoftmaxRegression)}

DOCUMENT = ("estimator", "parameters", "left_out", "classes", "layout", "solution")
LAYOUT = ("intercept", "free_intercept", "sparse", "precise")
SOLUTION = ("status", "message", "solver", "passes", "state")
NUMBERS = ("objective", "gap", "relative_gap", "seconds")
STATUSES = (
    "converged", "max_iter", "time_limit", "stopped", "interrupted", "stalled", "separable",
)  # fmt: skip

ROW = 160
"""Bytes of one row of a history: a tuple of three floats, in a list."""


# Out


def estimator_parts(estimator: Any) -> tuple[dict[str, Any], Tensors]:
    """The document and the tensors of a fitted estimator."""
    parameters, left_out = encoded(estimator)
    dtype, tensors = label_tensors(estimator.classes_)
    solution: Solution = estimator.solution_
    tensors |= {
        "coef": estimator.coef_,
        "intercept": estimator.intercept_,
        "solution.numbers": np.array([getattr(solution, name) for name in NUMBERS], float),
        "solution.history": np.array(solution.history, float).reshape(-1, 3),
    }
    if hasattr(estimator, "feature_names_in_"):
        tensors |= name_tensors("names", estimator.feature_names_in_.tolist())
    told = {name: getattr(solution, name) for name in SOLUTION} | {"state": solution.state is True}
    document = {
        "estimator": type(estimator).__name__,
        "parameters": parameters,
        "left_out": left_out,
        "classes": dtype,
        "layout": {name: bool(getattr(estimator._layout, name)) for name in LAYOUT},
        "solution": told,
    }
    return document, tensors


# Back


def rebuilt_estimator(given: Any, tensors: Tensors, room: Room) -> Any:
    """The fitted estimator; its tensors are taken out of the others."""
    document = same_keys("document", given, DOCUMENT)
    if document["estimator"] not in list(ESTIMATORS):
        raise ModelFileError("holds an estimator that this version does not have.")
    classes = labels(document["classes"], tensors, room)
    estimator = decoded(ESTIMATORS[document["estimator"]], document["parameters"], classes)
    coef = _finite("coef", take(tensors, "coef", np.float64, None, None))
    layout = _layout(document["layout"], len(classes), coef)
    intercept = _finite("intercept", take(tensors, "intercept", np.float64, layout.columns))
    if not layout.intercept and intercept.any():
        raise ModelFileError("has an intercept and says that it has none.")
    w = layout.pack(coef, intercept)
    estimator._layout, estimator._w = layout, w
    estimator.classes_, estimator.coef_, estimator.intercept_ = classes, coef, intercept
    estimator.solution_ = _solution(document["solution"], w, tensors, room)
    estimator.n_iter_ = max(estimator.solution_.passes, 1)
    estimator.n_features_in_ = layout.features
    if "names.data" in tensors:
        estimator.feature_names_in_ = _feature_names(tensors, layout.features, room)
    return estimator


def _layout(given: Any, k: int, coef: NDArray[Any]) -> Full:
    flags = same_keys("layout", given, LAYOUT)
    if not all(isinstance(flag, bool) for flag in flags.values()):
        raise ModelFileError("has a layout that argmax did not write.")
    layout = Full(coef.shape[1], k, two_classes() if k == 2 else None, **flags)
    if not layout.features or len(coef) != layout.columns:
        raise ModelFileError(f"has weights of shape {coef.shape}, which do not fit {k} classes.")
    return layout


def _finite(name: str, array: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore", invalid="ignore"):
        quick = np.isfinite(array.sum())  # no temporary of the size of the weights
    if not quick and not np.isfinite(array).all():
        raise ModelFileError(f"has values in {name!r} that are not finite.")
    return array


def _solution(given: Any, w: NDArray[Any], tensors: Tensors, room: Room) -> Solution:
    told = same_keys("solution", given, SOLUTION)
    words = [told[name] for name in ("status", "message", "solver")]
    whole = type(told["passes"]) is int and told["passes"] >= 0 and isinstance(told["state"], bool)
    if not whole or not all(isinstance(word, str) for word in words) or words[0] not in STATUSES:
        raise ModelFileError("has a solution that argmax did not write.")
    numbers = take(tensors, "solution.numbers", np.float64, len(NUMBERS))
    history = take(tensors, "solution.history", np.float64, None, 3)
    if np.isnan(numbers).any() or np.isnan(history).any():
        raise ModelFileError("has a solution with numbers that are none.")
    room.use(ROW * len(history), "history")
    return Solution(
        w=w,
        **dict(zip(NUMBERS, numbers.tolist(), strict=True)),
        **(told | {"state": told["state"] or None}),
        history=[(a, b, c) for a, b, c in history.tolist()],
    )


def _feature_names(tensors: Tensors, features: int, room: Room) -> NDArray[Any]:
    found = names(tensors, "names", room)
    if len(found) != features or len(set(found)) < features:
        raise ModelFileError("has names that do not fit its features.")
    return np.array(found, dtype=object)
