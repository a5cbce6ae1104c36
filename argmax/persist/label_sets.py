"""A fitted MultiLabelClassifier as a document and tensors, and back.

    document  estimator, parameters, left_out, classes, given, layout, solution
    tensors   coef (k, d)  intercept (k,)  pairs (E, 2)  pair_weights (E,)
              classes, or classes.data and classes.offsets
              names.data and names.offsets, where the columns had names
              those of ``solutions``

``given`` says whether y was a matrix, and whether labels and pairs were named by whoever fitted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import ModelFileError
from ..estimators import MultiLabelClassifier
from ..layouts import Full
from .checked import Room, bounded, flags, same_keys, take
from .classifier import feature_names
from .container import Tensors
from .labels import label_tensors, label_values, name_tensors
from .parameters import checked, decoded, encoded
from .solutions import rebuilt_solution, solution_parts

__all__ = ["rebuilt_sets", "sets_parts"]

DOCUMENT = ("estimator", "parameters", "left_out", "classes", "given", "layout", "solution")
GIVEN = ("multilabel", "labels", "pairs")
LAYOUT = ("intercept", "sparse", "precise")


# Out


def sets_parts(model: MultiLabelClassifier) -> tuple[dict[str, Any], Tensors]:
    """The document and the tensors of a fitted estimator."""
    given = {
        "multilabel": bool(model.multilabel_),
        "labels": model.labels is not None,
        "pairs": not isinstance(model.pairs, str),
    }
    parameters, left_out = encoded(model, [name for name in GIVEN if given[name]])
    dtype, tensors = label_tensors(np.asarray(model.classes_))
    told, numbers = solution_parts(model.solution_)
    tensors |= {"coef": model.coef_, "intercept": model.intercept_} | numbers
    tensors |= {"pairs": model.pairs_, "pair_weights": model.pair_weights_}
    if hasattr(model, "feature_names_in_"):
        tensors |= name_tensors("names", model.feature_names_in_.tolist())
    document = {
        "estimator": type(model).__name__,
        "parameters": parameters,
        "left_out": left_out,
        "classes": dtype,
        "given": given,
        "layout": {name: bool(getattr(model._layout, name)) for name in LAYOUT},
        "solution": told,
    }
    return document, tensors


# Back


def rebuilt_sets(content: Any, tensors: Tensors, room: Room) -> MultiLabelClassifier:
    """The fitted estimator; its tensors are taken out of the others."""
    document = same_keys("document", content, DOCUMENT)
    given = flags("document", document["given"], GIVEN)
    classes = label_values(document["classes"], tensors, room)
    k = _columns(classes, given["multilabel"])
    pairs = _pairs(tensors, k)
    apart: dict[str, Any] = {"labels": classes.copy()} if given["labels"] else {}
    apart |= {"pairs": pairs.copy()} if given["pairs"] else {}
    model: MultiLabelClassifier = decoded(MultiLabelClassifier, document["parameters"], **apart)
    with checked():
        checks.choice("dtype", model.dtype, (None, "float32", "float64"))
        checks.choice("decoding", model.decoding, ("argmax", "hamming", "f1"))
        if isinstance(model.pairs, str):
            checks.choice("pairs", model.pairs, ("tree", "none", "all"))
    coef = bounded("coef", take(tensors, "coef", np.float64, k, None))
    intercept = bounded("intercept", take(tensors, "intercept", np.float64, k))
    weights = bounded("pair_weights", take(tensors, "pair_weights", np.float64, len(pairs)))
    told: dict[str, Any] = dict(flags("layout", document["layout"], LAYOUT))
    joint: dict[str, Any] = {"free_intercept": False, "edge_kinds": len(pairs), "edge_states": 1}
    layout = Full(coef.shape[1], k, **told, **joint)
    if not layout.features or (not layout.intercept and intercept.any()):
        raise ModelFileError("has weights that do not fit its layout.")
    w = layout.pack(coef, intercept, weights if len(pairs) else None)
    model._layout, model._w, model.classes_, model.multilabel_ = (
        layout,
        w,
        classes,
        given["multilabel"],
    )
    model.coef_, model.intercept_, model.pairs_, model.pair_weights_ = (
        coef,
        intercept,
        pairs,
        weights,
    )
    model.solution_ = rebuilt_solution(document["solution"], w, tensors, room)
    model.n_iter_ = max(model.solution_.passes, 1)
    model.n_features_in_ = layout.features
    if "names.data" in tensors:
        model.feature_names_in_ = feature_names(tensors, layout.features, room)
    return model


def _columns(classes: NDArray[Any], multilabel: bool) -> int:
    """k, the columns that labels have: of one label a row, two classes share one."""
    if multilabel:
        if not len(classes) or len(set(classes.tolist())) < len(classes):
            raise ModelFileError("has labels that are not different, or none.")
        return len(classes)
    if len(classes) < 2 or not np.all(classes[1:] > classes[:-1]):
        raise ModelFileError("has classes that are not sorted, not different, or fewer than two.")
    return len(classes) if len(classes) > 2 else 1


def _pairs(tensors: Tensors, k: int) -> NDArray[Any]:
    pairs = take(tensors, "pairs", np.int64, None, 2)
    if np.any(pairs < 0) or np.any(pairs >= k) or np.any(pairs[:, 0] >= pairs[:, 1]):
        raise ModelFileError("has pairs of labels that are none.")
    if len(np.unique(pairs, axis=0)) < len(pairs):
        raise ModelFileError("has a pair of labels twice.")
    return pairs
