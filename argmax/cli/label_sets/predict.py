"""``argmax predict`` with a classifier of sets: the labels of every row, in order and in flat memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from ...errors import InvalidInput
from ...persist import check_writable, replace_file
from ...records import Floats, Ints
from ..console import Console, count
from ..lines import csv_text, digits, rounded
from ..models import rows_for, set_model
from ..outcome import OK
from ..predict import to_stdout, written
from ..reading import opened
from .reading import DELIMITERS

__all__ = ["run"]


def run(
    model: str,
    data: str,
    proba: bool,
    top: int | None,
    output: str | None,
    read: list[str],
    force: bool,
    console: Console,
) -> int:
    """Stream the answers to a file or to stdout."""
    if output is not None:
        check_writable(output, overwrite=force)
    if top is not None and top < 1:
        raise InvalidInput(f"--top must be 1 or more; got {top}.")
    source = opened(data, read=read, once=True, sample_rows=1)
    as_json = console.as_json or (output or "").endswith(".jsonl")
    answers = _Answers(set_model(model), source, proba, top, as_json)
    with console.stage(f"Predicting {source.path}") as stage:
        if output is None:
            to_stdout(answers.header, answers, stage)
        else:
            replace_file(output, written(answers.header, answers, stage), overwrite=force)
        stage.done = f"Answered {count(answers.rows, 'row')} of {source.path}"
    answers.warn(console)
    return OK


@final
class _Answers:
    """Lines for the rows of a file, batch by batch."""

    def __init__(
        self, model: Any, source: Any, proba: bool, top: int | None, as_json: bool
    ) -> None:
        self.model, self.rows = model, 0
        self._proba, self._top, self._json = proba, top, as_json
        self._names = [str(name) for name in model.classes_.tolist()]
        self._between = _between(self._names, as_json)
        self._batches = rows_for(model, source)  # raises now if a column is not there

    @property
    def header(self) -> str:
        """The first line."""
        if self._json:
            return ""
        heads = ["prediction", "probability"] if self._top else ["prediction"]
        for place in range(2, (self._top or 1) + 1):
            heads += [f"prediction_{place}", f"probability_{place}"]
        return csv_text([heads + (self._names if self._proba else [])])

    def __iter__(self) -> Iterator[list[str]]:
        """The lines of a batch."""
        table, classifier = self.model[0], self.model[-1]
        for batch in self._batches:
            self.rows += len(batch)
            X = table.transform(batch)
            if self._top:
                sets, chances = classifier.predict_top_k(X, self._top)
            else:
                sets, chances = classifier.predict(X)[None], np.ones((1, len(batch)))
            p = classifier.predict_proba(X)
            yield [self._line(sets[:, i], chances[:, i], p[i]) for i in range(len(batch))]

    def _line(self, sets: Ints, chances: Floats, p: Floats) -> str:
        found = [[self._names[j] for j in np.flatnonzero(one == 1)] for one in sets]
        if self._json:
            return json.dumps(self._told(found, chances, p), ensure_ascii=False) + "\n"
        cells: list[str] = []
        for labels, chance in zip(found, chances.tolist(), strict=True):
            cells += [self._between.join(labels) if chance > 0 else ""]
            cells += [digits(chance)] if self._top else []
        return csv_text([cells + (list(map(digits, p.tolist())) if self._proba else [])])

    def _told(self, found: list[list[str]], chances: Floats, p: Floats) -> dict[str, Any]:
        answer: dict[str, Any] = {"prediction": found[0]}
        if self._top:
            answer["top"] = [
                {"labels": labels, "probability": rounded(chance)}
                for labels, chance in zip(found, chances.tolist(), strict=True)
                if chance > 0
            ]
        if self._proba or not self._top:
            answer["probabilities"] = dict(zip(self._names, map(rounded, p.tolist()), strict=True))
        return answer

    def warn(self, console: Console) -> None:
        """Say what the model had never seen, or had to fill in."""
        table = self.model[0]
        for name, missing in table.imputed_.items():
            if missing:
                console.note(f"{name!r}: {count(missing, 'value')} missing.")
        for name, unknown in table.unknown_.items():
            if unknown:
                console.note(f"{name!r}: {count(unknown, 'value')} that training did not have.")


def _between(names: list[str], as_json: bool) -> str:
    """What stands between the labels of a set: something that no label has."""
    found = next((d for d in DELIMITERS if not any(d in name for name in names)), None)
    if found is None and not as_json:
        raise InvalidInput(
            "labels of this model hold '|', ';' and ','. Write JSON lines with --json."
        )
    return found or ""
