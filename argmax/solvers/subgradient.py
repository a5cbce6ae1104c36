"""Stochastic subgradient steps for the structured SVM.

    minimise  F(w) = n C · mean_i [ s_i hinge_i(w) + ½ λ ‖w‖² ],   λ = l2 / (n C)

    step t:   ŷ = argmax_y [score(y) + cost(y_i, y)];   w ← (1 − 1/t) w + s_i (Ψ(y_i) − Ψ(ŷ)) / (λ t)

Shalev-Shwartz, Singer, Srebro and Cotter 2011. With v = λ t w a step is v ← v + s_i (Ψ(y_i) − Ψ(ŷ)): that of
the perceptron, towards an argmax with costs. What is kept is the mean of the w_t, each with weight t
(Lacoste-Julien, Schmidt and Bach 2012): that of the v, which is the averaged perceptron's, times 2 / (λ t).

After E whole epochs w = C / (l2 E) · Σ s_i (Ψ(y_i) − Ψ(ŷ_i)) over all of them, as if every sequence had given
a share of 1/E to each of its answers: a point of the dual (``frank_wolfe``), which proves a gap for free.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ..objective import Objective, Point
from ..records import Floats, Solution
from .base import Solver
from .online import check_online
from .report import Report

__all__ = ["Subgradient"]


@final
class Subgradient(Solver):
    """Stochastic subgradients with steps of 1/(λ t), averaged.

    The start is of no use to it: the first step forgets it.

    >>> from argmax import SequenceTagger
    >>> X, y = [["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]]
    >>> tagger = SequenceTagger(loss="hinge", solver="subgradient", tol=0.01).fit(X, y)
    >>> tagger.solution_.status, tagger.solution_.relative_gap <= 0.01
    ('converged', True)
    """

    name = "subgradient"
    needs_smooth = False
    needs_random_access = True
    handles_no_penalty = False

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    def check(self, objective: Objective) -> None:
        check_online(self.name, "hinge", objective)
        super().check(objective)

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        from ..passes.stochastic import Walk  # which imports kernels

        self.check(objective)
        report.solver = self.name
        zero, share = np.zeros(objective.size), objective.engine.share
        walk = Walk(objective.shards[0], objective.problem, zero, share)
        late, visits, rng = walk.late(), walk.visits, np.random.default_rng(self.seed or 0)
        decay = objective.l2 / (max(len(visits), 1) * objective.C)
        count, paid, dual = 1, 0.0, 0.0
        best: Point | None = None
        while True:
            _, count, more = walk.perceive(rng.permutation(visits), late, count, decay)
            paid, v, rate = paid + more, walk.flat(), 1.0 / (decay * max(count - 1, 1))
            dual = max(dual, objective.l2 * paid * rate - objective.penalty(rate * v))
            point = objective.at(2.0 * rate * (v - late.flat() / count))
            best = point if best is None or point.value < best.value else best
            best.prove(dual)
            if report(objective, best.w, best.value, best.gap) or report.certified(best):
                return report.solution(objective, best, self.name)
