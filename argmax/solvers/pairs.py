"""What L-BFGS remembers: the last m pairs s = w₊ − w, y = g₊ − g, and −H g from them.

    Pairs      the two-loop recursion, for any H₀ (Nocedal and Wright 2006, algorithm 7.4)
    Products   the same for a diagonal H₀, from inner products alone: two sweeps over the pairs instead of 4m

In ``Products`` the direction is a combination of the s_i, the y_i and g, and the recursion needs of them only
their inner products: [S Y]ᵀ g in one sweep, then the combination in another, ranges of weights side by side
(Chen, Wang and Zhou 2014, NIPS). With long w that is most of what L-BFGS costs besides the passes. Pairs are
kept in float32: half the memory and half the time, and as curvature they are estimates in any case. Of long
ones only the upper halves are kept (a sign, the exponent and seven bits): all products are those of the
rounded pairs, so that H is as symmetric and positive as before, and fits take as many passes.
"""

from __future__ import annotations

from collections import deque
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..objective import RANGE, Objective, Point
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
            self._add(kept[f"s{i}"], kept[f"y{i}"])

    def add(self, before: Point, after: Point) -> None:
        combined = self.precondition.objective.combined
        s = combined(1.0, after.w, -1.0, before.w)
        self._add(s, combined(1.0, after.gradient, -1.0, before.gradient))

    def _add(self, s: Floats, y: Floats) -> None:
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
    """Pairs for H₀ = γ D⁻¹, D diagonal, in one array (2m, n): row 2j is s, row 2j + 1 is y of slot j.

    They are kept in the scale of v = √D w, where H₀ = γ I. Given D (n,), or None for D = I.
    """

    def __init__(self, objective: Objective, memory: int, diagonal: Floats | None = None) -> None:
        self.objective, self.memory = objective, memory
        kind = np.float32 if objective.size <= RANGE else np.uint16
        self._root = np.empty(1 if diagonal is None else objective.size, kind)
        self._rows = np.empty((2 * memory, objective.size), kind)
        _write(np.ones(1) if diagonal is None else 1.0 / np.sqrt(diagonal), self._root)
        self._gram = np.zeros((2 * memory, 2 * memory))
        self._slots: list[int] = []  # from the oldest to the newest

    def __bool__(self) -> bool:
        return bool(self._slots)

    def clear(self) -> None:
        self._slots.clear()

    def values(self) -> Values:
        """For a snapshot: products as well, which other shapes of the same sums would round otherwise."""
        used = 2 * len(self._slots)
        slots, rows = np.array(self._slots, np.int64), np.array(_numbers(self._rows[:used]))
        root = _numbers(self._root)
        return {"pairs": rows, "gram": self._gram.copy(), "slots": slots, "root": root}

    def restore(self, kept: Values) -> None:
        """The pairs of a snapshot."""
        _write(kept["pairs"], self._rows[: len(kept["pairs"])])
        self._gram[:] = kept["gram"]
        self._root = np.empty(len(kept["root"]), self._rows.dtype)
        _write(kept["root"], self._root)
        self._slots = kept["slots"].tolist()

    def add(self, before: Point, after: Point) -> None:
        slots = self._slots
        slot = slots.pop(0) if len(slots) == self.memory else len(slots)
        s, y, used, rows = 2 * slot, 2 * slot + 1, 2 * len(slots) + 2, self._rows
        here, there = before.gradient, after.gradient  # computed now, by sweeps of their own

        def piece(part: slice) -> Floats:
            root = self._scale(part)
            _write((after.w[part] - before.w[part]) / root, rows[s, part])
            _write((there[part] - here[part]) * root, rows[y, part])
            own = [_numbers(rows[slot, part]) for slot in (s, y)]
            others = (_numbers(row) for row in rows[:used, part])
            return np.array([[float(one @ other) for one in own] for other in others]).T

        products = sum(self.objective.sweep(piece))
        G = self._gram
        G[s : y + 1, :used], G[:used, s : y + 1] = products, products.T
        if G[s, y] > LEAST * (G[s, s] * G[y, y]) ** 0.5:
            slots.append(slot)
        else:
            self.clear()  # an empty place in the middle would not be worth its code

    def rescale(self, diagonal: Floats) -> None:
        """Go on with another D (n,); the pairs stay."""
        used, rows, new = 2 * len(self._slots), self._rows, np.empty_like(self._rows[0])
        _write(1.0 / np.sqrt(diagonal), new)

        def piece(part: slice) -> Floats:
            change = _numbers(new[part]) / self._scale(part)
            for i, row in enumerate(rows[:used, part]):
                _write(_numbers(row) * change if i % 2 else _numbers(row) / change, row)
            own = [_numbers(row) for row in rows[:used, part]]
            return np.array([[float(one @ other) for other in own] for one in own])

        products = self.objective.sweep(piece)
        self._gram[:used, :used] = sum(products) if used else 0.0
        self._root = new

    def direction(self, gradient: Floats) -> Floats:
        """−H · gradient; a step of length 1 at most, as long as nothing is known."""
        out = np.empty_like(gradient)
        if not self._slots:
            length = self.objective.dot(gradient, gradient) ** 0.5

            def first(part: slice) -> None:
                root = self._scale(part).astype(float)
                share = root * root if len(self._root) > 1 else 1.0 / max(length, 1.0)
                np.multiply(-share, gradient[part], out=out[part])

            self.objective.sweep(first)
            return out
        used, rows = 2 * len(self._slots), self._rows

        def products(part: slice) -> Floats:
            return _products(rows[:used, part], gradient[part] * self._scale(part))

        shares, own = self._recursion(sum(self.objective.sweep(products)))
        few = shares.astype(np.float32)

        def piece(part: slice) -> None:
            root = self._scale(part)
            np.multiply(gradient[part], own * root, out=out[part])
            for share, row in zip(few, rows[:used, part], strict=True):
                out[part] += share * _numbers(row)
            out[part] *= root

        self.objective.sweep(piece)
        return out

    def _scale(self, part: slice) -> Floats:
        """1/√D of a range of weights."""
        return _numbers(self._root if len(self._root) == 1 else self._root[part])

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


HALF = 16
"""Bits of the lower half of a float32."""


def _write(numbers: Floats, rows: NDArray[Any]) -> None:
    """Numbers into rows that hold them whole, or their upper halves: rounded to the nearest."""
    if rows.dtype == np.float32:
        rows[:] = numbers
        return
    bits = np.asarray(numbers, np.float32).view(np.uint32)
    rows[:] = (bits + np.uint32(1 << HALF - 1)) >> HALF


def _numbers(rows: NDArray[Any]) -> Floats:
    """What ``_write`` wrote, in float32."""
    if rows.dtype == np.float32:
        return rows
    return np.asarray(np.left_shift(rows, HALF, dtype=np.uint32).view(np.float32))


def _products(rows: NDArray[Any], gradient: Floats) -> Floats:
    """rows @ gradient; the gradient is scaled, since float32 has few exponents."""
    size = float(np.abs(gradient).max(initial=0.0)) or 1.0
    scaled = (gradient / size).astype(np.float32)
    return np.array([float(_numbers(row) @ scaled) for row in rows]) * size
