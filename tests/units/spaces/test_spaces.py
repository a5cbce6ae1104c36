"""Spaces as objects: how they are made, shown, compared, and what they refuse."""

import numpy as np
import pytest

from argmax.errors import InvalidInput, WrongType
from argmax.records import Scores
from argmax.spaces import Chain, Classes

SPACES = [Classes, Chain]


@pytest.mark.parametrize("make", SPACES)
def test_a_space_shows_and_equals_itself(make):
    assert repr(make(3)) == f"{make.__name__}(3)"
    assert make(3) == make(3)
    assert make(3) != make(4)
    assert hash(make(3)) == hash(make(3))
    assert Classes(3) != Chain(3)


@pytest.mark.parametrize("make", SPACES)
@pytest.mark.parametrize(("k", "error"), [(0, InvalidInput), (-1, InvalidInput), (2.5, WrongType)])
def test_the_number_of_labels_is_checked(make, k, error):
    with pytest.raises(error, match="k must be"):
        make(k)


@pytest.mark.parametrize("make", SPACES)
@pytest.mark.parametrize("oracle", ["argmax", "logz", "marginals"])
def test_scores_of_another_width_are_refused(make, oracle):
    with pytest.raises(InvalidInput, match=r"shape \(nodes, 3\)"):
        getattr(make(3), oracle)(Scores(np.zeros((2, 4))))


@pytest.mark.parametrize("make", SPACES)
@pytest.mark.parametrize(("k", "error"), [(0, InvalidInput), (1.0, WrongType)])
def test_top_k_asks_for_a_whole_number(make, k, error):
    with pytest.raises(error, match="k must be"):
        make(3).top_k(Scores(np.zeros((2, 3))), k)


def test_only_classes_are_curved():
    assert Classes(2).curved
    assert not Chain(2).curved
    with pytest.raises(NotImplementedError, match="Chain has no curvature"):
        Chain(2).curvature(Scores(np.zeros((1, 2))), np.ones(1), None, None)


@pytest.mark.parametrize("make", SPACES)
def test_scores_given_are_not_changed(make):
    node = np.random.default_rng(0).normal(size=(4, 3))
    scores, before = Scores(node, None, np.array([0, 1, 2, 3, 4])), node.copy()
    make(3).argmax(scores)
    make(3).marginals(scores)
    make(3).top_k(scores, 2)
    make(3).sample(scores, 2, np.random.default_rng(0))
    np.testing.assert_array_equal(node, before)


def test_an_empty_sequence_has_one_empty_answer():
    scores = Scores(np.zeros((1, 2)), None, np.array([0, 0, 1]))
    assert Chain(2).argmax(scores).value.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(Chain(2).logz(scores).value, [0.0, np.log(2)])
    assert Chain(2).top_k(scores, 2)[1][:, 0].tolist() == [0.0, -np.inf]


def test_a_long_chain_neither_over_nor_underflows():
    """CORRECTIONS (k): unscaled, 22 labels overflow after 231 positions."""
    scores = Scores(np.zeros((1000, 22)), np.zeros((1, 22, 22)), np.array([0, 1000]))
    value, p = Chain(22).marginals(scores)
    assert value.value[0] == pytest.approx(1000 * np.log(22), rel=1e-12)
    np.testing.assert_allclose(p.node, 1 / 22, rtol=1e-9)


def test_samples_repeat_with_the_same_generator():
    scores = Scores(np.zeros((4, 3)), np.zeros((1, 3, 3)), np.array([0, 3, 4]))
    for space in (Chain(3), Classes(3)):
        one, two = (space.sample(scores, 5, np.random.default_rng(1)) for _ in range(2))
        np.testing.assert_array_equal(one, two)
