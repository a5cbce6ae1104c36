"""argmax: linear prediction over any set of answers.

    ŷ = argmax over y of ⟨w, Ψ(x, y)⟩

Names are imported on first use, so ``import argmax`` costs nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "CRFTagger": "estimators",
    "GraphLabeler": "estimators",
    "JointClassifier": "estimators",
    "LinearClassifier": "estimators",
    "MultiLabelClassifier": "estimators",
    "MulticlassPerceptron": "estimators",
    "MulticlassSVM": "estimators",
    "OneVsOne": "reductions",
    "OneVsRest": "reductions",
    "OutputCode": "reductions",
    "SequenceTagger": "estimators",
    "SoftmaxRegression": "estimators",
    "load": "persist",
    "save": "persist",
}
_MODULES = (
    "bayes", "bounds", "calibration", "costs", "data", "decisions", "engines", "errors", "features",
    "layouts", "losses", "margins", "metrics", "objective", "persist", "plots", "records",
    "reductions", "report", "shift", "solvers", "spaces", "testing",
)  # fmt: skip

__all__ = sorted([*_HOME, *_MODULES, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
