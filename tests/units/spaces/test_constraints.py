"""Constraints as data: what the schemes allow, and that illegal sequences are impossible."""

from itertools import product

import numpy as np
import pytest

from argmax.errors import InvalidInput, NoLegalLabelling, WrongType
from argmax.records import Scores
from argmax.spaces import Chain, constraints
from argmax.testing import BruteForce, random_scores

BIO = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
BILOU = ["O", "B-X", "I-X", "L-X", "U-X", "B-Y", "L-Y"]
routes = pytest.mark.parametrize("fast", [False, True], ids=["numpy", "compiled"])


def legal_bio(names):
    """By its definition: an I-X continues an X."""
    before = "O"
    for name in names:
        if name[0] == "I" and before not in (f"B-{name[2:]}", f"I-{name[2:]}"):
            return False
        before = name
    return True


def legal_bilou(names):
    """By its definition: entities are U, or B I … I L of one type."""
    inside = None
    for name in names:
        kind, entity = name[0], name[2:]
        if (kind in "IL") != (inside is not None) or (kind in "IL" and entity != inside):
            return False
        inside = entity if kind in "BI" else None
    return inside is None


SCHEMES = {"BIO": (BIO, legal_bio), "BILOU": (BILOU, legal_bilou)}
schemes = pytest.mark.parametrize(("labels", "legal"), SCHEMES.values(), ids=SCHEMES)


@schemes
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_exactly_the_legal_sequences_are_left(labels, legal, length):
    k, rules = len(labels), constraints.get("BIO" if labels is BIO else "BILOU", labels)
    scores = rules.apply(Scores(np.zeros((length, k)), None, np.array([0, length])))
    found, values = Chain(k, compiled=False).top_k(scores, k**length)
    mine = {tuple(found[rank]) for rank in range(k**length) if values[rank, 0] > -np.inf}
    every = product(range(k), repeat=length)
    assert mine == {y for y in every if legal([labels[c] for c in y])}


@schemes
def test_violations_are_found_where_a_label_may_not_stand(labels, legal):
    k, rules = len(labels), constraints.get("BIO" if labels is BIO else "BILOU", labels)
    for y in product(range(k), repeat=3):
        wrong = rules.violations(np.array(y), np.array([0, 3]))
        assert (len(wrong) == 0) == legal([labels[c] for c in y])


def test_bioes_is_bilou_by_other_letters():
    other = ["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "E-Y"]
    one, two = constraints.get("BILOU", BILOU), constraints.get("BIOES", other)
    for mask in ("start", "end", "follow"):
        np.testing.assert_array_equal(getattr(one, mask), getattr(two, mask))


@routes
@pytest.mark.parametrize("edge", [None, "shared", "each"], ids=str)
def test_every_oracle_gives_illegal_sequences_nothing(fast, edge):
    k, rng = len(BIO), np.random.default_rng(0)
    scores = random_scores(rng, k, (4, 1, 3), edge)
    allowed = rng.random(scores.node.shape) < 0.8
    allowed[:, 0] = True
    rules = constraints.bio(BIO)
    ruled = rules.apply(scores, allowed)
    chain, truth = Chain(k, compiled=fast), BruteForce(k)
    np.testing.assert_allclose(chain.logz(ruled).value, truth.logz(ruled).value, rtol=1e-12)
    p = chain.marginals(ruled)[1]
    assert (p.node[~allowed] == 0.0).all()
    assert (p.node[[0, 4, 5]][:, [2, 4]] == 0.0).all()  # no sequence begins with I
    assert (p.edge[:, ~rules.follow] == 0.0).all()
    draws = chain.sample(ruled, 200, rng)
    for labels in (*draws, chain.argmax(ruled).labels, chain.posterior(ruled).labels):
        assert not len(rules.violations(labels, scores.offsets))
        assert allowed[np.arange(len(labels)), labels].all()


@routes
def test_constraints_on_a_chain_of_order_2(fast):
    k, rules = len(BIO), constraints.bio(BIO)
    chain = Chain(k, order=2, compiled=fast)
    rng = np.random.default_rng(1)
    scores = Scores(
        rng.normal(size=(6, k)), rng.normal(size=(1, chain.states, k)), np.array([0, 2, 6])
    )
    ruled = rules.apply(scores)
    assert ruled.edge.shape == (1, chain.states, k)
    for labels in chain.sample(ruled, 100, rng):
        assert not len(rules.violations(labels, scores.offsets))


def test_scores_given_are_not_changed():
    scores = random_scores(np.random.default_rng(0), 5, (3, 2), "shared")
    node, edge = scores.node.copy(), scores.edge.copy()
    constraints.bio(BIO).apply(scores)
    np.testing.assert_array_equal(scores.node, node)
    np.testing.assert_array_equal(scores.edge, edge)


def test_no_constraint_adds_no_table():
    scores = Scores(np.zeros((3, 5)), None, np.array([0, 3]))
    assert constraints.get(None, BIO).apply(scores).edge is None


def test_constraints_join():
    both = constraints.bio(BIO) & constraints.forbid(BIO, [("O", "O")])
    assert not both.follow[0, 0]
    assert not both.follow[0, 2]
    with pytest.raises(InvalidInput, match="different labels"):
        constraints.bio(BIO) & constraints.bilou(BILOU)


def test_empty_sequences_have_no_ends():
    rules = constraints.bio(BIO)
    scores = Scores(np.zeros((2, 5)), None, np.array([0, 0, 2, 2]))
    node = rules.apply(scores).node
    assert np.isneginf(node[0, [2, 4]]).all()
    assert np.isfinite(node[1]).all()
    assert rules.violations(np.array([2, 0]), scores.offsets).tolist() == [0]


@routes
def test_constraints_that_leave_no_path_name_the_position(fast):
    rules, allowed = constraints.bio(BIO), np.ones((5, 5), bool)
    allowed[3] = [False, False, True, False, False]  # I-PER alone
    allowed[2] = [True, False, False, True, True]  # nothing that it could follow
    scores = rules.apply(Scores(np.zeros((5, 5)), None, np.array([0, 1, 5])), allowed)
    for oracle in ("argmax", "logz", "marginals", "posterior", "entropy"):
        with pytest.raises(NoLegalLabelling, match=r"example 1 .* at position 2 \(node 3\)"):
            getattr(Chain(5, compiled=fast), oracle)(scores)


@pytest.mark.parametrize(
    ("setting", "labels", "error", "match"),
    [
        ("BIO", ["O", "B-X", "L-X"], InvalidInput, r"reads labels O, B-…, I-…; got 'L-X'"),
        ("BIO", ["O", "X"], InvalidInput, "got 'X'"),
        ("BIO", ["O", "B-"], InvalidInput, "got 'B-'"),
        ("BILOU", ["o", "B-X"], InvalidInput, "got 'o'"),
        ("IOB1", ["O"], InvalidInput, "must be one of 'BIO', 'BILOU', 'BIOES'; got 'IOB1'"),
        ("BIO", ["O", "O"], InvalidInput, "'O' is there twice"),
        ("BIO", ["O", 1], WrongType, "strings; got 1"),
        ([("O", "I-X")], ["O", "B-X"], InvalidInput, "'I-X', which is not one of the labels"),
        (["OO"], ["O"], WrongType, r"pairs of labels \(before, behind\); got 'OO'"),
    ],
)
def test_what_cannot_be_read_is_refused(setting, labels, error, match):
    with pytest.raises(error, match=match):
        constraints.get(setting, labels)


def test_constraints_of_other_labels_are_refused():
    rules = constraints.bio(BIO)
    assert constraints.get(rules, BIO) is rules
    with pytest.raises(InvalidInput, match="made for other labels"):
        constraints.get(rules, BILOU)


@pytest.mark.parametrize("allowed", [np.ones((3, 4), bool), np.ones((3, 5)), [True]])
def test_masks_of_another_shape_or_kind_are_refused(allowed):
    scores = Scores(np.zeros((3, 5)), None, np.array([0, 3]))
    with pytest.raises(InvalidInput, match=r"allowed must be booleans of shape \(3, 5\)"):
        constraints.bio(BIO).apply(scores, allowed)
