"""A fitted estimator as a document and tensors, and back, by its kind."""

from __future__ import annotations

from typing import Any

from ..errors import ModelFileError
from .checked import Room
from .classifier import CLASSIFIERS, classifier_parts, rebuilt_classifier
from .container import Tensors
from .tagger import TAGGERS, rebuilt_tagger, tagger_parts

__all__ = ["ESTIMATORS", "estimator_parts", "is_reduction", "rebuilt_estimator"]

ESTIMATORS: dict[str, type] = {**CLASSIFIERS, **TAGGERS}

REDUCTIONS = ("OneVsOne", "OneVsRest", "OutputCode")
"""What ``reduction`` stores; it is imported where one of these names occurs, because few files hold one."""


def is_reduction(model: Any) -> bool:
    """Whether this is a reduction that a file can hold.

    >>> from argmax import OneVsRest, SoftmaxRegression
    >>> from argmax.persist.estimator import is_reduction
    >>> is_reduction(OneVsRest()), is_reduction(SoftmaxRegression())
    (True, False)
    """
    if type(model).__name__ not in REDUCTIONS:
        return False
    from .reduction import REDUCTIONS as kinds

    return type(model) in kinds.values()


def estimator_parts(estimator: Any) -> tuple[dict[str, Any], Tensors]:
    """The document and the tensors of a fitted estimator."""
    if is_reduction(estimator):
        from .reduction import reduction_parts

        return reduction_parts(estimator)
    tags = type(estimator) in TAGGERS.values()
    return tagger_parts(estimator) if tags else classifier_parts(estimator)


def rebuilt_estimator(document: Any, tensors: Tensors, room: Room) -> Any:
    """The fitted estimator; its tensors are taken out of the others."""
    name = document.get("estimator") if isinstance(document, dict) else None
    if name in list(REDUCTIONS):
        from .reduction import rebuilt_reduction

        return rebuilt_reduction(document, tensors, room)
    if name not in list(ESTIMATORS):
        raise ModelFileError("holds an estimator that this version does not have.")
    rebuilt = rebuilt_tagger if name in TAGGERS else rebuilt_classifier
    return rebuilt(document, tensors, room)
