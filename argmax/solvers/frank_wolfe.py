"""Block-coordinate Frank–Wolfe: the structured SVM, with a true duality gap.

    primal  F(w) = C Σ s_i max_y [score(y) + cost(y_i, y) − score(y_i)] + ½ l2 ‖w‖²
    dual    D(μ) = C Σ s_i E_i cost − ½ l2 ‖w(μ)‖²,     w(μ) = C / l2 · Σ s_i (Ψ_i(y_i) − E_i Ψ_i)

Each sequence keeps the marginals μ_i of a distribution over its label sequences. A visit finds the best path
under score + cost and moves mass to it by an exact line search (``kernels/frank_wolfe.py``). After a round of
visits come some without a search, between the paths that have mass already, at half the price.

What the visits found adds up to an estimate of the gap. The true one, F(w) − D(μ), takes a pass over the
data; it alone is reported, and decides. F does not fall all the time, so the best w is kept; D only grows.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ..errors import Unsupported
from ..objective import Objective, Point
from ..records import Floats, Ints, Solution
from .base import Solver, resume
from .online import check_online, first_order
from .report import Report, Snapshot, Values

__all__ = ["FrankWolfe"]

LOOK = 5
"""Epochs after which the true gap is computed even if the end is not near."""

ENOUGH = 0.1
"""A round without searches is worth it while the dual grows by this share of what the visits brought."""

PRECISE = 1e-5
"""Below this ``tol`` all products run in float64."""


@final
class FrankWolfe(Solver):
    """Block-coordinate Frank–Wolfe with pairwise steps.

    ``rounds`` is how many times at most, after visiting all sequences, it goes over them without looking for
    new paths. A start is of no use to it: it begins with all mass on the right labels, w = 0.

    >>> from argmax import SequenceTagger
    >>> X, y = [["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]]
    >>> solution = SequenceTagger(loss="hinge").fit(X, y).solution_
    >>> solution.solver, solution.status, solution.relative_gap <= 1e-4
    ('frank_wolfe', 'converged', True)
    """

    name = "frank_wolfe"
    needs_smooth = False
    needs_random_access = True
    handles_no_penalty = False

    def __init__(self, rounds: int = 10, seed: int | None = None) -> None:
        self.rounds, self.seed = rounds, seed

    def check(self, objective: Objective) -> None:
        check_online(self.name, "hinge", objective)
        if not first_order(objective):
            raise Unsupported(
                "solver 'frank_wolfe' keeps shares of pairs of labels: it has order=1. Use "
                "solver='subgradient', or solver='auto', which chooses it."
            )
        super().check(objective)

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        report.solver = self.name
        if report.tol < PRECISE and objective.rounded:
            objective = objective.precise()
        climb = _Climb(objective, self, report)
        if isinstance(state, Snapshot):
            climb.restore(resume(self, report, state, told=False))
        while True:
            estimate, passes = climb.epoch(), climb.epochs - report.passes
            near, last = estimate <= climb.wanted, climb.epochs >= report.max_iter
            if not (near or last or passes >= LOOK or report.out_of_time()):
                continue
            began = report.seconds
            point = climb.look()
            report.reserve = report.seconds - began
            climb.wanted = 0.5 * estimate if near else climb.wanted
            stop = report(objective, point.w, point.value, point.gap, passes, climb.values)
            if stop or report.certified(point):
                return report.solution(objective, point, self.name)


@final
class _Climb:
    """The dual point, the best primal one, and the number of epochs so far."""

    def __init__(self, objective: Objective, solver: FrankWolfe, report: Report) -> None:
        from ..passes.frank_wolfe import Ascent  # which imports kernels

        self.objective, self.report = objective, report
        self.rounds, self.seed = solver.rounds, solver.seed or 0
        self.ascent = Ascent(objective.shards[0], objective.problem, objective.C, objective.l2)
        self.wanted = report.tol * objective.zero  # an estimate that makes a look worth while
        self.best: Point | None = None
        self.epochs = 0

    def epoch(self) -> float:
        """Every sequence once, then rounds on those with several paths. Returns the estimate of the gap."""
        ascent, rng = self.ascent, np.random.default_rng((self.seed, self.epochs))
        self.epochs += 1
        brought = self._round(ascent.visit, rng.permutation(ascent.visits))
        mixed = np.flatnonzero(ascent.mixed)
        for _ in range(self.rounds):
            if self._round(ascent.improve, rng.permutation(mixed)) <= ENOUGH * brought:
                break
        return ascent.estimate

    def _round(self, step: Any, order: Ints) -> float:
        grown = 0.0
        for piece in self.ascent.walk.pieces(order):
            if self.report.out_of_time():
                return 0.0
            grown += step(piece)
        self.ascent.make_room()
        return grown

    def look(self) -> Point:
        """The best point so far, with the gap that the dual proves."""
        w, dual = self.ascent.point()
        point = self.objective.at(w)
        if self.best is None or point.value < self.best.value:
            self.best = point
        self.best.prove(dual)
        return self.best

    def values(self) -> Values:
        """For a snapshot."""
        assert self.best is not None
        numbers = {"epochs": self.epochs, "seed": self.seed, "wanted": self.wanted}
        return {"best": self.best.w, **numbers, **self.ascent.values()}

    def restore(self, kept: Values) -> None:
        self.epochs, self.seed, self.wanted = kept["epochs"], kept["seed"], kept["wanted"]
        self.ascent.restore(kept)
        self.best = self.objective.at(np.array(kept["best"]))
        self.best.prove(self.ascent.point()[1])
