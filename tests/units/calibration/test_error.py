"""The debiased error and the decomposition: without bias, with intervals that cover."""

import numpy as np
import pytest

from argmax import calibration, metrics
from argmax.calibration.error import _Binned
from argmax.errors import InvalidInput


def drawn(n, k=3, seed=0, sharp=1.0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), size=n)
    truth = (rng.random((n, 1)) < p.cumsum(axis=1)).argmax(axis=1)
    told = p**sharp / (p**sharp).sum(axis=1, keepdims=True)
    return truth, told


@pytest.mark.parametrize("kind", ["top", "classwise"])
@pytest.mark.parametrize(("n", "times"), [(100, 400), (1000, 200), (10_000, 40)])
def test_a_perfect_model_has_no_error_in_the_mean(n, times, kind):
    found = [
        calibration.calibration_error(*drawn(n, seed=n + s), [0, 1, 2], kind=kind)
        for s in range(times)
    ]
    values = np.array([one.squared.value for one in found])
    assert abs(values.mean()) < 2.0 * values.std() / np.sqrt(times)
    plain = np.mean([one.plug_in for one in found])
    assert plain == pytest.approx(np.mean([one.if_calibrated for one in found]), rel=0.05)
    assert np.mean([0.0 in one.squared for one in found]) > 0.9


def test_an_interval_covers_the_error_of_a_wrong_model():
    truth, p = drawn(200_000, sharp=2.0)
    true = calibration.calibration_error(truth, p, [0, 1, 2]).squared.value
    found = [
        calibration.calibration_error(*drawn(1000, seed=s, sharp=2.0), [0, 1, 2]).squared
        for s in range(100)
    ]
    assert np.mean([true in one for one in found]) > 0.85


def test_the_jackknife_is_the_one_by_hand():
    truth, p = drawn(40)
    whole = _Binned(p.max(axis=1), (p.argmax(axis=1) == truth) - p.max(axis=1), 3)
    without = whole.without_each()
    for i in (0, 17, 39):
        keep = np.arange(40) != i
        r, b = whole.r[keep], whole.bin[keep]
        pairs = 0.0
        for bin_ in range(3):
            some = r[b == bin_]
            products = np.outer(some, some)
            pairs += (products.sum() - np.trace(products)) / max(len(some) - 1, 1)
        assert without[i] == pytest.approx(pairs / 39)


@pytest.mark.parametrize("score", ["log_loss", "brier"])
def test_the_parts_add_up_and_tell_bad_calibration_from_bad_knowledge(score):
    truth, p = drawn(3000)
    _, sharp = drawn(3000, sharp=3.0)
    metric = getattr(metrics, score)
    honest = calibration.decomposition(truth, p, [0, 1, 2], score)
    sure = calibration.decomposition(truth, sharp, [0, 1, 2], score)
    for found, table in ((honest, p), (sure, sharp)):
        assert found.total == metric(truth, table, [0, 1, 2])
        assert found.calibration.value + found.refinement == pytest.approx(found.total)
    assert 0.0 in honest.calibration
    assert sure.calibration.low > 0
    assert sure.refinement == pytest.approx(honest.refinement, abs=0.01)


def test_bands_hold_all_bins_and_the_envelope_a_perfect_model():
    inside = band = 0
    for seed in range(100):
        truth, p = drawn(1000, seed=seed)
        found = calibration.reliability(truth, p, [0, 1, 2], bins=10)
        inside += np.all(
            (found.envelope_low <= found.frequency) & (found.frequency <= found.envelope_high)
        )
        band += np.all((found.band_low <= found.confidence) & (found.confidence <= found.band_high))
        assert np.all(found.band_low <= found.low + 1e-12)
    assert inside >= 93
    assert band >= 90


def test_the_envelope_of_certain_bins_is_a_point():
    found = calibration.reliability([0, 0, 1], [[1.0, 0.0]] * 3, [0, 1], bins=1)
    assert found.envelope_low.tolist() == found.envelope_high.tolist() == [1.0]


def test_one_row_is_refused():
    with pytest.raises(InvalidInput, match="two rows"):
        calibration.calibration_error([0], [[0.5, 0.5]], [0, 1])
