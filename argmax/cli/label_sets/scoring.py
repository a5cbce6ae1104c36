"""A classifier of sets and rows to judge it by -> scores with intervals, for people and for programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...metrics import Interval
from ...report import LabelSets
from ...report.label_sets.evaluation import model_facts
from ...report.label_sets.measures import Measures
from ..console import Console, count
from ..scoring import feature_names, in_spans, previews
from .material import Truth

__all__ = ["as_json", "judged", "show", "show_labels"]

MOST = 12


def judged(model: Any, truth: Truth, **facts: Any) -> Measures:
    """What a model says of rows with labels; ``facts`` are further fields of the report's ``LabelSets``."""
    table, classifier = model[0], model[-1]
    matrix, answers, surprise, first = truth.matrix, [], [], 0
    for part in in_spans(truth.held):
        X, own = table.transform(part), matrix[first : first + len(part), : truth.known]
        answers.append(classifier.predict(X))
        surprise.append(classifier.log_likelihood(X, own))
        first += len(part)
    names = feature_names(table, classifier.n_features_in_)
    known: dict[str, Any] = {
        "truth": matrix,
        "unseen": truth.labels[truth.known :],
        "answer": np.concatenate(answers),
        "log_likelihood": np.concatenate(surprise),
        "rows": truth.held.rows,
        "previews": previews(truth.held),
        "estimator": "model[-1]",
        **model_facts(classifier, names),
    }
    return Measures(LabelSets(**(known | facts)))


# For people


def show(found: Measures, truth: Truth, console: Console, which: str = "") -> None:
    """A table of scores; ``which`` says what rows these are."""
    held = truth.held
    all_of = f" of {held.met:,}" if held.met > len(held) else ""
    console.heading(f"Scores on {count(len(held), 'row')}{all_of}{which}")
    rows = [
        [one.name, f"{one.found.value:.4f}", _range(one.found), f"{one.baseline:.4f}"]
        for one in found.scores
    ]
    console.table(["", ">value", ">95 % interval", ">baseline"], rows)
    console.say("The baseline always answers the most frequent set of labels.")
    if found.unseen:
        listed = ", ".join(f"{name!r} ({n:,})" for name, n in list(found.unseen.items())[:5])
        console.say(f"Labels that the model does not know, counted as missed: {listed}")


def show_labels(found: Measures, console: Console) -> None:
    """Every label, the weakest first."""
    weakest = sorted(found.found.each, key=lambda one: one.f1.value)
    console.heading("Labels, the weakest first")
    console.table(
        ["label", ">rows", ">answered", ">precision", ">recall", ">F1", ">95 % interval"],
        [
            [one.label, f"{one.rows:,}", f"{one.answered:,}", f"{one.precision.value:.4f}",
             f"{one.recall.value:.4f}", f"{one.f1.value:.4f}", _range(one.f1)]
            for one in weakest[:MOST]
        ],
    )  # fmt: skip
    if len(weakest) > MOST:
        console.say(f"… and {len(weakest) - MOST:,} better ones")


def _range(found: Interval) -> str:
    return f"{found.low:.4f} to {found.high:.4f}"


# For programs


def as_json(found: Measures, truth: Truth) -> dict[str, Any]:
    """The same, as JSON can hold it."""
    return {
        "rows": len(truth),
        "rows_met": truth.held.met,
        "scores": {
            one.name: {**_interval(one.found), "baseline": one.baseline} for one in found.scores
        },
        "labels": [
            {
                "label": one.label,
                "rows": one.rows,
                "answered": one.answered,
                "precision": _interval(one.precision),
                "recall": _interval(one.recall),
                "f1": _interval(one.f1),
            }
            for one in found.found.each
        ],
        "unseen": found.unseen,
    }


def _interval(found: Interval) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high, "level": found.level}
