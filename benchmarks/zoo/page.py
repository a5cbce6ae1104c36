"""What is printed: rows, sums and promises."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from ..common import Check, say, table
from .fits import LIMIT, Fit, Record
from .plan import KINDS
from .rows import kind

__all__ = ["check", "line", "listing", "percent", "promises", "sums"]

EASY_WORK, EASY_SECONDS = 1e7, 5.0
"""Fits of at most so many multiply-adds a pass are to end in so many seconds."""


LISTED = 60
"""Lines under one title."""

NOTHING = "no fits"
"""The figure of a promise about which there is nothing to say."""


def line(record: Record) -> str:
    """One fit in one line."""
    fit = record.fit
    gap = "" if math.isnan(record.relative_gap) else f" gap {record.relative_gap:.1e}"
    text = (
        f"{record.status:12s} {record.seconds:8.3f} s {fit.name}  [{record.shape}] "
        f"{record.solver} {record.passes} passes{gap}"
    )
    notes = [w for w in record.warnings if not w.startswith("NotConverged")]
    if record.status != "converged" or "→" in record.message or notes:
        notes.insert(0, record.message)
    return " | ".join([text, *(note.replace("\n", " ")[:200] for note in notes)])


def in_time(record: Record) -> bool:
    return record.fine and record.seconds <= LIMIT


def remarkable(record: Record) -> bool:
    """Whether a row is worth printing by itself."""
    easy = record.work <= EASY_WORK and kind(record.fit.rows) == "rows"
    late = easy and not record.seconds <= EASY_SECONDS
    return not in_time(record) or late


def loss_of(fit: Fit) -> str:
    """The loss as the sums name it, with the kind where that is not plain rows."""
    what = kind(fit.rows)
    penalty = " l1" if fit.problem.l1 else ""
    return fit.problem.loss + penalty + ("" if what == "rows" else f", {what}")


def sums(records: Sequence[Record]) -> None:
    """Shares by loss, by C, by family and by set."""
    ways: dict[str, Callable[[Record], str]] = {
        "loss": lambda r: loss_of(r.fit),
        "C": lambda r: f"1e{round(math.log10(r.fit.problem.C) / 2) * 2:+d}",
        "family or set": lambda r: r.fit.rows.split("#")[0],
    }
    for title, key in ways.items():
        groups: dict[str, list[Record]] = defaultdict(list)
        for record in records:
            groups[key(record)].append(record)
        rows = [_sum(name, group) for name, group in sorted(groups.items())]
        if title == "family or set":
            full = [row for row in rows if row[2] == "100.0 %"]
            rows = [row for row in rows if row[2] != "100.0 %"]
            title += f" ({len(full)} with all fits converged are left out)"
        table(
            f"By {title}", ["", "fits", "converged", "median s", "slowest s", "not converged"], rows
        )


def _sum(name: str, group: Sequence[Record]) -> list[str]:
    seconds = sorted(r.seconds for r in group if not math.isnan(r.seconds)) or [math.nan]
    share = sum(map(in_time, group)) / len(group)
    bad = [
        r.status if r.status != "converged" else "with warnings" for r in group if not in_time(r)
    ]
    said = ", ".join(f"{bad.count(what)} {what}" for what in sorted(set(bad)))
    middle = seconds[len(seconds) // 2]
    return [name, str(len(group)), percent(share), f"{middle:.3g}", f"{seconds[-1]:.3g}", said]


def percent(share: float) -> str:
    """A share, never rounded up to the whole.

    >>> percent(0.9999), percent(1.0)
    ('99.9 %', '100.0 %')
    """
    return f"{math.floor(1000 * share) / 10:.1f} %"


def promises(records: Sequence[Record]) -> list[Check]:
    """What is promised of all fits together."""
    made = []
    for what in KINDS:
        own = [r for r in records if kind(r.fit.rows) == what]
        if own or what == "rows":
            text = f"{what}: converged without a warning in {LIMIT:g} s"
            made.append(check(text, list(map(in_time, own)), 0.995))
    easy = [r for r in records if r.work <= EASY_WORK and kind(r.fit.rows) == "rows"]
    fast = [r.fine and r.seconds <= EASY_SECONDS for r in easy]
    return [*made, check(f"n·d·k ≤ {EASY_WORK:.0e}: in {EASY_SECONDS:g} s", fast, 1.0)]


def check(what: str, holds: Sequence[bool], floor: float) -> Check:
    """A share of rows against its floor."""
    if not holds:
        return Check(what, NOTHING, percent(floor), "open: nothing to judge")
    share = sum(holds) / len(holds)
    figure = f"{percent(share)} ({sum(holds)} of {len(holds)})"
    return Check(what, figure, percent(floor), "met" if share >= floor else "not met")


def bad_rows(records: Sequence[Record]) -> None:
    """Each fit that did not end well, in one line."""
    listing(
        "Did not converge, took too long or brought a warning",
        [line(record) for record in records if remarkable(record)],
    )


def listing(title: str, lines: Sequence[str]) -> None:
    """Lines under a title that counts them; of very many the first."""
    if lines:
        say(f"\n{title} ({len(lines)}):")
        for text in lines[:LISTED]:
            say(f"  {text}")
        if len(lines) > LISTED:
            say(f"  … and {len(lines) - LISTED} more: --json FILE has all of them.")
