"""Isotonic curves: the peer's, rising, and within half a row of the ends."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from argmax import calibration
from argmax.calibration.isotonic import rising


@pytest.mark.parametrize("ties", [False, True])
def test_a_curve_is_the_peers(ties):
    rng = np.random.default_rng(0)
    score = rng.integers(0, 20, 300) / 20.0 if ties else rng.random(300)
    happened = rng.random(300) < score
    weight = rng.random(300)
    at = np.linspace(0, 1, 101)
    peer = IsotonicRegression(out_of_bounds="clip").fit(score, happened, weight).predict(at)
    edge = 0.5 / (weight.sum() + 1)
    assert np.interp(at, *rising(score, happened, weight)) == pytest.approx(
        np.clip(peer, edge, 1 - edge),
        abs=0.02,  # straight lines between other ends, where it is clipped
    )
    own = IsotonicRegression(out_of_bounds="clip").fit(score, happened, weight).predict(score)
    found = np.interp(score, *rising(score, happened, weight))
    assert found == pytest.approx(np.clip(own, edge, 1 - edge), abs=1e-9)


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
