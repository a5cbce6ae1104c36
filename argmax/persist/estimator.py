"""A fitted estimator as a document and tensors, and back: the modules beside this one say how each is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ModelFileError
from ..estimators import GraphLabeler, MultiLabelClassifier
from .checked import Room
from .classifier import CLASSIFIERS, classifier_parts, rebuilt_classifier
from .container import Tensors
from .label_sets import rebuilt_sets, sets_parts
from .labeler import labeler_parts, rebuilt_labeler
from .tagger import TAGGERS, rebuilt_tagger, tagger_parts

__all__ = ["BEHIND_TABLES", "ESTIMATORS", "estimator_parts", "rebuilt_estimator"]

BEHIND_TABLES: dict[str, type] = {
    **CLASSIFIERS,
    MultiLabelClassifier.__name__: MultiLabelClassifier,
}
"""What may stand behind a ``features.Table`` in a pipeline."""

ESTIMATORS: dict[str, type] = {**BEHIND_TABLES, **TAGGERS, GraphLabeler.__name__: GraphLabeler}

WAYS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    **dict.fromkeys(CLASSIFIERS, (classifier_parts, rebuilt_classifier)),
    **dict.fromkeys(TAGGERS, (tagger_parts, rebuilt_tagger)),
    MultiLabelClassifier.__name__: (sets_parts, rebuilt_sets),
    GraphLabeler.__name__: (labeler_parts, rebuilt_labeler),
}
"""Out, and back."""


def estimator_parts(estimator: Any) -> tuple[dict[str, Any], Tensors]:
    """The document and the tensors of a fitted estimator."""
    out, _ = WAYS[type(estimator).__name__]
    parts: tuple[dict[str, Any], Tensors] = out(estimator)
    return parts


def rebuilt_estimator(document: Any, tensors: Tensors, room: Room) -> Any:
    """The fitted estimator; its tensors are taken out of the others."""
    name = document.get("estimator") if isinstance(document, dict) else None
    if name not in list(ESTIMATORS):
        raise ModelFileError("holds an estimator that this version does not have.")
    _, back = WAYS[name]
    return back(document, tensors, room)
