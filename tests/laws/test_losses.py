"""Every loss: residuals are gradients, values are convex, weights multiply."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.losses import Log
from argmax.records import Scores, Truth
from argmax.spaces import Chain, Classes
from argmax.testing import BruteForce, check_loss, random_scores

LOSSES = [Log()]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


def evaluate(loss, space, scores, truth):
    edge = None if scores.edge is None else np.empty(scores.edge.shape)
    residual = Scores(np.empty(scores.node.shape), edge, scores.offsets)
    return loss.evaluate(space, scores, truth, residual), residual


@every_loss
@pytest.mark.parametrize("k", [1, 2, 3, 10])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_loss_on_classes(loss, k, compiled):
    check_loss(loss, Classes(k, compiled=compiled), (1,) * 6)


@every_loss
@pytest.mark.parametrize("edge", [None, "shared", "each"])
def test_a_loss_on_chains(loss, edge):
    check_loss(loss, Chain(3), (3, 1, 4), edge)


@every_loss
def test_a_loss_on_a_graph_by_enumeration(loss):
    triangle = BruteForce(2, edges=[(0, 1), (1, 2), (0, 2)])
    check_loss(loss, triangle, (3,), "shared")


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.floats(-1e3, 1e3))
def test_the_log_loss_ignores_a_shift(seed, k, shift):
    rng = np.random.default_rng(seed)
    scores, truth = random_scores(rng, k), Truth(rng.integers(0, k, 3))
    value, residual = evaluate(Log(), Classes(k), scores, truth)
    moved, same = evaluate(Log(), Classes(k), Scores(scores.node + shift), truth)
    np.testing.assert_allclose(moved, value, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(same.node, residual.node, atol=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_cross_entropy_is_the_divergence_from_a_one_hot_truth(seed, k):
    """KL(t ‖ p) = Σ t log t − Σ t log p; a one-hot t has no entropy of its own."""
    rng = np.random.default_rng(seed)
    scores, labels = random_scores(rng, k), rng.integers(0, k, 3)
    value, _ = evaluate(Log(), Classes(k), scores, Truth(labels))
    p, t = Classes(k).marginals(scores)[1].node, np.eye(k)[labels]
    divergence = np.where(t > 0, t * np.log(np.where(t > 0, t, 1.0) / p), 0.0).sum(axis=1)
    np.testing.assert_allclose(value, divergence, rtol=1e-9, atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_the_log_loss_is_minus_the_log_of_the_probability(seed):
    rng = np.random.default_rng(seed)
    scores = random_scores(rng, 2, (3, 2), "shared", forbidden=0.2)
    truth = BruteForce(2)
    labels = truth.sample(scores, 1, rng)[0]
    value, _ = evaluate(Log(), Chain(2), scores, Truth(labels))
    expected = truth.logz(scores).value - truth.score(scores, labels)
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-12)
