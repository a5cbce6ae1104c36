"""The averaged structured perceptron.

    for each sequence:   ŷ = argmax_y ⟨w, Ψ(x, y)⟩;   w ← w + Ψ(x, y) − Ψ(x, ŷ)   if ŷ ≠ y

and at the end the mean of w over all steps, which generalises far better than the last one. Collins 2002
(EMNLP). The mean costs nothing extra: with c counting the steps, Σ_c w_c = c w − Σ_c c · update_c.

No minimiser: there is no gap. It ends after an epoch without a mistake, or after ``max_iter`` of them.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from ..objective import Objective
from ..records import Floats, Solution
from .base import Solver
from .online import check_online
from .report import Report

__all__ = ["Perceptron"]


@final
class Perceptron(Solver):
    """Averaged perceptron; ``shuffle`` visits the sequences in a new order every epoch.

    >>> from argmax import SequenceTagger
    >>> X, y = [["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]]
    >>> tagger = SequenceTagger(loss="perceptron", max_iter=10).fit(X, y)
    >>> tagger.solution_.status
    'no mistakes'
    """

    name = "perceptron"
    needs_smooth = False
    needs_random_access = True
    handles_l1 = False

    def __init__(self, shuffle: bool = True, average: bool = True, seed: int | None = None) -> None:
        self.shuffle, self.average, self.seed = shuffle, average, seed

    def check(self, objective: Objective) -> None:
        super().check(objective)
        check_online(self.name, "perceptron", objective, penalised=False)

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        from ..passes.stochastic import Walk  # which imports kernels

        self.check(objective)
        report.solver = self.name
        walk = Walk(objective.shards[0], objective.problem, start)
        late = walk.late()
        rng, visits, count = np.random.default_rng(self.seed or 0), walk.visits, 1
        tokens = int(walk.prepared.offsets[-1])
        while True:
            order = rng.permutation(visits) if self.shuffle else visits
            wrong, count, _ = walk.perceive(order, late, count)
            w = walk.flat() - late.flat() / count if self.average else walk.flat()
            asked = report(objective, w, wrong / max(tokens, 1), math.inf)
            if not wrong:
                report.status, report.message = "no mistakes", "an epoch without a mistake"
            elif report.status == "max_iter":
                report.status, report.message = "epochs done", f"made its {report.passes} epochs"
            if asked or not wrong:
                break
        return report.online(w, self.name)
