"""Dual coordinate ascent: for the hinges (``margins.py``), and for the log loss on sparse rows (here).

Of the log loss, while C · mean ‖x‖² is small, nothing is faster:

    primal  F(w) = C Σ s_i (log Z_i(w) − score_i(y_i; w)) + ½ ‖w‖²
    dual    D(μ) = C Σ s_i H(μ_i) − ½ ‖w(μ)‖²,    w(μ) = C Σ s_i Ψᵀ(y_i − μ_i)

Each example keeps a distribution μ_i over the labels; a sweep visits the examples in random order and
solves each block exactly (``kernels/dual.py``). The free intercept is the multiplier of a constraint,
handled by an augmented Lagrangian. μ stays feasible when C or the weights change, so a path of C and a
warm start begin where the last fit ended. Any other begins with the best μ of the form

    μ_i = t y_i + (1 − t) (uniform over the other labels)          H'(t) Σ c_i + (1 − t) ‖w'‖² = 0

where w' is w for t = 0, the sums of the classes against each other: one cheap pass, worth a sweep or two.

A sweep yields an estimate of the gap at no cost; the true certificate (a pass over the data) is computed
when that estimate has fallen far enough, and decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

import numpy as np
from sklearn.utils import check_random_state

from ..errors import Unsupported
from ..layouts import csr_arguments
from ..objective import PIECE, Objective
from ..records import Floats, Solution
from ..spaces import Classes
from .base import Solver, resume
from .hard_margin import soft, widest
from .margin_rows import as_sparse
from .margins import climb
from .newton_cg import polish
from .report import Report, Snapshot, Values

__all__ = ["Dual"]

PATIENCE = 0.5
"""Seconds after which progress is reported even if the end is not near."""

LOSSES = "log", "hinge", "weston_watkins"
"""Losses whose block step is known."""

CHUNK = 10_000_000
"""Multiply-adds between two looks at the clock."""

PRECISE = 1e-7
"""Below this ``tol`` visits work in float64."""

SINGLE = 1e-15, 1e25
"""Σ c_i · max ‖x‖, which bounds every weight, for visits in float32."""

STALLED, LATELY = 0.9, 5
"""An estimate that falls less than to this share in so many sweeps: then float32 is too coarse."""


@final
class Dual(Solver):
    """Dual coordinate ascent with the exact block step, for "log", "hinge" and "weston_watkins".

    ``seed`` orders the visits. For the log loss, ``augmentation`` is B relative to mean ‖x‖² and
    ``confidence`` the probability that μ starts with on the true label (None: the best one).

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SoftmaxRegression(solver="dual", C=0.1).fit(X, y).solution_.status
    'converged'
    """

    name = "dual"
    needs_smooth = False
    needs_random_access = True
    handles_no_penalty = False

    def __init__(
        self,
        seed: int | None = None,
        augmentation: float = 0.1,
        confidence: float | None = None,
    ) -> None:
        self.seed, self.augmentation, self.confidence = seed, augmentation, confidence

    def check(self, objective: Objective) -> None:
        super().check(soft(objective) if _hard(objective) else objective)
        if not isinstance(objective.problem.space, Classes):
            raise Unsupported("solver 'dual' works on classes only. Use solver='lbfgs'.")
        if objective.problem.loss.name not in LOSSES:
            raise Unsupported(
                f"solver 'dual' has no step for loss {objective.problem.loss.name!r}, only for "
                f"{', '.join(LOSSES)}. Use solver='auto'."
            )

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        report.solver = self.name
        kept = resume(self, report, state, told=False) if isinstance(state, Snapshot) else {}
        if not objective.problem.loss.smooth:
            if _hard(objective):
                return widest(self.name, self.seed, objective, start, report)
            return climb(self.name, self.seed, objective, report, state, kept)
        precise = objective.small or report.tol < PRECISE
        ascent = _Ascent(objective, self, state, kept, precise)
        wanted = min(report.tol * objective.zero, kept.get("wanted", np.inf))
        point, sweeps, reported, told = None, report.passes, report.passes, report.seconds

        def keep() -> Values:
            return {"wanted": wanted, **ascent.values()}

        while sweeps < report.max_iter and not report.status:
            estimate = ascent.sweep(report)
            sweeps += 1
            # Looking costs a pass, and changes nothing that follows: only when it may be the end, when
            # limits ask for it, or when somebody has waited for news for a while.
            near = estimate <= wanted
            due = near or report.out_of_time() or sweeps == report.max_iter
            if not due and report.seconds - told < PATIENCE:
                continue
            point = objective.settled(ascent.w(), seldom=True)
            # A look out of patience only reports: were it to end the run, the clock would decide.
            over = due and report.certified(point)
            wanted = 0.5 * estimate if near else wanted
            passes, state = sweeps - reported, None if over else keep
            stop = report(objective, point.w, point.value, point.gap, passes, state)
            reported, told = sweeps, report.seconds
            if stop or over:
                break
        if point is None or not report.certified(point):
            point = point or objective.settled(ascent.w(), seldom=True)
            report.stop("max_iter", f"max_iter of {report.max_iter} sweeps reached")
        point = polish(objective, point, report)
        return report.solution(objective, point, self.name, state=ascent.state())


@final
class _Ascent:
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
        self.data = [_ShardDual(shard, objective) for shard in objective.shards]
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
            values |= {f"v{i}": data.v, f"mu{i}": data.mu}
        return {name: array.copy() for name, array in values.items()} | {"position": position}

    def _restore(self, kept: Values) -> None:
        self.rng.set_state(("MT19937", kept["rng"], kept["position"]))
        self.U, self.b, self.h = kept["U"].copy(), kept["b"].copy(), kept["h"].copy()
        self.estimates = list(kept.get("estimates", ()))
        for i, data in enumerate(self.data):
            data.v, data.mu = kept[f"v{i}"].copy(), kept[f"mu{i}"].copy()

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
class _ShardDual:
    """One shard's rows and dual variables, μ (n, K) and v = log μ."""

    v: Floats
    mu: Floats

    def __init__(self, shard: Any, objective: Objective) -> None:
        self.rows = as_sparse(shard.structures.rows, objective.engine.share)
        self.labels, n = shard.truth.labels, len(shard)
        weight = np.ones(n) if shard.truth.weight is None else shard.truth.weight
        self.c, self.q = objective.C * weight, objective.norms(shard)

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

    def sweep(self, ascent: _Ascent, report: Report) -> float:
        from ..kernels import dual

        order = ascent.rng.permutation(len(self.c)).astype(np.int64)
        work = max(self.rows.entries * ascent.U.shape[1], 1)
        pieces = max(1, min(len(order), work // CHUNK))
        gap = 0.0
        for piece in np.array_split(order, pieces):
            gap += dual.sweep(
                piece, *csr_arguments(self.rows), self.q, self.c, ascent.scale, ascent.B,
                ascent.U, ascent.b, ascent.h, self.v, self.mu,
            )  # fmt: skip
            if report.out_of_time():
                break
        return gap


def _confidence(k: int, weight: float, square: float) -> float:
    """The root t of the equation above, by bisection: the left side falls from 1/K to 1."""
    low, high = 1.0 / k, 1.0
    for _ in range(40):
        t = 0.5 * (low + high)
        rises = weight * math.log((1.0 - t) / ((k - 1) * t)) + (1.0 - t) * square > 0.0
        low, high = (t, high) if rises else (low, t)
    return low


def _hard(objective: Objective) -> bool:
    """Whether C = ∞ leaves a hinge with nothing but its margin."""
    return not objective.problem.loss.smooth and not objective.penalised


def _own(state: Any) -> bool:
    return isinstance(state, dict) and "b" in state
