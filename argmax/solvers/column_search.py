"""A step of its own for every weight column, where columns are separate problems.

One-against-rest losses are k problems in one objective,  F(w) = Σ_c F_c(w_c). A direction that suits them
all wants another length for each: with a common one the hardest column holds the others back, and Newton's
method creeps. Here each column is moved to where its slope vanishes,

    F_c'(t_c) = ∂/∂t_c F_c(w_c + t_c d_c) ≈ 0,    found between a place of negative and one of positive slope,

all columns side by side: one look at the scores gives all slopes. The regula falsi of each bracket is the
Illinois variant (Dowell and Jarratt 1971, BIT 11): an end that stays twice has its slope halved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import passes
from ..engines import Stamp
from ..objective import Point
from ..records import Floats

__all__ = ["by_columns", "uneven"]

LOOKS = 30
"""Looks at most: each leaves at most half of a bracket, or doubles a step."""

FLAT = 0.1
"""Share of the first slope at which a column stands well enough."""


UNEVEN = 0.5
"""Share of the first slope that a common step may leave in a column."""


def uneven(point: Point, trial: Point, direction: Floats) -> bool:
    """Whether a common step suits some columns badly: at ``trial`` their slopes have not fallen by half."""
    layout = point.objective.problem.full
    ahead = layout.matrix(direction)[:, : layout.columns]
    before, after = (
        (layout.matrix(at.gradient)[:, : layout.columns] * ahead).sum(axis=0)
        for at in (point, trial)
    )
    return bool((np.abs(after) > UNEVEN * np.abs(before)).any())


def by_columns(
    point: Point, direction: Floats, more: Callable[[Floats], Floats] | None = None
) -> Floats:
    """``direction`` with every column as long as suits it.

    ``more`` gives what another smooth penalty adds to the slopes (columns,) at some steps (columns,).
    """
    objective = point.objective
    layout, line = objective.problem.full, Stamp(direction)
    columns = layout.columns
    objective.fold(passes.direction, point.stamp, line)
    penalised = layout.matrix(objective.bound(point.w))[:, :columns]
    ahead = layout.matrix(objective.bound(direction))[:, :columns]
    own, bend = (penalised * ahead).sum(axis=0), (ahead * ahead).sum(axis=0)

    def slopes(steps: Floats) -> Floats:
        sums = objective.fold(passes.slopes, point.stamp, line, steps)["slopes"]
        total = np.asarray(objective.C * sums + objective.l2 * (own + steps * bend))
        return total if more is None else total + more(steps)

    steps = _steps(slopes, columns)
    for shard in objective.shards:
        shard.drop("step", line)
    moved = direction.copy()
    layout.matrix(moved)[:, :columns] *= steps
    return moved


def _steps(slopes: Callable[[Floats], Floats], columns: int) -> Floats:
    """t (columns,) with slopes near zero, and never beyond a place of negative slope but by a little."""
    low, high = np.zeros(columns), np.full(columns, np.inf)
    first = slopes(low)
    low_slope, high_slope = first.copy(), np.zeros(columns)
    steps, side = np.ones(columns), np.zeros(columns)
    done = first >= 0.0
    steps[done] = 0.0
    for _ in range(LOOKS):
        here = slopes(steps)
        done |= np.abs(here) <= FLAT * np.abs(first)
        if done.all():
            return steps
        falling, rising = ~done & (here < 0.0), ~done & (here >= 0.0)
        # An end that stays for the second time counts half.
        high_slope[falling & (side < 0)] *= 0.5
        low_slope[rising & (side > 0)] *= 0.5
        low[falling], low_slope[falling], side[falling] = steps[falling], here[falling], -1
        high[rising], high_slope[rising], side[rising] = steps[rising], here[rising], 1
        open_ended = ~done & np.isinf(high)
        inside = ~done & np.isfinite(high)
        steps[open_ended] = 4.0 * low[open_ended]
        share = low_slope[inside] / (low_slope[inside] - high_slope[inside])
        steps[inside] = low[inside] + share * (high[inside] - low[inside])
    return np.where(done, steps, low)
