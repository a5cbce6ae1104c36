"""The averaged perceptron, of classes and of sequences.

    for each example:   ŷ = argmax_y ⟨w, Ψ(x, y)⟩;   w ← w + η (Ψ(x, y) − Ψ(x, ŷ))   if ŷ ≠ y

and at the end the mean of w over all steps, which generalises far better than the last one. Collins 2002
(EMNLP). The mean costs nothing extra: with c counting the steps, Σ_c w_c = c w − Σ_c c · update_c.

Of classes, w + Ψ(x, y) − Ψ(x, ŷ) adds x to the weights of the truth and takes it from those of the winner.
"perceptron_sum" does so for every class that scores no less than the truth.

No minimiser: there is no gap. It ends after an epoch without a mistake, or after ``max_iter`` of them. After
such an epoch w is as it will be, and over rows the mean counts as many more as it needs to make no mistake
itself. On separable classes the first end is certain: ``margins.mistake_bound`` says after how many mistakes
at most.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from ..errors import Unsupported
from ..layouts import Full
from ..objective import Objective
from ..records import Floats, Solution
from .base import Solver
from .online import check_online, check_rows, finish, row_epochs
from .report import Report

__all__ = ["Perceptron"]


@final
class Perceptron(Solver):
    """Averaged perceptron; ``shuffle`` visits the examples in a new order every epoch.

    ``rate`` is η, of classes only. Started at zero it changes the size of w and no answer.

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

    def __init__(
        self,
        shuffle: bool = True,
        average: bool = True,
        seed: int | None = None,
        rate: float = 1.0,
    ) -> None:
        self.shuffle, self.average, self.seed, self.rate = shuffle, average, seed, rate

    def check(self, objective: Objective) -> None:
        if isinstance(objective.problem.layout, Full):
            check_rows(self.name, ("perceptron", "perceptron_sum"), objective)
            if not 0.0 < self.rate < math.inf:
                raise Unsupported(f"rate must be positive and finite; got {self.rate!r}.")
            super().check(objective)
            return
        super().check(objective)
        check_online(self.name, "perceptron", objective, penalised=False)
        if self.rate != 1.0:
            raise Unsupported(
                "rate is one of classes. Leave it out: over sequences it would change no answer."
            )

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        if isinstance(objective.problem.layout, Full):
            return row_epochs(self.name, objective, start, report, settles=True, **vars(self))
        return self._over_sequences(objective, start, report)

    def _over_sequences(self, objective: Objective, start: Floats, report: Report) -> Solution:
        from ..passes.stochastic import Walk  # which imports kernels

        report.solver = self.name
        walk = Walk(objective.shards[0], objective.problem, start, objective.engine.share)
        late = walk.late()
        rng, visits, count = np.random.default_rng(self.seed or 0), walk.visits, 1
        while True:
            order = rng.permutation(visits) if self.shuffle else visits
            wrong, count, _ = walk.perceive(order, late, count)
            w = walk.flat() - late.flat() / count if self.average else walk.flat()
            if finish(report, wrong, report(objective, w, wrong, math.inf)):
                return report.online(w, self.name)
