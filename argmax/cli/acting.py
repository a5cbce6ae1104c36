"""Actions instead of classes: ``argmax predict --cost costs.csv --reject COST``."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import decisions
from ..errors import BadFile, InvalidInput
from ..records import Floats
from .lines import csv_text, digits, rounded

__all__ = ["acting", "read_costs"]

NO_ANSWER = "reject"


def read_costs(path: str, classes: list[str]) -> tuple[list[str], Floats]:
    """Actions (a,) and costs (k, a) of a CSV file: a line for each class, a column for each action.

    >>> import os, tempfile
    >>> from argmax.cli.acting import read_costs
    >>> path = os.path.join(tempfile.mkdtemp(), "costs.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("truth,no,yes\\nno,0,1\\nyes,20,0\\n")
    >>> read_costs(path, ["no", "yes"])
    (['no', 'yes'], array([[ 0.,  1.],
           [20.,  0.]]))
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadFile(f"costs cannot be read as CSV: {error}.", path=path) from error
    if len(lines) < 2 or len(lines[0]) < 2:
        raise BadFile(
            "costs need a first line of actions, and then a line for each class: its name and "
            "the cost of each action if it is the truth.",
            path=path,
        )
    actions, found = lines[0][1:], {line[0]: line[1:] for line in lines[1:]}
    if len(found) < len(lines) - 1 or len(set(actions)) < len(actions):
        raise BadFile("the costs name a class or an action twice.", path=path)
    if absent := [name for name in classes if name not in found]:
        raise BadFile(f"the costs have no line for the class {absent[0]!r}.", path=path)
    if extra := [name for name in found if name not in classes]:
        raise BadFile(f"the costs have a line for {extra[0]!r}, which is no class.", path=path)
    table = np.array([[_cost(path, cell) for cell in found[name]] for name in classes])
    return actions, decisions.cost_table(table, classes, actions)


def _cost(path: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        raise BadFile(f"{cell!r} stands where a cost should be.", path=path) from error


def acting(
    classes: Any, cost: str | None, reject: float | None, proba: bool, as_json: bool
) -> tuple[str, Callable[[Any, Floats], Iterator[str]]]:
    """The first line, and what makes the others: the action of each row and its expected cost."""
    names = [str(name) for name in classes.tolist()]
    actions, table = (names, 1.0 - np.eye(len(names))) if cost is None else read_costs(cost, names)
    if reject is not None and NO_ANSWER in actions:
        raise InvalidInput(
            f"--reject: an action is called {NO_ANSWER!r} already. Give it another name."
        )

    def lines(_: Any, p: Floats) -> Iterator[str]:
        found = decisions.decide(p, table, names, actions=actions, reject=reject)
        for action, risk, row in zip(found.taken, found.risk.tolist(), p.tolist(), strict=True):
            told = NO_ANSWER if action is None else action
            if as_json:
                answer: dict[str, Any] = {"prediction": told, "expected_cost": rounded(risk)}
                if proba:
                    answer["probabilities"] = dict(zip(names, map(rounded, row), strict=True))
                yield json.dumps(answer, ensure_ascii=False) + "\n"
            else:
                yield csv_text([[told, digits(risk), *(map(digits, row) if proba else ())]])

    heads = ["prediction", "expected_cost", *(names if proba else [])]
    return ("" if as_json else csv_text([heads])), lines
