"""The drawings of a page about a shift: old in blue, new in orange."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from ..shift import Diagnosis
from .limits import percent
from .safe import shorten
from .svg import Scale, circle, drawing, path, rect, rule, text, x_axis, y_axis

__all__ = ["frequencies", "sureness", "weights", "worth"]

MOST = 10
"""Classes that are drawn: those that moved most."""

BINS = 20


def frequencies(found: Diagnosis, name: int) -> Markup:
    """Bars of each class before and now, the second with its interval."""
    shift = found.label
    order = np.argsort(-np.abs(shift.priors - shift.source), kind="stable")[:MOST]
    most = max(float(shift.high[order].max()), float(shift.source[order].max()), 1e-9)
    across, foot = Scale(0.0, most, 104, 330), 14.0 + 27 * len(order)
    parts = x_axis(across, foot, lambda v: percent(v, 0), "share of the rows")
    for place, i in enumerate(order.tolist()):
        y = 8.0 + 27 * place
        low, high = across(float(shift.low[i])), across(float(shift.high[i]))
        parts += [
            text(98, y + 14, shorten(str(shift.classes[i]), min(name, 14)), "tick end"),
            rect(104, y, across(float(shift.source[i])) - 104, 9, "fill"),
            rect(104, y + 10, across(float(shift.priors[i])) - 104, 9, "fill now"),
            rule(low, y + 14.5, high, y + 14.5, "reach now"),
        ]
    parts += [*_key(foot + 46, "before"), *_key(foot + 46, "now", 230, " now")]
    return drawing(340, foot + 56, "Frequencies of the classes, before and now", parts)


def sureness(found: Diagnosis) -> Markup:
    """Shares of old and of new rows by the probability of the answer."""
    edges = np.linspace(0.0, 1.0, BINS + 1)
    shares = [np.histogram(t.max(axis=1), edges)[0] / len(t) for t in (found.p, found.q)]
    across, up = Scale(0.0, 1.0, 44, 328), Scale(0.0, float(np.max(shares)), 250, 12)
    parts = [
        *y_axis(up, across.start, across.end, lambda v: percent(v, 0)),
        *x_axis(across, up.start, lambda v: percent(v, 0), "probability of the answer"),
    ]
    for share, style in zip(shares, ("curve", "curve now"), strict=True):
        corners = [(x, y) for i, y in enumerate(share.tolist()) for x in (edges[i], edges[i + 1])]
        parts.append(path([(across(float(x)), up(y)) for x, y in corners], style))
    parts += [*_key(300, "old rows", 80), *_key(300, "new rows", 210, " now")]
    return drawing(340, 308, "How sure the model is on old and new rows", parts)


def weights(found: Diagnosis) -> Markup:
    """How many old rows have which weight, on a scale of powers of ten."""
    assert found.weights is not None
    logs = np.log10(np.clip(found.weights.values, 1e-3, 1e3))
    edges = np.linspace(float(logs.min()) - 0.05, float(logs.max()) + 0.05, BINS + 1)
    counts = np.histogram(logs, edges)[0]
    across = Scale(float(edges[0]), float(edges[-1]), 44, 328)
    up = Scale(0.0, float(counts.max()), 250, 12)
    parts = [
        *y_axis(up, across.start, across.end, lambda v: f"{v:g}"),
        *x_axis(across, up.start, lambda v: f"{10**v:.2g}", "weight of an old row"),
        rule(across(0.0), 12, across(0.0), 250, "honest"),
    ]
    for i, count in enumerate(counts.tolist()):
        left, right = across(float(edges[i])), across(float(edges[i + 1]))
        parts.append(rect(left, up(count), right - left - 1, 250 - up(count), "fill"))
    return drawing(340, 290, f"Weights of {len(logs)} old rows", parts)


def worth(found: Diagnosis) -> Markup:
    """Accuracy on old rows, on new ones, and on new ones if the model is adapted."""
    named = (
        ("old rows", found.accuracy),
        ("new rows", found.expected),
        ("if adapted", found.adapted),
    )
    shown = [(name, one) for name, one in named if one is not None]
    lowest = min(max(one.low, 0.0) for _, one in shown)
    across = Scale(max(0.0, lowest - 0.05), 1.0, 84, 326)
    foot = 12.0 + 34 * len(shown)
    parts = x_axis(across, foot, lambda v: percent(v, 0), "right answers")
    for place, (name, one) in enumerate(shown):
        y, style = 22.0 + 34 * place, " now" if place else ""
        low, high = across(max(one.low, 0.0)), across(min(one.high, 1.0))
        parts += [
            text(76, y + 4, name, "tick end"),
            rule(low, y, high, y, f"reach{style}"),
            circle(across(one.value), y, 4.5, f"dot{style}"),
            text(across(one.value), y - 9, percent(one.value), "tick middle"),
        ]
    return drawing(340, foot + 40, "Accuracy on old and new rows", parts)


def _key(y: float, name: str, x: float = 104, style: str = "") -> list[Markup]:
    """A square of a colour, and what it stands for."""
    return [rect(x, y - 9, 10, 10, f"fill{style}"), text(x + 16, y, name, "tick")]
