"""A fitted GraphLabeler as a document and tensors, and back.

    document  estimator, parameters, left_out, classes, given, solution
    tensors   coef (K, d)  intercept (K,)  edge (e · K, K), or (e, 1) for Potts
              classes, or classes.data and classes.offsets; those of ``solutions``

``given`` says whether there is an intercept, whether edges had features, and whether training was exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from ..errors import ModelFileError
from ..estimators import GraphLabeler
from ..layouts import Linked
from .checked import Room, bounded, flags, same_keys, take
from .container import Tensors
from .labels import label_tensors, labels
from .parameters import checked, decoded, encoded
from .solutions import rebuilt_solution, solution_parts

__all__ = ["labeler_parts", "rebuilt_labeler"]

DOCUMENT = ("estimator", "parameters", "left_out", "classes", "given", "solution")
GIVEN = ("intercept", "edge_features", "exact")


# Out


def labeler_parts(model: GraphLabeler) -> tuple[dict[str, Any], Tensors]:
    """The document and the tensors of a fitted estimator."""
    parameters, left_out = encoded(model)
    dtype, tensors = label_tensors(np.asarray(model.classes_))
    told, numbers = solution_parts(model.solution_)
    side = 1 if model._layout.potts else len(model.classes_)
    edge = model.edge_coef_[:, :side, :side].reshape(-1, side)
    tensors |= {"coef": model.coef_, "intercept": model.intercept_} | numbers
    tensors["edge"] = np.ascontiguousarray(edge)
    document = {
        "estimator": type(model).__name__,
        "parameters": parameters,
        "left_out": left_out,
        "classes": dtype,
        "given": {
            "intercept": bool(model._layout.intercept),
            "edge_features": model._edge_features > 0,
            "exact": bool(model.exact_),
        },
        "solution": told,
    }
    return document, tensors


# Back


def rebuilt_labeler(told: Any, tensors: Tensors, room: Room) -> GraphLabeler:
    """The fitted estimator; its tensors are taken out of the others."""
    document = same_keys("document", told, DOCUMENT)
    given = flags("document", document["given"], GIVEN)
    classes = labels(document["classes"], tensors, room)
    K = len(classes)
    model: GraphLabeler = decoded(GraphLabeler, document["parameters"])
    with checked():
        potts = checks.choice("edges", model.edges, ("full", "potts")) == "potts"
        model._space(K)
        checks.class_factors(model.class_weight, classes, np.ones(K))
    coef = bounded("coef", take(tensors, "coef", np.float64, K, None))
    intercept = bounded("intercept", take(tensors, "intercept", np.float64, K))
    side = 1 if potts else K
    flat = bounded("edge", take(tensors, "edge", np.float64, None, side))
    if len(flat) % side:
        raise ModelFileError("has tables of edges that are not square.")
    edge = flat.reshape(-1, side, side)
    if not coef.shape[1] or not len(edge) or (not given["edge_features"] and len(edge) > 1):
        raise ModelFileError("has weights that fit no graph.")
    if not given["intercept"] and intercept.any():
        raise ModelFileError("has an intercept and says that it has none.")
    room.use(8.0 * len(edge) * K**2, "edge weights")
    layout = Linked(coef.shape[1], K, len(edge), potts, given["intercept"], precise=True)
    model._layout, model._w = layout, layout.pack(coef, intercept, edge)
    model.classes_, model.coef_, model.intercept_ = classes, coef, intercept
    model.edge_coef_ = layout.tables(model._w).copy()
    model.n_features_in_, model.exact_ = layout.features, given["exact"]
    model._edge_features = len(edge) if given["edge_features"] else 0
    model.solution_ = rebuilt_solution(document["solution"], model._w, tensors, room)
    model.n_iter_ = max(model.solution_.passes, 1)
    return model
