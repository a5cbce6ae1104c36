"""A fit that is cut, wherever that happens, ends at once, with true weights and a true certificate.

The clock of these tests counts how often it is looked at: a limit of N is over at the N-th look, in the same
place on any machine.
"""

import itertools
import math
import warnings

import numpy as np
import pytest

from argmax import SequenceTagger
from argmax.engines import limits
from argmax.errors import NotConverged
from argmax.solvers import Report, get

from . import problems

CUTS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377)
PAIRS = [
    (loss, solver)
    for loss, solvers in {
        "log": ("auto", "dual", "lbfgs", "newton", "newton_cg", "sgd"),
        "softmax_margin": ("auto", "lbfgs", "newton", "newton_cg"),
        "ovr_log": ("auto", "lbfgs", "newton", "newton_cg"),
        "squared": ("auto", "lbfgs", "newton_cg"),
        "squared_hinge": ("auto", "lbfgs", "newton_cg"),
        "hinge": ("auto", "dual", "interior_point", "smoothing"),
        "weston_watkins": ("auto", "dual", "interior_point", "smoothing"),
    }.items()
    for solver in solvers
]


def looks():
    """A clock that is one later whenever it is looked at."""
    return itertools.count().__next__


def cut(objective, solver, limit, start=None, tol=1e-9):
    """What is left of a fit that ends after so many looks, and how many there were."""
    clock, start = looks(), np.zeros(objective.size) if start is None else start
    report = Report(tol=tol, max_iter=10_000, time_limit=float(limit), clock=clock)
    solution = report.run(lambda: get(solver).minimise(objective, start, report), objective, start)
    return solution, clock()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", ["float64", "csr"])
@pytest.mark.parametrize(("loss", "solver"), PAIRS)
def test_a_fit_cut_anywhere_leaves_true_weights(loss, solver, kind, compiled):
    def posed():
        n = 16 if "hinge" in loss or "weston" in loss else 40  # the last digits of hinges are dear
        return problems.classes(kind, n, 3, 4, loss=loss, compiled=compiled, C=3.0)

    objective = posed()
    best = get("auto").minimise(objective, np.zeros(objective.size), Report(tol=1e-9)).objective
    cuts = 0
    for limit in CUTS:
        solution, _ = cut(posed(), solver, limit)
        here = posed().at(np.asarray(solution.w, float))
        assert solution.objective == pytest.approx(here.value, rel=1e-6)
        assert solution.objective - solution.gap <= best * (1.0 + 1e-7)
        assert solution.objective <= objective.zero * (1.0 + 1e-9)
        cuts += solution.status == "time_limit"
        if solution.status == "time_limit":
            assert "time_limit of" in solution.message
    assert cuts


@pytest.mark.parametrize(("loss", "solver"), PAIRS)
def test_a_fit_ends_with_its_limit(loss, solver):
    """After the limit and the seconds of grace, a fit may look a few times more, as it unwinds."""
    for limit in (3, 10, 30, 100):
        objective = problems.classes("csr", 200, 8, 6, loss=loss, compiled=True, C=10.0)
        solution, seen = cut(objective, solver, limit, tol=1e-15)
        if solution.status == "time_limit":
            assert seen <= limit + 40


def test_a_warm_start_is_worth_a_pass():
    objective = problems.classes(n=90, d=6, k=5, C=3.0)
    good = get("newton").minimise(objective, np.zeros(objective.size), Report()).w
    solution, _ = cut(objective, "lbfgs", 0, start=good)
    assert solution.objective == pytest.approx(objective.at(good).value, rel=1e-9)


def test_nothing_known_is_zero_weights_and_their_certificate():
    objective = problems.classes(n=90, d=6, k=5, C=3.0)
    start = np.zeros(objective.size)
    report = Report(time_limit=0.0)

    def solve():
        raise limits.OutOfTime

    solution = report.run(solve, objective, start)
    assert solution.objective == objective.zero
    assert solution.relative_gap == pytest.approx(1.0)
    assert solution.status == "time_limit"
    assert not solution.w.any()


def test_the_better_of_two_solvers_is_kept():
    """Where a solver handed its point on, and the next one is cut before it is as good."""
    objective = problems.classes(n=90, d=6, k=5, C=3.0)
    report = Report(time_limit=1e9)

    def solve():
        report(objective, np.ones(objective.size), 5.0, 1.0)
        report.hand_on("another")
        report(objective, np.zeros(objective.size), 7.0, 1.0)
        raise limits.OutOfTime

    solution = report.run(solve, objective, np.zeros(objective.size))
    assert solution.objective == 5.0
    assert solution.w.all()


def test_a_gap_that_is_no_proof_is_not_kept():
    objective = problems.chain()
    assert objective.lower == -math.inf
    report = Report(time_limit=1e9)

    def solve():
        report(objective, np.zeros(objective.size), 5.0, 1.0, proven=False)
        raise limits.OutOfTime

    assert report.run(solve, objective, np.zeros(objective.size)).gap == math.inf


@pytest.mark.parametrize("loss", ["log", "hinge", "perceptron", "softmax_margin"])
def test_taggers_are_cut_as_well(loss, monkeypatch):
    rng = np.random.default_rng(0)
    X = [[f"w{i}" for i in rng.integers(0, 30, 8)] for _ in range(60)]
    y = [[("A", "B", "C")[int(t[1:]) % 3] for t in x] for x in X]
    for limit in CUTS:
        clock = looks()
        monkeypatch.setattr(
            "argmax.estimators.learner.Learner._report",
            lambda self, listeners, clock=clock, limit=limit: Report(
                time_limit=float(limit), callbacks=listeners, clock=clock
            ),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            solution = SequenceTagger(loss=loss).fit(X, y).solution_
        assert np.isfinite(solution.w).all()
        assert math.isfinite(solution.objective)
