"""Decision regions in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from ..errors import InvalidInput
from ..records import Floats
from .geometry import Box, borders, linear_scores, points, vertices
from .style import INK, colour, figure, light

__all__ = ["decision_regions"]


def decision_regions(
    model: Any,
    X: Any = None,
    y: Any = None,
    box: Box | None = None,
    grid: int = 400,
    ax: Any = None,
) -> Any:
    """Which class is predicted where, for a model of two features; returns the axes.

    ``model`` is anything with ``predict``, or a pair of weights (k, 2) and intercepts (k,). Linear scores
    also get their exact borders, and a dot at each vertex where three regions meet. X (n, 2) and y (n,) are
    drawn as points. ``box`` is (left, right, bottom, top); None: around X.

    >>> from argmax import SoftmaxRegression, plots
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plots.decision_regions(SoftmaxRegression().fit(X[:, :2], y), X[:, :2], y)
    >>> len(ax.lines)  # three borders and the vertex where they meet
    4
    """
    checks.positive_integer("grid", grid)
    box = around(X) if box is None else box
    ax = figure()[1][0] if ax is None else ax
    xs, ys = np.linspace(*box[:2], grid), np.linspace(*box[2:], grid)
    points = np.column_stack([part.ravel() for part in np.meshgrid(xs, ys)])
    linear = linear_scores(model)
    if isinstance(model, tuple) and linear is not None:
        classes = np.arange(len(linear[1]))
        answers = (points @ linear[0].T + linear[1]).argmax(axis=1)
    else:
        classes = model.classes_
        answers = np.searchsorted(classes, model.predict(points))
    colours = np.array([light(i) for i in range(len(classes))])
    picture = colours[answers].reshape(grid, grid, 3)
    ax.imshow(picture, extent=box, origin="lower", aspect="auto", interpolation="nearest", zorder=0)
    if linear is not None:
        _draw_borders(ax, *linear, box)
    if X is not None:
        _draw_points(ax, X, y, classes)
    ax.set(xlim=box[:2], ylim=box[2:])
    return ax


def _draw_borders(ax: Any, coef: Floats, intercept: Floats, box: Box) -> None:
    for border in borders(coef, intercept, box):
        ax.plot(*zip(border.start, border.stop, strict=True), color=INK, lw=1.0, zorder=2)
    for vertex in vertices(coef, intercept):
        x, y = vertex.point
        if box[0] <= x <= box[1] and box[2] <= y <= box[3]:
            ax.plot(x, y, "o", color=INK, ms=4, zorder=4)


def _draw_points(ax: Any, X: Any, y: Any, classes: Any) -> None:
    rows = points(X)
    if y is None:
        ax.scatter(*rows.T, s=14, color=INK, edgecolor="white", lw=0.4, zorder=3)
        return
    for i, label in enumerate(classes):
        some = rows[np.asarray(y) == label]
        ax.scatter(
            *some.T, s=14, color=colour(i), edgecolor="white", lw=0.4, zorder=3, label=str(label)
        )


def around(X: Any) -> Box:
    """A box with some room around the points X (n, 2)."""
    if X is None:
        raise InvalidInput("box is needed where no X is given: (left, right, bottom, top).")
    rows = points(X)
    low, high = rows.min(axis=0), rows.max(axis=0)
    edge = 0.08 * np.maximum(high - low, 1e-9)
    (left, bottom), (right, top) = low - edge, high + edge
    return float(left), float(right), float(bottom), float(top)
