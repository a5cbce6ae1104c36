"""Dual coordinate ascent: for the hinges (``margins.py``), and for the log loss on sparse rows (here).

Of the log loss, while C · mean ‖x‖² is small, nothing is faster:

    primal  F(w) = C Σ s_i (log Z_i(w) − score_i(y_i; w)) + ½ ‖w‖²
    dual    D(μ) = C Σ s_i H(μ_i) − ½ ‖w(μ)‖²,    w(μ) = C Σ s_i Ψᵀ(y_i − μ_i)

Each example keeps a distribution μ_i over the labels; a sweep visits the examples in random order and
solves each block exactly (``kernels/dual.py``). The free intercept is the multiplier of a constraint,
handled by an augmented Lagrangian. μ stays feasible when C or the weights change, so a path of C and a
warm start begin where the last fit ended.

A sweep yields an estimate of the gap at no cost; the true certificate (a pass over the data) is computed
when that estimate has fallen far enough, and decides.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from sklearn.utils import check_random_state

from ..errors import Unsupported
from ..layouts import csr_arguments
from ..objective import Objective
from ..records import Floats, Solution
from ..spaces import Classes
from .base import Solver, resume
from .hard_margin import soft, widest
from .margins import as_sparse, climb
from .newton_cg import polish
from .report import Report, Snapshot, Values

__all__ = ["Dual"]

PATIENCE = 0.5
"""Seconds after which progress is reported even if the end is not near."""

LOSSES = "log", "hinge", "weston_watkins"
"""Losses whose block step is known."""

CHUNK = 2_000_000
"""Multiply-adds between two looks at the clock."""


@final
class Dual(Solver):
    """Dual coordinate ascent with the exact block step, for "log", "hinge" and "weston_watkins".

    ``seed`` orders the visits. For the log loss, ``augmentation`` is B relative to mean ‖x‖² and
    ``confidence`` the probability that μ starts with on the true label.

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
        self, seed: int | None = None, augmentation: float = 0.1, confidence: float = 0.9
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
        ascent = _Ascent(objective, self, state, kept)
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
            point = objective.settled(ascent.w())
            # A look out of patience only reports: were it to end the run, the clock would decide.
            over = due and report.certified(point)
            wanted = 0.5 * estimate if near else wanted
            passes, state = sweeps - reported, None if over else keep
            stop = report(objective, point.w, point.value, point.gap, passes, state)
            reported, told = sweeps, report.seconds
            if stop or over:
                break
        if point is None or not report.certified(point):
            point = point or objective.settled(ascent.w())
            report.stop("max_iter", f"max_iter of {report.max_iter} sweeps reached")
        point = polish(objective, point, report)
        return report.solution(objective, point, self.name, state=ascent.state())


@final
class _Ascent:
    """The running variables: U = w in label space, intercept b, violation h, and μ of every shard."""

    def __init__(self, objective: Objective, solver: Dual, state: Any, kept: Values) -> None:
        layout = objective.problem.full
        self.objective, self.layout, k = objective, layout, layout.labels
        self.two = layout.label_features is not None
        self.scale = 0.5 if self.two else 1.0
        seed = 0 if solver.seed is None else solver.seed
        self.rng = check_random_state(seed)
        self.b: Floats = np.zeros(k)
        self.h: Floats = np.zeros(k)
        self.data = [_ShardDual(shard, objective, solver, state) for shard in objective.shards]
        width = 4 if self.two else layout.width  # two classes run as two columns
        self.U = np.zeros((layout.features, width))
        q = np.concatenate([data.q for data in self.data])
        free = layout.intercept
        self.B = solver.augmentation * max(float(q.mean()), 1e-12) if free else 0.0
        if kept:
            self._restore(kept)
            return
        for data in self.data:
            data.add_to(self.U, self.h, self.scale)
        if free:
            self.b = state["b"].copy() if _own(state) else self._start_intercept()

    def values(self) -> Values:
        """For a snapshot: copies, because sweeps work in place."""
        _, keys, position, _, _ = self.rng.get_state()
        values = {"U": self.U, "b": self.b, "h": self.h, "rng": keys}
        for i, data in enumerate(self.data):
            values |= {f"v{i}": data.v, f"mu{i}": data.mu}
        return {name: array.copy() for name, array in values.items()} | {"position": position}

    def _restore(self, kept: Values) -> None:
        self.rng.set_state(("MT19937", kept["rng"], kept["position"]))
        self.U, self.b, self.h = kept["U"].copy(), kept["b"].copy(), kept["h"].copy()
        for i, data in enumerate(self.data):
            data.v, data.mu = kept[f"v{i}"].copy(), kept[f"mu{i}"].copy()

    def _start_intercept(self) -> Floats:
        """log priors, centred."""
        counts = sum(
            np.bincount(data.labels, weights=data.c, minlength=len(self.b)) for data in self.data
        )
        logs = np.log(np.maximum(counts, 1e-300))
        return np.asarray(logs - logs.mean())

    def sweep(self, report: Report) -> float:
        """Every example once, in random order; returns the estimated gap."""
        gap = 0.0
        for data in self.data:
            gap += data.sweep(self, report)
        # In units of log odds, more than 1 a sweep would be an overshoot, not progress.
        self.b += np.clip(self.B * self.h, -1.0, 1.0)
        return gap

    def w(self) -> Floats:
        layout, k = self.layout, self.layout.labels
        b = self.b + self.B * self.h
        if self.two:
            coef = (self.U[:, 1] - self.U[:, 0])[None, :]
            b = np.array([b[1] - b[0]])
        else:
            coef = self.U[:, :k].T
        return layout.pack(coef, b - b.mean() if not self.two else b)

    def state(self) -> dict[str, Any]:
        return {"b": self.b, "v": [data.v for data in self.data]}


@final
class _ShardDual:
    """One shard's rows and dual variables."""

    def __init__(self, shard: Any, objective: Objective, solver: Dual, state: Any) -> None:
        k = objective.problem.full.labels
        self.rows = as_sparse(shard.structures.rows, objective.engine.share)
        self.labels, n = shard.truth.labels, len(shard)
        weight = np.ones(n) if shard.truth.weight is None else shard.truth.weight
        self.c, self.q = objective.C * weight, objective.problem.full.norms(shard.structures)
        found = state.get("v") if isinstance(state, dict) else None  # another's state is no use
        if found is not None and len(objective.shards) == len(found):
            index = objective.shards.index(shard)
            if found[index].shape == (n, k):
                self.v = found[index].copy()
                self.mu = np.exp(self.v)
                return
        rest = (1.0 - solver.confidence) / max(k - 1, 1)
        self.mu = np.full((n, k), rest)
        self.mu[np.arange(n), self.labels] = solver.confidence
        self.v = np.log(self.mu)

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


def _hard(objective: Objective) -> bool:
    """Whether C = ∞ leaves a hinge with nothing but its margin."""
    return not objective.problem.loss.smooth and not objective.penalised


def _own(state: Any) -> bool:
    return isinstance(state, dict) and "b" in state
