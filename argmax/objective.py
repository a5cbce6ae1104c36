"""The objective: loss plus penalty, and everything a solver may ask about it. Read this file first.

    F(w) = C Σ_i s_i loss_i(w) + l1 ‖w‖₁ + ½ l2 ‖w‖²

``l1`` and ``l2`` come from ``penalty`` and ``l1_ratio`` (1 and 0, 0 and 1, or a mixture); C = ∞ or
penalty None leave the loss alone. Free entries (the intercept of a log loss) are not penalised.

How other people write it: the mean form λR + (1/n) Σ loss has λ = 1/(nC); the sum form λR + Σ loss has
λ = 1/C; CRFsuite's c2 is 1/(2C).

The certificate. With residuals r_i = ∂loss_i/∂scores at w, g = C Σ s_i Ψᵀ r_i, and Ω the penalty, Fenchel
duality gives, for any w,

    F(w) − min F  ≤  Ω(w) + Ω*(−g) + ⟨w, g⟩  =  gap                Ω*(u) = Σ_j (|u_j| − l1)₊² / (2 l2)

which for the plain l2 penalty is ½‖gradient‖²: a proof of quality for free at every point. It needs
g = 0 in the free entries, so ``settled`` first solves for those alone. With l1 only, Ω* is the indicator of
‖u‖∞ ≤ l1, and the residuals are shrunk by a common factor until they fit (``Loss.conjugate``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, final

import numpy as np

from . import passes, surveys
from .engines import Engine, Shard, Stamp
from .engines.joining import joined
from .passes import Problem
from .records import Floats

__all__ = ["Line", "Objective", "Point"]

SMALL_WORK = 100_000
"""Multiply-adds of a pass that costs next to nothing."""

RANGE = 2**17
"""Weights from which on threads share the arithmetic on them."""

GROUPS = 16
"""Calls in which threads do it then: after each of them they queue for the interpreter's lock."""

LONG = 1_000_000
"""Scores from which on a step that settles the intercepts takes so long that a time limit is looked at."""

SETTLING = 0.03
"""What is left of the gradient in the intercepts of many labels after a step of Newton's method."""

SETTLED = 1e-8
"""Share of all weight that the gradient in a free entry may have at a settled point."""

SAMPLED = 1000
"""Rows whose mean stands for the centre of all of them."""

NOTICED = 1e-3
"""Share of ‖gradient‖² from which on what the intercepts leave is told apart from it."""

PIECE = 2**15
"""Weights worked on together then: enough to be worth a call, few enough that what is between is small."""


@final
class Objective:
    """F, for given data, engine and penalty.

    >>> import numpy as np
    >>> from argmax import engines, layouts, losses, objective, passes, records, spaces
    >>> rows, labels = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    >>> layout = layouts.Full(features=1, labels=3)
    >>> problem = passes.Problem(spaces.Classes(3), layout, losses.get("log"))
    >>> shards = engines.cut(records.Structures(rows), records.Truth(labels), layout)
    >>> F = objective.Objective(problem, shards, engines.Threads(1), C=1.0)
    >>> point = F.at(np.zeros(F.size))
    >>> round(point.value, 4)  # 3 log 3: three rows, three equally likely labels
    3.2958
    >>> round(point.gap, 4)  # ½ ‖gradient‖²: no w lies more than this below
    1.0
    """

    def __init__(
        self,
        problem: Problem,
        shards: Sequence[Shard],
        engine: Engine,
        C: float = 1.0,
        l1: float = 0.0,
        l2: float = 1.0,
    ) -> None:
        if math.isinf(C):
            C, l1, l2 = 1.0, 0.0, 0.0
        self.problem, self.shards, self.engine = problem, shards, engine
        self.C, self.l1, self.l2 = C, l1, l2
        self._zero: float | None = None
        self._whole: Shard | None = None
        self._counts: Any = None
        self._centre: Floats | None = None
        # No w has a smaller F: the best dual value that is known. Losses of classes are never negative.
        self.lower = 0.0 if problem.space.curved and self.penalised else -math.inf
        self.lows = np.zeros(0)  # the same of every weight column, where columns are separate
        self.latest: Any = None  # the stamp of the last point that was computed from its w alone

    @property
    def size(self) -> int:
        """Length of w."""
        return self.problem.layout.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of w and of its gradient: float32 where passes are in float32 and w is long."""
        return self.problem.layout.vectors

    @property
    def penalised(self) -> bool:
        """Whether there is a penalty, hence a certificate."""
        return self.l1 > 0 or self.l2 > 0

    @property
    def weight(self) -> float:
        """Σ s_i: the number of examples, where none is weighted."""
        return float(self._counted()["weight"])

    @property
    def counts(self) -> Floats:
        """The weight of each label (k,)."""
        return np.asarray(self._counted()["counts"])

    def _counted(self) -> Any:
        if self._counts is None:
            self._counts = self.fold(surveys.counts)
        return self._counts

    @property
    def centre(self) -> Floats:
        """About the mean row (d,); zero for sparse rows, whose entries lie around zero.

        Where intercepts are free, ⟨w, x⟩ + b = ⟨w, x − μ⟩ + b' for any μ, with b' = b + ⟨w, μ⟩: a proof may
        use the μ that suits it.
        """
        if self._centre is None:
            if self.sparse:
                self._centre = np.zeros(self.problem.full.features)
            else:
                rows = sum(len(shard) for shard in self.shards)
                sums = self.fold(surveys.centre, max(1, rows // SAMPLED))
                self._centre = np.asarray(sums["sum"] / sums["rows"])
        return self._centre

    @property
    def sparse(self) -> bool:
        """Whether the rows are sparse."""
        return self.shards[0].sparse

    @property
    def random_access(self) -> bool:
        """Whether solvers may visit single examples in any order."""
        return self.engine.random_access and not self.shards[0].on_disk

    @property
    def whole(self) -> Shard:
        """All examples as one shard, for solvers that visit them one by one: with ``random_access``, or where
        data are ``small`` enough to be brought here."""
        if self._whole is None:
            here = self.shards
            if not self.random_access:
                parts = self.engine.each(surveys.itself, self.shards, self.problem)
                here = [part["shard"] for part in parts]
            self._whole = joined(here)
        return self._whole

    @property
    def small(self) -> bool:
        """Whether passes cost so little (a fraction of a millisecond) that solvers go to the last digit."""
        return sum(shard.work for shard in self.shards) <= SMALL_WORK

    @property
    def has_free(self) -> bool:
        """Whether some entries go unpenalised: a certificate then needs a settled point."""
        free = self.problem.layout.free
        return self.penalised and free.stop > free.start

    @property
    def curved(self) -> bool:
        """Whether Hessian products are available."""
        return self.problem.space.curved and self.problem.loss.smooth

    @property
    def foresees(self) -> bool:
        """Whether steps lead to dual points (``Point.foresee``)."""
        return self.curved and self.problem.loss.foresees and self.l2 > 0 and not self.l1

    @property
    def rounded(self) -> bool:
        """Whether products run in float32, whose noise may hide the last steps."""
        shard = self.shards[0]
        return self.problem.layout.rounded(shard.sparse, shard.dtype)

    def precise(self) -> Objective:
        """The same objective with all products in float64; rows stay as they are."""
        given = self.shards, self.engine, self.C, self.l1, self.l2
        same = Objective(self.problem.precise(), *given)
        same.lower, same.lows = self.lower, self.lows
        return same

    @property
    def separate(self) -> bool:
        """Whether F is a sum of problems, one for each weight column."""
        crossed = not self.curved or self.problem.curvature.crossed
        return not crossed and self.problem.full.columns > 1

    def raise_lower(self, duals: Floats) -> None:
        """Take note of dual values: one of the whole problem, or one for each separate column."""
        if len(duals) > 1:
            lows = self.lows if len(self.lows) else np.zeros(len(duals))
            self.lows = np.fmax(lows, duals)
            duals = self.lows.sum(keepdims=True)
        if math.isfinite(duals[0]):
            self.lower = max(self.lower, float(duals[0]))

    @property
    def zero(self) -> float:
        """F(0): what ``tol`` is relative to, whatever the start. Computed once.

        (Here and below no ``functools.cached_property``: before Python 3.12 it holds a lock that all
        instances share, which a fork in another thread may leave locked for ever.)
        """
        if self._zero is None:
            self._zero = self.C * float(self.fold(passes.at_zero)["value"])
        return self._zero

    def fold(self, task: Any, *arguments: Any) -> Any:
        """The sums of one task (``passes``) over all shards."""
        return self.engine.fold(task, self.shards, self.problem, *arguments)

    def sweep(self, piece: Callable[[slice], Any], penalised: bool = False) -> list[Any]:
        """``piece`` of consecutive ranges of the weights, side by side: arithmetic on long vectors.

        The ranges depend on the length of w alone, so sums over them have the same bits for any number
        of threads. ``penalised`` leaves the free entries out. Where w is short, nobody is called for help.
        """
        ranges = self._ranges(penalised)
        if self.size <= RANGE:
            return [piece(slice(*some)) for some in ranges]
        return self.engine.share(lambda i: piece(slice(*ranges[i])), len(ranges))

    def _ranges(self, penalised: bool) -> list[tuple[int, int]]:
        free, size = self.problem.layout.free, self.size
        parts = [(0, free.start), (free.stop, size)] if penalised else [(0, size)]
        step = PIECE if size > RANGE else RANGE
        return [
            (a, b) for first, last in parts for a, b in pairwise([*range(first, last, step), last])
        ]

    def summed(self, kernel: Callable[..., Any], *given: Any, penalised: bool = False) -> float:
        """Σ over the same ranges, by a kernel that does several of them in a call (``vectors.dots``)."""
        starts, stops = np.array(self._ranges(penalised)).T.copy()
        out = np.empty(len(starts))
        self._shared(len(out), lambda s: kernel(*given, starts[s], stops[s], out[s]))
        return float(sum(out))

    def _shared(self, length: int, group: Callable[[slice], Any]) -> None:
        """``group`` of consecutive ranges of so many things, side by side, in few calls."""
        bounds = np.linspace(0, length, 1 + min(GROUPS, length)).astype(int)
        self.engine.share(lambda i: group(slice(*bounds[i : i + 2])), len(bounds) - 1)

    def _copy(self, w: Floats) -> Floats:
        if self.size <= RANGE:
            return w.copy()
        copy = np.empty_like(w)
        self._shared(self.size, lambda some: np.copyto(copy[some], w[some]))
        return copy

    def dot(self, a: Floats, b: Floats, penalised: bool = False) -> float:
        """⟨a, b⟩ over all weights, or over those that are penalised."""
        if not a.dtype == b.dtype == np.float64:
            return float(sum(self.sweep(lambda s: _product(a[s], b[s]), penalised)))
        if self.size <= RANGE:
            free = self.problem.layout.free
            if not penalised or free.stop == free.start:
                return float(a @ b)
            first, last = free.start, free.stop
            return float(a[:first] @ b[:first]) + float(a[last:] @ b[last:])
        from .kernels import vectors

        return self.summed(vectors.dots, a, b, penalised=penalised)

    def norm(self, v: Floats) -> float:
        """‖v‖ over all weights."""
        return math.sqrt(self.dot(v, v))

    def slope(self, gradient: Floats, to: Floats, since: Floats) -> float:
        """⟨gradient, to − since⟩, without memory for the difference."""
        return float(sum(self.sweep(lambda s: _product(gradient[s], to[s] - since[s]))))

    def combined(
        self, a: float, x: Floats, b: float, y: Floats, out: Floats | None = None
    ) -> Floats:
        """a x + b y; in new memory, or in that of x."""
        if self.size <= RANGE or x.dtype != y.dtype:
            return a * x + b * y
        from .kernels import vectors

        out = np.empty_like(x) if out is None else out
        self._shared(self.size, lambda s: vectors.combine(a, x[s], b, y[s], out[s]))
        return out

    def at(
        self,
        w: Floats,
        base: Stamp | None = None,
        shift: Floats | None = None,
        seldom: bool = False,
    ) -> Point:
        """F, its gradient and its certificate at w: one pass over the data.

        ``base`` and ``shift`` say that w is an earlier point with its intercept moved; ``seldom`` that there
        will be few such passes.
        """
        stamp = Stamp(w) if base is None or shift is None else base.moved(shift)
        sums = self.fold(passes.evaluate, stamp, seldom)
        self.latest = stamp if base is None else None
        gradient = sums["gradient"]
        if self.C != 1.0:
            gradient *= self.C
        return Point(self, w, stamp, self.C * sums["value"], gradient)

    def norms(self, shard: Shard) -> Floats:
        """``Full.norms`` of the examples of a shard; computed once, for whoever asks."""

        def group(i: int) -> Floats:
            return self.problem.full.norms(shard.group(i)[0])

        def make() -> Floats:
            return np.concatenate(self.engine.share(group, len(shard.groups)))

        return np.asarray(shard.made("norms", make))

    def bound(self, w: Floats) -> Floats:
        """A copy of w that is zero where nothing is penalised, in float64."""
        result = w.astype(np.float64)
        result[self.problem.layout.free] = 0.0
        return result

    def square(self, v: Floats) -> float:
        """‖v‖² over the penalised entries, without a copy of v."""
        return self.dot(v, v, penalised=True)

    def centred_square(self, gradient: Floats) -> float:
        """‖∂F / ∂w‖² where x is measured from ``centre``: free intercepts are hardly ever solved exactly.

        What is left of their gradient returns in that of w, times the mean of x.
        """
        square, free = self.square(gradient), self.problem.layout.free
        left = gradient[free]
        if not self.has_free or not left.any() or self.sparse:
            return square
        part = float(self.centre @ self.centre) * float(left @ left)
        if not part > NOTICED * square:
            return square
        layout = self.problem.full
        table = layout.matrix(gradient)[: layout.features, : layout.columns]
        apart = table - np.outer(self.centre, left)
        return min(square, float(np.vdot(apart, apart)))

    def centred_squares(self, gradient: Floats) -> Floats:
        """``centred_square`` of every weight column."""
        layout = self.problem.full
        table = layout.matrix(self.bound(gradient))[:, : layout.columns]
        squares, left = np.einsum("ij,ij->j", table, table), gradient[layout.free]
        if not len(left):
            return np.asarray(squares)
        apart = table[: layout.features] - np.outer(self.centre, left)
        return np.asarray(np.minimum(squares, np.einsum("ij,ij->j", apart, apart)))

    def centred_intercept(self, w: Floats) -> Floats:
        """b', where x is measured from ``centre``."""
        layout, intercept = self.problem.full, w[self.problem.layout.free]
        if not len(intercept):
            return intercept
        table = layout.matrix(w)[: layout.features, : layout.columns]
        return np.asarray(intercept + self.centre @ table)

    def penalty(self, w: Floats) -> float:
        """Ω(w)."""
        value = 0.5 * self.l2 * self.square(w) if self.l2 else 0.0
        return value + (self.l1 * float(np.abs(self.bound(w)).sum()) if self.l1 else 0.0)

    def settled(
        self,
        w: Floats,
        stamp: Stamp | None = None,
        seldom: bool = False,
        out_of_time: Callable[[], bool] = lambda: False,
    ) -> Point:
        """The point at w, after its free entries are solved to zero gradient (Newton on them alone).

        ``stamp`` is that of a point at w, whose scores are then used again; ``seldom`` as in ``at``. Once
        ``out_of_time`` says so, the entries stay where they are.
        """
        if not self.has_free or not self.curved:
            return self.at(w, seldom=seldom)
        layout, stamp = self.problem.full, stamp or Stamp(w)
        shift, scale = np.zeros(layout.columns), self.weight
        reach, before, here = 4.0, np.inf, Stamp(shift)
        long = sum(len(shard) for shard in self.shards) * layout.columns > LONG
        for _ in range(100):
            if long and out_of_time():
                break
            here = Stamp(shift)
            sums = self.fold(passes.shifted, stamp, here)
            size = float(abs(sums["gradient"]).max())
            if size <= 1e-14 * scale or (size <= 1e-9 * scale and size >= before):
                break  # zero, or as near to it as rounding lets it be
            # Far away all probabilities are 0 or 1 and nothing curves: a little ridge gives a direction,
            # ``reach`` a length that grows while all goes one way and shrinks after an overshoot.
            step = self._settling(here, sums, 1e-9 * scale)
            reach = max(reach / 8.0, 1.0) if size > before else reach
            # Newton's method squares what is left, and so the ratio of one step to the next.
            ratio = size / before if before < np.inf else 1.0
            largest, left, before = float(abs(step).max()), size * ratio**2, size
            if largest > reach:
                step *= reach / largest
                reach *= 2.0
            shift = shift - step
            left = left if "hessian" in sums else size
            near = size <= 1e-7 * scale or left <= 1e-10 * scale
            if near and largest <= 1e-3 and not self.small:
                break  # the pass that follows looks at it
        for shard in self.shards:
            shard.drop("step", here)
        moved = self._copy(w)
        moved[layout.free] += shift
        point = self.at(moved, stamp, shift, seldom)
        if not point.settled:
            point._gap = math.inf
        return point

    def _settling(self, here: Stamp, sums: Any, ridge: float) -> Floats:
        """Newton's step in the free entries; for many labels by conjugate gradients, never a k × k matrix."""
        gradient = sums["gradient"]
        if "hessian" in sums:
            return np.linalg.solve(sums["hessian"] + ridge * np.eye(len(gradient)), gradient)
        from scipy.sparse.linalg import LinearOperator, cg

        def product(v: Floats) -> Floats:
            bent: Floats = self.fold(passes.shifted_product, here, v)["product"]
            return bent + ridge * v

        shape, inverse = (len(gradient),) * 2, 1.0 / (sums["diagonal"] + ridge)
        system = LinearOperator(shape, product, dtype=float)
        scaled = LinearOperator(shape, lambda v: inverse * v, dtype=float)
        return np.asarray(cg(system, gradient, rtol=SETTLING, maxiter=25, M=scaled)[0])


@final
class Point:
    """F at one w. ``gradient`` is that of loss and l2 penalty; l1 is left to proximal steps."""

    def __init__(
        self, objective: Objective, w: Floats, stamp: Stamp, loss: float, data_gradient: Floats
    ) -> None:
        self._data_gradient: Floats | None
        self.objective, self.w, self.stamp = objective, w, stamp
        self.loss, self._data_gradient = loss, data_gradient
        self.value = loss + objective.penalty(w)
        self._settled: bool | None = None
        self._gradient: Floats | None = None
        self._gap: float | None = None

    @classmethod
    def valued(cls, objective: Objective, w: Floats, value: float) -> Point:
        """A point whose value is known already, and which has no gradient: it saves a pass over the data."""
        point = cls(objective, w, Stamp(w), 0.0, np.zeros(0))
        point.value, point.loss = value, value - point.value
        return point

    @property
    def data_gradient(self) -> Floats:
        """∇ loss at w."""
        if self._data_gradient is None:
            objective = self.objective
            return objective.combined(1.0, self.gradient, -objective.l2, self.w)
        return self._data_gradient

    @property
    def gradient(self) -> Floats:
        """∇(loss + ½ l2 ‖w‖²) at w."""
        if self._gradient is None:
            self._gradient = self._penalised(self.data_gradient)
        return self._gradient

    def _penalised(self, data: Floats) -> Floats:
        """The gradient, from that of the loss; in its memory, where the loss alone is seldom asked for."""
        objective, free = self.objective, self.objective.problem.layout.free
        if not objective.l2:
            return data
        if objective.size > RANGE and not objective.l1 and free.stop == free.start:
            self._data_gradient = None
            return objective.combined(1.0, data, objective.l2, self.w, out=data)
        gradient = objective.combined(1.0, data, objective.l2, self.w)
        gradient[free] = data[free]
        return gradient

    @property
    def fresh(self) -> bool:
        """Whether ``at(w)`` would bring everything back to the bit: no later point, no shifted scores."""
        return self.objective.latest is self.stamp

    @property
    def gap(self) -> float:
        """An upper bound on F(w) − min F at a ``proven`` point, elsewhere an estimate; ∞ without penalty."""
        if self._gap is None:
            self._gap = self._bound()
        return min(self._gap, self._above)

    @property
    def _above(self) -> float:
        """How far F(w) lies above the best dual value that is known."""
        return max(self.value - self.objective.lower, 0.0)

    @property
    def settled(self) -> bool:
        """Whether the free entries are solved: their gradient is zero, as far as a proof can tell."""
        if self._settled is None:
            objective = self.objective
            left = self.data_gradient[objective.problem.layout.free] if objective.has_free else None
            most = SETTLED * objective.C * objective.weight if left is not None else 0.0
            self._settled = left is None or float(abs(left).max()) <= most
        return self._settled

    @property
    def proven(self) -> bool:
        """Whether ``gap`` is a bound: the free entries are solved, or a dual value is as good."""
        return self.settled or self._above <= self.gap

    def foresee(self, step: Floats) -> None:
        """Raise ``objective.lower`` to the value of the dual point that a Newton step from here leads to.

        Where weight columns are separate problems, each keeps the best value of its own: a column that
        has ended proves its part while others are on their way.

        In the free entries a dual point must sum to zero. What rounding leaves there is subtracted, as
        much as it could matter to an intercept that differs by 1 from the one here.
        """
        objective, free = self.objective, self.objective.problem.layout.free
        line = Stamp(step)
        objective.fold(passes.direction, self.stamp, line)
        sums = objective.fold(passes.foreseen, self.stamp, line)
        gradient = sums["gradient"]
        left = np.abs(gradient[free])
        ahead = objective.combined(1.0, self.w, 1.0, step)
        slack = left * (np.abs(objective.centred_intercept(ahead)) + 1.0)
        slack[left > 1e-6 * objective.weight] = math.inf  # rounding, or no dual point at all
        if objective.separate:
            squares = objective.centred_squares(gradient)
        else:
            slack = slack.sum(keepdims=True)
            squares = np.array([objective.centred_square(gradient)])
        values = sums["values"] + slack if len(slack) else sums["values"]
        objective.raise_lower(-objective.C * values - objective.C**2 * squares / (2 * objective.l2))

    def _bound(self) -> float:
        objective = self.objective
        if not objective.penalised:
            return math.inf
        if objective.l2 and not objective.l1:
            return self._steepness() / (2 * objective.l2)
        w, g = objective.bound(self.w), objective.bound(self.data_gradient)
        if objective.l2:
            outside = np.maximum(np.abs(g) - objective.l1, 0.0)
            conjugate = float(outside @ outside) / (2 * objective.l2)
            return max(objective.penalty(w) + conjugate + float(w @ g), 0.0)
        largest = float(np.abs(g).max())
        scale = 1.0 if largest <= objective.l1 else objective.l1 / largest
        dual = -objective.C * float(
            objective.fold(passes.conjugate, self.stamp, scale)["conjugate"]
        )
        return max(self.value - dual, 0.0)

    def _steepness(self) -> float:
        """‖gradient‖² over the penalised entries; a gradient that nobody has asked for is not kept."""
        objective, data = self.objective, self._data_gradient
        if self._gradient is not None or data is None or objective.size <= RANGE:
            return objective.centred_square(self.gradient)
        if not data.dtype == self.w.dtype == np.float64:
            squares = objective.sweep(
                lambda s: float(np.sum((data[s] + objective.l2 * self.w[s]) ** 2)), penalised=True
            )
            return float(sum(squares))
        from .kernels import vectors

        return objective.summed(vectors.squares, data, objective.l2, self.w, penalised=True)

    def prove(self, dual: float) -> None:
        """Certify by ``dual``, which no F is below; where a loss has corners, its residuals prove little."""
        self._gap = max(self.value - dual, 0.0)
        self.objective.lower = max(self.objective.lower, dual)

    @property
    def relative_gap(self) -> float:
        """The gap as a share of F(0): what ``tol`` is compared with."""
        return self.gap / self.objective.zero if self.objective.zero else 0.0

    def hvp(self, v: Floats) -> Floats:
        """∇²F(w) v, from the scores that the pass at w left behind."""
        objective = self.objective
        sums = objective.fold(passes.curvature, self.stamp, v)
        data, free = sums["gradient"], objective.problem.layout.free
        product = objective.combined(objective.C, data, objective.l2, v)
        product[free] = objective.C * data[free]
        return product

    def line(self, direction: Floats) -> Line:
        """F along w + step · direction, each trial costing no product with x."""
        return Line(self, direction)


@final
class Line:
    """step ↦ (value, slope) of F without its l1 part; scores are linear in w, so x is read only once."""

    def __init__(self, point: Point, direction: Floats) -> None:
        self.point, self.direction = point, direction
        objective, self.stamp = point.objective, Stamp(direction)
        objective.fold(passes.direction, point.stamp, self.stamp)
        w, v = point.w, direction
        pairs = (w, w), (w, v), (v, v)
        self._ww, self._wv, self._vv = (objective.dot(*pair, penalised=True) for pair in pairs)

    def close(self) -> None:
        """Give back the memory of the scores of ``direction``."""
        for shard in self.point.objective.shards:
            shard.drop("step", self.stamp)

    def __call__(self, step: float) -> tuple[float, float]:
        point, objective = self.point, self.point.objective
        sums = objective.fold(passes.along, point.stamp, self.stamp, step)
        quadratic = 0.5 * objective.l2 * (self._ww + step * (2 * self._wv + step * self._vv))
        slope = objective.l2 * (self._wv + step * self._vv)
        return objective.C * sums["value"] + quadratic, objective.C * sums["slope"] + slope


def _product(a: Floats, b: Floats) -> float:
    """⟨a, b⟩ in float64, whatever they are."""
    return float(np.dot(a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)))
