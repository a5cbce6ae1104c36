"""``argmax check``: what a table holds, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from ..data import Source
from .console import Console, Stage, count
from .findings import ERROR, Finding, in_order
from .label_sets.reading import target_of as several_labels
from .outcome import FINDINGS, OK
from .reading import lacking, opened, read_as, shown_kinds, target_of
from .survey import Survey

__all__ = ["run", "show_classes", "show_findings", "surveyed"]

MOST_CLASSES = 20


def run(
    data: str,
    test: str | None,
    target: str | None,
    kinds: list[str],
    read: list[str],
    console: Console,
    labels: str = "auto",
) -> int:
    """Look at DATA, and at TEST beside it; the exit code is 1 if there is a finding of severity error."""
    source = opened(data, kinds, read)
    if (several := several_labels(source, target, labels)) is not None:
        from .label_sets.check import run as run_on_sets

        return run_on_sets(source, several, test, read, console)
    label = target_of(source, target)
    survey = _looked_at(source, label, console)
    findings = survey.findings()
    if test is not None:
        findings += _compared(survey, opened(test, kinds, read), label, console)
    findings = in_order(findings)
    _show(source, survey, label, findings, console)
    failed = any(finding.severity == ERROR for finding in findings)
    console.result(
        {
            "data": data,
            "test": test,
            "format": source.format,
            "rows": survey.rows,
            "target": label,
            "classes": survey.counts,
            "columns": [asdict(column) for column in source.columns],
            "findings": [asdict(finding) for finding in findings],
        }
    )
    return FINDINGS if failed else OK


def _looked_at(source: Source, target: str, console: Console) -> Survey:
    with console.stage(f"Reading {source.path}") as stage:
        survey = surveyed(source, target, stage)
        stage.done = f"Read {count(survey.rows, 'row')} of {source.path}"
    return survey


def surveyed(source: Source, target: str, stage: Stage) -> Survey:
    """Everything that one look at a table tells."""
    survey = Survey(source.columns, target)
    names = [name for name, kind in survey.kinds.items() if kind != "ignore"]
    for batch in source.batches([*names, target], strings=[target]):
        survey.add(batch, survey.labels.codes(batch, target))
        stage.update(f"{survey.rows:,} rows")
    return survey


def _compared(survey: Survey, test: Source, target: str, console: Console) -> Iterator[Finding]:
    """What a test file adds, read as the data were."""
    kinds = {name: survey.kinds[name] for name in survey.names}
    lacking(test, [*kinds, target])
    other = Survey(survey.columns, target)
    with console.stage(f"Reading {test.path}") as stage:
        for batch in read_as(kinds, test, target):
            other.add(batch, other.labels.codes(batch, target))
        stage.done = f"Read {count(other.rows, 'row')} of {test.path}"
    yield from survey.overlap(other)


def _show(
    source: Source, survey: Survey, target: str, findings: list[Finding], console: Console
) -> None:
    console.say(f"{source.path}: {count(survey.rows, 'row')}, {source.format}")
    console.heading("Columns")
    console.table(
        ["column", "kind", ">missing", ">distinct", "examples"], shown_kinds(source, target)
    )
    show_classes(survey.counts, target, console)
    show_findings(findings, console)


def show_classes(
    counts: dict[str, int],
    target: str,
    console: Console,
    one: str = "class",
    rows: str = "rows",
    total: int | None = None,
) -> None:
    """The classes and their rows; ``total`` are all rows, where one may have several classes or none."""
    total = max(sum(counts.values()) if total is None else total, 1)
    title = count(len(counts), one).partition(" ")[2].capitalize()
    console.heading(f"{title} of {target}: {len(counts):,}")
    shown = list(counts.items())[:MOST_CLASSES]
    console.table(
        [one, f">{rows}", ">share"], [[c, f"{n:,}", f"{n / total:.1%}"] for c, n in shown]
    )
    if len(counts) > len(shown):
        console.say(f"… and {len(counts) - len(shown):,} smaller ones")


def show_findings(findings: list[Finding], console: Console, places: str = "Rows") -> None:
    """The findings, a line each; ``places`` is what their examples are."""
    console.heading(f"Findings: {len(findings)}" if findings else "Findings: none")
    for finding in findings:
        rows = f" {places} {', '.join(map(str, finding.rows))}, …" if finding.rows else ""
        if finding.count is None or len(finding.rows) == finding.count:
            rows = rows.removesuffix(", …")
        console.say(f"{finding.severity:8} {finding.message}{rows}", indent=9)
