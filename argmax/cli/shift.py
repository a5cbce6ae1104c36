"""``argmax shift``: whether rows from where a model is used still are what it was judged by."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .. import shift
from ..errors import InvalidInput
from ..persist import check_writable, replace_file, save
from ..report import Shifted, write
from ..report.evaluation import versions
from ..report.shifted import results
from ..shift.words import parts
from .console import Console, count
from .evaluate import label_column
from .held import Held, read_held, rows_of
from .models import bare, columns_of, rows_for
from .outcome import FINDINGS, OK
from .reading import opened
from .scoring import feature_names
from .settings import memory_limit

__all__ = ["checked_outputs", "draw", "ended", "kind_of", "run", "show", "write_page"]

FEWEST = 20
"""Rows of each file below which nothing is said."""


def run(
    model: str,
    new: str,
    validation: str,
    test: float,
    seed: int,
    target: str | None,
    adapt: str | None,
    report: str | None,
    picture: str | None,
    read: list[str],
    memory: str | None,
    force: bool,
    typed: str,
    console: Console,
) -> int:
    """Compare, tell, and write what was asked for."""
    checked_outputs([adapt, report, picture], [model, new, validation], force)
    kind_of(picture)
    pipeline = bare(model)
    X, y = _labelled(pipeline, validation, target, test, seed, read, memory, console)
    Z = _unlabelled(pipeline, new, read, memory, console)
    (first, table), (last, estimator) = pipeline.steps
    with console.stage("Comparing") as stage:
        known, there = table.transform(X), table.transform(Z.batch)
        names = feature_names(table, estimator.n_features_in_)
        found = shift.diagnose(estimator, (known, y), there, names=names)
        stage.done = f"Compared {count(len(y), 'row')} with {count(len(Z), 'row')}"
    show(found, console)
    written = None
    if adapt is not None:
        written = _adapted(found, estimator, adapt, new, force, console)
        if written is not None:
            save(Pipeline([(first, table), (last, written)]), adapt, overwrite=force)
    rows = Z.rows[found.first].tolist()
    paged = write_page(found, report, new, rows, typed, force)
    drawn = draw(found, picture, force)
    outputs = [path for path in (written and adapt, paged, drawn) if path]
    told = {"model": model, "new": new, "validation": validation, "adapted": written and adapt}
    told |= {"report": paged, "picture": drawn, "label_first": rows}
    return ended(found, told, outputs, console)


def checked_outputs(outputs: list[str | None], inputs: list[str], force: bool) -> None:
    """Refuse now what could not be written later."""
    for path in outputs:
        if path is None:
            continue
        if os.path.abspath(path) in map(os.path.abspath, inputs):
            raise InvalidInput(
                "--adapt, --report and --picture must be other files than those that are read."
            )
        check_writable(path, overwrite=force)


def _labelled(
    pipeline: Pipeline, path: str, target: str | None, test: float, seed: int, read: list[str],
    memory: str | None, console: Console,
) -> tuple[Any, Any]:  # fmt: skip
    """Rows and labels that the model knows."""
    source, kinds = opened(path, read=read), columns_of(pipeline)
    classes = pipeline.classes_
    label = label_column(source, target, list(kinds), classes.tolist(), console)
    if test:
        X, y, _ = rows_of(path, label, kinds, test=test, seed=seed, read=read)
    else:
        held = read_held(source, label, kinds, memory_limit(memory) / 8, console)
        X, y = held.batch, held.labels
    known = int(np.isin(y, classes).sum())
    if known < FEWEST:
        raise InvalidInput(
            f"{path} has {known} rows with labels of the model; {FEWEST} are needed."
        )
    return X, y


def _unlabelled(
    pipeline: Pipeline, path: str, read: list[str], memory: str | None, console: Console
) -> Held:
    """Rows without labels, as many as there is room for."""
    held = Held(memory_limit(memory) / 8)
    with console.stage(f"Reading {path}") as stage:
        for batch in rows_for(pipeline, opened(path, read=read)):
            rows = batch.first + np.arange(len(batch))
            held.add(batch, np.full(len(batch), ""), rows)
            stage.update(f"{held.met:,} rows")
        stage.done = f"Read {count(held.met, 'row')} of {path}"
    if len(held) < FEWEST:
        raise InvalidInput(f"{path} has {len(held)} rows; {FEWEST} are needed to say anything.")
    return held


def _adapted(
    found: shift.Diagnosis, estimator: Any, path: str, new: str, force: bool, console: Console
) -> Any:
    """The adapted classifier, or None where it is not advised."""
    if found.kind != "label" or not found.label.advised:
        if not force:
            console.warn(f"{path} is not written: adapting is not advised here. --force writes it.")
            return None
        console.warn("adapting is not advised here: done because of --force.")
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    note = (
        f"{day}: priors by {found.label.method} of {found.label.rows[1]} rows of "
        f"{os.path.basename(new)}; {found.label.moved}; {found.label.compatible}"
    )
    return shift.adapt(estimator, found.label, note)


# For people and for programs


def show(found: shift.Diagnosis, console: Console) -> None:
    """The page, in the terminal."""
    console.heading(found.headline)
    for title, lines in parts(found):
        console.heading(title)
        for line in lines:
            console.say(line)


def write_page(
    found: shift.Diagnosis, path: str | None, new: str, first: list[int], typed: str, force: bool
) -> str | None:  # fmt: skip
    """The report in a file, whole or not at all."""
    if path is None:
        return None
    about = Shifted(
        diagnosis=found,
        title=f"Has the world moved? {os.path.basename(new)}",
        first=first,
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions=versions(),
        commands=[typed],
    )
    write(path, about, overwrite=force)
    return path


def draw(found: shift.Diagnosis, path: str | None, force: bool) -> str | None:
    """The picture in a file, whole or not at all."""
    if path is None:
        return None
    from ..plots import shift_page

    figure, kind = shift_page(found), kind_of(path)
    replace_file(path, lambda stream: figure.savefig(stream, format=kind), overwrite=force)
    return path


def kind_of(picture: str | None) -> str | None:
    """The format of a picture, by the end of its name."""
    if picture is None:
        return None
    kind = os.path.splitext(picture)[1].lstrip(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise InvalidInput(f"--picture must end in .png, .svg or .pdf; got {picture!r}.")
    return kind


def ended(
    found: shift.Diagnosis, told: dict[str, Any], outputs: list[str], console: Console
) -> int:
    """Say what was written and what comes next."""
    if outputs:
        console.heading("Written")
        for path in outputs:
            console.say(path)
    if told.get("adapted"):
        console.heading("Next")
        console.say(shlex.join(["argmax", "predict", told["adapted"], told["new"]]))
    console.result(told | results(found, told["label_first"]))
    return OK if found.kind == "none" else FINDINGS
