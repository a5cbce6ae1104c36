"""A factor in float32 does what one in float64 does, and gives way to it where it must."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from argmax.objective import Point
from argmax.solvers import LBFGS, Report, preconditioner
from argmax.solvers.line_search import Passes
from argmax.solvers.preconditioner import Preconditioner
from tests.laws import problems


@pytest.fixture
def single(monkeypatch):
    monkeypatch.setattr(preconditioner, "SINGLE_FEATURES", 1)


def make(k=4, **options):
    return problems.classes("float64", 200, 12, k, compiled=True, weighted=True, **options)


def start(F) -> Point:
    return F.at(problems.random_w(F.problem.full, np.random.default_rng(0), 0.1))


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("mean", [True, False])
def test_both_factors_give_the_same_but_for_rounding(k, mean, monkeypatch):
    F, found = make(k), []
    point, v = start(F), problems.random_w(F.problem.full, np.random.default_rng(1))
    for least in (1, 1000):
        monkeypatch.setattr(preconditioner, "SINGLE_FEATURES", least)
        precondition = Preconditioner(F)
        precondition.refresh(point, mean)
        found.append(precondition.several(v, 2.0 * v))
    assert precondition.kind == "factor"
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3, atol=1e-5 * abs(found[1][0]).max())


@pytest.mark.usefixtures("single")
def test_l_bfgs_reaches_the_optimum_with_a_factor_in_float32(monkeypatch):
    F = make(C=10.0)
    found = LBFGS().minimise(F, np.zeros(F.size), Report(1e-12))
    monkeypatch.setattr(preconditioner, "SINGLE_FEATURES", 1000)
    expected = LBFGS().minimise(F, np.zeros(F.size), Report(1e-12))
    assert found.status == "converged"
    assert found.objective == pytest.approx(expected.objective, rel=1e-11)


@pytest.mark.usefixtures("single")
def test_a_run_with_a_factor_in_float32_goes_on_from_any_snapshot_with_the_same_bits():
    F, kept = make(C=10.0), []
    keep = [lambda progress: kept.append(progress.snapshot())]
    whole = LBFGS().minimise(F, np.zeros(F.size), Report(1e-9, callbacks=keep))
    for cut in [snapshot for snapshot in kept if snapshot is not None][2::4]:
        assert cut.values["factor"].dtype == np.float32
        rest = LBFGS().minimise(F, np.zeros(F.size), Report(1e-9), cut)
        assert rest.w.tobytes() == whole.w.tobytes()


@pytest.mark.usefixtures("single")
def test_where_float32_is_not_definite_float64_is_used(monkeypatch):
    def factor(A, **options):
        if A.dtype == np.float32:
            raise LinAlgError
        return cho_factor(A, **options)

    cho_factor = preconditioner.cho_factor
    monkeypatch.setattr(preconditioner, "cho_factor", factor)
    F = make()
    precondition = Preconditioner(F)
    precondition.refresh(start(F), mean=False)
    assert precondition.kind == "factor"
    assert precondition(np.ones(F.size)).dtype == np.float64
    assert not precondition.single


@pytest.mark.usefixtures("single")
def test_squares_that_float32_cannot_hold_are_summed_in_float64():
    F = make()
    F.shards[0].structures.rows[:, 3] *= 1e25
    precondition = Preconditioner(F)
    precondition.refresh(F.at(np.zeros(F.size)), mean=False)
    assert precondition.kind == "factor"
    assert not precondition.single


def test_a_line_by_passes_is_the_line_by_scores():
    F = make()
    point, direction = start(F), problems.random_w(F.problem.full, np.random.default_rng(2))
    line, passes = point.line(direction), Passes(point, direction)
    for step in (0.0, 0.5, -0.01, 2.0):
        assert passes(step) == pytest.approx(line(step), rel=1e-10)
    passes.close()
    assert passes.best.value <= point.value
