"""Rows that many binary problems share: each product serves all of them at once.

    table   (d [+ 1], P)   a weight column for each of L problems, the intercept in the last row; P ≥ L
    scores  (n, L)         X table
    adjoint (d [+ 1], P)   Xᵀ R, for residuals R (n, P)

L matrix–vector products read X from memory L times; a product with L columns reads it once. Blocks and the
order of every sum depend on the shapes alone, so the bits are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, final

import numpy as np

from ..engines import Crew
from ..kernels import compiled
from ..layouts import Full, as_matrix
from ..records import Csr, Floats, Rows, Scores, Structures

__all__ = ["SharedRows"]

BLOCK = 2**16
"""Numbers of a block of scores: half a megabyte, which the second-level cache holds."""

PARTS = 8
"""Private gradients of dense rows, added in order."""


@final
class SharedRows:
    """Dense or sparse rows (n, d) under L weight columns.

    >>> import numpy as np
    >>> from argmax.engines import Threads
    >>> from argmax.reductions.shared import SharedRows
    >>> shared = SharedRows(np.array([[1.0, 2.0], [0.0, 1.0]]), 2, True, Threads(1))
    >>> table = shared.table()
    >>> table[:, :2] = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    >>> shared.scores(table)
    array([[1.5, 2.5],
           [0.5, 1.5]])
    """

    def __init__(
        self,
        rows: Rows,
        problems: int,
        intercept: bool,
        crew: Crew,
        transposed: bool = True,
        fast: bool | None = None,
        precise: bool = True,
    ) -> None:
        n, d = rows.shape
        self.rows, self.crew, self.n = rows, crew, n
        sparse = isinstance(rows, Csr)
        entries = rows.entries if isinstance(rows, Csr) else n * d
        # Whoever solves many small problems decides for all of them; else the size does.
        self.fast = compiled(entries * problems) if fast is None else fast
        self.layout = Full(
            d, problems, intercept=intercept, sparse=sparse, precise=precise, compiled=self.fast
        )
        # Transposed rows pay where many products follow; a single one is scattered row by row.
        self.across = _transposed(rows) if isinstance(rows, Csr) and transposed else None
        self.parts = 1 if isinstance(rows, Csr) else min(PARTS, n, 1 + n * d * problems // BLOCK)
        size = max(BLOCK // max(problems, 1), 1)
        self.blocks = [slice(a, b) for a, b in pairwise([*range(0, n, size), n])]

    def table(self) -> Floats:
        """Zero weights (d [+ 1], P)."""
        return np.zeros((self.layout.features + int(self.layout.intercept), self.layout.width))

    def padded(self) -> Floats:
        """Memory for residuals (n, P), zero in the columns that are no problem's."""
        return np.zeros((self.n, self.layout.width))

    def wide(self, residual: Floats) -> Floats:
        """Residuals (n, L) with the columns that are no problem's."""
        result = self.padded()
        result[:, : residual.shape[1]] = residual
        return result

    def each(self, piece: Callable[[slice], Any]) -> list[Any]:
        """``piece`` of every block of rows, side by side."""
        return self.crew.run(lambda i: piece(self.blocks[i]), len(self.blocks))

    def scores(self, table: Floats) -> Floats:
        """X W + b (n, L)."""
        weights = self.layout.weights(table.ravel(), self.layout.product_dtype(self.rows))
        out = np.empty((self.n, self.layout.labels))

        def piece(block: slice) -> None:
            out[block] = self.layout.block_scores(Structures(self.rows[block]), weights).node

        self.each(piece)
        return out

    def adjoint(self, residual: Floats) -> Floats:
        """Xᵀ R (d [+ 1], P), the sums of R in the last row."""
        if self.across is None:
            return self._adjoint_in_parts(residual)
        return self._adjoint_sparse(self.across, residual)

    def squares(self, curvature: Floats) -> Floats:
        """Σ_i c_il x_ij² (d [+ 1], P)."""
        if self.across is None:
            total = self.table()
            total[: self.layout.features] = np.square(self.rows).T @ curvature  # type: ignore[arg-type]
            return self._with_sums(total, curvature)
        values = self.across.values
        squared = replace(self.across, values=None if values is None else np.square(values))
        return self._adjoint_sparse(squared, curvature)

    def _adjoint_in_parts(self, residual: Floats) -> Floats:
        bounds = np.linspace(0, self.n, self.parts + 1).astype(int)

        def part(p: int) -> Floats:
            out, rows = np.zeros(self.layout.size), slice(bounds[p], bounds[p + 1])
            node = np.ascontiguousarray(residual[rows, : self.layout.labels])
            self.layout.adjoint(Structures(self.rows[rows]), Scores(node), out)
            return out

        total, *rest = self.crew.run(part, len(bounds) - 1)
        for more in rest:
            total += more
        return np.asarray(total.reshape(-1, self.layout.width))

    def _adjoint_sparse(self, across: Csr, residual: Floats) -> Floats:
        flat, d = np.zeros(self.layout.size), self.layout.features
        # Columns of X in ranges of about equal entries, each with one owner.
        shares = np.linspace(across.indptr[0], across.indptr[-1], 4 * PARTS + 1)[1:-1]
        cuts = np.unique([0, *np.searchsorted(across.indptr, shares), d]).clip(0, d)

        def owner(i: int) -> None:
            columns = slice(int(cuts[i]), int(cuts[i + 1]))
            self.layout.adjoint_columns(across[columns], residual, flat, columns)

        self.crew.run(owner, len(cuts) - 1)
        return self._with_sums(flat.reshape(-1, self.layout.width), residual)

    def _with_sums(self, table: Floats, residual: Floats) -> Floats:
        if self.layout.intercept:
            table[-1] = residual.sum(axis=0)
        return table


def _transposed(rows: Csr) -> Csr:
    """The columns of sparse rows, as rows."""
    matrix = as_matrix(rows).tocsc()
    kind = rows.indices.dtype
    values = None if rows.values is None else matrix.data
    return Csr(matrix.indptr.astype(kind), matrix.indices.astype(kind), values, rows.shape[0])
