"""The hinges by an interior-point method, for few weights: some thirty Hessians, whatever the scales and C.

    primal  F(w) = ½ ‖w‖² + Σ_i c_i ξ_i     slacks t ≥ 0 of the constraints below,  c_i = C s_i
    dual    D(α) = Σ ⟨Δ_i, α_i⟩ − ½ ‖w(α)‖²,    w(α) = Σ Ψᵀ(c_i y_i − α_i)

    hinge           t_ic = ξ_i − (Δ_ic + s_c − s_y) ≥ 0              α_i ≥ 0,  Σ_c α_ic = c_i
    weston_watkins  t_ic = ξ_ic − (1 + s_c − s_y) ≥ 0,  ξ_ic ≥ 0     0 ≤ α_ic ≤ c_i
    squared_hinge   t_ic = ξ_ic − (1 − y_ic s_c) ≥ 0,  loss ξ²       0 ≤ α_ic,  ξ_ic = α_ic / 2 c_i

Every product of a slack and its multiplier is led along the same value μ to zero: Mehrotra's predictor and
corrector (1992, SIAM Journal on Optimization 2; Wright 1997, Primal-dual interior-point methods, chapter 10).
With all but w eliminated, a step solves

    (I + Σ_i M_i ⊗ x̃_i x̃_iᵀ) Δw = −r − Ψᵀ h          r = w − w(α)

where M_i = diag(z) − z zᵀ / Σ z with z = α / t (``_Simplex``), or a star of every label against the truth
(``_Box``), or diag(z) with 1 / z = t / α + 1 / 2c (``_Squared``): the shapes of ``Curvature``, and so one
product of matrices (``passes.hessians``). Each iterate has its w and its α, hence a true gap F(w) − D(α).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np

from .. import checks, passes
from ..errors import Unsupported
from ..layouts import Full, Rotation
from ..losses.curvature import differences, spread_out
from ..losses.structured import augmented
from ..objective import Objective
from ..records import Floats, Scores, Solution, Truth
from . import faces
from .base import Solver, resume
from .factored import Factored, hessian_bytes, ridge_of
from .report import Report, Snapshot, Values
from .rotation import rank_bound, rotated, rotation, worth

__all__ = ["InteriorPoint"]

INSIDE = 0.995
"""How much of the way to the next bound a step goes."""

CORRECTORS, WISHED, GAINED = 3, 0.2, 0.1
"""Corrections of products that are far from the others (Gondzio 1996, Computational Optimization and
Applications 6): at most so many, each for a step that is so much longer, and kept if it gains that share."""

BALANCED = 0.1, 10.0
"""Products within these multiples of their aim need no correction."""

Pair = tuple[Floats, Floats]
"""Multipliers and slacks, or their steps."""

TABLES = 14
"""Tables (n, K) in use at once."""

EXACT = 1e-8
"""The gap, as a share of F(0), at which a small problem is handed to the dual for its last digits."""

STUCK = 12
"""Steps without a better gap after which rounding has taken over."""


@final
class InteriorPoint(Solver):
    """A primal-dual interior-point method for the hinges of classes, the squared one too, with few weights.

    The number of steps hardly depends on the data, so this is the solver for a large C, for columns on
    unlike scales and for many rows. Its Hessian has (weights)² entries.

    >>> from argmax import MulticlassSVM
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> MulticlassSVM(solver="interior_point", C=1e6).fit(X, y).solution_.status
    'converged'
    """

    name = "interior_point"
    needs_smooth = False
    needs_random_access = True
    handles_no_penalty = False

    def check(self, objective: Objective) -> None:
        super().check(objective)
        loss = objective.problem.loss
        if loss.name not in SHAPES or not isinstance(objective.problem.layout, Full):
            raise Unsupported(
                f"solver 'interior_point' is for the hinges of LinearClassifier; the loss is {loss.name!r}. "
                "Use solver='auto'."
            )

    def minimise(
        self, objective: Objective, start: Floats, report: Report, state: Any = None
    ) -> Solution:
        self.check(objective)
        layout, n = objective.problem.full, len(objective.whole)
        rank = rank_bound(n, layout)
        checks.memory(
            hessian_bytes(layout, SHAPES[objective.problem.loss.name].crossed, rank)
            + 8.0 * (TABLES * n * layout.labels),
            f"solver 'interior_point' with {rank * layout.columns} weights",
            "Use solver='dual' instead.",
        )
        report.solver = self.name
        path = _start(objective, start)
        best, w, stuck = path.gap(), path.weights(), 0
        if isinstance(state, Snapshot):
            kept = resume(self, report, state)
            path.restore(kept)
            best, w, stuck = kept["gap"], kept["w"], kept["stuck"]
        aim = EXACT if objective.small else report.tol

        def keep() -> Values:
            return {"gap": best, "w": w, "stuck": stuck, **path.values()}

        while not report(objective, w, path.dual + best, best, state=keep, looks=True):
            if best <= aim * objective.zero or stuck >= STUCK or not path.advance():
                break
            gap = path.gap()
            stuck = 0 if gap < best else stuck + 1
            if gap < best:
                best, w = gap, path.weights()
        point = objective.at(w)
        point.prove(path.dual)
        shares = path.shape.shares()
        if shares is None:
            return report.solution(objective, point, self.name)
        if objective.small and not report.status:
            shares = faces.sparse(shares, path.whole.truth.labels)
            point = faces.polished(objective, point, shares, report)
        return report.solution(objective, point, self.name, state={"mu": shares})


class _Shape(ABC):
    """Slacks and multipliers of all examples, in tables (K, n): sums over labels are then sums of rows.

    Scores and residuals come and go as (n, K). ``own`` are the places of the true labels.
    """

    crossed = True  # whether labels share constraints, and M_i has entries beside its diagonal

    def __init__(self, cost: Floats, truth: Truth, c: Floats) -> None:
        self.cost, self.c, self.truth = _turned(cost), c, truth
        self.own = truth.labels, np.arange(len(c))
        self.alpha = self.begin()

    @abstractmethod
    def begin(self) -> Floats:
        """α in the middle of its bounds."""

    @abstractmethod
    def relax(self, node: Floats) -> None:
        """Slacks at these scores that are all positive, and all of about the same size."""

    def centre(self, node: Floats, mu: float) -> bool:
        """The variables that belong to these scores at μ; False where a loss has none but those at zero."""
        return False

    @abstractmethod
    def products(self) -> list[Pair]:
        """Multipliers and their slacks."""

    @abstractmethod
    def bends(self) -> tuple[Floats, Floats | None]:
        """M_i, as ``passes.crossed_pairs`` takes it, or its diagonal (n, columns) where labels are separate.

        Computes what the methods below need.
        """

    @abstractmethod
    def pull(self, rest: list[Floats]) -> Floats:
        """h: how far α goes where w stays, if the products are to grow by ``rest``."""

    @abstractmethod
    def respond(self, ahead: Floats, h: Floats) -> list[Pair]:
        """Steps of multipliers and slacks when scores move by ``ahead``, in the order of ``products``."""

    @abstractmethod
    def residual(self, alpha: Floats) -> Floats:
        """α, or a step of it, with a sum of zero for each example: what w(α) is minus the sum of (n, K)."""

    @abstractmethod
    def gain(self) -> float:
        """Σ ⟨Δ_i, α_i⟩."""

    @abstractmethod
    def shares(self) -> Floats | None:
        """α / c (n, K), as ``Dual`` keeps them; None for a loss that it has no step for."""

    @abstractmethod
    def values(self) -> dict[str, Floats]:
        """All tables, by name."""

    @abstractmethod
    def losses(self, node: Floats) -> Floats:
        """The hinge of each example at these scores."""

    def move(self, step: float, moves: list[Pair]) -> None:
        """All of them a step onwards."""
        for held, moved in zip(self.products(), moves, strict=True):
            for array, way in zip(held, moved, strict=True):
                array += step * way

    def relative(self, node: Floats) -> Floats:
        """s_c − s_y."""
        turned = _turned(node)
        turned -= turned[self.own]
        return turned


@final
class _Simplex(_Shape):
    """The hinge of Crammer and Singer: α_i in a simplex, one ξ for each example."""

    def begin(self) -> Floats:
        k = len(self.cost)
        return np.repeat(self.c[None, :] / k, k, axis=0)

    def relax(self, node: Floats) -> None:
        short = self.relative(node) + self.cost
        size = max(float(abs(short).max()), 1.0)
        self.t = short.max(axis=0) + size - short

    def products(self) -> list[Pair]:
        return [(self.alpha, self.t)]

    def bends(self) -> tuple[Floats, Floats | None]:
        self.z = self.alpha / self.t
        self.sum = self.z.sum(axis=0)
        return _turned(self.z), _turned(self.z / np.sqrt(self.sum))

    def pull(self, rest: list[Floats]) -> Floats:
        push = rest[0] / self.t
        self.lift = push.sum(axis=0) / self.sum
        push -= self.z * self.lift
        return np.asarray(push)

    def respond(self, ahead: Floats, h: Floats) -> list[Pair]:
        u = self.relative(ahead)
        weighted = self.z * u
        mean = weighted.sum(axis=0) / self.sum
        weighted -= self.z * mean
        weighted += h
        return [(weighted, np.subtract(self.lift + mean, u, out=u))]

    def residual(self, alpha: Floats) -> Floats:
        node = _turned(alpha)
        node[self.own[::-1]] -= alpha.sum(axis=0)
        return node

    def gain(self) -> float:
        return float(np.vdot(self.cost, self.alpha))

    def shares(self) -> Floats:
        return _turned(self.alpha / self.c)

    def values(self) -> dict[str, Floats]:
        return {"alpha": self.alpha, "t": self.t}

    def losses(self, node: Floats) -> Floats:
        return np.asarray((self.relative(node) + self.cost).max(axis=0))


@final
class _Box(_Shape):
    """The sum of hinges of Weston and Watkins: α_ic between 0 and c_i, one ξ for each of them (K − 1, n)."""

    def begin(self) -> Floats:
        k, n = self.cost.shape
        places = np.arange(k - 1)[:, None]
        self.others = places + (places >= self.own[0]), np.arange(n)[None, :]
        self.beta = np.repeat(self.c[None, :] / 2.0, k - 1, axis=0)
        return self.beta.copy()

    def relax(self, node: Floats) -> None:
        short = 1.0 + self.relative(node)[self.others]
        size = max(float(abs(short).max()), 1.0)
        self.xi = np.maximum(short, 0.0) + size
        self.t = self.xi - short

    def products(self) -> list[Pair]:
        return [(self.alpha, self.t), (self.beta, self.xi)]

    def bends(self) -> tuple[Floats, Floats | None]:
        self.z = 1.0 / (self.t / self.alpha + self.xi / self.beta)
        return self.residual(self.z), None

    def pull(self, rest: list[Floats]) -> Floats:
        self.rest = rest
        return np.asarray(self.z * (rest[0] / self.alpha - rest[1] / self.beta))

    def respond(self, ahead: Floats, h: Floats) -> list[Pair]:
        u = self.relative(ahead)[self.others]
        rise = h + self.z * u
        up = (self.rest[1] + self.xi * rise) / self.beta
        return [(rise, up - u), (-rise, up)]

    def residual(self, alpha: Floats) -> Floats:
        table = np.zeros(self.cost.shape)
        table[self.others] = alpha
        table[self.own] = -alpha.sum(axis=0)
        return _turned(table)

    def gain(self) -> float:
        return float(self.alpha.sum())

    def shares(self) -> Floats:
        return self.residual(self.alpha / self.c)

    def values(self) -> dict[str, Floats]:
        return {"alpha": self.alpha, "t": self.t, "beta": self.beta, "xi": self.xi}

    def losses(self, node: Floats) -> Floats:
        short = 1.0 + self.relative(node)[self.others]
        return np.asarray(np.maximum(short, 0.0).sum(axis=0))


@final
class _Squared(_Shape):
    """The squared hinge: one binary problem for each weight column, and ξ = α / 2c."""

    crossed = False

    def begin(self) -> Floats:
        n = len(self.c)
        _, sign = differences(np.zeros((n, len(self.cost))), self.truth)
        self.sign = _turned(sign)
        return np.repeat(2.0 * self.c[None, :], len(self.sign), axis=0)

    def _margins(self, node: Floats) -> Floats:
        """y f (columns, n)."""
        return np.asarray(self.sign * differences(node, self.truth)[0].T)

    def relax(self, node: Floats) -> None:
        short = 1.0 - self._margins(node)
        size = max(float(abs(short).max()), 1.0)
        self.t = np.full(short.shape, size)
        self.alpha = 2.0 * self.c * np.maximum(short + size, size)
        self.t = self.alpha / (2.0 * self.c) - short

    def centre(self, node: Floats, mu: float) -> bool:
        short = 1.0 - self._margins(node)
        # α t = μ and t = α / 2c − short: the positive roots, without subtracting what is nearly equal.
        root = np.sqrt(short**2 + 2.0 * mu / self.c)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(short > 0.0, mu / self.c / (root + short), 0.5 * (root - short))
        self.t, self.alpha = t, mu / t
        return bool(np.isfinite(self.alpha).all())

    def products(self) -> list[Pair]:
        return [(self.alpha, self.t)]

    def bends(self) -> tuple[Floats, Floats | None]:
        self.z = 1.0 / (self.t / self.alpha + 0.5 / self.c)
        return _turned(self.z), None

    def pull(self, rest: list[Floats]) -> Floats:
        return np.asarray(rest[0] * self.z / self.alpha)

    def respond(self, ahead: Floats, h: Floats) -> list[Pair]:
        u = self._margins(ahead)
        rise = h - self.z * u
        return [(rise, rise / (2.0 * self.c) + u)]

    def residual(self, alpha: Floats) -> Floats:
        node = np.empty((len(self.c), len(self.cost)))
        spread_out(_turned(-self.sign * alpha), node)
        return node

    def gain(self) -> float:
        return float((self.alpha - self.alpha**2 / (4.0 * self.c)).sum())

    def shares(self) -> None:
        return None

    def values(self) -> dict[str, Floats]:
        return {"alpha": self.alpha, "t": self.t}

    def losses(self, node: Floats) -> Floats:
        short = np.maximum(1.0 - self._margins(node), 0.0)
        return np.asarray(np.einsum("ij,ij->j", short, short))


def _turned(table: Floats) -> Floats:
    """The transpose, in memory of its own."""
    return np.array(table.T, order="C")


SHAPES: dict[str, type[_Shape]] = {
    "hinge": _Simplex,
    "weston_watkins": _Box,
    "squared_hinge": _Squared,
}


def _start(objective: Objective, start: Floats) -> _Path:
    """The path, in coordinates where a factorisation keeps its digits; from ``start`` where a loss can."""
    objective = objective.precise() if objective.rounded else objective
    gap = objective.at(start).value - objective.lower if start.any() else 0.0
    turn = rotation(objective) if worth(objective) else None
    path = _Path(objective if turn is None else rotated(objective, turn), turn)
    if gap > 0.0:
        path.begin_at(start, gap)
    return path


@final
class _Path:
    """w, its scores and r = w − w(α), on the way to μ = 0."""

    def __init__(self, objective: Objective, turn: Rotation | None = None) -> None:
        self.turn = turn
        self.objective, self.layout = objective, objective.problem.full
        whole = self.whole = objective.whole
        n, k = len(whole), self.layout.labels
        weight = np.ones(n) if whole.truth.weight is None else whole.truth.weight
        zeros = Scores(np.zeros((n, k)))
        cost = augmented(zeros, whole.truth).node - zeros.node
        # An example of no weight has no multipliers; a trace of weight keeps them positive.
        c = np.maximum(objective.C * weight, 1e-12 * objective.C * float(weight.max()))
        self.shape = SHAPES[objective.problem.loss.name](cost, whole.truth, c)
        self.dual, self.r = -np.inf, np.zeros(0)
        self.w = np.zeros(objective.size)
        # From w = 0 the first steps make good what w(α) is away from it. Were w(α) itself the start, slacks
        # would begin as large as C ‖x‖², and rounding would end the way down from there.
        self._look()
        self.node = np.zeros((n, k))
        self.shape.relax(self.node)

    def begin_at(self, w: Floats, gap: float) -> None:
        """Begin at w, whose gap is about the sum of all products of a slack and its multiplier."""
        layout, columns = self.layout, self.layout.columns
        here = np.zeros(layout.size)
        table = (layout if self.turn is None else self.turn.layout).matrix(w.astype(float))
        table = table[:, :columns]
        layout.matrix(here)[:, :columns] = table if self.turn is None else self.turn.basis.T @ table
        node = self._fold(passes.outputs, here)["node"]
        products = sum(m.size for m, _ in self.shape.products())
        if self.shape.centre(node, gap / products):
            self.w, self.node = here, node
            self._look()

    def weights(self) -> Floats:
        """w in the coordinates of the caller."""
        if self.turn is None:
            return self.w
        layout, columns = self.turn.layout, self.layout.columns
        w = np.zeros(layout.size)
        layout.matrix(w)[:, :columns] = self.turn.back(self.layout.matrix(self.w)[:, :columns])
        return w

    def _fold(self, task: Any, *given: Any) -> Any:
        return self.objective.engine.fold(task, [self.whole], self.objective.problem, *given)

    def _sum(self, node: Floats) -> Floats:
        """Ψᵀ of residuals."""
        return np.asarray(self._fold(passes.transposed, node)["gradient"])

    def _look(self) -> None:
        """r anew, without the rounding of the steps; and the dual value of α."""
        shape = self.shape
        ahead = -self._sum(shape.residual(shape.alpha))
        self.r = self.w - ahead
        self.dual = max(self.dual, shape.gain() - 0.5 * self.objective.dot(ahead, ahead))

    def values(self) -> Values:
        """For a snapshot: copies, because steps work in place."""
        arrays = {"node": self.node, "r": self.r, "here": self.w, **self.shape.values()}
        return {"dual": self.dual} | {name: array.copy() for name, array in arrays.items()}

    def restore(self, kept: Values) -> None:
        """The path as a snapshot has it."""
        self.node, self.r, self.w = kept["node"].copy(), kept["r"].copy(), kept["here"].copy()
        self.dual = float(kept["dual"])
        for name, table in self.shape.values().items():
            table[:] = kept[name]

    def value(self) -> float:
        """F(w)."""
        loss = float(self.shape.c @ self.shape.losses(self.node))
        return loss + 0.5 * self.objective.dot(self.w, self.w)

    def gap(self) -> float:
        """F(w) − D, of the best α so far."""
        return max(self.value() - self.dual, 0.0)

    def advance(self) -> bool:
        """One predictor and corrector; False where rounding leaves no step."""
        shape, objective = self.shape, self.objective
        diagonal, crossing = shape.bends()
        if shape.crossed:
            pairs = self._fold(passes.crossed_pairs, diagonal, crossing)["pairs"]
        else:
            pairs = self._fold(passes.separate_pairs, diagonal)["pairs"]
        solve = Factored(self.layout, pairs, ridge_of(objective), shape.crossed)
        held = shape.products()
        total = sum(m.size for m, _ in held)
        mu = sum(float(np.vdot(m, t)) for m, t in held) / total

        moves, _, _ = self._towards(solve, [-m * t for m, t in held])
        after = _products(held, moves, min(_room(held, moves), 1.0))
        aim = mu * min(sum(float(p.sum()) for p in after) / total / mu, 1.0) ** 3
        rest = [aim - m * t - dm * dt for (m, t), (dm, dt) in zip(held, moves, strict=True)]
        moves, way, ahead = self._towards(solve, rest)
        room = _room(held, moves)
        for _ in range(CORRECTORS):
            wished = min(room + WISHED, 1.0)
            outliers = [_outside(p, aim) for p in _products(held, moves, wished)]
            rest = [r + o for r, o in zip(rest, outliers, strict=True)]
            trial = self._towards(solve, rest)
            there = _room(held, trial[0])
            if there < room + GAINED * (wished - room):
                break
            (moves, way, ahead), room = trial, there
        step = min(INSIDE * room, 1.0)
        if not step > 1e-10 or not np.isfinite(way).all():
            return False
        shape.move(step, moves)
        self.w = self.w + step * way
        self.node += step * ahead
        self._look()
        return True

    def _towards(self, solve: Factored, rest: list[Any]) -> tuple[list[Pair], Floats, Floats]:
        """The step after which every product has grown by ``rest``: of the variables, of w, of the scores."""
        shape, layout = self.shape, self.layout
        h = shape.pull(rest)
        right = self.r + self._sum(shape.residual(h))
        way = np.zeros_like(self.w)
        columns = layout.columns
        layout.matrix(way)[:, :columns] = -solve(layout.matrix(right)[:, :columns])
        ahead = self._fold(passes.outputs, way)["node"]
        return shape.respond(ahead, h), way, ahead


def _products(held: list[Pair], moves: list[Pair], step: float) -> list[Floats]:
    """What slacks times multipliers are after a step."""
    return [(m + step * dm) * (t + step * dt) for (m, t), (dm, dt) in zip(held, moves, strict=True)]


def _outside(products: Floats, aim: float) -> Floats:
    """Distances of products from the range around their aim, cut off for large ones."""
    wished = np.clip(products, BALANCED[0] * aim, BALANCED[1] * aim) - products
    return np.maximum(wished, -BALANCED[1] * aim)


def _room(held: list[Pair], moves: list[Pair]) -> float:
    """The longest step that leaves every multiplier and every slack positive."""
    steepest = min(
        float((way / array).min())
        for pair, moved in zip(held, moves, strict=True)
        for array, way in zip(pair, moved, strict=True)
    )
    return -1.0 / steepest if steepest < 0.0 else np.inf
