"""``argmax evaluate``: how good a model is on rows with labels."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..data import Source
from ..errors import InvalidInput
from ..persist import check_writable
from ..records import Strings
from ..report import write
from ..report.evaluation import digest
from ..report.measures import Measures
from . import scoring
from .account import setup
from .console import Console
from .held import read_held
from .models import bare, columns_of, loaded
from .outcome import OK
from .reading import opened, target_of
from .settings import memory_limit

__all__ = ["label_column", "run"]


def run(
    model: str,
    data: str,
    target: str | None,
    report: str | None,
    cost: str | None,
    read: list[str],
    memory: str | None,
    force: bool,
    typed: str,
    console: Console,
) -> int:
    """Score the rows of DATA that have a label."""
    if report:
        check_writable(report, overwrite=force)
    fitted, source = loaded(model), opened(data, read=read)
    kinds = columns_of(fitted)
    label = label_column(source, target, list(kinds), fitted.classes_.tolist(), console)
    held = read_held(source, label, kinds, memory_limit(memory) / 8, console)
    actions, costs = _costs(cost, fitted.classes_.tolist())
    found = scoring.evaluation(
        fitted,
        held,
        bare(model)[-1],
        title=f"{label} in {os.path.basename(source.path)}",
        columns=[column for column in source.columns if column.name in kinds],
        digests={"weights": digest(fitted[-1].coef_)},
        commands=[typed],
        cost=costs,
        actions=actions,
        setup=setup(model, data, label, 0.0, 0, read, held),
    )
    measures = Measures(found)
    if report:
        with console.stage("Writing the report"):
            write(report, measures, overwrite=force)
    scoring.show(measures, held, console)
    scoring.show_classes(measures, console)
    _show_costs(measures, console)
    if report:
        console.heading("Written")
        console.say(report)
    told: dict[str, Any] = {"model": model, "data": data, "target": label, "report": report}
    told |= {} if measures.costs is None else {"costs": _told(measures.costs)}
    console.result(told | scoring.as_json(measures, held))
    return OK


def _costs(path: str | None, classes: list[str]) -> tuple[list[str], Any]:
    """Actions and costs of a file, in which the plain answers must be actions too: they are compared with."""
    if path is None:
        return [], None
    from .acting import read_costs

    actions, costs = read_costs(path, classes)
    if absent := [name for name in classes if name not in actions]:
        raise InvalidInput(
            f"--cost needs a column for every class to compare with; there is none for {absent[0]!r}."
        )
    return actions, costs


def _show_costs(measures: Measures, console: Console) -> None:
    if measures.costs is None:
        return
    console.heading("Mean cost of a row")
    names = ("most probable class", "least expected cost", "saved by knowing the costs")
    rows = [
        [name, f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}"]
        for name, one in zip(names, measures.costs, strict=True)
    ]
    console.table(["", ">value", ">95 % interval"], rows)


def _told(costs: tuple[Any, Any, Any]) -> dict[str, dict[str, float]]:
    names = ("most_probable", "least_expected", "saved")
    return {
        name: {"value": one.value, "low": one.low, "high": one.high}
        for name, one in zip(names, costs, strict=True)
    }


def label_column(
    source: Source, target: str | None, read: list[str], classes: list[str], console: Console
) -> str:
    """The column of the labels: the one named, or the only one that looks like them and is not read."""
    if target is not None or source.format == "svmlight":
        return target_of(source, target)
    free = [name for name, kind in source.kinds.items() if name not in read and kind != "ignore"]
    free += [c.name for c in source.columns if c.kind == "ignore" and c.distinct == 1]
    found = [name for name in free if _is_label(source, name, classes)]
    if len(found) != 1:
        what = "several columns look" if found else "no column looks"
        raise InvalidInput(
            f"--target is missing: {what} like labels of this model, such as {classes[0]!r}. Name the "
            f"column of {source.path} that has them."
        )
    console.note(f"The labels are taken from {found[0]!r}.")
    return found[0]


def _is_label(source: Source, name: str, classes: list[str]) -> bool:
    """Whether at least half of the first values of a column are classes."""
    first = next(iter(source.batches([name], strings=[name])))
    column = first.columns[name]
    assert isinstance(column, Strings)
    return bool(np.isin(np.array(column.tolist(), dtype=str), classes).mean() >= 0.5)
