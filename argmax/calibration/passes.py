"""Sums over scored rows: compiled and side by side where there are many, plain NumPy where there are few.

Rows are cut into blocks by their number alone and sums are added in the order of the blocks, so any number
of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks
from ..kernels import compiled
from ..records import Floats, Ints

__all__ = ["Rows", "in_blocks"]

BLOCK = 2**18
"""Scores of a block: a few tenths of a millisecond of work."""

PASSES = 16
"""Passes over the rows that a fit takes, at least."""


def in_blocks(task: Callable[[slice], Any], n: int, width: int) -> list[Any]:
    """task(rows) for blocks of n rows of ``width`` numbers, in order; many blocks on all cores."""
    size = max(1, BLOCK // max(width, 1))
    parts = [slice(first, min(first + size, n)) for first in range(0, n, size)]
    many = len(parts) // 2
    threads = min(checks.cores(), many) if many > 1 else 1  # counting cores takes a while
    if threads < 2:
        return [task(part) for part in parts]
    with ThreadPoolExecutor(threads, thread_name_prefix="argmax") as pool:
        return list(pool.map(task, parts))


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """Scores (n, k), the column of each row's truth (n,), and its weight."""

    scores: Floats
    truth: Ints
    weight: Floats  # (n,), or a single 1
    fast: bool  # on compiled kernels

    @classmethod
    def of(cls, scores: Floats, truth: Ints, weight: Floats | None = None) -> Rows:
        """Rows whose number decides how they are worked on."""
        weight = np.ones(1) if weight is None else weight
        return cls(scores, truth.astype(np.intp), weight, compiled(PASSES * scores.size))

    @property
    def total(self) -> float:
        """What the weights add up to."""
        return float(len(self.scores) if len(self.weight) == 1 else self.weight.sum())

    def some(self, rows: Any) -> Rows:
        """Some of the rows."""
        weight = self.weight if len(self.weight) == 1 else self.weight[rows]
        return Rows(self.scores[rows], self.truth[rows], weight, self.fast)

    def tempered(self, a: float) -> Floats:
        """Σ s_i loss_i of the scores a·S, and its first and second derivative in a: (3,)."""
        if not self.fast:
            return self._tempered(a)
        from ..kernels import calibration

        def task(part: slice) -> Floats:
            some, out = self.some(part), np.empty(3)
            calibration.tempered(some.scores, float(a), some.truth, some.weight, out)
            return out

        return np.asarray(np.sum(in_blocks(task, *self.scores.shape), axis=0))

    def _tempered(self, a: float) -> Floats:
        S, own = self.scores, self.scores[np.arange(len(self.truth)), self.truth]
        p, level = _softmax(a * S)
        mean = (p * S).sum(axis=1)
        spread = (p * (S - mean[:, None]) ** 2).sum(axis=1)
        values = np.stack([level - a * own, mean - own, spread])
        return np.asarray((values * self.weight).sum(axis=1))

    def affine(self, scale: Floats, offset: Floats) -> tuple[float, Floats, Floats]:
        """Σ s_i loss_i of the scores scale·S + offset, and its gradient in both (k,)."""
        if not self.fast:
            z = self.scores * scale + offset
            value, residual = self._residual(z)
            return value, (residual * self.scores).sum(axis=0), residual.sum(axis=0)
        from ..kernels import calibration

        def task(part: slice) -> tuple[float, Floats, Floats]:
            some = self.some(part)
            of_scale, of_offset = np.zeros(len(scale)), np.zeros(len(scale))
            value = calibration.affine(
                some.scores, scale, offset, some.truth, some.weight, of_scale, of_offset
            )
            return value, of_scale, of_offset

        values, by_scale, by_offset = zip(*in_blocks(task, *self.scores.shape), strict=True)
        return float(np.sum(values)), np.sum(by_scale, axis=0), np.sum(by_offset, axis=0)

    def matrix(self, A: Floats, b: Floats) -> tuple[float, Floats, Floats]:
        """Σ s_i loss_i of the scores A·S_i + b, and its gradient in A (k, k) and b (k,)."""
        if not compiled(PASSES * self.scores.size * len(b)):
            value, residual = self._residual(self.scores @ A.T + b)
            return value, residual.T @ self.scores, residual.sum(axis=0)
        from ..kernels import fused

        k = len(b)
        W = np.zeros(
            (k, -(-k // 4) * 4)
        )  # softmax regression on k features; columns as it likes them
        W[:, :k] = A.T

        def task(part: slice) -> tuple[float, Floats, Floats]:
            some, of_A, of_b = self.some(part), np.zeros_like(W), np.zeros(k)
            kept = np.empty_like(some.scores)
            given = (some.scores, W, b, some.truth, some.weight, False)
            return fused.dense_log(*given, kept, of_A, of_b), of_A, of_b

        values, by_A, by_b = zip(*in_blocks(task, *self.scores.shape), strict=True)
        return float(np.sum(values)), np.sum(by_A, axis=0)[:, :k].T, np.sum(by_b, axis=0)

    def _residual(self, z: Floats) -> tuple[float, Floats]:
        """Σ s_i loss_i of scores z, and s_i (softmax(z_i) − e_y)."""
        rows = np.arange(len(z))
        residual, level = _softmax(z)
        residual[rows, self.truth] -= 1.0
        residual *= self.weight[:, None]
        return float((self.weight * (level - z[rows, self.truth])).sum()), residual


def _softmax(z: Floats) -> tuple[Floats, Floats]:
    """softmax(z_i) and log Σ_c exp z_ic. (SciPy's own take three times as long.)"""
    top = z.max(axis=1)
    p = np.exp(z - top[:, None])
    mass = p.sum(axis=1)
    p /= mass[:, None]
    return p, np.log(mass) + top
