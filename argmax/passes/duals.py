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
    """{"value": Σ s_i loss*(r'_i), "gradient": Σ s_i Ψᵀ r'_i}, from the scores of w and of the step."""
    node = kept_scores(shard, crew, problem, stamp)
    ahead = kept_scores(shard, crew, problem, line, "step")

    def block(structures: Structures, truth: Truth, nodes: slice) -> tuple[float, Scores]:
        scores = Scores(node[nodes], None, structures.offsets)
        residual = like(np.empty_like(scores.node), scores)
        values = problem.loss.dual_point(problem.space, scores, truth, ahead[nodes], residual)
        return float(values.sum()), residual

    return adjoint(shard, crew, problem, block)


def transposed(shard: Shard, crew: Crew, problem: Problem, node: Floats) -> Sums:
    """{"gradient": Σ_i Ψᵀ node_i} of any residuals (N, K)."""

    def block(structures: Structures, truth: Truth, nodes: slice) -> tuple[float, Scores]:
        return 0.0, Scores(node[nodes], None, structures.offsets)

    return adjoint(shard, crew, problem, block)
