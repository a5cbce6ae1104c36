"""``argmax check`` on a file of sequences: what it holds, and what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...data import Conll
from ...errors import BadFile
from ..check import show_classes, show_findings
from ..console import Console, count
from ..findings import ERROR, Finding, in_order
from ..outcome import FINDINGS, OK, in_shell
from .reading import columns_for, opened, target_of
from .survey import Survey

__all__ = ["run", "surveyed"]


def run(data: str, test: str | None, target: str | None, read: list[str], console: Console) -> int:
    """Look at DATA, and at TEST beside it; the exit code is 1 if there is a finding of severity error."""
    source = opened(data, read, strict=False)
    label = target_of(source, target)
    survey = surveyed(source, label, console)
    findings = survey.findings()
    if survey.repairs.any:
        findings += _first_fault(data, read, list(survey.tokens.columns))
    if test is not None:
        other = opened(test, read, strict=False)
        findings += survey.overlap(surveyed(other, target_of(other, target), console))
    findings = in_order(findings)
    _show(source, survey, findings, console)
    console.result(_as_json(data, test, source, survey, findings))
    return FINDINGS if any(finding.severity == ERROR for finding in findings) else OK


def surveyed(source: Conll, label: str, console: Console) -> Survey:
    """Everything that one look at a file tells."""
    with console.stage(f"Reading {source.path}") as stage:
        columns = columns_for(source, label)
        tokens = source.read([*columns, label])
        stage.done = f"Read {count(len(tokens), 'sequence')} of {source.path}"
    return Survey(tokens, columns[0], label, source.repairs)


def _first_fault(data: str, read: list[str], columns: list[str]) -> list[Finding]:
    """What a strict reader says: where the first malformed line is."""
    if data == "-":
        return []
    try:
        opened(data, read, strict=True).read(columns)
    except BadFile as error:
        where = () if error.line is None else (error.line,)
        text = f"A strict reader says: {in_shell(str(error))}"
        return [Finding(ERROR, "malformed", text, None, None, where)]
    return []


def _show(source: Conll, survey: Survey, findings: list[Finding], console: Console) -> None:
    tokens = survey.tokens
    lengths = tokens.lengths
    console.say(
        f"{source.path}: {count(len(tokens), 'sequence')}, {count(tokens.size, 'token')}, {source.format}"
    )
    console.say(f"Columns {', '.join(source.columns)}; labels in {survey.label!r}.")
    console.say(
        f"{lengths.min()} to {lengths.max()} tokens a sequence, {tokens.size / len(tokens):.1f} on average."
    )
    show_classes(survey.counts, survey.label, console, "label", "tokens")
    if survey.spans:
        console.heading(f"Spans ({survey.scheme}): {sum(survey.spans.values()):,}")
        console.table(["type", ">spans"], [[name, f"{n:,}"] for name, n in survey.spans.items()])
    show_findings(findings, console, "Lines")


def _as_json(
    data: str, test: str | None, source: Conll, survey: Survey, findings: list[Finding]
) -> dict[str, Any]:
    return {
        "data": data,
        "test": test,
        "format": source.format,
        "sequences": len(survey.tokens),
        "tokens": survey.tokens.size,
        "columns": list(source.columns),
        "target": survey.label,
        "scheme": survey.scheme,
        "labels": survey.counts,
        "spans": survey.spans,
        "illegal": len(survey.illegal),
        "repairs": asdict(survey.repairs),
        "findings": [asdict(finding) for finding in findings],
    }
