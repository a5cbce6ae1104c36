"""Many binary problems over the same rows: what is asked, and everything at one point of the weights.

    F_l(w, b) = C Σ_i s_il log(1 + exp(−m_il (⟨w, x_i⟩ + b))) + ½‖w‖²        l = 1 … L

with m_il = ±1 the bit of example i in problem l, and s_il its weight (0: takes no part). Gradients g_l, and
where the intercept's own gradient is zero, F_l − min F_l ≤ ½‖g_l‖².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import expit

from ..records import Floats, Ints
from .shared import SharedRows

__all__ = ["Bits", "State"]


@final
@dataclass(frozen=True)
class Bits:
    """What is learned: problem l has the bit ``code[y_i, l]`` for row i, with weight_i · share[y_i, l].

    >>> import numpy as np
    >>> from argmax.reductions.bits import Bits
    >>> bits = Bits(
    ...     np.array([[1.0, -1.0], [-1.0, 1.0]]), np.ones((2, 2)), 1.0, np.array([0, 1]), np.ones(1)
    ... )
    >>> bits.zero  # two rows, each log 2
    array([1.38629436, 1.38629436])
    """

    code: Floats  # (k, L) of −1, 0, 1
    share: Floats  # (k, L): the weight of a class in a problem, 0 where it takes no part
    C: float
    y: Ints  # (n,)
    weight: Floats  # (n,) or a single 1

    @property
    def totals(self) -> Floats:
        """C times the weight of each class in each problem (k, L)."""
        weight = np.broadcast_to(self.weight, len(self.y))
        counts = np.bincount(self.y, weights=weight, minlength=len(self.code))
        return np.asarray(self.C * counts[:, None] * self.share)

    @property
    def zero(self) -> Floats:
        """F_l(0) = log 2 · Σ_i s_il (L,): what ``tol`` is relative to."""
        return np.asarray(np.log(2.0) * self.totals.sum(axis=0))

    @property
    def log_odds(self) -> Floats:
        """log of the weights of ones over those of zeros (L,): the best intercept without features."""
        totals = self.totals
        ones, zeros = (np.where(self.code == bit, totals, 0.0).sum(axis=0) for bit in (1, -1))
        return np.asarray(np.log(ones) - np.log(zeros))

    def evaluate(self, fast: bool, rows: slice, S: Floats, R: Floats, D: Floats) -> Floats:
        """Values (L,) of some rows with scores S; fills their residuals and curvatures."""
        weight = self.weight if len(self.weight) == 1 else self.weight[rows]
        value, y = np.empty(S.shape[1]), self.y[rows]
        if fast:
            from ..kernels import bits

            bits.evaluate(S, self.code, self.share, self.C, y, weight, R, D, value)
            return value
        m, a, L = self.code[y], self.C * self.share[y] * weight[:, None], S.shape[1]
        z = m * S
        wrong = expit(-z)
        R[:, :L] = -a * m * wrong
        D[:, :L] = a * wrong * expit(z)
        return np.asarray((a * np.logaddexp(0.0, -z)).sum(axis=0))


@final
class State:
    """Weights, scores, and everything at them."""

    def __init__(self, shared: SharedRows, bits: Bits, table: Floats, scores: Floats) -> None:
        self.shared, self.bits, self.table, self.scores = shared, bits, table, scores
        self.R, self.D, self.d = shared.padded(), shared.padded(), shared.layout.features
        self.evaluate()

    def evaluate(self) -> None:
        """Values (P,), residuals and curvatures at the scores."""
        L, fast = self.scores.shape[1], self.shared.fast

        def piece(rows: slice) -> Floats:
            return self.bits.evaluate(fast, rows, self.scores[rows], self.R[rows], self.D[rows])

        self.value = 0.5 * np.square(self.table[: self.d]).sum(axis=0)
        self.value[:L] += sum(self.shared.each(piece))

    def differentiate(self) -> None:
        """Gradients (d [+ 1], P): the one product of a step besides those of its directions."""
        self.gradient = self.shared.adjoint(self.R)
        self.gradient[: self.d] += self.table[: self.d]

    @property
    def gap(self) -> Floats:
        """½‖g‖² over the penalised weights (L,): a bound once the intercept's own gradient is zero."""
        total = np.square(self.gradient[: self.d]).sum(axis=0)
        return np.asarray(0.5 * total[: self.scores.shape[1]])

    def settle(self) -> None:
        """Newton on the intercepts alone, until their gradients vanish. Needs no product with X."""
        L = self.scores.shape[1]
        if not self.shared.layout.intercept:
            return
        weight = self.bits.totals.sum(axis=0)
        for _ in range(30):
            slope, bend = self.R[:, :L].sum(axis=0), self.D[:, :L].sum(axis=0)
            if (np.abs(slope) <= 1e-12 * weight).all():
                break
            step = np.clip(-slope / np.maximum(bend, 1e-12 * weight), -4.0, 4.0)
            self.table[-1, :L] += step
            self.scores += step
            self.evaluate()
        self.differentiate()
