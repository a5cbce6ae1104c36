"""Intervals: Wilson's formula, the three forms of the bootstrap, differences on the same rows."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import f1_score

from argmax import metrics
from argmax.errors import InvalidInput


@pytest.fixture
def answers():
    """Truth and two lists of answers to it; the second is right a little less often."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 5, 800)
    one = np.where(rng.random(800) < 0.85, truth, rng.integers(0, 5, 800))
    other = np.where(rng.random(800) < 0.9, one, rng.integers(0, 5, 800))
    return truth, one, other


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (3, 10), (50, 50), (870, 1000)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_wilson_is_scipys(hits, trials, level):
    found = metrics.proportion(hits, trials, level)
    expected = binomtest(hits, trials).proportion_ci(level, method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert found.value in found


def test_of_no_trials_nothing_is_known():
    assert (metrics.proportion(0, 0).low, metrics.proportion(0, 0).high) == (0.0, 1.0)


def test_a_share_gets_wilsons_interval_and_anything_else_the_bootstrap(answers):
    truth, one, _ = answers
    hits = int(np.sum(truth == one))
    assert metrics.interval(metrics.accuracy, truth, one) == metrics.proportion(hits, 800)
    assert metrics.interval(metrics.f1, truth, one) == metrics.bootstrap(metrics.f1, truth, one)


def plain_f1(truth, answer):
    return f1_score(truth, answer, average="macro")


def plain_accuracy(truth, answer):
    return np.mean(np.asarray(truth) == np.asarray(answer))


@pytest.mark.parametrize(
    ("ours", "plain"), [(metrics.f1, plain_f1), (metrics.accuracy, plain_accuracy)]
)
def test_the_quick_forms_agree_with_resampling_rows_one_set_after_another(answers, ours, plain):
    truth, one, _ = answers
    quick = metrics.bootstrap(ours, truth, one, n=4000)
    slow = metrics.bootstrap(plain, truth, one, n=400)
    assert quick.value == pytest.approx(slow.value)
    width = quick.high - quick.low
    assert quick.low == pytest.approx(slow.low, abs=0.15 * width)
    assert quick.high == pytest.approx(slow.high, abs=0.15 * width)


def test_many_rows_are_drawn_in_groups_with_the_same_interval():
    rng = np.random.default_rng(2)
    n = 100_000
    own = rng.beta(4, 1, n)
    table = np.stack([own, 1 - own], axis=1)
    found = metrics.bootstrap(metrics.log_loss, np.zeros(n, int), table, [0, 1])
    reach = 1.96 * np.log(own).std() / np.sqrt(n)
    assert found.low == pytest.approx(found.value - reach, abs=0.1 * reach)
    assert found.high == pytest.approx(found.value + reach, abs=0.1 * reach)


def test_many_kinds_of_pairs_are_counted_row_by_row():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 60, 500)  # most pairs of the wrong answers occur once
    answer = np.where(rng.random(500) < 0.5, truth, rng.integers(0, 60, 500))
    found = metrics.bootstrap(metrics.recall, truth, answer, average="weighted")
    share = metrics.proportion(int(np.sum(truth == answer)), 500)  # weighted recall is the accuracy
    assert (found.low, found.high) == pytest.approx((share.low, share.high), abs=0.01)


def test_same_seed_same_interval_and_another_seed_nearly(answers):
    truth, one, _ = answers
    first = metrics.bootstrap(metrics.f1, truth, one, seed=1)
    assert first == metrics.bootstrap(metrics.f1, truth, one, seed=1)
    second = metrics.bootstrap(metrics.f1, truth, one, seed=2)
    assert first != second
    assert first.low == pytest.approx(second.low, abs=0.01)


def test_a_higher_level_is_a_wider_interval(answers):
    truth, one, _ = answers
    narrow = metrics.bootstrap(metrics.f1, truth, one, level=0.5)
    wide = metrics.bootstrap(metrics.f1, truth, one, level=0.99)
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


@pytest.mark.parametrize("metric", [metrics.accuracy, metrics.f1, plain_accuracy])
def test_a_difference_is_paired(answers, metric):
    truth, one, other = answers
    found = metrics.difference(metric, truth, one, other, n=400)
    assert found.value == pytest.approx(metric(truth, one) - metric(truth, other))
    assert found.distinguishable
    alone = (
        metrics.bootstrap(metric, truth, one, n=400),
        metrics.bootstrap(metric, truth, other, n=400),
    )
    unpaired = np.hypot(*(found.high - found.low for found in alone))
    assert found.high - found.low < unpaired


def test_a_model_is_not_distinguishable_from_itself(answers):
    truth, one, _ = answers
    found = metrics.difference(metrics.accuracy, truth, one, one)
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)
    assert not found.distinguishable


def test_differences_of_probabilities_take_classes_by_keyword():
    p, q = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.6, 0.4], [0.5, 0.5]])
    found = metrics.difference(metrics.log_loss, [0, 1], p, q, classes=[0, 1])
    alone = [metrics.log_loss([0, 1], table, [0, 1]) for table in (p, q)]
    assert found.value == pytest.approx(alone[0] - alone[1])


def test_a_perfect_score_has_no_spread_to_resample():
    found = metrics.bootstrap(metrics.f1, [0, 1, 1], [0, 1, 1])
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("options", "says"), [({"n": 0}, "n must be at least 1"), ({"level": 1.5}, "level must be")]
)
def test_options_that_make_no_sense_are_refused(options, says):
    with pytest.raises(InvalidInput, match=says):
        metrics.bootstrap(metrics.f1, [0, 1], [0, 1], **options)


def test_an_interval_prints_as_a_number_and_its_range():
    assert str(metrics.Interval(0.5, 0.25, 0.75)) == "0.5000 (0.2500 to 0.7500)"
