"""``argmax predict``: an answer for every row, in order and in flat memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, Protocol, final

import numpy as np

from ..errors import InvalidInput
from ..persist import check_writable, replace_file
from ..records import Floats
from .console import Console, count
from .lines import csv_text, digits, rounded
from .models import loaded, rows_for
from .outcome import OK
from .reading import opened

__all__ = ["Answers", "run", "to_stdout", "written"]

Lines = Callable[[Any, Floats], Iterator[str]]
"""The lines for some rows, from their classes (k,) and probabilities (n, k)."""


def run(
    model: str,
    data: str,
    proba: bool,
    top: int | None,
    cost: str | None,
    reject: float | None,
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
    fitted = loaded(model)
    answers = _Answers(fitted, opened(data, read=read, once=True, sample_rows=1))
    as_json = console.as_json or (output or "").endswith(".jsonl")
    if cost is not None or reject is not None:
        if top is not None:
            raise InvalidInput(
                "--top ranks classes by probability; --cost and --reject decide. Use one."
            )
        from .acting import acting

        header, lines = acting(fitted.classes_, cost, reject, proba, as_json)
    else:
        header, lines = _form(fitted.classes_, proba, top, as_json)
    with console.stage(f"Predicting {answers.path}") as stage:
        answers.lines = lines
        if output is None:
            to_stdout(header, answers, stage)
        else:
            replace_file(output, written(header, answers, stage), overwrite=force)
        stage.done = f"Answered {count(answers.rows, 'row')} of {answers.path}"
    answers.warn(console)
    return OK


class Answers(Protocol):
    """Lines for the rows of a file, batch by batch, and how many rows there were."""

    rows: int

    def __iter__(self) -> Iterator[Iterable[str]]: ...


@final
class _Answers:
    """Lines from the probabilities of the rows of a file, batch by batch."""

    lines: Lines

    def __init__(self, model: Any, source: Any) -> None:
        self.model, self.source, self.rows = model, source, 0
        self.path = source.path
        self._batches = rows_for(model, source)  # raises now if a column is not there

    def __iter__(self) -> Iterator[Iterable[str]]:
        for batch in self._batches:
            self.rows += len(batch)
            yield self.lines(self.model.classes_, self.model.predict_proba(batch))

    def warn(self, console: Console) -> None:
        """Say what the model had never seen, or had to fill in."""
        table = self.model[0]
        for name, missing in table.imputed_.items():
            if missing:
                console.note(f"{name!r}: {count(missing, 'value')} missing.")
        for name, unknown in table.unknown_.items():
            if unknown:
                console.note(f"{name!r}: {count(unknown, 'value')} that training did not have.")


# Where answers go


def to_stdout(header: str, answers: Answers, stage: Any) -> None:
    """Every line as soon as it is there: whoever reads them may be waiting."""
    sys.stdout.write(header)
    for lines in answers:
        sys.stdout.writelines(lines)
        sys.stdout.flush()
        stage.update(f"{answers.rows:,} rows")


def written(header: str, answers: Answers, stage: Any) -> Callable[[IO[bytes]], None]:
    """What writes the same lines into a file."""

    def write(stream: IO[bytes]) -> None:
        stream.write(header.encode())
        for lines in answers:
            stream.write("".join(lines).encode())
            stage.update(f"{answers.rows:,} rows")

    return write


# How they are written


def _form(classes: Any, proba: bool, top: int | None, as_json: bool) -> tuple[str, Lines]:
    """The first line, and what makes the others."""
    names = [str(name) for name in classes.tolist()]
    best = min(top or 1, len(names))
    if as_json:
        return "", lambda _, table: _json_lines(names, table, best if top else 0, proba)
    heads = ["prediction", "probability"] if top else ["prediction"]
    for place in range(2, best + 1):
        heads += [f"prediction_{place}", f"probability_{place}"]
    heads += names if proba else []
    return csv_text([heads]), lambda _, table: _csv_lines(names, table, best, bool(top), proba)


def _ranked(table: Floats, best: int) -> Any:
    """The columns of the ``best`` largest probabilities of each row; of equals the first."""
    if best == 1:
        return table.argmax(axis=1)[:, None]
    return np.argsort(-table, axis=1, kind="stable")[:, :best]


def _csv_lines(
    names: list[str], table: Floats, best: int, with_probability: bool, proba: bool
) -> Iterator[str]:
    ranked = _ranked(table, best)
    for row, order in zip(table, ranked.tolist(), strict=True):
        cells: list[str] = []
        for column in order:
            cells.append(names[column])
            cells += [digits(row[column])] if with_probability else []
        cells += map(digits, row.tolist()) if proba else []
        yield csv_text([cells])


def _json_lines(names: list[str], table: Floats, top: int, proba: bool) -> Iterator[str]:
    ranked = _ranked(table, max(top, 1))
    for row, order in zip(table, ranked.tolist(), strict=True):
        answer: dict[str, Any] = {"prediction": names[order[0]]}
        if top:
            answer["top"] = [{"class": names[c], "probability": rounded(row[c])} for c in order]
        if proba:
            answer["probabilities"] = dict(zip(names, map(rounded, row.tolist()), strict=True))
        yield json.dumps(answer, ensure_ascii=False) + "\n"
