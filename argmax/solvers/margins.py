"""Dual coordinate ascent for the hinges (Crammer–Singer with any cost, Weston–Watkins), with a true gap.

    primal  F(w) = C Σ s_i loss_i(w) + ½ ‖w‖²
    dual    D(α) = Σ ⟨Δ_i, α_i⟩ − ½ ‖w(α)‖²,    w(α) = Σ Ψᵀ(c_i y_i − α_i),    c_i = C s_i

A visit solves the block of one example exactly (``kernels/margins.py``) and learns what the example adds to
the gap F(w) − D(α). Those that add little wait, twice as long each time: that is the shrinking, and nothing
is ever left out for good. When what was seen adds up to little enough, w(α) is summed anew and a pass over
the data, with nothing moved, gives the true gap: it alone is reported, and decides.

w(α) goes to and fro from sweep to sweep, and F has corners: near the end the mean w̄ of w after the last
sweeps is nearer to the least F, by a third. It is looked at as well, and is the answer where it is better:

    F(w̄) − D(α) = ½ ‖w̄ − w(α)‖² + Σ_i what example i adds to the gap at w̄

α / c stays feasible when C or the weights change, so a path of C and a warm start begin where the last fit
ended. The intercept is the weight of a column of ones, penalised as all others.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from sklearn.utils import check_random_state

from ..objective import Objective, Point
from ..records import Floats, Solution
from . import faces
from .margin_rows import SHARE, DualRows, pieces
from .report import Report, Values

__all__ = ["Climb", "climb"]

PATIENCE = 40
"""Passes after which progress is reported even if the end is not near. Not seconds: a look sums w anew and
wakes examples, and the clock must not decide about bits."""

NEAR = 3.0
"""Sweeps are averaged from an estimate of so many times what is wanted on."""

FORGET = 0.12
"""What the mean over sweeps forgets with each, once it has seen some."""

EASED, CAREFUL = 1.3, 0.95
"""The gap at the mean is smaller than the one that visits see: so much earlier the first look is taken. And
after one that came too early, the next is expected at so much of where the gap would be small enough."""

MUCH = 2**20
"""Weights that are averaged in one piece of work."""

PRECISE = 5e-7
"""Below this ``tol`` visits work in float64."""

STALLED = 0.9
"""A gap that falls less than to this share in PATIENCE passes: then float32 is too coarse."""

LAST_DIGIT = 1e-15
"""Small problems go on to a gap of so much of F(0), or to where rounding ends all progress."""


def climb(
    name: str, seed: int | None, objective: Objective, report: Report, state: Any, kept: Values
) -> Solution:
    """The w of least F, from the dual side."""
    precise = objective.small or report.tol < PRECISE or bool(kept.get("precise", False))
    ascent = Climb(objective, seed, state, kept, precise)
    target = report.tol * objective.zero
    wanted = kept.get("wanted", target if objective.small else EASED * target)
    gap, told = kept.get("gap", np.inf), ascent.visited
    earlier = report.passes - ascent.passes  # those of other solvers, whose point this is

    def keep() -> Values:
        return {"wanted": wanted, "gap": gap, **ascent.values()}

    while True:
        estimate = ascent.sweep(report)
        if objective.small:
            if faces.due(ascent.rounds):
                faces.solve(ascent)
        elif estimate <= NEAR * wanted:
            ascent.average()
        near, last = estimate <= wanted, earlier + ascent.passes >= report.max_iter
        due = near or last or report.out_of_time()
        due = due or report.look(earlier + ascent.passes, np.nan, estimate)
        if not due and ascent.visited - told < PATIENCE * ascent.examples:
            continue
        began = report.seconds
        before, (dual, gap) = gap, ascent.look()
        report.reserve = 2.0 * (report.seconds - began)  # another one, and the value at the end
        over = gap <= target
        if near and not over:
            wanted = estimate * float(np.clip(CAREFUL * target / gap, 0.5, CAREFUL))
        if not due and gap > STALLED * before:
            ascent.sharpen()
        passes, told = earlier + ascent.passes - report.passes, ascent.visited
        stop = report(objective, ascent.w(), dual + gap, gap, passes, None if over else keep)
        if stop or over or report.status:
            break
    if objective.small and not report.status:
        faces.finish(ascent, LAST_DIGIT * max(objective.zero, 1e-300), report)
        dual, gap = ascent.look()
    point = Point.valued(objective, ascent.w(), dual + gap)
    point.prove(dual)
    return report.solution(objective, point, name, state=ascent.state())


@final
class Climb:
    """The running variables: w as a table, its mean over sweeps, and α of every example."""

    def __init__(
        self,
        objective: Objective,
        seed: int | None,
        state: Any,
        kept: Values,
        precise: bool = True,
    ) -> None:
        layout = objective.problem.full
        self.layout, self.rounds, self.visited = layout, 0, 0
        self.share, self.precise = objective.engine.share, precise
        self.two = layout.label_features is not None
        self.scale = 0.5 if self.two else 1.0
        self.sum_of_hinges = objective.problem.loss.name == "weston_watkins"
        self.bias = float(layout.intercept)
        self.rng = check_random_state(0 if seed is None else seed)
        found = state.get("mu") if isinstance(state, dict) else None
        self.data = DualRows(objective.whole, objective, self, found)
        width = 4 if self.two else layout.width  # two classes run as two columns
        shape = layout.features + int(layout.intercept), width
        # Visits are bound by memory: they work on copies in float32, unless its noise would be felt.
        self.exact = np.zeros(shape)
        self.W = self.exact if precise else np.zeros(shape, np.float32)
        self.mean, self.averaged = self.W[:0], 0
        self.answer = self.exact
        if kept:
            self.rng.set_state(("MT19937", kept["rng"], kept["position"]))
            self.data.restore({name: kept[name] for name in self.data.values()})
            self.W[:] = kept["W"]
            self.mean, self.averaged = kept.get("mean", self.mean).copy(), kept.get("averaged", 0)
            self.rounds, self.visited = kept["rounds"], kept["visited"]
        else:
            self.rebuild()

    def sweep(self, report: Report) -> float:
        """Every example that is due once, in random order; returns what all were last seen to add."""
        seen = self.data.sweep(self, report)
        self.rounds += 1
        self.visited += len(seen)
        estimate = float(self.data.gaps.sum())
        self.data.schedule(seen, SHARE * estimate / self.examples)
        return estimate

    def average(self) -> None:
        """Take w as it is after this sweep into the mean."""
        from ..kernels import vectors

        self.averaged += 1
        if self.averaged == 1:
            self.mean = self.W.copy()
            return
        share = self.mean.dtype.type(max(FORGET, 1.0 / self.averaged))
        mean, w = self.mean.ravel(), self.W.ravel()
        parts = pieces(len(w), len(w) // MUCH)

        def piece(i: int) -> None:
            vectors.combine(1 - share, mean[parts[i]], share, w[parts[i]], mean[parts[i]])

        self.share(piece, len(parts))

    @property
    def examples(self) -> int:
        """n."""
        return len(self.data.c)

    @property
    def passes(self) -> int:
        """As many visits as there are examples make a pass, whoever waited meanwhile."""
        return -(-self.visited // self.examples)

    def look(self) -> tuple[float, float]:
        """D and the true gap of the ``answer``: w(α), which is summed anew, or the mean if it is better."""
        self.rebuild()
        gain, gap = self.data.look(self)
        self.answer = self.exact
        if self.averaged:
            mean = self.mean.astype(float, copy=False)
            apart = (mean - self.exact).ravel()
            there = 0.5 * float(apart @ apart) / self.scale
            there += self.data.gap_at(mean, self)
            if there < gap:
                gap, self.answer = there, mean
        return gain - 0.5 * self.square(), gap

    def sharpen(self) -> None:
        """From here on visits work in float64."""
        self.precise, self.W = True, self.exact
        self.mean = self.mean.astype(float)
        self.data.brief = self.data.rows

    def square(self) -> float:
        """‖w‖²."""
        return float(np.vdot(self.exact, self.exact)) / self.scale

    def rebuild(self) -> None:
        """w(α), without the rounding of the visits."""
        self.exact[:] = 0.0
        self.data.settle()
        self.data.add_to(self)
        self.W[:] = self.exact

    def w(self) -> Floats:
        """The answer of the last look, as a flat copy."""
        w = np.zeros(self.layout.size)
        table = self.layout.matrix(w)
        if self.two:
            table[:, 0] = self.answer[:, 1] - self.answer[:, 0]
        else:
            table[:] = self.answer
        return w

    def state(self) -> dict[str, Any]:
        """α / c, in the memory of α: the variables are of no use afterwards."""
        self.data.settle()
        self.data.alpha /= self.data.c[:, None]
        return {"mu": self.data.alpha}

    def values(self) -> Values:
        """For a snapshot: copies, because sweeps work in place."""
        _, keys, position, _, _ = self.rng.get_state()
        arrays = {"W": self.W, "mean": self.mean, "rng": keys, **self.data.values()}
        counts = {
            "position": position,
            "averaged": self.averaged,
            "rounds": self.rounds,
            "visited": self.visited,
            "precise": int(self.precise),
        }
        return {name: array.copy() for name, array in arrays.items()} | counts
