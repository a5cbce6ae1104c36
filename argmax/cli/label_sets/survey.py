"""What is wrong with the labels of a table that has several a row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...records import Ints
from ..console import count
from ..findings import ERROR, NOTE, WARNING, Finding
from ..survey import RARE, examples, listed
from .reading import LabelSets

__all__ = ["label_counts", "label_findings"]


def label_counts(sets: LabelSets, codes: Ints) -> dict[str, int]:
    """Rows of each label, the most frequent first."""
    rows = np.bincount(codes[codes >= 0], minlength=len(sets.sets))
    found = rows @ sets.matrix()
    order = np.argsort(-found, kind="stable")
    return {sets.labels[i]: int(found[i]) for i in order}


def label_findings(sets: LabelSets, codes: Ints) -> Iterator[Finding]:
    """What is worth saying about labels, given the code of the set of each row."""
    shown, known = sets.target.shown, codes >= 0
    rows, counts = int(known.sum()), label_counts(sets, codes)
    if rows < len(codes):
        text = f"{count(len(codes) - rows, 'row')} without some 0 or 1 in {shown}: left out."
        yield Finding(WARNING, "unlabelled", text, shown, len(codes) - rows, examples(~known))
    if len(counts) < 2:
        got = f"only {next(iter(counts))!r}" if counts else "none"
        text = f"{shown} must have at least two labels; there is {got}."
        yield Finding(ERROR, "one-class", text, shown, len(counts))
    if rows and len(counts) > max(50, 0.5 * rows):
        text = (
            f"{shown} has {len(counts):,} different labels in {rows:,} rows: it looks like text, not like "
            "labels. Say so with --labels none, or what stands between labels with --labels ';'."
        )
        yield Finding(ERROR, "not-classes", text, shown, len(counts))
        return
    if constant := [name for name, n in counts.items() if n in (0, rows)]:
        text = (
            f"{count(len(constant), 'label')} of no row or of every row ({listed(constant)}): there is "
            "nothing to learn about them."
        )
        yield Finding(WARNING, "constant-labels", text, shown, len(constant))
    if rare := [name for name, n in counts.items() if 0 < n < RARE]:
        text = (
            f"{count(len(rare), 'label')} with fewer than {RARE} rows ({listed(rare)}): too few to learn "
            "from, and to judge by."
        )
        yield Finding(WARNING, "rare-classes", text, shown, len(rare))
    yield from _empty(sets, codes)
    yield from _alike(list(counts), shown)


def _empty(sets: LabelSets, codes: Ints) -> Iterator[Finding]:
    empty = np.isin(codes, [i for i, row in enumerate(sets.sets) if not row])
    if total := int(empty.sum()):
        text = f"{count(total, 'row')} to which no label applies: learned from as such."
        listed_ones = sets.target.delimiter is not None  # an empty cell might also mean: not known
        severity = WARNING if listed_ones else NOTE
        yield Finding(severity, "no-label", text, sets.target.shown, total, examples(empty))


def _alike(names: list[str], shown: str) -> Iterator[Finding]:
    """Labels that differ by case or by spaces only."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(" ".join(name.split()).casefold(), []).append(name)
    for group in groups.values():
        if len(group) > 1:
            text = f"the labels {listed(group)} differ by capital letters or spaces only."
            yield Finding(WARNING, "alike-classes", text, shown, len(group))
