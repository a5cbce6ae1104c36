"""Steps on single rows, for weights of every feature and label: what online learners and ``sgd`` run.

    RowWalk   a w that changes after every row: ``perceive`` learns from mistakes, ``descend`` from gradients

Serial by nature, and in the memory of this process. Rows are visited in the order given. Small problems, and
losses that no kernel knows, take plain NumPy steps.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, final

import numpy as np

from ..engines import Shard, limits
from ..engines.reading import chosen
from ..kernels import compiled
from ..kernels.rules import LOSSES, RULES, SCHEDULES
from ..layouts import csr_arguments
from ..records import Csr, Floats, Ints, Scores, Structures, Truth
from .problem import Problem

__all__ = ["RowWalk"]

CHUNK = 10_000_000
"""Multiply-adds between two returns to the interpreter: a few milliseconds."""

VISIT = 100
"""What a visit counts when it is asked whether to compile: ten thousand, some 0.2 s of them, are enough."""


@final
class RowWalk:
    """Weights on the way, and what their average takes.

    Given a shard and the problem, w to start with, and whether to average. W (d, P) and b (m,) are the
    weights divided by ``scale``; the mean of all w since the last ``restart`` is (clock · W − late) / count.
    With the schedule "inverse" step t counts t times, elsewhere once.
    """

    def __init__(self, shard: Shard, problem: Problem, w: Floats, average: bool = True) -> None:
        layout = problem.full
        self.shard, self.problem, self.layout, self.average = shard, problem, layout, average
        self.schedule = "calibrated"
        self.compiled = layout.compiled
        self.W, self.b = self._parts(w)
        self.free = layout.free_intercept
        self.scale, self.clock, self.steps, self.count = 1.0, 1.0, 0.0, 1.0
        self.restart()

    def _parts(self, w: Floats) -> tuple[Floats, Floats]:
        layout = self.layout
        table, d, m = layout.matrix(w), layout.features, layout.columns
        return table[:d].copy(), table[d, :m].copy() if layout.intercept else np.zeros(0)

    def __len__(self) -> int:
        return len(self.shard)

    def _fast(self) -> bool:
        """Whether kernels are worth it: large problems from the start, small ones that go on and on later."""
        self.compiled = self.compiled or compiled(VISIT * (self.steps + len(self)))
        return self.compiled

    def restart(self) -> None:
        """Begin a new average here."""
        rows = len(self.W) if self.average else 0
        self.late_W = np.zeros((rows, self.layout.width))
        self.late_b = np.zeros(len(self.b) if self.average else 0)
        self.clock, self.count = self.scale, 1.0

    def copy(self) -> RowWalk:
        """Another one at the same place."""
        other = copy.copy(self)
        for name in ("W", "b", "late_W", "late_b"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def sample(self, size: int, rng: np.random.Generator) -> RowWalk:
        """Another one at the same place over some of the rows, with the features they have."""
        shard, layout = self.shard, self.layout
        used = np.zeros(len(shard), bool)
        used[rng.permutation(len(shard))[:size]] = True
        rows, W = chosen(shard.structures.rows, used), self.W
        if isinstance(rows, Csr):
            features, indices = np.unique(rows.indices, return_inverse=True)
            rows = replace(rows, indices=indices.astype(rows.indices.dtype), width=len(features))
            layout, W = replace(layout, features=len(features)), self.W[features]
        given = shard.truth
        weight, prices = (None if a is None else a[used] for a in (given.weight, given.prices))
        truth = Truth(given.labels[used], weight, given.cost, prices=prices)
        problem = replace(self.problem, layout=layout)
        some = Shard(Structures(rows), truth, layout)
        other = RowWalk(some, problem, np.zeros(layout.size), average=False)
        other.W[:], other.b[:] = W, self.b
        other.schedule, other.scale, other.steps = self.schedule, self.scale, self.steps
        return other

    def square(self) -> float:
        """‖w‖² of what shrinks."""
        total = float(np.vdot(self.W, self.W)) + (0.0 if self.free else float(self.b @ self.b))
        return self.scale**2 * total

    def flat(self) -> Floats:
        """w."""
        own = 1.0 if self.free else self.scale
        return self._flat(self.scale, 0.0, own * self.b)

    def mean(self) -> Floats:
        """The mean of all w since the last restart; w itself without an average."""
        if not self.average:
            return self.flat()
        own = self.count if self.free else self.clock
        b = (own * self.b - self.late_b) / self.count
        return self._flat(self.clock / self.count, -1.0 / self.count, b)

    def _flat(self, share: float, late: float, b: Floats) -> Floats:
        """share · W + late · late_W and b as one vector, in one sweep where there is a lot of it."""
        layout = self.layout
        w, used = np.empty(layout.size), layout.features * layout.width
        w[used:] = 0.0
        if layout.intercept:
            w[used : used + len(b)] = b
        if not late:
            np.multiply(self.W.ravel(), share, out=w[:used])
        elif self._fast():
            from ..kernels import vectors

            vectors.combine(share, self.W.ravel(), late, self.late_W.ravel(), w[:used])
        else:
            w[:used] = (share * self.W + late * self.late_W).ravel()
        return w

    # Many rows

    def perceive(self, order: Ints, C: float = 1.0, rate: float = 1.0) -> int:
        """One visit of each row of ``order`` by the rule of the loss; returns the number of mistakes."""
        rule, wrong, shard = RULES[self.problem.loss.name], 0, self.shard
        for piece in self._pieces(order):
            limits.look()
            if self._fast():
                from ..kernels import online

                wrong += online.perceive(
                    *_rows(shard), piece, shard.truth.labels, _weight(shard), self.W, self.b,
                    self.late_W, self.late_b, self.clock, rule, C, rate, self.layout.labels,
                )  # fmt: skip
                self.clock += len(piece)
                self.count += len(piece)
            else:
                wrong += sum(self._perceive_row(int(i), rule, C, rate) for i in piece)
            self.steps += len(piece)
        return int(wrong)

    def descend(self, order: Ints, eta: float, decay: float) -> float:
        """Gradient steps on the rows of ``order``; the sum of their losses before each step."""
        schedule, loss = SCHEDULES[self.schedule], LOSSES.get(self.problem.loss.name)
        shard, total = self.shard, 0.0
        for piece in self._pieces(order):
            limits.look()
            if loss is not None and self._fast():
                from ..kernels import online

                state = np.array([self.scale, self.clock, self.steps, self.count])
                total += online.descend(
                    *_rows(shard), piece, shard.truth.labels, _weight(shard), *_cost(shard.truth),
                    self.W, self.b, self.late_W, self.late_b, state, loss, schedule, eta, decay,
                    self.free, self.layout.labels,
                )  # fmt: skip
                self.scale, self.clock, self.steps, self.count = state.tolist()
            else:
                total += sum(self._descend_row(int(i), eta, decay) for i in piece)
        return float(total)

    def _pieces(self, order: Ints) -> list[Ints]:
        """The rows of ``order``, in pieces after which an interrupt is heard."""
        share = self.shard.work * len(order) / max(len(self.shard), 1)
        return np.array_split(order, int(np.clip(share // CHUNK, 1, max(len(order), 1))))

    # One row, in plain NumPy

    def _perceive_row(self, i: int, rule: int, C: float, rate: float) -> bool:
        shard = self.shard
        at, x = _row(shard, i)
        S, y = self._scores(at, x), int(shard.truth.labels[i])
        s = 1.0 if shard.truth.weight is None else float(shard.truth.weight[i])
        others = np.where(np.arange(len(S)) == y, -np.inf, S)
        best = int(others.argmax())
        behind = bool(S.argmax() != y if rule == RULES["perceptron"] else S[best] >= S[y])
        change = np.zeros(len(S))
        if rule >= RULES["pa1"]:
            step = self._passive_aggressive(1.0 - S[y] + S[best], x, C * s, rule)
            change[[y, best]] = step, -step
        elif behind and rule == RULES["perceptron_sum"]:
            change[others >= S[y]] = -rate * s
            change[y] = -change.sum()
        elif behind:
            change[[y, best]] = rate * s, -rate * s
        self._add(at, x, self.layout.reduced(change))
        self.clock, self.count = self.clock + 1.0, self.count + 1.0
        return behind

    def _passive_aggressive(self, loss: float, x: Floats, C: float, rule: int) -> float:
        """The step that makes up for the loss, as far as C lets it."""
        square = float(x @ x) + (1.0 if self.layout.intercept else 0.0)
        square *= 2.0 if self.layout.label_features is None else 1.0
        if loss <= 0.0 or square == 0.0:
            return 0.0
        return loss / (square + 0.5 / C) if rule == RULES["pa2"] else min(C, loss / square)

    def _descend_row(self, i: int, eta: float, decay: float) -> float:
        shard = self.shard
        at, x = _row(shard, i)
        one, node = slice(i, i + 1), self._scores(at, x)[None, :]
        residual = Scores(np.empty(node.shape))
        truth, space = shard.truth.block(one, one), self.problem.space
        value = float(self.problem.loss.evaluate(space, Scores(node), truth, residual)[0])
        rate = self._rate(eta, decay)
        factor = 1.0 - rate * decay
        self._shrink(factor)
        # An intercept that does not shrink would never recover from first steps of 1/λ.
        fast = self.free and self.schedule == "inverse"
        slower = min(1.0, 1.0 / (rate * np.sqrt(self.steps + 1.0))) if fast else 1.0
        self._add(at, x, self.layout.reduced(-rate * residual.node[0]), slower)
        share = self.steps + 1.0 if self.schedule == "inverse" else 1.0
        self.clock, self.count = self.clock + share * self.scale, self.count + share
        self.steps += 1.0
        return value

    def _rate(self, eta: float, decay: float) -> float:
        """η_t, and never beyond 1/λ, where w would pass through zero."""
        t = self.steps
        rate = {
            "constant": eta,
            "inverse": 1.0 / (decay * (t + 1.0)) if decay else eta,
            "inverse_sqrt": eta / np.sqrt(t + 1.0),
            "calibrated": eta / (1.0 + eta * decay * t),
        }[self.schedule]
        return float(min(rate, 1.0 / decay) if decay else rate)

    def _shrink(self, factor: float) -> None:
        """w ← factor · w; where the scale would vanish it goes back to 1, the sum of all w unchanged."""
        self.scale *= factor
        if self.scale >= 1e-4:
            return
        if self.average:
            self.late_W -= self.clock * self.W
            self.late_b -= 0.0 if self.free else self.clock * self.b
        self.W *= self.scale
        self.b *= 1.0 if self.free else self.scale
        self.clock, self.scale = 0.0, 1.0

    def _scores(self, at: Any, x: Floats) -> Floats:
        # Not a matrix product, which may add up equal columns in different ways: a tie must stay one.
        row = self.scale * (x[:, None] * self.W[at, : self.layout.columns]).sum(axis=0)
        if self.layout.intercept:
            row = row + (self.b if self.free else self.scale * self.b)
        phi = self.layout.label_features
        return np.asarray(row if phi is None else phi @ row)

    def _add(self, at: Any, x: Floats, change: Floats, slower: float = 1.0) -> None:
        """w_c += change_c · x for every column c; a free intercept moves by ``slower`` times its share."""
        if not change.any():
            return
        step = np.outer(x, change / self.scale)
        self.W[at, : self.layout.columns] += step
        if self.average:
            self.late_W[at, : self.layout.columns] += self.clock * step
        if self.layout.intercept:
            own = slower * change if self.free else change / self.scale
            self.b += own
            if self.average:
                self.late_b += (self.count if self.free else self.clock) * own


def _row(shard: Shard, i: int) -> tuple[Any, Floats]:
    """Where the features of row i are, and their values."""
    rows = shard.structures.rows
    if not isinstance(rows, Csr):
        return slice(None), rows[i].astype(float, copy=False)
    used = slice(rows.indptr[i], rows.indptr[i + 1])
    at = rows.indices[used]
    return at, np.ones(len(at)) if rows.values is None else rows.values[used].astype(float)


def _rows(shard: Shard) -> tuple[Any, ...]:
    """X, indptr, indices, values, step, as the kernels take them: X is empty, or all the others are."""
    rows = shard.structures.rows
    if isinstance(rows, Csr):
        arguments = csr_arguments(rows)
        return np.empty((0, 0), arguments[2].dtype), *arguments
    columns = np.arange(rows.shape[1], dtype=np.int32)
    return rows, np.zeros(1, np.int32), columns, np.empty(0, rows.dtype), 1


def _weight(shard: Shard) -> Floats:
    return np.ones(1) if shard.truth.weight is None else shard.truth.weight


def _cost(truth: Truth) -> tuple[Floats, bool]:
    """What is added to the scores, and whether each row has its own."""
    if truth.prices is not None:
        return truth.prices, True
    return (np.empty((0, 0)) if truth.cost is None else np.atleast_2d(truth.cost)), False
