"""Steps along a line: both Wolfe conditions on convex functions, and where nothing decreases."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from argmax.solvers import line_search


class Curve:
    """A convex function of one number, which falls at 0; counts its calls and whether it was closed."""

    def __init__(self, value, slope):
        self.value, self.slope, self.calls, self.closed = value, slope, 0, 0

    def __call__(self, step):
        self.calls += 1
        return self.value(step), self.slope(step)

    def close(self):
        self.closed += 1


def soft(t):
    return math.exp(-np.logaddexp(0.0, -t))


CURVES = {
    "quadratic": lambda: Curve(lambda t: 3 + t * t - t, lambda t: 2 * t - 1),
    "falls fast and rises slowly": lambda: Curve(
        lambda t: np.logaddexp(0.0, 9 - 90 * t) + 5 * t, lambda t: 5 - 90 * soft(9 - 90 * t)
    ),
    "falls slowly and rises fast": lambda: Curve(
        lambda t: np.logaddexp(0.0, 90 * t - 900) - t, lambda t: 90 * soft(90 * t - 900) - 1
    ),
    "far away": lambda: Curve(lambda t: (t - 1e4) ** 2, lambda t: 2 * (t - 1e4)),
    "kinked": lambda: Curve(
        lambda t: max(1 - t, 0.0) + 0.1 * t, lambda t: (-1.0 if t < 1 else 0.0) + 0.1
    ),
}


def fulfilled(curve, step):
    """Whether the step satisfies the strong Wolfe conditions with c₁ = 1e-4 and c₂ = 0.9."""
    start, slope = curve.value(0.0), curve.slope(0.0)
    decreased = curve.value(step) <= start + 1e-4 * step * slope
    return decreased and abs(curve.slope(step)) <= 0.9 * abs(slope)


@pytest.mark.parametrize("first", [1e-6, 0.01, 0.3, 1.0, 50.0, 500.0])
@pytest.mark.parametrize("name", CURVES)
def test_a_step_satisfies_both_conditions_of_wolfe(name, first):
    curve = CURVES[name]()
    step = line_search.search(curve, curve.value(0.0), curve.slope(0.0), first)
    assert fulfilled(curve, step)
    assert curve.calls <= 30
    assert curve.closed == 1


def test_a_step_back_to_the_value_of_the_start_is_not_taken():
    """Its slope is small enough, so that only the condition of decrease stands against it."""
    curve = CURVES["falls fast and rises slowly"]()
    start = curve.value(0.0)
    back = brentq(lambda t: curve.value(t) - start, 0.2, 100.0, xtol=1e-14)
    assert 0 < curve.slope(back) < 0.9 * abs(curve.slope(0.0))
    step = line_search.search(curve, start, curve.slope(0.0), back)
    assert curve.value(step) < start + 1e-4 * step * curve.slope(0.0)


def test_where_nothing_decreases_the_step_is_none():
    curve = Curve(lambda t: t, lambda t: 1.0)
    assert (
        line_search.search(curve, 0.0, -1.0) == 0.0
    )  # a slope that is wrong: only rounding errs so
    assert curve.closed == 1


def test_a_line_is_closed_where_it_fails():
    def fails(t):
        raise FloatingPointError(t)

    curve = Curve(fails, fails)
    with pytest.raises(FloatingPointError):
        line_search.search(curve, 0.0, -1.0)
    assert curve.closed == 1
