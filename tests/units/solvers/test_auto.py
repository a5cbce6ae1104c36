"""The choice of a solver, and its reason, for each kind of problem."""

import pytest

from argmax.engines import Threads
from argmax.solvers import LBFGS, Auto, Dual, Newton, NewtonCG, Proximal
from tests.laws import problems

CASES = {
    "l1": (Proximal, "an l1 penalty", {"l1": 0.5}),
    "few weights": (Newton, "18 weights: the full Hessian is cheap", {}),
    "dense, many weights": (LBFGS, "dense rows", {"d": 150}),
    "dense, large": (LBFGS, "dense rows", {"compiled": True}),
    "few sparse rows": (NewtonCG, "and few of them", {"kind": "csr", "d": 150}),
    "sparse, large, small C": (Dual, "few sweeps", {"kind": "csr", "compiled": True, "C": 0.1}),
    "sparse, large, large C": (
        LBFGS, "beyond the dual's reach", {"kind": "csr", "compiled": True, "C": 1e4},
    ),
    "sparse, large, no penalty": (
        NewtonCG, "no penalty", {"kind": "csr", "compiled": True, "C": float("inf")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_choice_and_its_reason(name):
    kind, words, options = CASES[name]
    objective = problems.classes(**options)
    solver, reason = Auto().choose(objective)
    assert type(solver) is kind
    assert words in reason
    assert Auto().why(objective) == f"{solver.name}: {reason}"


def test_gradients_only():
    solver, reason = Auto().choose(problems.chain())
    assert type(solver) is LBFGS
    assert "gradients only" in reason


def test_an_engine_without_single_rows_gets_no_dual():
    class Stream(Threads.__mro__[1]):
        random_access = False

        def open(self): ...
        def collect(self, X, y, sample_weight): ...
        def place(self, shards): ...
        def fold(self, task, shards, *arguments): ...
        def each(self, task, shards, *arguments): ...

    objective = problems.classes("csr", compiled=True, C=0.1)
    objective.engine = Stream()
    assert type(Auto().choose(objective)[0]) is NewtonCG


def test_one_heavy_row_counts():
    """The dual crawls where C times a single weight is large."""
    light = problems.classes("csr", compiled=True, C=1.0, weighted=True)
    assert type(Auto().choose(light)[0]) is Dual
    light.shards[0].truth.weight[0] = 1e4
    assert type(Auto().choose(light)[0]) is LBFGS


def test_the_seed_is_handed_on():
    objective = problems.classes("csr", compiled=True, C=0.1)
    assert Auto(seed=7).choose(objective)[0].seed == 7
