"""Answers as lines: CSV in which no cell is a formula, and numbers of six digits."""

from __future__ import annotations

import csv
import io

from ..report.safe import csv_cell

__all__ = ["csv_text", "digits", "rounded"]


def csv_text(rows: list[list[str]]) -> str:
    """Lines of a CSV file, in which no cell is a formula."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [csv_cell(cell) for cell in row] for row in rows
    )
    return text.getvalue()


def digits(number: float) -> str:
    """A number as it is written.

    >>> from argmax.cli.lines import digits
    >>> digits(1 / 3)
    '0.333333'
    """
    return f"{number:.6g}"


def rounded(number: float) -> float:
    """The number that is written."""
    return float(digits(number))
