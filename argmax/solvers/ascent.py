"""The variables of dual ascent for the log loss (``dual.py``), and how its sweeps are shared by threads.

Where rows are many and have little in common, examples are visited in blocks: all of one block with the
weights from before it, by all threads. How large a block may be is measured by how far its steps go
together:

    r = ‖Σ x_i Δ_iᵀ‖² / Σ ‖x_i‖² ‖Δ_i‖²,     Δ_i the steps of its examples

Steps at right angles have r = 1 and might as well be taken one after the other; twins overshoot. r − 1 grows
with the size of the block, which is chosen so that r stays at GOOD or less; if too few examples are left for
that, they are visited one by one. None of this depends on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np
from sklearn.utils import check_random_state

from ..engines.columns import OWNERS, split
from ..layouts import csr_arguments
from ..objective import PIECE, Objective
from ..records import Csr, Floats, Ints
from .margin_rows import as_sparse
from .report import Report, Values

if TYPE_CHECKING:
    from .dual import Dual

__all__ = ["Ascent"]

CHUNK = 100_000_000
"""Multiply-adds between two looks at the clock."""

SINGLE = 1e-15, 1e25
"""Σ c_i · max ‖x‖, which bounds every weight, for visits in float32."""

STALLED, LATELY = 0.9, 5
"""An estimate that falls less than to this share in so many sweeps: then float32 is too coarse."""

GOOD = 1.3
"""How much further than alone the steps of a block may go together."""

BLOCK, SHARE = (16, 256), 128
"""Examples of a block at least and at most; and blocks that a sweep has at least."""

WORTH = 2_000_000
"""Multiply-adds for which it is worth calling the other threads."""


@final
class Ascent:
    """The running variables: U = w in label space, intercept b, violation h, and μ of every shard."""

    def __init__(
        self, objective: Objective, solver: Dual, state: Any, kept: Values, precise: bool
    ) -> None:
        layout = objective.problem.full
        self.objective, self.layout, k = objective, layout, layout.labels
        self.two = layout.label_features is not None
        self.scale = 0.5 if self.two else 1.0
        seed = 0 if solver.seed is None else solver.seed
        self.rng = check_random_state(seed)
        self.b: Floats = np.zeros(k)
        self.h: Floats = np.zeros(k)
        self.estimates: list[float] = []
        self.data = [ShardAscent(shard, objective) for shard in objective.shards]
        q = np.concatenate([data.q for data in self.data])
        free = layout.intercept
        self.B = solver.augmentation * max(float(q.mean()), 1e-12) if free else 0.0
        if kept:
            self._restore(kept)
            return
        # Visits are bound by memory: they work in float32, unless its noise or its range would be felt.
        reach = float(self._counts().sum()) * float(q.max()) ** 0.5
        kind = np.float32 if SINGLE[0] < reach < SINGLE[1] and not precise else np.float64
        width = 4 if self.two else layout.width  # two classes run as two columns
        self.U = np.zeros((layout.features, width), kind)
        if all(data.resume(state, i, k) for i, data in enumerate(self.data)):
            self._rebuild()
        else:
            self._begin(solver.confidence)
        if free:
            self.b = state["b"].copy() if _own(state) else self._start_intercept()

    def values(self) -> Values:
        """For a snapshot: copies, because sweeps work in place."""
        _, keys, position, _, _ = self.rng.get_state()
        values = {"U": self.U, "b": self.b, "h": self.h, "rng": keys}
        values["estimates"] = np.array(self.estimates)
        for i, data in enumerate(self.data):
            values |= {f"{name}{i}": value for name, value in data.values().items()}
        return {name: array.copy() for name, array in values.items()} | {"position": position}

    def _restore(self, kept: Values) -> None:
        self.rng.set_state(("MT19937", kept["rng"], kept["position"]))
        self.U, self.b, self.h = kept["U"].copy(), kept["b"].copy(), kept["h"].copy()
        self.estimates = list(kept.get("estimates", ()))
        for i, data in enumerate(self.data):
            data.restore({name: kept[f"{name}{i}"] for name in ("v", "mu", "blocks")})

    def _begin(self, confidence: float | None) -> None:
        """μ with the same confidence t in every label, and U to go with it."""
        from ..kernels import dual

        for data in self.data:
            dual.class_sums(*csr_arguments(data.rows), data.c, data.labels, self.U)
        k, counts = len(self.h), self._counts()
        squares = self._by_ranges(lambda some: dual.against_others(self.U[some], k, self.scale))
        weight, square = float(counts.sum()), sum(squares) / self.scale
        t = _confidence(k, weight, square) if confidence is None else confidence
        self._by_ranges(lambda some: np.multiply(self.U[some], 1.0 - t, out=self.U[some]))
        self.h += (1.0 - t) * self.scale * (counts - (counts.sum() - counts) / (k - 1))
        for data in self.data:
            data.begin(t, k)

    def _rebuild(self) -> None:
        """U and h of μ, without the rounding of the visits."""
        self.U[:], self.h[:] = 0.0, 0.0
        for data in self.data:
            data.add_to(self.U, self.h, self.scale)

    def _by_ranges(self, piece: Callable[[slice], Any]) -> list[Any]:
        """``piece`` of consecutive ranges of features, side by side; the shape of U alone cuts them."""
        rows, features = max(PIECE // self.U.shape[1], 1), len(self.U)
        return self.objective.engine.share(
            lambda i: piece(slice(i * rows, min((i + 1) * rows, features))), -(-features // rows)
        )

    def _counts(self) -> Floats:
        """Σ c_i of each label."""
        counts = np.zeros(len(self.h))
        for data in self.data:
            counts += np.bincount(data.labels, weights=data.c, minlength=len(counts))
        return counts

    def _start_intercept(self) -> Floats:
        """log priors, centred."""
        logs = np.log(np.maximum(self._counts(), 1e-300))
        return np.asarray(logs - logs.mean())

    def sweep(self, report: Report) -> float:
        """Every example once, in random order; returns the estimated gap."""
        gap = 0.0
        for data in self.data:
            gap += data.sweep(self, report)
        # In units of log odds, more than 1 a sweep would be an overshoot, not progress.
        self.b += np.clip(self.B * self.h, -1.0, 1.0)
        self.estimates = [*self.estimates[-LATELY:], gap]
        if self.U.dtype == np.float32 and self._stalled():
            self.U = self.U.astype(float)
            self._rebuild()
        return gap

    def _stalled(self) -> bool:
        return len(self.estimates) > LATELY and self.estimates[-1] > STALLED * self.estimates[0]

    def w(self) -> Floats:
        """A flat copy of w."""
        layout = self.layout
        b, w = self.b + self.B * self.h, np.empty(layout.size)
        table = layout.matrix(w)
        if self.two:
            np.subtract(self.U[:, 1], self.U[:, 0], out=table[: layout.features, 0])
            table[layout.features :] = b[1] - b[0]
            return w
        self._by_ranges(lambda some: np.copyto(table[some], self.U[some]))
        table[layout.features :] = 0.0
        table[layout.features :, : layout.labels] = b - b.mean()
        return w

    def state(self) -> dict[str, Any]:
        return {"b": self.b, "v": [data.v for data in self.data]}


@final
class ShardAscent:
    """One shard's rows and dual variables, μ (n, K) and v = log μ; and in what blocks they are visited."""

    v: Floats
    mu: Floats

    def __init__(self, shard: Any, objective: Objective) -> None:
        self.engine, rows = objective.engine, shard.structures.rows
        self.rows = as_sparse(rows, self.engine.share)
        self.labels, n = shard.truth.labels, len(shard)
        weight = np.ones(n) if shard.truth.weight is None else shard.truth.weight
        self.c, self.q = objective.C * weight, objective.norms(shard)
        self.most = _block(n // SHARE)
        self.block, self.measured = self.most, False
        self.splits = self._split(shard) if self.most > 1 else None
        if self.splits is None:
            self.block = 1

    def _split(self, shard: Any) -> Ints | None:
        """Where rows enter the ranges of features that threads own; None if they cannot be split."""
        if isinstance(shard.structures.rows, Csr):
            found: Ints | None = shard.splits(self.engine.share)
            return found
        return split(self.rows, self.engine.share)

    def resume(self, state: Any, index: int, k: int) -> bool:
        """Begin where an earlier fit ended, if it had as many examples and labels."""
        found = state.get("v") if isinstance(state, dict) else None  # another's state is no use
        shape = len(self.c), k
        if found is None or index >= len(found) or found[index].shape != shape:
            return False
        self.v = found[index].copy()
        self.mu = np.exp(self.v)
        return True

    def begin(self, confidence: float, k: int) -> None:
        """The true label with this probability, all others alike."""
        rest, own = (1.0 - confidence) / (k - 1), (np.arange(len(self.c)), self.labels)
        self.mu, self.v = np.full((len(self.c), k), rest), np.full((len(self.c), k), np.log(rest))
        self.mu[own], self.v[own] = confidence, np.log(confidence)

    def add_to(self, U: Floats, h: Floats, scale: float) -> None:
        """U += Σ c_i x_i (y_i − μ_i)ᵀ, h likewise."""
        from ..kernels import products

        residual = -self.mu * (self.c * scale)[:, None]
        residual[np.arange(len(self.c)), self.labels] += self.c * scale
        products.csr_adjoint(*csr_arguments(self.rows), residual, U, h)

    def values(self) -> Values:
        return {"v": self.v, "mu": self.mu, "blocks": np.array([self.block, self.measured])}

    def restore(self, kept: Values) -> None:
        self.v, self.mu = kept["v"].copy(), kept["mu"].copy()
        self.block, self.measured = int(kept["blocks"][0]), bool(kept["blocks"][1])

    def sweep(self, ascent: Ascent, report: Report) -> float:
        """Every example once, in random order; returns what they add to the gap."""
        order = ascent.rng.permutation(len(self.c)).astype(np.int64)
        each = max(self.rows.entries * ascent.U.shape[1] // len(order), 1)
        gap, at = 0.0, 0
        while at < len(order):
            # The first blocks of all are a trial: few.
            count = max(CHUNK // each // self.block, 1) if self.measured or self.block == 1 else 2
            some = order[at : at + count * self.block]
            at += len(some)
            if self.block == 1:
                gap += self._one_by_one(some, ascent)
            else:
                gap += self._in_blocks(some, ascent, len(some) * each >= WORTH)
            if report.out_of_time():
                break
        return gap

    def _one_by_one(self, order: Ints, ascent: Ascent) -> float:
        from ..kernels import dual

        gap: float = dual.sweep(
            order, *csr_arguments(self.rows), self.q, self.c, ascent.scale, ascent.B, ascent.U, ascent.b,
            ascent.h, self.v, self.mu,
        )  # fmt: skip
        return gap

    def _in_blocks(self, order: Ints, ascent: Ascent, shared: bool) -> float:
        from ..kernels import dual, turns

        rows, U, k = csr_arguments(self.rows), ascent.U, self.mu.shape[1]
        gaps = np.empty(len(order))
        before, moved = np.zeros((2, self.block, U.shape[1]), U.dtype)
        counts, shifts = np.zeros(turns.SHAPE, np.int64), np.empty((OWNERS, k))

        def work(threads: int) -> None:
            pieces = min(2 ** (threads - 1).bit_length(), OWNERS)
            dual.sweep_blocks(
                counts, pieces, order, self.block, *rows, self.splits, self.q, self.c, ascent.scale, ascent.B,
                U, ascent.b, ascent.h, self.v, self.mu, gaps, before, moved, shifts,
            )  # fmt: skip

        if shared:
            self.engine.together(work)
        else:
            work(1)
        last = order[(len(order) - 1) // self.block * self.block :]
        if len(last) >= BLOCK[0]:
            ratio = dual.reinforcement(
                last, *rows, self.q, ascent.scale, ascent.B, U, before, moved
            )
            fitting = len(last) * (GOOD - 1.0) / max(ratio - 1.0, 1e-3)
            self.block, self.measured = _block(min(fitting, self.most)), True
        return float(gaps.sum())


def _block(size: float) -> int:
    """The largest power of two up to ``size``, within BLOCK; 1 if there is none."""
    low, high = BLOCK
    return 1 if not size >= low else 2 ** int(math.log2(min(size, high)))


def _confidence(k: int, weight: float, square: float) -> float:
    """The root t of the equation above, by bisection: the left side falls from 1/K to 1."""
    low, high = 1.0 / k, 1.0
    for _ in range(40):
        t = 0.5 * (low + high)
        rises = weight * math.log((1.0 - t) / ((k - 1) * t)) + (1.0 - t) * square > 0.0
        low, high = (t, high) if rises else (low, t)
    return low


def _own(state: Any) -> bool:
    return isinstance(state, dict) and "b" in state
