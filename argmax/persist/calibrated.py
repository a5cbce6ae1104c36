"""A calibrated classifier as a document and tensors, and back: what its classifier has, and a read-out.

    document  method, options of the calibrator, cv, log_loss of what was tried (or None)
    tensors   readout.scale () as (1,), (k,) or (k, k)    readout.offset (k,)

Only scaling can be stored: its map is numbers A and b, and nothing else. Of a model adapted to new priors
these are the numbers before, and the priors are among the options: so the change can be seen, and undone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..calibration import Calibrated, Readout
from ..calibration.base import Scaling
from ..calibration.selection import METHODS, Selection
from ..errors import InvalidInput, ModelFileError, Unsupported
from .checked import finite, same_keys, take
from .container import Tensors

__all__ = ["calibration_parts", "rebuilt_calibrated"]

DOCUMENT = ("method", "asked", "options", "cv", "log_loss")
STORED = {name: kind for name, kind in METHODS.items() if issubclass(kind, Scaling)}
NEW_PRIORS = "new_priors"
LONGEST = 10_000
"""Characters of a note."""


def _stored() -> dict[str, Any]:
    """The calibrators that a file can hold, by name; those of new priors are imported only here."""
    from ..shift import NewPriors

    return STORED | {NEW_PRIORS: NewPriors}


def calibration_parts(model: Calibrated) -> tuple[dict[str, Any], Tensors]:
    """What a calibrated classifier has beside its classifier."""
    found, selection = model.calibrator_, model.selection_
    names = [name for name, kind in _stored().items() if type(found) is kind]
    if not names or not isinstance(found, Scaling):
        raise Unsupported(
            f"a model file holds calibration by {', '.join(STORED)}; this is {type(found).__name__}. Choose "
            "one of them, or pickle the model for your own processes."
        )
    if not (model.cv is None or isinstance(model.cv, int | str)):
        raise Unsupported(f"cv={model.cv!r} cannot be stored. Use a number, 'prefit' or None.")
    readout, options = found.readout_, found.get_params(deep=False)
    if names[0] == NEW_PRIORS:
        readout, options = _before(found)
    document = {
        "method": names[0],
        "asked": model.method if isinstance(model.method, str) else names[0],
        "options": options,
        "cv": model.cv,
        "log_loss": None if selection is None else selection.log_loss,
    }
    scale = np.atleast_1d(readout.scale)
    return document, {"readout.scale": scale, "readout.offset": readout.offset}


def rebuilt_calibrated(given: Any, estimator: Any, tensors: Tensors) -> Calibrated:
    """The calibrated classifier; its tensors are taken out of the others."""
    document = same_keys("calibration", given, DOCUMENT)
    calibrator = _calibrator(document["method"], document["options"])
    k = len(estimator.classes_)
    readout = _readout(tensors, k)
    calibrator.readout_, calibrator.n_classes_ = readout, k
    if document["method"] == NEW_PRIORS:
        _adopt(calibrator, readout)
    if document["method"] == "temperature":
        slope = float(readout.scale)
        calibrator.temperature_ = np.inf if slope == 0 else 1.0 / slope
    if document["asked"] not in ("auto", document["method"]) or not _plain(document["cv"]):
        raise ModelFileError("has a calibration that argmax did not write.")
    named = document["method"] in METHODS and document["options"]["on"] == "scores"
    asked = document["asked"] if named else calibrator
    model = Calibrated(estimator, asked, document["cv"])
    model.estimator_, model.calibrator_ = estimator, calibrator
    model.classes_, model.selection_ = estimator.classes_, None
    if document["log_loss"] is not None:
        losses = _losses(document["log_loss"])
        model.selection_ = Selection(document["method"], calibrator, losses)
    return model


def _calibrator(method: Any, options: Any) -> Any:
    kind = _stored().get(method) if isinstance(method, str) else None
    if kind is None or not isinstance(options, dict):
        raise ModelFileError("has a calibration that this version does not have.")
    if options.keys() != set(kind._get_param_names()):
        raise ModelFileError("has a calibration with other options than this version's.")
    penalty, on = options.get("penalty", 1.0), options["on"]
    if not _is_number(penalty) or not penalty >= 0:
        raise ModelFileError("has a calibration with a penalty that is no number of 0 or more.")
    if on not in ("scores", "probabilities"):
        raise ModelFileError("has a calibration of something else than scores.")
    return kind(**options)


def _before(found: Any) -> tuple[Readout, dict[str, Any]]:
    """The read-out before new priors, and all that is needed to have it after."""
    numbers = {"priors": found.priors, "source": found.source_}
    plain = {name: np.asarray(given, dtype=float).tolist() for name, given in numbers.items()}
    return found.base_, found.get_params(deep=False) | plain


def _adopt(calibrator: Any, base: Readout) -> None:
    note = calibrator.note
    numbers = [calibrator.priors, calibrator.source]
    named = isinstance(calibrator.base, str) and calibrator.base in METHODS
    if not isinstance(note, str) or len(note) > LONGEST or not named:
        raise ModelFileError("has a note on its priors that argmax did not write.")
    for given in numbers:
        plain = isinstance(given, list) and all(map(_is_number, given))
        if not plain or len(given) != len(base.offset):
            raise ModelFileError("has priors that do not fit its classes.")
    try:
        calibrator.adopt(base)
    except InvalidInput as error:
        raise ModelFileError(f"has priors that do not do: {error}") from error


def _readout(tensors: Tensors, k: int) -> Readout:
    offset = finite("readout.offset", take(tensors, "readout.offset", np.float64, k))
    flat = tensors.get("readout.scale")
    if flat is not None and flat.ndim == 2:
        return Readout(
            finite("readout.scale", take(tensors, "readout.scale", np.float64, k, k)), offset
        )
    scale = finite("readout.scale", take(tensors, "readout.scale", np.float64, None))
    if len(scale) not in (1, k):
        raise ModelFileError(f"has a read-out of {len(scale)} scales for {k} classes.")
    return Readout(scale[0].reshape(()) if len(scale) == 1 else scale, offset)


def _is_number(given: Any) -> bool:
    """Whether it is a number that float64 can hold; whole numbers of JSON have no bound."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return isinstance(given, float) or abs(given) <= 2**53


def _plain(cv: Any) -> bool:
    return cv is None or cv == "prefit" or (isinstance(cv, int) and not isinstance(cv, bool))


def _losses(given: Any) -> dict[str, float]:
    if not isinstance(given, dict) or not given.keys() <= METHODS.keys():
        raise ModelFileError("has a calibration with losses that argmax did not write.")
    if not all(map(_is_number, given.values())):
        raise ModelFileError("has a calibration with losses that are no numbers.")
    return {name: float(loss) for name, loss in given.items()}
