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


def draw(seed, n=3, k=5):
    rng = np.random.default_rng(seed)
    return Scores(rng.normal(size=(n, k)), np.triu(rng.normal(size=(1, k, k)), 1)), rng


def listed(scores, edges):
    """All subsets (A, k) in lexicographic order, and their scores (n, A)."""
    k = scores.labels
    subsets = np.array(list(product((0, 1), repeat=k)))
    joint = np.zeros((k, k))
    for a, b in edges:
        joint[min(a, b), max(a, b)] = scores.edge[0, min(a, b), max(a, b)]
    pairs = np.einsum("ia,ab,ib->i", subsets, joint, subsets)
    return subsets, scores.node @ subsets.T + pairs


@ROUTES
@given(seeds, edge_lists)
def test_every_oracle_equals_enumeration(compiled, seed, edges):
    scores, rng = draw(seed)
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
        out = Scores(np.full((3, 5), np.nan), np.full((1, 5, 5), np.nan))
        value, found = space.marginals(scores, share, out)
        np.testing.assert_allclose(value.value, logz)
        np.testing.assert_allclose(found.node, q @ subsets)
        both = np.einsum("ia,as,at->st", q, subsets, subsets)
        mask = np.zeros((5, 5), bool)
        for a, b in edges:
            mask[min(a, b), max(a, b)] = True
        np.testing.assert_allclose(found.edge[0], np.where(mask, both, 0.0), atol=1e-12)
    labels, best = space.top_k(scores, 3)
    np.testing.assert_allclose(best.T, -np.sort(-values, axis=1)[:, :3])
    for rank in range(3):
        np.testing.assert_allclose(space.score(scores, labels[rank]), best[rank])


@given(seeds, edge_lists, st.sampled_from([Log(), PseudoLikelihood()]))
def test_residuals_are_the_slope_of_the_loss(seed, edges, loss):
    scores, rng = draw(seed)
    truth = Truth(rng.integers(0, 2, (3, 5)), rng.uniform(0.1, 2, 3))
    space, out = Sets(5, edges), Scores(np.empty((3, 5)), np.empty((1, 5, 5)))
    loss.evaluate(space, scores, truth, out)
    v, h = draw(seed + 1)[0], 1e-6

    def value(step):
        moved = Scores(scores.node + step * v.node, scores.edge + step * v.edge)
        unused = Scores(np.empty((3, 5)), np.empty((1, 5, 5)))
        return loss.evaluate(space, moved, truth, unused).sum()

    slope = np.vdot(out.node, v.node) + np.vdot(out.edge, v.edge)
    np.testing.assert_allclose(slope, (value(h) - value(-h)) / (2 * h), rtol=1e-6, atol=1e-7)


@given(seeds, edge_lists)
def test_the_pseudo_likelihood_is_that_of_each_label_given_the_others(seed, edges):
    scores, rng = draw(seed)
    labels, space = rng.integers(0, 2, (3, 5)), Sets(5, edges)
    expected = np.zeros(3)
    for j in range(5):
        other = labels.copy()
        other[:, j] = 1 - other[:, j]
        expected += np.logaddexp(0, space.score(scores, other) - space.score(scores, labels))
    out = Scores(np.empty((3, 5)), np.empty((1, 5, 5)))
    np.testing.assert_allclose(space.pseudo(scores, labels, None, out), expected)


@ROUTES
def test_draws_have_the_marginals(compiled):
    scores, rng = draw(0, n=2)
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
