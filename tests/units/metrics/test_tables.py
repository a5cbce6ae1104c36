"""The confusion matrix with its rows, and scores of each class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as peer

from argmax import metrics

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60)


@given(pairs)
def test_the_table_is_the_peers(pairs):
    truth, answer = np.array(pairs).T
    found = metrics.confusion(truth, answer, classes=range(5))
    expected = peer.confusion_matrix(truth, answer, labels=range(5))
    assert np.array_equal(found.table(), expected)
    assert np.array_equal(metrics.confusion(truth, answer).labels, np.union1d(truth, answer))


@given(pairs)
def test_every_row_is_behind_exactly_one_cell(pairs):
    truth, answer = np.array(pairs).T
    found = metrics.confusion(truth, answer)
    behind = [
        row
        for t in found.labels
        for a in found.labels
        for row in found.rows(t, a)
        if (truth[row], answer[row]) == (t, a)
    ]
    assert sorted(behind) == list(range(len(truth)))


def test_classes_come_first_and_unseen_labels_after():
    found = metrics.confusion(["x", "b", "a"], ["a", "b", "a"], classes=["b", "a"])
    assert found.labels.tolist() == ["b", "a", "x"]
    assert found.table().tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]


def test_pairs_are_errors_the_most_frequent_first():
    found = metrics.confusion([0, 0, 0, 1, 1, 2], [1, 1, 0, 0, 1, 0])
    assert found.pairs() == [(0, 1, 2), (1, 0, 1), (2, 0, 1)]
    assert found.pairs(1) == [(0, 1, 2)]


def test_rows_are_sampled_with_a_seed():
    truth, answer = np.zeros(50, int), np.ones(50, int)
    found = metrics.confusion(truth, answer)
    some = found.rows(0, 1, most=5, seed=3)
    assert len(some) == 5
    assert np.all(np.diff(some) > 0)
    assert np.array_equal(some, found.rows(0, 1, most=5, seed=3))
    assert not np.array_equal(some, found.rows(0, 1, most=5, seed=4))
    assert len(found.rows(1, 0)) == 0
    assert len(found.rows("no such label", 0)) == 0


@given(pairs)
def test_scores_of_a_class_are_the_peers(pairs):
    truth, answer = np.array(pairs).T
    ours = metrics.per_class(truth, answer)
    expected = peer.precision_recall_fscore_support(truth, answer, zero_division=0)
    for i, found in enumerate(ours):
        values = [found.precision.value, found.recall.value, found.f1.value, found.rows]
        assert values == pytest.approx([column[i] for column in expected], abs=1e-14)
        assert all(one.value in one for one in (found.precision, found.recall, found.f1))


def test_a_class_without_rows_is_listed_and_unknown():
    found = metrics.per_class(["a"], ["a"], classes=["a", "b"])[1]
    assert (found.label, found.rows, found.answered) == ("b", 0, 0)
    assert (found.f1.value, found.f1.low, found.f1.high) == (0.0, 0.0, 1.0)
