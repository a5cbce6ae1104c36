"""The Gaussian at the mode of softmax regression, in four sizes.

Scores are s = Φ A x̃, with A (m, p) the weights: m = k rows for k ≥ 3 classes (Φ the identity), one row for
two (Φ = (−½, ½)), and x̃ the row measured from the mean of all rows, with a 1 behind it for the intercept. At
the mode, with p_i the probabilities and s_i the weight of example i,

    H = Σ_i s_i S_i ⊗ x̃_i x̃_iᵀ + I/C          S_i = Φᵀ (diag p_i − p_i p_iᵀ) Φ        posterior N(mode, H⁻¹)

    full        H as it is                                   (mp)² numbers
    kron        (Σ s_i S_i) ⊗ (mean of x̃x̃ᵀ) + I/C            d² + k² numbers, by two eigenproblems
    low_rank    the largest eigenvalues of the sum, and I/C   rank · md numbers; too wide, never too narrow
    diag        the diagonal of H                             md numbers

The intercept has a flat prior, as in the fit; in the last three it is a block of its own, which costs little
once rows are measured from their mean. What moves all scores of a row together moves no probability: a unit
prior on it keeps H invertible.

References: MacKay, The evidence framework applied to classification networks, Neural Computation 4 (1992);
Ritter, Botev, Barber, A scalable Laplace approximation for neural networks, ICLR 2018 (kron).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import final

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.sparse.linalg import LinearOperator, eigsh

from .. import checks
from ..errors import NumericalFailure
from ..records import Floats
from .curvature import Curvature

__all__ = ["Diagonal", "Full", "Kronecker", "Laplace", "LowRank"]

VANISHED = (
    "the log loss is flat around its minimum: the classes are so far apart that the data do not say where "
    "the intercept is. Use a smaller C, or fit_intercept=False."
)


class Laplace(ABC):
    """N(0, H⁻¹): how far the weights A (m, p) may lie from the mode."""

    log_determinant: float
    """log det H."""

    @abstractmethod
    def covariance(self, rows: Floats) -> Floats:
        """Covariance of A x̃ for each of the rows (b, p): (b, m, m)."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """n draws of A − mode (n, m, p)."""


@final
class Full(Laplace):
    """H as it is, by its Cholesky factor."""

    def __init__(self, at: Curvature) -> None:
        m, p = at.blocks, at.features + at.intercept
        checks.memory(
            24.0 * (m * p) ** 2,
            f"a full covariance of {m * p} weights",
            "Use structure='kron', 'low_rank' or 'diag'.",
        )
        H = np.empty((m, p, m, p))
        for a in range(m):
            for b in range(a, m):
                H[a, :, b, :] = H[b, :, a, :] = at.rows.gram(at.pair(a, b))
        for a in range(m):
            H[a, range(at.features), a, range(at.features)] += at.precision
        if at.intercept:
            H[:, -1, :, -1] += at.unmoved()
        self._shape = m, p
        try:
            self._factor = cho_factor(H.reshape(m * p, m * p), lower=True)[0]
        except np.linalg.LinAlgError as error:
            raise NumericalFailure(VANISHED) from error
        self._inverse: Floats | None = None
        self.log_determinant = 2 * float(np.log(np.diag(self._factor)).sum())

    @property
    def inverse(self) -> Floats:
        """H⁻¹ (m, p, m, p), computed when the first row asks: the search for C never does."""
        if self._inverse is None:
            size = len(self._factor)
            found = cho_solve((self._factor, True), np.eye(size))
            self._inverse = found.reshape(*self._shape, *self._shape)
        return self._inverse

    def covariance(self, rows: Floats) -> Floats:
        m, _ = self._shape
        out = np.empty((len(rows), m, m))
        for a in range(m):
            for b in range(a, m):
                form = ((rows @ self.inverse[a, :, b, :]) * rows).sum(axis=1)
                out[:, a, b] = out[:, b, a] = form
        return out

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        z = rng.standard_normal((len(self._factor), n))
        drawn = solve_triangular(self._factor, z, lower=True, trans="T")
        return np.asarray(drawn.T.reshape(n, *self._shape))


class _Apart(Laplace):
    """Weights of the features by some approximation, and the intercept as a block of its own."""

    def __init__(self, at: Curvature) -> None:
        self._d = at.features
        self._root: Floats | None = None
        self.log_determinant = self._approximate(at)
        if at.intercept:
            values, vectors = np.linalg.eigh(at.total() + at.unmoved())
            if values.min() <= 0.0:
                raise NumericalFailure(VANISHED)
            self._root = vectors / np.sqrt(values)
            self.log_determinant += float(np.log(values).sum())

    @abstractmethod
    def _approximate(self, at: Curvature) -> float:
        """Keep what is needed of the features' part of H; its log determinant."""

    @abstractmethod
    def _spread(self, X: Floats) -> Floats:
        """Covariance of the features' part of the scores (b, m, m)."""

    @abstractmethod
    def _draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draws of the features' weights (n, m, d)."""

    def covariance(self, rows: Floats) -> Floats:
        spread = self._spread(rows[:, : self._d])
        return spread if self._root is None else spread + self._root @ self._root.T

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        drawn = self._draws(n, rng)
        if self._root is None:
            return drawn
        own = rng.standard_normal((n, len(self._root))) @ self._root.T
        return np.concatenate([drawn, own[:, :, None]], axis=2)


@final
class Kronecker(_Apart):
    """(Σ s_i S_i) ⊗ (mean of x̃x̃ᵀ) + I/C, along the axes of both factors."""

    def _approximate(self, at: Curvature) -> float:
        gram = at.rows.gram(at.weight)[: at.features, : at.features] / at.weight.sum()
        (g, self._classes), (a, self._features) = np.linalg.eigh(at.total()), np.linalg.eigh(gram)
        self._precision = np.maximum(np.outer(g, a), 0.0) + at.precision  # (m, d)
        return float(np.log(self._precision).sum())

    def _spread(self, X: Floats) -> Floats:
        along = (X @ self._features) ** 2 @ (1 / self._precision).T  # (b, m)
        return np.asarray((self._classes * along[:, None, :]) @ self._classes.T)

    def _draws(self, n: int, rng: np.random.Generator) -> Floats:
        z = rng.standard_normal((n, *self._precision.shape)) / np.sqrt(self._precision)
        return np.asarray(self._classes @ z @ self._features.T)


@final
class Diagonal(_Apart):
    """Every weight of a feature for itself."""

    def _approximate(self, at: Curvature) -> float:
        squares = at.rows.squares(at.diagonal())[:, : at.features]
        self._precision = np.maximum(squares, 0.0) + at.precision  # (m, d)
        return float(np.log(self._precision).sum())

    def _spread(self, X: Floats) -> Floats:
        own = X**2 @ (1 / self._precision).T  # (b, m)
        return np.asarray(own[:, :, None] * np.eye(len(self._precision)))

    def _draws(self, n: int, rng: np.random.Generator) -> Floats:
        z = rng.standard_normal((n, *self._precision.shape))
        return np.asarray(z / np.sqrt(self._precision))


@final
class LowRank(_Apart):
    """The directions that the data say most about; in all others only the prior speaks."""

    def __init__(self, at: Curvature, rank: int) -> None:
        self._rank = rank
        super().__init__(at)

    def _approximate(self, at: Curvature) -> float:
        m, d = at.blocks, at.features
        size, self._prior = m * d, at.precision
        rank = min(self._rank, size)
        if rank >= size - 1:  # Lanczos finds fewer than all
            columns = [at.times(unit.reshape(m, d)).ravel() for unit in np.eye(size)]
            values, vectors = np.linalg.eigh(np.array(columns))
        else:
            sums = LinearOperator(
                (size, size), matvec=lambda v: at.times(v.reshape(m, d)).ravel(), dtype=float
            )
            start = np.random.default_rng(0).standard_normal(size)
            values, vectors = eigsh(sums, k=rank, which="LA", v0=start)
        self._values = np.maximum(values[-rank:], 0.0)
        self._axes = vectors[:, -rank:].T.reshape(rank, m, d)
        known = np.log(self._values + self._prior).sum()
        return float(known + (size - rank) * math.log(self._prior))

    def _spread(self, X: Floats) -> Floats:
        kept = self._values / (self._values + self._prior)
        along = np.einsum("bd,rmd->brm", X, self._axes)
        free = np.eye(self._axes.shape[1]) * (X**2).sum(axis=1)[:, None, None]
        taken = (along * kept[:, None]).swapaxes(1, 2) @ along
        return np.asarray((free - taken) / self._prior)

    def _draws(self, n: int, rng: np.random.Generator) -> Floats:
        z = rng.standard_normal((n, *self._axes.shape[1:])) / math.sqrt(self._prior)
        taken = 1 - np.sqrt(self._prior / (self._values + self._prior))
        along = np.einsum("nmd,rmd->nr", z, self._axes)
        return np.asarray(z - np.einsum("nr,rmd->nmd", along * taken, self._axes))
