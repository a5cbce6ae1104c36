"""``argmax check`` on a table with several labels a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from ...data import Source
from ..check import show_classes, show_findings
from ..console import Console, count
from ..findings import ERROR, WARNING, Finding, in_order
from ..outcome import FINDINGS, OK
from ..reading import lacking, opened, shown_kinds
from ..survey import Survey, listed
from .reading import LabelSets, Target
from .survey import label_counts, label_findings
from .train import say_target

__all__ = ["run"]


def run(source: Source, target: Target, test: str | None, read: list[str], console: Console) -> int:
    """Look at the table, and at TEST beside it; the exit code is 1 if there is an error among findings."""
    say_target(target, console)
    survey, sets = _looked_at(source, target, console)
    findings = [*label_findings(sets, survey.codes), *survey.of_table()]
    if test is not None:
        other, new = _looked_at(opened(test, read=read), target, console, survey)
        findings += _compared(survey, sets, other, new)
    findings = in_order(findings)
    counts = label_counts(sets, survey.codes)
    console.say(f"{source.path}: {count(survey.rows, 'row')}, {source.format}")
    console.heading("Columns")
    console.table(["column", "kind", ">missing", ">distinct", "examples"], _kinds(source, target))
    show_classes(counts, target.shown, console, "label", total=survey.rows)
    show_findings(findings, console)
    console.result(
        {
            "data": source.path,
            "test": test,
            "format": source.format,
            "rows": survey.rows,
            "target": list(target.columns),
            "delimiter": target.delimiter,
            "labels": counts,
            "sets": len(sets.sets),
            "columns": [asdict(column) for column in source.columns],
            "findings": [asdict(finding) for finding in findings],
        }
    )
    return FINDINGS if any(finding.severity == ERROR for finding in findings) else OK


def _looked_at(
    source: Source, target: Target, console: Console, like: Survey | None = None
) -> tuple[Survey, LabelSets]:
    """Everything that one look at a table tells; ``like``: read as that one was."""
    columns = tuple(c for c in source.columns if c.name not in target.columns)
    survey = Survey(columns if like is None else like.columns, target.shown, "set of labels")
    names = [name for name, kind in survey.kinds.items() if kind != "ignore"]
    lacking(source, [*names, *target.columns])
    numbers = [name for name in names if survey.kinds[name] == "number"]
    texts = [name for name in names if name not in numbers]
    sets, own = LabelSets(target, source.path), list(target.columns)
    with console.stage(f"Reading {source.path}") as stage:
        for batch in source.batches([*names, *own], strings=[*texts, *own], numbers=numbers):
            survey.add(batch, sets.codes(batch))
            stage.update(f"{survey.rows:,} rows")
        stage.done = f"Read {count(survey.rows, 'row')} of {source.path}"
    survey.labels.names = sets.names()
    return survey, sets


def _compared(survey: Survey, sets: LabelSets, other: Survey, new: LabelSets) -> Iterator[Finding]:
    """What a test file adds: rows of both, and labels of its own."""
    yield from (one for one in survey.overlap(other) if one.code != "unseen-classes")
    if unseen := [name for name in new.labels if name not in set(sets.labels)]:
        text = f"the test file has labels that the data do not have: {listed(unseen)}."
        yield Finding(WARNING, "unseen-classes", text, survey.target, len(unseen))


def _kinds(source: Source, target: Target) -> list[list[str]]:
    """The columns, those of labels marked as such."""
    rows = shown_kinds(source, None)
    return [
        [name, "label" if name in target.columns else kind, *rest] for name, kind, *rest in rows
    ]
