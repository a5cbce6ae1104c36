"""``argmax calibrate`` on tagged sequences: honest probabilities of tokens and spans for a tagger."""

from __future__ import annotations

import os

import numpy as np

from ...calibration import CalibratedTagger
from ...calibration.tagger import token_scores
from ...errors import InvalidInput
from ...persist import check_writable, load, save
from ..calibrate import FEWEST, compared, folded_methods, show
from ..console import Console, count
from ..outcome import OK
from .parts import without
from .predict import bare
from .reading import label_of, opened_for
from .scoring import with_labels

__all__ = ["run"]


def run(
    model: str,
    data: str,
    target: str | None,
    method: str,
    output: str,
    read: list[str],
    force: bool,
    console: Console,
) -> int:
    """Score the tokens, learn how sure the scores are, and write the calibrated tagger."""
    folded_methods(method)
    if os.path.abspath(output) in (os.path.abspath(model), os.path.abspath(data)):
        raise InvalidInput("--output must be another file than MODEL and DATA.")
    check_writable(output, overwrite=force)
    tagger = bare(load(model))
    source, used = opened_for(tagger, data, read)
    label = label_of(source, target, used, tagger.classes_.tolist())
    with console.stage(f"Reading {source.path}") as stage:
        tokens = with_labels(source.read([*used, label]), label, console)
        stage.done = f"Read {count(len(tokens), 'sequence')} of {source.path}"
    X, y = without(tokens, label), tokens.sequences(label)
    truth = np.array([name for labels in y for name in labels])
    known = np.isin(truth, tagger.classes_)
    if known.sum() < FEWEST:
        raise InvalidInput(
            f"calibration needs {FEWEST} tokens with a label of the model; there are {int(known.sum())}."
        )
    if unknown := int((~known).sum()):
        console.warn(
            f"{count(unknown, 'token')} with a label that the model does not know: left out."
        )
    with console.stage("Calibrating") as stage:
        honest = CalibratedTagger(tagger, method, cv="prefit").adopt(tagger, [(tagger, X, y)])
        stage.done = f"Calibrated on {count(tokens.size, 'token')}"
    save(honest, output, overwrite=force)
    scores = np.concatenate(token_scores(tagger, X))[known]
    tried = None if honest.selection_ is None else honest.selection_.log_loss
    name = method if honest.selection_ is None else honest.selection_.name
    told = compared(scores, truth[known], tagger.classes_, name, tried)
    show(told, output, console, "token")
    console.result({"model": model, "data": data, "target": label, "output": output, **told})
    return OK
