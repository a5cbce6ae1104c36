"""The variables of dual ascent for the log loss (``dual``): where they begin, and how examples are visited.

Without a state to resume, an ascent begins with the best μ of the form

    μ_i = t y_i + (1 − t) (uniform over the other labels)          H'(t) Σ c_i + (1 − t) ‖w'‖² = 0

where w' is w for t = 0, the sums of the classes against each other: one cheap pass, worth a sweep or two.

Where there is much to do, examples are visited in blocks: all of one block with the weights from before it,
by all threads (``kernels.dual_blocks``). What m rows have in common, all of them correct at once: a block
multiplies an error along the direction that rows share most by

    1 − m ρ κ,    ρ = λ_max(Σ x xᵀ) / Σ ‖x‖²,    κ = Q / (2 + Q),  Q = C mean ‖x‖²

κ is how far a visit takes its row's own scores at most (½ bounds the curvature of log Z). So m is at most
2 / ρκ; Takáč, Bijral, Richtárik and Srebro (2013) have the like for hinges, with proofs. The intercept is
common to all rows, and B limits its share: m C B f (1 − f) ≤ 1 for the most frequent label, which has the
share f. If the gap grows all the same, blocks become smaller, and in the end examples are visited one by one.
None of this depends on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np
from sklearn.utils import check_random_state

from ..engines import limits
from ..engines.columns import OWNERS
from ..engines.dealt import Dealt, Hands, deal, hands, owners_of
from ..layouts import as_matrix, csr_arguments
from ..memory import cache_aligned
from ..objective import GROUPS, PIECE, Objective
from ..records import Csr, Floats, Ints
from .margin_rows import as_sparse, pieces
from .report import Report, Values

if TYPE_CHECKING:
    from .dual import Dual

__all__ = ["Ascent"]

CHUNK, SHARED_CHUNK = 10_000_000, 400_000_000
"""Multiply-adds between two looks at the clock: of one thread, and of all."""

SINGLE = 1e-15, 1e25
"""Σ c_i · max ‖x‖, which bounds every weight, for visits in float32."""

STALLED, LATELY = 0.9, 5
"""An estimate that falls less than to this share in so many sweeps: then float32 is too coarse."""

WORTH = 100_000_000
"""Multiply-adds of a sweep from which on it is made in blocks."""

BLOCK, SHARE = (32, 256), 128
"""Examples of a block at least and at most; and blocks that a sweep has at least."""

SAMPLE, ROUNDS = 512, 6
"""Rows, and power iterations, by which ρ is estimated."""


@final
class Ascent:
    """The running variables: U = w in label space, intercept b, violation h, and μ of every example.

    While examples are visited in blocks, the features of U lie where ``hands`` puts them.
    """

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
        self.data = data = _Examples(objective.whole, objective)
        self.counts = data.counts(k)  # Σ c_i of each label
        q, free = data.q, layout.intercept
        self.B = solver.augmentation * max(float(q.mean()), 1e-12) if free else 0.0
        self.block = 1
        if kept:
            self.B, self.block = float(kept.get("B", self.B)), int(kept.get("block", 1))
        elif objective.sparse:
            self.block = self._fitting(float(q.mean()))
            self.B = min(self.B, self._steady(len(q)))
        # Visits are bound by memory: they work in float32, unless its noise or its range would be felt.
        reach = float(self.counts.sum()) * float(q.max()) ** 0.5
        kind = np.float32 if SINGLE[0] < reach < SINGLE[1] and not precise else np.float64
        self.hands = self._deal(kept["U"].dtype if kept else kind) if self.block > 1 else None
        if kept:
            self._restore(kept)
            return
        width = 4 if self.two else layout.width  # two classes run as two columns
        places = layout.features if self.hands is None else self.hands.size
        self.U = np.zeros((places, width), kind)
        if data.resume(state, k):
            self._rebuild()
        else:
            self._begin(solver.confidence)
        if free:
            self.b = state["b"].copy() if _own(state) else self._start_intercept()

    def values(self) -> Values:
        """For a snapshot: copies, because sweeps work in place."""
        _, keys, position, _, _ = self.rng.get_state()
        values = {"U": self._plain(), "b": self.b, "h": self.h, "rng": keys}
        values["estimates"] = np.array(self.estimates)
        values |= {"B": np.array(self.B), "block": np.array(self.block)}
        values |= {"v": self.data.v, "mu": self.data.mu}
        return {name: array.copy() for name, array in values.items()} | {"position": position}

    def _restore(self, kept: Values) -> None:
        self.rng.set_state(("MT19937", kept["rng"], kept["position"]))
        U, self.b, self.h = kept["U"].copy(), kept["b"].copy(), kept["h"].copy()
        self.U = self._dealt(U)
        self.estimates = list(kept.get("estimates", ()))
        self.data.v, self.data.mu = kept["v"].copy(), kept["mu"].copy()

    def _begin(self, confidence: float | None) -> None:
        """μ with the same confidence t in every label, and U to go with it."""
        from ..kernels import dual

        self.data.class_sums(self.U)
        k, counts = len(self.h), self.counts
        squares = self._by_ranges(lambda some: dual.against_others(self.U[some], k, self.scale))
        weight, square = float(counts.sum()), sum(squares) / self.scale
        t = _confidence(k, weight, square) if confidence is None else confidence
        self._by_ranges(lambda some: np.multiply(self.U[some], 1.0 - t, out=self.U[some]))
        self.h += (1.0 - t) * self.scale * (counts - (counts.sum() - counts) / (k - 1))
        self.data.begin(t, k)

    def _rebuild(self) -> None:
        """U and h of μ, without the rounding of the visits."""
        U = np.zeros((self.layout.features, self.U.shape[1]), self.U.dtype)
        self.h[:] = 0.0
        self.data.add_to(U, self.h, self.scale)
        self.U = self._dealt(U)

    # Features dealt out, and gathered in again

    def _fitting(self, square: float) -> int:
        """Examples of a block, a power of two; 1 where blocks are not worth it. Given mean ‖x‖², scaled."""
        rows, most = self.data.rows, len(self.data.c) // SHARE
        if rows.entries * self.layout.width < WORTH or most < BLOCK[0]:
            return 1
        Q = square * float(self.counts.sum()) / len(rows)
        coherent = _coherence(rows) * Q / (2.0 + Q)
        return _block(min(most, 2.0 / max(coherent, 1e-9)))

    def _steady(self, examples: int) -> float:
        """The largest B with which blocks do not make the intercept swing."""
        weight = float(self.counts.sum())
        f = float(self.counts.max()) / weight
        swing = self.block * weight / examples * f * (1.0 - f)
        return 1.0 / swing if self.block > 1 and swing > 0.0 else math.inf

    def _deal(self, kind: Any) -> Hands:
        data = self.data
        given = hands(data.rows)
        data.shard.dealt = deal(data.rows, given, kind, self.objective.engine.share)
        return given

    def _dealt(self, U: Floats) -> Floats:
        """U of features as the layout has them, where ``hands`` puts them."""
        if self.hands is None:
            return U
        dealt = np.zeros((self.hands.size, U.shape[1]), U.dtype)
        dealt[self.hands.place] = U
        return dealt

    def _plain(self) -> Floats:
        """U of features as the layout has them."""
        return self.U if self.hands is None else self.U[self.hands.place]

    def _gather_in(self) -> None:
        """From now on examples are visited one by one."""
        self.U, self.hands = self._plain(), None
        self.block = 1
        self.data.shard.dealt = None

    def _by_ranges(self, piece: Callable[[slice], Any]) -> list[Any]:
        """``piece`` of consecutive ranges of U, side by side; the shape of U alone cuts them."""
        return self._shared(piece, len(self.U))

    def _shared(self, piece: Callable[[slice], Any], features: int) -> list[Any]:
        count = min(GROUPS, -(-features * self.U.shape[1] // PIECE))
        return self.objective.engine.share(
            lambda i: piece(slice(features * i // count, features * (i + 1) // count)), count
        )

    def _start_intercept(self) -> Floats:
        """log priors, centred."""
        logs = np.log(np.maximum(self.counts, 1e-300))
        return np.asarray(logs - logs.mean())

    def sweep(self, report: Report) -> float:
        """Every example once, in random order; returns the estimated gap."""
        gap = self.data.sweep(self, report)
        # In units of log odds, more than 1 a sweep would be an overshoot, not progress.
        self.b += np.clip(self.B * self.h, -1.0, 1.0)
        grown = bool(self.estimates) and gap > self.estimates[-1]
        self.estimates = [*self.estimates[-LATELY:], gap]
        if grown and self.hands is not None:
            self.block //= 2
            if self.block < BLOCK[0]:
                self._gather_in()
        if self.U.dtype == np.float32 and self._stalled():
            self.U = self.U.astype(float)
            self.hands = None if self.hands is None else self._deal(float)
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
            U = self._plain()
            np.subtract(U[:, 1], U[:, 0], out=table[: layout.features, 0])
            table[layout.features :] = b[1] - b[0]
            return w
        self._shared(lambda some: np.copyto(table[some], self._some(some)), layout.features)
        table[layout.features :] = 0.0
        table[layout.features :, : layout.labels] = b - b.mean()
        return w

    def _some(self, features: slice) -> Floats:
        return self.U[features if self.hands is None else self.hands.place[features]]

    def state(self) -> dict[str, Any]:
        return {"b": self.b, "v": self.data.v}


@final
class _Examples:
    """Rows and dual variables, μ (n, K) and v = log μ; and in what blocks they are visited."""

    v: Floats
    mu: Floats

    def __init__(self, shard: Any, objective: Objective) -> None:
        self.engine, self.shard = objective.engine, shard
        self.rows = as_sparse(shard.structures.rows, self.engine.share)
        self.labels, n = shard.truth.labels, len(shard)
        weight = np.ones(n) if shard.truth.weight is None else shard.truth.weight
        self.c, self.q = objective.C * weight, objective.norms(shard)
        shard.dealt = None

    def counts(self, k: int) -> Floats:
        """Σ c_i of each label."""
        return np.asarray(np.bincount(self.labels, weights=self.c, minlength=k), float)

    def resume(self, state: Any, k: int) -> bool:
        """Begin where an earlier fit ended, if it had as many examples and labels."""
        found = state.get("v") if isinstance(state, dict) else None  # another's state is no use
        if found is None or found.shape != (len(self.c), k):
            return False
        self.v = found.copy()
        self.mu = np.exp(self.v)
        return True

    def begin(self, confidence: float, k: int) -> None:
        """The true label with this probability, all others alike."""
        from ..kernels import dual

        n, count = len(self.c), min(GROUPS, -(-len(self.c) * k // PIECE))
        self.mu, self.v = np.empty((n, k)), np.empty((n, k))

        def fill(i: int) -> None:
            some = slice(n * i // count, n * (i + 1) // count)
            dual.begin(confidence, self.labels[some], self.mu[some], self.v[some])

        self.engine.share(fill, count)

    def class_sums(self, U: Floats) -> None:
        """U[j, y_i] += c_i x_ij."""
        from ..kernels import dealt, dual

        held = self.shard.dealt
        if held is None:
            dual.class_sums(*csr_arguments(self.rows), self.c, self.labels, U)
            return
        ranges = owners_of(self.engine.at_hand)

        def some(i: int) -> None:
            dealt.class_sums(*ranges[i], OWNERS, *held.arguments(), self.c, self.labels, U)

        self.engine.share(some, len(ranges))

    def add_to(self, U: Floats, h: Floats, scale: float) -> None:
        """U += Σ c_i x_i (y_i − μ_i)ᵀ, h likewise; features as the layout has them."""
        from ..kernels import products

        for some in pieces(len(self.c), self.rows.entries * U.shape[1] // CHUNK):
            limits.look()
            c = self.c[some] * scale
            residual = -self.mu[some] * c[:, None]
            residual[np.arange(len(c)), self.labels[some]] += c
            products.csr_adjoint(*csr_arguments(self.rows[some]), residual, U, h)

    def sweep(self, ascent: Ascent, report: Report) -> float:
        """Every example once; returns what they add to the gap."""
        each = max(self.rows.entries * ascent.U.shape[1] // max(len(self.c), 1), 1)
        if self.shard.dealt is not None:
            return self._by_blocks(self.shard.dealt, ascent, report, each)
        from ..kernels import dual

        order = ascent.rng.permutation(len(self.c)).astype(np.int64)
        pieces = max(1, min(len(order), each * len(order) // CHUNK))
        gap = 0.0
        for piece in np.array_split(order, pieces):
            gap += dual.sweep(
                piece, *csr_arguments(self.rows), self.q, self.c, ascent.scale, ascent.B,
                ascent.U, ascent.b, ascent.h, self.v, self.mu,
            )  # fmt: skip
            if report.out_of_time():
                break
        return gap

    def _by_blocks(self, held: Dealt, ascent: Ascent, report: Report, each: int) -> float:
        from ..kernels.dealt import GROUP

        groups = ascent.rng.permutation(held.groups).astype(np.int64)
        blocks = -(-held.groups * GROUP // ascent.block)
        calls = max(1, min(blocks, each * len(self.c) // SHARED_CHUNK))
        bounds = [blocks * i // calls * ascent.block // GROUP for i in range(calls + 1)]
        gap = 0.0
        for first, last in pairwise(bounds):
            gap += self._visit(held, ascent, groups[first:last])
            if report.out_of_time():
                break
        return gap

    def _visit(self, held: Dealt, ascent: Ascent, groups: Ints) -> float:
        """The examples of these groups, in blocks."""
        from ..kernels import dual_blocks, turns
        from ..kernels.dealt import GROUP

        U, block, threads = ascent.U, ascent.block, min(self.engine.at_hand, OWNERS)
        pieces = len(owners_of(threads))
        steps = np.zeros(turns.steps_shape(pieces), np.int64)
        # Lines of the cache that two write to would travel: what is one thread's begins with a line.
        gaps, moved = (
            cache_aligned((len(groups) * GROUP,)),
            cache_aligned((block, U.shape[1]), U.dtype),
        )
        gaps[:], moved[:] = 0.0, 0.0
        # A little more, for else the scores of one example by all owners fall to the same lines of a cache.
        parts = cache_aligned((OWNERS, block * U.shape[1] + GROUP), U.dtype)
        shifts = cache_aligned((OWNERS, -(-len(ascent.h) // GROUP) * GROUP))

        def work(_: bool) -> bool:
            dual_blocks.sweep_blocks(
                steps, pieces, threads, groups, block, *held.arguments(), self.q, self.c, ascent.scale,
                ascent.B, U, ascent.b, ascent.h, self.v, self.mu, gaps, parts, moved, shifts,
            )  # fmt: skip
            return False

        self.engine.together(work, threads, counts=[steps])
        return float(gaps.sum())


def _coherence(rows: Csr) -> float:
    """ρ of some of these rows: 1 where all are the same, 1 / n where they have nothing in common."""
    some = as_matrix(rows)[:: max(1, len(rows) // SAMPLE)]
    turned, square, length = some.T, float(some.data @ some.data), 0.0
    v = turned @ np.ones(some.shape[0])
    for _ in range(ROUNDS):
        v = v / max(float(np.linalg.norm(v)), 1e-300)
        v = turned @ (some @ v)
        length = float(np.linalg.norm(v))
    return length / max(square, 1e-300)


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
