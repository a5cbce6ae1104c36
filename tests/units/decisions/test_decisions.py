"""Decisions: Bayes actions by enumeration, Chow's rule, sets, thresholds, flips by linear programming."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from argmax import decisions, spaces
from argmax.errors import InvalidInput

RNG = np.random.default_rng(0)


def table(n=30, k=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(k), n)


@pytest.mark.parametrize("actions", [2, 4, 7])
def test_the_action_is_the_one_of_the_least_expected_cost(actions):
    p, cost = table(), RNG.normal(size=(4, actions))
    found = decisions.decide(p, cost, actions=range(actions))
    for row, place, risk, second in zip(p, found.place, found.risk, found.next_best, strict=True):
        risks = [sum(row[y] * cost[y, a] for y in range(4)) for a in range(actions)]
        assert place == int(np.argmin(risks))
        assert (risk, second) == pytest.approx(tuple(sorted(risks)[:2]))


@pytest.mark.parametrize("actions", [1, 4, 7])
def test_costs_are_expected_of_any_number_of_actions(actions):
    cost = np.random.default_rng(1).normal(size=(4, actions))
    assert decisions.expected_costs(table(), cost) == pytest.approx(table() @ cost)


def test_a_function_is_a_table():
    p = table()
    by_function = decisions.decide(p, lambda truth, action: (truth - action) ** 2, [1, 2, 4, 8])
    squares = np.subtract.outer([1, 2, 4, 8], [1, 2, 4, 8]) ** 2
    assert by_function.taken == decisions.decide(p, squares, [1, 2, 4, 8]).taken


def test_a_constant_added_to_a_row_of_costs_changes_nothing():
    p, cost = table(), RNG.random((4, 4))
    one = decisions.decide(p, cost)
    other = decisions.decide(p, cost + RNG.random((4, 1)))
    assert np.array_equal(one.place, other.place)


@pytest.mark.parametrize("price", [0.0, 0.2, 0.5, 1.0])
def test_rejecting_is_chows_rule(price):
    p = table()
    found = decisions.decide(p, reject=price)
    assert np.array_equal(found.rejected, p.max(axis=1) < 1 - price)
    assert found.risk == pytest.approx(np.minimum(1 - p.max(axis=1), price))


def test_a_row_that_costs_as_much_as_rejecting_is_answered():
    """Chow's rule rejects below 1 − reject, and ½ is not below ½."""
    found = decisions.decide([[0.5, 0.5], [0.25, 0.75]], reject=0.5)
    assert found.taken == [0, 1]
    assert decisions.decide([[0.5, 0.5]], reject=0.49).taken == [None]


@pytest.mark.parametrize("price", [-1.0, 0.0, 0.1, 0.4, 3.0])
@pytest.mark.parametrize("actions", [1, 2, 5])
def test_rejecting_is_one_more_action_of_a_fixed_cost(price, actions):
    p, cost = table(), np.random.default_rng(7).random((4, actions))
    found = decisions.decide(p, cost, actions=range(actions), reject=price)
    wider = np.column_stack([p @ cost, np.full(len(p), price)])
    ranked = np.sort(wider, axis=1)
    assert found.risk == pytest.approx(ranked[:, 0])
    assert found.next_best == pytest.approx(ranked[:, 1])
    assert np.array_equal(found.rejected, wider.argmin(axis=1) == actions)


def test_sets_are_the_smallest_of_all_subsets():
    p, miss = table(20), np.array([1.0, 5.0, 0.5, 2.0])
    subsets = [np.array(s) for s in itertools.product([False, True], repeat=4)]
    bounded = decisions.cost_bounded_sets(p, 0.6, miss)
    covering = decisions.covering_sets(p, 0.8)
    for row, one, other in zip(p, bounded, covering, strict=True):
        cheap = [s for s in subsets if (row * miss)[~s].sum() <= 0.6 and s.any()]
        assert (row * miss)[~one].sum() <= 0.6
        assert one.sum() == min(s.sum() for s in cheap)
        wide = [s for s in subsets if row[s].sum() >= 0.8]
        assert row[other].sum() >= 0.8 - 1e-9
        assert other.sum() == min(s.sum() for s in wide)


def test_the_threshold_is_the_lowest_that_keeps_the_promise():
    sure = RNG.random(500).round(2)
    right = RNG.random(500) < sure
    found = decisions.threshold_for_precision(right, sure, 0.8, level=None)
    shares = {t: right[sure >= t].mean() for t in np.unique(sure)}
    assert found.value == min(t for t, share in shares.items() if share >= 0.8)
    assert found.precision.value == pytest.approx(shares[found.value])
    strict = decisions.threshold_for_precision(right, sure, 0.8)
    assert strict.value >= found.value
    assert decisions.threshold_for_precision(~right, sure, 1.0).value is None


def test_where_every_answer_is_right_the_threshold_is_the_least_confidence():
    sure = [0.9, 0.5, 0.7]
    found = decisions.threshold_for_precision([True] * 3, sure, 0.9, level=None)
    assert (found.value, found.precision.value, found.answered.value) == (0.5, 1.0, 1.0)


@pytest.mark.parametrize("actions", [2, 3, 5])
def test_the_flip_is_the_linear_programme(actions):
    p, cost = table(12, 3), RNG.normal(size=(3, actions))
    found = decisions.flip_distance(p, cost, actions=range(actions))
    taken = (p @ cost).argmin(axis=1)
    for row, a, distance in zip(p, taken, found, strict=True):
        best = np.inf
        for b in set(range(actions)) - {a}:
            g = cost[:, b] - cost[:, a]
            # p' = row + up − down; minimise Σ down
            answer = linprog(
                np.r_[np.zeros(3), np.ones(3)],
                A_ub=[np.r_[g, -g]],
                b_ub=[-row @ g],
                A_eq=[np.r_[np.ones(3), -np.ones(3)]],
                b_eq=[0.0],
                bounds=[(0, None)] * 3 + [(0, q) for q in row],
            )
            best = min(best, answer.fun if answer.status == 0 else np.inf)
        assert distance == pytest.approx(best, abs=1e-7)


def test_an_action_that_costs_the_same_in_one_class_is_reached_by_moving_all_there():
    p = table(10, 3)
    found = decisions.flip_distance(p, [[0, 1], [0, 0], [0, 2]], actions=["stay", "go"])
    assert found == pytest.approx(1 - p[:, 1])
    dearer = decisions.flip_distance(p, [[0, 1], [0, 1e-9], [0, 2]], actions=["stay", "go"])
    assert np.isinf(dearer).all()


def test_acting_by_costs_saves_and_says_how_much():
    p = table(2000, 3)
    truth = (RNG.random((2000, 1)) < p.cumsum(axis=1)).argmax(axis=1)
    cost = np.array([[0, 1, 1], [20, 0, 1], [1, 1, 0]])
    bayes, plain = decisions.decide(p, cost), decisions.decide(p)
    saved = decisions.saving(truth, bayes, plain, cost, [0, 1, 2])
    spent = [decisions.realised_cost(truth, d, cost, [0, 1, 2]).value for d in (plain, bayes)]
    assert saved.low > 0
    assert saved.value == pytest.approx(spent[0] - spent[1])
    assert decisions.realised_cost(truth, bayes, cost, [0, 1, 2]).value == pytest.approx(
        bayes.risk.mean(), abs=0.1
    )


def test_a_cost_curve_is_the_cost_by_hand():
    p = table(300, 3)
    truth = (RNG.random((300, 1)) < p.cumsum(axis=1)).argmax(axis=1)
    found = decisions.cost_curve(truth, p, [0, 1, 2], label=1, points=11)
    for t, spent in zip(found.t, found.cost, strict=True):
        act = p[:, 1] >= t
        miss, alarm = (~act & (truth == 1)).mean(), (act & (truth != 1)).mean()
        assert spent == pytest.approx((1 - t) * miss + t * alarm)
    assert np.all(found.best <= found.cost + 1e-12)
    assert np.all(found.best <= np.minimum(found.never, found.always) + 1e-12)


def test_sequences_are_decoded_by_enumeration():
    k, labels = 3, ["O", "B-X", "I-X"]
    rules = spaces.constraints.get("BIO", labels)
    cost = RNG.random((k, k)) * (1 - np.eye(k))
    marginals = [table(n, k, seed=n) for n in (1, 3, 4)]
    plain = decisions.decode(marginals, cost, labels)
    legal = decisions.decode(marginals, cost, labels, space=spaces.Chain(k, constraints=rules))
    for p, free, bound in zip(marginals, plain, legal, strict=True):
        risk = p @ cost
        sequences = list(itertools.product(range(k), repeat=len(p)))

        def price(s, risk=risk):
            return sum(risk[t, y] for t, y in enumerate(s))

        def allowed(s):
            return all(y != 2 or (t and s[t - 1] != 0) for t, y in enumerate(s))

        assert free == [labels[y] for y in min(sequences, key=price)]
        assert bound == [labels[y] for y in min(filter(allowed, sequences), key=price)]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda p: decisions.decide(p, np.ones((3, 4))), "a row for each of the 4 classes"),
        (lambda p: decisions.decide(p, actions=["a"]), "actions need a cost"),
        (lambda p: decisions.decide(p, np.full((4, 4), np.inf)), "cost must be finite"),
        (lambda p: decisions.decide(p, np.diag([1, 1, 1, np.inf])), "cost must be finite"),
        (lambda p: decisions.decide(2 * p), "sum to 1"),
        (lambda p: decisions.top_k(p, 9), "k must be at most the 4 classes"),
        (lambda p: decisions.cost_bounded_sets(p, 0.1, [1, 2]), "miss must be 4 costs"),
        (lambda p: decisions.cost_bounded_sets(p, 0.1, [1, 2, 3, -1]), "miss must be 4 costs"),
        (lambda p: decisions.cost_bounded_sets(p, 0.1, [1, 2, 3, np.inf]), "miss must be 4 costs"),
        (lambda p: decisions.cost_curve([0] * 30, p, range(4), label=9), "label must be one"),
        (lambda p: decisions.decode([p], np.eye(3), [0, 1, 2]), "a column for each of the 3"),
    ],
)
def test_what_makes_no_sense_is_refused(call, says):
    with pytest.raises(InvalidInput, match=says):
        call(table())
