"""A fitted tagger as a document and tensors, and back.

    document  estimator, parameters, left_out, classes, features, layout, n_iter, solution (None where
              ``partial_fit`` has learned)
    tensors   pairs.ptr (d+1,)  pairs.codes (p,)  pairs.values (p,): weights of attribute–label pairs; those
              of attribute a are ptr[a] … ptr[a+1]−1, with rising labels
              start (K,)  transitions (edge features · states, K)  classes.…  those of ``solutions``
              features.options, as JSON, and features.…
              cost (K, K); constraints.start, .end (K,) and .follow (K, K), where they are not plain words

Sequences of the training data are never part of it; attributes that they had are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from ..errors import InvalidInput, ModelFileError, Unsupported
from ..estimators import CRFTagger, SequenceTagger
from ..features import Given, Templates
from ..layouts import Pairs
from ..spaces import constraints
from . import strict
from .checked import Room, bounded, finite, flags, same_keys, take
from .container import Tensors
from .labels import label_tensors, labels
from .parameters import checked, decoded, encoded
from .solutions import rebuilt_solution, solution_parts

__all__ = ["TAGGERS", "rebuilt_tagger", "tagger_parts"]

TAGGERS = {kind.__name__: kind for kind in (SequenceTagger, CRFTagger)}
FEATURES = {kind.__name__: kind for kind in (Templates, Given)}

DOCUMENT = (
    "estimator", "parameters", "left_out", "classes", "features", "layout", "n_iter", "solution",
)  # fmt: skip
LAYOUT = ("start", "precise")
MASKS = ("start", "end", "follow")

# Out


def tagger_parts(tagger: Any) -> tuple[dict[str, Any], Tensors]:
    """The document and the tensors of a fitted tagger."""
    apart, tensors = _apart(tagger)
    parameters, left_out = encoded(tagger, ("features", *apart))
    dtype, names = label_tensors(tagger.classes_)
    told: dict[str, Any] | None = None
    numbers: Tensors = {}
    if hasattr(tagger, "solution_"):
        told, numbers = solution_parts(tagger.solution_)
    kind, features = _feature_parts(tagger.features_)
    tensors |= names | numbers | features | _pair_tensors(tagger.coef_)
    edges = tagger.edge_coef_.reshape(-1, len(tagger.classes_))
    tensors |= {"start": tagger.start_, "transitions": edges}
    document = {
        "estimator": type(tagger).__name__,
        "parameters": parameters,
        "left_out": left_out,
        "classes": dtype,
        "features": {"kind": kind, "given": tagger.features is not None},
        "layout": {name: bool(getattr(tagger._layout, name)) for name in LAYOUT},
        "n_iter": int(tagger.n_iter_),
        "solution": told,
    }
    return document, tensors


def _apart(tagger: Any) -> tuple[list[str], Tensors]:
    """Parameters that are arrays, or can be written as such: their names and tensors."""
    tensors: Tensors = {}
    if tagger.cost is not None:
        tensors["cost"] = np.asarray(tagger.cost, float)
    if tagger.constraints is not None and not isinstance(tagger.constraints, str):
        rules = constraints.get(tagger.constraints, tagger.classes_.tolist())
        tensors |= {f"constraints.{name}": getattr(rules, name) for name in MASKS}
    return sorted({name.partition(".")[0] for name in tensors}), tensors


def _feature_parts(features: Any) -> tuple[str, Tensors]:
    if type(features) not in FEATURES.values():
        raise Unsupported(
            f"features is a {type(features).__name__}. A model file holds {' or '.join(FEATURES)}. Use "
            "one of these, or pickle the model for your own processes."
        )
    options = np.frombuffer(strict.written(features.options()).encode(), np.uint8)
    tensors = {f"features.{name}": tensor for name, tensor in features.tensors().items()}
    return type(features).__name__, {"features.options": options, **tensors}


def _pair_tensors(coef: Any) -> Tensors:
    table = sp.csc_array(coef)
    table.sort_indices()
    return {
        "pairs.ptr": table.indptr.astype(np.int64),
        "pairs.codes": table.indices.astype(np.int32),
        "pairs.values": table.data.astype(np.float64),
    }


# Back


def rebuilt_tagger(given: Any, tensors: Tensors, room: Room) -> Any:
    """The fitted tagger; its tensors are taken out of the others."""
    document = same_keys("document", given, DOCUMENT)
    classes = labels(document["classes"], tensors, room)
    K, apart = len(classes), _parameters_apart(tensors, classes)
    features, given_features = _features(document["features"], tensors)
    tagger = decoded(
        TAGGERS[document["estimator"]], document["parameters"], features=given_features, **apart
    )
    with checked():
        states = tagger._space(classes).states
        if tagger.pairs not in ("observed", "all"):
            raise InvalidInput(f"pairs={tagger.pairs!r}.")
    coef = _coef(tensors, K)
    if features.width != coef.shape[0]:
        raise ModelFileError("has features that do not fit the weights.")
    start = bounded("start", take(tensors, "start", np.float64, K))
    tables = max(features.edge_width, 1) if states == K else 1
    edges = bounded("transitions", take(tensors, "transitions", np.float64, tables * states, K))
    edges = edges.reshape(tables, states, K)
    told = flags("layout", document["layout"], LAYOUT)
    if not told["start"] and start.any():
        raise ModelFileError("has weights of first labels and says that it has none.")
    layout = Pairs.of(coef, states=states, edge_features=tables, **told)
    tagger.features_, tagger.classes_, tagger._online = features, classes, None
    tagger._set_weights(layout, layout.pack(coef, start, edges))
    if document["solution"] is not None:
        tagger.solution_ = rebuilt_solution(document["solution"], tagger._w, tensors, room)
    if type(document["n_iter"]) is not int or document["n_iter"] < 1:
        raise ModelFileError("has a number of passes that is none.")
    tagger.n_iter_ = document["n_iter"]
    return tagger


def _parameters_apart(tensors: Tensors, classes: NDArray[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    K = len(classes)
    if "cost" in tensors:
        found["cost"] = finite("cost", take(tensors, "cost", np.float64, K, K))
    if "constraints.start" in tensors:
        if classes.dtype.kind not in "OU":
            raise ModelFileError("has constraints on labels that are no words.")
        shapes = ((K,), (K,), (K, K))
        masks = [
            take(tensors, f"constraints.{name}", np.bool_, *shape)
            for name, shape in zip(MASKS, shapes, strict=True)
        ]
        found["constraints"] = constraints.Constraints(tuple(classes.tolist()), *masks)
    return found


def _features(given: Any, tensors: Tensors) -> tuple[Any, Any]:
    """The fitted features, and the parameter: a copy that is not fitted, or None."""
    told = same_keys("features", given, ("kind", "given"))
    if told["kind"] not in list(FEATURES) or not isinstance(told["given"], bool):
        raise ModelFileError("has features that this version does not have.")
    text = take(tensors, "features.options", np.uint8, None)
    own = {name[9:]: tensors.pop(name) for name in list(tensors) if name.startswith("features.")}
    try:
        options = strict.parsed(text.tobytes().decode("ascii"))
        features = FEATURES[told["kind"]].rebuild(options, own)
    except (InvalidInput, ValueError) as error:
        raise ModelFileError(f"has features that do not do: {error}") from error
    return features, clone(features) if told["given"] else None


def _coef(tensors: Tensors, K: int) -> Any:
    """Weights (d, K), sparse."""
    ptr = take(tensors, "pairs.ptr", np.int64, None)
    codes = take(tensors, "pairs.codes", np.int32, None)
    values = bounded("pairs.values", take(tensors, "pairs.values", np.float64, len(codes)))
    whole = len(ptr) > 1 and ptr[0] == 0 and ptr[-1] == len(codes)
    if not whole or np.any(ptr[1:] < ptr[:-1]) or np.any((codes < 0) | (codes >= K)):
        raise ModelFileError("has weights of pairs that do not fit.")
    rises = np.diff(codes) > 0
    first = ptr[(ptr > 0) & (ptr < len(codes))]
    rises[first - 1] = True  # another attribute
    if not rises.all():
        raise ModelFileError("has weights of pairs whose labels do not rise.")
    return sp.csr_array((values, codes, ptr), shape=(len(ptr) - 1, K))
