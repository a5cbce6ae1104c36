"""The dual point that a step leads to, over the rows of a shard.

    r'_i = ∂loss_i(s_i) + H_i Ψ_i v        v is the step of Newton's method at w, s_i the scores there

If v solves the Newton system, Ψᵀr' is to the penalty what the gradient at w + v would be if F were quadratic:
so r' stays a good point of the dual where the residuals of w themselves prove little, because columns have
unlike scales (``Objective.foresee``).
"""

from __future__ import annotations

import numpy as np

from ..engines import Crew, Shard, Stamp
from ..engines.base import Sums
from ..records import Floats, Scores, Structures, Truth
from .problem import Problem
from .sums import adjoint, kept_scores, like

__all__ = ["foreseen", "transposed"]


def foreseen(shard: Shard, crew: Crew, problem: Problem, stamp: Stamp, line: Stamp) -> Sums:
    """{"values": Σ s_i loss*(r'_i), "gradient": Σ s_i Ψᵀ r'_i}, from the scores of w and of the step.

    There is one value for each weight column where columns are separate problems; otherwise one in all.
    """
    node = kept_scores(shard, crew, problem, stamp)
    ahead = kept_scores(shard, crew, problem, line, "step")
    values: dict[int, Floats] = {}  # by the first node of a block, so that their order is fixed

    def block(structures: Structures, truth: Truth, nodes: slice) -> tuple[float, Scores]:
        scores = Scores(node[nodes], None, structures.offsets)
        residual = like(np.empty_like(scores.node), scores)
        table = problem.loss.dual_point(problem.space, scores, truth, ahead[nodes], residual)
        values[nodes.start] = table.sum(axis=0)
        return 0.0, residual

    gradient = adjoint(shard, crew, problem, block)["gradient"]
    return {"values": sum(values[first] for first in sorted(values)), "gradient": gradient}


def transposed(shard: Shard, crew: Crew, problem: Problem, node: Floats) -> Sums:
    """{"gradient": Σ_i Ψᵀ node_i} of any residuals (N, K)."""

    def block(structures: Structures, truth: Truth, nodes: slice) -> tuple[float, Scores]:
        return 0.0, Scores(node[nodes], None, structures.offsets)

    return adjoint(shard, crew, problem, block)
