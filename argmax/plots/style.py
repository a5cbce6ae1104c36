"""What all pictures share: colours that colour-blind readers can tell apart, thin lines, little ink."""

from __future__ import annotations

from typing import Any

from ..errors import MissingExtra

__all__ = ["COLOURS", "INK", "colour", "figure", "light", "plain", "pyplot"]

COLOURS = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb",
    "#994455", "#997700", "#6699cc",
)  # fmt: skip
"""Paul Tol's bright scheme, and three more."""

INK = "#222222"


def colour(i: int) -> str:
    """The colour of class i; after ten classes they come again."""
    return COLOURS[i % len(COLOURS)]


def light(i: int) -> tuple[float, float, float]:
    """The colour of class i as a background."""
    code = colour(i)
    r, g, b = (int(code[at : at + 2], 16) / 255.0 for at in (1, 3, 5))
    return tuple(1.0 - 0.28 * (1.0 - part) for part in (r, g, b))  # type: ignore[return-value]


def pyplot() -> Any:
    """matplotlib's pyplot, or how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtra('pictures need matplotlib: pip install "argmax[plot]".') from error
    return plt


def figure(columns: int = 1, size: tuple[float, float] = (4.6, 4.0)) -> tuple[Any, Any]:
    """A figure with panels side by side, and its axes in a list."""
    width, height = size
    made, axes = pyplot().subplots(
        1, columns, figsize=(width * columns, height), layout="constrained", squeeze=False
    )
    return made, [plain(axis) for axis in axes[0]]


def plain(axis: Any) -> Any:
    """An axis without the frame's upper and right lines."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.tick_params(labelsize=8)
    return axis
