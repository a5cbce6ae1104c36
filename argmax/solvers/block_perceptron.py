"""The averaged perceptron over graphs: one argmax a visit.

    for each graph:   ŷ = argmax_y ⟨w, Ψ(x, y)⟩;   w ← w + s_i (Ψ(x, y) − Ψ(x, ŷ))   if ŷ ≠ y

and at the end the mean of w over all steps. Collins 2002 (EMNLP). No minimiser: there is no gap. It ends
after an epoch without a mistake, or after ``max_iter`` of them.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from ..errors import Unsupported
from ..layouts import Linked
from ..objective import Objective
from ..records import Floats, Solution
from .base import Solver
from .blocks import visited
from .report import Report

__all__ = ["BlockPerceptron"]


@final
class BlockPerceptron(Solver):
    """Averaged perceptron for graphs, visited in a new order every epoch.

    >>> import numpy as np
    >>> from argmax import GraphLabeler
    >>> X = [(np.array([[0.0], [0.2], [1.0]]), np.array([[0, 1], [1, 2]]))]
    >>> GraphLabeler(loss="perceptron").fit(X, [[0, 0, 1]]).solution_.status
    'no mistakes'
    """

    name = "block_perceptron"
    needs_smooth = False
    needs_random_access = True

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    def check(self, objective: Objective) -> None:
        problem = objective.problem
        if problem.loss.name != "perceptron" or not isinstance(problem.layout, Linked):
            raise Unsupported(f"solver {self.name!r} belongs to loss='perceptron' of GraphLabeler.")
        super().check(objective)

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        report.solver = self.name
        examples = [(shard, i) for shard in objective.shards for i in range(len(shard))]
        w, late, count, rng = (
            start.copy(),
            np.zeros(len(start)),
            1,
            np.random.default_rng(self.seed or 0),
        )
        while True:
            wrong = 0
            for i in rng.permutation(len(examples)).tolist():
                shard, place = examples[i]
                _, gradient = visited(objective, shard, place, w)
                if gradient.any():
                    w -= gradient
                    late -= count * gradient
                    wrong += 1
                count += 1
            mean = w - late / count
            asked = report(objective, mean, wrong / len(examples), math.inf)
            if not wrong:
                report.status, report.message = "no mistakes", "an epoch without a mistake"
            elif report.status == "max_iter":
                report.status, report.message = "epochs done", f"made its {report.passes} epochs"
            if asked or not wrong:
                return report.online(w if not wrong else mean, self.name)
