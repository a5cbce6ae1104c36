"""Solvers: from an objective to the w that minimises it. One file an algorithm.

    Auto        picks one of the others from the data's shape; ask ``Auto().why(objective)``
    Dual        dual coordinate ascent: the hinges; sparse rows, while C · mean ‖x‖² is small
    LBFGS       preconditioned quasi-Newton: dense rows
    NewtonCG    truncated Newton: the steady fallback
    Newton      the full Hessian: few weights
    Proximal    l1 and elastic net
    NewtonL1    the same with few weights: any scale, any C
    OrthantWise l1 and elastic net of sequences
    SGD         stochastic gradients: many rows, and a first answer soon
    Perceptron  the averaged perceptron
    PassiveAggressive  its relatives that want a margin
    FrankWolfe  the structured SVM, with its duality gap: sequences
    BlockFrankWolfe, BlockPerceptron  the same for graphs: one argmax a visit
    Subgradient the structured SVM by stochastic subgradients: sequences
    InteriorPoint  the hinges of classes with few weights: any scale, any C
    Smoothing   the hinges of classes with their corners rounded off: few features, any scale

Each is an object with its own options, or its name: ``solver="lbfgs"`` is ``solver=solvers.LBFGS()``.
"""

from .auto import Auto
from .base import Solver
from .block_perceptron import BlockPerceptron
from .blocks import BlockFrankWolfe
from .dual import Dual
from .frank_wolfe import FrankWolfe
from .interior_point import InteriorPoint
from .lbfgs import LBFGS
from .newton import Newton
from .newton_cg import NewtonCG
from .newton_l1 import NewtonL1
from .orthant import OrthantWise
from .passive_aggressive import PassiveAggressive
from .perceptron import Perceptron
from .proximal import Proximal
from .report import Keeper, Progress, Report, Snapshot
from .sgd import SGD
from .smoothing import Smoothing
from .subgradient import Subgradient

__all__ = [
    "Auto",
    "BlockFrankWolfe",
    "BlockPerceptron",
    "Dual",
    "FrankWolfe",
    "InteriorPoint",
    "Keeper",
    "LBFGS",
    "Newton",
    "NewtonCG",
    "NewtonL1",
    "OrthantWise",
    "PassiveAggressive",
    "Perceptron",
    "Progress",
    "Proximal",
    "Report",
    "SGD",
    "Smoothing",
    "Snapshot",
    "Solver",
    "Subgradient",
    "get",
]

_BY_NAME: dict[str, type[Solver]] = {
    solver.name: solver
    for solver in (
        Auto, BlockFrankWolfe, BlockPerceptron, Dual, FrankWolfe, InteriorPoint, LBFGS, Newton, NewtonCG,
        NewtonL1,
        OrthantWise, PassiveAggressive, Perceptron, Proximal, SGD, Smoothing, Subgradient,
    )
}  # fmt: skip


def get(solver: str | Solver) -> Solver:
    """A solver by its name, or the solver itself.

    >>> from argmax import solvers
    >>> solvers.get("newton_cg")
    NewtonCG(inner=250)
    """
    if isinstance(solver, Solver):
        return solver
    if solver not in _BY_NAME:
        from ..errors import InvalidInput

        raise InvalidInput(f"solver must be one of {sorted(_BY_NAME)} or a Solver; got {solver!r}.")
    return _BY_NAME[solver]()
