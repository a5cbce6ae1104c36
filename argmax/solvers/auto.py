"""The choice of a solver, as a function of the data alone, that can be asked why."""

from __future__ import annotations

from inspect import signature
from typing import Any, final

import numpy as np

from ..layouts import Full, Linked
from ..objective import Objective
from ..records import Floats, Solution
from .base import Solver
from .block_perceptron import BlockPerceptron
from .blocks import BlockFrankWolfe
from .dual import Dual
from .frank_wolfe import FrankWolfe
from .interior_point import InteriorPoint
from .lbfgs import LBFGS
from .newton import Newton
from .newton_cg import NewtonCG
from .orthant import OrthantWise
from .passive_aggressive import PassiveAggressive
from .perceptron import Perceptron
from .proximal import Proximal
from .report import Report, Snapshot
from .smoothing import Smoothing
from .watching import Watch, interior_seconds, newton_seconds, pass_seconds, sweep_seconds

__all__ = ["Auto"]

DUAL_LIMIT = 10.0
"""C · mean ‖x‖² up to which dual coordinate ascent converges in tens of sweeps; beyond, it crawls."""

NEWTON_WEIGHTS = 300
"""Weights up to which the full Hessian is cheaper than anything clever, on small problems."""

SWEEPS = 30
"""What dual ascent takes for most problems within its reach."""

PASSES = 40
"""What quasi-Newton steps on dense rows take for most problems."""

MANY = 300
"""Passes after which a fit that does not end soon is handed on in any case."""

CHOICES: tuple[type[Solver], ...] = (
    BlockFrankWolfe, BlockPerceptron, Dual, FrankWolfe, InteriorPoint, LBFGS, Newton, NewtonCG,
    OrthantWise, PassiveAggressive, Perceptron, Proximal, Smoothing,
)  # fmt: skip


@final
class Auto(Solver):
    """Chooses by the rows (sparse, dense), the penalty, C · mean ‖x‖², and what a Hessian would cost.

    The fit is watched. Where the certificate does not fall as the first solver promises, or it stalls, its
    point is handed on to another one, which ``solution_.message`` tells.

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SoftmaxRegression().fit(X, y).solution_.solver
    'newton'
    """

    name = "auto"
    needs_smooth = False
    handles_l1 = True

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    def choose(self, objective: Objective) -> tuple[Solver, str]:
        """The solver for this objective, and the reason in one sentence."""
        if isinstance(objective.problem.layout, Linked):
            return self._of_graphs(objective)
        if objective.problem.loss.name in ("perceptron", "perceptron_sum"):
            return Perceptron(seed=self.seed), "the loss is that of the perceptron"
        if objective.problem.loss.name in ("pa1", "pa2"):
            return PassiveAggressive(
                seed=self.seed
            ), "the loss is that of a passive-aggressive learner"
        if not objective.problem.loss.smooth and isinstance(objective.problem.layout, Full):
            return self._of_hinges(objective)
        if objective.problem.loss.name == "hinge":
            return FrankWolfe(seed=self.seed), "a hinge has corners, and a dual"
        if objective.l1 and not objective.curved:
            return OrthantWise(), "an l1 penalty, and gradients only"
        if objective.l1:
            return Proximal(), "an l1 penalty needs proximal steps"
        if not objective.curved:
            return LBFGS(), f"{objective.problem.space!r} offers gradients only"
        return self._of_smooth(objective)

    def _of_smooth(self, objective: Objective) -> tuple[Solver, str]:
        layout = objective.problem.full
        weights = (layout.features + int(layout.intercept)) * layout.columns
        small = weights <= NEWTON_WEIGHTS and not layout.compiled
        if small or newton_seconds(objective) <= PASSES * pass_seconds(objective):
            return Newton(), f"{weights} weights: the full Hessian is cheap"
        if objective.sparse and not objective.random_access:
            return (
                NewtonCG(),
                "sparse rows in files or on a cluster, where single ones are far away",
            )
        if objective.sparse:
            spread = _spread(objective)
            text = f"sparse rows, C · mean ‖x‖² = {spread:.3g}"
            if not layout.compiled:
                return NewtonCG(), f"{text}, and few of them"
            if objective.l2 and spread <= DUAL_LIMIT and objective.problem.loss.name == "log":
                return Dual(
                    seed=self.seed
                ), f"{text} ≤ {DUAL_LIMIT:g}: the dual converges in few sweeps"
            return NewtonCG(), f"{text}: beyond the dual's reach"
        return LBFGS(), "dense rows: one factor of XᵀX preconditions all classes"

    def _of_hinges(self, objective: Objective) -> tuple[Solver, str]:
        if not objective.random_access:
            return Smoothing(), "a hinge in files or on a cluster, where single rows are far away"
        layout, spread = objective.problem.full, _spread(objective)
        weights = (layout.features + int(layout.intercept)) * layout.columns
        rows = sum(len(shard) for shard in objective.shards)
        text = f"C · mean ‖x‖² = {spread:.3g}"
        if not objective.penalised:
            return Dual(
                seed=self.seed
            ), "the hard margin is the limit of soft ones, and theirs a dual"
        sweeps = SWEEPS * max(1.0, spread / DUAL_LIMIT) * sweep_seconds(objective)
        if interior_seconds(objective) <= sweeps:
            return (
                InteriorPoint(),
                f"{text}, and {weights} weights: few interior points lead to the end",
            )
        if spread > DUAL_LIMIT and rows > weights:
            return Smoothing(), f"{text}: beyond the dual's reach, and few weights"
        return Dual(seed=self.seed), f"a hinge has corners, and its dual an exact step; {text}"

    def _of_graphs(self, objective: Objective) -> tuple[Solver, str]:
        if objective.problem.loss.name == "perceptron":
            return BlockPerceptron(seed=self.seed), "the loss is that of the perceptron"
        if objective.problem.loss.name == "hinge":
            return BlockFrankWolfe(seed=self.seed), "a hinge over graphs: one argmax a visit"
        return LBFGS(), f"{objective.problem.space!r} offers gradients only"

    def why(self, objective: Objective) -> str:
        """The reason for the choice."""
        solver, reason = self.choose(objective)
        return f"{solver.name}: {reason}"

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        if isinstance(state, Snapshot):
            solver = self._named(state.solver)
        else:
            solver, _ = self.choose(objective)
        others = self._others(objective, solver)
        if others:
            report.watch = _watch(objective, solver, others[0], report.tol)
        solution = solver.minimise(objective, start, report, state)
        while others and solution.status in ("handed_on", "stalled"):
            following = others.pop(0)
            report.hand_on(following.name)
            solution = following.minimise(objective, solution.w, report)
        return solution

    def _named(self, name: str) -> Solver:
        """The solver that a snapshot comes from."""
        kind: Any = next(kind for kind in CHOICES if kind.name == name)
        solver: Solver = kind(seed=self.seed) if "seed" in signature(kind).parameters else kind()
        return solver

    def _others(self, objective: Objective, solver: Solver) -> list[Solver]:
        """The solvers that may take over, the most promising first."""
        if not isinstance(objective.problem.layout, Full) or objective.l1:
            return []
        loss = objective.problem.loss
        kinds: list[Solver] = []
        if not objective.penalised or loss.online:
            return []
        if loss.smooth and objective.curved:
            kinds = [Newton()] if newton_seconds(objective) < np.inf else []
            kinds.append(NewtonCG())
            if objective.random_access and objective.sparse and loss.name == "log":
                kinds.append(Dual(seed=self.seed))
        elif loss.name in ("hinge", "weston_watkins") and objective.random_access:
            kinds = [InteriorPoint()] if interior_seconds(objective) < np.inf else []
            kinds += [Smoothing(), Dual(seed=self.seed)]
        return [kind for kind in kinds if kind.name != solver.name]


def _watch(objective: Objective, solver: Solver, other: Solver, tol: float) -> Watch | None:
    """A watch over the first solver, if what the other takes can be told in passes of this one."""
    one = pass_seconds(objective)
    if solver.name == "dual":
        one = sweep_seconds(objective)
    elif solver.name not in ("lbfgs", "newton_cg"):
        return None
    if other.name == "newton":
        whole = newton_seconds(objective)
    elif other.name == "interior_point":
        whole = interior_seconds(objective)
    else:
        whole = MANY * one
    return Watch(tol * objective.zero, min(whole / one, MANY))


def _spread(objective: Objective) -> float:
    """C · Σ s_i ‖x_i‖² / Σ s_i, in the units of the dual step."""
    total = weight = 0.0
    for shard in objective.shards:
        q = objective.norms(shard)
        s = np.ones(len(q)) if shard.truth.weight is None else shard.truth.weight
        total, weight = total + float(q @ s), weight + float(s.sum())
    largest = max(
        float(np.max(s.truth.weight)) if s.truth.weight is not None else 1.0
        for s in objective.shards
    )
    return objective.C * largest * total / max(weight, 1e-300)
