"""Sets of labels against enumeration of all subsets."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.errors import InvalidInput
from argmax.losses import Log, PseudoLikelihood
from argmax.records import Scores, Truth
from argmax.spaces import Sets

ROUTES = pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
EDGES = [
    (),
    ((0, 1),),
    ((0, 2), (1, 2), (3, 1)),
    ((4, 0), (0, 2), (3, 2)),
    ((0, 1), (1, 2), (0, 2), (3, 4), (3, 0)),
]
edge_lists = st.sampled_from(EDGES)
seeds = st.integers(0, 2**32 - 1)


def draw(seed, edges, n=3, k=5):
    rng = np.random.default_rng(seed)
    return Scores(rng.normal(size=(n, k)), rng.normal(size=(len(edges), 1, 1))), rng


def room(edges, n=3, k=5):
    return Scores(np.full((n, k), np.nan), np.full((len(edges), 1, 1), np.nan))


def listed(scores, edges):
    """All subsets (A, k) in lexicographic order, and their scores (n, A)."""
    k = scores.labels
    subsets = np.array(list(product((0, 1), repeat=k)))
    joint = np.zeros((k, k))
    for (a, b), value in zip(edges, scores.edge[:, 0, 0], strict=True):
        joint[a, b] = value
    pairs = np.einsum("ia,ab,ib->i", subsets, joint, subsets)
    return subsets, scores.node @ subsets.T + pairs


@ROUTES
@given(seeds, edge_lists)
def test_every_oracle_equals_enumeration(compiled, seed, edges):
    scores, rng = draw(seed, edges)
    space = Sets(5, edges, compiled=compiled)
    subsets, values = listed(scores, edges)
    top = values.argmax(axis=1)
    np.testing.assert_array_equal(space.argmax(scores).labels, subsets[top])
    np.testing.assert_allclose(space.argmax(scores).value, values.max(axis=1))
    logz = np.logaddexp.reduce(values, axis=1)
    np.testing.assert_allclose(space.logz(scores).value, logz)
    p, weight = np.exp(values - logz[:, None]), rng.uniform(0, 2, 3)
    for share in (None, weight):
        q = p if share is None else p * share[:, None]
        value, found = space.marginals(scores, share, room(edges))
        np.testing.assert_allclose(value.value, logz)
        np.testing.assert_allclose(found.node, q @ subsets)
        both = np.einsum("ia,as,at->st", q, subsets, subsets)
        joined = [both[a, b] for a, b in edges]
        np.testing.assert_allclose(found.edge[:, 0, 0], joined, atol=1e-12)
    labels, best = space.top_k(scores, 3)
    np.testing.assert_allclose(best.T, -np.sort(-values, axis=1)[:, :3])
    for rank in range(3):
        np.testing.assert_allclose(space.score(scores, labels[rank]), best[rank])


@given(seeds, edge_lists, st.sampled_from([Log(), PseudoLikelihood()]))
def test_residuals_are_the_slope_of_the_loss(seed, edges, loss):
    scores, rng = draw(seed, edges)
    truth = Truth(rng.integers(0, 2, (3, 5)), rng.uniform(0.1, 2, 3))
    space, out = Sets(5, edges), room(edges)
    loss.evaluate(space, scores, truth, out)
    v, h = draw(seed + 1, edges)[0], 1e-6

    def value(step):
        moved = Scores(scores.node + step * v.node, scores.edge + step * v.edge)
        return loss.evaluate(space, moved, truth, room(edges)).sum()

    slope = np.vdot(out.node, v.node) + np.vdot(out.edge, v.edge)
    np.testing.assert_allclose(slope, (value(h) - value(-h)) / (2 * h), rtol=1e-6, atol=1e-7)


@given(seeds, edge_lists)
def test_the_pseudo_likelihood_is_that_of_each_label_given_the_others(seed, edges):
    scores, rng = draw(seed, edges)
    labels, space = rng.integers(0, 2, (3, 5)), Sets(5, edges)
    expected = np.zeros(3)
    for j in range(5):
        other = labels.copy()
        other[:, j] = 1 - other[:, j]
        expected += np.logaddexp(0, space.score(scores, other) - space.score(scores, labels))
    np.testing.assert_allclose(space.pseudo(scores, labels, None, room(edges)), expected)


@pytest.mark.parametrize("J", [-np.inf, -800.0, 299.0, 800.0])
def test_pairs_beyond_all_measure_are_still_exact(J):
    edges = EDGES[2]
    scores = Scores(np.array([[1.0, -2.0, 0.5, 3.0, -np.inf]]), np.full((3, 1, 1), J))
    subsets, values = listed_with(scores, edges)
    logz = np.logaddexp.reduce(values, axis=1)
    value, found = Sets(5, edges).marginals(scores)
    np.testing.assert_allclose(value.value, logz)
    p = np.exp(values - logz[:, None])
    np.testing.assert_allclose(found.node, p @ subsets, atol=1e-12)


def listed_with(scores, edges):
    """``listed``, where scores may be infinite: a set scores what is in it, and nothing else."""
    subsets = np.array(list(product((0, 1), repeat=scores.labels)))
    values = [
        sum(scores.node[0, np.flatnonzero(y)])
        + sum(scores.edge[i, 0, 0] for i, (a, b) in enumerate(edges) if y[a] and y[b])
        for y in subsets
    ]
    return subsets, np.array([values], float)


@ROUTES
def test_draws_have_the_marginals(compiled):
    scores, rng = draw(0, EDGES[2], n=2)
    space = Sets(5, EDGES[2], compiled=compiled)
    draws = space.sample(scores, 4000, rng)
    assert draws.shape == (4000, 2, 5)
    p = space.marginals(scores)[1].node
    assert (np.abs(draws.mean(axis=0) - p) < 5 * np.sqrt(p * (1 - p) / 4000)).all()


def test_pairs_that_cannot_be_are_refused():
    with pytest.raises(InvalidInput, match="once"):
        Sets(3, [(0, 1), (1, 0)])
    with pytest.raises(InvalidInput, match="0 … 2"):
        Sets(3, [(0, 3)])
