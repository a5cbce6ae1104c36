"""``argmax evaluate`` on tagged sequences: how good a tagger is."""

from __future__ import annotations

import os
from typing import Any

from ...errors import InvalidInput
from ...persist import check_writable, load
from ...report import write
from ..console import Console, count
from ..outcome import OK
from . import scoring
from .account import setup
from .reading import label_of, opened_for
from .reporting import evaluation

__all__ = ["run"]


def run(
    model: str,
    data: str,
    target: str | None,
    report: str | None,
    read: list[str],
    force: bool,
    typed: str,
    console: Console,
) -> int:
    """Score the sequences of DATA that have labels."""
    if report:
        check_writable(report, overwrite=force)
    tagger = load(model)
    source, used = opened_for(tagger, data, read)
    label = label_of(source, target, used, tagger.classes_.tolist())
    with console.stage(f"Reading {source.path}") as stage:
        tokens = source.read([*used, label])
        stage.done = f"Read {count(len(tokens), 'sequence')} of {source.path}"
    with console.stage(f"Tagging {source.path}") as stage:
        found = scoring.judged(tagger, tokens, used[0], label, console)
        stage.done = f"Tagged {count(tokens.size, 'token')}"
    if found is None:
        raise InvalidInput(f"{source.path} has no sequence with labels in {label!r} to judge by.")
    if report:
        with console.stage("Writing the report"):
            page = evaluation(
                found,
                title=f"{label} in {os.path.basename(source.path)}",
                commands=[typed],
                setup=setup(model, data, label, 0.0, 0, read),
            )
            write(report, page, overwrite=force)
    scoring.show(found, console)
    scoring.show_mistakes(found, console)
    if report:
        console.heading("Written")
        console.say(report)
    told: dict[str, Any] = {"model": model, "data": data, "target": label, "report": report}
    console.result(told | scoring.as_json(found))
    return OK
