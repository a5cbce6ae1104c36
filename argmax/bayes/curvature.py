"""How the log loss of softmax regression curves around the mode: sums over the rows, nothing inverted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from ..records import Floats

__all__ = ["Curvature", "Rows"]


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """x̃ of all examples: dense and measured from the mean, or sparse with the mean taken off by algebra."""

    stored: Any  # (n, p) dense, or sparse
    centre: Floats  # (p,) what is still to be taken off: zero for dense rows

    @classmethod
    def of(cls, X: Any, centre: Floats, intercept: bool) -> Rows:
        """Of X (n, d), measured from ``centre`` (d,)."""
        ones = np.ones((X.shape[0], 1))
        tail = np.zeros(int(intercept))
        if sp.issparse(X):
            stored = sp.hstack([X, sp.csr_array(ones)], format="csr") if intercept else X.tocsr()
            return cls(stored, np.append(centre, tail))
        X = X - centre
        stored = np.hstack([X, ones]) if intercept else X
        return cls(stored, np.zeros(stored.shape[1]))

    def dense(self, rows: slice) -> Floats:
        """Some rows (b, p)."""
        part = self.stored[rows]
        return np.asarray(part.toarray() - self.centre if sp.issparse(part) else part)

    def dot(self, A: Floats) -> Floats:
        """x̃ᵀA of every row: (n, m) from (m, p)."""
        return np.asarray(self.stored @ A.T - A @ self.centre)

    def adjoint(self, residual: Floats) -> Floats:
        """Σ_i residual_i x̃_iᵀ: (m, p) from (n, m)."""
        sums = (self.stored.T @ residual).T
        return np.asarray(sums - np.outer(residual.sum(axis=0), self.centre))

    def gram(self, weight: Floats) -> Floats:
        """Σ_i weight_i x̃_i x̃_iᵀ (p, p)."""
        if not sp.issparse(self.stored):
            return np.asarray((self.stored * weight[:, None]).T @ self.stored)
        sums = (self.stored.T @ self.stored.multiply(weight[:, None])).toarray()
        shared = np.outer(self.stored.T @ weight, self.centre)
        return np.asarray(
            sums - shared - shared.T + weight.sum() * np.outer(self.centre, self.centre)
        )

    def squares(self, weights: Floats) -> Floats:
        """Σ_i weights_i x̃_i² (m, p) from (n, m)."""
        square = self.stored.multiply(self.stored) if sp.issparse(self.stored) else self.stored**2
        total, sums = weights.sum(axis=0)[:, None], (self.stored.T @ weights).T
        return np.asarray((square.T @ weights).T - 2 * sums * self.centre + total * self.centre**2)


@final
@dataclass(frozen=True, eq=False)
class Curvature:
    """What the log loss looks like around the mode: all that a Laplace approximation is made of."""

    rows: Rows
    weight: Floats  # (n,)
    probabilities: Floats  # (n, k)
    precision: float  # 1/C
    intercept: bool

    @property
    def blocks(self) -> int:
        """m: rows of the weights."""
        k = self.probabilities.shape[1]
        return 1 if k == 2 else k

    @property
    def features(self) -> int:
        """d: penalised columns."""
        return len(self.rows.centre) - self.intercept

    def pair(self, a: int, b: int) -> Floats:
        """s_i S_i[a, b] of every example (n,)."""
        p = self.probabilities
        if self.blocks == 1:
            return np.asarray(self.weight * p[:, 0] * p[:, 1])
        return np.asarray(self.weight * p[:, a] * ((a == b) - p[:, b]))

    def diagonal(self) -> Floats:
        """s_i S_i[a, a] (n, m)."""
        return np.stack([self.pair(a, a) for a in range(self.blocks)], axis=1)

    def total(self) -> Floats:
        """Σ_i s_i S_i (m, m)."""
        m = range(self.blocks)
        return np.array([[self.pair(a, b).sum() for b in m] for a in m])

    def times(self, A: Floats) -> Floats:
        """The sum in H times weights A (m, d) of the features."""
        padded = np.hstack([A, np.zeros((len(A), int(self.intercept)))])
        steps, p = self.rows.dot(padded), self.probabilities
        if self.blocks == 1:
            bent = p[:, :1] * p[:, 1:] * steps
        else:
            bent = p * (steps - (p * steps).sum(axis=1, keepdims=True))
        return self.rows.adjoint(self.weight[:, None] * bent)[:, : self.features]

    def unmoved(self) -> Floats:
        """A unit prior on what moves all scores together (m, m); there is no such thing for two classes."""
        k = self.blocks
        return np.zeros((1, 1)) if k == 1 else np.full((k, k), 1 / k)
