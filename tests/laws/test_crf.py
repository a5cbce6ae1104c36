"""A linear-chain CRF from the same parts: Chain, a layout with edges, log loss, threads, L-BFGS."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from argmax import passes
from argmax.engines import shards
from argmax.errors import Unsupported
from argmax.records import Structures
from argmax.solvers import LBFGS, Auto, Dual, Newton, NewtonCG, Proximal, Report
from argmax.spaces import Chain
from argmax.testing import BruteForce
from tests.laws import problems
from tests.laws.chains import Toy
from tests.laws.problems import random_w


def fit(objective, start=None, tol=1e-10):
    start = np.zeros(objective.size) if start is None else start
    with objective.engine.open():
        return LBFGS().minimise(objective, start, Report(tol=tol, max_iter=2000))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.1, 2.0])
@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_lbfgs_reaches_the_optimum_of_the_likelihood_written_out(weighted, C, kind):
    recipe = {"lengths": (4, 1, 3, 5, 2), "weighted": weighted, "C": C, "kind": kind}
    objective = problems.chain(**recipe)
    solution = fit(objective)
    slow = problems.chain(space=BruteForce(2), **recipe)

    def value(w):
        point = slow.at(w)
        return point.value, point.gradient

    options = {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-8}
    found = minimize(value, np.zeros(slow.size), jac=True, method="L-BFGS-B", options=options)
    assert solution.status == "converged", solution.message
    assert solution.objective == pytest.approx(found.fun, rel=1e-9)
    np.testing.assert_allclose(slow.at(solution.w).value, solution.objective, rtol=1e-12)


@pytest.mark.parametrize("C", [0.1, 2.0])
def test_the_gap_is_true_on_chains(C):
    objective = problems.chain((6, 3, 5, 4), k=3, C=C)
    best, rng = fit(objective).objective, np.random.default_rng(0)
    for size in (0.0, 0.01, 0.1, 1.0):
        point = objective.at(random_w(objective.problem.layout, rng, size))
        assert point.value - point.gap <= best * (1 + 1e-9)
        assert point.value >= best * (1 - 1e-9)


def test_the_start_does_not_matter():
    objective = problems.chain((6, 3, 5, 4), k=3)
    best, rng = fit(objective).objective, np.random.default_rng(1)
    for size in (0.1, 1.0, 10.0):
        solution = fit(objective, random_w(objective.problem.layout, rng, size), tol=1e-6)
        assert solution.status == "converged"
        assert solution.objective - best <= 1e-6 * objective.zero


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(shards, "BLOCK_WORK", (10, 100))
    found = [fit(problems.chain((5, 4, 3) * 6, k=3, threads=n)) for n in (1, 2, 7)]
    assert len({solution.w.tobytes() for solution in found}) == 1


def test_edges_are_learned():
    """Labels that alternate whatever x is: only the edges can know."""
    labels = np.tile([0, 1], 30)
    objective = problems.chain((6,) * 10, labels=labels, C=10.0)
    layout = objective.problem.layout
    edge = layout.named(fit(objective).w)["edge"][0]
    assert edge[0, 1] + edge[1, 0] > edge[0, 0] + edge[1, 1] + 2.0
    w = fit(objective).w
    block = objective.shards[0].structures
    answer = Chain(2).argmax(layout.scores(Structures(block.rows, block.offsets), w))
    assert (answer.labels == labels).mean() > 0.9


@pytest.mark.parametrize("solver", [Dual(), Newton(), NewtonCG(), Proximal()], ids=str)
def test_solvers_that_need_curvature_refuse_chains_before_any_work(solver):
    objective = problems.chain()
    with pytest.raises(Unsupported, match="lbfgs"):
        solver.minimise(objective, np.zeros(objective.size), Report())


def test_auto_takes_lbfgs_on_chains_and_says_why():
    objective = problems.chain()
    assert Auto().why(objective) == "lbfgs: Chain(2) offers gradients only"
    solution = Auto().minimise(objective, np.zeros(objective.size), Report())
    assert solution.solver == "lbfgs"


@pytest.mark.parametrize("loss", ["log", "softmax_margin"])
@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_the_diagonal_is_the_variance_at_every_place(loss, values, fold, order):
    """Σ_i s_i Σ_t p (1 − p) x², with the probabilities of labels and transitions path by path."""
    options = {"values": values, "fold": fold and not values, "own": fold, "weighted": True}
    toy = Toy(loss, (3, 1, 4, 0), order=order, **options)
    F = toy.objective
    layout, w = F.problem.pairs, np.random.default_rng(3).standard_normal(F.size)
    expected = np.zeros(layout.size)
    units = [layout.named(unit) for unit in np.eye(layout.size)]
    coef = np.array([unit["coef"].toarray() for unit in units])
    start = np.array([unit["start"] for unit in units])
    follow = np.array([unit["transitions"] for unit in units])
    plan = layout.plan(F.shards[0].structures.rows)
    for i, (first, last) in enumerate(pairwise(toy.offsets)):
        psi, price, _ = toy.sequences[i]
        for t in range(first, last):  # attributes that were folded are not in psi
            if plan.slot[t] >= 0:
                slot = layout.bounds[1] + plan.slot[t]
                right = [path[t - first] == toy.labels[t] for path in toy.paths(last - first)]
                psi[right, slot] = plan.root[plan.singles[t]]
        p = softmax(psi @ w + (price if loss == "softmax_margin" else 0.0))
        paths = np.array(toy.paths(last - first)).reshape(len(p), -1)
        for t in range(last - first):
            for c in range(3):
                q = p[paths[:, t] == c].sum()
                places = (coef[:, c] @ toy.dense[first + t]) ** 2 + (start[:, c] if t == 0 else 0.0)
                expected += toy.weight_of(i) * q * (1 - q) * places
                if plan.slot[first + t] >= 0 and c == toy.labels[first + t]:
                    slot = layout.bounds[1] + plan.slot[first + t]
                    square = plan.root[plan.singles[first + t]] ** 2
                    expected[slot] += toy.weight_of(i) * q * (1 - q) * square
        for t, a, b in product(range(1, last - first), range(toy.space.states), range(3)):
            rows = np.array([toy.row(path, t) for path in paths])
            q = p[(rows == a) & (paths[:, t] == b)].sum()
            expected += toy.weight_of(i) * q * (1 - q) * follow[:, a, b]
    with F.engine.open():
        found = F.fold(passes.diagonal, F.at(w).stamp, True)["diagonal"]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
