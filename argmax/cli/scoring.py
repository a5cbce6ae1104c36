"""A model and rows to judge it by -> scores with intervals, for people, for programs and for the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, final

import numpy as np

from ..features import Table
from ..metrics import Interval
from ..records import Batch, Csr, Floats
from ..report import Evaluation, Model
from ..report.evaluation import versions
from ..report.measures import Measures
from ..report.tables import Lines
from .batches import selected
from .console import Console, count
from .held import Held

__all__ = ["as_json", "evaluation", "feature_names", "in_spans", "previews", "show"]

BLOCK = 2**16
"""Rows scored at a time."""

SHOWN = ("Accuracy", "Top-3 accuracy", "Top-5 accuracy", "F1, mean over classes", "Log-loss")
MOST = 12


@final
class _Names(Sequence[str]):
    """Names of features, written when they are asked for."""

    def __init__(self, table: Table, features: int) -> None:
        self._table, self._features = table, features

    def __len__(self) -> int:
        return self._features

    def __getitem__(self, column: Any) -> Any:
        return self._table.feature_name(column)


@final
class _Features:
    """Rows of features, made when they are asked for: a report looks at few."""

    def __init__(self, table: Table, held: Held) -> None:
        self._table, self._held = table, held

    def __getitem__(self, positions: Any) -> Any:
        marked = np.zeros(len(self._held), np.bool_)
        marked[positions] = True
        rows = self._table.transform(selected(self._held.batch, marked))
        order = np.argsort(np.argsort(positions))  # ``selected`` keeps the order of the file
        return rows[order]


def feature_names(table: Table, features: int) -> Sequence[str]:
    """Names of the columns that a table makes, written when they are asked for."""
    return _Names(table, features)


def evaluation(model: Any, held: Held, **facts: Any) -> Evaluation:
    """What a report is about; ``facts`` are further fields of ``Evaluation``."""
    table, estimator = model[0], model[-1]
    names = feature_names(table, estimator.n_features_in_)
    return Evaluation(
        classes=estimator.classes_,
        truth=held.labels,
        probabilities=_probabilities(model, held),
        rows=held.rows,
        previews=previews(held),
        model=Model.of(estimator, names),
        features=_Features(table, held),
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions=versions(),
        estimator="model[-1]",
        **facts,
    )


def _probabilities(model: Any, held: Held) -> Floats:
    return np.concatenate([model.predict_proba(part) for part in in_spans(held)])


def in_spans(held: Held) -> Iterator[Batch]:
    """The rows held, a block at a time."""
    batch = held.batch
    for start in range(0, len(held), BLOCK):
        stop = min(start + BLOCK, len(held))
        yield Batch({name: column[start:stop] for name, column in batch.columns.items()})


def previews(held: Held) -> Lines | None:
    """What the rows held say, if they say something."""
    columns = held.batch.columns
    return None if any(isinstance(c, Csr) for c in columns.values()) else Lines(columns)


# For people


def show(measures: Measures, held: Held, console: Console, which: str = "") -> None:
    """A table of scores; ``which`` says what rows these are."""
    all_of = f" of {held.met:,}" if held.met > len(held) else ""
    console.heading(f"Scores on {count(len(held), 'row')}{all_of}{which}")
    rows = [
        [score.name, _number(score.found.value), _range(score.found), _number(score.baseline)]
        for score in measures.scores
        if score.name in SHOWN
    ]
    console.table(["", ">value", ">95 % interval", ">baseline"], rows)
    console.say("The baseline always answers the most frequent class.")
    if measures.unseen:
        listed = ", ".join(f"{label!r} ({n:,})" for label, n in list(measures.unseen.items())[:5])
        total = sum(measures.unseen.values())
        console.say(
            f"{count(total, 'row')} with a label that the model does not know, counted as wrong: {listed}"
        )


def show_classes(measures: Measures, console: Console) -> None:
    """Every class, the weakest first, and the most frequent mistakes."""
    found = sorted(measures.per_class, key=lambda entry: entry.f1.value)
    console.heading("Classes, the weakest first")
    console.table(
        ["class", ">rows", ">precision", ">recall", ">F1", ">95 % interval"],
        [
            [c.label, f"{c.rows:,}", _number(c.precision.value), _number(c.recall.value),
             _number(c.f1.value), _range(c.f1)]
            for c in found[:MOST]
        ],
    )  # fmt: skip
    if len(found) > MOST:
        console.say(f"… and {len(found) - MOST:,} better ones")
    if pairs := measures.confusion.pairs(5):
        console.heading("Most frequent mistakes")
        console.table(["truth", "answer", ">rows"], [[t, a, f"{n:,}"] for t, a, n in pairs])


def _number(value: float) -> str:
    return f"{value:.4f}"


def _range(found: Interval) -> str:
    return f"{found.low:.4f} to {found.high:.4f}"


# For programs


def as_json(measures: Measures, held: Held) -> dict[str, Any]:
    """The same, as JSON can hold it."""
    return {
        "rows": len(held),
        "rows_met": held.met,
        "scores": {
            score.name: {**_interval(score.found), "baseline": score.baseline}
            for score in measures.scores
        },
        "classes": [
            {
                "class": c.label,
                "rows": c.rows,
                "precision": _interval(c.precision),
                "recall": _interval(c.recall),
                "f1": _interval(c.f1),
            }
            for c in measures.per_class
        ],
        "mistakes": [
            {"truth": t, "answer": a, "rows": n} for t, a, n in measures.confusion.pairs(20)
        ],
        "unseen": dict(measures.unseen),
    }


def _interval(found: Interval) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high, "level": found.level}
