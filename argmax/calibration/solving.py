"""The minimum of a smooth convex function of some hundred or thousand numbers.

L-BFGS: the last m steps s and changes of gradient y stand for the curvature (two-loop recursion, algorithm
7.4 of Nocedal and Wright), and a step is halved until the function falls by enough. SciPy's own takes
milliseconds a step where its threads must wait for each other, which is longer than a pass over the rows.

Reference: Nocedal, Wright, Numerical optimization, 2nd edition, 2006.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from ..records import Floats

__all__ = ["minimised"]

MEMORY, PASSES, ENOUGH = 20, 1000, 1e-4


def minimised(
    objective: Callable[[Floats], tuple[float, Floats]], start: Floats, tol: float = 1e-9
) -> Floats:
    """Where no component of the gradient is above ``tol``, or rounding ends the descent.

    >>> import numpy as np
    >>> from argmax.calibration.solving import minimised
    >>> minimised(lambda x: (float((x - 3) @ (x - 3)), 2 * (x - 3)), np.zeros(2))
    array([3., 3.])
    """
    x, (value, gradient) = start, objective(start)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    for _ in range(PASSES):
        if np.abs(gradient).max() <= tol:
            break
        direction = -_curved(gradient, pairs)
        slope, step = float(gradient @ direction), 1.0
        if not pairs:
            step = 1.0 / max(1.0, float(np.abs(gradient).sum()))
        ahead, after = objective(x + step * direction)
        while not ahead <= value + ENOUGH * step * slope and step > 1e-10:
            step *= 0.5
            ahead, after = objective(x + step * direction)
        if not ahead < value:
            break
        moved, change = step * direction, after - gradient
        curve = float(moved @ change)
        if curve > 0.0:
            pairs.append((moved, change, curve))
        x, value, gradient = x + moved, ahead, after
    return x


def _curved(gradient: Floats, pairs: deque[tuple[Floats, Floats, float]]) -> Floats:
    """The inverse curvature times the gradient."""
    q, shares = gradient.copy(), []
    for moved, change, curve in reversed(pairs):
        shares.append(float(moved @ q) / curve)
        q -= shares[-1] * change
    if pairs:
        _, change, curve = pairs[-1]
        q *= curve / float(change @ change)
    for (moved, change, curve), share in zip(pairs, reversed(shares), strict=True):
        q += (share - float(change @ q) / curve) * moved
    return q
