"""The losses of two classes on one axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..records import Floats
from .style import INK, colour, figure

__all__ = ["LOSSES", "losses"]

LOSSES: dict[str, Callable[[Floats], Floats]] = {
    "zero-one": lambda z: (z <= 0.0).astype(float),
    "perceptron": lambda z: np.maximum(0.0, -z),
    "hinge": lambda z: np.maximum(0.0, 1.0 - z),
    "squared hinge": lambda z: np.square(np.maximum(0.0, 1.0 - z)),
    "log": lambda z: np.logaddexp(0.0, -z),
    "squared": lambda z: np.square(1.0 - z),
}
"""Losses as functions of the margin z = y ⟨w, x⟩, y = ±1."""


def losses(ax: Any = None, low: float = -2.0, high: float = 3.0) -> Any:
    """All losses over the margin z = y ⟨w, x⟩ in one picture; returns the axes.

    Right answers have z > 0. The perceptron's loss is max(0, −z); the hinge has the 1. The log loss is
    log(1 + e^−z), log 2 at z = 0. The squared loss also charges answers that are right by too much.

    >>> from argmax import plots
    >>> [line.get_label() for line in plots.losses().lines]
    ['zero-one', 'perceptron', 'hinge', 'squared hinge', 'log', 'squared']
    """
    ax = figure(size=(6.0, 4.0))[1][0] if ax is None else ax
    z = np.linspace(low, high, 1001)
    for i, (name, loss) in enumerate(LOSSES.items()):
        truth = name == "zero-one"
        shade, width = (INK, 2.2) if truth else (colour(i - 1), 1.6)
        style = (0, (4, 3)) if name == "squared" else "-"  # it covers half of the squared hinge
        ax.plot(z, loss(z), color=shade, lw=width, ls=style, label=name, zorder=1 if truth else 2)
    ax.set(xlim=(low, high), ylim=(-0.05, 4.0), xlabel="margin z = y ⟨w, x⟩", ylabel="loss")
    ax.legend(frameon=False, fontsize=9)
    return ax
