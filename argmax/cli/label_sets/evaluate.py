"""``argmax evaluate`` with a classifier of sets: how good it is on rows with labels."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...data import Source
from ...errors import InvalidInput
from ...persist import check_writable
from ...records import Strings
from ...report import write
from ..console import Console
from ..models import columns_of, set_model
from ..outcome import OK
from ..reading import opened
from ..settings import memory_limit
from . import scoring
from .account import setup
from .material import read_truth
from .reading import Target, recognised, target_of
from .train import say_target

__all__ = ["run"]

ROWS = 2000
"""Rows that are looked at for labels."""


def run(
    model: str,
    data: str,
    target: str | None,
    labels: str,
    report: str | None,
    read: list[str],
    memory: str | None,
    force: bool,
    typed: str,
    console: Console,
) -> int:
    """Score the rows of DATA that have labels."""
    if report:
        check_writable(report, overwrite=force)
    fitted, source = set_model(model), opened(data, read=read)
    kinds, names = columns_of(fitted), [str(name) for name in fitted.classes_.tolist()]
    where = _where(source, target, labels, list(kinds), names)
    say_target(where, console)
    truth = read_truth(source, where, kinds, names, memory_limit(memory) / 8, console)
    found = scoring.judged(
        fitted,
        truth,
        title=f"{where.shown} in {os.path.basename(source.path)}",
        columns=[column for column in source.columns if column.name in kinds],
        commands=[typed],
        setup=setup(model, data, truth, 0.0, 0, read),
    )
    if report:
        with console.stage("Writing the report"):
            write(report, found, overwrite=force)
    scoring.show(found, truth, console)
    scoring.show_labels(found, console)
    if report:
        console.heading("Written")
        console.say(report)
    told: dict[str, Any] = {"model": model, "data": data, "report": report}
    told |= {"target": list(where.columns), "delimiter": where.delimiter}
    console.result(told | scoring.as_json(found, truth))
    return OK


def _where(
    source: Source, target: str | None, labels: str, used: list[str], names: list[str]
) -> Target:
    """Where the labels are: as told, or a column for each label, or the column that lists them."""
    if target is not None:
        single = target in [column.name for column in source.columns]
        found = target_of(source, target, labels)
        if found is None and single and labels == "auto":  # one label a row is a set of one
            return Target((target,), "|")
        if found is None:
            raise InvalidInput(
                f"--target {target} does not say where several labels are: name columns of 0 and 1, or one "
                "that lists labels, with --labels DELIMITER."
            )
        return found
    there = [column.name for column in source.columns]
    if all(name in there for name in names):
        return Target(tuple(names))
    lists = [(name, _delimiter(source, name, names)) for name in there if name not in used]
    lists = [(name, delimiter) for name, delimiter in lists if delimiter is not None]
    if len(lists) != 1:
        what = "several columns list" if lists else "no column lists"
        raise InvalidInput(
            f"--target is missing: {what} labels of this model, such as {names[0]!r}. Name the columns of "
            f"{source.path} that have them."
        )
    return Target((lists[0][0],), lists[0][1])


def _delimiter(source: Source, name: str, names: list[str]) -> str | None:
    """What stands between labels in a column, if most of its pieces are labels of the model."""
    first = next(iter(source.batches([name], rows=ROWS, strings=[name])))
    column = first.columns[name]
    assert isinstance(column, Strings)
    values = [value for value in column.tolist() if value]
    delimiter = recognised(values) or "|"
    pieces = [piece.strip() for value in values for piece in value.split(delimiter)]
    return delimiter if pieces and np.isin(pieces, names).mean() >= 0.5 else None
