"""From scores to honest probabilities: is a class that gets 0.8 right eight times in ten?

    calibrated.py     Calibrated: any classifier, with out-of-fold calibration; tagger.py: taggers
    temperature.py    Identity, Temperature, BiasCorrected
    matrix.py         Vector, Matrix, Dirichlet
    isotonic.py       Isotonic, TopLabel
    readout.py        Readout: scores ↦ A·scores + b, what scaling gives
    selection.py      choose: by held-out log loss
    reliability.py    confidence against frequency, with bands and the envelope of a perfect model
    error.py          the calibration error without its bias
    decomposing.py    log loss and Brier score = calibration + refinement

Everything works on plain arrays: scores or probabilities (n, k), one column a class, and truth (n,).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .reliability import Reliability, by_class, reliability

if TYPE_CHECKING:
    from .base import Calibrator
    from .calibrated import Calibrated
    from .decomposing import Decomposition, decomposition
    from .error import CalibrationError, calibration_error
    from .isotonic import Isotonic, TopLabel
    from .matrix import Dirichlet, Matrix, Vector
    from .readout import Readout
    from .selection import Selection, calibrator, choose, out_of_fold
    from .tagger import CalibratedTagger
    from .temperature import BiasCorrected, Identity, Temperature

_HOME = {
    "BiasCorrected": "temperature",
    "Calibrated": "calibrated",
    "CalibratedTagger": "tagger",
    "CalibrationError": "error",
    "Calibrator": "base",
    "Decomposition": "decomposing",
    "Dirichlet": "matrix",
    "Identity": "temperature",
    "Isotonic": "isotonic",
    "Matrix": "matrix",
    "Readout": "readout",
    "Selection": "selection",
    "Temperature": "temperature",
    "TopLabel": "isotonic",
    "Vector": "matrix",
    "calibration_error": "error",
    "calibrator": "selection",
    "choose": "selection",
    "decomposition": "decomposing",
    "out_of_fold": "selection",
}
"""What is imported on first use: commands that calibrate nothing do not wait for it."""

__all__ = [
    "BiasCorrected",
    "Calibrated",
    "CalibratedTagger",
    "CalibrationError",
    "Calibrator",
    "Decomposition",
    "Dirichlet",
    "Identity",
    "Isotonic",
    "Matrix",
    "Readout",
    "Reliability",
    "Selection",
    "Temperature",
    "TopLabel",
    "Vector",
    "by_class",
    "calibration_error",
    "calibrator",
    "choose",
    "decomposition",
    "out_of_fold",
    "reliability",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
