"""The perceptron and the subgradient method against twins that look at every label sequence."""

import numpy as np
import pytest

from argmax.passes.stochastic import Walk
from argmax.solvers import Perceptron, Report, Subgradient
from tests.laws.chains import Toy


class Twin:
    """v after every step; ``total`` is the sum of all v so far, the first one included."""

    def __init__(self, toy, decay=0.0):
        self.toy, self.decay, self.step = toy, decay, 0
        self.v = np.zeros(toy.objective.size)
        self.total, self.paid, self.wrong = self.v.copy(), 0.0, 0

    def visit(self, i):
        psi, price, right = self.toy.sequences[i]
        growth = self.decay * max(self.step, 1)
        best = int(np.argmax(psi @ self.v + growth * price))
        weight = self.toy.weight_of(i)
        self.v = self.v + weight * (psi[right] - psi[best])
        paths = self.toy.paths(np.diff(self.toy.offsets)[i])
        self.wrong += sum(a != b for a, b in zip(paths[best], paths[right], strict=True))
        self.step, self.total, self.paid = (
            self.step + 1,
            self.total + self.v,
            self.paid + weight * price[best],
        )


def visits(toy):
    return np.flatnonzero(np.diff(toy.offsets))


@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"forbidden": ((0, 2), (1, 1))},
        {"start": False},
        {"transitions": False},
        {"every": True},
        {"order": 2},
        {"order": 2, "forbidden": ((0, 2), (1, 1))},
    ],
    ids=repr,
)
def test_perceptron_updates_equal_the_twin_s_step_for_step(options, precise):
    toy = Toy("perceptron", precise=precise, **options)
    walk = Walk(toy.objective.shards[0], toy.objective.problem, np.zeros(toy.objective.size))
    late, twin, count, rng = walk.late(), Twin(toy), 1, np.random.default_rng(0)
    for _ in range(10):
        for i in rng.permutation(visits(toy)):
            before = twin.wrong
            wrong, count, _ = walk.perceive(np.array([i]), late, count)
            twin.visit(i)
            assert wrong == twin.wrong - before
            np.testing.assert_array_equal(walk.flat(), twin.v)
            np.testing.assert_allclose(
                walk.flat() - late.flat() / count, twin.total / (twin.step + 1), atol=1e-12
            )


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_solver_equals_the_twin(average, weighted):
    toy = Toy("perceptron", weighted=weighted, values=weighted)
    with toy.objective.engine.open():
        solver = Perceptron(shuffle=False, average=average)
        report = Report(max_iter=7)
        solution = solver.minimise(toy.objective, np.zeros(toy.objective.size), report)
    twin, mistakes = Twin(toy), []
    for _ in range(solution.passes):
        twin.wrong = 0
        for i in visits(toy):
            twin.visit(i)
        mistakes.append(twin.wrong)
    wanted = twin.total / (twin.step + 1) if average else twin.v
    np.testing.assert_allclose(solution.w, wanted, atol=1e-12)
    assert solution.mistakes == mistakes


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("per_sequence", [True, False])
def test_subgradient_steps_equal_the_twin_s(per_sequence, order):
    toy = Toy("hinge", weighted=True, values=True, per_sequence=per_sequence, C=0.7, order=order)
    objective, n = toy.objective, len(visits(toy))
    with objective.engine.open():
        solution = Subgradient(seed=3).minimise(
            objective, np.zeros(objective.size), Report(tol=1e-12, max_iter=1)
        )
    decay = 1.0 / (n * toy.C)
    twin = Twin(toy, decay)
    for i in np.random.default_rng(3).permutation(visits(toy)):
        twin.visit(i)
    # The mean of w_t = v_t / (λ t) with weights t, t = 1 … n.
    np.testing.assert_allclose(
        solution.w, twin.total / (decay * n * (n + 1) / 2), rtol=1e-10, atol=1e-12
    )
    last = twin.v / (decay * n)
    dual = max(toy.C * twin.paid - 0.5 * last @ last, 0.0)
    assert solution.objective - solution.gap == pytest.approx(dual, abs=1e-9)
