"""The drawings of the page: a scale with a score on it, reliability, the course of training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from markupsafe import Markup

from ..calibration import Reliability
from ..metrics import Interval
from .limits import percent
from .svg import Scale, circle, drawing, path, rect, rule, text, x_axis, y_axis

__all__ = [
    "against_baseline",
    "course",
    "diagonal",
    "small_diagonal",
    "whisker",
]


def against_baseline(score: Interval, baseline: float, name: str) -> Markup:
    """The score with its interval on a line from 0 to 100 %, and a mark at the baseline."""
    across = Scale(0.0, 1.0, 1, 334)
    y, at, mark = 34.0, across(score.value), across(baseline)
    parts = [
        rect(across.start, y - 3, across.end - across.start, 6, "track"),
        rect(across.start, y - 3, at - across.start, 6, "fill"),
        rule(mark, y - 9, mark, y + 9, "mark"),
        rect(
            across(score.low), y - 7, max(across(score.high) - across(score.low), 1.5), 14, "band"
        ),
        circle(at, y, 5, "dot"),
        text(min(max(at, 24), 316), y - 16, percent(score.value), "strong middle"),
        text(mark, y + 25, f"{name} {percent(baseline)}", f"tick {_anchor(mark)}"),
    ]
    label = f"Accuracy {percent(score.value)}, {name} {percent(baseline)}"
    return drawing(340, 64, label, parts)


def _anchor(x: float) -> str:
    """How words at x must be aligned to stay inside the drawing."""
    return "start" if x < 90 else "end" if x > 250 else "middle"


def whisker(found: Interval, low: float, high: float, baseline: float | None = None) -> Markup:
    """An interval and its middle, as wide as a word, on a scale from low to high."""
    across = Scale(low, high, 4, 116)
    parts = [
        rule(4, 7, 116, 7, "grid"),
        rule(across(found.low), 7, across(found.high), 7, "reach"),
        circle(across(found.value), 7, 3, "dot"),
    ]
    if baseline is not None:
        parts.append(rule(across(baseline), 2, across(baseline), 12, "mark thin"))
    form = '<svg viewBox="0 0 120 14" width="120" height="14" aria-hidden="true">{}</svg>'
    return Markup(form).format(Markup("").join(parts))


def diagonal(found: Reliability) -> Markup:
    """The reliability diagram: confidence across, frequency up, Wilson's intervals, what chance allows."""
    across, up = Scale(0.0, 1.0, 44, 328), Scale(0.0, 1.0, 272, 12)
    parts = [
        *y_axis(up, across.start, across.end, lambda v: percent(v, 0)),
        *x_axis(across, up.start, lambda v: percent(v, 0), "confidence of the model"),
        *_envelope(found, across, up),
        rule(across(0), up(0), across(1), up(1), "honest"),
        *_bins(found, across, up, 3.5),
    ]
    label = f"Reliability diagram; expected calibration error {found.ece:.3f}"
    return drawing(340, 310, label, parts)


def small_diagonal(found: Reliability, name: str) -> Markup:
    """The same for one class, without letters."""
    across, up = Scale(0.0, 1.0, 6, 114), Scale(0.0, 1.0, 114, 6)
    parts = [
        rect(6, 6, 108, 108, "frame"),
        rule(across(0), up(0), across(1), up(1), "honest"),
        *_bins(found, across, up, 2.5),
    ]
    return drawing(120, 120, f"Reliability of {name}", parts)


def _envelope(found: Reliability, across: Scale, up: Scale) -> list[Markup]:
    """Where the points of a perfectly calibrated model would be, all of them nineteen times in twenty."""
    columns = (found.confidence, found.envelope_low, found.envelope_high)
    return [
        rect(across(sure) - 5, up(high), 10, max(up(low) - up(high), 1.5), "track")
        for sure, low, high in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _bins(found: Reliability, across: Scale, up: Scale, radius: float) -> list[Markup]:
    parts = []
    columns = (found.confidence, found.frequency, found.low, found.high, found.count)
    for sure, share, low, high, count in zip(*(c.tolist() for c in columns), strict=True):
        x = across(sure)
        told = f"confidence {percent(sure)}, true in {percent(share)} of {count} rows"
        parts += [
            rule(x, up(low), x, up(high), "reach"),
            circle(x, up(share), radius, "dot", told),
        ]
    return parts


def course(
    points: Sequence[tuple[float, float]], label: str, show: Callable[[float], str], log: bool
) -> Markup | None:
    """A value against seconds; None if no point can be drawn."""
    shown = [(x, y) for x, y in points if math.isfinite(y) and (y > 0 or not log)]
    if not shown:
        return None
    last, low, high = max(x for x, _ in shown), min(y for _, y in shown), max(y for _, y in shown)
    across, up = Scale(0.0, last or 1.0, 56, 328), Scale(low, high, 172, 12, log)
    at = [(across(x), up(y)) for x, y in shown]
    parts = [
        *y_axis(up, across.start, across.end, show),
        *x_axis(across, 180, lambda v: f"{v:g}", "seconds"),
        path(at, "curve"),
        *(circle(x, y, 2.5, "dot") for x, y in at[:: max(1, len(at) // 40)]),
    ]
    return drawing(340, 218, label, parts)
