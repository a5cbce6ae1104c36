"""The hard margin, C = ∞: of all w that keep every answer at its distance, the one of least norm.

    minimise ½ ‖w‖²   such that   score_i(y_i) − score_i(c) ≥ Δ_i(c)   for all examples i and answers c

It is the limit of soft margins, and reached at a finite C: once nobody pays for being too near, a larger C
changes nothing. So C grows, each fit starting at the last one, until that is so.

Whether there is such a w: one of margin γ (for unit vectors) has F ≤ ½ (max Δ / γ)² whatever C. Where the
dual of a soft margin, which no F is below, is more than that for a γ of next to nothing, there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NotSeparable
from ..objective import Objective
from ..records import Floats, Solution
from .margins import climb
from .report import Report
from .smoothing import Smoothing

__all__ = ["soft", "widest"]

GROWTH = 10.0
"""Factor from one C to the next."""

NOTHING = 1e-4
"""A margin below this share of the longest row is none."""


def soft(objective: Objective, C: float = 1.0) -> Objective:
    """The problem with a soft margin."""
    return Objective(objective.problem, objective.shards, objective.engine, C)


def widest(
    name: str, seed: int | None, objective: Objective, start: Floats, report: Report
) -> Solution:
    """The w of the hard margin, or ``NotSeparable``."""
    longest, most = _longest(objective), _largest_cost(objective)
    C, w, state = 1.0 / longest, start, None
    while True:
        inner = Report(report.tol, max(report.max_iter - report.passes, 1), report.left)
        softer = soft(objective, C)
        found = _solved(name, seed, softer, w, inner, state)
        w, state = found.w, found.state
        report(softer, w, found.objective, found.gap, max(found.passes, 1))
        if found.objective - found.gap > 0.5 * (most / NOTHING) ** 2 / longest:
            raise NotSeparable(
                "C=inf asks for a hard margin, but the classes are not linearly separable: no weights keep "
                f"them apart by even {NOTHING:g} of the longest row. Use a finite C."
            )
        paid = found.objective - softer.penalty(w)
        done = found.converged and paid <= max(report.tol * found.objective, 2.0 * found.gap)
        if done or report.status:
            point = softer.at(w)
            point.prove(found.objective - found.gap)
            return report.solution(softer, point, name, state=state)
        C *= GROWTH


def _solved(
    name: str, seed: int | None, objective: Objective, w: Floats, report: Report, state: Any
) -> Solution:
    """One soft margin: few weights by smoothing, which does not mind a large C, many in the dual."""
    layout = objective.problem.full
    weights = (layout.features + int(layout.intercept)) * layout.columns
    if sum(len(shard) for shard in objective.shards) > weights:
        return Smoothing().minimise(objective, w, report)
    return climb(name, seed, objective, report, state, {})


def _longest(objective: Objective) -> float:
    """max ‖x‖², the column of ones included."""
    layout = objective.problem.full
    scale = 1.0 if layout.label_features is None else 2.0  # two classes: norms are halved
    norms = [float(objective.norms(shard).max(initial=0.0)) for shard in objective.shards]
    return scale * max(norms) + float(layout.intercept) or 1.0


def _largest_cost(objective: Objective) -> float:
    """max Δ."""
    tables = [
        s.truth.prices if s.truth.prices is not None else s.truth.cost for s in objective.shards
    ]
    return max(1.0 if table is None else float(np.max(table)) for table in tables)
