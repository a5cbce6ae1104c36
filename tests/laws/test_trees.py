"""Trees against enumeration and against chains."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.errors import InvalidInput, NoLegalLabelling, Unsupported
from argmax.records import Scores
from argmax.spaces import Chain, Classes, Tree
from argmax.testing import BruteForce, check_space, random_scores
from argmax.testing.scores import EDGES

TREES = {
    "tree": lambda k: Tree(k, compiled=False),
    "tree compiled": lambda k: Tree(k, compiled=True),
}
trees = pytest.mark.parametrize("make", TREES.values(), ids=TREES)
seeds = st.integers(0, 2**32 - 1)


def random_forest(rng, lengths, joined=0.8):
    """Edges of random forests, in random order and direction."""
    edges, first = [], 0
    for length in lengths:
        names = first + rng.permutation(length)
        for i in range(1, length):
            if rng.random() < joined:
                pair = [names[i], names[rng.integers(i)]]
                edges.append(pair if rng.random() < 0.5 else pair[::-1])
        first += length
    rng.shuffle(edges)
    return np.array(edges, np.intp).reshape(-1, 2)


def draw(seed, k, lengths, edge, **options):
    rng = np.random.default_rng(seed)
    edges = random_forest(rng, lengths)
    scores = random_scores(rng, k, lengths, edge, n_edges=len(edges), **options)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return replace(scores, edges=edges, offsets=offsets), BruteForce(k, edges)


@trees
@pytest.mark.parametrize("seed", range(3))
def test_every_oracle_equals_enumeration(make, seed):
    lengths = [(4, 1, 3), (5,), (2, 0, 4)][seed]
    check_space(make, lengths, edges=random_forest(np.random.default_rng(seed), lengths))


@trees
def test_one_node_is_classes(make):
    check_space(make, sizes=(1, 2, 5))
    scores = random_scores(np.random.default_rng(0), 4)
    np.testing.assert_array_equal(make(4).argmax(scores).labels, Classes(4).argmax(scores).labels)
    np.testing.assert_allclose(
        make(4).marginals(scores)[1].node, Classes(4).marginals(scores)[1].node, rtol=1e-14
    )


@trees
@given(seeds, st.integers(1, 3), st.lists(st.integers(0, 5), min_size=1, max_size=3),
       st.sampled_from(EDGES))  # fmt: skip
def test_of_equals_the_first_in_lexicographic_order_wins(make, seed, k, lengths, edge):
    scores, truth = draw(seed, k, lengths, edge, whole=True)
    np.testing.assert_array_equal(make(k).argmax(scores).labels, truth.argmax(scores).labels)


@trees
@given(seeds, st.integers(1, 3), st.lists(st.integers(1, 5), min_size=1, max_size=3),
       st.sampled_from(EDGES), st.floats(0, 0.6))  # fmt: skip
def test_sums_equal_enumeration_with_forbidden_labels(make, seed, k, lengths, edge, forbidden):
    scores, truth = draw(seed, k, lengths, edge, forbidden=forbidden)
    value, found = make(k).marginals(scores)
    np.testing.assert_allclose(value.value, truth.logz(scores).value, rtol=1e-12, atol=1e-12)
    expected = truth.marginals(scores)[1]
    np.testing.assert_allclose(found.node, expected.node, atol=1e-12)
    if edge is not None:
        np.testing.assert_allclose(found.edge, expected.edge, atol=1e-12)


@trees
@given(seeds, st.integers(1, 4), st.lists(st.integers(1, 9), min_size=1, max_size=3))
def test_a_path_is_a_chain(make, seed, k, lengths):
    scores = random_scores(np.random.default_rng(seed), k, lengths, "shared", forbidden=0.1)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    inner = np.setdiff1d(np.arange(1, offsets[-1]), offsets)
    path = replace(scores, offsets=offsets, edges=np.stack([inner - 1, inner], axis=1))
    chain, tree = Chain(k), make(k)
    scores = replace(scores, offsets=offsets)
    np.testing.assert_array_equal(tree.argmax(path).labels, chain.argmax(scores).labels)
    np.testing.assert_allclose(tree.logz(path).value, chain.logz(scores).value, rtol=1e-12)
    found, expected = tree.marginals(path)[1], chain.marginals(scores)[1]
    np.testing.assert_allclose(found.node, expected.node, atol=1e-12)
    np.testing.assert_allclose(found.edge, expected.edge, atol=1e-12)
    np.testing.assert_allclose(tree.top_k(path, 5)[1], chain.top_k(scores, 5)[1], rtol=1e-12)


@trees
def test_kinds_of_edges_share_tables(make):
    rng = np.random.default_rng(3)
    scores = random_scores(rng, 3, (5,), "each", n_edges=2)
    edges, kind = np.array([[0, 1], [2, 1], [3, 1], [4, 3]]), np.array([1, 0, 1, 1])
    of_kind = replace(scores, edges=edges, edge_kind=kind)
    apart = replace(scores, edge=scores.edge[kind], edges=edges)
    truth = BruteForce(3, edges).marginals(apart)
    value, found = make(3).marginals(of_kind)
    np.testing.assert_allclose(value.value, truth[0].value)
    np.testing.assert_allclose(found.node, truth[1].node)
    summed = np.stack([truth[1].edge[kind == 0].sum(axis=0), truth[1].edge[kind == 1].sum(axis=0)])
    np.testing.assert_allclose(found.edge, summed)


@trees
def test_scores_far_apart_neither_overflow_nor_vanish(make):
    """All but the legal pair is 2000 worse, and the nodes would rather have it otherwise."""
    node = np.array([[900.0, 0.0], [0.0, 900.0], [-3000.0, 0.0]])
    table = np.array([[[0.0, -2000.0], [-2000.0, 0.0]]])
    scores = Scores(node, table, np.array([0, 3]), np.array([[1, 0], [1, 2]]))
    truth, found = BruteForce(2, [(1, 0), (1, 2)]), make(2)
    np.testing.assert_allclose(found.logz(scores).value, truth.logz(scores).value)
    np.testing.assert_allclose(
        found.marginals(scores)[1].node, truth.marginals(scores)[1].node, atol=1e-12
    )


def test_both_routes_agree_on_a_large_tree():
    rng = np.random.default_rng(0)
    lengths = (400, 300)
    edges = random_forest(rng, lengths, joined=1.0)
    scores = replace(random_scores(rng, 4, lengths, "each", n_edges=len(edges)), edges=edges)
    plain, fast = Tree(4, compiled=False), Tree(4, compiled=True)
    np.testing.assert_array_equal(plain.argmax(scores).labels, fast.argmax(scores).labels)
    np.testing.assert_allclose(plain.marginals(scores)[1].node, fast.marginals(scores)[1].node)
    draws = [space.sample(scores, 3, np.random.default_rng(1)) for space in (plain, fast)]
    np.testing.assert_array_equal(*draws)


@pytest.mark.parametrize(
    ("edges", "error", "words"),
    [
        ([[0, 1], [1, 2], [2, 0]], Unsupported, "spaces.Graph"),
        ([[0, 1], [1, 0]], Unsupported, "spaces.Graph"),
        ([[0, 0]], InvalidInput, "with itself"),
        ([[0, 3]], InvalidInput, "two examples"),
        ([[0, 9]], InvalidInput, "0 … 3"),
        ([[0.0, 1.0]], InvalidInput, "whole numbers"),
    ],
)
def test_edges_that_make_no_tree_are_refused(edges, error, words):
    scores = Scores(np.zeros((4, 2)), None, np.array([0, 3, 4]), np.array(edges))
    with pytest.raises(error, match=words):
        Tree(2).argmax(scores)


def test_tables_that_join_nothing_are_refused():
    scores = Scores(np.zeros((3, 2)), np.zeros((1, 2, 2)), np.array([0, 3]))
    with pytest.raises(InvalidInput, match="join nothing"):
        Tree(2).argmax(scores)


@trees
def test_no_answer_is_an_error_that_says_where(make):
    node = np.zeros((4, 2))
    node[3] = -np.inf
    scores = Scores(node, None, np.array([0, 2, 4]), np.array([[0, 1], [2, 3]]))
    for oracle in (make(2).argmax, make(2).logz, make(2).marginals):
        with pytest.raises(NoLegalLabelling, match=r"example 1 .* at node 1"):
            oracle(scores)
