"""Solvers by name, and combinations that are refused before any work."""

import numpy as np
import pytest

from argmax import losses, solvers
from argmax.errors import InvalidInput, Unsupported
from tests.laws import problems

NAMES = ["auto", "dual", "lbfgs", "newton", "newton_cg", "proximal"]


@pytest.mark.parametrize("name", NAMES)
def test_a_solver_by_name_or_itself(name):
    solver = solvers.get(name)
    assert solver.name == name
    assert solvers.get(solver) is solver
    assert repr(solver).startswith(type(solver).__name__ + "(")


@pytest.mark.parametrize("wrong", ["sdg", "LBFGS", "", None, 3, solvers.LBFGS])
def test_an_unknown_solver_lists_the_known_ones(wrong):
    with pytest.raises(InvalidInput, match=r"solver must be one of \['auto', 'block_frank_wolfe'"):
        solvers.get(wrong)


def test_options_show():
    assert repr(solvers.LBFGS(memory=5, refresh=(4,))) == "LBFGS(memory=5, refresh=(4,), warmup=10)"


class Counting:
    """An engine that must not be asked to do anything."""

    random_access = True

    def fold(self, *arguments):
        raise AssertionError("work was done before the refusal")

    each = fold


def refused(solver, words, *, engine=None, loss=None, **options):
    objective = problems.classes(**options)
    objective.engine = engine or Counting()
    if loss is not None:
        object.__setattr__(objective.problem, "loss", loss)
    with pytest.raises(Unsupported, match=words):
        solvers.get(solver).minimise(objective, np.zeros(objective.size), solvers.Report())


@pytest.mark.parametrize("solver", ["dual", "lbfgs", "newton", "newton_cg"])
def test_l1_needs_proximal(solver):
    refused(solver, f"solver '{solver}' cannot handle an l1 penalty. Use solver='proximal'", l1=1.0)


def test_the_dual_needs_a_penalty():
    refused("dual", "solver 'dual' needs a penalty", C=np.inf)


def test_the_dual_needs_single_rows():
    class Stream(Counting):
        random_access = False

    refused("dual", "visits single rows", engine=Stream())


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "newton_cg", "proximal"])
def test_a_loss_with_corners_needs_another_solver(solver):
    class Corners:
        name, smooth = "hinge", False

    refused(solver, f"solver '{solver}' needs a smooth loss; 'hinge' is not", loss=Corners())


@pytest.mark.parametrize("loss", ["squared", "ovr_log", "softmax_margin", "squared_hinge"])
def test_the_dual_names_the_losses_it_knows(loss):
    words = f"solver 'dual' has no step for loss '{loss}', only for log, hinge, weston_watkins"
    refused("dual", words, loss=losses.get(loss))


@pytest.mark.parametrize("loss", ["log", "squared_hinge"])
def test_smoothing_is_for_the_hinges(loss):
    refused("smoothing", "is for the hinges of LinearClassifier", loss=losses.get(loss))
