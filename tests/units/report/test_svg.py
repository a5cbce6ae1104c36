"""Scales and their ticks; charts stay inside their frames."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.metrics import Interval
from argmax.report import charts
from argmax.report.svg import Scale, drawing, text

numbers = st.floats(-1e6, 1e6, allow_nan=False)


@given(numbers, st.floats(1e-6, 1e6))
def test_ticks_are_few_round_and_inside(low, width):
    scale = Scale(low, low + width, 0, 100)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= 7
    slack = 1e-6 * width + 1e-9
    assert all(low - slack <= tick <= low + width + slack for tick in ticks)
    assert all(-0.2 <= scale(tick) <= 100.2 for tick in ticks)


@pytest.mark.parametrize(("low", "high"), [(1e-9, 1.0), (0.3, 0.4), (5.0, 5000.0)])
def test_logarithmic_ticks_are_powers_of_ten_or_the_ends(low, high):
    scale = Scale(low, high, 0, 100, log=True)
    ticks = scale.ticks()
    assert ticks == [low, high] or all(math.log10(tick) % 1 == pytest.approx(0) for tick in ticks)
    assert scale(low) == 0
    assert scale(high) == 100


def test_a_scale_of_no_width_maps_to_its_middle():
    assert Scale(2.0, 2.0, 0, 100)(2.0) == 50
    assert Scale(2.0, 2.0, 0, 100).ticks() == [2.0]


def test_words_are_escaped():
    assert "<script>" not in drawing(1, 1, '"><script>', [text(0, 0, "<script>", "tick")])


@pytest.mark.parametrize("value", [0.0, 0.02, 0.5, 0.98, 1.0])
@pytest.mark.parametrize("baseline", [0.0, 0.5, 1.0])
def test_marks_stay_inside_the_frame(value, baseline):
    found = Interval(value, max(0, value - 0.1), min(1, value + 0.1))
    svg = charts.against_baseline(found, baseline, "most frequent class")
    positions = [float(x) for x in re.findall(r'\b(?:x|x1|x2|cx)="([\d.-]+)"', svg)]
    assert all(0 <= x <= 340 for x in positions)


def test_a_course_leaves_out_what_cannot_be_drawn():
    points = [(0.1, np.inf), (0.2, 1e-3), (0.3, 0.0), (0.4, np.nan), (0.5, 1e-6)]
    assert charts.course(points, "gap", str, log=True).count("<circle") == 2
    assert charts.course(points[:1], "gap", str, log=True) is None
    assert charts.course([(0.0, 3.0)], "objective", str, log=False).count("<circle") == 1
