"""Losses by name, and what they refuse."""

import numpy as np
import pytest

from argmax import losses
from argmax.errors import InvalidInput, Unsupported
from argmax.records import Scores, Truth
from argmax.spaces import Classes


def test_a_loss_by_name_or_itself():
    log = losses.get("log")
    assert log.name == "log"
    assert losses.get(log) is log


@pytest.mark.parametrize("name", ["hinges", "", None, 3])
def test_an_unknown_loss_lists_the_known_ones(name):
    with pytest.raises(InvalidInput, match=r"loss must be one of \['hinge', 'log'"):
        losses.get(name)


def test_log_declares_what_it_is():
    log = losses.get("log")
    assert (log.smooth, log.convex, log.takes_cost) == (True, True, False)
    assert (log.free_intercept, log.probabilities) == (True, True)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_a_tie_is_a_mistake_of_the_perceptron_sum(k):
    """Without weights all classes tie, and the truth moves away from each of the others."""
    scores, residual = Scores(np.zeros((k, k))), Scores(np.empty((k, k)))
    values = losses.get("perceptron_sum").evaluate(
        Classes(k), scores, Truth(np.arange(k)), residual
    )
    assert np.array_equal(values, np.zeros(k))
    assert np.array_equal(residual.node, np.ones((k, k)) - k * np.eye(k))


def test_log_refuses_a_cost_it_would_ignore():
    losses.get("log").check(Truth(np.zeros(2, int)))
    with pytest.raises(Unsupported, match="has no cost"):
        losses.get("log").check(Truth(np.zeros(2, int), None, np.eye(2)))
