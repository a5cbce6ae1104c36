"""Columns on unlike scales: fits of sequences, graphs and sets find the optimum whatever the units are."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from argmax import (
    GraphLabeler,
    MultiLabelClassifier,
    SequenceTagger,
    costs,
    losses,
    passes,
    surveys,
)
from argmax.checks import compressed
from argmax.engines import Threads, cut
from argmax.layouts import Full, Linked, Pairs
from argmax.objective import Objective
from argmax.passes import Problem
from argmax.records import Structures, Truth
from argmax.solvers import LBFGS, Report
from argmax.solvers.preconditioner import diagonal_of_columns
from argmax.spaces import Chain, Graph, Sets
from tests.laws.chains import Toy
from tests.laws.problems import make_rows, plain

D, K = 6, 3
UNITS = {
    "unlike": 10.0 ** np.random.default_rng(1).uniform(-6, 6, D),
    "large": np.full(D, 1e10),
}
STRENGTHS = [1e-3, 1.0, 1e3]


def drawn(lengths=(9, 1, 14, 6, 20, 11), seed=0):
    """Rows around a centre for each label, the labels, and where each example starts."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(K, size=sum(lengths))
    rows = rng.normal(size=(K, D))[labels] + 1.5 * rng.normal(size=(len(labels), D))
    return rows, labels, np.concatenate([[0], np.cumsum(lengths)])


def rings(offsets, closed):
    """Each example a path, or a ring."""
    edges = []
    for first, last in pairwise(offsets):
        edges += [(v, v + 1) for v in range(first, last - 1)]
        edges += [(first, last - 1)] if closed and last - first > 2 else []
    return np.array(edges)


def make(kind, units, C, weight=None, features=False):
    """F of a tagger, a labeler or sets; all products in float64."""
    rows, labels, offsets = drawn()
    rows = rows * units
    edges = None
    if kind in ("log", "softmax_margin"):
        rows, space = compressed(sp.csr_array(rows)), Chain(K)
        layout = Pairs.observed(rows, labels, K, every=True, start=True, states=K, precise=True)
        structures, loss = Structures(rows, offsets), losses.get(kind)
    elif kind == "sets":
        labels = (labels[:, None] != np.arange(K)).astype(int)
        space, loss = Sets(K, [(0, 1), (1, 2)]), losses.get("log")
        structures, weight = Structures(rows), None
        layout = Full(D, K, free_intercept=False, edge_kinds=2, edge_states=1, precise=True)
    else:
        loss = losses.get("pseudo" if kind == "pseudo" else "log")
        edges, space = rings(offsets, closed=kind == "pseudo"), Graph(K)
        z = np.abs(np.random.default_rng(2).normal(size=(len(edges), 2))) if features else None
        structures = Structures(rows, offsets, edges, edge_rows=z)
        layout = Linked(D, K, 2 if features else 1, potts=kind == "potts", precise=True)
    truth = Truth(labels, weight, costs.zero_one(K) if loss.takes_cost else None)
    return Objective(Problem(space, layout, loss), cut(structures, truth, layout), Threads(1), C)


def by_scipy(objective, scale):
    """min F by SciPy, in units in which all curvatures are alike."""

    def value(u):
        point = objective.at(u / scale)
        return point.value, point.gradient / scale

    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 50}
    return minimize(
        value, np.zeros(objective.size), jac=True, method="L-BFGS-B", options=options
    ).fun


KINDS = ["log", "softmax_margin", "tree", "potts", "pseudo", "sets"]


@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_found_and_proven_whatever_the_units(kind, units, C):
    objective = make(kind, UNITS[units], C)
    with objective.engine.open():
        report = Report(tol=1e-4, max_iter=1000)
        solution = LBFGS().minimise(objective, np.zeros(objective.size), report)
        sizes = np.sqrt(diagonal_of_columns(objective))
        best = by_scipy(objective, sizes)
    assert solution.status == "converged", solution.message
    assert solution.objective - solution.gap <= best * (1 + 1e-9)
    assert solution.objective <= best + 1e-4 * objective.zero


@pytest.mark.parametrize("units", UNITS)
def test_default_fits_converge_whatever_the_units(units):
    rows, labels, offsets = drawn()
    X = np.split(rows * UNITS[units], offsets[1:-1])
    y = np.split(labels, offsets[1:-1])
    paths = [(x, np.stack([np.arange(len(x) - 1), np.arange(1, len(x))], axis=1)) for x in X]
    models = [
        SequenceTagger(C=10.0).fit(X, y),
        GraphLabeler(C=10.0).fit(paths, y),
        GraphLabeler(loss="pseudo", C=10.0).fit(paths, y),
        MultiLabelClassifier(C=10.0).fit(np.vstack(X), labels[:, None] != np.arange(K)),
    ]
    assert [model.solution_.status for model in models] == ["converged"] * 4


def test_the_same_bits_for_any_number_of_threads():
    rows, labels, offsets = drawn((40,) * 300)
    X, y = np.split(rows * UNITS["unlike"], offsets[1:-1]), np.split(labels, offsets[1:-1])
    one, three = (SequenceTagger(n_threads=n).fit(X, y) for n in (1, 3))
    assert one.solution_.status == "converged"
    np.testing.assert_array_equal(one.coef_.toarray(), three.coef_.toarray())


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_squares_are_those_of_all_columns_with_weights(kind):
    rng = np.random.default_rng(0)
    rows = make_rows("float64" if kind == "dense" else "csr", rng, 9, 4)
    table = rows if kind == "dense" else plain(rows)
    offsets, edges = np.array([0, 3, 4, 9]), np.array([[0, 1], [2, 1], [4, 5], [7, 8]])
    z, weight = rng.normal(size=(4, 2)), np.array([2.0, 0.5, 3.0])
    structures = Structures(rows, offsets, edges, edge_rows=z)
    layout = Linked(4, K, 2)
    truth = Truth(np.zeros(9, int), weight)
    problem = Problem(Graph(K), layout, losses.get("pseudo"))
    shards = cut(structures, truth, layout)
    sums = Objective(problem, shards, Threads(1)).fold(surveys.squares)
    each, of_edges = np.repeat(weight, [3, 1, 5]), np.array([2.0, 2.0, 3.0, 3.0])
    assert sums["nodes"] == each.sum()
    np.testing.assert_allclose(sums["rows"], [each @ table**2, each @ (table != 0)])
    np.testing.assert_allclose(sums["edges"], [of_edges @ z**2, of_edges @ (z != 0)])


@pytest.mark.parametrize("features", [False, True])
def test_a_chain_counts_its_transitions_and_their_features(features):
    rows, lengths = np.ones((6, 1)), np.array([3, 0, 1, 2])
    offsets, weight = np.concatenate([[0], lengths.cumsum()]), np.array([1.0, 5.0, 7.0, 2.0])
    z = np.array([[2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]) if features else None
    layout = Full(1, K, free_intercept=False, edge_kinds=1)
    shards = cut(Structures(rows, offsets, edge_rows=z), Truth(np.zeros(6, int), weight), layout)
    sums = Objective(Problem(Chain(K), layout, losses.get("log")), shards, Threads(1)).fold(
        surveys.squares
    )
    assert sums["nodes"] == 3 + 7 + 4
    if features:  # two transitions of the first sequence, one of the last
        np.testing.assert_allclose(sums["edges"], [[4 + 9 + 2 * 16, 1 + 2], [1 + 1 + 2, 1 + 2]])
    else:
        assert sums["edges"].shape == (2, 0)


def test_numbers_are_spread_over_all_weights_of_a_column():
    columns, edges = np.arange(1.0, 4.0), np.array([10.0, 20.0])
    layout = Linked(3, K, 2)
    named = layout.named(layout.spread(columns, edges, 7.0))
    np.testing.assert_array_equal(named["coef"], np.tile(columns, (K, 1)))
    np.testing.assert_array_equal(named["intercept"], np.full(K, 7.0))
    np.testing.assert_array_equal(named["edge"], np.broadcast_to(edges[:, None, None], (2, K, K)))
    potts = Linked(3, K, 1, potts=True)
    assert potts.spread(columns, edges[:0], 7.0)[-1] == 7.0
    rows = compressed(sp.csr_array(np.ones((4, 3))))
    pairs = Pairs.observed(rows, np.array([0, 1, 2, 0]), K, start=True, states=K)
    named = pairs.named(pairs.spread(columns, edges[:0], 7.0))
    np.testing.assert_array_equal(named["coef"].toarray(), np.tile(columns, (K, 1)))
    np.testing.assert_array_equal(named["start"], np.full(K, 7.0))
    np.testing.assert_array_equal(named["transitions"], np.full((K, K), 7.0))


@pytest.mark.parametrize("options", [{}, {"values": True}])
def test_indicators_and_columns_of_one_scale_are_left_as_they_are(options):
    assert diagonal_of_columns(Toy("log", **options).objective) is None


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("kind", ["pseudo", "tree"])
def test_the_curvature_of_graphs_by_each_weight(kind, features):
    """Second differences: equal for nodes of the pseudo-likelihood, elsewhere of that size."""
    weight = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
    objective = make(kind, np.ones(D), 1.0, weight, features)
    layout, step = objective.problem.layout, 1e-4
    w = 0.3 * np.random.default_rng(0).normal(size=objective.size)
    with objective.engine.open():
        found = objective.fold(passes.diagonal, objective.at(w).stamp, True)["diagonal"]
        exact = np.empty(objective.size)
        for j in range(objective.size):
            ahead, behind = w.copy(), w.copy()
            ahead[j], behind[j] = w[j] + step, w[j] - step
            slopes = [objective.at(v).data_gradient[j] for v in (ahead, behind)]
            exact[j] = (slopes[0] - slopes[1]) / (2 * step)
    nodes = layout.nodes.node_size
    if kind == "pseudo":
        np.testing.assert_allclose(found[:nodes], exact[:nodes], rtol=1e-5, atol=1e-6)
    used = exact > 1e-6
    assert (found[used] > 0.1 * exact[used]).all()
    assert (found[used] < 10.0 * exact[used]).all()
    assert (found[~used] < 1e-6).all()
