"""Fault 21: graphs with odd shapes, and messages that do not settle."""

import itertools

import numpy as np

from argmax.errors import NoLegalLabelling
from argmax.records import Scores
from argmax.spaces import Graph
from tests.faults.cases import refuses
from tests.faults.harness import alone

EQUAL = np.array([[[1.0, 0.0], [0.0, 1.0]]])
NODE = np.array([[0.0, 1.0], [1.0, 0.0], [0.3, 0.0]])


def scores(edges, node=NODE, edge=EQUAL):
    return Scores(node, edge, np.array([0, len(node)]), edges=np.array(edges, int).reshape(-1, 2))


def log_sum(edges):
    """log Z, labelling by labelling."""
    totals = [
        sum(NODE[v, c] for v, c in enumerate(labels))
        + sum(labels[a] == labels[b] for a, b in edges)
        for labels in itertools.product(range(2), repeat=len(NODE))
    ]
    return np.log(np.exp(totals).sum())


@alone
def test_21_isolated_nodes_double_edges_and_no_edges_at_all_are_answered_exactly():
    for edges in ([(0, 1)], [(0, 1), (0, 1)], [(0, 1), (1, 0), (1, 2)], []):
        value, marginals = Graph(2).marginals(scores(edges))
        assert value.exact
        np.testing.assert_allclose(value.value, [log_sum(edges)], rtol=1e-12)
        np.testing.assert_allclose(marginals.node.sum(axis=1), 1.0)


@alone
def test_21_an_edge_from_a_node_to_itself_or_to_nowhere_is_refused_by_name():
    refuses(Graph(2).argmax, scores([(0, 1), (2, 2)]), says=("edge 1", "(2, 2)", "itself"))
    refuses(Graph(2).logz, scores([(0, 3)]), says=("edges must name nodes 0 … 2",))


@alone
def test_21_factors_that_forbid_everything_are_a_named_error():
    nowhere = np.where(np.arange(3)[:, None] == 1, -np.inf, NODE)
    never = np.full((1, 2, 2), -np.inf)
    for given in (scores([(0, 1)], node=nowhere), scores([(0, 1)], edge=never)):
        for oracle in (Graph(2).argmax, Graph(2).logz, Graph(2).marginals):
            refuses(oracle, given, says=("no legal labelling",), error=NoLegalLabelling)


@alone
def test_21_messages_that_do_not_settle_say_so_and_stay_probabilities():
    rng, n = np.random.default_rng(0), 20
    across = [(i * n + j, i * n + j + 1) for i in range(n) for j in range(n - 1)]
    down = [(i * n + j, i * n + n + j) for i in range(n - 1) for j in range(n)]
    edges = np.array(across + down)
    pull = rng.choice([-3.0, 3.0], len(edges))  # neighbours that cannot all have their way
    tables = pull[:, None, None] * np.eye(2)
    given = Scores(rng.standard_normal((n * n, 2)), tables, np.array([0, n * n]), edges=edges)
    value, marginals = Graph(2, sweeps=20, table_limit=64).marginals(given)
    assert not value.exact
    assert not value.converged
    assert value.residual > 1e-3
    assert np.isfinite(value.value).all()
    assert (marginals.node >= 0).all()
    np.testing.assert_allclose(marginals.node.sum(axis=1), 1.0)
