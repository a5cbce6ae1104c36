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

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, final

import numpy as np
from sklearn.utils import check_random_state

from ..layouts import csr_arguments
from ..objective import Objective
from ..records import Csr, Floats, Ints, Solution
from . import faces
from .report import Report, Values

__all__ = ["Climb", "as_sparse", "climb"]

PATIENCE = 40
"""Passes after which progress is reported even if the end is not near. Not seconds: a look sums w anew and
wakes examples, and the clock must not decide about bits."""

CHUNK = 2_000_000
"""Multiply-adds between two looks at the clock."""

ROWS = 2048
"""Dense rows that are compressed at a time."""

SHORT, LONG = 10, 63
"""Sweeps that an example waits at most: more where few do not wait, so that those who only come to be looked
at are not most of a sweep. And few where examples keep lists of labels, which may miss one."""

SHARE = 2.0
"""An example that adds less than this times the mean gap waits."""

MANY = 48
"""Labels from which on an example keeps a list of those that matter to it."""

RENEWED = 512
"""Lists that are renewed in one piece of work."""

BAND = 0.04
"""A label matters if its score is within so much of the best one, in units of the largest cost."""

NEAR = 3.0
"""Sweeps are averaged from an estimate of so many times what is wanted on."""

FORGET = 0.12
"""What the mean over sweeps forgets with each, once it has seen some."""

EASED, CAREFUL = 1.3, 0.95
"""The gap at the mean is smaller than the one that visits see: so much earlier the first look is taken. And
after one that came too early, the next is expected at so much of where the gap would be small enough."""

MUCH = 2**20
"""Weights that are averaged in one piece of work."""

PARTS = 8
"""Row parts at most that sum w(α) side by side, each in a table of its own."""

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

    def keep() -> Values:
        return {"wanted": wanted, "gap": gap, **ascent.values()}

    while True:
        estimate = ascent.sweep(report)
        if objective.small:
            if ascent.rounds % faces.SWEEPS == 0:
                faces.solve(ascent)
        elif estimate <= NEAR * wanted:
            ascent.average()
        near, last = estimate <= wanted, ascent.passes >= report.max_iter
        due = near or last or report.out_of_time()
        if not due and ascent.visited - told < PATIENCE * ascent.examples:
            continue
        before, (dual, gap) = gap, ascent.look()
        over = gap <= target
        if near and not over:
            wanted = estimate * float(np.clip(CAREFUL * target / gap, 0.5, CAREFUL))
        if not due and gap > STALLED * before:
            ascent.sharpen()
        passes, told = ascent.passes - report.passes, ascent.visited
        if report(objective, ascent.w(), dual + gap, gap, passes, None if over else keep) or over:
            break
    if objective.small and not report.status:
        faces.finish(ascent, LAST_DIGIT * max(objective.zero, 1e-300), report)
        dual, gap = ascent.look()
    point = objective.at(ascent.w())
    point.prove(dual)
    return report.solution(objective, point, name, state=ascent.state())


@final
class Climb:
    """The running variables: w as a table, its mean over sweeps, and α of every shard."""

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
        found = state["mu"] if isinstance(state, dict) and "mu" in state else []
        starts = found if len(found) == len(objective.shards) else [None] * len(objective.shards)
        self.data = [
            ShardDual(shard, objective, self, mu)
            for shard, mu in zip(objective.shards, starts, strict=True)
        ]
        width = 4 if self.two else layout.width  # two classes run as two columns
        shape = layout.features + int(layout.intercept), width
        # Visits are bound by memory: they work on copies in float32, unless its noise would be felt.
        self.exact = np.zeros(shape)
        self.W = self.exact if precise else np.zeros(shape, np.float32)
        self.mean, self.averaged = self.W[:0], 0
        self.answer = self.exact
        if kept:
            self.rng.set_state(("MT19937", kept["rng"], kept["position"]))
            for i, data in enumerate(self.data):
                data.restore({name: kept[f"{name}{i}"] for name in data.values()})
            self.W[:] = kept["W"]
            self.mean, self.averaged = kept.get("mean", self.mean).copy(), kept.get("averaged", 0)
            self.rounds, self.visited = kept["rounds"], kept["visited"]
        else:
            self.rebuild()

    def sweep(self, report: Report) -> float:
        """Every example that is due once, in random order; returns what all were last seen to add."""
        seen = [data.sweep(self, report) for data in self.data]
        self.rounds += 1
        self.visited += sum(map(len, seen))
        estimate = sum(float(data.gaps.sum()) for data in self.data)
        least = SHARE * estimate / self.examples
        for data, rows in zip(self.data, seen, strict=True):
            data.schedule(rows, least)
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
        parts = _pieces(len(w), len(w) // MUCH)

        def piece(i: int) -> None:
            vectors.combine(1 - share, mean[parts[i]], share, w[parts[i]], mean[parts[i]])

        self.share(piece, len(parts))

    @property
    def examples(self) -> int:
        """n."""
        return sum(len(data.c) for data in self.data)

    @property
    def passes(self) -> int:
        """As many visits as there are examples make a pass, whoever waited meanwhile."""
        return -(-self.visited // self.examples)

    def look(self) -> tuple[float, float]:
        """D and the true gap of the ``answer``: w(α), which is summed anew, or the mean if it is better."""
        self.rebuild()
        gain, gap = np.sum([data.look(self) for data in self.data], axis=0)
        self.answer = self.exact
        if self.averaged:
            mean = self.mean.astype(float, copy=False)
            apart = (mean - self.exact).ravel()
            there = 0.5 * float(apart @ apart) / self.scale
            there += sum(data.gap_at(mean, self) for data in self.data)
            if there < gap:
                gap, self.answer = there, mean
        return float(gain) - 0.5 * self.square(), float(gap)

    def sharpen(self) -> None:
        """From here on visits work in float64."""
        self.precise, self.W = True, self.exact
        self.mean = self.mean.astype(float)
        for data in self.data:
            data.brief = data.rows

    def square(self) -> float:
        """‖w‖²."""
        return float(np.vdot(self.exact, self.exact)) / self.scale

    def rebuild(self) -> None:
        """w(α), without the rounding of the visits."""
        self.exact[:] = 0.0
        for data in self.data:
            data.settle()
            data.add_to(self)
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
        return {"mu": [data.alpha / data.c[:, None] for data in self.data]}

    def values(self) -> Values:
        """For a snapshot: copies, because sweeps work in place."""
        _, keys, position, _, _ = self.rng.get_state()
        kept = {f"{n}{i}": v for i, data in enumerate(self.data) for n, v in data.values().items()}
        arrays = {"W": self.W, "mean": self.mean, "rng": keys, **kept}
        counts = {
            "position": position,
            "averaged": self.averaged,
            "rounds": self.rounds,
            "visited": self.visited,
            "precise": int(self.precise),
        }
        return {name: array.copy() for name, array in arrays.items()} | counts


@final
class ShardDual:
    """One shard's rows and dual variables, and how long each example still waits."""

    def __init__(self, shard: Any, objective: Objective, climb: Climb, mu: Floats | None) -> None:
        layout, truth, n = objective.problem.full, shard.truth, len(shard)
        k = layout.labels
        self.rows = as_sparse(shard.structures.rows, objective.engine.share)
        self.brief = self.rows if climb.precise else in_brief(self.rows)
        self.labels = truth.labels
        self.own = truth.prices is not None
        if truth.prices is not None:
            self.delta = np.ascontiguousarray(truth.prices)
        else:
            self.delta = np.ones((k, k)) - np.eye(k) if truth.cost is None else truth.cost
        self.c = objective.C * (np.ones(n) if truth.weight is None else truth.weight)
        q = objective.norms(shard) + climb.scale * climb.bias
        self.q = np.maximum(q, 1e-3 / self.c)  # an empty row moves all its mass at once
        self.alpha = np.zeros((n, k))
        if mu is not None and mu.shape == (n, k):
            self.alpha = mu * self.c[:, None]
        elif not climb.sum_of_hinges:
            self.alpha[np.arange(n), self.labels] = self.c
        self.gaps = np.full(n, np.inf)
        self.wait, self.rest = np.zeros(n, np.int64), np.zeros(n, np.int64)
        room = k // 8 if k >= MANY else 0
        self.lists, self.held = np.zeros((n, room), np.int32), np.zeros((n, room))
        self.counts, self.left, self.terms = (np.zeros(n, np.int32) for _ in range(3))
        self.band = BAND * float(self.delta.max())

    def _listed(self) -> tuple[Any, ...]:
        return self.lists, self.held, self.counts, self.left, self.terms

    def _given(self, climb: Climb) -> tuple[Any, ...]:
        return self.c, self.labels, self.delta, self.own, climb.sum_of_hinges

    def costs(self) -> Floats:
        """Δ of every example (n, K)."""
        return self.delta if self.own else self.delta[self.labels]

    def settle(self) -> None:
        """Bring α up to date where lists hold a part of it."""
        from ..kernels import label_lists

        label_lists.settle(self.alpha, *self._listed()[:3])

    def forget_lists(self) -> None:
        """After α has changed behind their back."""
        self.counts[:] = self.left[:] = 0

    def add_to(self, climb: Climb) -> None:
        from ..kernels import margins

        # Where a table is small against the rows; else filling and adding it would take longer.
        parts = _pieces(len(self.c), min(PARTS, self.rows.entries // (4 * climb.exact.size)))
        tables = [climb.exact, *(np.zeros_like(climb.exact) for _ in parts[1:])]

        def add(i: int) -> None:
            margins.accumulate(
                parts[i].start, parts[i].stop, *csr_arguments(self.rows), self.c, self.labels,
                climb.sum_of_hinges, climb.scale, climb.bias, tables[i], self.alpha,
            )  # fmt: skip

        climb.share(add, len(parts))
        for table in tables[1:]:
            climb.exact += table

    def sweep(self, climb: Climb, report: Report) -> Ints:
        """Visit whoever is due, and say who that was."""
        from ..kernels import margins, waiting

        order = np.empty(len(self.c), np.int64)
        order = order[: waiting.due(self.rest, climb.rng.randint(2**32, dtype=np.int64), order)]
        self._renew_lists(order, climb)
        work = self.rows.entries * climb.W.shape[1] * len(order) // max(len(self.c), 1)
        for piece in _pieces(len(order), work // CHUNK):
            margins.visit(
                order[piece], *csr_arguments(self.brief), self.q, *self._given(climb), climb.scale,
                climb.bias, climb.W, self.alpha, self.gaps, *self._listed(),
            )  # fmt: skip
            if report.out_of_time():
                break
        return order

    def _renew_lists(self, due: Ints, climb: Climb) -> None:
        """New lists where they have served, in parts side by side."""
        from ..kernels import label_lists

        served = due[self.counts[due] < 0]
        parts = _pieces(len(served), len(served) // RENEWED)

        def renew(i: int) -> None:
            label_lists.renew(
                served[parts[i]], *csr_arguments(self.brief), *self._given(climb)[1:], climb.bias, climb.W,
                self.alpha, self.band, *self._listed(),
            )  # fmt: skip

        climb.share(renew, len(parts))

    def schedule(self, seen: Ints, least: float) -> None:
        """Those that added less than ``least`` wait, each time twice as long."""
        from ..kernels import waiting

        active = len(self.wait) - int(np.count_nonzero(self.wait))
        rare = len(self.wait) // max(active, 1) if self.lists.shape[1] == 0 else 0
        longest = min(max(rare, SHORT), LONG)
        waiting.schedule(seen, self.gaps, least, longest, self.wait, self.rest)

    def look(self, climb: Climb) -> tuple[float, float]:
        """Σ ⟨Δ_i, α_i⟩ and the true gap at w(α); whoever adds much has waited long enough."""
        gain = self._fill_gaps(climb.exact, climb, self.gaps)
        gap = float(self.gaps.sum())
        large = self.gaps > SHARE * gap / len(self.c)
        self.wait[large] = self.rest[large] = 0
        return gain, gap

    def gap_at(self, table: Floats, climb: Climb) -> float:
        """What all examples add to the gap at another w."""
        gaps = np.empty(len(self.c))
        self._fill_gaps(table, climb, gaps)
        return float(gaps.sum())

    def _fill_gaps(self, table: Floats, climb: Climb, gaps: Floats) -> float:
        from ..kernels import margins

        parts = _pieces(len(self.c), self.rows.entries * table.shape[1] // CHUNK)

        def piece(i: int) -> float:
            gain: float = margins.look(
                parts[i].start, parts[i].stop, *csr_arguments(self.rows), *self._given(climb), climb.bias,
                table, self.alpha, gaps,
            )  # fmt: skip
            return gain

        return float(sum(climb.share(piece, len(parts))))

    def values(self) -> Values:
        return {
            "alpha": self.alpha,
            "gaps": self.gaps,
            "wait": self.wait,
            "rest": self.rest,
            "lists": self.lists,
            "held": self.held,
            "counts": self.counts,
            "left": self.left,
            "terms": self.terms,
        }

    def restore(self, kept: Values) -> None:
        for name, array in kept.items():
            getattr(self, name)[:] = array


def _pieces(n: int, count: int) -> list[slice]:
    """n things in about ``count`` pieces of much the same size: one at least, and none that is empty."""
    count = max(1, min(n, count))
    return [slice(n * i // count, n * (i + 1) // count) for i in range(count)]


def in_brief(rows: Csr) -> Csr:
    """The rows with values in float32."""
    values = None if rows.values is None else rows.values.astype(np.float32, copy=False)
    return replace(rows, values=values)


Share = Callable[[Callable[[int], Any], int], list[Any]]
"""``Engine.share``."""


def as_sparse(rows: Any, share: Share) -> Csr:
    """Rows as kernels that visit single ones read them; dense ones are compressed in parts, side by side."""
    if isinstance(rows, Csr):
        return rows
    from ..kernels import structure

    parts = [slice(a, b) for a, b in pairwise([*range(0, len(rows), ROWS), len(rows)])]
    counts = np.zeros(len(rows) + 1, np.int64)
    share(lambda i: structure.count_entries(rows[parts[i]], counts[1:][parts[i]]), len(parts))
    indptr = np.cumsum(counts)
    kind = np.int32 if max(rows.shape[1], indptr[-1]) < 2**31 else np.int64
    indptr = indptr.astype(kind)
    indices, values = np.empty(indptr[-1], kind), np.empty(indptr[-1], rows.dtype)

    def compress(i: int) -> None:
        part = parts[i]
        structure.compress(rows[part], indptr[part.start : part.stop + 1], indices, values)

    share(compress, len(parts))
    return Csr(indptr, indices, values, rows.shape[1])
