"""The two shapes that second derivatives have here: those of a softmax, and one number a label."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import final

import numpy as np

from ..records import Floats, Scores, Truth
from ..spaces import Space
from .base import Curvature

__all__ = ["Separate", "Softmax", "Star", "differences", "shares_after", "spread_out"]

Augment = Callable[[Scores, Truth], Scores]


def shares_after(p: Floats, step: Floats) -> Floats:
    """p + (diag p − p pᵀ) step (n, K): to first order, the softmax of scores moved by ``step``.

    Shares that fall below zero are zero, and the others shrink to a sum of 1.

    >>> import numpy as np
    >>> from argmax.losses.curvature import shares_after
    >>> shares_after(np.array([[0.5, 0.5]]), np.array([[0.2, 0.0]]))
    array([[0.55, 0.45]])
    """
    moved = p * (1.0 + step - np.einsum("ij,ij->i", p, step)[:, None])
    np.maximum(moved, 0.0, out=moved)
    moved /= (moved @ np.ones(moved.shape[1]))[:, None]
    return np.asarray(moved)


@final
class Softmax(Curvature):
    """H = (diag(p) − p pᵀ) / τ with p = softmax((score + cost) / τ); at most ½ / τ (Böhning 1992)."""

    crossed = True

    def __init__(self, augment: Augment, temperature: float = 1.0) -> None:
        self.augment, self.temperature = augment, temperature

    def bound(self, k: int) -> float:
        return 0.5 / self.temperature

    def fill(self, space: Space, scores: Scores, truth: Truth, out: Floats) -> None:
        augmented = self.augment(scores, truth)
        if self.temperature != 1.0:
            augmented = replace(augmented, node=augmented.node / self.temperature)
        space.marginals(augmented, None, Scores(out, None, scores.offsets))

    def product(
        self, space: Space, filled: Floats, weight: Floats, direction: Floats, out: Floats
    ) -> None:
        steep = weight if self.temperature == 1.0 else weight / self.temperature
        space.curvature(Scores(filled), steep, Scores(direction), Scores(out))

    def summed(self, filled: Floats, weight: Floats) -> Floats:
        shares = filled * (weight / self.temperature)[:, None]
        return np.asarray(np.diag(shares.sum(axis=0)) - shares.T @ filled)

    def summed_diagonal(self, filled: Floats, weight: Floats) -> Floats:
        steep = weight / self.temperature
        return np.asarray(steep @ filled - np.einsum("i,ij,ij->j", steep, filled, filled))

    def summed_product(self, filled: Floats, weight: Floats, v: Floats) -> Floats:
        steep = weight / self.temperature
        return np.asarray((steep @ filled) * v - (steep * (filled @ v)) @ filled)

    def spread(self, filled: Floats) -> Floats:
        square = np.einsum("ij,ij->i", filled, filled)
        return np.asarray((1.0 - square) / (max(filled.shape[1] - 1, 1) * self.temperature))

    def diagonal(self, filled: Floats) -> Floats:
        raise NotImplementedError("a softmax is crossed: labels enter each other's derivatives")

    def parts(self, filled: Floats) -> tuple[Floats, Floats | None]:
        return filled / self.temperature, filled / math.sqrt(self.temperature)


@final
class Separate(Curvature):
    """H is diagonal: one binary loss for each label. Two labels have one between them, of s₁ − s₀.

    ``second`` gives loss'' at margins t·s (n, m); ``ceiling`` is the most it can be.
    """

    crossed = False

    def __init__(self, ceiling: float, second: Callable[[Floats], Floats]) -> None:
        self.ceiling, self.second = ceiling, second

    def bound(self, k: int) -> float:
        return 2.0 * self.ceiling if k == 2 else self.ceiling  # of (−1, 1)/√2, where f moves by √2

    def fill(self, space: Space, scores: Scores, truth: Truth, out: Floats) -> None:
        f, t = differences(scores.node, truth)
        out[:] = self.second(t * f)

    def product(
        self, space: Space, filled: Floats, weight: Floats, direction: Floats, out: Floats
    ) -> None:
        if filled.shape[1] == 2:
            bend = weight * filled[:, 0] * (direction[:, 1] - direction[:, 0])
            out[:, 0], out[:, 1] = -bend, bend
        else:
            np.multiply(filled, direction, out=out)
            out *= weight[:, None]

    def summed(self, filled: Floats, weight: Floats) -> Floats:
        total = weight @ filled
        if len(total) == 2:
            return np.asarray(total[0] * np.array([[1.0, -1.0], [-1.0, 1.0]]))
        return np.diag(total)

    def summed_diagonal(self, filled: Floats, weight: Floats) -> Floats:
        return self.summed(filled, weight).diagonal() if filled.shape[1] == 2 else weight @ filled

    def summed_product(self, filled: Floats, weight: Floats, v: Floats) -> Floats:
        if filled.shape[1] == 2:
            return np.asarray(self.summed(filled, weight) @ v)
        return np.asarray((weight @ filled) * v)

    def spread(self, filled: Floats) -> Floats:
        return 2.0 * filled[:, 0] if filled.shape[1] == 2 else filled.mean(axis=1)

    def diagonal(self, filled: Floats) -> Floats:
        return filled[:, :1] if filled.shape[1] == 2 else filled

    def parts(self, filled: Floats) -> tuple[Floats, Floats | None]:
        raise NotImplementedError("labels are separate: see diagonal")


@final
class Star(Curvature):
    """H = Σ_{c≠y} h_c (e_c − e_y)(e_c − e_y)ᵀ: every label against the truth, as in a sum of hinges.

    ``fill`` leaves h, and at y, the one place that is not positive, −Σ h. ``second`` gives h at margins
    s_y − s_c.
    """

    crossed = True

    def __init__(self, ceiling: float, second: Callable[[Floats], Floats]) -> None:
        self.ceiling, self.second = ceiling, second

    def bound(self, k: int) -> float:
        return k * self.ceiling

    def fill(self, space: Space, scores: Scores, truth: Truth, out: Floats) -> None:
        own = np.arange(len(out)), truth.labels
        out[:] = self.second(scores.node[own][:, None] - scores.node)
        out[own] = 0.0
        out[own] = -out.sum(axis=1)

    def product(
        self, space: Space, filled: Floats, weight: Floats, direction: Floats, out: Floats
    ) -> None:
        own = np.arange(len(filled)), filled.argmin(axis=1)
        np.multiply(filled, direction - direction[own][:, None], out=out)
        out[own] = -out.sum(axis=1)
        out *= weight[:, None]

    def summed(self, filled: Floats, weight: Floats) -> Floats:
        k = filled.shape[1]
        total, own = np.zeros((k, k)), filled.argmin(axis=1)
        for y in range(k):
            h = weight[own == y] @ filled[own == y]
            h[y] = 0.0
            total += np.diag(h)
            total[y, y] += h.sum()
            total[y] -= h
            total[:, y] -= h
        return total

    def summed_diagonal(self, filled: Floats, weight: Floats) -> Floats:
        return np.asarray(weight @ np.abs(filled))

    def summed_product(self, filled: Floats, weight: Floats, v: Floats) -> Floats:
        own = np.arange(len(filled)), filled.argmin(axis=1)
        pulls = filled * (v - v[own[1]][:, None])
        pulls[own] = -pulls.sum(axis=1)  # at the truth nothing differs from itself
        return np.asarray(weight @ pulls)

    def spread(self, filled: Floats) -> Floats:
        return np.asarray(2.0 * np.maximum(filled, 0.0).sum(axis=1) / filled.shape[1])

    def diagonal(self, filled: Floats) -> Floats:
        raise NotImplementedError("the truth enters the derivatives of every label")

    def parts(self, filled: Floats) -> tuple[Floats, Floats | None]:
        return filled, None


def differences(node: Floats, truth: Truth) -> tuple[Floats, Floats]:
    """f and t = ±1 (n, m) of the binary problems: one a label, or for two labels f = s₁ − s₀.

    >>> import numpy as np
    >>> from argmax.losses.curvature import differences
    >>> from argmax.records import Truth
    >>> f, t = differences(np.array([[-0.5, 0.5], [0.0, 2.0]]), Truth(np.array([1, 0])))
    >>> f.ravel(), t.ravel()
    (array([1., 2.]), array([ 1., -1.]))
    """
    n, k = node.shape
    if k == 2:
        return node[:, 1:] - node[:, :1], np.where(truth.labels == 1, 1.0, -1.0)[:, None]
    t = np.full((n, k), -1.0)
    t[np.arange(n), truth.labels] = 1.0
    return node, t


def spread_out(slope: Floats, out: Floats) -> None:
    """Slopes in f as residuals of the scores: the adjoint of ``differences``."""
    if out.shape[1] == 2:
        out[:, 0], out[:, 1] = -slope[:, 0], slope[:, 0]
    else:
        out[:] = slope
