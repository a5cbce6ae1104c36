"""Every loss: residuals are gradients, values are convex, weights multiply."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy

from argmax import losses
from argmax.errors import Unsupported
from argmax.losses import Log
from argmax.losses.smoothed import smoothed
from argmax.records import Scores, Truth
from argmax.spaces import Chain, Classes
from argmax.testing import BruteForce, check_loss, random_scores

EVERYWHERE = [losses.get(name) for name in ("log", "softmax_margin", "hinge", "perceptron")]
FLAT = [
    losses.get(name)
    for name in (
        "weston_watkins", "squared_hinge", "squared", "ovr_log", "perceptron_sum", "pa1", "pa2",
    )
]  # fmt: skip
SMOOTHED = [smoothed(losses.get(name), 0.5) for name in ("hinge", "weston_watkins")]
every_loss = pytest.mark.parametrize("loss", EVERYWHERE + FLAT, ids=lambda loss: loss.name)
structured = pytest.mark.parametrize("loss", EVERYWHERE, ids=lambda loss: loss.name)


def evaluate(loss, space, scores, truth):
    edge = None if scores.edge is None else np.empty(scores.edge.shape)
    residual = Scores(np.empty(scores.node.shape), edge, scores.offsets)
    return loss.evaluate(space, scores, truth, residual), residual


@every_loss
@pytest.mark.parametrize("k", [1, 2, 3, 10])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_loss_on_classes(loss, k, compiled):
    check_loss(loss, Classes(k, compiled=compiled), (1,) * 6)


def test_the_laws_are_asked_of_every_loss():
    """``check_loss`` asks only for what a loss says of itself: a loss that says less would pass."""
    assert all(loss.convex for loss in EVERYWHERE + FLAT + SMOOTHED)
    assert all(loss.structured for loss in EVERYWHERE)
    assert not any(loss.structured for loss in FLAT)


@structured
@pytest.mark.parametrize("edge", [None, "shared", "each"])
def test_a_loss_on_chains(loss, edge):
    check_loss(loss, Chain(3), (3, 1, 4), edge)


@structured
def test_a_loss_on_a_graph_by_enumeration(loss):
    triangle = BruteForce(2, edges=[(0, 1), (1, 2), (0, 2)])
    check_loss(loss, triangle, (3,), "shared")


CURVED = [loss for loss in EVERYWHERE + FLAT if loss.smooth] + SMOOTHED


@pytest.mark.parametrize("loss", CURVED, ids=repr)
@pytest.mark.parametrize("k", [2, 4])
def test_second_derivatives_are_differences_of_residuals(loss, k):
    rng, h = np.random.default_rng(k), 1e-6
    space, scores, v = Classes(k), random_scores(rng, k, (1,) * 5), rng.normal(size=(5, k))
    cost = rng.uniform(0.1, 2.0, (k, k)) if loss.takes_cost else None
    truth = Truth(rng.integers(0, k, 5), rng.uniform(0.5, 2.0, 5), cost)
    ahead, behind = (
        evaluate(loss, space, Scores(scores.node + sign * h * v), truth)[1].node for sign in (1, -1)
    )
    filled, out, bends = np.empty((5, k)), np.empty((5, k)), loss.curvature
    bends.fill(space, scores, truth, filled)
    bends.product(space, filled, truth.weight, v, out)
    np.testing.assert_allclose(out, (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-6)
    every = []
    for c in range(k):
        unit = np.broadcast_to(np.eye(k)[c], (5, k))
        bends.product(space, filled, truth.weight, np.ascontiguousarray(unit), out)
        every.append(out.sum(axis=0))
    np.testing.assert_allclose(bends.summed(filled, truth.weight), np.array(every), atol=1e-12)
    largest = np.linalg.eigvalsh(np.array(every)).max()
    assert largest <= bends.bound(k) * truth.weight.sum() * (1 + 1e-9)


@pytest.mark.parametrize("loss", [loss for loss in CURVED if loss.foresees], ids=repr)
@pytest.mark.parametrize("k", [2, 4])
def test_the_dual_point_of_a_step_is_that_of_the_scores_it_leads_to(loss, k):
    """To first order in the step; without one, loss + loss* = ⟨residual, scores⟩ (Fenchel and Young)."""
    rng, h = np.random.default_rng(k), 1e-5
    space, scores, v = Classes(k), random_scores(rng, k, (1,) * 5), rng.normal(size=(5, k))
    cost = rng.uniform(0.1, 2.0, (k, k)) if loss.takes_cost else None
    truth = Truth(rng.integers(0, k, 5), rng.uniform(0.5, 2.0, 5), cost)
    found = Scores(np.empty((5, k)))
    dual = loss.dual_point(space, scores, truth, np.zeros((5, k)), found)
    values, residual = evaluate(loss, space, scores, truth)
    np.testing.assert_allclose(found.node, residual.node, atol=1e-12)
    np.testing.assert_allclose(dual.sum(axis=1) + values, (found.node * scores.node).sum(axis=1))
    loss.dual_point(space, scores, truth, h * v, found)
    ahead = evaluate(loss, space, Scores(scores.node + h * v), truth)[1].node
    np.testing.assert_allclose(found.node, ahead, rtol=0.0, atol=20 * h**2)
    assert np.abs(found.node - residual.node).max() > 1e4 * h**2


@pytest.mark.parametrize("loss", SMOOTHED, ids=lambda loss: loss.name)
@pytest.mark.parametrize("k", [2, 5])
def test_a_smoothed_hinge_lies_just_above_the_hinge(loss, k):
    rng = np.random.default_rng(k)
    scores, labels = random_scores(rng, k, (1,) * 6), rng.integers(0, k, 6)
    truth = Truth(labels, None, rng.uniform(0.1, 2.0, (k, k)) if loss.takes_cost else None)
    sharp, _ = evaluate(losses.get(loss.name), Classes(k), scores, truth)
    for tau in (1.0, 0.1, 1e-3):
        soft, residual = evaluate(smoothed(losses.get(loss.name), tau), Classes(k), scores, truth)
        most = tau * (np.log(k) if loss.name == "hinge" else (k - 1) * np.log(2))
        assert (soft >= sharp - 1e-12).all()
        assert (soft <= sharp + most + 1e-12).all()
        assert residual.node.sum(axis=1) == pytest.approx(0.0, abs=1e-12)
    # Fenchel: ⟨r, s⟩ − loss(s) ≤ loss*(r) for the hinge itself.
    cold = smoothed(losses.get(loss.name), 0.1)
    _, residual = evaluate(cold, Classes(k), scores, truth)
    bound = cold.conjugate(Classes(k), scores, truth, 1.0)
    for other in (scores.node, rng.normal(size=(6, k)), np.zeros((6, k))):
        value, _ = evaluate(losses.get(loss.name), Classes(k), Scores(other), truth)
        assert np.vdot(residual.node, other) - value.sum() <= bound + 1e-9


@pytest.mark.parametrize("edge", [None, "shared", "each"])
@pytest.mark.parametrize("scale", [0.0, 0.4, 1.0])
def test_the_conjugate_on_chains_is_that_of_the_mixture_of_all_paths(edge, scale):
    """loss*(scale · r) = Σ m log m of m = scale · P(path | x) + (1 − scale) · [path is the truth]."""
    space, rng = Chain(3), np.random.default_rng(4)
    scores, own = random_scores(rng, 3, (3,), edge), np.array([2, 0, 1])
    paths = [np.array(path) for path in itertools.product(range(3), repeat=3)]
    total = space.logz(scores).value[0]
    mixture = [
        scale * np.exp(space.score(scores, path)[0] - total) + (1 - scale) * (path == own).all()
        for path in paths
    ]
    found = Log().conjugate(space, scores, Truth(own, np.array([1.7])), scale)
    assert found == pytest.approx(1.7 * xlogy(mixture, mixture).sum())
    several = Truth(own, None, allowed=np.ones((3, 3), bool))
    with pytest.raises(Unsupported, match="no certificate with several labels"):
        Log().conjugate(space, scores, several, scale)


def test_the_hinge_is_at_least_the_cost_of_the_answer():
    """max_c (s_c + Δ_c) − s_y ≥ Δ(y, ŷ), with equality where the two scores tie."""
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(20, 4)), rng.integers(0, 4, 20)
    cost = rng.uniform(0.5, 2.0, (4, 4)) * (1 - np.eye(4))
    scores[0] = 0.0  # all tie
    value, _ = evaluate(losses.get("hinge"), Classes(4), Scores(scores), Truth(labels, None, cost))
    assert (value >= cost[labels, scores.argmax(axis=1)] - 1e-12).all()
    assert value[0] == cost[labels[0]].max()


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
