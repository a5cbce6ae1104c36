"""Every space against enumeration, and what maxima and sums have to do with each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.errors import NoLegalLabelling, NumericalFailure
from argmax.records import Scores
from argmax.spaces import Chain, Classes
from argmax.testing import BruteForce, check_space, random_scores
from argmax.testing.scores import EDGES

CHAINS = {
    "chain": lambda k: Chain(k, compiled=False),
    "chain compiled": lambda k: Chain(k, compiled=True),
}
ONE_NODE = {
    "classes": lambda k: Classes(k, compiled=False),
    "classes compiled": lambda k: Classes(k, compiled=True),
    **CHAINS,
}
chains = pytest.mark.parametrize("make", CHAINS.values(), ids=CHAINS)
lengths = st.lists(st.integers(1, 4), min_size=1, max_size=4)
seeds = st.integers(0, 2**32 - 1)


def draw(seed, k, sizes, edge=None, **options):
    return random_scores(np.random.default_rng(seed), k, sizes, edge, **options)


@pytest.mark.parametrize("make", ONE_NODE.values(), ids=ONE_NODE)
def test_every_oracle_of_a_single_label_equals_enumeration(make):
    check_space(make, sizes=(1, 2, 3, 5, 17))


@chains
@pytest.mark.parametrize("sizes", [(3, 1, 2), (1, 5), (2, 0, 3), (4,)])
def test_every_oracle_of_a_chain_equals_enumeration(make, sizes):
    check_space(make, sizes)


@chains
@given(seeds, st.integers(1, 4), lengths, st.sampled_from(EDGES), st.floats(0, 0.6))
def test_chain_argmax_and_logz_equal_enumeration(make, seed, k, sizes, edge, forbidden):
    scores = draw(seed, k, sizes, edge, forbidden=forbidden)
    chain, truth = make(k), BruteForce(k)
    np.testing.assert_allclose(chain.argmax(scores).value, truth.argmax(scores).value, rtol=1e-12)
    np.testing.assert_allclose(chain.logz(scores).value, truth.logz(scores).value, rtol=1e-12)


@chains
@given(seeds, st.integers(1, 3), lengths, st.sampled_from(EDGES), st.integers(1, 9))
def test_chain_top_k_equals_enumeration_ties_included(make, seed, k, sizes, edge, best):
    scores = draw(seed, k, sizes, edge, forbidden=0.2, whole=True)
    labels, values = make(k).top_k(scores, best)
    expected, expected_values = BruteForce(k).top_k(scores, best)
    np.testing.assert_array_equal(values, expected_values)
    np.testing.assert_array_equal(labels, expected)


@chains
@given(seeds, st.integers(1, 4), lengths, st.sampled_from(EDGES))
def test_of_equals_the_first_in_lexicographic_order_wins(make, seed, k, sizes, edge):
    scores = draw(seed, k, sizes, edge, whole=True)
    found, expected = make(k).argmax(scores).labels, BruteForce(k).argmax(scores).labels
    np.testing.assert_array_equal(found, expected)


@chains
@given(seeds, st.integers(2, 3), lengths, st.sampled_from(EDGES))
def test_the_gradient_of_logz_is_the_marginals(make, seed, k, sizes, edge):
    scores = draw(seed, k, sizes, edge)
    p = make(k).marginals(scores)[1]
    h, t = 1e-5, np.random.default_rng(seed).integers(len(scores.node))

    def logz(step):
        node = scores.node.copy()
        node[t, 0] += step
        return make(k).logz(Scores(node, scores.edge, scores.offsets)).value.sum()

    assert (logz(h) - logz(-h)) / (2 * h) == pytest.approx(p.node[t, 0], abs=1e-8)


@chains
@given(seeds, st.integers(2, 4), lengths, st.sampled_from(EDGES))
def test_marginals_of_edges_add_up_to_those_of_nodes(make, seed, k, sizes, edge):
    scores = draw(seed, k, sizes, edge)
    p = make(k).marginals(scores)[1]
    np.testing.assert_allclose(p.node.sum(axis=1), 1.0, rtol=1e-12)
    if p.edge is not None:
        assert p.edge.sum() == pytest.approx(sum(length - 1 for length in sizes))
    if edge == "each":
        starts = [t for t in range(len(scores.node)) if t + 1 not in scores_offsets(scores)]
        np.testing.assert_allclose(p.edge.sum(axis=2), p.node[starts], atol=1e-12)


def scores_offsets(scores):
    return set(range(len(scores.node) + 1) if scores.offsets is None else scores.offsets.tolist())


# The one-node law


@pytest.mark.parametrize("make", ONE_NODE.values(), ids=ONE_NODE)
@pytest.mark.parametrize("k", [1, 2, 3, 9])
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_classes_are_chains_of_length_one(make, k, forbidden):
    scores = draw(k, k, (1,) * 7, forbidden=forbidden)
    space, truth = make(k), BruteForce(k)
    labels, weight = truth.sample(scores, 1, np.random.default_rng(0))[0], np.linspace(0, 3, 7)
    assert np.array_equal(space.argmax(scores).labels, truth.argmax(scores).labels)
    for given_weight in (None, weight):
        value, p = space.marginals(scores, given_weight)
        expected, q = truth.marginals(scores, given_weight)
        np.testing.assert_allclose(value.value, expected.value, rtol=1e-13)
        np.testing.assert_allclose(p.node, q.node, rtol=1e-12, atol=1e-15)
        left, right = Scores(np.empty((7, k))), Scores(np.empty((7, k)))
        np.testing.assert_allclose(
            space.nll(scores, labels, given_weight, left),
            truth.nll(scores, labels, given_weight, right),
            rtol=1e-11, atol=1e-13,
        )  # fmt: skip
        np.testing.assert_allclose(left.node, right.node, atol=1e-13)
    np.testing.assert_array_equal(space.score(scores, labels), truth.score(scores, labels))
    for found, expected in zip(space.top_k(scores, 4), truth.top_k(scores, 4), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("make", ONE_NODE.values(), ids=ONE_NODE)
def test_offsets_of_one_node_each_change_nothing(make):
    scores = draw(3, 4, (1,) * 6)
    same = Scores(scores.node, None, np.arange(7))
    np.testing.assert_array_equal(make(4).argmax(scores).labels, make(4).argmax(same).labels)
    np.testing.assert_array_equal(make(4).logz(scores).value, make(4).logz(same).value)


# Sums and maxima


@pytest.mark.parametrize(("make", "sizes"), [(Classes, (1,) * 5), (Chain, (3, 1, 4))])
@pytest.mark.parametrize("temperature", [1.0, 0.1, 1e-3, 1e-6])
def test_the_sum_tends_to_the_maximum_as_the_temperature_falls(make, sizes, temperature):
    k, edge = 3, None if make is Classes else "each"
    scores = draw(11, k, sizes, edge)
    cold = Scores(
        scores.node / temperature,
        None if scores.edge is None else scores.edge / temperature,
        scores.offsets,
    )
    best = make(k).argmax(scores).value
    soft = temperature * make(k).logz(cold).value
    room = temperature * np.array(sizes) * np.log(k)  # T log Z ≤ max + T log(number of answers)
    assert (best - 1e-9 <= soft).all()
    assert (soft <= best + room + 1e-9).all()


@pytest.mark.parametrize(("make", "sizes"), [(Classes, (1,) * 5), (Chain, (3, 1, 4))])
@pytest.mark.parametrize("shift", [-1e3, 0.5, 1e6])
def test_a_shift_of_all_scores_of_a_node_changes_no_probability(make, sizes, shift, route):
    scores = draw(7, 4, sizes, None if make is Classes else "shared")
    node = np.round(scores.node * 1024) / 1024  # so that adding the shift loses nothing
    before = Scores(node, scores.edge, scores.offsets)
    after = Scores(node + shift, scores.edge, scores.offsets)
    value, p = make(4).marginals(before)
    moved, q = make(4).marginals(after)
    np.testing.assert_allclose(q.node, p.node, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(moved.value, value.value + shift * np.array(sizes), rtol=1e-9)
    assert np.array_equal(make(4).argmax(before).labels, make(4).argmax(after).labels)


@pytest.mark.parametrize(("make", "sizes"), [(Classes, (1,) * 4), (Chain, (3, 2))])
def test_huge_scores_neither_over_nor_underflow(make, sizes, route):
    scores = draw(1, 3, sizes, None if make is Classes else "shared")
    huge = Scores(scores.node * 1e8, scores.edge, scores.offsets)
    value, p = make(3).marginals(huge)
    assert np.isfinite(value.value).all()
    np.testing.assert_allclose(p.node.sum(axis=1), 1.0, rtol=1e-6)  # 1e8 has 8 decimals left


# Samples


@pytest.mark.parametrize(
    ("make", "sizes", "edge"),
    [(Classes, (1,) * 6, None), (Chain, (3, 1, 2), "shared"), (Chain, (2, 3), "each")],
)
def test_samples_follow_the_marginals(make, sizes, edge, route):
    k, n, scores = 3, 4000, draw(5, 3, sizes, edge, forbidden=0.2)
    draws = make(k).sample(scores, n, np.random.default_rng(0))
    p = make(k).marginals(scores)[1].node
    counts = np.stack([(draws == c).sum(axis=0) for c in range(k)], axis=1)
    assert (counts[p == 0] == 0).all()
    chi_square = ((counts - n * p) ** 2 / np.where(p > 0, n * p, 1.0)).sum(axis=1)
    assert (chi_square < 20.0).all()  # 2 degrees of freedom: exceeded once in 20 000


@chains
def test_samples_of_a_chain_follow_the_joint_distribution(make):
    scores = draw(9, 2, (3,), "each")
    draws = make(2).sample(scores, 4000, np.random.default_rng(1))
    labels, values = BruteForce(2).top_k(scores, 8)
    p = np.exp(values[:, 0] - BruteForce(2).logz(scores).value[0])
    counts = np.array([(draws == y).all(axis=1).sum() for y in labels])
    assert ((counts - 4000 * p) ** 2 / (4000 * p)).sum() < 30.0  # 7 degrees of freedom: p < 1e-4


# Nothing to answer


@pytest.mark.parametrize("make", ONE_NODE.values(), ids=ONE_NODE)
@pytest.mark.parametrize("oracle", ["argmax", "logz", "marginals"])
def test_no_legal_labelling_names_the_example(make, oracle):
    node = np.zeros((4, 3))
    node[2] = -np.inf
    with pytest.raises(NoLegalLabelling, match=r"example [02] has no legal"):
        getattr(make(3), oracle)(Scores(node))


@chains
@pytest.mark.parametrize("oracle", ["argmax", "logz", "marginals", "entropy"])
def test_a_chain_without_a_legal_transition_has_no_answer(make, oracle):
    edge = np.full((1, 2, 2), -np.inf)
    with pytest.raises(NoLegalLabelling, match=r"at position 1 \(node 1\)"):
        getattr(make(2), oracle)(Scores(np.zeros((2, 2)), edge, np.array([0, 2])))


@pytest.mark.parametrize("make", ONE_NODE.values(), ids=ONE_NODE)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_numbers_are_refused(make, bad):
    node = np.zeros((3, 3))
    node[1, 0] = bad
    for oracle in ("logz", "marginals"):
        with pytest.raises(NumericalFailure), np.errstate(invalid="ignore"):
            getattr(make(3), oracle)(Scores(node))
