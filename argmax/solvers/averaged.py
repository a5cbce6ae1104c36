"""Averaged stochastic gradient descent, with a rate that calibrates itself: a quick way to a good start.

    minimise  F(w) = C Σ s_i loss_i(w) + ½ l2 ‖w‖² = n C · mean_i [ s_i loss_i + ½ λ ‖w‖² ],   λ = l2 / (n C)

    w ← w − η_t (∇ s_i loss_i(w) + λ w),   η_t = η₀ / (1 + η₀ λ t),   and then the mean of the later half

η₀ is the power of two, times 0.1, that makes most of one pass over a sample (Bottou 2010). The mean of the
iterates is much better than the last one (Polyak and Juditsky 1992), and costs a few vector additions.

From here L-BFGS needs about half the passes that it needs from zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..layouts import Pairs
from ..objective import Objective
from ..records import Floats, Ints
from .report import Report

__all__ = ["averaged_start", "calibrated", "possible"]

SAMPLE = 1000
"""Sequences that the rate is calibrated on."""

MANY = 20_000
"""Tokens from which on stochastic passes are worth their kernels."""

PIECES = 4
"""Iterates of one pass that enter the mean."""


def possible(objective: Objective) -> bool:
    """Whether single sequences can be visited: all in this process and in one shard, with a penalty."""
    layout = objective.problem.layout
    return (
        objective.random_access
        and len(objective.shards) == 1
        and isinstance(layout, Pairs)
        and layout.edge_features == 1
        and objective.problem.loss.smooth
        and objective.shards[0].truth.allowed is None
        and objective.l2 > 0
        and objective.shards[0].structures.nodes >= MANY
    )


def averaged_start(
    objective: Objective, start: Floats, passes: int, report: Report, seed: int = 0
) -> Floats:
    """The mean of the iterates of some passes from ``start``."""
    from ..passes.stochastic import Walk  # which imports kernels

    walk = Walk(objective.shards[0], objective.problem, start, objective.engine.share)
    rng, n = np.random.default_rng(seed), len(walk)
    decay = objective.l2 / (objective.C * n)
    eta = calibrated(walk, rng.permutation(n)[:SAMPLE], decay)
    total, count = np.zeros(objective.size), 0
    for epoch in range(passes):
        order = rng.permutation(n)
        for piece in np.array_split(order, PIECES):
            walk.descend(piece, eta, decay)
            if report.out_of_time():
                return walk.flat() if not count else total / count
            if epoch >= passes // 2:
                total += walk.flat()
                count += 1
    total /= max(count, 1)
    return total.astype(objective.dtype, copy=False)


def calibrated(walk: Any, sample: Ints, decay: float) -> float:
    """η₀: from 0.1 on, doubled or halved as long as that lowers the loss of the sample after one pass."""

    def after(eta: float) -> float:
        trial = walk.copy()
        trial.descend(sample, eta, decay)
        w = trial.flat()
        with np.errstate(over="ignore", invalid="ignore"):
            loss = trial.descend(sample, 1e-30, 0.0) / len(sample) + 0.5 * decay * float(w @ w)
        return loss if np.isfinite(loss) else np.inf

    eta, best = 0.1, after(0.1)
    for factor in (2.0, 0.5):
        for _ in range(10):
            value = after(eta * factor)
            if not value < best:
                break
            eta, best = eta * factor, value
        if eta != 0.1:
            break
    return eta
