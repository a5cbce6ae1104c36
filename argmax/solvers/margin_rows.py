"""The rows and dual variables of ``margins``: who is due, which labels matter, the gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ..engines import limits
from ..layouts import csr_arguments
from ..objective import Objective
from ..records import Csr, Floats, Ints, Truth
from .report import Report, Values

if TYPE_CHECKING:
    from .margins import Climb

__all__ = ["SHARE", "DualRows", "as_sparse", "pieces"]

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

PARTS = 8
"""Row parts at most that sum w(α) side by side, each in a table of its own."""


@final
class DualRows:
    """Rows and dual variables, and how long each example still waits."""

    def __init__(self, shard: Any, objective: Objective, climb: Climb, mu: Floats | None) -> None:
        layout, truth, n = objective.problem.full, shard.truth, len(shard)
        k = layout.labels
        self.rows = as_sparse(shard.structures.rows, objective.engine.share)
        self.brief = self.rows if climb.precise else in_brief(self.rows)
        self.labels = truth.labels
        self.prices, self.begins = _prices(truth, k)
        self.c = objective.C * (np.ones(n) if truth.weight is None else truth.weight)
        q = objective.norms(shard) + climb.scale * climb.bias
        # An empty row moves all its mass at once; a mass that is next to nothing has no inverse.
        self.q = np.maximum(q, 1e-3 / np.maximum(self.c, 1e-300))
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
        self.band = BAND * float(self.prices.max())

    def _listed(self) -> tuple[Any, ...]:
        return self.lists, self.held, self.counts, self.left, self.terms

    def _given(self, climb: Climb) -> tuple[Any, ...]:
        return self.c, self.labels, self.prices, self.begins, climb.sum_of_hinges

    def costs(self, rows: Ints, labels: Ints) -> Floats:
        """Δ of some examples and labels."""
        return np.asarray(self.prices[self.begins[rows] + labels])

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
        size = max(4 * climb.exact.size, FEW)
        parts = pieces(len(self.c), min(PARTS, self.rows.entries // size))
        tables = [climb.exact, *(np.zeros_like(climb.exact) for _ in parts[1:])]

        def add(i: int) -> None:
            count = parts[i].stop - parts[i].start
            work = self.rows.entries * climb.exact.shape[1] * count // max(len(self.c), 1)
            for piece in pieces(count, work // CHUNK):
                limits.look()
                margins.accumulate(
                    parts[i].start + piece.start, parts[i].start + piece.stop,
                    *csr_arguments(self.rows), self.c, self.labels, climb.sum_of_hinges, climb.scale,
                    climb.bias, tables[i], self.alpha,
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
        for piece in pieces(len(order), work // CHUNK):
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
        parts = pieces(len(served), len(served) // RENEWED)

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

        parts = pieces(len(self.c), self.rows.entries * table.shape[1] // CHUNK)

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


FEW = 2**14
"""Entries that are not worth a table of their own, however small that is."""


def _prices(truth: Truth, k: int) -> tuple[Floats, Ints]:
    """Costs in one line, and where in it those of each example begin.

    Where all wrong labels cost 1 the line is … 1 1 1 0 1 1 1 …: each example has its zero at its own label,
    and no table of labels against labels is needed.
    """
    if truth.prices is not None:
        return np.ravel(truth.prices), k * np.arange(len(truth.labels))
    if truth.cost is not None and truth.cost.ndim == 2:
        return np.ravel(truth.cost), k * truth.labels.astype(np.int64)
    prices = np.full(2 * k - 1, 1.0 if truth.cost is None else truth.cost[0])
    prices[k - 1] = 0.0
    return prices, k - 1 - truth.labels.astype(np.int64)


def pieces(n: int, count: int) -> list[slice]:
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
