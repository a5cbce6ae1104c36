"""The search over a frontier: the best labelling where it ends, a true bound where it does not."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from argmax.errors import NoLegalLabelling
from argmax.records import Scores
from argmax.spaces import Graph
from argmax.spaces.elimination import Elimination, steps
from argmax.spaces.frontier import least
from argmax.spaces.messages import Relaxation, Settings
from argmax.spaces.pairwise import Pairwise
from argmax.testing import BruteForce, random_scores

seeds = st.integers(0, 2**32 - 1)
sweeps = st.integers(1, 6)
forbidden = st.floats(0, 0.3)
DIFFER = np.array([[[-np.inf, 0.0], [0.0, -np.inf]]])


@st.composite
def problems(draw):
    """Scores of a random graph with parallel edges, single nodes and components, and its twin."""
    rng, k = np.random.default_rng(draw(seeds)), draw(st.integers(2, 4))
    nodes = draw(st.integers(2, 6 if k < 4 else 5))
    edges = rng.integers(0, nodes, (draw(st.integers(1, 9)), 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    assume(len(edges))
    scores = random_scores(
        rng, k, (nodes,), "each", n_edges=len(edges), forbidden=draw(forbidden), whole=draw(st.booleans())
    )  # fmt: skip
    return replace(scores, edges=edges), BruteForce(k, edges.tolist())


def relaxed(scores, count):
    pair = Pairwise.of(scores, scores.node.shape[1])
    relaxation = Relaxation(pair, Settings(count, 0.0, 1e-12))
    relaxation.sweep(0, count)
    return pair, relaxation


@given(problems(), sweeps, seeds)
def test_what_is_lost_is_the_bound_less_the_score(problem, count, seed):
    pair, relaxation = relaxed(problem[0], count)
    losses, rng = relaxation.losses(0), np.random.default_rng(seed)
    labels = rng.integers(0, pair.k, len(pair.node))
    (u, v), edges = losses.edges.T, np.arange(len(losses.edges))
    each = losses.node[np.arange(len(labels)), labels], losses.edge(edges, labels[u], labels[v])
    assert min(one.min() for one in each) >= -1e-9
    score = pair.score(labels)[0]
    assume(np.isfinite(score))
    np.testing.assert_allclose(relaxation.bound(0) - sum(map(np.sum, each)), score, atol=1e-9)


@given(problems(), sweeps)
def test_the_search_ends_at_the_best_labels(problem, count):
    scores, truth = problem
    exact = truth.argmax(scores).value[0]
    assume(np.isfinite(exact))
    pair, relaxation = relaxed(scores, count)
    labels, lost = least(relaxation.losses(0), relaxation.gap(0) + 1e-6, 2**14)
    np.testing.assert_allclose(pair.score(labels)[0], exact)
    np.testing.assert_allclose(relaxation.bound(0) - lost, exact, atol=1e-8)


@given(problems(), sweeps, st.integers(1, 40))
def test_without_room_for_all_states_the_bound_is_a_bound(problem, count, limit):
    scores, truth = problem
    exact = truth.argmax(scores).value[0]
    assume(np.isfinite(exact))
    pair, relaxation = relaxed(scores, count)
    labels, lost = least(relaxation.losses(0), relaxation.gap(0) + 1e-6, limit)
    assert labels is None or np.isclose(pair.score(labels)[0], exact)
    assert relaxation.bound(0) - lost >= exact - 1e-8


@given(problems(), st.integers(0, 300))
def test_any_room_gives_a_value_and_a_bound_around_the_best(problem, limit):
    scores, truth = problem
    exact = truth.argmax(scores).value[0]
    try:
        found = Graph(scores.node.shape[1], sweeps=30, table_limit=limit).argmax(scores)
    except NoLegalLabelling:
        return  # there is none, or none was found: the sentence says which
    assert found.value[0] - 1e-9 <= exact <= found.bound[0] + 1e-9
    np.testing.assert_allclose(truth.score(scores, found.labels), found.value)


def squares(rows, columns):
    at = np.arange(rows * columns).reshape(rows, columns)
    pairs = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    return np.vstack([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])


@pytest.mark.parametrize(("rows", "columns", "k"), [(1, 40, 5), (6, 6, 4), (5, 8, 4), (9, 9, 2)])
def test_grids_too_wide_for_elimination_equal_a_large_one(rows, columns, k):
    """With tables that neither attract nor repel, where messages alone prove little."""
    edges = squares(rows, columns)
    rng = np.random.default_rng(rows)
    node, tables = rng.normal(size=(rows * columns, k)), rng.normal(size=(len(edges), k, k))
    scores = Scores(node, tables, np.array([0, len(node)]), edges)
    found, pair = Graph(k, table_limit=2**12).argmax(scores), Pairwise.of(scores, k)
    order = steps(edges.tobytes(), len(node), k, 2**22)
    exact = Elimination(pair, order, maximum=True)
    assert found.bound[0] == found.value[0]
    np.testing.assert_allclose(found.value[0], exact.value)
    np.testing.assert_array_equal(found.labels, exact.labels())


def test_a_search_without_room_leaves_it_to_elimination():
    """14,000 numbers are few enough for tables, but the first search may have no more than 880 states."""
    edges, k = squares(5, 6), 4
    rng = np.random.default_rng(0)
    scores = Scores(
        np.zeros((30, k)), 3.0 * rng.normal(size=(len(edges), k, k)), np.array([0, 30]), edges
    )
    order = steps(edges.tobytes(), 30, k, 2**22)
    exact = Elimination(Pairwise.of(scores, k), order, maximum=True)
    for limit in (2**14, 2**15, 2**16):
        found = Graph(k, table_limit=limit).argmax(scores)
        assert found.bound[0] == found.value[0]
        np.testing.assert_allclose(found.value[0], exact.value)


def test_a_frontier_that_no_key_holds_is_left_alone():
    """All 20 nodes of a complete graph with 16 labels wait for the last: 80 bits."""
    edges = np.stack(np.triu_indices(20, 1), axis=1)
    rng = np.random.default_rng(0)
    scores = Scores(
        rng.normal(size=(20, 16)), rng.normal(size=(190, 16, 16)), np.array([0, 20]), edges
    )
    _, relaxation = relaxed(scores, 2)
    labels, lost = least(relaxation.losses(0), relaxation.gap(0), 2**14)
    assert labels is None
    assert lost >= 0.0


def test_a_search_proves_that_nothing_is_legal():
    triangle = np.array([[0, 1], [1, 2], [0, 2]])
    scores = Scores(np.zeros((3, 2)), DIFFER, np.array([0, 3]), triangle)
    with pytest.raises(NoLegalLabelling, match="no labels of its nodes are allowed together"):
        Graph(2, table_limit=13).argmax(scores)


def test_examples_of_one_block_do_not_mix():
    rng, one = np.random.default_rng(3), squares(4, 4)
    edges = np.vstack([one, one + 16, one + 32])
    scores = Scores(
        rng.normal(size=(48, 3)), rng.normal(size=(len(edges), 3, 3)), np.array([0, 16, 32, 48]), edges
    )  # fmt: skip
    found, exact = Graph(3, table_limit=400).argmax(scores), Graph(3).argmax(scores)
    np.testing.assert_array_equal(found.bound, found.value)
    np.testing.assert_array_equal(found.labels, exact.labels)
