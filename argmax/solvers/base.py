"""What a solver is, what it needs, and the sentence when it does not get it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..errors import InvalidInput, Unsupported
from ..objective import Objective, Point
from ..passes import Problem
from ..records import Floats, Solution
from .report import Report, Snapshot, Values

__all__ = ["Solver", "begin", "resume"]


WALK = 5
"""Vectors of all weights that steps on single rows need: w, its average, the first w and the last."""

SPARSE, DENSE = 8, 30
"""Vectors of all weights that minimisers keep, and the sums of the parts of dense rows."""

TABLES = 5
"""Tables of scores, rows × classes: at w, along a direction, curvature, residuals, and the best so far."""


class Solver(ABC):
    """An algorithm with its own options.

    ``minimise`` starts at ``start`` (and at ``state``, if an earlier Solution of the same solver left
    one), reports every pass, and returns a Solution whose certificate does not depend on the start. A
    ``Snapshot`` for a ``state`` is a run to go on with: the start does not matter then.

    >>> from argmax import solvers
    >>> [name for name in ("dual", "lbfgs", "newton", "proximal") if solvers.get(name).handles_l1]
    ['proximal']
    """

    name: str
    needs_smooth: bool = True
    needs_curvature: bool = False
    needs_random_access: bool = False
    handles_l1: bool = False
    handles_no_penalty: bool = True

    def check(self, objective: Objective) -> None:
        """One sentence before any work if objective and solver do not go together."""
        loss, space = objective.problem.loss, objective.problem.space
        if self.needs_smooth and not loss.smooth:
            raise Unsupported(
                f"solver {self.name!r} needs a smooth loss; {loss.name!r} is not. Use solver='auto', or "
                "loss='log'."
            )
        if self.needs_curvature and not objective.curved:
            raise Unsupported(
                f"solver {self.name!r} needs second derivatives, which {space!r} does not have. "
                "Use solver='lbfgs'."
            )
        if objective.l1 and not self.handles_l1:
            raise Unsupported(
                f"solver {self.name!r} cannot handle an l1 penalty. Use solver='proximal', or "
                "penalty='l2'."
            )
        if not objective.penalised and not self.handles_no_penalty:
            raise Unsupported(
                f"solver {self.name!r} needs a penalty (it works on the dual problem). Use "
                "solver='lbfgs', or a finite C."
            )
        if self.needs_random_access and not objective.random_access:
            raise Unsupported(
                f"solver {self.name!r} visits single rows in any order, so they must be in the memory of "
                "this process. Use solver='auto', or 'newton_cg' for sparse and 'lbfgs' for dense rows."
            )

    def bytes_held(self, problem: Problem, rows: int) -> float:
        """Bytes of weights and scores that a run holds at once, about, for so many rows of classes."""
        layout = problem.full
        if problem.loss.online:
            return 8.0 * WALK * layout.size
        vectors = SPARSE if layout.sparse else DENSE
        return 8.0 * (vectors * layout.size + TABLES * rows * layout.labels)

    @abstractmethod
    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        """The w of least F, or the best found before a limit."""

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({options})"


def begin(
    solver: Solver, objective: Objective, start: Floats, report: Report, state: Any
) -> tuple[Objective, Point, Values]:
    """The objective, the first point, and what a snapshot kept beside it (nothing in a run that starts).

    The point is that at ``start``; or at zero weights, if those are better. Far out every probability is
    0 or 1, the curvature vanishes and Newton steps overflow: a bad warm start is worth less than none.
    """
    if isinstance(state, Snapshot):
        kept = resume(solver, report, state)
        objective = objective.precise() if kept["precise"] and objective.rounded else objective
        objective.lower = max(objective.lower, float(kept.get("lower", -np.inf)))
        objective.lows = kept.get("lows", objective.lows)
        return objective, objective.at(kept["w"].astype(objective.dtype, copy=False)), kept
    report.solver = solver.name
    start = start.astype(objective.dtype, copy=False)
    point = objective.at(start)
    if point.value > objective.zero:
        point = objective.at(start * 0.0)
    return objective, point, {}


def resume(solver: Solver, report: Report, snapshot: Snapshot, told: bool = True) -> Values:
    """Take up the account of a snapshot; returns what it kept."""
    if snapshot.solver != solver.name:
        raise InvalidInput(
            f"the snapshot is one of solver {snapshot.solver!r}; this is {solver.name!r}. "
            f"Use solver={snapshot.solver!r}, or start anew."
        )
    report.solver = solver.name
    report.resume(snapshot, told)
    return snapshot.values
