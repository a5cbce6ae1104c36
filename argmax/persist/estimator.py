"""A fitted estimator as a document and tensors, and back: ``classifier`` and ``tagger`` say which."""

from __future__ import annotations

from typing import Any

from ..errors import ModelFileError
from .checked import Room
from .classifier import CLASSIFIERS, classifier_parts, rebuilt_classifier
from .container import Tensors
from .tagger import TAGGERS, rebuilt_tagger, tagger_parts

__all__ = ["ESTIMATORS", "estimator_parts", "rebuilt_estimator"]

ESTIMATORS: dict[str, type] = {**CLASSIFIERS, **TAGGERS}


def estimator_parts(estimator: Any) -> tuple[dict[str, Any], Tensors]:
    """The document and the tensors of a fitted estimator."""
    tags = type(estimator) in TAGGERS.values()
    return tagger_parts(estimator) if tags else classifier_parts(estimator)


def rebuilt_estimator(document: Any, tensors: Tensors, room: Room) -> Any:
    """The fitted estimator; its tensors are taken out of the others."""
    name = document.get("estimator") if isinstance(document, dict) else None
    if name not in list(ESTIMATORS):
        raise ModelFileError("holds an estimator that this version does not have.")
    rebuilt = rebuilt_tagger if name in TAGGERS else rebuilt_classifier
    return rebuilt(document, tensors, room)
