"""One pass over a shard: what an engine runs, from weights to sums.

    evaluate    w          Σ loss and its gradient; leaves scores behind
    curvature   v          Σ Ψᵀ H_i Ψ v, from the scores left behind
    direction   v          leaves Ψ v behind
    along       step       Σ loss and slope at scores + step · (Ψ v), without touching x
    conjugate   scale      the dual value of the residuals
    diagonal    w          about the second derivatives by single weights

``rows`` and ``curvatures`` have them for weights of every feature and label, ``graphs`` for those of nodes
and edges, ``sequences`` for attribute–label pairs: this file asks one of them.
"""

from __future__ import annotations

from typing import Any

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..layouts import Full, Linked
from . import curvatures, graphs, rows
from .curvatures import curvature, gram
from .duals import foreseen, transposed
from .hessians import crossed_pairs, hessian, separate_pairs
from .problem import Problem
from .rows import outputs, shifted, shifted_product, slopes

__all__ = [
    "Problem",
    "along",
    "at_zero",
    "conjugate",
    "crossed_pairs",
    "curvature",
    "diagonal",
    "direction",
    "evaluate",
    "foreseen",
    "gram",
    "has_diagonal",
    "hessian",
    "outputs",
    "separate_pairs",
    "shifted",
    "shifted_product",
    "slopes",
    "transposed",
]


def _of(problem: Problem) -> Any:
    if isinstance(problem.layout, Full):
        return rows
    if isinstance(problem.layout, Linked):
        return graphs
    from . import sequences  # which imports kernels: nothing that classifiers should wait for

    return sequences


def _of_second_order(problem: Problem) -> Any:
    return curvatures if isinstance(problem.layout, Full) else _of(problem)


def evaluate(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, seldom: bool = False
) -> Sums:
    """{"value": Σ s_i loss_i(w), "gradient": its gradient}.

    ``seldom`` says that few such passes are made: nothing is prepared for the next one.
    """
    if seldom and isinstance(problem.layout, Full):
        return rows.evaluate(shard, crew, problem, stamp, seldom)
    sums: Sums = _of(problem).evaluate(shard, crew, problem, stamp)
    return sums


def at_zero(shard: Shard, crew: Crew, problem: Problem) -> Sums:
    """{"value": Σ s_i loss_i(0)}, the yardstick that ``tol`` is measured with."""
    sums: Sums = _of(problem).at_zero(shard, crew, problem)
    return sums


def conjugate(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, scale: float) -> Sums:
    """{"conjugate": Σ s_i loss*(scale · r_i)} with the residuals r of w."""
    sums: Sums = _of(problem).conjugate(shard, crew, problem, stamp, scale)
    return sums


def diagonal(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, mean: bool) -> Sums:
    """{"diagonal"} of Σ s_i loss_i'' at w, of single features or pairs, or of its bound unless ``mean``."""
    sums: Sums = _of_second_order(problem).diagonal(shard, crew, problem, stamp, mean)
    return sums


def has_diagonal(problem: Problem) -> bool:
    """Whether ``diagonal`` can be asked for."""
    return bool(_of_second_order(problem).has_diagonal(problem))


def direction(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp) -> Sums:
    """Leaves the scores of a point and of a direction behind, for ``along``."""
    sums: Sums = _of(problem).direction(shard, crew, problem, stamp, line)
    return sums


def along(
    shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp, step: float
) -> Sums:
    """{"value", "slope"} of Σ s_i loss_i at w + step · v."""
    sums: Sums = _of(problem).along(shard, crew, problem, stamp, line, step)
    return sums
