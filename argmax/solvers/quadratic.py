"""The minimum of a quadratic with an l1 penalty: the inner problem of ``proximal``.

    minimise over u   gᵀ(u − w) + ½ (u − w)ᵀ H (u − w) + Σ_j l1_j |u_j|

Coordinate descent proposes the support and the signs; on them the minimum is one linear solve, walked to
up to the first weight that would change its sign. The two in turn end when no weight outside wants in, to
rounding; or after a number of solves, with a point that is better than the start.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..records import Floats

__all__ = ["minimise_quadratic"]

SOLVES = 40
"""Linear solves at most: where supports keep changing, a new model is worth more than an exact minimum."""


def minimise_quadratic(H: Floats, g: Floats, w: Floats, l1: Floats, compiled: bool) -> Floats:
    """u, starting at w. ``l1`` is zero for free weights; H has a positive diagonal."""
    u, r = w.copy(), g.copy()
    scale = max(float(abs(g).max()), float(l1.max()), 1e-300)
    solves = SOLVES
    while solves > 0:
        for _ in range(3):
            _sweep(H, r, u, l1, compiled)
        solves -= _walk(H, r, u, l1, solves)
        r = g + H @ (u - w)
        inside = u != 0
        wrong = np.where(inside, abs(r + l1 * np.sign(u)), np.maximum(abs(r) - l1, 0.0))
        if float(wrong.max()) <= 1e-12 * scale:
            break
    return u


def _sweep(H: Floats, r: Floats, u: Floats, l1: Floats, compiled: bool) -> None:
    if compiled:
        from ..kernels import quadratic

        quadratic.sweep(H, r, u, l1)
        return
    for j in range(len(u)):
        goal, shrink = u[j] - r[j] / H[j, j], l1[j] / H[j, j]
        goal = np.sign(goal) * max(abs(goal) - shrink, 0.0)
        if goal != u[j]:
            r += (goal - u[j]) * H[j]
            u[j] = goal


def _walk(H: Floats, r: Floats, u: Floats, l1: Floats, most: int) -> int:
    """Solve on the support and go there, or to where the first penalised weight reaches zero; repeat.

    Returns how many solves that took, ``most`` at the most and never none.
    """
    for solves in range(1, most + 1):
        support = np.flatnonzero((u != 0) | (l1 == 0))
        if not len(support):
            return solves
        sign = np.sign(u[support])
        try:
            factor = cho_factor(H[np.ix_(support, support)], check_finite=False)
        except LinAlgError:
            return solves
        move = -cho_solve(factor, r[support] + l1[support] * sign, check_finite=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = np.where((l1[support] > 0) & (move * sign < 0), -u[support] / move, np.inf)
        step = min(1.0, float(crossing.min()))
        u[support] += step * move
        r += step * (H[:, support] @ move)
        if step == 1.0:
            return solves
        u[support[crossing <= step * (1 + 1e-12)]] = 0.0
    return most
