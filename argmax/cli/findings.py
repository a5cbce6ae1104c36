"""What a check of the data found, each with a severity.

error     a model of these data, or its score, would mean nothing
warning   worth a look before the score is believed
note      good to know
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from .console import Console, count

__all__ = ["ERROR", "Finding", "NOTE", "SEVERITIES", "WARNING", "in_order", "say_how_many"]

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found. ``code`` is stable, for programs; ``rows`` are examples, counted from
    0; or lines of a file, counted from 1.

    >>> from argmax.cli.findings import Finding
    >>> Finding("warning", "duplicates", "3 rows repeat an earlier one.", count=3).code
    'duplicates'
    """

    severity: str
    code: str
    message: str
    column: str | None = None
    count: int | None = None
    rows: tuple[int, ...] = field(default=())


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """The gravest first; among equals, as they were found."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def say_how_many(findings: Sequence[Finding], data: str, target: str, console: Console) -> None:
    """How many there are of each severity, and the command that shows them; nothing if there are none."""
    kinds = [finding.severity for finding in findings]
    if kinds:
        told = ", ".join(count(kinds.count(s), s) for s in SEVERITIES if s in kinds)
        command = shlex.join(["argmax", "check", data, "--target", target])
        console.say(f"Findings in the data: {told}. See {command}")
