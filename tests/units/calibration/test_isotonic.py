"""Isotonic curves: the peer's, rising, and within half a row of the ends."""

import joblib
import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from argmax import calibration
from argmax.calibration.passes import Rows
from argmax.calibration.rising import rising


@pytest.fixture(params=["always", "never"], autouse=True)
def path(request, monkeypatch):
    """Compiled and plain."""
    monkeypatch.setenv("ARGMAX_COMPILED", request.param)


def curve(score, happened, weight):
    hit = np.where(happened, 0, -1)
    (found,) = rising(Rows.of(score[:, None], hit, weight))
    return found


@pytest.mark.parametrize("ties", [False, True])
def test_a_curve_is_the_peers(ties):
    rng = np.random.default_rng(0)
    score = rng.integers(0, 20, 300) / 20.0 if ties else rng.random(300)
    happened = rng.random(300) < score
    weight = rng.random(300) * (rng.random(300) < 0.9)
    at = np.linspace(0, 1, 101)
    peer = IsotonicRegression(out_of_bounds="clip").fit(score, happened, weight)
    edge = 0.5 / (weight.sum() + 1)
    knots, heights = curve(score, happened, weight)
    assert np.interp(at, knots, heights) == pytest.approx(
        np.clip(peer.predict(at), edge, 1 - edge),
        abs=0.02,  # straight lines between other ends, where it is clipped
    )
    used = score[weight > 0]
    own = np.clip(peer.predict(used), edge, 1 - edge)
    assert np.interp(used, knots, heights) == pytest.approx(own, abs=1e-9)


SPREADS = {
    "crowded beside one far away": lambda x: np.where(x > 0.98, 1e9, x),
    "whole numbers": lambda x: np.floor(8 * x),
    "as large as numbers are": lambda x: 1.7e308 * (2 * x - 1),
    "as small as numbers are": lambda x: 5e-324 * np.floor(9 * x),
    "all the same": lambda x: 0 * x,
}


@pytest.mark.parametrize("spread", SPREADS)
def test_a_curve_fits_better_than_any_other_wherever_the_scores_lie(spread):
    """Of a rising curve of block means no rising curve is nearer: the conditions of the optimum."""
    rng = np.random.default_rng(0)
    x = rng.random(400)
    happened, score = rng.random(400) < x, SPREADS[spread](x)
    knots, heights = curve(score, happened, np.ones(400))
    assert np.all(np.diff(heights) >= 0)
    assert np.all(np.diff(knots) > 0)
    value = heights[np.searchsorted(knots, score)]  # every score lies on a knot or in a flat part
    for level in np.unique(value):
        some = np.sort(score[value == level])
        assert np.clip(happened[value == level].mean(), 0.5 / 401, 400.5 / 401) == pytest.approx(
            level
        )
        for cut in np.unique(some)[1:]:
            left = happened[(value == level) & (score < cut)]
            assert left.mean() >= level - 2 / 401  # else it would pay to fall before the cut


def test_columns_have_the_curves_that_they_have_alone():
    rng = np.random.default_rng(0)
    scores, truth = rng.normal(size=(700, 11)), rng.integers(0, 10, 700)  # the last never happens
    together = rising(Rows.of(scores, truth))
    for c, found in enumerate(together):
        alone = curve(scores[:, c], truth == c, np.ones(700))
        assert all(np.array_equal(a, b) for a, b in zip(found, alone, strict=True))
    assert set(together[-1][1]) == {0.5 / 701}


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    scores, truth = rng.normal(size=(30_000, 10)), rng.integers(0, 10, 30_000)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(joblib, "cpu_count", lambda threads=threads: threads)
        found.append(calibration.Isotonic().fit(scores, truth).predict_proba(scores))
    assert np.array_equal(*found)


def test_the_top_label_is_as_sure_as_it_is_right():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 4000)
    truth = (rng.random((4000, 1)) < p.cumsum(axis=1)).argmax(axis=1)
    sharp = p**3 / (p**3).sum(axis=1, keepdims=True)
    found = calibration.TopLabel(on="probabilities").fit(sharp[::2], truth[::2])
    honest = found.predict_proba(sharp[1::2])
    raw = calibration.calibration_error(truth[1::2], sharp[1::2], [0, 1, 2])
    after = calibration.calibration_error(truth[1::2], honest, [0, 1, 2])
    assert after.squared.value < raw.squared.value / 10


def test_certain_scores_leave_a_share_for_the_others():
    found = calibration.TopLabel().fit([[9e3, 0.0, 0.0]] * 9, [0] * 8 + [1])
    p = found.predict_proba([[9e3, 0.0, 0.0]])
    assert p[0] == pytest.approx([8 / 9, 1 / 18, 1 / 18])
