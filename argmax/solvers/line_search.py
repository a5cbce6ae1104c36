"""A step along a descent direction, from values and slopes: on scores alone, or by whole passes."""

from __future__ import annotations

import math
from typing import Protocol, final

from ..objective import Point
from ..records import Floats

__all__ = ["Passes", "search"]

DECREASE, CURVATURE = 1e-4, 0.9


class Along(Protocol):
    """F along a direction: ``objective.Line``, or ``Passes``."""

    def __call__(self, step: float) -> tuple[float, float]:
        """Value and slope."""
        ...

    def close(self) -> None:
        """Give back what was kept for it."""
        ...


@final
class Passes:
    """F along a direction by whole passes: no scores are kept, and at the end the gradient is known.

    ``best`` is the point of the lowest value so far.
    """

    def __init__(self, point: Point, direction: Floats) -> None:
        self.best, self._start, self._direction = point, point, direction

    def __call__(self, step: float) -> tuple[float, float]:
        objective, start = self._start.objective, self._start
        point = objective.at(objective.combined(1.0, start.w, step, self._direction))
        if point.value < self.best.value:
            self.best = point
        return point.value, objective.dot(point.gradient, self._direction)

    def close(self) -> None:
        """Nothing was kept."""


def search(line: Along, value: float, slope: float, step: float = 1.0) -> float:
    """A step that satisfies the strong Wolfe conditions, or the best one tried; 0.0 if none decreases.

    The line is closed afterwards.

    Bracketing with safeguarded secant steps on the slope (Nocedal and Wright 2006, section 3.5); where two of
    them have not halved the bracket, it is halved. F is convex along the line, so the minimiser lies where
    the slope changes sign.
    """
    try:
        return _bracket(line, value, slope, step)
    finally:
        line.close()


def _bracket(line: Along, value: float, slope: float, step: float) -> float:
    low, high = 0.0, 0.0  # slope < 0 at low; high is 0 until a point beyond the minimum is known
    low_slope, high_slope = slope, 0.0
    best, best_value = 0.0, value
    before = last = math.inf  # widths of the bracket two steps ago, and one
    for _ in range(30):
        here, here_slope = line(step)
        if here < best_value:
            best, best_value = step, here
        decreased = here <= value + DECREASE * step * slope + 1e-15 * abs(value)
        if decreased and abs(here_slope) <= CURVATURE * abs(slope):
            return step
        if here_slope < 0 and decreased:
            low, low_slope = step, here_slope
        else:
            high, high_slope = step, here_slope
        if not high:
            step *= 4.0
            continue
        width = high - low
        if width <= 1e-12 * high:
            break
        if width > 0.5 * before:  # secants creep where F bends at one end only
            step = low + 0.5 * width
        else:
            guess = (
                low + width * low_slope / (low_slope - high_slope)
                if high_slope > low_slope
                else high
            )
            step = min(max(guess, low + 0.05 * width), high - 0.05 * width)
        before, last = last, width
    return best
