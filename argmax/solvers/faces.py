"""Small margin problems to the last digit: a linear solve on the face that the dual variables have found.

Sweeps find quickly which variables are at a bound, and slowly what the others are. Let F hold the variables
strictly between their bounds. With all others held, the optimum is that of a quadratic without inequalities:

    maximise over δ   ⟨g_F, δ⟩ − ½ δᵀ G δ      G_vv' = ⟨x_i, x_i'⟩ ⟨e_v, e_v'⟩,  Σ_c δ_ic = 0 (Crammer–Singer)

where e_v is what variable v does to the scores: e_c, or e_c − e_y for Weston–Watkins. A step goes no further
than to the first bound it meets, so D never falls; sweeps in between let variables enter and leave. Two
runs that both end here agree to rounding, which is what makes integer weights equal repetition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lstsq

from ..engines import limits
from ..layouts import as_matrix
from ..objective import Objective, Point
from ..records import Floats, Ints
from .report import Report

if TYPE_CHECKING:
    from .margins import Climb

__all__ = ["due", "finish", "polished", "solve", "sparse"]

FADING = 1e-5
"""Shares below this are taken for zero when another solver hands them on."""

ROUNDS = 60
"""Solves at most for the last digits."""

SWEEPS = 8
"""Sweeps between two solves at the end."""

LATE = 64
"""Sweeps before the first solve, which costs as much as tens of them; then as many again, and so on."""

WALK = 30
"""Faces in one solve at most."""

LARGEST = 400
"""Variables in a solve at most: a third power of them is its price."""


def due(sweeps: int) -> bool:
    """Whether a solve is due after so many sweeps.

    >>> from argmax.solvers.faces import due
    >>> [sweeps for sweeps in range(1, 300) if due(sweeps)]
    [64, 128, 256]
    """
    times, rest = divmod(sweeps, LATE)
    return times > 0 and rest == 0 and times & (times - 1) == 0


def finish(climb: Climb, target: float, report: Report) -> None:
    """Sweep and solve in turn until the gap is ``target`` or stops falling."""
    best, stuck = np.inf, 0
    for _ in range(ROUNDS):
        climb.data.rest[:] = 0
        for _ in range(SWEEPS):
            climb.sweep(report)
        solve(climb)
        gap = climb.look()[1]
        stuck = 0 if gap < 0.5 * best else stuck + 1
        best = min(best, gap)
        if gap <= target or stuck >= 10 or report.out_of_time():
            break


def polished(objective: Objective, point: Point, shares: Floats, report: Report) -> Point:
    """The optimum to rounding, from dual variables α / c (n, K) near it; else the point itself."""
    from .margins import LAST_DIGIT, Climb

    climb = Climb(objective, 0, {"mu": shares}, {})
    finish(climb, LAST_DIGIT * max(objective.zero, 1e-300), report)
    dual, gap = climb.look()
    if gap > point.gap:
        return point
    best = objective.at(climb.w())
    best.prove(dual)
    return best


def sparse(share: Floats, labels: Ints) -> Floats:
    """Shares without those that are on their way to a bound; of the truth what is left over."""
    own = np.arange(len(share)), labels
    sums = bool((share[own] <= 0.0).all())  # Weston–Watkins: minus the sum of the others
    share = np.where(share < FADING, 0.0, np.where(share > 1.0 - FADING, 1.0, share))
    share[own] = 0.0
    share[own] = (0.0 if sums else 1.0) - share.sum(axis=1)
    return share


def _free(climb: Climb) -> tuple[Ints, Ints]:
    """Rows and labels of the variables that no bound holds."""
    data = climb.data
    small = 1e-12 * data.c[:, None]
    inside = data.alpha > small
    places = np.arange(len(data.c))
    if climb.sum_of_hinges:
        inside &= data.alpha < data.c[:, None] - small
        inside[places, data.labels] = False
    else:
        inside &= inside.sum(axis=1, keepdims=True) > 1
    rows, labels = np.nonzero(inside)
    return rows, labels


def solve(climb: Climb) -> None:
    """Walk from face to face until one holds its own optimum."""
    data = climb.data
    data.settle()
    X = as_matrix(data.rows)
    X = X.toarray() if not isinstance(X, np.ndarray) else X
    X = np.hstack([X, np.full((len(X), 1), climb.bias)]).astype(float)
    for _ in range(WALK):
        limits.look()
        rows, labels = _free(climb)
        if not 0 < len(rows) <= LARGEST or _move(climb, rows, labels, X) == 1.0:
            break


def _move(climb: Climb, rows: Ints, labels: Ints, X: Floats) -> float:
    """α += step · δ, as far as the bounds let it; returns the step."""
    data, places = climb.data, np.arange(len(X))
    delta = _direction(climb, rows, labels, X)
    now = data.alpha[rows, labels]
    limit = np.full(len(delta), np.inf)
    falling, rising = delta < 0, (delta > 0) & climb.sum_of_hinges
    limit[falling] = -now[falling] / delta[falling]
    limit[rising] = (data.c[rows[rising]] - now[rising]) / delta[rising]
    step = min(1.0, float(limit.min(initial=np.inf)))
    reached = np.maximum(now + step * delta, 0.0)
    met = limit <= step * (1.0 + 1e-12)
    reached[met] = np.where(falling, 0.0, data.c[rows])[met]
    data.alpha[rows, labels] = reached
    if climb.sum_of_hinges:
        data.alpha[places, data.labels] = 0.0
        data.alpha[places, data.labels] = -data.alpha.sum(axis=1)
    data.forget_lists()
    climb.rebuild()
    return step


def _direction(climb: Climb, rows: Ints, labels: Ints, X: Floats) -> Floats:
    """δ: from α to the optimum of the face, G δ = g in the least squares sense.

    Of Crammer and Singer the first variable of each row is minus the sum of its others, so that Σ_c δ_ic = 0
    takes no equations of its own: the others move along e_c − e_first.
    """
    data, k = climb.data, climb.layout.labels
    E, count = np.zeros((len(rows), k)), np.arange(len(rows))
    E[count, labels] = 1.0
    if climb.sum_of_hinges:
        E[count, data.labels[rows]] -= 1.0
    table: Floats = climb.exact
    if not climb.bias:
        table = np.vstack([table, np.zeros((1, table.shape[1]))])
    g = np.einsum("ij,ij->i", (X[rows] @ table)[:, :k], E) + data.costs(rows, labels)
    if climb.sum_of_hinges:
        return _least_squares(climb, X[rows], E, g)
    begins = np.append(True, rows[1:] != rows[:-1])
    others = np.flatnonzero(~begins)
    first = np.flatnonzero(begins)[np.cumsum(begins) - 1][others]
    delta = np.zeros(len(rows))
    delta[others] = _least_squares(
        climb, X[rows[others]], E[others] - E[first], g[others] - g[first]
    )
    np.subtract.at(delta, first, delta[others])
    return delta


def _least_squares(climb: Climb, X: Floats, E: Floats, g: Floats) -> Floats:
    """δ with G δ = g, where G_vv' = ⟨x_v, x_v'⟩ ⟨e_v, e_v'⟩."""
    G = climb.scale * (X @ X.T) * (E @ E.T)
    return np.asarray(lstsq(G, g, lapack_driver="gelsy", check_finite=False)[0])
