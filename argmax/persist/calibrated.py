"""A calibrated classifier or tagger as a document and tensors, and back: what belongs to the calibration.

document  method and options of the calibrator, asked (the method, or "auto"), cv, log_loss of what was
          tried (or None); of a classifier also ensemble, and the documents of the other members of it; of a
          tagger also spans, the options of the curve of spans (or None)
tensors   those of ``calibrators``; of other members as member.1.… those of ``classifier`` or ``reduction``;
          of a tagger with spans also spans.scale (1,) and spans.offset (2,)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..calibration import BiasCorrected, Calibrated, CalibratedTagger
from ..calibration.selection import METHODS, Selection
from ..errors import ModelFileError, Unsupported
from .calibrators import (
    calibrator_parts,
    is_number,
    readout_of,
    readout_tensors,
    rebuilt_calibrator,
)
from .checked import Room, same_keys
from .container import Tensors
from .estimator import estimator_parts, rebuilt_estimator

__all__ = ["calibration_parts", "rebuilt_calibrated", "rebuilt_calibrated_tagger"]

DOCUMENT = ("method", "asked", "options", "cv", "log_loss")


def calibration_parts(model: Calibrated | CalibratedTagger) -> tuple[dict[str, Any], Tensors]:
    """What a calibrated model has beside its classifier or tagger."""
    method, options, tensors = calibrator_parts(model.calibrator_)
    if not (model.cv is None or isinstance(model.cv, int | str)):
        raise Unsupported(f"cv={model.cv!r} cannot be stored. Use a number, 'prefit' or None.")
    document = {
        "method": method,
        "asked": model.method if isinstance(model.method, str) else method,
        "options": options,
        "cv": model.cv,
        "log_loss": None if model.selection_ is None else model.selection_.log_loss,
    }
    more, own = _ensemble_parts(model) if isinstance(model, Calibrated) else _span_parts(model)
    return document | more, tensors | own


def _ensemble_parts(model: Calibrated) -> tuple[dict[str, Any], Tensors]:
    """What other members there are, beside the first."""
    documents: list[dict[str, Any]] = []
    tensors: Tensors = {}
    for i, member in enumerate(model.estimators_[1:], 1):
        document, weights = estimator_parts(member)
        documents.append(document)
        tensors |= {f"member.{i}.{name}": weight for name, weight in weights.items()}
    asked = model.ensemble if model.ensemble == "auto" else bool(model.ensemble)
    return {"ensemble": asked, "members": documents}, tensors


def _span_parts(model: CalibratedTagger) -> tuple[dict[str, Any], Tensors]:
    if model.spans_ is None:
        return {"spans": None}, {}
    options = model.spans_.get_params(deep=False)
    return {"spans": options}, readout_tensors("spans", model.spans_.readout_)


def rebuilt_calibrated(given: Any, estimator: Any, tensors: Tensors, room: Room) -> Calibrated:
    """The calibrated classifier; its tensors are taken out of the others."""
    if isinstance(given, dict) and "members" not in given:  # before there were ensembles in files
        given = given | {"ensemble": False, "members": []}
    document = same_keys("calibration", given, (*DOCUMENT, "ensemble", "members"))
    members = [estimator, *_members(document["members"], estimator, tensors, room)]
    calibrator, asked, selection = _calibration(document, estimator, tensors, room)
    ensemble = document["ensemble"]
    if not (ensemble == "auto" or isinstance(ensemble, bool)):
        raise ModelFileError("has a calibration that argmax did not write.")
    model = Calibrated(estimator, asked, document["cv"], ensemble)
    model.estimator_, model.classes_ = estimator, estimator.classes_
    model.estimators_ = members
    model.calibrator_, model.selection_ = calibrator, selection
    return model


def _members(documents: Any, first: Any, tensors: Tensors, room: Room) -> Iterator[Any]:
    """The other members of an ensemble, which know the same classes and features as the first."""
    if not isinstance(documents, list):
        raise ModelFileError("has a calibration that argmax did not write.")
    for i, document in enumerate(documents, 1):
        prefix = f"member.{i}."
        names = [name for name in tensors if name.startswith(prefix)]
        own = {name.removeprefix(prefix): tensors.pop(name) for name in names}
        member = rebuilt_estimator(document, own, room)
        same = type(member) is type(first) and np.array_equal(member.classes_, first.classes_)
        if own or not same or member.n_features_in_ != first.n_features_in_:
            raise ModelFileError("has an ensemble whose members do not fit together.")
        yield member


def rebuilt_calibrated_tagger(
    given: Any, tagger: Any, tensors: Tensors, room: Room
) -> CalibratedTagger:
    """The calibrated tagger; its tensors are taken out of the others."""
    document = same_keys("calibration", given, (*DOCUMENT, "spans"))
    calibrator, asked, selection = _calibration(document, tagger, tensors, room)
    model = CalibratedTagger(tagger, asked, document["cv"])
    model.estimator_, model.classes_ = tagger, tagger.classes_
    model.calibrator_, model.selection_ = calibrator, selection
    model.spans_ = _span_curve(document["spans"], tensors)
    return model


def _calibration(
    document: dict[str, Any], estimator: Any, tensors: Tensors, room: Room
) -> tuple[Any, Any, Selection | None]:
    """The calibrator, the method as it was asked for, and what was tried."""
    method, asked = document["method"], document["asked"]
    k = len(estimator.classes_)
    calibrator = rebuilt_calibrator(method, document["options"], tensors, k, room)
    if asked not in ("auto", method) or not _plain(document["cv"]):
        raise ModelFileError("has a calibration that argmax did not write.")
    named = method in METHODS and document["options"]["on"] == "scores"
    selection = None
    if document["log_loss"] is not None:
        selection = Selection(method, calibrator, _losses(document["log_loss"]))
    return calibrator, asked if named else calibrator, selection


def _span_curve(options: Any, tensors: Tensors) -> BiasCorrected | None:
    if options is None:
        return None
    told = same_keys("curve of spans", options, ("penalty", "on"))
    if not is_number(told["penalty"]) or not told["penalty"] >= 0 or told["on"] != "scores":
        raise ModelFileError("has a curve of spans that argmax did not write.")
    curve = BiasCorrected(**told)
    curve.readout_, curve.n_classes_ = readout_of("spans", tensors, 2), 2
    return curve


def _plain(cv: Any) -> bool:
    return cv is None or cv == "prefit" or (isinstance(cv, int) and not isinstance(cv, bool))


def _losses(given: Any) -> dict[str, float]:
    if not isinstance(given, dict) or not given.keys() <= METHODS.keys():
        raise ModelFileError("has a calibration with losses that argmax did not write.")
    if not all(map(is_number, given.values())):
        raise ModelFileError("has a calibration with losses that are no numbers.")
    return {name: float(loss) for name, loss in given.items()}
