"""Reliability: binning, the calibration error and its bias, single classes, unseen labels."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from argmax import calibration, metrics
from argmax.errors import InvalidInput


def drawn(n, k=3, seed=0):
    """Probabilities, and truths drawn from them: a perfectly calibrated model."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), size=n)
    return (rng.random((n, 1)) < p.cumsum(axis=1)).argmax(axis=1), p


@pytest.mark.parametrize(("strategy", "peer"), [("mass", "quantile"), ("width", "uniform")])
def test_bins_are_the_peers(strategy, peer):
    truth, p = drawn(1000, k=2)
    found = calibration.reliability(truth, p, [0, 1], bins=10, label=1, strategy=strategy)
    frequency, confidence = calibration_curve(truth, p[:, 1], n_bins=10, strategy=peer)
    slack = 0.01 if strategy == "mass" else 1e-12  # a row on an edge may fall on either side
    assert found.frequency == pytest.approx(frequency, abs=slack)
    assert found.confidence == pytest.approx(confidence, abs=slack)


def test_bins_of_equal_mass_hold_equally_many_rows():
    truth, p = drawn(1000)
    assert np.ptp(calibration.reliability(truth, p, [0, 1, 2], bins=7).count) <= 1


@pytest.mark.parametrize("strategy", ["mass", "width"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_every_row_is_in_one_bin_also_where_many_confidences_are_equal(strategy, share):
    certain = np.tile([1.0, 0.0], (100, 1))
    mixed = np.random.default_rng(0).random(100) < share
    certain[mixed] = [0.6, 0.4]
    truth = np.zeros(100, int)
    found = calibration.reliability(truth, certain, [0, 1], strategy=strategy)
    assert found.count.sum() == 100
    assert len(found.count) == len(np.unique(certain[:, 0]))
    assert len(found.edges) == len(found.count) + 1
    assert found.confidence.max() <= 1.0


def test_the_error_of_the_definition():
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
    found = calibration.reliability([0, 1, 0, 1], p, [0, 1], bins=2)
    # bins {0.6, 0.7} and {0.8, 0.9}, each right once in two rows
    assert found.ece == pytest.approx(0.5 * abs(0.65 - 0.5) + 0.5 * abs(0.85 - 0.5))
    assert found.low == pytest.approx([metrics.proportion(1, 2).low] * 2)


@pytest.mark.parametrize("n", [200, 2000])
def test_a_perfect_model_shows_the_error_that_is_foretold(n):
    found = [calibration.reliability(*drawn(n, seed=s), [0, 1, 2]) for s in range(60)]
    ece = np.mean([one.ece for one in found])
    foretold = np.mean([one.ece_if_calibrated for one in found])
    assert ece == pytest.approx(foretold, rel=0.1)


def test_an_overconfident_model_shows_more():
    truth, p = drawn(2000)
    sharp = p**3 / (p**3).sum(axis=1, keepdims=True)
    found = calibration.reliability(truth, sharp, [0, 1, 2])
    assert found.ece > 5 * found.ece_if_calibrated
    assert np.all(found.frequency[-5:] < found.confidence[-5:])


def test_each_class_has_its_own():
    truth, p = drawn(500)
    each = calibration.by_class(truth, p, [0, 1, 2], bins=5)
    assert list(each) == [0, 1, 2]
    alone = calibration.reliability(truth, p, [0, 1, 2], bins=5, label=1)
    assert np.array_equal(each[1].frequency, alone.frequency)


def test_an_unseen_label_is_never_right():
    p = np.array([[0.9, 0.1], [0.9, 0.1]])
    found = calibration.reliability(["a", "new"], p, ["a", "b"], bins=1)
    assert found.frequency.tolist() == [0.5]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"bins": 0}, "bins must be at least 1"),
        ({"strategy": "both"}, "strategy must be one of"),
        ({"label": 7}, "label must be one of the classes; got 7"),
    ],
)
def test_what_makes_no_sense_is_refused(options, says):
    truth, p = drawn(20)
    with pytest.raises(InvalidInput, match=says):
        calibration.reliability(truth, p, [0, 1, 2], **options)
