"""Passive-aggressive learners of classes.

    for each row:   ŷ = the best class but y,   v = Ψ(x, y) − Ψ(x, ŷ),   ℓ = max(0, 1 − ⟨w, v⟩),   q = ‖v‖²

    w ← w + a v,    a = min(C, ℓ/q)  for "pa1",    a = ℓ / (q + 1/(2C))  for "pa2"

the smallest change of w that gives this row a margin of 1 over ŷ, as far as C lets it: passive where the
margin is there, aggressive where it is not. The weight of a row multiplies its C. Crammer, Dekel, Keshet,
Shalev-Shwartz and Singer 2006 (JMLR 7).

No minimiser: there is no gap. It ends after an epoch in which every row was answered right before its step,
or after ``max_iter`` of them.
"""

from __future__ import annotations

from typing import Any, final

from ..objective import Objective
from ..records import Floats, Solution
from .base import Solver
from .online import check_rows, row_epochs
from .report import Report

__all__ = ["PassiveAggressive"]


@final
class PassiveAggressive(Solver):
    """Passive-aggressive steps; ``shuffle`` visits the rows in a new order every epoch.

    >>> from argmax import LinearClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearClassifier(loss="pa1", C=0.1, max_iter=20).fit(X, y)
    >>> model.solution_.solver, model.solution_.status
    ('passive_aggressive', 'epochs done')
    """

    name = "passive_aggressive"
    needs_smooth = False
    needs_random_access = True

    def __init__(self, shuffle: bool = True, average: bool = True, seed: int | None = None) -> None:
        self.shuffle, self.average, self.seed = shuffle, average, seed

    def check(self, objective: Objective) -> None:
        check_rows(self.name, ("pa1", "pa2"), objective)
        super().check(objective)

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        return row_epochs(
            self.name, objective, start, report, rate=1.0, settles=False, **vars(self)
        )
