"""Scores of sets of labels: scikit-learn's numbers, and intervals that cover."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from argmax import metrics
from argmax.errors import InvalidInput

RNG = np.random.default_rng(0)
TRUTH = (RNG.random((150, 5)) < 0.4).astype(int)
ANSWER = np.where(RNG.random((150, 5)) < 0.15, 1 - TRUTH, TRUTH)


def test_the_numbers_are_scikit_learns():
    found = metrics.label_sets(TRUTH, ANSWER, n=100)
    assert found.rows == 150
    assert found.subset_accuracy.value == pytest.approx(accuracy_score(TRUTH, ANSWER))
    assert found.hamming_loss.value == pytest.approx(hamming_loss(TRUTH, ANSWER))
    for name, average in (("micro_f1", "micro"), ("macro_f1", "macro")):
        expected = f1_score(TRUTH, ANSWER, average=average)
        assert getattr(found, name).value == pytest.approx(expected)
    by_row = f1_score(TRUTH, ANSWER, average="samples", zero_division=1)
    assert found.row_f1.value == pytest.approx(by_row)
    each = f1_score(TRUTH, ANSWER, average=None)
    np.testing.assert_allclose([one.f1.value for one in found.each], each)
    assert found.log_likelihood is None


def test_intervals_are_around_the_value_and_repeat():
    surprise = np.log(RNG.uniform(0.1, 1.0, 150))
    found = metrics.label_sets(TRUTH, ANSWER, log_likelihood=surprise)
    again = metrics.label_sets(TRUTH, ANSWER, log_likelihood=surprise)
    assert found == again
    for name in ("hamming_loss", "micro_f1", "macro_f1", "row_f1", "log_likelihood"):
        one = getattr(found, name)
        assert one.low < one.value < one.high
    mean = found.log_likelihood
    assert mean.value == pytest.approx(surprise.mean())
    error = surprise.std(ddof=1) / np.sqrt(150)
    assert mean.high - mean.low == pytest.approx(2 * 1.96 * error, rel=0.2)


def test_many_rows_are_drawn_in_groups_with_the_same_spread():
    truth, answer = np.tile(TRUTH, (40, 1)), np.tile(ANSWER, (40, 1))
    found = metrics.label_sets(truth, answer, n=400)
    wrong = (truth != answer).mean(axis=1)
    width = 2 * 1.96 * wrong.std() / np.sqrt(len(wrong))
    assert found.hamming_loss.high - found.hamming_loss.low == pytest.approx(width, rel=0.25)


def test_what_is_not_of_one_shape_is_refused():
    with pytest.raises(InvalidInput, match="one shape"):
        metrics.label_sets(TRUTH, ANSWER[:, :3])
    with pytest.raises(InvalidInput, match="labels"):
        metrics.label_sets(TRUTH, ANSWER, labels=["a"])
    with pytest.raises(InvalidInput, match="at least one row"):
        metrics.label_sets(TRUTH[:0], ANSWER[:0])
    with pytest.raises(InvalidInput, match="one column"):
        metrics.label_sets(TRUTH[:, :0], ANSWER[:, :0])
