"""The choice of a solver, as a function of the data alone, that can be asked why."""

from __future__ import annotations

from dataclasses import replace
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
from .newton_l1 import NewtonL1
from .online import first_order
from .orthant import OrthantWise
from .passive_aggressive import PassiveAggressive
from .perceptron import Perceptron
from .proximal import Proximal
from .report import Report, Snapshot
from .smoothing import Smoothing
from .subgradient import Subgradient
from .watching import Watch, seconds_of_pass, seconds_of_solver

__all__ = ["Auto"]

DUAL_LIMIT = 100.0
"""C · mean ‖x‖² up to which dual coordinate ascent begins; beyond, it mostly crawls. The fit is watched."""

NEWTON_WEIGHTS = 300
"""Weights up to which the full Hessian is cheaper than anything clever, on small problems."""

FEW_SWEEPS, SOON = 10, 0.02
"""Sweeps of the dual that are always worth a try: about so many, and as many more for each unit of
C · mean ‖x‖², is what it takes. An interior-point fit of so many seconds is not worth the risk of that."""

MANY = 300
"""Passes after which a fit that does not end soon is handed on in any case."""

ROUNDS, GROWTH = 4, 4.0
"""How often all solvers get a turn, and how much longer each turn is than the one before."""

CHOICES: tuple[type[Solver], ...] = (
    BlockFrankWolfe, BlockPerceptron, Dual, FrankWolfe, InteriorPoint, LBFGS, Newton, NewtonCG, NewtonL1,
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
            if first_order(objective):
                return FrankWolfe(seed=self.seed), "a hinge has corners, and a dual"
            return Subgradient(seed=self.seed), "a hinge over transitions that see two labels back"
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
        newton = seconds_of_solver("newton", objective)
        if small or newton <= seconds_of_solver("lbfgs", objective):
            return Newton(), f"{weights} weights: the full Hessian is cheap"
        if objective.sparse and not objective.penalised:
            return NewtonCG(), "sparse rows, and no penalty that holds the weights"
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
            return LBFGS(), f"{text}: beyond the dual's reach"
        return LBFGS(), "dense rows: one factor of XᵀX preconditions all classes"

    def _of_hinges(self, objective: Objective) -> tuple[Solver, str]:
        if not objective.random_access:
            return Smoothing(), "a hinge in files or on a cluster, where single rows are far away"
        layout, spread = objective.problem.full, _spread(objective)
        weights = (layout.features + int(layout.intercept)) * layout.columns
        text = f"C · mean ‖x‖² = {spread:.3g}"
        if not objective.penalised:
            return Dual(
                seed=self.seed
            ), "the hard margin is the limit of soft ones, and theirs a dual"
        interior, sweep = (
            seconds_of_solver("interior_point", objective),
            seconds_of_pass("dual", objective),
        )
        soon = min((1.0 + spread) * FEW_SWEEPS * sweep, SOON)
        if interior <= max(FEW_SWEEPS * sweep, soon):
            return (
                InteriorPoint(),
                f"{text}, and {weights} weights: few interior points lead to the end",
            )
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
        if not others:
            return solver.minimise(objective, start, report, state)
        following, turn, best = [*others, solver], 0, None
        states = {solver.name: state}
        while True:
            turn += 1
            longer = GROWTH ** ((turn - 1) // len(following))
            report.watch = _watch(objective, solver, following[:-1], report.tol, longer)
            solution = solver.minimise(objective, start, report, states.get(solver.name))
            best = solution if best is None else _better(solution, best)
            over = solution.status not in ("handed_on", "stalled")
            if over or turn == ROUNDS * len(following):
                return best
            states[solver.name] = solution.state
            solver, following = following[0], [*following[1:], following[0]]
            report.hand_on(solver.name)
            start = best.w

    def _named(self, name: str) -> Solver:
        """The solver that a snapshot comes from."""
        kind: Any = next(kind for kind in CHOICES if kind.name == name)
        solver: Solver = kind(seed=self.seed) if "seed" in signature(kind).parameters else kind()
        return solver

    def _others(self, objective: Objective, solver: Solver) -> list[Solver]:
        """The solvers that may take over, the most promising first."""
        loss = objective.problem.loss
        if not isinstance(objective.problem.layout, Full) or not objective.penalised or loss.online:
            return []
        if objective.l1:
            kinds: list[Solver] = [NewtonL1(), Proximal()] if objective.curved else []
        elif loss.smooth and objective.curved:
            kinds = [Newton(), NewtonCG(), LBFGS()]
            if objective.random_access and loss.name == "squared_hinge":
                kinds.insert(1, InteriorPoint())
            if objective.random_access and objective.sparse and loss.name == "log":
                kinds.append(Dual(seed=self.seed))
        elif loss.name in ("hinge", "weston_watkins") and objective.random_access:
            kinds = [InteriorPoint(), Smoothing(), Dual(seed=self.seed)]
        else:
            return []
        others = [kind for kind in kinds if kind.name != solver.name]
        return [kind for kind in others if seconds_of_solver(kind.name, objective) < np.inf]


def _better(last: Solution, best: Solution) -> Solution:
    """The last solution, with the weights of the best one so far if those are better."""
    if last.status == "converged" or last.objective <= best.objective:
        return last
    gaps = best.gap, best.relative_gap
    return replace(
        last, w=best.w, objective=best.objective, gap=gaps[0], relative_gap=gaps[1], state=None
    )


def _watch(
    objective: Objective, solver: Solver, others: list[Solver], tol: float, longer: float
) -> Watch:
    """A watch over a solver: others may take over once it has had as long as the quickest of them takes."""
    whole = min(seconds_of_solver(other.name, objective) for other in others)
    one = seconds_of_pass(solver.name, objective)
    return Watch(tol * objective.zero, longer * min(whole / one, MANY))


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
