"""Graphs with cycles: exact ones against enumeration, wide ones against their own promises."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from argmax.errors import NoLegalLabelling, Unsupported
from argmax.losses import Log, PseudoLikelihood
from argmax.records import Scores, Truth
from argmax.spaces import Classes, Graph, Tree
from argmax.spaces.cuts import expanded, minimum_cut
from argmax.spaces.elimination import Elimination, steps
from argmax.spaces.pairwise import Pairwise
from argmax.testing import BruteForce, check_space, random_scores
from argmax.testing.scores import like, moved

TRIANGLE = [(0, 1), (1, 2), (2, 0)]
RING = [(0, 1), (2, 1), (2, 3), (3, 4), (4, 0)]
LADDER = [(0, 1), (2, 3), (4, 5), (0, 2), (2, 4), (1, 3), (5, 3)]
GRAPHS = {"triangle": (TRIANGLE, 3), "ring": (RING, 5), "ladder": (LADDER, 6)}
seeds = st.integers(0, 2**32 - 1)
graphs = st.sampled_from(sorted(GRAPHS))


def wide(k, **options):
    """A space that never eliminates."""
    return Graph(k, table_limit=0, **options)


def draw(seed, k, name, edge="each", scale=1.0, **options):
    edges, nodes = GRAPHS[name]
    rng = np.random.default_rng(seed)
    scores = random_scores(rng, k, (nodes,), edge, n_edges=len(edges), **options)
    tables = None if scores.edge is None else scale * scores.edge
    return replace(scores, edge=tables, edges=np.array(edges)), BruteForce(k, edges)


def grid(rows, columns, first=0):
    at = first + np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
    down = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    return np.vstack([across, down])


def eliminated(scores):
    """The maximum by elimination, whatever it takes."""
    pair = Pairwise.of(scores, scores.node.shape[1])
    order = steps(pair.edges.tobytes(), len(pair.node), pair.k, 2**22)
    return Elimination(pair, order, maximum=True)


@pytest.mark.parametrize("name", GRAPHS)
def test_narrow_graphs_equal_enumeration(name):
    edges, nodes = GRAPHS[name]
    check_space(Graph, (nodes,), edges=edges, sizes=(2, 3) if nodes < 6 else (2,))


def test_examples_of_all_sorts_equal_enumeration():
    """A triangle, a tree, nothing, a single node, a ring."""
    shift = [(a + 7, b + 7) for a, b in RING]
    edges = [*TRIANGLE, (3, 4), (5, 4), *shift]
    check_space(Graph, (3, 3, 0, 1, 5), edges=edges, sizes=(2,))


def test_without_edges_it_is_classes_and_on_trees_a_tree():
    check_space(Graph, sizes=(1, 2, 4))
    scores = random_scores(np.random.default_rng(0), 4)
    np.testing.assert_array_equal(Graph(4).argmax(scores).labels, Classes(4).argmax(scores).labels)
    star = np.array([[3, 0], [3, 1], [3, 2]])
    scores = replace(random_scores(np.random.default_rng(1), 3, (4,), "shared"), edges=star)
    np.testing.assert_allclose(
        wide(3).marginals(scores)[1].node, Tree(3).marginals(scores)[1].node, rtol=1e-13
    )
    assert wide(3).logz(scores).exact


@given(seeds, st.integers(2, 3), graphs, st.floats(0, 0.4))
def test_the_bound_is_one_and_the_value_is_that_of_the_labels(seed, k, name, forbidden):
    scores, truth = draw(seed, k, name, forbidden=forbidden)
    best = truth.argmax(scores).value[0]
    try:
        found = wide(k).argmax(scores)
    except NoLegalLabelling:
        return  # none was found; that is all it says
    assert found.value[0] <= best + 1e-9
    assert found.bound[0] >= best - 1e-9
    np.testing.assert_allclose(truth.score(scores, found.labels), found.value)
    if found.bound[0] == found.value[0]:
        np.testing.assert_allclose(found.value[0], best)


@given(seeds, st.integers(2, 3), graphs, st.floats(0, 0.4))
def test_beliefs_are_finite_and_normalised(seed, k, name, forbidden):
    scores, _ = draw(seed, k, name, forbidden=forbidden)
    value, p = wide(k, sweeps=20).marginals(scores)
    assert np.isfinite(value.value).all()
    assert not value.exact
    np.testing.assert_allclose(p.node.sum(axis=1), 1.0)
    np.testing.assert_allclose(p.edge.sum(axis=(1, 2)), 1.0)
    assert value.converged == (value.residual <= 1e-6)


@given(seeds, st.integers(2, 3), graphs)
def test_beliefs_at_rest_satisfy_bethes_equations(seed, k, name):
    """Pairs have the beliefs of their nodes for marginals, and log Z the beliefs for its slope."""
    scores, _ = draw(seed, k, name, scale=0.3)
    space = wide(k, tol=1e-12, sweeps=2000)
    value, p = space.marginals(scores)
    assert value.converged
    for e, (a, b) in enumerate(scores.edges):
        np.testing.assert_allclose(p.edge[e].sum(axis=1), p.node[a], atol=1e-9)
        np.testing.assert_allclose(p.edge[e].sum(axis=0), p.node[b], atol=1e-9)
    v, h = draw(seed + 1, k, name)[0], 1e-5
    rise = space.logz(moved(scores, v, h)).value - space.logz(moved(scores, v, -h)).value
    slope = np.vdot(p.node, v.node) + np.vdot(p.edge, v.edge)
    np.testing.assert_allclose(slope, rise[0] / (2 * h), rtol=1e-5, atol=1e-6)


def glass(strength, seed):
    """A grid whose edges like to agree or to differ, at random."""
    rng, edges = np.random.default_rng(seed), grid(10, 10)
    pull = strength * rng.normal(size=len(edges))
    tables = 0.5 * pull[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return Scores(0.5 * rng.normal(size=(100, 2)), tables, np.array([0, 100]), edges)


def rests_when_flooded(scores, sweeps=200, tol=1e-6):
    """Whether messages that are all sent at once come to rest."""
    left, right = scores.edges.T
    message = np.zeros((2, len(left), scores.node.shape[1]))
    for _ in range(sweeps):
        belief = scores.node.copy()
        np.add.at(belief, left, message[0])
        np.add.at(belief, right, message[1])
        u, v = belief[left] - message[0], belief[right] - message[1]
        new = np.stack([np.logaddexp.reduce(v[:, None] + scores.edge, axis=2),
                        np.logaddexp.reduce(u[:, :, None] + scores.edge, axis=1)])  # fmt: skip
        new -= new.max(axis=2, keepdims=True)
        if np.abs(new - message).max() <= tol:
            return True
        message = new
    return False


def test_the_order_of_residuals_rests_where_others_do_not():
    glasses = [glass(2.0, seed) for seed in range(10)]
    flooded = sum(rests_when_flooded(scores) for scores in glasses)
    swept = sum(wide(2, schedule="sweeps").logz(scores).converged for scores in glasses)
    residual = sum(wide(2, schedule="residual").logz(scores).converged for scores in glasses)
    auto = sum(wide(2).logz(scores).converged for scores in glasses)
    assert flooded < swept < residual
    assert auto >= residual


@given(seeds, st.sampled_from([2, 3, 5, 9, 18]), graphs, st.sampled_from([0.0, 0.3]))
def test_all_schedules_come_to_one_rest(seed, k, name, damping):
    """In probabilities or in logarithms: the latter where a table, here one of no edge, spans too much."""
    scores, _ = draw(seed, k, name, scale=0.3)
    options = {"damping": damping, "tol": 1e-10, "sweeps": 1000}
    found = [
        wide(k, schedule=s, **options).marginals(scores) for s in ("auto", "sweeps", "residual")
    ]
    shared = Scores(scores.node, np.concatenate([scores.edge, np.full((1, k, k), -np.inf)]),
                    scores.offsets, scores.edges, np.arange(len(scores.edge)))  # fmt: skip
    value, p = wide(k, **options).marginals(shared)
    for other, q in found:
        assert other.converged
        np.testing.assert_allclose(other.value, value.value, atol=1e-7)
        np.testing.assert_allclose(q.node, p.node, atol=1e-7)
        np.testing.assert_allclose(q.edge, p.edge[:-1], atol=1e-7)


def test_an_example_that_never_rests_takes_no_time_from_another():
    restless, easy = glass(5.0, 3), glass(0.5, 4)
    both = Scores(
        np.concatenate([restless.node, easy.node]),
        np.concatenate([restless.edge, easy.edge]),
        np.array([0, 100, 200]),
        np.concatenate([restless.edges, easy.edges + 100]),
    )
    space = wide(2, schedule="residual", tol=1e-9)
    assert not space.logz(both).converged
    np.testing.assert_allclose(
        space.marginals(both)[1].node[100:], space.marginals(easy)[1].node, atol=1e-8
    )


@given(seeds, graphs)
def test_weak_edges_give_nearly_exact_beliefs(seed, name):
    scores, truth = draw(seed, 2, name, scale=0.05)
    value, p = wide(2).marginals(scores)
    np.testing.assert_allclose(value.value, truth.logz(scores).value, atol=1e-3)
    np.testing.assert_allclose(p.node, truth.marginals(scores)[1].node, atol=1e-3)


@given(seeds, st.integers(2, 3), graphs, st.sampled_from(["shared", "each"]),
       st.sampled_from([Log(), PseudoLikelihood()]))  # fmt: skip
def test_residuals_are_the_slope_of_the_loss(seed, k, name, edge, loss):
    scores, _ = draw(seed, k, name, edge)
    labels = np.random.default_rng(seed).integers(0, k, len(scores.node))
    truth, out, h = Truth(labels, np.array([1.7])), like(scores), 1e-5
    loss.evaluate(Graph(k), scores, truth, out)
    v = draw(seed + 1, k, name, edge)[0]
    ahead, behind = (
        loss.evaluate(Graph(k), moved(scores, v, step), truth, like(scores))[0] for step in (h, -h)
    )
    slope = np.vdot(out.node, v.node) + np.vdot(out.edge, v.edge)
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-6)


@given(seeds, graphs)
def test_the_pseudo_likelihood_is_that_of_each_label_given_the_others(seed, name):
    scores, truth = draw(seed, 3, name)
    labels = np.random.default_rng(seed).integers(0, 3, len(scores.node))
    expected = 0.0
    for v in range(len(labels)):
        values = []
        for c in range(3):
            other = labels.copy()
            other[v] = c
            values.append(truth.score(scores, other)[0])
        expected += np.logaddexp.reduce(values) - values[labels[v]]
    np.testing.assert_allclose(Graph(3).pseudo(scores, labels, None, like(scores)), [expected])


def test_a_gibbs_chain_has_the_marginals_in_the_long_run():
    scores, truth = draw(3, 2, "ladder", scale=0.5)
    draws = wide(2, sweeps=50).sample(scores, 4000, np.random.default_rng(0))
    p = truth.marginals(scores)[1].node[:, 1]
    np.testing.assert_allclose(draws.mean(axis=0), p, atol=0.05)


@given(seeds, graphs, st.booleans())
def test_a_cut_finds_the_best_of_two_attractive_labels(seed, name, whole):
    scores, truth = draw(seed, 2, name, whole=whole)
    e = scores.edge
    pull = e[:, 0, 0] + e[:, 1, 1] - e[:, 0, 1] - e[:, 1, 0]
    e[:, 0, 0] += np.maximum(-pull, 0.0)
    found, best = wide(2).argmax(scores), truth.argmax(scores)
    np.testing.assert_allclose(found.value, best.value)
    np.testing.assert_array_equal(found.bound, found.value)
    np.testing.assert_array_equal(found.labels, best.labels)


@given(seeds, st.integers(2, 60), st.floats(0.2, 4.0))
def test_a_minimum_cut_costs_the_maximum_flow(seed, nodes, density):
    """And has as few nodes behind it as any: those from which SciPy's flow leaves a way to the sink."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, nodes, (1 + int(density * nodes), 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    ahead, back = rng.integers(0, 10, (2, len(edges)))
    c = rng.integers(-20, 21, nodes)
    y = minimum_cut(c.astype(float), edges, ahead.astype(float), back.astype(float))
    given, taken, source, sink = np.flatnonzero(c > 0), np.flatnonzero(c < 0), nodes, nodes + 1
    tails = np.concatenate([edges[:, 0], edges[:, 1], np.full(len(given), source), taken])
    heads = np.concatenate([edges[:, 1], edges[:, 0], given, np.full(len(taken), sink)])
    room = np.concatenate([ahead, back, c[given], -c[taken]])
    network = sp.coo_array((room, (tails, heads)), shape=(nodes + 2, nodes + 2)).tocsr()
    network = network.astype(np.int32)
    flow = maximum_flow(network, source, sink)
    u, v = y[edges].T
    cost = c @ y + ahead @ ((1 - u) * v) + back @ (u * (1 - v))
    assert cost == flow.flow_value + c[taken].sum()
    left = (network - flow.flow) > 0
    behind = breadth_first_order(left.T.tocsr(), sink, return_predecessors=False)
    np.testing.assert_array_equal(np.flatnonzero(y), np.sort(behind[behind < nodes]))


def test_a_cut_equals_elimination_on_a_grid():
    rng = np.random.default_rng(0)
    tables = 0.7 * np.eye(2)[None]
    scores = Scores(rng.normal(size=(144, 2)), tables, np.array([0, 144]), grid(12, 12))
    found = wide(2).argmax(scores)
    np.testing.assert_array_equal(found.labels, eliminated(scores).labels())
    assert found.bound[0] == found.value[0]


@given(seeds, st.integers(3, 4))
def test_expansion_moves_never_make_it_worse(seed, k):
    rng = np.random.default_rng(seed)
    tables = rng.uniform(0.2, 1.5) * np.eye(k)[None]
    scores = Scores(rng.normal(size=(12, k)), tables, np.array([0, 12]), grid(3, 4))
    pair = Pairwise.of(scores, k)
    start = rng.integers(0, k, 12)
    found = expanded(pair, start)
    best = eliminated(scores).value
    assert pair.score(start)[0] <= pair.score(found)[0] <= best + 1e-9
    assert pair.score(found)[0] >= best - 0.5 * abs(best)
    np.testing.assert_array_equal(expanded(pair, found), found)


def test_a_large_grid_is_answered():
    rng = np.random.default_rng(0)
    edges = grid(60, 60)
    scores = Scores(rng.normal(size=(3600, 3)), 0.3 * np.eye(3)[None], np.array([0, 3600]), edges)
    value, p = Graph(3).marginals(scores)
    assert value.converged
    assert not value.exact
    np.testing.assert_allclose(p.node.sum(axis=1), 1.0)
    answer = Graph(3).argmax(scores)
    assert answer.value[0] <= answer.bound[0] <= 1.01 * answer.value[0]


def test_the_best_few_of_a_wide_graph_are_refused():
    scores, _ = draw(0, 2, "triangle", whole=True)
    frustrated = replace(scores, node=np.zeros((3, 2)), edge=np.array([[[0.0, 1.0], [1.0, 0.0]]]))
    with pytest.raises(Unsupported, match="too wide"):
        wide(2).top_k(frustrated, 2)
