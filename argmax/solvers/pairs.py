"""What L-BFGS remembers: the last m pairs s = w₊ − w, y = g₊ − g, and −H g from them.

    Pairs      the two-loop recursion, for any H₀ (Nocedal and Wright 2006, algorithm 7.4)
    Products   the same for H₀ = γ I, from inner products alone: two sweeps over the pairs instead of 4m

In ``Products`` the direction is a combination of the s_i, the y_i and g, and the recursion needs of them only
their inner products: [S Y]ᵀ g in one sweep, then the combination in another, ranges of weights side by side
(Chen, Wang and Zhou 2014, NIPS). With long w that is most of what L-BFGS costs besides the passes. Pairs are
kept in float32: half the memory and half the time, and as curvature they are estimates in any case.
"""

from __future__ import annotations

from collections import deque
from typing import final

import numpy as np

from ..objective import Objective
from ..records import Floats
from .preconditioner import Preconditioner
from .report import Values

__all__ = ["Pairs", "Products"]

LEAST = 1e-14
"""Cosine of s and y below which a pair says nothing."""


@final
class Pairs:
    """Pairs for a preconditioned H₀."""

    def __init__(self, precondition: Preconditioner, memory: int) -> None:
        self.precondition = precondition
        self._pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=memory)

    def __bool__(self) -> bool:
        return bool(self._pairs)

    def clear(self) -> None:
        self._pairs.clear()

    def values(self) -> Values:
        """For a snapshot: s0, y0, s1, …"""
        pairs = enumerate(self._pairs)
        return {f"{name}{i}": v for i, (s, y, _) in pairs for name, v in (("s", s), ("y", y))}

    def restore(self, kept: Values) -> None:
        """The pairs of a snapshot."""
        for i in range(sum(f"s{i}" in kept for i in range(self._pairs.maxlen or 0))):
            self.add(kept[f"s{i}"], kept[f"y{i}"])

    def add(self, s: Floats, y: Floats) -> None:
        curvature = float(s @ y)
        if curvature > LEAST * float(y @ y) ** 0.5 * float(s @ s) ** 0.5:
            self._pairs.append((s, y, curvature))

    def direction(self, gradient: Floats) -> Floats:
        """−H · gradient."""
        q, alphas = gradient.copy(), []
        for s, y, curvature in reversed(self._pairs):
            alpha = float(s @ q) / curvature
            q -= alpha * y
            alphas.append(alpha)
        if not self._pairs:
            return -self.precondition(q)
        s, y, curvature = self._pairs[-1]
        r, bent = self.precondition.several(q, y)
        r *= curvature / float(y @ bent)
        for (s, y, curvature), alpha in zip(self._pairs, reversed(alphas), strict=True):
            r += (alpha - float(y @ r) / curvature) * s
        return -r


@final
class Products:
    """Pairs for H₀ = γ I, in one array (2m, n): row 2j is s, row 2j + 1 is y of slot j."""

    def __init__(self, objective: Objective, memory: int) -> None:
        self.objective, self.memory = objective, memory
        self._rows = np.empty((2 * memory, objective.size), np.float32)
        self._gram = np.zeros((2 * memory, 2 * memory))
        self._slots: list[int] = []  # from the oldest to the newest

    def __bool__(self) -> bool:
        return bool(self._slots)

    def clear(self) -> None:
        self._slots.clear()

    def values(self) -> Values:
        """For a snapshot: products as well, which other shapes of the same sums would round otherwise."""
        used = 2 * len(self._slots)
        slots = np.array(self._slots, np.int64)
        return {"pairs": self._rows[:used].copy(), "gram": self._gram.copy(), "slots": slots}

    def restore(self, kept: Values) -> None:
        """The pairs of a snapshot."""
        self._rows[: len(kept["pairs"])] = kept["pairs"]
        self._gram[:] = kept["gram"]
        self._slots = kept["slots"].tolist()

    def add(self, s: Floats, y: Floats) -> None:
        dot, slots = self.objective.dot, self._slots
        if not dot(s, y) > LEAST * (dot(s, s) * dot(y, y)) ** 0.5:
            return
        slot = slots.pop(0) if len(slots) == self.memory else len(slots)
        slots.append(slot)
        here, used, rows = slice(2 * slot, 2 * slot + 2), 2 * len(slots), self._rows

        def piece(part: slice) -> Floats:
            rows[2 * slot, part], rows[2 * slot + 1, part] = s[part], y[part]
            return np.asarray(rows[here, part] @ rows[:used, part].T, float)

        products = sum(self.objective.sweep(piece))
        self._gram[here, :used], self._gram[:used, here] = products, products.T

    def direction(self, gradient: Floats) -> Floats:
        """−H · gradient; a step of length 1 at most, as long as nothing is known."""
        if not self._slots:
            length = self.objective.dot(gradient, gradient) ** 0.5
            return np.asarray(-gradient / max(length, 1.0))
        used, rows, out = 2 * len(self._slots), self._rows, np.empty_like(gradient)
        against = sum(
            self.objective.sweep(lambda part: _products(rows[:used, part], gradient[part]))
        )
        shares, own = self._recursion(against)

        def piece(part: slice) -> None:
            np.multiply(gradient[part], own, out=out[part])
            out[part] += shares.astype(np.float32) @ rows[:used, part]

        self.objective.sweep(piece)
        return out

    def _recursion(self, against: Floats) -> tuple[Floats, float]:
        """−H g as shares of the rows, and of g itself; given their products with g."""
        G, used = self._gram, len(against)
        shares, alphas = np.zeros(used), {}
        for slot in reversed(self._slots):  # q = g − Σ α y
            s, y = 2 * slot, 2 * slot + 1
            alphas[slot] = (against[s] + G[s, :used] @ shares) / G[s, y]
            shares[y] -= alphas[slot]
        s, y = 2 * self._slots[-1], 2 * self._slots[-1] + 1
        gamma = G[s, y] / G[y, y]
        shares, own = gamma * shares, gamma
        for slot in self._slots:  # r = γ q + Σ (α − β) s
            s, y = 2 * slot, 2 * slot + 1
            beta = (own * against[y] + G[y, :used] @ shares) / G[s, y]
            shares[s] += alphas[slot] - beta
        return np.negative(shares), -float(own)


def _products(rows: Floats, gradient: Floats) -> Floats:
    """rows @ gradient; the gradient is scaled, since float32 has few exponents."""
    size = float(np.abs(gradient).max(initial=0.0)) or 1.0
    return (rows @ (gradient / size).astype(np.float32)).astype(float) * size
