"""Scores equal scikit-learn's, and labels that the model never saw are errors."""

import numpy as np
import pytest
from sklearn import metrics as peer

from argmax import metrics
from argmax.errors import InvalidInput, Unsupported


@pytest.fixture(params=["numbers", "strings", "objects"])
def labelled(request):
    """Truth, answers, probabilities and classes: 400 rows of 6 classes, answers right 7 times in 10."""
    rng = np.random.default_rng(0)
    truth = rng.choice(6, size=400, p=[0.4, 0.3, 0.15, 0.1, 0.04, 0.01])
    scores = rng.normal(size=(400, 6)) + 2.5 * np.eye(6)[truth]
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    classes = np.arange(6)
    if request.param != "numbers":
        classes = np.array(["ant", "bee", "cat", "dog", "emu", "fox"])
    if request.param == "objects":
        classes = classes.astype(object)
    return classes[truth], classes[probabilities.argmax(axis=1)], probabilities, classes


def test_accuracy_is_the_peers(labelled):
    truth, answer, _, _ = labelled
    assert metrics.accuracy(truth, answer) == pytest.approx(peer.accuracy_score(truth, answer))


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_precision_recall_and_f1_are_the_peers(labelled, average):
    truth, answer, _, _ = labelled
    expected = peer.precision_recall_fscore_support(truth, answer, average=average, zero_division=0)
    ours = [f(truth, answer, average) for f in (metrics.precision, metrics.recall, metrics.f1)]
    assert ours == pytest.approx(expected[:3], abs=1e-14)


def test_log_loss_and_brier_are_the_peers(labelled):
    truth, _, probabilities, classes = labelled
    loss = peer.log_loss(truth, probabilities, labels=classes)
    assert metrics.log_loss(truth, probabilities, classes) == pytest.approx(loss, rel=1e-12)
    hot = (np.asarray(truth)[:, None] == classes[None, :]).astype(float)
    squared = ((probabilities - hot) ** 2).sum(axis=1).mean()
    assert metrics.brier(truth, probabilities, classes) == pytest.approx(squared, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 5, 6, 9])
def test_top_k_accuracy_is_the_peers(labelled, k):
    truth, answer, probabilities, classes = labelled
    ours = metrics.top_k_accuracy(truth, probabilities, classes, k)
    if k >= len(classes):
        assert ours == 1.0
    else:
        expected = peer.top_k_accuracy_score(truth, probabilities, k=k, labels=classes)
        assert ours == pytest.approx(expected)
    if k == 1:
        assert ours == metrics.accuracy(truth, answer)


def test_of_equal_probabilities_the_first_class_counts():
    half = [[0.5, 0.5], [0.5, 0.5]]
    assert metrics.top_k_accuracy([0, 1], half, [0, 1], k=1) == 0.5


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_top_k_are_the_first_k_of_a_stable_order(k):
    p = np.random.default_rng(0).multinomial(4, [0.25] * 4, size=40) / 4  # ties in every row
    truth = np.random.default_rng(1).integers(0, 4, 40)
    first = np.argsort(-p, axis=1, kind="stable")[:, :k]
    expected = np.mean([label in row for label, row in zip(truth, first, strict=True)])
    assert metrics.top_k_accuracy(truth, p, range(4), k=k) == pytest.approx(expected)


def test_columns_follow_the_order_of_the_classes():
    assert metrics.log_loss(["b"], [[1.0, 0.0]], classes=["b", "a"]) == 0.0


def test_a_label_that_the_model_never_saw_is_an_error_and_is_listed():
    truth, classes = ["cat", "emu", "emu"], ["cat", "dog"]
    p = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    assert metrics.unseen(truth, classes) == {"emu": 2}
    assert metrics.accuracy(truth, ["cat", "cat", "dog"]) == pytest.approx(1 / 3)
    assert metrics.top_k_accuracy(truth, p, classes, k=2) == pytest.approx(1 / 3)
    assert metrics.log_loss(truth, p, classes) == pytest.approx(
        2 / 3 * -np.log(np.finfo(float).eps)
    )
    assert metrics.brier(truth, p, classes) == pytest.approx((0 + 1.5 + 2.0) / 3)


def test_a_class_that_is_never_answered_has_precision_0():
    assert metrics.precision(["a", "b"], ["a", "a"]) == 0.25


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: metrics.accuracy([], []), "truth is empty"),
        (lambda: metrics.bootstrap(lambda truth: 0.0, []), "truth is empty"),
        (lambda: metrics.accuracy([1, 2], [1]), "truth has 2, answer has 1"),
        (lambda: metrics.accuracy(["1"], [1]), "truth holds strings but answer numbers"),
        (lambda: metrics.accuracy([None, "a"], ["a", "a"]), "Unknown label type"),
        (lambda: metrics.f1([1], [1], "micro"), "average must be one of 'macro', 'weighted'"),
        (lambda: metrics.log_loss([0], [[0.5, 0.5]], [0, 0]), "names a label twice"),
        (lambda: metrics.log_loss([0], [[0.5, 0.2, 0.3]], [0, 1]), "shape (1, 2)"),
        (lambda: metrics.log_loss([0], [[0.5, 0.6]], [0, 1]), "row 0 has the sum 1.1"),
        (lambda: metrics.log_loss([0], [[1.5, -0.5]], [0, 1]), "least value -0.5"),
        (lambda: metrics.log_loss([0], [[np.nan, 1.0]], [0, 1]), "row 0"),
        (lambda: metrics.top_k_accuracy([0], [[1.0, 0.0]], [0, 1], k=0), "k must be at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(call, says):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert says in str(caught.value)


def test_an_array_of_another_length_cannot_be_resampled():
    def mine(truth, answer, classes):
        return 0.0

    with pytest.raises(Unsupported, match="Pass it by keyword"):
        metrics.bootstrap(mine, [0, 1, 2], [0, 1, 2], [0, 1], n=10)
