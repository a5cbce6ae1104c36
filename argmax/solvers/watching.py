"""Watching a fit: whether it ends soon, or another solver would end sooner.

A solver's gap falls by about the same factor in every pass. From the last half of its passes

    remaining = log(gap / wanted) / rate,     rate = log(gap at half time / gap) / passes since half time

and where that is more than what another solver takes in all, told in passes of this one, and more than twice
what was done, the point is handed on. Before anything is judged, as many passes are made as the other one
would take, and at least ``FIRST``. So the whole fit takes at most some three times as long as the better of
the two. No clock is read: the same data lead to the same decisions on any machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

from ..layouts import Full
from ..objective import Objective
from .factored import hessian_bytes, hessian_work
from .rotation import rank_bound

__all__ = ["Watch", "pass_seconds", "seconds_of_pass", "seconds_of_solver", "sweep_seconds"]

PRODUCTS, PASSES, VISITS, EXPONENTIALS = 2e10, 2e9, 5e8, 2e8
"""Multiply-adds a second of matrix products, of passes over rows, of visits to single rows; and exponentials.
Only their ratios matter: they were measured on one core each, and differ little between machines."""

USUAL = {
    "dual": 30.0, "lbfgs": 40.0, "newton": 15.0, "newton_cg": 12.0, "interior_point": 15.0, "smoothing": 60.0,
    "proximal": 15.0, "newton_l1": 40.0,
}  # fmt: skip
"""Passes, as each solver counts them, that it takes for most problems."""

MANY = 300
"""Passes of quasi-Newton steps that a hard problem takes."""

INNER = 20
"""Hessian products of a truncated Newton step, mostly."""

FULL, SUPPORTS = 1000, 10
"""Weights up to which ``proximal`` forms the Hessian, and the supports that it then tries in a step."""

FIRST = 10
"""Passes before which nothing is judged."""

PATIENCE = 2
"""Passes still expected, over those done, with which a solver goes on: where one finds a problem harder than
most, others will too."""

LOOKS = 4
"""Gaps before which nothing is judged: some solvers tell of many passes at once."""

MEMORY = 2**31
"""Bytes that a Hessian may take where nobody asked for one."""


@final
class Watch:
    """Told every pass; says why the point should be handed on, or nothing.

    ``budget`` is what the other solver takes, in passes of this one.

    >>> from argmax.solvers.watching import Watch
    >>> watch = Watch(wanted=1e-6, budget=20.0)
    >>> told = [watch(i, 100.0, 0.99**i) for i in range(100)]
    >>> next(i for i, reason in enumerate(told) if reason)
    20
    """

    def __init__(self, wanted: float, budget: float) -> None:
        self.wanted, self.budget = wanted, budget
        self.gaps: list[tuple[int, float]] = []
        self.values: list[float] = []

    def __call__(self, passes: int, value: float, gap: float) -> str | None:
        best = min(gap, self.gaps[-1][1]) if self.gaps else gap
        self.gaps.append((passes, best))
        self.values.append(value)
        done = passes - self.gaps[0][0]
        if done < max(FIRST, self.budget) or len(self.gaps) < LOOKS or best <= self.wanted:
            return None
        half = next(at for at in self.gaps if at[0] - self.gaps[0][0] >= done / 2)
        since, before = passes - half[0], half[1]
        rate = math.log(before / best) / since if 0.0 < best < before < math.inf else 0.0
        remaining = math.log(best / self.wanted) / rate if rate > 0.0 else math.inf
        if remaining <= max(self.budget, FIRST, PATIENCE * done):
            return None
        more = f"{remaining:.0f} more passes" if remaining < 1e6 else "no end"
        return f"{more} expected after {done}"


def _shape(objective: Objective) -> tuple[float, float, Full]:
    """Rows, entries, and the layout. (Shards on a cluster tell their length and work, no more.)"""
    layout, shards = objective.problem.full, objective.shards
    rows, work = (float(sum(counts)) for counts in (map(len, shards), (s.work for s in shards)))
    return rows, work / layout.width, layout


def pass_seconds(objective: Objective) -> float:
    """One pass, roughly: scores, losses and gradient."""
    rows, entries, layout = _shape(objective)
    return 2.0 * entries * layout.columns / PASSES + rows * layout.labels / EXPONENTIALS + 1e-5


def sweep_seconds(objective: Objective) -> float:
    """One visit to every row."""
    rows, entries, layout = _shape(objective)
    return 2.0 * entries * layout.columns / VISITS + rows * layout.labels / EXPONENTIALS + 1e-4


def _hessian_seconds(objective: Objective, crossed: bool, rank: int | None = None) -> float:
    rows, _, layout = _shape(objective)
    if hessian_bytes(layout, crossed, rank) > MEMORY:
        return math.inf
    return hessian_work(layout, crossed, int(rows), rank) / PRODUCTS + 1e-4


def seconds_of_pass(name: str, objective: Objective) -> float:
    """What a solver calls a pass, roughly; ∞ where its Hessian is too large, or there is none."""
    kinds: dict[str, Callable[[Objective], float]] = {
        "dual": sweep_seconds,
        "newton": _newton_step,
        "newton_l1": _newton_step,
        "smoothing": _smooth_step,
        "interior_point": _interior_step,
        "proximal": _proximal_step,
        "newton_cg": lambda objective: INNER * 2.0 * pass_seconds(objective),
    }
    return kinds.get(name, pass_seconds)(objective)


def seconds_of_solver(name: str, objective: Objective) -> float:
    """A whole fit by a solver, where it goes as it mostly does."""
    return USUAL[name] * seconds_of_pass(name, objective)


def _newton_step(objective: Objective) -> float:
    """One Hessian, its factor, and a step along the direction."""
    if not objective.curved:
        return math.inf
    crossed = objective.problem.curvature.crossed
    return _hessian_seconds(objective, crossed) + 3.0 * pass_seconds(objective)


def _smooth_step(objective: Objective) -> float:
    """A step of the fits of ``smoothing``: by Newton's method where that is cheap."""
    newton = _hessian_seconds(objective, True) + 3.0 * pass_seconds(objective)
    return min(newton, MANY * pass_seconds(objective) / USUAL["smoothing"])


def _proximal_step(objective: Objective) -> float:
    """A model of second order and its minimum, or conjugate gradients on the support."""
    step = _newton_step(objective)
    weights = (objective.problem.full.features + 1.0) * objective.problem.full.columns
    if weights > FULL or math.isinf(step):
        return INNER * 2.0 * pass_seconds(objective)
    return step + SUPPORTS * weights**3 / 3.0 / PRODUCTS


def _interior_step(objective: Objective) -> float:
    """One Hessian of all rows, and several passes over tables of rows against labels."""
    rows, entries, layout = _shape(objective)
    tables = 150.0 * rows * layout.labels / PASSES
    rank, columns = rank_bound(rows, layout), layout.features + 1.0
    if 8.0 * rows * columns > MEMORY:
        return math.inf
    table = rows * rank if rank < layout.features else entries
    one = 2.0 * table * layout.columns / PASSES + rows * layout.labels / EXPONENTIALS + 1e-5
    turning = 4.0 * rows * columns * rank / PRODUCTS
    crossed = objective.problem.loss.name != "squared_hinge"
    steps = _hessian_seconds(objective, crossed, rank) + 5.0 * one + tables
    return steps + turning / USUAL["interior_point"] + 3e-4
