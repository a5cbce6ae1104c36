"""``argmax calibrate``: honest probabilities for a model, learned on rows that it has not seen."""

from __future__ import annotations

import os
import shlex
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .. import calibration, metrics
from ..calibration.base import as_scores
from ..calibration.selection import METHODS, TRIED, chosen
from ..data import Source
from ..errors import InvalidInput
from ..persist import check_writable, save
from ..records import Floats
from .console import Console, count
from .evaluate import label_column
from .held import Held, read_held
from .models import bare, columns_of
from .outcome import OK
from .reading import opened
from .scoring import in_spans
from .settings import memory_limit
from .tried import show_tried

__all__ = ["FEWEST", "compared", "folded_methods", "run", "show"]

FEWEST = 20
"""Rows below which nothing can be learned about probabilities."""


def run(
    model: str,
    data: str,
    target: str | None,
    method: str,
    output: str,
    read: list[str],
    memory: str | None,
    force: bool,
    console: Console,
) -> int:
    """Score the rows, learn how sure the scores are, and write the calibrated model."""
    method = folded_methods(method)
    if os.path.abspath(output) in (os.path.abspath(model), os.path.abspath(data)):
        raise InvalidInput("--output must be another file than MODEL and DATA.")
    check_writable(output, overwrite=force)
    pipeline, source = bare(model), opened(data, read=read)
    label, held = _rows(pipeline, source, target, memory, console)
    with console.stage("Calibrating") as stage:
        scores, truth, left_out = _scored(pipeline, held)
        classes = pipeline.classes_
        found = chosen(method, scores, truth, classes)
        stage.done = f"Calibrated on {count(len(truth), 'row')}"
    if left_out:
        console.warn(
            f"{count(left_out, 'row')} with a label that the model does not know: left out."
        )
    (first, table), (last, estimator) = pipeline.steps
    fitted = calibration.Calibrated(estimator, method, cv="prefit").adopt(estimator, found)
    save(Pipeline([(first, table), (last, fitted)]), output, overwrite=force)
    told = compared(scores, truth, classes, found.name, found.log_loss)
    show(told, output, console, "row")
    console.result({"model": model, "data": data, "target": label, "output": output, **told})
    return OK


def folded_methods(method: str) -> str:
    """The method, if a model file and the commands can hold it."""
    allowed = ("auto", *TRIED)
    if method not in allowed:
        raise InvalidInput(
            f"--method must be one of {', '.join(allowed)}; got {method!r}."
            + (" Use it in Python with calibration.Calibrated." if method in METHODS else "")
        )
    return method


def _rows(
    pipeline: Pipeline, source: Source, target: str | None, memory: str | None, console: Console
) -> tuple[str, Held]:
    kinds = columns_of(pipeline)
    label = label_column(source, target, list(kinds), pipeline.classes_.tolist(), console)
    return label, read_held(source, label, kinds, memory_limit(memory) / 8, console)


def _scored(pipeline: Pipeline, held: Held) -> tuple[Floats, Any, int]:
    """Scores (n, k) and labels of the rows whose label the model knows, and how many it does not."""
    known = np.isin(held.labels, pipeline.classes_)
    if known.sum() < FEWEST:
        raise InvalidInput(
            f"calibration needs {FEWEST} rows with a label of the model; there are {int(known.sum())}."
        )
    parts = [pipeline.decision_function(part) for part in in_spans(held)]
    scores = as_scores(np.concatenate(parts))
    return scores[known], held.labels[known], int((~known).sum())


def compared(
    scores: Floats, truth: Any, classes: Any, method: str, tried: dict[str, float] | None
) -> dict[str, Any]:
    """Before and after; after is judged on folds that the calibrator was not fitted on."""
    before = calibration.Readout(np.array(1.0), np.zeros(len(classes))).probabilities(scores)
    after = calibration.out_of_fold(method, scores, truth, classes)
    saved = metrics.difference(metrics.log_loss, truth, before, after, classes=classes)
    return {
        "rows": len(truth),
        "method": method,
        "tried": tried or {},
        "log_loss": [metrics.log_loss(truth, p, classes) for p in (before, after)],
        "saved": {"value": saved.value, "low": saved.low, "high": saved.high},
        "calibration_error": [_error(truth, p, classes) for p in (before, after)],
    }


def _error(truth: Any, p: Floats, classes: Any) -> dict[str, float]:
    root = calibration.calibration_error(truth, p, classes).root
    return {"value": root.value, "low": root.low, "high": root.high}


def show(told: dict[str, Any], output: str, console: Console, what: str) -> None:
    """What was tried, what calibration saves, and what to type next; ``what`` rows are."""
    if told["tried"]:
        title = f"Choosing a method, on {what}s that it did not learn from"
        show_tried(title, told["tried"], told["method"], console)
    console.heading(f"Probabilities, {told['method']} on {count(told['rows'], what)}")
    errors = [
        f"{e['value']:.4f} ({e['low']:.4f} to {e['high']:.4f})" for e in told["calibration_error"]
    ]
    console.table(
        ["", ">before", ">after"],
        [
            ["Log-loss", *(f"{loss:.4f}" for loss in told["log_loss"])],
            ["Calibration error, debiased", *errors],
        ],
    )
    saved = told["saved"]
    if told["method"] == "identity":
        console.say(
            f"The probabilities are as honest as these {what}s can tell: they stay as they are."
        )
    else:
        told_range = f"{saved['low']:.4f} to {saved['high']:.4f}"
        console.say(f"Calibration saves {saved['value']:.4f} of log-loss ({told_range}).")
    console.heading("Written")
    console.say(output)
    console.heading("Next")
    console.say(shlex.join(["argmax", "evaluate", output, "OTHER_FILE"]))
