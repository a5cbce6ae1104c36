"""``argmax compare``: losses and reductions on the same rows, with intervals, the best first."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any, final

import numpy as np

from ..errors import InvalidInput, ResourceLimit
from ..features import Table
from ..metrics import unseen
from .acting import read_costs
from .console import Console, count, seconds
from .contest import Contender, OutOfTime, contend
from .entrants import Entrant, admitted, named
from .held import Held, read_held
from .leaderboard import BY, Exam, Leaderboard, Standing
from .material import Material, gathered, looked_through
from .outcome import OK
from .reading import opened, target_of
from .route import of_sequences
from .rows import InMemory, Rows
from .settings import feature_options, memory_limit, test_share
from .splitting import HeldOut

__all__ = ["Options", "run"]

SHARE = 0.5
"""Of the time that is left, what a method may take: a slow one leaves some for those after it."""


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """What was typed after ``argmax compare``."""

    data: str
    target: str | None = None
    methods: list[str] = field(default_factory=list)
    cost: str | None = None
    by: str = "auto"
    test: str = "0.2"
    kinds: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    seed: int = 0
    time_limit: float | None = None
    memory: str | None = None


def run(console: Console, **given: Any) -> int:
    """Read, split, make features once; then for each method choose C, fit and judge."""
    options = Options(**given)
    by, share, table = _order(options), test_share(options.test), feature_options(options.features)
    wanted = named(options.methods)
    if share == 0:
        raise InvalidInput("--test 0 leaves no rows to judge by. Pass a share such as 0.2.")
    if of_sequences({"data": options.data, "read": options.read}):
        raise InvalidInput(
            f"{options.data} holds tagged sequences, and compare is for tables. Use argmax train."
        )
    source = opened(options.data, options.kinds, options.read)
    target = target_of(source, options.target)
    held_out, limit = HeldOut(share or 0.0, options.seed), memory_limit(options.memory)
    material = gathered(source, target, held_out, limit, console)
    findings = looked_through(material, console)
    if not material.kept:
        raise ResourceLimit(
            f"the rows do not fit into {limit / 2**20:,.0f} MiB, and a comparison is made in memory. Pass a "
            "larger --memory, or compare on a part of the rows."
        )
    held = material.held if share is not None else _test_rows(options, material, console)
    actions, cost = _costs(options.cost, material)
    with console.stage("Making features") as stage:
        rows = InMemory(material, Table(material.kinds, **table), options.seed + 1)
        exam = _exam(rows, held, material, actions, cost)
        stage.done = f"Made {rows.features:,} features of {count(len(material.kinds), 'column')}"
    entrants, left_out = admitted(wanted, len(exam.classes), rows.features)
    standings = _compared(entrants, left_out, rows, exam, options, console)
    with console.stage("Comparing"):
        board = Leaderboard(standings, left_out, by)
    about = {
        "data": options.data,
        "target": target,
        "classes": exam.classes,
        "rows_learned": rows.count,
        "rows": len(exam.truth),
        "features": rows.features,
        "findings": [asdict(finding) for finding in findings],
    }
    board.show(console, about, options.cost)
    console.result(about | board.as_json())
    return OK


def _order(options: Options) -> str:
    """The score that decides."""
    if options.by == "auto":
        return "log-loss" if options.cost is None else "cost"
    if options.by not in BY:
        raise InvalidInput(f"--by must be auto, {', '.join(BY)}; got {options.by!r}.")
    return options.by


def _test_rows(options: Options, material: Material, console: Console) -> Held:
    """The rows of ``--test FILE``."""
    source = opened(options.test, read=options.read)
    return read_held(source, material.target, material.kinds, material.held.room, console)


def _costs(path: str | None, material: Material) -> tuple[list[str], Any]:
    """Actions and their costs; without a file every mistake costs 1."""
    names = sorted(material.classes.tolist())
    return (names, 1.0 - np.eye(len(names))) if path is None else read_costs(path, names)


def _exam(rows: Rows, held: Held, material: Material, actions: list[str], cost: Any) -> Exam:
    if not len(held):
        raise InvalidInput(f"{material.source.path}: too few rows to hold some out to judge by.")
    classes = sorted(material.classes.tolist())
    if new := unseen(held.labels, classes):
        raise InvalidInput(
            f"--test has the label {next(iter(new))!r}, which {material.source.path} has not: no method "
            "could answer it. Leave such rows out."
        )
    return Exam(rows.table.transform(held.batch), held.labels, classes, actions, cost)


def _compared(
    entrants: list[Entrant],
    left_out: dict[str, str],
    rows: Rows,
    exam: Exam,
    options: Options,
    console: Console,
) -> list[Standing]:
    """What each method is worth; those that the time limit cuts off join those left out."""
    standings, end = [], None
    if options.time_limit is not None:
        end = time.monotonic() + options.time_limit
    for place, entrant in enumerate(entrants):
        bar = "█" * place + "░" * (len(entrants) - place)
        with console.stage(f"{bar} {entrant.name}") as stage:
            limit = _allowance(end, last=place + 1 == len(entrants))
            try:
                found = contend(entrant, rows, limit, options.seed, stage)
            except OutOfTime:
                left_out[entrant.name] = (
                    f"not done in the {seconds(limit or 0.0)} that --time-limit left it"
                )
                stage.done = f"{entrant.name}: out of time"
                continue
            standings.append(Standing(found, exam))
            stage.done = _told(found)
    if not standings:
        raise ResourceLimit("no method was done within --time-limit. Allow more seconds.")
    return standings


def _allowance(end: float | None, last: bool) -> float | None:
    """Seconds for the next method; None without a limit."""
    if end is None:
        return None
    left = max(0.0, end - time.monotonic())
    return left if last else SHARE * left


def _told(found: Contender) -> str:
    tuned = f", C = {found.best.C:g} of {len(found.trials)}" if len(found.trials) > 1 else ""
    return f"{found.entrant.name}: log-loss {found.best.loss:.4f} on rows left out{tuned}"
