"""``argmax train --calibrate`` on sequences: how sure a tagger is, learned on those left out of fits."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...calibration import CalibratedTagger
from ...errors import InvalidInput
from ...features import Tokens
from ..console import Console, Stage
from .fitting import Fitted, fit_on
from .parts import without

__all__ = ["FOLDS", "calibrated"]

FOLDS = 3


def calibrated(
    tokens: Tokens, label: str, fitted: Fitted, seed: int, console: Console
) -> CalibratedTagger:
    """The tagger, calibrated on sequences that fits with its C have not seen."""
    if len(tokens) < FOLDS:
        raise InvalidInput("--calibrate: too few sequences to leave some out. Train without it.")
    model = CalibratedTagger(fitted.tagger, cv=FOLDS)
    with console.stage("Calibrating") as stage:
        model.adopt(fitted.tagger, _parts(tokens, label, fitted.tagger, seed, stage))
        assert model.selection_ is not None
        stage.done = f"Calibrated by {model.selection_.name} on sequences left out"
    fitted.seconds["calibrate"] = stage.seconds
    return model


def _parts(
    tokens: Tokens, label: str, tagger: Any, seed: int, stage: Stage
) -> Iterator[tuple[Any, Tokens, list[list[Any]]]]:
    fold = np.random.default_rng(seed).permutation(len(tokens)) % FOLDS
    for number in range(FOLDS):
        stage.update(f"fold {number + 1} of {FOLDS}")
        trial, held = copy.copy(tagger), tokens.take(fold == number)
        fit_on(trial, tokens.take(fold != number), label)
        yield trial, without(held, label), held.sequences(label)
