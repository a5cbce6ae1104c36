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
    "none": "Nothing has moved as far as these rows can tell.",
    "label": "The classes have other frequencies, and each class looks as it did: label shift.",
    "inputs": "The rows look different, in ways that do not show in what the model says of them.",
    "other": "The rows themselves look different, and other frequencies of the classes do not explain it.",
}


def headline(found: Diagnosis) -> str:
    """The finding in one sentence."""
    return HEADLINES[found.kind]


def advice(found: Diagnosis) -> list[str]:
    """What to do, the first thing first."""
    if found.kind == "none":
        return ["Go on using the model as it is."]
    if found.kind == "label":
        if not found.label.advised:
            return [
                "Collect more target rows before you adapt: there are fewer than four for each class."
            ]
        if found.adapted is not None and found.expected is not None:
            gain = 100 * (found.adapted.value - found.expected.value)
            told = f"it should then be right on {_percent(found.adapted)} of the rows"
            return [f"Adapt the model to the new frequencies: {told} ({gain:+.1f} points)."]
    said = ["Do not adapt the frequencies of the classes: it would do harm."]
    if found.kind == "inputs":
        said = ["Go on using the model, and label some rows to see that it is still right."]
    if found.weights is not None and found.weights.overlap:
        said.append(
            f"Consider training again with weighted rows (shift.covariate): {found.weights}"
        )
    elif found.weights is not None:
        said.append(f"Weighting old rows will not help: {found.weights}")
    return [*said, f"Label some target rows: {_some(found.first.tolist())}."]


def unknown(found: Diagnosis) -> list[str]:
    """What cannot be known without labels, and what it would take."""
    rows = labels_needed(found.accuracy.value)
    said = [
        "Whether the same row would still get the same label cannot be seen without labels. "
        f"{rows} labelled target rows would show a loss of 5 points four times in five."
    ]
    if found.kind == "label":
        said.append(
            "That each class looks as it did was tested on what the model says, not on all that could change."
        )
    if found.kind in ("inputs", "other") and found.expected is not None:
        said.append("The accuracy given assumes that equal rows still have equal labels.")
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
    tested = [_tested("What the model says has moved", found.label.moved)]
    if found.separable is not None:
        tested.append(_tested("The rows can be told from the old ones", found.separable))
    if found.label.moved.rejected():
        tested.append(_tested("More has moved than frequencies of classes", found.label.compatible))
    told = [("How sure", tested), ("Accuracy", _worth(found))]
    if found.kind == "label":
        told.insert(1, ("Frequencies of the classes, before and now", _frequencies(found)))
    if found.features is not None and len(found.features.rejected()):
        told.append(("Features that moved most", _moved(found)))
    return [*told, ("What to do", found.advice), ("What these rows cannot tell", found.unknown)]


def _tested(what: str, test: Any) -> str:
    answer = "yes" if test.rejected() else "not seen"
    chance = "p < 0.0001" if test.p_value < 1e-4 else f"p = {test.p_value:.2g}"
    return f"{what}: {answer} (size {test.size:.2f} of 1, {chance})"


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
    lines = [f"where the validation rows come from: {_percent(found.accuracy)}"]
    if found.expected is None:
        why = "without labels" if found.weights is None else "too few validation rows resemble them"
        return [*lines, f"on the target rows: cannot be said, {why}"]
    lines.append(f"on the target rows, expected: {_percent(found.expected)}")
    if found.adapted is not None:
        lines.append(f"on the target rows, if adapted: {_percent(found.adapted)}")
    if found.cost is not None:
        names = ("where the validation rows come from", "on the target rows", "if adapted")
        pairs = zip(names, found.cost, strict=True)
        lines += [f"mean cost {name}: {one}" for name, one in pairs if one is not None]
    return lines


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
    return f"rows {listed}" + (f" and {len(rows) - 10} more" if len(rows) > 10 else "")
