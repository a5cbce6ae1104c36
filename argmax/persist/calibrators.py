"""A fitted calibrator as a document and tensors, and back.

    document  method, options
    tensors   of scaling    readout.scale () as (1,), (k,) or (k, k)    readout.offset (k,)
              of curves     curves.ptr (curves+1,)  curves.knots (m,)  curves.heights (m,): the knots of
              curve c are ptr[c] … ptr[c+1]−1; a curve for each class, or one of the top label

Of a model adapted to new priors the numbers of the read-out are those before, and the priors are among the
options: so the change can be seen, and undone.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..calibration import Isotonic, Readout, TopLabel
from ..calibration.base import Scaling
from ..calibration.rising import Curve
from ..calibration.selection import METHODS
from ..errors import InvalidInput, ModelFileError, Unsupported
from .checked import Room, finite, take
from .container import Tensors

__all__ = ["calibrator_parts", "is_number", "readout_of", "readout_tensors", "rebuilt_calibrator"]

NEW_PRIORS = "new_priors"
LONGEST = 10_000
"""Characters of a note."""

OBJECTS = 400
"""Bytes of the Python objects of a curve."""


def _stored() -> dict[str, Any]:
    """The calibrators that a file can hold, by name; those of new priors are imported only here."""
    from ..shift import NewPriors

    return METHODS | {NEW_PRIORS: NewPriors}


def calibrator_parts(found: Any) -> tuple[str, dict[str, Any], Tensors]:
    """The name of a fitted calibrator, its options and its tensors."""
    names = [name for name, kind in _stored().items() if type(found) is kind]
    if not names:
        raise Unsupported(
            f"a model file holds calibration by {', '.join(METHODS)}; this is {type(found).__name__}. Choose "
            "one of them, or pickle the model for your own processes."
        )
    options = found.get_params(deep=False)
    if isinstance(found, Isotonic):
        return names[0], options, _curve_tensors(found.curves_)
    if isinstance(found, TopLabel):
        return names[0], options, _curve_tensors([found.curve_])
    readout = found.readout_
    if names[0] == NEW_PRIORS:
        readout, options = _before(found)
    return names[0], options, readout_tensors("readout", readout)


def rebuilt_calibrator(method: Any, options: Any, tensors: Tensors, k: int, room: Room) -> Any:
    """The fitted calibrator of k classes; its tensors are taken out of the others."""
    calibrator = _unfitted(method, options)
    calibrator.n_classes_ = k
    if isinstance(calibrator, Isotonic):
        calibrator.curves_ = _curves(tensors, k, room)
    elif isinstance(calibrator, TopLabel):
        (calibrator.curve_,) = _curves(tensors, 1, room)
    else:
        _adopt_readout(calibrator, method, readout_of("readout", tensors, k))
    return calibrator


def _unfitted(method: Any, options: Any) -> Any:
    kind = _stored().get(method) if isinstance(method, str) else None
    if kind is None or not isinstance(options, dict):
        raise ModelFileError("has a calibration that this version does not have.")
    if options.keys() != set(kind._get_param_names()):
        raise ModelFileError("has a calibration with other options than this version's.")
    penalty, on = options.get("penalty", 1.0), options["on"]
    if not is_number(penalty) or not penalty >= 0:
        raise ModelFileError("has a calibration with a penalty that is no number of 0 or more.")
    if on not in ("scores", "probabilities"):
        raise ModelFileError("has a calibration of something else than scores.")
    return kind(**options)


# Scaling


def readout_tensors(prefix: str, readout: Readout) -> Tensors:
    """The numbers A and b of a read-out."""
    return {f"{prefix}.scale": np.atleast_1d(readout.scale), f"{prefix}.offset": readout.offset}


def readout_of(prefix: str, tensors: Tensors, k: int) -> Readout:
    """The read-out of k classes; its tensors are taken out of the others."""
    name = f"{prefix}.scale"
    offset = finite(f"{prefix}.offset", take(tensors, f"{prefix}.offset", np.float64, k))
    flat = tensors.get(name)
    if flat is not None and flat.ndim == 2:
        return Readout(finite(name, take(tensors, name, np.float64, k, k)), offset)
    scale = finite(name, take(tensors, name, np.float64, None))
    if len(scale) not in (1, k):
        raise ModelFileError(f"has a read-out of {len(scale)} scales for {k} classes.")
    return Readout(scale[0].reshape(()) if len(scale) == 1 else scale, offset)


def _adopt_readout(calibrator: Any, method: str, readout: Readout) -> None:
    assert isinstance(calibrator, Scaling)
    calibrator.readout_ = readout
    if method == NEW_PRIORS:
        _adopt(calibrator, readout)
    if method == "temperature":
        slope = float(readout.scale.ravel()[0])
        calibrator.temperature_ = np.inf if slope == 0 else 1.0 / slope


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
        plain = isinstance(given, list) and all(map(is_number, given))
        if not plain or len(given) != len(base.offset):
            raise ModelFileError("has priors that do not fit its classes.")
    try:
        calibrator.adopt(base)
    except InvalidInput as error:
        raise ModelFileError(f"has priors that do not do: {error}") from error


def is_number(given: Any) -> bool:
    """Whether it is a number that float64 can hold; whole numbers of JSON have no bound."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return isinstance(given, float) or abs(given) <= 2**53


# Curves


def _curve_tensors(curves: list[Curve]) -> Tensors:
    return {
        "curves.ptr": np.cumsum([0, *(len(knots) for knots, _ in curves)]),
        "curves.knots": np.concatenate([knots for knots, _ in curves]),
        "curves.heights": np.concatenate([heights for _, heights in curves]),
    }


def _curves(tensors: Tensors, count: int, room: Room) -> list[Curve]:
    ptr = take(tensors, "curves.ptr", np.int64, count + 1)
    knots = finite("curves.knots", take(tensors, "curves.knots", np.float64, None))
    heights = take(tensors, "curves.heights", np.float64, len(knots))
    if ptr[0] != 0 or ptr[-1] != len(knots) or np.any(ptr[1:] <= ptr[:-1]):
        raise ModelFileError("has curves that do not fit.")
    another = np.zeros(len(knots), bool)
    another[ptr[:-1]] = True
    rise = another[1:] | ((knots[1:] > knots[:-1]) & (heights[1:] >= heights[:-1]))
    if not rise.all() or not np.all((heights > 0) & (heights < 1)):
        raise ModelFileError("has curves that do not rise between 0 and 1.")
    room.use(OBJECTS * count, "curves")
    return [(knots[a:b], heights[a:b]) for a, b in pairwise(ptr.tolist())]
