"""GraphLabeler: its objective, its certificates, its answers, and what it refuses."""

import pickle
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from argmax import GraphLabeler
from argmax.errors import InvalidInput, NotConverged, Unsupported, WrongType
from argmax.features import grid_graph, superpixel_graph

EDGES = np.array([[0, 1], [1, 2], [2, 0], [2, 3]])


def toy(seed=0, n=5, edge_features=2):
    """Graphs with a triangle and a tail, whose neighbours like to agree."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = np.where(rng.random(4) < 0.7, rng.integers(3), rng.integers(0, 3, 4))
        rows = np.eye(3)[labels] + rng.normal(size=(4, 3))
        graph = rows, EDGES, rng.normal(size=(4, edge_features))
        X.append(graph if edge_features else graph[:2])
        y.append(labels)
    y[0] = np.arange(4) % 3
    return X, y


def listed(model, graph):
    """All labellings of a graph (A, N) and their scores (A,), from the public attributes alone."""
    rows, edges, *rest = graph
    labels = np.array(list(product(range(len(model.classes_)), repeat=len(rows))))
    node = rows @ model.coef_.T + model.intercept_
    z = rest[0] if rest else np.ones((len(edges), 1))
    tables = np.einsum("ej,jab->eab", z, model.edge_coef_)
    scores = node[np.arange(len(rows)), labels].sum(axis=1)
    for e, (a, b) in enumerate(edges):
        scores += tables[e, labels[:, a], labels[:, b]]
    return labels, scores


@pytest.mark.parametrize("edge_features", [0, 2])
@pytest.mark.parametrize("edges", ["full", "potts"])
def test_answers_are_those_of_the_distribution_over_all_labellings(edges, edge_features):
    X, y = toy(edge_features=edge_features)
    model = GraphLabeler(edges=edges).fit(X, y)
    assert model.exact_
    for i, graph in enumerate(X):
        labels, scores = listed(model, graph)
        p = np.exp(scores - np.logaddexp.reduce(scores))
        np.testing.assert_array_equal(model.predict([graph])[0], labels[scores.argmax()])
        nodes = np.stack([((labels == c) * p[:, None]).sum(axis=0) for c in range(3)], axis=1)
        np.testing.assert_allclose(model.predict_marginals([graph])[0], nodes)
        own = (labels == y[i]).all(axis=1).argmax()
        np.testing.assert_allclose(model.log_likelihood([graph], [y[i]]), np.log(p[own]))
    assert (model.certificate(X) == 0).all()
    if edges == "potts":
        np.testing.assert_array_equal(model.edge_coef_[0], model.edge_coef_[0, 0, 0] * np.eye(3))


def value(w, model, X, y, loss, C):
    """F(w), labelling by labelling."""
    trial = clone(model)
    d, e = model.coef_.shape[1], len(model.edge_coef_)
    coef, b, V = np.split(w, [3 * d, 3 * d + 3])
    trial.classes_, trial.coef_, trial.intercept_ = model.classes_, coef.reshape(3, d), b
    trial.edge_coef_ = V.reshape(e, 3, 3)
    total = 0.5 * w @ w
    for graph, truth in zip(X, y, strict=True):
        labels, scores = listed(trial, graph)
        own = scores[(labels == truth).all(axis=1).argmax()]
        if loss == "log":
            total += C * (np.logaddexp.reduce(scores) - own)
        elif loss == "hinge":
            total += C * ((scores + (labels != truth).sum(axis=1)).max() - own)
        else:
            for v in range(len(truth)):
                same = np.delete(labels == truth, v, axis=1).all(axis=1)
                total += C * (np.logaddexp.reduce(scores[same]) - own)
    return total


@pytest.mark.parametrize("loss", ["log", "pseudo"])
def test_the_weights_minimise_the_objective(loss):
    X, y = toy(n=4, edge_features=1)
    model = GraphLabeler(loss=loss, C=0.7, tol=1e-9).fit(X, y)
    w = np.concatenate([model.coef_.ravel(), model.intercept_, model.edge_coef_.ravel()])
    found = value(w, model, X, y, loss, 0.7)
    assert model.solution_.objective == pytest.approx(found, rel=1e-9)
    best = minimize(value, w, args=(model, X, y, loss, 0.7), options={"maxiter": 20}).fun
    assert found - best <= 1e-6


def test_the_hinge_has_a_true_certificate():
    X, y = toy(n=4, edge_features=1)
    model = GraphLabeler(loss="hinge", C=0.5, tol=1e-2, max_iter=3000).fit(X, y)
    w = np.concatenate([model.coef_.ravel(), model.intercept_, model.edge_coef_.ravel()])
    found = value(w, model, X, y, "hinge", 0.5)
    assert model.solution_.objective == pytest.approx(found, rel=1e-9)
    assert model.solution_.status == "converged"
    rng = np.random.default_rng(0)
    for scale in (0.3, 0.1, 0.03, 0.01, 0.001):
        for _ in range(20):
            other = value(w + scale * rng.normal(size=w.shape), model, X, y, "hinge", 0.5)
            assert other >= found - model.solution_.gap - 1e-9


def test_an_inexact_argmax_stays_certified():
    """A graph never eliminated: the doubt of the bound is in the gap."""
    X, y = toy(n=4, edge_features=1)
    exact = GraphLabeler(loss="hinge", C=0.5, tol=1e-2, max_iter=5000).fit(X, y).solution_
    with pytest.warns(NotConverged):
        wide = (
            GraphLabeler(loss="hinge", C=0.5, tol=1e-5, max_iter=10, table_limit=0, sweeps=20)
            .fit(X, y)
            .solution_
        )
    assert wide.objective - wide.gap <= exact.objective + 1e-9


def test_bethes_approximation_claims_no_proof():
    X, y = toy()
    model = GraphLabeler(C=0.1, table_limit=0).fit(X, y)
    assert not model.exact_
    assert model.solution_.gap == np.inf
    assert "nothing is proved" in model.solution_.message


def test_without_edges_it_is_softmax_regression():
    X, y = toy(n=20)
    apart = [(rows, np.empty((0, 2), int)) for rows, _, _ in X]
    model = GraphLabeler(fit_intercept=False, tol=1e-10).fit(apart, y)
    rows, labels = np.vstack([graph[0] for graph in X]), np.concatenate(y)
    peer = LogisticRegression(fit_intercept=False, tol=1e-10, max_iter=5000).fit(rows, labels)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)


@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_neighbours_help_to_see_through_noise(loss):
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 0, 0, 1, 1, 1], 6).reshape(6, 6)
    images = [truth + rng.normal(scale=0.7, size=truth.shape) for _ in range(9)]
    X, y = [grid_graph(image) for image in images], [truth.ravel()] * 9
    model = GraphLabeler(loss=loss, tol=0.02, edges="potts").fit(X[:5], y[:5])
    apart = [(rows, np.empty((0, 2), int), np.empty((0, 2))) for rows, _, _ in X]
    alone = GraphLabeler(loss=loss, tol=0.02, edges="potts").fit(apart[:5], y[:5])
    assert model.score(X[5:], y[5:]) > alone.score(apart[5:], y[5:])


def test_the_perceptron_ends_without_mistakes_where_it_can():
    X, y = toy(n=6)
    apart = [
        (3.0 * np.eye(3)[labels], edges, z) for (_, edges, z), labels in zip(X, y, strict=True)
    ]
    model = GraphLabeler(loss="perceptron", max_iter=200).fit(apart, y)
    assert model.solution_.status == "no mistakes"
    assert model.score(apart, y) == 1.0
    with pytest.raises(Unsupported, match="no probabilities"):
        model.predict_marginals(apart)
    one = GraphLabeler(loss="perceptron", max_iter=1, random_state=0).fit(apart, y)
    assert one.solution_.status in {"epochs done", "no mistakes"}


def test_weights_of_graphs_are_repetitions():
    X, y = toy(n=3)
    twice = GraphLabeler(tol=1e-8).fit([*X, X[0]], [*y, y[0]])
    heavy = GraphLabeler(tol=1e-8).fit(X, y, sample_weight=[2, 1, 1])
    np.testing.assert_allclose(twice.coef_, heavy.coef_, atol=1e-4)


def test_it_clones_pickles_and_warm_starts():
    X, y = toy()
    model = GraphLabeler(warm_start=True).fit(X, [np.array(list("abc"))[labels] for labels in y])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        np.concatenate(model.predict(X)), np.concatenate(again.predict(X))
    )
    assert again.predict(X)[0].dtype.kind == "U"
    assert model.fit(X, [np.array(list("abc"))[labels] for labels in y]).n_iter_ <= 2


def test_class_weights_belong_to_the_hinge():
    X, y = toy()
    with pytest.raises(Unsupported, match="class_weight"):
        GraphLabeler(class_weight="balanced").fit(X, y)
    heavy = GraphLabeler(loss="hinge", C=0.5, class_weight={0: 9.0}, tol=0.05).fit(X, y)
    labels = np.concatenate(y)
    at_zero = heavy.solution_.gap / heavy.solution_.relative_gap  # where every label is wrong
    assert at_zero == pytest.approx(0.5 * (len(labels) + 8 * np.sum(labels == 0)))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda X, y: (np.zeros((3, 2)), y), WrongType, "list of graphs"),
        (lambda X, y: ([], []), InvalidInput, "at least one graph"),
        (lambda X, y: ([X[0][0]], y[:1]), WrongType, "graph 0 must be"),
        (lambda X, y: ([X[0], X[1][:2]], y[:2]), InvalidInput, "either all"),
        (lambda X, y: (X, [*y[:-1], y[-1][:2]]), InvalidInput, "graph 4 has 4 nodes"),
        (lambda X, y: (X, None), InvalidInput, "target y is None"),
        (lambda X, y: ([(np.full((4, 3), np.nan), EDGES)], y[:1]), InvalidInput, "NaN"),
        (lambda X, y: ([(X[0][0], EDGES + 3)], y[:1]), InvalidInput, "0 … 3"),
        (lambda X, y: ([X[0], (X[1][0][:, :2], EDGES, X[1][2])], y[:2]), InvalidInput, "2 node"),
        (lambda X, y: (X, [np.zeros(4, int)] * 5), InvalidInput, "one class"),
    ],
)
def test_what_is_no_graph_is_refused(change, error, words):
    with pytest.raises(error, match=words):
        GraphLabeler().fit(*change(*toy()))


def test_graphs_unlike_those_of_the_fit_are_refused():
    X, y = toy()
    model = GraphLabeler().fit(X, y)
    with pytest.raises(InvalidInput, match="2 edge features"):
        model.predict([X[0][:2]])
    with pytest.raises(InvalidInput, match="did not see"):
        model.log_likelihood(X[:1], [[0, 1, 2, 7]])
    with pytest.raises(Unsupported, match="no probabilities"):
        GraphLabeler(loss="hinge", tol=0.1).fit(X, y).predict_marginals(X)
    with pytest.raises(InvalidInput, match="loss must be one of"):
        GraphLabeler(loss="squared").fit(X, y)


def test_a_grid_has_its_directions():
    image = np.arange(6.0).reshape(2, 3)
    rows, edges, features = grid_graph(image, diagonal=True, contrast=True)
    assert rows.shape == (6, 1)
    assert len(edges) == 4 + 3 + 2 + 2
    steps = {(1, 0): 0, (3, 0): 1, (4, 0): 2, (2, 0): 3}
    for (a, b), z in zip(edges, features, strict=True):
        assert z[: len(steps)].argmax() == steps[b - a, 0]
        assert z[-1] == pytest.approx(np.exp(-((b - a) ** 2.0)))
    with pytest.raises(InvalidInput, match="image"):
        grid_graph(np.zeros(3))


def test_superpixels_that_are_pixels_make_the_grid():
    image = np.random.default_rng(0).random((4, 5, 3))
    nodes, edges, _ = superpixel_graph(image, np.arange(20).reshape(4, 5))
    pixels, beside, _ = grid_graph(image)
    assert nodes[:, :3] == pytest.approx(pixels)
    assert not nodes[:, 3:6].any()
    assert sorted(map(tuple, edges.tolist())) == sorted(map(tuple, beside.tolist()))


def test_superpixels_are_counted_as_a_loop_counts_them():
    rng = np.random.default_rng(1)
    image = rng.random((9, 7, 2))
    parts = np.unique(rng.integers(0, 6, (9, 7)), return_inverse=True)[1].reshape(9, 7)
    nodes, edges, borders = superpixel_graph(image, parts)
    side = np.sqrt(63 / (parts.max() + 1))
    for v, found in enumerate(nodes):
        down, across = np.nonzero(parts == v)
        own = image[down, across]
        place = [(down.mean() + 0.5) / 9, (across.mean() + 0.5) / 7, len(own) / 63]
        assert found == pytest.approx([*own.mean(axis=0), *own.std(axis=0), *place])
    for (a, b), (one, near, length, _) in zip(edges.tolist(), borders, strict=True):
        pairs = [(parts[i, j], parts[i, j + 1]) for i in range(9) for j in range(6)]
        pairs += [(parts[i, j], parts[i + 1, j]) for i in range(8) for j in range(7)]
        assert one == 1.0
        assert length * side == pytest.approx(sum({p, q} == {a, b} for p, q in pairs))
        assert near == pytest.approx(np.exp(-((nodes[a, :2] - nodes[b, :2]) ** 2).sum()))


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([[0, 1]], "2 × 2 pixels"),
        ([[0.0, 1.0], [0.0, 1.0]], "whole number"),
        ([[0, 2], [0, 2]], "2 numbers from 0 to 2"),
        ([[-1, 0], [0, 0]], "from -1 to 0"),
    ],
)
def test_parts_that_are_no_partition_are_refused(parts, says):
    with pytest.raises(InvalidInput, match=says):
        superpixel_graph(np.zeros((2, 2)), parts)
