"""A fitted classifier as a document and tensors, and back.

    document  estimator, parameters, left_out, classes, layout, solution
    tensors   coef (m, d)  intercept (m,)  classes, or classes.data and classes.offsets
              cost (k, k), where the model has one
              names.data and names.offsets, where the columns had names
              those of ``solutions``

Rows of the training data, and what a solver keeps for each of them, are never part of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks, costs
from ..errors import ModelFileError
from ..estimators import (
    LinearClassifier,
    MulticlassPerceptron,
    MulticlassSVM,
    SoftmaxRegression,
)
from ..layouts import Full, two_classes
from .checked import Room, finite, flags, same_keys, take
from .container import Tensors
from .labels import label_tensors, labels, name_tensors, names
from .parameters import checked, decoded, encoded
from .solutions import rebuilt_solution, solution_parts

__all__ = ["CLASSIFIERS", "classifier_parts", "feature_names", "rebuilt_classifier"]

CLASSIFIERS = {
    kind.__name__: kind
    for kind in (LinearClassifier, MulticlassPerceptron, MulticlassSVM, SoftmaxRegression)
}

DOCUMENT = ("estimator", "parameters", "left_out", "classes", "layout", "solution")
LAYOUT = ("intercept", "free_intercept", "sparse", "precise")


# Out


def classifier_parts(estimator: Any) -> tuple[dict[str, Any], Tensors]:
    """The document and the tensors of a fitted estimator."""
    priced = estimator.cost is not None
    parameters, left_out = encoded(estimator, ("cost",) if priced else ())
    dtype, tensors = label_tensors(estimator.classes_)
    told, numbers = solution_parts(estimator.solution_)
    tensors |= {"coef": estimator.coef_, "intercept": estimator.intercept_} | numbers
    if priced:
        tensors["cost"] = np.asarray(estimator.cost, float)
    if hasattr(estimator, "feature_names_in_"):
        tensors |= name_tensors("names", estimator.feature_names_in_.tolist())
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


def rebuilt_classifier(given: Any, tensors: Tensors, room: Room) -> Any:
    """The fitted estimator; its tensors are taken out of the others."""
    document = same_keys("document", given, DOCUMENT)
    classes = labels(document["classes"], tensors, room)
    k, apart = len(classes), {}
    if "cost" in tensors:
        apart["cost"] = finite("cost", take(tensors, "cost", np.float64, k, k))
    estimator = decoded(CLASSIFIERS[document["estimator"]], document["parameters"], **apart)
    _check_parameters(estimator, classes)
    coef = finite("coef", take(tensors, "coef", np.float64, None, None))
    layout = _layout(document["layout"], len(classes), coef)
    intercept = finite("intercept", take(tensors, "intercept", np.float64, layout.columns))
    if not layout.intercept and intercept.any():
        raise ModelFileError("has an intercept and says that it has none.")
    w = layout.pack(coef, intercept)
    estimator._layout, estimator._w = layout, w
    estimator.classes_, estimator.coef_, estimator.intercept_ = classes, coef, intercept
    estimator.solution_ = rebuilt_solution(document["solution"], w, tensors, room)
    estimator.n_iter_ = max(estimator.solution_.passes, 1)
    estimator.n_features_in_ = layout.features
    if "names.data" in tensors:
        estimator.feature_names_in_ = feature_names(tensors, layout.features, room)
    return estimator


def _layout(given: Any, k: int, coef: NDArray[Any]) -> Full:
    told = flags("layout", given, LAYOUT)
    layout = Full(coef.shape[1], k, two_classes() if k == 2 else None, **told)
    if not layout.features or len(coef) != layout.columns:
        raise ModelFileError(f"has weights of shape {coef.shape}, which do not fit {k} classes.")
    return layout


def _check_parameters(estimator: Any, classes: NDArray[Any]) -> None:
    with checked():
        checks.choice("dtype", estimator.dtype, (None, "float32", "float64"))
        if estimator.cost is not None:
            costs.matrix(estimator.cost, len(classes))
        weight, codes = np.ones(len(classes)), np.arange(len(classes))
        checks.class_weights(estimator.class_weight, classes, codes, weight)


def feature_names(tensors: Tensors, features: int, room: Room) -> NDArray[Any]:
    """The names of the columns that a model was fitted with, out of the other tensors."""
    found = names(tensors, "names", room)
    if len(found) != features or len(set(found)) < features:
        raise ModelFileError("has names that do not fit its features.")
    return np.array(found, dtype=object)
