"""Tests of a shift, the diagnosis, and the monitor."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from argmax import CRFTagger, SoftmaxRegression, shift
from argmax.errors import InvalidInput
from argmax.shift import tests
from argmax.shift.diagnose import _Worth

MEANS = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [-1.0, -1.0, 0.0]])


def sample(rng, priors, n):
    y = rng.choice(3, size=n, p=priors)
    return MEANS[y] + rng.normal(size=(n, 3)), y


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    X, y = sample(rng, [1 / 3] * 3, 500)
    return SoftmaxRegression().fit(X, y), sample(rng, [1 / 3] * 3, 600), rng


# Tests


def test_every_test_keeps_its_level():
    """At 0.1, thirty repetitions: more than a quarter would be a wonder."""
    rng = np.random.default_rng(1)
    wrong = []
    for seed in range(30):
        p = rng.dirichlet([1, 2, 3], size=160)
        wrong.append(
            [
                shift.outputs(p[:100], p[100:], resamples=39, seed=seed).rejected(0.1),
                shift.black_box(p[:100], p[100:]).rejected(0.1),
                shift.classifier(p[:100, :2], p[100:, :2], seed=seed).rejected(0.1),
                len(shift.features(p[:100], p[100:]).rejected(0.1)) > 0,
            ]
        )
    assert (np.mean(wrong, axis=0) <= 0.25).all()


def test_ties_do_not_count_as_distance():
    p = np.tile([[0.9, 0.1], [0.1, 0.9]], (50, 1))
    found = shift.outputs(p, p[::-1], resamples=39)
    assert found.size == pytest.approx(0.0, abs=1e-6)
    assert not found.rejected()


def test_distances_are_those_of_scipy():
    """Anderson and Darling's up to scale and offset, Kolmogorov and Smirnov's as it is."""
    rng = np.random.default_rng(5)
    column = rng.normal(size=60)
    splits = np.array([rng.permutation(60) >= 40 for _ in range(25)])
    furthest, tails = tests._distances(column, np.where(splits, 1 / 20, -1 / 40))
    assert furthest == pytest.approx(stats.ks_2samp(column[splits[0]], column[~splits[0]])[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about p-values beyond its table
        theirs = [
            stats.anderson_ksamp([column[s], column[~s]], midrank=False).statistic for s in splits
        ]
    slope, offset = np.polyfit(theirs, tails, 1)
    assert tails == pytest.approx(slope * np.array(theirs) + offset, rel=1e-5)


def test_words_that_became_frequent_are_found():
    rng = np.random.default_rng(2)
    share = np.full(50, 0.1)
    X = sp.csr_matrix((rng.random((400, 50)) < share) * 1.0)
    share[[7, 30]] = 0.4
    Z = sp.csr_matrix((rng.random((300, 50)) < share) * 1.0)
    found = shift.features(X, Z)
    assert set(found.rejected().tolist()) == {7, 30}
    assert set(found.columns[:2].tolist()) == {7, 30}


def test_two_sets_must_fit():
    with pytest.raises(InvalidInput, match="same columns"):
        shift.features(np.ones((5, 2)), np.ones((5, 3)))
    with pytest.raises(InvalidInput, match="same classes"):
        shift.outputs([[0.5, 0.5]], [[0.2, 0.3, 0.5]])
    with pytest.raises(InvalidInput, match="at least 4 rows"):
        shift.classifier(np.ones((2, 2)), np.ones((2, 2)))


# Diagnosis


def test_what_a_model_is_worth_is_as_sure_as_both_sets_are_large():
    """Where the priors are known, the spread is that of two means: σ √(1/n + 1/m)."""
    rng = np.random.default_rng(3)
    even = np.array([0.5, 0.5])
    found = SimpleNamespace(priors=even, draws=np.full((4000, 2), 0.5), source=even)
    seen, q = rng.random(50), rng.dirichlet([1.0, 1.0], 80)
    got = _Worth(found, "label", q, None).expected(np.array([0.2, 0.8]), seen, 50)
    assert got.value == pytest.approx((q @ [0.2, 0.8]).mean())
    assert (got.high - got.low) / 2 == pytest.approx(
        1.96 * seen.std() * np.sqrt(1 / 50 + 1 / 80), rel=0.08
    )


def test_no_shift_label_shift_and_another(world):
    model, (X, y), rng = world
    Z, _ = sample(rng, [1 / 3] * 3, 400)
    still = shift.diagnose(model, (X, y), Z)
    assert still.kind == "none"
    assert "as it is" in still.advice[0]

    Z, z = sample(rng, [0.1, 0.1, 0.8], 400)
    label = shift.diagnose(model, (X, y), Z, cost=1 - np.eye(3))
    assert label.kind == "label"
    assert model.score(Z, z) in label.expected
    assert shift.adapt(model, label.label).score(Z, z) in label.adapted
    assert label.cost[1].value == pytest.approx(1 - label.expected.value, abs=0.02)
    assert "Adapt the model" in str(label)

    Z, _ = sample(rng, [1 / 3] * 3, 400)
    other = shift.diagnose(model, (X, y), Z + np.array([4.0, 4.0, 0.0]), names=["a", "b", "c"])
    assert other.kind == "other"
    assert "Do not adapt" in str(other)
    assert set(other.features.rejected().tolist()) == {0, 1}
    assert other.expected is None
    assert "cannot be said" in str(other)


def test_features_that_the_model_does_not_use_may_move(world):
    model, (X, y), rng = world
    Z, z = sample(rng, [1 / 3] * 3, 400)
    found = shift.diagnose(model, (X, y), Z + np.array([0.0, 0.0, 0.6]))
    assert found.kind == "inputs"
    assert found.features.rejected().tolist() == [2]
    assert "do not show in what the model says" in str(found)
    assert model.score(Z, z) in found.expected


def test_what_cannot_be_known_is_said_with_its_price(world):
    model, (X, y), rng = world
    found = shift.diagnose(model, (X, y), sample(rng, [1 / 3] * 3, 100)[0])
    assert "labelled new rows" in found.unknown[0]
    assert len(found.first) == 50
    assert len(set(found.first.tolist())) == 50


def test_labels_that_the_model_does_not_know_are_left_out(world):
    model, (X, y), rng = world
    Z, _ = sample(rng, [1 / 3] * 3, 100)
    mixed = np.where(np.arange(len(y)) < 100, 9, y)
    assert shift.diagnose(model, (X, mixed), Z).label.rows == (500, 100)
    with pytest.raises(InvalidInput, match="no row with a label"):
        shift.diagnose(model, (X, np.full(len(y), 9)), Z)


def test_a_tagger_is_diagnosed_by_its_marginals():
    rng = np.random.default_rng(4)

    def sentences(n, share):
        y = [["N" if rng.random() < share else "V" for _ in range(5)] for _ in range(n)]
        words = {"N": ["dog", "cat", "run"], "V": ["run", "eat", "cat"]}
        return [[words[tag][rng.integers(3)] for tag in tags] for tags in y], y

    X, y = sentences(80, 0.5)
    tagger = CRFTagger().fit(X, y)
    found = shift.diagnose(tagger, sentences(300, 0.5), sentences(300, 0.9)[0])
    assert found.kind == "label"
    assert found.label.rows == (300, 300)
    assert found.label.priors[0] > 0.75
    assert found.separable is None
    assert "one token of each sequence" in str(found)


# Monitor


def test_the_monitor_keeps_its_rate_and_sees_a_drift():
    rng = np.random.default_rng(5)
    monitor = shift.Monitor(rng.dirichlet([2, 2], size=300), rate=0.1, window=3)
    quiet = [monitor.update(rng.dirichlet([2, 2], size=60)).alarm for _ in range(20)]
    assert sum(quiet) <= 6
    drift = [monitor.update(rng.dirichlet([2 + step, 2], size=60)).alarm for step in (1, 2, 3)]
    assert drift[-1]
    assert len(monitor.history_) == 23
    assert monitor.history_[0].slow is None


def test_both_tests_of_a_monitor_together_keep_its_rate():
    """Two tests that each took the whole rate would raise seven alarms in ten, not five."""
    alarms = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        monitor = shift.Monitor(rng.random(160), rate=0.5, on="scores", seed=1000 * seed)
        seen = [monitor.update(rng.random(16)) for _ in range(5)]
        alarms.append(seen[-1].alarm)
    assert np.mean(alarms) < 0.5 + 3 * np.sqrt(0.25 / 300)


def test_a_monitor_needs_a_rate_and_batches_that_fit():
    with pytest.raises(InvalidInput, match="above 0"):
        shift.Monitor([[0.5, 0.5]], rate=0.0)
    with pytest.raises(InvalidInput, match="2 columns"):
        shift.Monitor([[0.5, 0.5]]).update([[0.2, 0.3, 0.5]])
