"""A solver taken up from any of its snapshots ends with the bits of the run that was never cut off."""

import numpy as np
import pytest

from argmax.errors import InvalidInput
from argmax.solvers import (
    LBFGS,
    Auto,
    Dual,
    Newton,
    NewtonCG,
    Proximal,
    Report,
    Smoothing,
    dual,
    margins,
)
from tests.laws import problems

SOLVERS = [Dual(), LBFGS(), LBFGS(3, (2, 5)), Newton(), NewtonCG(), Proximal(), Proximal(full=0)]
KINDS = [("float64", 3, True), ("float64", 2, False), ("float32", 3, True), ("csr", 4, True)]

every_solver = pytest.mark.parametrize("solver", SOLVERS, ids=repr)


@pytest.fixture(autouse=True)
def _a_look_after_every_sweep(monkeypatch):
    monkeypatch.setattr(dual, "PATIENCE", (0.0, 0.0))
    monkeypatch.setattr(margins, "PATIENCE", 0.0)


def make(solver, kind="float64", k=3, compiled=False, **options):
    """A problem of some ten passes; the dual likes strong penalties."""
    C = 0.03 if isinstance(solver, Dual) else 3.0
    return problems.classes(kind, 120, 6, k, compiled=compiled, weighted=True, C=C, **options)


def solve(solver, F, state=None, callbacks=(), tol=1e-9, **options):
    report = Report(tol, callbacks=callbacks, **options)
    return solver.minimise(F, np.zeros(F.size), report, state)


def taken(solver, F, **options):
    """The solution, and every snapshot on the way."""
    kept = []
    keep = [lambda progress: kept.append(progress.snapshot())]
    solution = solve(solver, F, callbacks=keep, **options)
    return solution, [snapshot for snapshot in kept if snapshot is not None]


def told(solution):
    """All of a solution but its clock."""
    history = [row[1:] for row in solution.history]
    certificate = solution.objective, solution.gap, solution.status, solution.passes
    return *certificate, history, solution.w.tobytes()


@every_solver
@pytest.mark.parametrize(("kind", "k", "compiled"), KINDS)
def test_every_snapshot_leads_to_the_same_bits(solver, kind, k, compiled):
    penalties = [(0.0, 1.0), (1.0, 0.0), (0.3, 0.7)] if solver.handles_l1 else [(0.0, 1.0)]
    for l1, l2 in penalties:
        whole, kept = taken(solver, make(solver, kind, k, compiled, l1=l1, l2=l2))
        assert len(kept) >= 2
        for snapshot in kept:
            again = solve(solver, make(solver, kind, k, compiled, l1=l1, l2=l2), snapshot)
            assert told(again) == told(whole)
            assert again.history[: len(snapshot.history)] == list(snapshot.history)


@pytest.mark.parametrize("solver", [Dual(), Smoothing()], ids=repr)
@pytest.mark.parametrize("loss", ["hinge", "weston_watkins"])
@pytest.mark.parametrize(("kind", "k", "compiled"), KINDS[1:])
def test_snapshots_of_the_hinges(solver, loss, kind, k, compiled):
    whole, kept = taken(solver, make(solver, kind, k, compiled, loss=loss), tol=1e-5)
    assert len(kept) >= 2
    for snapshot in kept[:: max(len(kept) // 4, 1)]:
        again = solve(solver, make(solver, kind, k, compiled, loss=loss), snapshot, tol=1e-5)
        assert told(again) == told(whole)


@pytest.mark.parametrize("solver", [LBFGS(), NewtonCG()], ids=repr)
def test_a_snapshot_after_the_change_to_float64_goes_on_in_float64(solver):
    whole, kept = taken(solver, make(solver, "float32", compiled=True), tol=1e-15)
    precise = [snapshot for snapshot in kept if snapshot.values["precise"]]
    assert precise
    assert not kept[0].values["precise"]
    for snapshot in precise:
        again = solve(solver, make(solver, "float32", compiled=True), snapshot, tol=1e-15)
        assert told(again) == told(whole)


@every_solver
def test_the_last_pass_before_a_limit_has_a_snapshot_to_go_on_from(solver):
    whole = solve(solver, make(solver))
    last = []

    def keep(progress):
        if progress.last:
            last.append(progress.snapshot())

    short = solve(solver, make(solver), callbacks=[keep], max_iter=2)
    assert (short.status, short.passes, len(last)) == ("max_iter", 2, 1)
    more = solve(solver, make(solver), last[0])
    assert (more.passes, more.w.tobytes()) == (whole.passes, whole.w.tobytes())
    still = solve(solver, make(solver), last[0], max_iter=2)
    assert (still.status, still.passes) == ("max_iter", 2)


@every_solver
def test_callbacks_hear_of_no_pass_twice(solver):
    whole, kept = taken(solver, make(solver))
    heard = []
    solve(solver, make(solver), kept[1], callbacks=[lambda progress: heard.append(progress.passes)])
    assert heard[0] > kept[1].passes
    assert heard[-1] == whole.passes


def test_seconds_add_up_and_a_time_limit_counts_from_the_new_start():
    solver = LBFGS()
    _, kept = taken(solver, make(solver))
    late = type(kept[1])(solver.name, 2, 1000.0, kept[1].history, kept[1].values)
    solution = solve(solver, make(solver), late, time_limit=500.0)
    assert solution.converged
    assert solution.seconds > 1000.0


def test_a_snapshot_of_another_solver_is_refused_by_name():
    _, kept = taken(LBFGS(), make(LBFGS()))
    with pytest.raises(InvalidInput, match=r"'lbfgs'; this is 'newton'. Use solver='lbfgs'"):
        solve(Newton(), make(Newton()), kept[0])


def test_auto_hands_a_snapshot_on():
    whole, kept = taken(Auto(), make(Auto()))
    assert told(solve(Auto(), make(Auto()), kept[1])) == told(whole)


def test_a_shifted_or_overtaken_point_is_not_fresh():
    F = make(Newton())
    first = F.at(np.zeros(F.size))
    assert first.fresh
    second = F.at(np.ones(F.size))
    assert (first.fresh, second.fresh) == (False, True)
    assert not F.settled(second.w, second.stamp).fresh
    assert not second.fresh
