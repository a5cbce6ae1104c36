"""Margins of known weights, their counts, and the refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from argmax import margins
from argmax.errors import InvalidInput

X = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.2, 0.1]])
W = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
Y = np.array([0, 1, 2, 1])


@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, sp.csc_array], ids=["dense", "csr", "csc"]
)
def test_margins_by_class(form):
    found = margins.of(form(X), Y, W, np.array([0.0, 0.5, 0.0]))
    scores = X @ W.T + [0.0, 0.5, 0.0]
    for i, label in enumerate(Y):
        for c in range(3):
            expected = np.inf if c == label else scores[i, label] - scores[i, c]
            assert found.by_class[i, c] == pytest.approx(expected)
    assert found.radius == 2.0
    assert found.norm == pytest.approx(np.sqrt(3))
    assert found.offset == 0.5


def test_support_violators_and_wrong_ones_are_nested():
    found = margins.of(X, Y, W)
    assert found.smallest == pytest.approx([2.0, 1.0, 1.0, -0.1])
    assert found.support.tolist() == [1, 2, 3]
    assert found.violators.tolist() == found.wrong.tolist() == [3]
    assert not found.separable
    assert found.mistake_bound == np.inf


def test_two_classes_have_one_weight_vector():
    found = margins.of(X[:2], ["no", "yes"], np.array([[-3.0, 4.0]]), classes=["no", "yes"])
    assert found.smallest == pytest.approx([6.0, 4.0])
    assert found.gamma == pytest.approx(4.0 / 5.0)
    assert found.mistake_bound == pytest.approx((2.0 / 0.8) ** 2)
    assert found.programme == margins.Programme(variables=4, margins=2, constraints=4)


def test_the_intercept_is_the_weight_of_a_column_of_ones():
    plain = margins.of(
        np.hstack([X[:3], np.ones((3, 1))]), Y[:3], np.hstack([W, [[0.1], [0], [0.2]]])
    )
    split = margins.of(X[:3], Y[:3], W, [0.1, 0.0, 0.2])
    assert split.smallest == pytest.approx(plain.smallest)
    assert split.mistake_bound == pytest.approx(plain.mistake_bound)


def test_the_notes_counts_with_the_signs_of_the_slacks():
    found = margins.programme(n=150, d=4, k=3)
    assert found.variables == 3 * 4 + 3 + 150
    assert found.margins == 150 * 2
    assert found.constraints == 150 * 3


def test_violators_pay_what_the_svm_s_objective_says():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 3))
    b = (A @ rng.normal(size=(3, 4)) + rng.gumbel(size=(80, 4))).argmax(axis=1)
    model = LinearSVC(multi_class="crammer_singer", fit_intercept=False, tol=1e-9, max_iter=10**6)
    found = margins.of(A, b, model.fit(A, b).coef_)
    slack = np.maximum(0.0, 1.0 - found.smallest)
    assert set(np.flatnonzero(slack > 1e-5)) <= set(found.violators) <= set(found.support)
    counts, edges = found.histogram(bins=7)
    assert counts.sum() == 80
    assert edges[0] == pytest.approx(found.smallest.min())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((X, Y, W[:, :1]), "X must be"),
        ((X, Y[:2], W), "y must have a label for each of the 4 rows"),
        ((X, Y, W, [1.0]), "intercept must have the 3 rows"),
        ((X, Y + 1, W), "the label 3, which is none of"),
        ((X, Y, W, None, ["a", "b"]), "classes a name for each of the 3"),
    ],
)
def test_what_does_not_fit_is_one_sentence(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        margins.of(*arguments)


def test_a_bound_with_an_intercept_needs_its_column():
    with pytest.raises(InvalidInput, match="needs a constant column"):
        margins.mistake_bound(1.0, 0.5, offset=1.0)
