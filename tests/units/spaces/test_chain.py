"""Chains of order 1 and 2 against listed paths; and what is asked of chains alone."""

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.errors import InvalidInput, NoLegalLabelling, NumericalFailure
from argmax.records import Scores
from argmax.spaces import Chain
from argmax.testing import random_scores
from argmax.testing.scores import EDGES

ROUTES = {"numpy": False, "compiled": True}
routes = pytest.mark.parametrize("fast", ROUTES.values(), ids=ROUTES)
orders = pytest.mark.parametrize("order", [1, 2])
kinds = pytest.mark.parametrize("edge", EDGES, ids=str)
LENGTHS = (3, 1, 4, 0, 2)


@dataclass
class Listed:
    """Every path of one sequence, its score, and the places of its transitions in the tables."""

    nodes: slice
    labels: np.ndarray  # (A, L)
    values: np.ndarray  # (A,)
    places: list  # A lists of (table, state, label)

    @property
    def p(self):
        weights = np.exp(self.values - self.values.max())
        return weights / weights.sum()


def states(k, order):
    return k if order == 1 else (k + 1) * k


def listed(scores, k, order):
    """By the definition: row a·k + b of a table of order 2 is b behind a; a = k before the second label."""
    edges = 0
    for start, stop in pairwise(scores.offsets.tolist()):
        length, values, places = stop - start, [], []
        labels = list(product(range(k), repeat=length))
        for y in labels:
            before = [
                y[t] if order == 1 else (y[t - 1] if t else k) * k + y[t] for t in range(length)
            ]
            shared = scores.edge is not None and len(scores.edge) == 1
            where = [(0 if shared else edges + t, before[t], y[t + 1]) for t in range(length - 1)]
            value = sum(scores.node[start + t, y[t]] for t in range(length))
            if scores.edge is not None:
                value += sum(scores.edge[place] for place in where)
            values.append(value)
            places.append(where)
        edges += max(length - 1, 0)
        table = np.array(labels, int).reshape(len(labels), length)
        yield Listed(slice(start, stop), table, np.array(values, float), places)


def draw(seed, k, order, edge, *, lengths=LENGTHS, forbidden=0.0, whole=False):
    """Random scores whose tables have the states of the order; label 0 is always legal."""
    rng = np.random.default_rng(seed)
    scores = random_scores(rng, k, lengths, None, forbidden=0.0, whole=whole)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    if edge is None:
        return Scores(scores.node, None, offsets)
    tables = 1 if edge == "shared" else sum(max(length - 1, 0) for length in lengths)
    shape = (tables, states(k, order), k)
    values = rng.integers(-1, 2, shape).astype(float) if whole else 2 * rng.normal(size=shape)
    banned = rng.random(shape) < forbidden
    banned[:, :, 0] = False
    return Scores(scores.node, np.where(banned, -np.inf, values), offsets)


def like(scores):
    edge = None if scores.edge is None else np.full(scores.edge.shape, np.nan)
    return Scores(np.full(scores.node.shape, np.nan), edge, scores.offsets)


def moved(scores, along, step):
    edge = None if scores.edge is None else scores.edge + step * along.edge
    return Scores(scores.node + step * along.node, edge, scores.offsets)


# Against listed paths


@routes
@orders
@kinds
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("whole", [False, True])
def test_maxima(fast, order, edge, k, whole):
    scores = draw(k, k, order, edge, forbidden=0.3, whole=whole)
    chain = Chain(k, order, compiled=fast)
    answer, (labels, values) = chain.argmax(scores), chain.top_k(scores, 5)
    for i, paths in enumerate(listed(scores, k, order)):
        best = np.argsort(-paths.values, kind="stable")[:5]
        best = best[np.isfinite(paths.values[best])]
        assert answer.value[i] == pytest.approx(paths.values[best[0]])
        np.testing.assert_array_equal(answer.labels[paths.nodes], paths.labels[best[0]])
        np.testing.assert_allclose(values[: len(best), i], paths.values[best])
        assert np.isneginf(values[len(best) :, i]).all()
        np.testing.assert_array_equal(labels[: len(best), paths.nodes], paths.labels[best])
        assert (labels[len(best) :, paths.nodes] == -1).all()


@routes
@orders
@kinds
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_sums(fast, order, edge, k, forbidden):
    scores = draw(k, k, order, edge, forbidden=forbidden)
    chain, weight = Chain(k, order, compiled=fast), np.linspace(0.0, 2.0, len(LENGTHS))
    value, found = chain.marginals(scores, weight)
    node = np.zeros(scores.node.shape)
    pairs = None if edge is None else np.zeros(scores.edge.shape)
    entropy = chain.entropy(scores)
    for i, paths in enumerate(listed(scores, k, order)):
        p = paths.p
        total = np.log(np.exp(paths.values).sum())
        assert value.value[i] == pytest.approx(total, abs=1e-12)
        assert chain.logz(scores).value[i] == pytest.approx(total, abs=1e-12)
        assert entropy[i] == pytest.approx(-(p[p > 0] * np.log(p[p > 0])).sum(), abs=1e-12)
        for y, where, share in zip(paths.labels, paths.places, weight[i] * p, strict=True):
            node[np.arange(paths.nodes.start, paths.nodes.stop), y] += share
            for place in where if pairs is not None else ():
                pairs[place] += share
    np.testing.assert_allclose(found.node, node, atol=1e-12)
    if pairs is not None:
        np.testing.assert_allclose(found.edge, pairs, atol=1e-12)
        assert (found.edge[np.isneginf(scores.edge)] == 0.0).all()


@routes
@orders
@kinds
def test_score_and_parts_of_given_labels(fast, order, edge):
    k, rng = 3, np.random.default_rng(0)
    scores, chain = draw(0, k, order, edge), Chain(k, order, compiled=fast)
    labels, weight = rng.integers(0, k, len(scores.node)), rng.uniform(0, 2, len(LENGTHS))
    values, residual = chain.score(scores, labels), like(scores)
    loss = chain.nll(scores, labels, weight, residual)
    total, expected = chain.marginals(scores, weight)
    for i, paths in enumerate(listed(scores, k, order)):
        row = int((paths.labels == labels[paths.nodes]).all(axis=1).argmax())
        assert values[i] == pytest.approx(paths.values[row], abs=1e-12)
        nodes = np.arange(paths.nodes.start, paths.nodes.stop)
        expected.node[nodes, labels[paths.nodes]] -= weight[i]
        for place in paths.places[row] if edge else ():
            expected.edge[place] -= weight[i]
    np.testing.assert_allclose(loss, weight * (total.value - values), atol=1e-12)
    np.testing.assert_allclose(residual.node, expected.node, atol=1e-12)
    if edge:
        np.testing.assert_allclose(residual.edge, expected.edge, atol=1e-12)


@routes
@orders
@kinds
@pytest.mark.parametrize("k", [2, 3])
def test_hvp_is_the_change_of_the_marginals(fast, order, edge, k):
    scores, rng = draw(k, k, order, edge, forbidden=0.3), np.random.default_rng(1)
    along = Scores(
        rng.normal(size=scores.node.shape),
        None if edge is None else rng.normal(size=scores.edge.shape),
        scores.offsets,
    )
    chain, out, h = Chain(k, order, compiled=fast), like(scores), 1e-5
    weight = np.linspace(0.0, 2.0, len(LENGTHS))
    value = chain.hvp(scores, weight, along, out)
    np.testing.assert_allclose(value.value, chain.logz(scores).value, atol=1e-12)
    ahead = chain.marginals(moved(scores, along, h), weight)[1]
    behind = chain.marginals(moved(scores, along, -h), weight)[1]
    np.testing.assert_allclose(out.node, (ahead.node - behind.node) / (2 * h), atol=1e-8)
    if edge:
        np.testing.assert_allclose(out.edge, (ahead.edge - behind.edge) / (2 * h), atol=1e-8)


@routes
@orders
@kinds
def test_spans_have_the_probability_of_all_paths_through_them(fast, order, edge):
    k, chain = 2, Chain(2, order, compiled=fast)
    scores = draw(4, k, order, edge, forbidden=0.2)
    labels = np.random.default_rng(0).integers(0, k, len(scores.node))
    spans = np.array([[0, 2], [1, 3], [0, 3], [3, 4], [4, 8], [5, 6], [8, 10]])
    found = chain.spans(scores, labels, spans)
    paths = list(listed(scores, k, order))
    for (start, stop), p in zip(spans, found, strict=True):
        own = next(each for each in paths if each.nodes.start <= start < each.nodes.stop)
        inside = slice(start - own.nodes.start, stop - own.nodes.start)
        through = (own.labels[:, inside] == labels[start:stop]).all(axis=1)
        assert p == pytest.approx(own.p[through].sum(), abs=1e-12)


@routes
@orders
@kinds
@pytest.mark.parametrize("forbidden", [0.0, 0.5])
def test_posterior_decoding_has_the_least_expected_hamming_loss(fast, order, edge, forbidden):
    k, chain = 3, Chain(3, order, compiled=fast)
    scores = draw(2, k, order, edge, forbidden=forbidden)
    answer = chain.posterior(scores)
    for i, paths in enumerate(listed(scores, k, order)):
        right = (paths.labels[:, None, :] == paths.labels[None, :, :]).sum(axis=2) @ paths.p
        right[np.isneginf(paths.values)] = -1.0  # not an answer
        assert answer.value[i] == pytest.approx(right.max(), abs=1e-12)
        mine = (paths.labels == answer.labels[paths.nodes]).all(axis=1)
        assert right[mine] == pytest.approx(right.max(), abs=1e-12)


@routes
@orders
def test_samples_follow_the_paths(fast, order):
    scores = draw(3, 2, order, "each", lengths=(4,), forbidden=0.2)
    draws = Chain(2, order, compiled=fast).sample(scores, 4000, np.random.default_rng(1))
    (paths,) = listed(scores, 2, order)
    counts = np.array([(draws == y).all(axis=1).sum() for y in paths.labels])
    assert (counts[paths.p == 0.0] == 0).all()
    often, n = paths.p > 0.0, 4000
    chi_square = ((counts[often] - n * paths.p[often]) ** 2 / (n * paths.p[often])).sum()
    assert chi_square < 50.0  # at most 15 degrees of freedom: exceeded once in 100 000


@pytest.mark.parametrize("order", [1, 2])
def test_both_routes_draw_the_same_samples(order):
    scores = draw(8, 3, order, "shared", lengths=(5, 2, 7), forbidden=0.2)
    one, two = (
        Chain(3, order, compiled=fast).sample(scores, 50, np.random.default_rng(0))
        for fast in (False, True)
    )
    np.testing.assert_array_equal(one, two)


# Laws between chains


@routes
@pytest.mark.parametrize("edge", ["shared", "each"])
def test_a_table_of_order_1_repeated_is_the_same_chain(fast, edge):
    k, scores = 3, draw(5, 3, 1, edge, forbidden=0.2)
    wide = Scores(scores.node, np.tile(scores.edge, (1, k + 1, 1)), scores.offsets)
    one, two = Chain(k, 1, compiled=fast), Chain(k, 2, compiled=fast)
    np.testing.assert_array_equal(one.argmax(scores).labels, two.argmax(wide).labels)
    np.testing.assert_allclose(one.logz(scores).value, two.logz(wide).value, rtol=1e-12)
    p, q = one.marginals(scores)[1], two.marginals(wide)[1]
    np.testing.assert_allclose(p.node, q.node, atol=1e-12)
    folded = q.edge.reshape(len(q.edge), k + 1, k, k).sum(axis=1)
    np.testing.assert_allclose(p.edge, folded, atol=1e-12)


@pytest.mark.parametrize(
    ("k", "kind", "tol"),
    [(22, np.float32, 1e-4), (27, np.float64, 1e-10), (100, np.float32, 1e-4)],
    ids=["narrow", "wide", "two tiles"],
)
def test_every_width_of_vectors_equals_numpy(k, kind, tol):
    rng = np.random.default_rng(k)
    scores = random_scores(rng, k, (7, 1, 33, 2), "shared", forbidden=0.1)
    narrow = Scores(scores.node.astype(kind), scores.edge, scores.offsets)
    slow, fast = Chain(k, compiled=False), Chain(k, compiled=True)
    value, p = slow.marginals(scores)
    found, q = fast.marginals(narrow)
    assert q.node.dtype == kind
    np.testing.assert_allclose(found.value, value.value, rtol=tol)
    np.testing.assert_allclose(q.node, p.node, atol=tol)
    np.testing.assert_allclose(q.edge, p.edge, atol=10 * tol)
    one, two = slow.argmax(narrow), fast.argmax(narrow)
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_allclose(one.value, two.value, rtol=tol)
    along = Scores(rng.normal(size=scores.node.shape), rng.normal(size=scores.edge.shape))
    first, second = like(scores), like(scores)
    slow.hvp(scores, None, along, first)
    fast.hvp(narrow, None, along, second)
    np.testing.assert_allclose(second.node, first.node, atol=10 * tol)
    np.testing.assert_allclose(second.edge, first.edge, atol=100 * tol)


@pytest.mark.parametrize(
    ("k", "kind", "tol"),
    [
        (4, np.float64, 1e-10),
        (5, np.float32, 1e-4),
        (22, np.float32, 1e-4),
        (27, np.float64, 1e-10),
        (41, np.float32, 1e-4),
        (90, np.float32, 1e-4),
    ],
    ids=["even", "odd", "narrow", "wide", "wide and odd", "two tiles"],
)
def test_every_width_of_vectors_equals_numpy_in_order_2(k, kind, tol):
    rng = np.random.default_rng(k)
    scores = draw(k, k, 2, "shared", lengths=(6, 1, 2, 19, 0, 3), forbidden=0.1)
    narrow = Scores(scores.node.astype(kind), scores.edge, scores.offsets)
    weight = rng.uniform(0.0, 2.0, 6)
    slow, fast = Chain(k, 2, compiled=False), Chain(k, 2, compiled=True)
    value, p = slow.marginals(scores, weight)
    found, q = fast.marginals(narrow, weight)
    assert q.node.dtype == kind
    np.testing.assert_allclose(found.value, value.value, rtol=tol)
    np.testing.assert_allclose(q.node, p.node, atol=tol)
    np.testing.assert_allclose(q.edge, p.edge, atol=10 * tol)
    assert (q.edge[np.isneginf(scores.edge)] == 0.0).all()
    np.testing.assert_allclose(fast.logz(narrow).value, value.value, rtol=tol)
    one, two = slow.argmax(narrow), fast.argmax(narrow)
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_allclose(one.value, two.value, rtol=tol)


def test_order_2_needs_logarithms_only_where_vectors_lose_their_footing(monkeypatch):
    """The kernels in logarithms give the same answers, and are asked for none of these sequences."""
    from argmax.spaces import compiled

    k = 6
    scores = draw(1, k, 2, "shared", lengths=(40, 3, 1, 17), forbidden=0.3)
    chain = Chain(k, 2, compiled=True)
    monkeypatch.setattr(compiled, "_fast", lambda lattice: False)
    value, p, best = *chain.marginals(scores), chain.argmax(scores)
    monkeypatch.undo()
    monkeypatch.setattr(compiled, "logarithms", None)
    found, q = chain.marginals(scores)
    np.testing.assert_allclose(found.value, value.value, rtol=1e-12)
    np.testing.assert_allclose(q.node, p.node, atol=1e-12)
    np.testing.assert_allclose(q.edge, p.edge, atol=1e-12)
    np.testing.assert_array_equal(chain.argmax(scores).labels, best.labels)
    np.testing.assert_allclose(chain.argmax(scores).value, best.value, rtol=1e-12)


def test_pairs_that_never_occur_have_no_share_in_order_2():
    """After 0 comes no 1, whatever stands before: then no transition out of (0, 1) is expected, exactly."""
    k, n = 3, 4
    scores = draw(2, k, 2, "shared", lengths=(30,) * n)
    table = scores.edge.reshape(1, k + 1, k, k)
    table[:, :, 0, 1] = -np.inf
    for kind in (np.float32, np.float64):
        node = scores.node.astype(kind)
        p = Chain(k, 2, compiled=True).marginals(Scores(node, scores.edge, scores.offsets))[1]
        assert (p.edge.reshape(table.shape)[:, 0, 1] == 0.0).all()
        assert p.edge.sum() == pytest.approx(29 * n, rel=1e-5)


# Scores of any size


@orders
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 5),
    st.floats(0, 4.5),
    st.floats(0, 4),
    st.sampled_from([0.0, 0.2, 0.5]),
)
def test_huge_scores_and_forbidden_transitions(order, seed, k, nodes, edges, forbidden):
    """Where vectors lose a path that matters, they must notice."""
    lengths = tuple(np.random.default_rng(seed).integers(1, 12, 8))
    scores = draw(seed, k, order, "shared", lengths=lengths, forbidden=forbidden)
    scores = Scores(scores.node * 10.0**nodes, scores.edge * 10.0**edges, scores.offsets)
    slow, fast = Chain(k, order, compiled=False), Chain(k, order, compiled=True)
    value, p = slow.marginals(scores)
    found, q = fast.marginals(scores)
    np.testing.assert_allclose(found.value, value.value, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(q.node, p.node, atol=1e-7)
    np.testing.assert_allclose(q.edge, p.edge, atol=1e-6)
    np.testing.assert_allclose(fast.logz(scores).value, value.value, rtol=1e-9, atol=1e-9)


@routes
@orders
def test_a_path_that_starts_and_ends_badly_and_cannot_be_joined(fast, order):
    """Two labels that never change into each other: 0 + 0 + 0 against −800 + 2000 − 800."""
    apart = np.tile([[[0.0, -np.inf], [-np.inf, 0.0]]], (1, 1 if order == 1 else 3, 1))
    node = np.array([[0.0, -800.0], [0.0, 2000.0], [0.0, -800.0]])
    value, p = Chain(2, order, compiled=fast).marginals(Scores(node, apart, np.array([0, 3])))
    assert value.value[0] == pytest.approx(400.0)
    np.testing.assert_allclose(p.node, [[0, 1]] * 3, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1.0, 1e4])
@orders
def test_a_hundred_thousand_positions(kind, size, order):
    n, k, rng = 100_000, 3, np.random.default_rng(0)
    node = (size * rng.normal(size=(n, k))).astype(kind)
    edge = rng.normal(size=(1, states(k, order), k))
    edge[0, 0, 1] = -np.inf
    scores = Scores(node, edge, np.array([0, n]))
    value, p = Chain(k, order, compiled=True).marginals(scores)
    best = Chain(k, order, compiled=True).argmax(scores)
    assert best.value[0] <= value.value[0] * (1 + 1e-6)
    np.testing.assert_allclose(p.node.sum(axis=1), 1.0, rtol=1e-5 if kind == np.float32 else 1e-11)
    np.testing.assert_allclose(p.edge.sum(), n - 1, rtol=1e-6)
    np.testing.assert_allclose(Chain(k, order).score(scores, best.labels), best.value, rtol=1e-6)
    assert (p.edge[0, 0, 1], p.edge.min()) == (0.0, 0.0)


# Memory and input


@routes
def test_out_of_another_kind_is_filled_all_the_same(fast):
    scores = draw(0, 3, 1, "shared")
    wide = np.full((len(scores.node), 6), np.nan, np.float32)
    out = Scores(wide[:, ::2], np.full((2, 3, 3), np.nan, np.float32)[:1], scores.offsets)
    Chain(3, compiled=fast).marginals(scores, None, out)
    expected = Chain(3).marginals(scores)[1]
    np.testing.assert_allclose(out.node, expected.node, atol=1e-6)
    np.testing.assert_allclose(out.edge, expected.edge, atol=1e-5)
    assert np.isnan(wide[:, 1::2]).all()


@routes
def test_scores_of_any_memory_layout(fast):
    scores = draw(0, 3, 1, "shared")
    turned = Scores(np.asfortranarray(scores.node), np.asfortranarray(scores.edge), scores.offsets)
    small = Scores(turned.node, turned.edge, scores.offsets.astype(np.uint8))
    chain = Chain(3, compiled=fast)
    np.testing.assert_array_equal(chain.logz(small).value, chain.logz(scores).value)


@pytest.mark.parametrize(
    ("offsets", "match"),
    [
        ([0, 2], "from 0 to 4"),
        ([1, 4], "from 0 to 4"),
        ([], "whole numbers"),
        ([0.0, 4.0], "whole numbers"),
        ([0, 3, 2, 4], "never fall; it does after entry 1"),
    ],
)
def test_broken_offsets_are_refused(offsets, match):
    with pytest.raises(InvalidInput, match=match):
        Chain(2).argmax(Scores(np.zeros((4, 2)), None, np.array(offsets)))


@pytest.mark.parametrize("shape", [(2, 2), (1, 3, 2), (2, 2, 2), (0, 2, 2), (1, 6, 2)])
def test_tables_of_another_shape_are_refused(shape):
    with pytest.raises(
        InvalidInput, match=r"scores.edge must have shape \(1, 2, 2\), or \(3, 2, 2\)"
    ):
        Chain(2).argmax(Scores(np.zeros((4, 2)), np.zeros(shape), np.array([0, 4])))


@routes
@pytest.mark.parametrize("oracle", ["argmax", "logz", "marginals", "entropy"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["node", "edge"])
def test_scores_that_are_not_numbers_are_refused(fast, oracle, bad, where):
    node, edge = np.zeros((3, 2)), np.zeros((1, 2, 2))
    (node if where == "node" else edge[0])[1, 0] = bad
    with pytest.raises(NumericalFailure):
        getattr(Chain(2, compiled=fast), oracle)(Scores(node, edge, np.array([0, 3])))


@routes
@orders
def test_the_position_without_a_legal_label_is_named(fast, order):
    chain, node = Chain(2, order, compiled=fast), np.zeros((6, 2))
    node[4] = -np.inf
    with pytest.raises(NoLegalLabelling, match=r"example 1 .* forbidden at position 2 \(node 4\)"):
        chain.argmax(Scores(node, None, np.array([0, 2, 6])))
    edge = np.full((1, chain.states, 2), -np.inf)
    with pytest.raises(
        NoLegalLabelling, match=r"example 0 .* no transition .* position 1 \(node 1\)"
    ):
        chain.logz(Scores(np.zeros((6, 2)), edge, np.array([0, 2, 6])))


@pytest.mark.parametrize(
    ("labels", "spans", "match"),
    [
        ([0, 0, 0], [[0, 1]], "4 whole numbers"),
        ([0, 0, 0, 2], [[0, 1]], r"0 … 1; got 0 … 2"),
        ([0, 0, 0, -1], [[0, 1]], r"0 … 1; got -1 … 0"),
        ([0, 0, 0, 0], [0, 1], r"\(m, 2\)"),
        ([0, 0, 0, 0], [[0, 1], [1, 3]], "span 1 is 1 … 3"),
        ([0, 0, 0, 0], [[1, 1]], "span 0 is 1 … 1"),
        ([0, 0, 0, 0], [[3, 5]], "span 0 is 3 … 5"),
        ([0, 0, 0, 0], [[-1, 1]], "span 0 is -1 … 1"),
        ([0, 0, 0, 0], [[4, 5]], "span 0 is 4 … 5"),
    ],
)
def test_broken_spans_are_refused(labels, spans, match):
    scores = Scores(np.zeros((4, 2)), None, np.array([0, 2, 4]))
    with pytest.raises(InvalidInput, match=match):
        Chain(2).spans(scores, np.array(labels), np.array(spans))


def test_a_chain_shows_its_order():
    assert repr(Chain(3)) == "Chain(3)"
    assert repr(Chain(3, order=2)) == "Chain(3, order=2)"
    assert Chain(3) != Chain(3, order=2)
    assert (Chain(3).states, Chain(3, order=2).states) == (3, 12)
    with pytest.raises(InvalidInput, match="order must be one of 1, 2"):
        Chain(3, order=3)


def test_long_work_is_cut_into_blocks_without_changing_it(monkeypatch):
    from argmax.spaces import lattice

    scores = draw(0, 3, 1, "shared", lengths=(4, 0, 9, 1, 30, 2))
    whole = Chain(3, compiled=True).marginals(scores)
    monkeypatch.setattr(lattice, "BLOCK_WORK", 50)
    parts = Chain(3, compiled=True).marginals(scores)
    np.testing.assert_array_equal(whole[0].value, parts[0].value)
    np.testing.assert_array_equal(whole[1].node, parts[1].node)
    np.testing.assert_allclose(whole[1].edge, parts[1].edge, rtol=1e-13)
