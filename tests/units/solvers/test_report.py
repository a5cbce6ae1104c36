"""The account of a run: limits, listeners, and the reason for the end."""

import numpy as np
import pytest

from argmax import SoftmaxRegression
from argmax.errors import NotConverged
from argmax.solvers import Progress, Report, get
from tests.laws import problems

SOLVERS = ["dual", "lbfgs", "newton", "newton_cg", "proximal"]
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def run(solver, objective=None, **options):
    objective = objective or problems.classes(n=200, d=8, C=5.0)
    start = np.zeros(objective.size)
    return get(solver).minimise(objective, start, Report(**{"tol": 1e-10, **options}))


@every_solver
def test_a_converged_run_says_so(solver):
    solution = run(solver)
    assert solution.converged
    assert solution.message.startswith(f"{solver}: tol = 1e-10 met: ")
    assert len(solution.history) <= solution.passes  # the dual looks after several sweeps
    seconds = [row[0] for row in solution.history]
    assert seconds == sorted(seconds)
    assert seconds[-1] <= solution.seconds


@every_solver
def test_max_iter_stops_after_so_many_passes(solver):
    solution = run(solver, max_iter=1)
    assert solution.status == "max_iter"
    assert "max_iter of 1" in solution.message
    assert "above its minimum" in solution.message
    assert solution.passes == 1


@every_solver
def test_a_time_limit_stops_after_the_pass_in_hand(solver):
    solution = run(solver, time_limit=0.0)
    assert solution.status == "time_limit"
    assert "time_limit of 0 s reached" in solution.message
    assert np.isfinite(solution.w).all()


@every_solver
def test_a_callback_that_answers_true_stops_the_run(solver):
    solution = run(solver, callbacks=[lambda progress: True])
    assert solution.status == "stopped"
    assert "a callback asked to stop" in solution.message
    assert len(solution.history) == 1


@every_solver
def test_callbacks_are_told_every_pass(solver):
    told = []
    solution = run(solver, callbacks=[told.append])
    passes = [p.passes for p in told]
    assert passes == sorted(set(passes))
    assert passes[-1] == solution.passes
    assert solver == "dual" or passes == list(range(1, solution.passes + 1))
    assert all(isinstance(p, Progress) and p.w.shape == solution.w.shape for p in told)
    for progress, (seconds, value, gap) in zip(told, solution.history, strict=True):
        assert (progress.objective, progress.gap) == (value, gap)
        assert progress.seconds >= seconds


def test_every_callback_is_told_even_after_one_asked_to_stop():
    told = []
    run("newton", callbacks=[lambda progress: True, told.append])
    assert len(told) == 1


def test_a_run_without_a_penalty_promises_nothing():
    solution = run("newton", problems.classes(n=200, C=np.inf), tol=1e-6)
    assert solution.gap == np.inf
    assert "without a penalty there is no certificate" in solution.message


def test_certified_compares_with_the_value_at_zero():
    objective = problems.classes()
    raw = objective.at(np.ones(objective.size))
    point = objective.settled(raw.w, raw.stamp)
    exact = point.gap / objective.zero
    assert Report(tol=exact * 1.01).certified(point)
    assert not Report(tol=exact * 0.99).certified(point)


def test_only_a_settled_point_is_certified():
    objective = problems.classes()
    objective.lower = -np.inf  # no dual value is known, not even that losses are never negative
    raw = objective.at(np.ones(objective.size))
    assert Report(tol=1e9).promising(raw)
    assert not Report(tol=1e9).certified(raw)


def test_the_first_reason_stays():
    report = Report()
    report.stop("interrupted", "first")
    report.stop("stalled", "second")
    assert (report.status, report.message) == ("interrupted", "first")


# The line on the screen


@every_solver
@pytest.mark.parametrize("verbose", [1, 2])
def test_progress_goes_to_stderr_alone(solver, verbose, capsys):
    solution = run(solver, verbose=verbose)
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.replace("\r", "").splitlines() if line]
    assert "objective" in lines[0]
    assert "certificate" in lines[0]
    if verbose == 2:
        assert len(lines) == len(solution.history)


@every_solver
def test_silence_unless_asked(solver, capsys):
    run(solver)
    assert capsys.readouterr() == ("", "")


# Through an estimator


@pytest.mark.parametrize(
    ("limit", "words"),
    [({"max_iter": 1}, "max_iter of 1"), ({"time_limit": 0.0}, "time_limit of 0 s")],
)
def test_a_limit_is_a_warning_with_advice(limit, words):
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = (X[:, 0] > 0.1).astype(int)
    model = SoftmaxRegression(C=100.0, tol=1e-12, **limit)
    with pytest.warns(NotConverged, match=f"{words}.*Raise max_iter, time_limit or tol"):
        model.fit(X, y)
    assert not model.solution_.converged
    assert model.predict(X).shape == (50,)


def test_a_callback_that_stops_is_not_a_warning():
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = SoftmaxRegression(C=100.0, callbacks=[lambda progress: progress.passes == 2])
    model.fit(X, (X[:, 0] > 0.1).astype(int))
    assert (model.solution_.status, model.n_iter_) == ("stopped", 2)
