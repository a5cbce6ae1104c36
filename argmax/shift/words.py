"""A diagnosis in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from ..metrics import Interval

if TYPE_CHECKING:
    from .diagnose import Diagnosis

__all__ = ["advice", "headline", "labels_needed", "page", "parts", "unknown"]

SHOWN = 12
"""Classes and features that a page lists."""

HEADLINES = {
    "none": "Nothing has moved as far as these {unit}s can tell.",
    "label": "The classes have other frequencies, and each class looks as it did: label shift.",
    "inputs": "The new {unit}s look different, in ways that do not show in what the model says of them.",
    "other": "The new {unit}s look different, and other frequencies of the classes do not explain it.",
}

GRADES = ((0.1, "small"), (0.3, "moderate"), (np.inf, "large"))
"""Sizes of a difference, each up to its number, in a word."""


def headline(found: Diagnosis) -> str:
    """The finding in one sentence."""
    return HEADLINES[found.kind].format(unit=found.unit)


def advice(found: Diagnosis) -> list[str]:
    """What to do, the first thing first."""
    if found.kind == "none":
        return ["Go on using the model as it is."]
    if found.kind == "label":
        if not found.label.advised:
            return [
                f"Collect more new {found.unit}s before you adapt: there are fewer than four for each class."
            ]
        if found.adapted is not None and found.expected is not None:
            gain = 100 * (found.adapted.value - found.expected.value)
            told = f"it should then be right on {_percent(found.adapted)} of the {found.unit}s"
            return [f"Adapt the model to the new frequencies: {told}, {gain:+.1f} points."]
    said = [
        "Do not adapt the model to other frequencies of the classes: that repairs another kind of change, "
        "and is likely to do harm here."
    ]
    if found.kind == "inputs":
        said = [
            f"Go on using the model, and label some new {found.unit}s to see that it is still right."
        ]
    if found.weights is not None and found.weights.overlap:
        said.append(
            "Consider training again with old rows weighted towards the new ones (in Python, "
            f"shift.covariate): {found.weights}"
        )
    elif found.weights is not None:
        said.append(f"Weighting old rows towards the new ones will not help: {found.weights}")
    return [
        *said,
        f"Label some of the new {found.unit}s, these first: {_some(found.first.tolist())}.",
    ]


def unknown(found: Diagnosis) -> list[str]:
    """What cannot be known without labels, and what it would take."""
    needed = labels_needed(found.accuracy.value)
    said = [
        f"Whether equal {found.unit}s still deserve equal labels can only be seen by labelling. With "
        f"{needed} labelled new {found.unit}s, a loss of 5 points would be noticed four times in five."
    ]
    if found.kind == "label":
        said.append(
            "That each class looks as it did was tested on what the model says, not on all that could change."
        )
    return said


def labels_needed(
    accuracy: float, loss: float = 0.05, level: float = 0.05, power: float = 0.8
) -> int:
    """How many labelled rows show, with that power, that the accuracy fell by ``loss``.

    >>> from argmax.shift.words import labels_needed
    >>> labels_needed(0.9)
    316
    """
    z = float(ndtri(1 - level) + ndtri(power))
    spread = (accuracy - loss) * (1 - accuracy + loss)
    return int(np.ceil(z * z * max(spread, 0.01) / loss**2))


def page(found: Diagnosis) -> str:
    """All of it, to read in a terminal."""
    lines = [headline(found), ""]
    for title, rows in parts(found):
        lines += [title, *(f"  {row}" for row in rows), ""]
    return "\n".join(lines).rstrip()


def parts(found: Diagnosis) -> list[tuple[str, list[str]]]:
    """Headings of a page, and the lines below each."""
    old, new = found.label.rows
    compared = f"Compared: {old:,} old {found.unit}s, with labels, and {new:,} new ones, without."
    tested = [compared, _tested("The model answers differently", found.label.moved)]
    if found.separable is not None:
        tested.append(_tested("The rows can be told from the old ones", found.separable))
    if found.label.moved.rejected():
        what = "More has moved than the frequencies of the classes"
        tested.append(_tested(what, found.label.compatible))
    told = [("How sure that is", tested), ("How often the model is right", _worth(found))]
    if found.kind == "label":
        told.insert(1, ("Frequencies of the classes, before and now", _frequencies(found)))
    if found.features is not None and len(found.features.rejected()):
        told.append(("Features that moved most", _moved(found)))
    return [
        *told,
        ("What to do", found.advice),
        ("What cannot be known without labels", found.unknown),
    ]


def _tested(what: str, test: Any) -> str:
    if not test.rejected():
        return f"{what}: not seen, no more than chance does anyway (p = {test.p_value:.2g})."
    often = 10_000 if test.p_value < 1e-4 else round(1 / test.p_value)
    grade = next(name for most, name in GRADES if test.size < most)
    return (
        f"{what}: yes. Chance alone would do this at most once in {often:,} times. The difference is "
        f"{grade}: {test.size:.2f}, where 1 is as much as there can be."
    )


def _frequencies(found: Diagnosis) -> list[str]:
    shift = found.label
    order = np.argsort(-np.abs(shift.priors - shift.source), kind="stable")[:SHOWN]
    told = [
        f"{shift.classes[i]}: {shift.source[i]:.1%} → {shift.priors[i]:.1%}"
        f" ({shift.low[i]:.1%} to {shift.high[i]:.1%})"
        for i in order
    ]
    left = len(shift.classes) - len(order)
    return [*told, f"and {left} more that moved less"] if left else told


def _worth(found: Diagnosis) -> list[str]:
    old, new = f"on the old {found.unit}s", f"on the new {found.unit}s"
    lines = [f"{old}: {_percent(found.accuracy)}"]
    if found.expected is None:
        why = "without labels" if found.weights is None else "too few old rows resemble them"
        lines.append(f"{new}: cannot be said, {why}")
    else:
        if_so = f", if equal {found.unit}s still have equal labels"
        assumed = if_so if found.kind in ("inputs", "other") else ", estimated without labels"
        lines.append(f"{new}{assumed}: {_percent(found.expected)}")
    if found.adapted is not None:
        lines.append(f"{new}, if the model is adapted: {_percent(found.adapted)}")
    if found.cost is not None:
        pairs = zip((old, new, "if adapted"), found.cost, strict=True)
        lines += [f"mean cost {name}: {one}" for name, one in pairs if one is not None]
    if found.unit != "row":
        lines.append(f"Counted at one token of each {found.unit}, drawn by chance.")
    return [*lines, "In brackets stands the range that holds the true value 19 times in 20."]


def _moved(found: Diagnosis) -> list[str]:
    assert found.features is not None
    moved = found.features
    shown = min(SHOWN, len(moved.rejected()))
    named = [
        str(column) if found.names is None else str(found.names[int(column)])
        for column in moved.columns[:shown]
    ]
    pairs = zip(named, moved.sizes, strict=False)
    return [f"{name} (size {size:.2f})" for name, size in pairs]


def _percent(one: Interval) -> str:
    return f"{one.value:.1%} ({max(one.low, 0):.1%} to {min(one.high, 1):.1%})"


def _some(rows: list[int]) -> str:
    listed = ", ".join(map(str, rows[:10]))
    return f"numbers {listed}" + (f" and {len(rows) - 10} more" if len(rows) > 10 else "")
