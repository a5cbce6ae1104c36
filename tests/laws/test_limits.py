"""A fit that is cut, wherever that happens, ends at once, with true weights and a true certificate.

The clock of these tests counts how often it is looked at: a limit of N is over at the N-th look, in the same
place on any machine.
"""

import itertools
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from argmax import LinearClassifier, SequenceTagger, costs, passes
from argmax.engines import Threads, limits
from argmax.errors import NotConverged
from argmax.solvers import Report, factored, get

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


# How often the clock is looked at


TASKS = {
    "evaluate": lambda F, w: F.at(w),
    "settle": lambda F, w: F.settled(w),
    "product": lambda F, w: F.at(w).hvp(w),
    "line": lambda F, w: F.at(w).line(w)(0.5),
    "gram": lambda F, w: F.fold(passes.gram, F.at(w).stamp, 1, True),
    "diagonal": lambda F, w: F.fold(passes.diagonal, F.at(w).stamp, True),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("loss", ["log", "softmax_margin", "ovr_log", "squared_hinge"])
@pytest.mark.parametrize("kind", ["float64", "csr"])
@pytest.mark.parametrize("task", TASKS)
def test_every_pass_looks_around(task, kind, loss, threads, monkeypatch):
    """At least once for the work of a block, of which there are as many as the work asks for."""
    if task == "gram" and kind == "csr":
        pytest.skip("a Gram matrix is for dense rows")
    block, seen = 100_000, []
    monkeypatch.setattr("argmax.engines.shards.BLOCK_WORK", (1_000, block))
    F = problems.classes(kind, 1000, 12, 100, loss=loss, compiled=True, threads=threads)
    w = np.random.default_rng(0).normal(size=F.size)
    with F.engine.open(), limits.within(lambda: seen.append(1) or 1.0):
        TASKS[task](F, w)
    work = sum(shard.work for shard in F.shards)
    # Of several threads only the one of the fit looks in the middle of a kernel.
    assert len(seen) >= (work / block if threads == 1 else 1)


def test_what_cannot_be_cut_is_not_begun():
    with limits.within(lambda: 1.0):
        limits.afford(1e6)
        with pytest.raises(limits.OutOfTime):
            limits.afford(1e15)


def test_helpers_share_the_limit_of_the_fit():
    with Threads(3).open() as crew, limits.within(lambda: -1.0), pytest.raises(limits.OutOfTime):
        crew.run(lambda i: i, 100)
    with Threads(3).open() as crew:
        assert crew.run(lambda i: i, 100) == list(range(100))


@pytest.mark.parametrize("n", [5, 40, 300])
def test_a_factor_in_blocks_is_the_factor(n, monkeypatch):
    monkeypatch.setattr(factored, "FACTORED", 32)
    monkeypatch.setattr(factored, "BLOCK", 16)
    root = np.random.default_rng(n).normal(size=(n, n + 3))
    A = root @ root.T
    L = np.tril(factored.cholesky(np.asfortranarray(A)))
    np.testing.assert_allclose(L @ L.T, A, atol=1e-10 * n)
    with pytest.raises(np.linalg.LinAlgError):
        factored.cholesky(np.asfortranarray(A - 100.0 * n * np.eye(n)))


# Many classes


@pytest.mark.parametrize("loss", ["hinge", "softmax_margin"])
@pytest.mark.parametrize("compiled", [False, True])
def test_one_cost_for_all_is_the_table_of_ones(loss, compiled):
    F = problems.classes("csr", 16, 3, 4, loss=loss, compiled=compiled, C=2.0)
    G = problems.classes("csr", 16, 3, 4, loss=loss, compiled=compiled, C=2.0)
    shard = G.shards[0]
    shard.truth = replace(shard.truth, cost=np.ones(1))
    w = np.random.default_rng(1).normal(size=F.size)
    assert F.at(w).value == pytest.approx(G.at(w).value, rel=1e-14)
    np.testing.assert_allclose(F.at(w).gradient, G.at(w).gradient, atol=1e-12)
    found = [get("auto").minimise(f, np.zeros(f.size), Report(tol=1e-9)).objective for f in (F, G)]
    assert found[0] == pytest.approx(found[1], rel=1e-8)


@pytest.mark.parametrize("solver", ["dual", "sgd"])
def test_a_default_cost_is_the_table_of_ones(solver):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)), np.arange(90) % 5
    X[np.arange(90), y % 4] += 2.0
    given = {"solver": solver, "max_iter": 30, "tol": 1e-7}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        one = LinearClassifier("hinge", **given).fit(X, y)
        other = LinearClassifier("hinge", cost=costs.zero_one(5), **given).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize(
    "loss",
    ["log", "softmax_margin", "ovr_log", "hinge", "weston_watkins", "squared_hinge", "squared"],
)
def test_nothing_of_labels_against_labels(loss, kind, monkeypatch):
    monkeypatch.setenv("ARGMAX_COMPILED", "always")
    k, n = 200, 230
    y = np.arange(n) % k
    X = np.random.default_rng(0).normal(size=(n, 1))
    X = X if kind == "dense" else sp.csr_array(X)
    model = LinearClassifier(loss, max_iter=2, n_threads=1)
    shapes = []

    def traced(shape, *rest, **options):
        shapes.append(shape)
        return zeros(shape, *rest, **options)

    zeros = np.zeros
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for name in ("eye", "diag"):
            patch.setattr(np, name, _refuse(getattr(np, name), k))
        patch.setattr(np, "zeros", traced)
        model.fit(X, y)
    assert (k, k) not in shapes


def _refuse(make, k):
    """``make``, which must not give a table of so many rows and columns."""

    def made(*given, **options):
        table = make(*given, **options)
        assert table.shape != (k, k)
        return table

    return made
