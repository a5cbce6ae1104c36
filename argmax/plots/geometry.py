"""The exact borders between the regions of linear scores in the plane.

    region of class i = {x : ⟨w_i − w_j, x⟩ + b_i − b_j ≥ 0 for all j}

a convex polygon, or an unbounded convex polyhedron. Two regions share a segment of the line on which their
scores tie; three share a vertex. Nothing is read off a grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

import numpy as np

from .. import checks
from ..errors import InvalidInput
from ..records import Floats

__all__ = ["Border", "Vertex", "borders", "linear_scores", "points", "vertices"]

Box = tuple[float, float, float, float]


def points(X: Any) -> Floats:
    """Points (n, 2) of a plane, finite numbers."""
    rows = checks.table(X)
    checks.finite(rows)
    if rows.shape[1] != 2:
        raise InvalidInput(f"X must have two columns for a picture; got shape {rows.shape}.")
    return rows


@final
@dataclass(frozen=True)
class Border:
    """The segment from ``start`` to ``stop`` on which classes i and j share the highest score.

    It lies on the line a·x + b·y + c = 0, ``line`` = (a, b, c), scaled to a largest coefficient of 1.

    >>> from argmax.plots import borders
    >>> [border] = borders([[1.0, 0.0], [0.0, 0.0]], [0.0, 1.0], (-2, 2, -2, 2))
    >>> border.line, border.start, border.stop  # x = 1
    ((1.0, 0.0, -1.0), (1.0, -2.0), (1.0, 2.0))
    """

    classes: tuple[int, int]
    line: tuple[float, float, float]
    start: tuple[float, float]
    stop: tuple[float, float]


@final
@dataclass(frozen=True)
class Vertex:
    """The point where three classes share the highest score.

    >>> from argmax.plots import vertices
    >>> vertices([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [0.0, 0.0, 1.0])
    [Vertex(classes=(0, 1, 2), point=(1.0, 1.0))]
    """

    classes: tuple[int, int, int]
    point: tuple[float, float]


def borders(coef: Any, intercept: Any, box: Box) -> list[Border]:
    """All borders within a box (left, right, bottom, top), for weights (k, 2) and intercepts (k,).

    The worked example of the notes: y = 1, x = −1 and y = x + 2.

    >>> from argmax.plots import borders
    >>> for border in borders([[1, 1], [1, 0], [0, 1]], [0, 1, -1], (-4, 4, -4, 4)):
    ...     print(border.classes, border.line)
    (0, 1) (0.0, 1.0, -1.0)
    (0, 2) (1.0, 0.0, 1.0)
    (1, 2) (1.0, -1.0, 2.0)
    """
    W, b = _checked(coef, intercept)
    found = (_border(W, b, i, j, box) for i, j in combinations(range(len(b)), 2))
    return [border for border in found if border is not None]


def vertices(coef: Any, intercept: Any) -> list[Vertex]:
    """All points where three regions meet, wherever they are.

    >>> from argmax.plots import vertices
    >>> vertices([[1, 1], [1, 0], [0, 1]], [0, 1, -1])  # where y = 1, x = −1 and y = x + 2 cross
    [Vertex(classes=(0, 1, 2), point=(-1.0, 1.0))]
    """
    W, b = _checked(coef, intercept)
    found = []
    for i, j, l in combinations(range(len(b)), 3):
        A = np.array([W[i] - W[j], W[i] - W[l]])
        if abs(np.linalg.det(A)) <= 1e-12 * max(np.abs(A).max(), 1e-300) ** 2:
            continue  # parallel borders never meet
        point = np.linalg.solve(A, [b[j] - b[i], b[l] - b[i]])
        scores = W @ point + b
        if scores.max() - scores[i] <= 1e-9 * (1.0 + np.abs(scores).max()):
            found.append(Vertex((i, j, l), (float(point[0]) + 0.0, float(point[1]) + 0.0)))
    return found


def linear_scores(model: Any) -> tuple[Floats, Floats] | None:
    """Weights (k, 2) and intercepts (k,) of a model whose answer is the argmax of linear scores.

    None where its answers are made otherwise. A pair (coef, intercept) is taken as it is.
    """
    if isinstance(model, tuple):
        return _checked(*model)
    from ..estimators.base import Classifier
    from ..reductions import OneVsRest
    from ..reductions.banks import Together

    together = isinstance(model, OneVsRest) and isinstance(model._bank, Together)
    if not (isinstance(model, Classifier) or together):
        return None
    coef, intercept = np.asarray(model.coef_), np.asarray(model.intercept_)
    if len(coef) == 1:
        coef, intercept = np.vstack([-0.5 * coef, 0.5 * coef]), np.append(-0.5, 0.5) * intercept
    return _checked(coef, intercept)


def _border(W: Floats, b: Floats, i: int, j: int, box: Box) -> Border | None:
    normal, offset = W[i] - W[j], b[i] - b[j]
    size = float(normal @ normal)
    if size == 0.0:
        return None
    origin, along = -offset * normal / size, np.array([-normal[1], normal[0]])
    # x = origin + t · along, clipped by the box and by the scores of all the others.
    left, right, bottom, top = box
    slopes = [along[0], -along[0], along[1], -along[1]]
    values = [origin[0] - left, right - origin[0], origin[1] - bottom, top - origin[1]]
    for other in set(range(len(b))) - {i, j}:
        slopes.append((W[i] - W[other]) @ along)
        values.append((W[i] - W[other]) @ origin + b[i] - b[other])
    low, high = -np.inf, np.inf
    scale = np.abs(slopes).max()
    for slope, value in zip(slopes, values, strict=True):  # slope · t + value ≥ 0
        if abs(slope) <= 1e-14 * scale:
            if value < 0.0:
                return None
        elif slope > 0.0:
            low = max(low, -value / slope)
        else:
            high = min(high, -value / slope)
    if not low < high:
        return None
    ends = [origin + t * along + 0.0 for t in (low, high)]
    ends.sort(key=lambda end: (round(float(end[0]), 12), float(end[1])))
    first = normal[0] if normal[0] else normal[1]
    line = np.array([*normal, offset]) / (np.abs(normal).max() * np.sign(first)) + 0.0
    start, stop = ((float(x), float(y)) for x, y in ends)
    return Border((i, j), (float(line[0]), float(line[1]), float(line[2])), start, stop)


def _checked(coef: Any, intercept: Any) -> tuple[Floats, Floats]:
    W, b = np.asarray(coef, dtype=float), np.asarray(intercept, dtype=float).ravel()
    if W.ndim != 2 or W.shape[1] != 2 or len(W) != len(b) or len(b) < 2:
        raise InvalidInput(
            f"a picture of regions needs two features: coef (k, 2) and intercept (k,); got {W.shape} and "
            f"{b.shape}. Fit the model on two columns."
        )
    return W, b
