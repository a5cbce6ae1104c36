"""``argmax train --calibrate``: how sure scores are, learned on rows that were left out of fits."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from .. import losses
from ..calibration import Calibrated, choose
from ..calibration.calibrated import scores_of
from ..errors import InvalidInput, NotConverged
from .console import Console
from .fitting import Fitted
from .rows import Rows

__all__ = ["calibrated"]


def calibrated(rows: Rows, fitted: Fitted, console: Console) -> Calibrated:
    """The classifier, calibrated on the scores of the rows that fits with its C have not seen."""
    classifier = fitted.classifier
    scores, truth = [], []
    with console.stage("Calibrating") as stage:
        for fold in range(rows.folds):
            trial = _trial(classifier, rows.part(fold))
            for X, y in rows.judging(fold):
                scores.append(scores_of(trial, X, classifier.classes_))
                truth.append(y)
        if not scores:
            raise InvalidInput("--calibrate: too few rows to leave some out. Train without it.")
        found = choose(np.concatenate(scores), np.concatenate(truth), classifier.classes_)
        stage.done = f"Calibrated by {found.name} on {sum(map(len, truth)):,} rows left out"
    fitted.seconds["calibrate"] = stage.seconds
    return Calibrated(classifier).adopt(classifier, found)


def _trial(classifier: Any, part: tuple[Any, Any]) -> Any:
    """The classifier of some of the rows: solved as closely, so that where it starts does not show."""
    trial = copy.copy(classifier)
    # An online learner that went on from these weights would know the rows that are left out.
    trial.set_params(warm_start=not losses.get(classifier.loss).online)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return trial.fit(*part)
