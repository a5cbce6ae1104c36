"""An approximate inverse Hessian that all weight columns share.

For a multinomial loss  ∇²F = C Σ_i s_i (diag p_i − p_i p_iᵀ) ⊗ x̃_i x̃_iᵀ + l2 I,  and Böhning (1992) bounds
the first factor by ½(I − 11ᵀ/K) whatever p. Replacing it by a number c_i leaves one (d+1, d+1) matrix

    A = C Σ_i c_i x̃_i x̃_iᵀ + l2 I        c_i = ½ s_i (the bound),  or  s_i (1 − ‖p_i‖²)/(K − 1) (its mean)

whose Cholesky factor serves every label. It makes the scale of the columns irrelevant. The mean curvature
at the current point is far sharper once the model fits, hence ``refresh``. Sums may run over a sample of
the rows, and with many features only the diagonal of A is used. A sample can miss the few rows in which rare
columns go together; a step that leads far too far shows it, and ``refine`` takes all rows from then on.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .. import passes, surveys
from ..engines import limits
from ..objective import RANGE, Objective, Point
from ..records import Floats
from .report import Values

__all__ = ["Preconditioner", "diagonal_of_columns"]

SINGLE_FEATURES = 500
"""From so many features on the factor is float32, half as large and half as long to read: an estimate that is
wrong in its seventh digit is no worse. Where rounding makes it indefinite, float64 is used after all."""

LARGEST = float(np.finfo(np.float32).tiny) ** -1.5
"""Curvature from which on its inverse root, and squares of that, leave the range of float32."""

SOLVED = 1e8
"""Multiply-adds of columns that are solved for at once, before the clock is looked at."""

FACTOR_FEATURES = 3000
"""Beyond so many features the factor (d² memory, d³/3 work) gives way to its diagonal."""

UNLIKE = 100.0
"""Sizes of entries that differ by such a factor from column to column are on unlike scales."""

VARIANCE = 0.25
"""No indicator has a larger variance."""


def diagonal_of_columns(objective: Objective) -> Floats | None:
    """About the curvature by each weight, C ¼ Σ s_i x² + l2, where columns are on unlike scales; else None.

    For spaces without second derivatives. A scale is the root of the mean x² over entries that are not zero,
    and that of the constants 1 of starts and transitions: how often a column is set does not matter, and
    indicators have one scale.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = objective.fold(surveys.squares)
        squares, counts = np.hstack([sums["rows"], sums["edges"]])
        means = np.append(squares[squares > 0] / counts[squares > 0], 1.0)
        if not means.max() > UNLIKE**2 * means.min():
            return None
        given = sums["rows"][0], sums["edges"][0], sums["nodes"]
        diagonal = VARIANCE * objective.C * objective.problem.layout.spread(*given) + objective.l2
    diagonal[diagonal <= 0.0] = 1.0  # columns of zeros, without a penalty
    return diagonal if diagonal.max() < LARGEST else None


@final
class Preconditioner:
    """v ↦ A⁻¹ v on the node weights; 1/l2 on edge tables."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        if not objective.curved:
            self.kind, self.every = "none", 1
            return
        layout = objective.problem.full
        self.side = layout.features + int(layout.intercept)
        n = sum(len(shard) for shard in objective.shards)
        # With fewer rows than features A is mostly ridge, and its factor costs more than the passes.
        worth = layout.features <= FACTOR_FEATURES and (n >= self.side or self.side <= 100)
        dense = worth and not objective.sparse
        self.kind = "factor" if dense else "diagonal"
        # A sample of five rows a feature, and never less than some thousands, pins A well enough.
        self.every = max(1, n // max(5 * self.side, 4000)) if self.kind == "factor" else 1
        self.single = self.side >= SINGLE_FEATURES
        self.careful = False  # all rows, in float64
        self._factor: Any = None

    def refine(self, point: Point) -> bool:
        """Form A anew from all rows, in float64; False if it is so already, or no rows were left out."""
        if self.kind != "factor" or self.careful:
            return False
        self.careful, self.every, self.single = True, 1, False
        self.refresh(point, mean=False)
        return True

    def refresh(self, point: Point, mean: bool) -> None:
        """Form A anew: from the mean curvature at ``point``, or from the bound."""
        if self.kind == "none":
            return
        objective, layout = self.objective, self.objective.problem.full
        ridge = np.full(self.side, objective.l2 or 1e-8)
        if layout.intercept and layout.free_intercept:
            ridge[-1] = 0.0
        if self.kind == "diagonal":
            sums = objective.fold(passes.diagonal, point.stamp, mean)
            self._inverse = 1.0 / np.maximum(objective.C * sums["diagonal"] + ridge, 1e-300)
            return
        self._factor = None  # so that two never exist at once
        # The bound is crude in any case.
        every = self.every if mean or self.careful else 2 * self.every
        sums = objective.fold(passes.gram, point.stamp, every, mean, self.single)
        A = sums["gram"]
        with np.errstate(over="ignore"):
            A *= objective.C * objective.weight / sums["rows"]
        if every > 1:
            # A column that is set in few rows, none of them in the sample, must not pass for an empty one.
            whole = objective.C * objective.fold(passes.diagonal, point.stamp, mean)["diagonal"]
            places = np.diag_indices(self.side)
            A[places] = np.maximum(A[places], whole)
        if self.single and not np.isfinite(A.diagonal()).all():  # more than float32 can hold
            del sums, A
            self._in_double(point, mean)
            return
        A[np.diag_indices(self.side)] += ridge
        # Unit diagonal first: columns on wildly different scales would ruin the factor's digits.
        tiny = np.finfo(A.dtype).tiny
        self._scale = (1.0 / np.sqrt(np.maximum(A.diagonal(), tiny))).astype(A.dtype)
        A *= self._scale[:, None]
        A *= self._scale
        A[np.diag_indices(self.side)] += 1e-6 if self.single else 1e-10
        try:  # the transpose has LAPACK's order: factored in place, without a copy
            self._factor = cho_factor(A.T, lower=False, overwrite_a=True, check_finite=False)
        except LinAlgError:  # repeated columns, or a float32 sum, may lose definiteness
            if self.single:
                del sums, A
                self._in_double(point, mean)
            else:
                self.kind, self._inverse = "diagonal", self._scale**2

    def _in_double(self, point: Point, mean: bool) -> None:
        """Form A anew, now and later in float64."""
        self.single = False
        self.refresh(point, mean)

    def values(self) -> Values:
        """For a snapshot: not the point where A was formed, whose scores may have been shifted, but A."""
        if self.kind == "factor":
            kept = {"factor": self._factor[0].T, "scale": self._scale, "careful": self.careful}
            return {"kind": self.kind, **kept}
        return {"kind": self.kind} | ({"inverse": self._inverse} if self.kind == "diagonal" else {})

    def restore(self, kept: Values) -> None:
        """A as a snapshot has it."""
        self.kind = kept["kind"]
        if self.kind == "factor":
            self._factor, self._scale = (kept["factor"].T, False), kept["scale"]
            self.single = self._scale.dtype == np.float32
            if kept.get("careful", False):
                self.careful, self.every = True, 1
        elif self.kind == "diagonal":
            self._inverse = kept["inverse"]

    def __call__(self, v: Floats) -> Floats:
        """A⁻¹ v."""
        return self.several(v)[0]

    def several(self, *vectors: Floats) -> list[Floats]:
        """A⁻¹ v for each v; the factor is read once for all of them."""
        ridge = max(self.objective.l2, 1e-8)
        if self.kind == "none":
            return [v / ridge for v in vectors]
        layout, out = self.objective.problem.full, [np.empty_like(v) for v in vectors]
        rest = slice(layout.node_size, layout.size)
        for v, result in zip(vectors, out, strict=True):
            np.divide(v[rest], ridge, out=result[rest])
        if self.kind == "diagonal":
            for v, result in zip(vectors, out, strict=True):
                self._scaled(layout.matrix(v), layout.matrix(result))
        elif self.kind == "factor":
            solved = self._solved(self._stacked([layout.matrix(v) for v in vectors]))
            for i, result in enumerate(out):
                some = solved[:, i * layout.width : (i + 1) * layout.width]
                np.multiply(some, self._scale[:, None], out=layout.matrix(result))
        return out

    def _stacked(self, tables: list[Floats]) -> Floats:
        """The tables side by side, scaled, in the factor's dtype."""
        width = tables[0].shape[1]
        stacked = np.empty((self.side, len(tables) * width), self._scale.dtype)
        for i, table in enumerate(tables):
            np.multiply(
                table,
                self._scale[:, None],
                out=stacked[:, i * width : (i + 1) * width],
                casting="same_kind",
            )
        return stacked

    def _solved(self, stacked: Floats) -> Floats:
        """The factored matrix, inverted, times some columns; their memory may be used."""
        columns = 4 * max(1, int(SOLVED / (4 * self.side**2)))
        if stacked.shape[1] > columns:
            for first in range(0, stacked.shape[1], columns):
                limits.look()
                some = stacked[:, first : first + columns]
                some[:] = self._solved(np.ascontiguousarray(some))
            return stacked
        if not self.objective.problem.full.compiled or stacked.shape[1] % 4:
            return np.asarray(cho_solve(self._factor, stacked, check_finite=False))
        from ..kernels import triangular

        triangular.solve(self._factor[0].T, stacked)
        return stacked

    def _scaled(self, table: Floats, out: Floats) -> None:
        """The rows of a table times the inverse diagonal, ranges of them side by side."""
        if table.size <= RANGE:
            np.multiply(table, self._inverse[:, None], out=out)
            return
        from ..kernels import vectors

        rows = max(RANGE // table.shape[1], 1)

        def piece(i: int) -> None:
            some = slice(i * rows, (i + 1) * rows)
            vectors.scale_rows(table[some], self._inverse[some], out[some])

        self.objective.engine.share(piece, -(-len(table) // rows))
