"""How C trades the width of the margin against violations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.svm import SVC

from ..errors import InvalidInput
from ..records import Floats
from .geometry import borders, points
from .regions import around, decision_regions
from .style import INK, colour, figure

__all__ = ["margin_sweep", "margin_width"]


def margin_width(coef: Any) -> float:
    """2 / ‖w‖, the distance between the lines score = −1 and score = 1.

    >>> from argmax.plots import margin_width
    >>> margin_width([[3.0, 4.0]])
    0.4
    """
    return float(2.0 / np.linalg.norm(np.asarray(coef, dtype=float)))


def margin_sweep(
    X: Any, y: Any, Cs: Sequence[float] = (0.01, 0.1, 1.0, 10.0), estimator: Any = None
) -> Any:
    """A panel for each C: the border, the margins at score ±1 and their width; returns the figure.

    C weighs the loss against ½‖w‖², so a *larger* C gives a *narrower* margin, that of the hard margin in the
    end if the classes can be separated. The border stays a straight line, whatever C. X (n, 2), two classes.
    ``estimator`` has ``C``, ``coef_`` (1, 2) and ``intercept_``; None: a linear support vector machine. Rows
    on or inside the margin are circled.

    >>> from argmax import plots
    >>> from sklearn.datasets import make_blobs
    >>> figure = plots.margin_sweep(*make_blobs(60, centers=2, cluster_std=2.0, random_state=0))
    >>> len(figure.axes)
    4
    """
    rows, labels = points(X), np.asarray(y)
    classes = np.unique(labels)
    if len(classes) != 2:
        raise InvalidInput(
            f"y must have two classes for a picture of the margin; got {len(classes)}."
        )
    base = SVC(kernel="linear") if estimator is None else estimator
    made, axes = figure(len(Cs), (3.4, 3.4))
    for ax, C in zip(axes, Cs, strict=True):
        model = clone(base).set_params(C=C).fit(rows, labels)
        w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
        scores = np.array([-0.5 * w, 0.5 * w]), np.array([-0.5 * b, 0.5 * b])
        decision_regions(scores, box=around(rows), ax=ax)
        inside = np.where(labels == classes[1], 1, -1) * (rows @ w + b) <= 1.0 + 1e-6
        _points(ax, rows, labels, classes, inside)
        _lines(ax, w, b)
        ax.set_title(
            f"C = {C:g}: width {margin_width(w):.2f}, {int(inside.sum())} on or inside", fontsize=9
        )
    return made


def _lines(ax: Any, w: Floats, b: float) -> None:
    """The lines score = −1 and score = 1, within the panel."""
    box = (*ax.get_xlim(), *ax.get_ylim())
    for level in (-1.0, 1.0):
        for border in borders([w, 0.0 * w], [b - level, 0.0], box):
            ax.plot(*zip(border.start, border.stop, strict=True), "--", color=INK, lw=0.9)


def _points(ax: Any, rows: Floats, labels: Any, classes: Any, inside: Any) -> None:
    for i, label in enumerate(classes):
        own = labels == label
        ax.scatter(*rows[own].T, s=14, color=colour(i), edgecolor="white", lw=0.4, zorder=3)
    ax.scatter(*rows[inside].T, s=42, facecolor="none", edgecolor=INK, lw=0.6, zorder=3)
