"""The structured SVM: its optimum against a quadratic programme over all label sequences; its true gap."""

from functools import cache

import numpy as np
import pytest

from argmax import losses
from argmax.engines import Stamp
from argmax.passes import sequences
from argmax.passes.frank_wolfe import Ascent
from argmax.passes.stochastic import Walk
from argmax.records import Scores, Truth
from argmax.solvers import Auto, FrankWolfe, Report, Subgradient
from tests.laws.chains import Toy

KINDS = {
    "plain": {},
    "weighted": {"weighted": True, "C": 0.3},
    "numbers": {"values": True, "C": 5.0},
    "no start": {"start": False},
    "no transitions": {"transitions": False, "C": 2.0},
    "all pairs": {"every": True},
    "constraints": {"forbidden": ((0, 2), (1, 1)), "weighted": True},
    "costs": {"cost": [[0.0, 3.0, 1.0], [0.5, 0.0, 2.0], [1.0, 1.0, 0.25]]},
    "cost per sequence": {"per_sequence": True, "C": 4.0},
    "costs by token": {"by_token": True, "C": 2.0},
    "attributes of one token": {"own": True, "lengths": (4, 1, 3)},
    "one long": {"lengths": (6,), "C": 0.5},
}


@cache
def optimum(kind):
    return Toy(**KINDS[kind]).optimum()


def solved(toy, solver, **limits):
    objective = toy.objective
    with objective.engine.open():
        return solver.minimise(objective, np.zeros(objective.size), Report(**limits))


@pytest.mark.parametrize("kind", KINDS)
def test_frank_wolfe_reaches_the_optimum_of_the_quadratic_programme(kind):
    toy = Toy(**KINDS[kind])
    solution = solved(toy, FrankWolfe(), tol=1e-8)
    assert solution.status == "converged", solution.message
    assert toy.value(solution.w) == pytest.approx(solution.objective, rel=1e-12)
    assert solution.objective == pytest.approx(optimum(kind), rel=1e-7, abs=1e-7)


def test_attributes_of_one_token_may_share_a_variable():
    recipe = KINDS["attributes of one token"]
    solution = solved(Toy(fold=True, **recipe), FrankWolfe(), tol=1e-8)
    assert solution.objective == pytest.approx(optimum("attributes of one token"), rel=1e-7)
    slow = solved(Toy(fold=True, **recipe), Subgradient(seed=1), tol=1e-12, max_iter=5)
    same = solved(Toy(**recipe), Subgradient(seed=1), tol=1e-12, max_iter=5)
    assert slow.objective == pytest.approx(same.objective, rel=1e-12)
    assert slow.gap == pytest.approx(same.gap, rel=1e-12)


def test_order_2_reaches_its_optimum_by_subgradients_and_auto_chooses_them():
    toy = Toy(order=2)
    solution = solved(toy, Auto(), tol=1e-2, max_iter=3000)
    assert (solution.solver, solution.status) == ("subgradient", "converged")
    best = toy.optimum()
    assert best - 1e-7 <= solution.objective <= best + 1e-2 * toy.objective.zero
    assert solution.objective - solution.gap <= best + 1e-7


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", [FrankWolfe(rounds=0), FrankWolfe(), Subgradient()], ids=repr)
def test_the_gap_is_true_at_every_report(kind, solver, monkeypatch):
    monkeypatch.setattr("argmax.solvers.frank_wolfe.LOOK", 1)
    toy = Toy(**KINDS[kind])
    solution = solved(toy, solver, tol=1e-9, max_iter=30)
    best = optimum(kind)
    for _, value, gap in solution.history:
        assert value - gap <= best + 1e-7 * max(best, 1.0)
        assert value >= best - 1e-7 * max(best, 1.0)
    duals = [value - gap for _, value, gap in solution.history]
    assert np.diff(duals).min(initial=0.0) >= -1e-9


@pytest.mark.parametrize("kind", ["plain", "weighted", "constraints", "cost per sequence"])
def test_subgradients_reach_the_same_optimum(kind):
    toy = Toy(**KINDS[kind])
    solution = solved(toy, Subgradient(), tol=1e-2, max_iter=3000)
    assert solution.status == "converged"
    assert solution.objective - optimum(kind) <= 1e-2 * toy.objective.zero


@pytest.mark.parametrize("kind", KINDS)
def test_marginals_stay_consistent_and_w_is_theirs(kind):
    """Mass 1 at every token, as much into a label as out of it; and w is what they stand for."""
    toy = Toy(**KINDS[kind])
    objective = toy.objective
    with objective.engine.open():
        ascent = Ascent(objective.shards[0], objective.problem, objective.C, objective.l2)
        _, grown = ascent.point()
        for _ in range(6):
            grown += ascent.visit(ascent.visits) + ascent.improve(np.flatnonzero(ascent.mixed))
            ascent.make_room()
        w = ascent.walk.flat()
        exact, dual = ascent.point()
    np.testing.assert_allclose(w, exact, atol=1e-12)
    assert dual == pytest.approx(grown, rel=1e-10, abs=1e-12)
    for i in ascent.visits:
        L, room = np.diff(toy.offsets)[i], ascent.support.room[i]
        places = slice(ascent.support.begin[i], ascent.support.begin[i] + L * room)
        before, code, mass = (a[places].reshape(L, room) for a in ascent.support[2:])
        np.testing.assert_allclose(mass.sum(axis=1), 1.0, atol=1e-12)
        assert (mass >= 0).all()
        for t in range(1, L):
            out = np.bincount(before[t], mass[t], minlength=3)
            np.testing.assert_allclose(
                out, np.bincount(code[t - 1], mass[t - 1], minlength=3), atol=1e-12
            )


@pytest.mark.parametrize("name", ["hinge", "perceptron"])
@pytest.mark.parametrize("precise", [True, False])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "kind", ["weighted", "numbers", "constraints", "costs", "cost per sequence", "costs by token"]
)
def test_the_fused_pass_equals_the_loss_itself(name, precise, order, kind):
    options = dict(KINDS[kind], precise=precise, order=order)
    if name == "perceptron":
        options.pop("cost", None), options.pop("per_sequence", None), options.pop("by_token", None)
    toy = Toy(name, **options)
    objective, rng = toy.objective, np.random.default_rng(1)
    (shard,), problem = objective.shards, objective.problem
    with objective.engine.open() as crew:
        for _ in range(3):
            stamp = Stamp(rng.normal(size=objective.size).astype(np.float32).astype(float))
            fused = sequences.evaluate(shard, crew, problem, stamp)
            parts = sequences._evaluate_by_parts(shard, crew, problem, stamp)
            assert fused["value"] == pytest.approx(parts["value"], rel=1e-12 if precise else 1e-5)
            np.testing.assert_allclose(
                fused["gradient"], parts["gradient"], atol=1e-12 if precise else 1e-5
            )
            if name == "hinge":
                data = objective.C * fused["value"] + 0.5 * stamp.w @ stamp.w
                assert data == pytest.approx(toy.value(stamp.w), rel=1e-12 if precise else 1e-5)


@pytest.mark.parametrize(
    "kind", ["plain", "costs", "cost per sequence", "costs by token", "constraints"]
)
def test_the_gradient_of_softmax_margin_equals_finite_differences(kind):
    toy = Toy("softmax_margin", **KINDS[kind])
    objective, rng = toy.objective, np.random.default_rng(2)
    with objective.engine.open():
        w, h = rng.normal(size=objective.size), 1e-6
        gradient = objective.at(w).gradient
        for j in range(objective.size):
            step = h * np.eye(objective.size)[j]
            slope = (objective.at(w + step).value - objective.at(w - step).value) / (2 * h)
            assert gradient[j] == pytest.approx(slope, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("scale", ["per_sequence", "by_token"])
def test_softmax_margin_written_out(scale):
    toy = Toy("softmax_margin", weighted=True, **{scale: True})
    objective = toy.objective
    with objective.engine.open():
        w = np.random.default_rng(3).normal(size=objective.size)
        value = objective.at(w).loss
    total = 0.0
    for i, (psi, price, right) in enumerate(toy.sequences):
        scores = psi @ w
        total += toy.weight_of(i) * (np.log(np.exp(scores + price).sum()) - scores[right])
    assert value == pytest.approx(total, rel=1e-12)


def test_softmax_margin_steps_carry_the_scale_of_the_cost():
    """One pass of ``descend`` with a rate of nothing adds up the losses."""
    toy = Toy("softmax_margin", weighted=True, by_token=True)
    objective = toy.objective
    with objective.engine.open():
        w = np.random.default_rng(3).normal(size=objective.size)
        loss = objective.at(w).loss
        walk = Walk(objective.shards[0], objective.problem, w)
        assert walk.descend(np.arange(len(walk)), 1e-30, 0.0) == pytest.approx(loss, rel=1e-12)


def test_a_scale_of_one_changes_nothing():
    rng = np.random.default_rng(0)
    toy = Toy("hinge", lengths=(2, 3))
    scores = Scores(rng.normal(size=(5, 3)), rng.normal(size=(1, 3, 3)), toy.offsets)
    for name in ("hinge", "softmax_margin"):
        values = []
        for scale in (None, np.ones(5)):
            residual = Scores(np.empty((5, 3)), np.empty((1, 3, 3)), toy.offsets)
            truth = Truth(toy.labels, None, toy.cost, None, scale)
            values.append(losses.get(name).evaluate(toy.space, scores, truth, residual))
        np.testing.assert_array_equal(*values)
