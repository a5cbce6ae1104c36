"""A weight for every feature and label.

    scores   S_i = Φ (Wᵀ x_i + b)           node i, one number for each label
    adjoint  W += x_i (Φᵀ r_i)ᵀ, b += Φᵀ r_i, and the same for the edges

    flat w = [ W (d, P) | b (P,) | edges (kinds, K, K) ]       feature-major: labels are contiguous

Nothing outside this file knows the shape of the flat w. Φ (K, m) holds features of the labels.
None means the identity, one weight vector for each label (m = K). Two classes are Φ = (−½, ½), m = 1:
their penalty, ``coef_`` and hinge are then the textbook's (see ``two_classes``).

P ≥ m is m rounded up to a width the kernels like; the columns beyond m are zero in w, in every gradient
and in every direction, so no solver needs to know them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from ..records import Csr, Floats, Rows, Scores, Structures
from .base import Layout, as_matrix, csr_arguments

__all__ = ["Full", "Weights", "padded", "two_classes"]


SLOTS = 4
"""Scores that may be kept at once: of the point, of a direction, marginals, residuals."""

TURNED = 512
"""Features whose weights are transposed together."""


def padded(m: int, sparse: bool = False) -> int:
    """How many columns are stored for m: 1, or a multiple of 4.

    For sparse rows 9 … 12 become 16: one wide tile reads the indices once, two narrow ones twice.

    >>> [padded(m) for m in (1, 3, 5, 10, 17, 26)]
    [1, 4, 8, 12, 20, 28]
    """
    if m == 1:
        return 1
    width = -(-m // 4) * 4
    return 16 if sparse and width == 12 else width


def two_classes() -> Floats:
    """Φ = (−½, ½): scores are (−½s, ½s), so softmax gives σ(s) and the penalty is that of one vector.

    The two-row softmax with penalty ½‖W‖² has at its optimum W = (−½w, ½w), hence ¼‖w‖²: its C is half
    of the textbook's for the same w.

    >>> from argmax.layouts import two_classes
    >>> two_classes().ravel()
    array([-0.5,  0.5])
    """
    return np.array([[-0.5], [0.5]])


@final
@dataclass(frozen=True, slots=True)
class Weights:
    """A flat w unpacked for one pass: W (d, P), b (m,), edge (kinds, K, K) or None. Views or casts.

    >>> import numpy as np
    >>> from argmax.layouts import Full
    >>> layout = Full(features=5, labels=3)
    >>> weights = layout.weights(np.zeros(layout.size))
    >>> weights.W.shape, weights.b.shape, weights.edge is None
    ((5, 4), (3,), True)
    """

    W: Floats
    b: Floats
    edge: Floats | None


@final
@dataclass(frozen=True, eq=False)
class Full(Layout):
    """Weights for d features and K labels, with or without an intercept and tables for the edges.

    >>> import numpy as np
    >>> from argmax.layouts import Full
    >>> from argmax.records import Structures
    >>> layout = Full(features=2, labels=3)
    >>> w = layout.pack(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0.0, 0.5, 0.0]))
    >>> layout.scores(Structures(np.array([[2.0, 1.0]])), w).node
    array([[2. , 1.5, 3. ]])
    """

    features: int  # d
    labels: int  # K
    label_features: Floats | None = None  # Φ (K, m)
    intercept: bool = True
    free_intercept: bool = True
    edge_kinds: int = 0
    edge_states: int | None = None  # rows and columns of an edge's table; None: K
    sparse: bool = False  # what the columns are padded for; any rows can be multiplied
    precise: bool = False  # multiply float32 rows in float64
    compiled: bool = False
    _shape: tuple[int, int, int, int] = field(init=False, repr=False)

    # Shape: asked for at every turn, hence computed once

    def __post_init__(self) -> None:
        phi = self.label_features
        columns = self.labels if phi is None else int(phi.shape[1])
        width = padded(columns, self.sparse)
        node_size = (self.features + int(self.intercept)) * width
        shape = columns, width, node_size, node_size + math.prod(self.edge_shape)
        object.__setattr__(self, "_shape", shape)

    @property
    def columns(self) -> int:
        """m, the number of weight columns."""
        return self._shape[0]

    @property
    def width(self) -> int:
        """P, the columns stored."""
        return self._shape[1]

    @property
    def node_size(self) -> int:
        """Length of the part of w that rows and intercept use."""
        return self._shape[2]

    @property
    def size(self) -> int:
        """Length of the flat w."""
        return self._shape[3]

    @property
    def edge_shape(self) -> tuple[int, int, int]:
        """Of the tables of all edges."""
        states = self.labels if self.edge_states is None else self.edge_states
        return self.edge_kinds, states, states

    @property
    def free(self) -> slice:
        """The entries that no penalty touches."""
        if not (self.intercept and self.free_intercept):
            return slice(0, 0)
        return slice(self.features * self.width, self.features * self.width + self.columns)

    @property
    def label_matrix(self) -> Floats:
        """Φ (K, m), written out where it is the identity."""
        return np.eye(self.labels) if self.label_features is None else self.label_features

    @property
    def kept(self) -> int:
        return SLOTS * self.labels

    @property
    def vectors(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    def rounded(self, sparse: bool, dtype: np.dtype[Any]) -> bool:
        return not (self.precise or sparse or dtype == np.float64)

    def spread(self, columns: Floats, edges: Floats, constant: float) -> Floats:
        result = np.full(self.size, constant)
        self.matrix(result)[: self.features] = columns[:, None]
        return result

    # Unpacked views

    def matrix(self, w: Floats) -> Floats:
        """The node weights as (d [+ 1], P), the intercept in the last row. A view."""
        return w[: self.node_size].reshape(-1, self.width)

    def weights(self, w: Floats, dtype: Any = np.float64) -> Weights:
        """w unpacked once for a whole pass, in the dtype of its products."""
        table = self.matrix(w).astype(dtype, copy=False)
        m = self.columns
        b = table[self.features, :m] if self.intercept else np.zeros(m, dtype)
        edge = None
        if self.edge_kinds:
            edge = w[self.node_size :].reshape(self.edge_shape)
        return Weights(np.ascontiguousarray(table[: self.features]), b, edge)

    def pack(
        self, coef: Floats, intercept: Floats | None = None, edge: Floats | None = None
    ) -> Floats:
        """The flat w of coef (m, d), intercept (m,) and edge tables."""
        w = np.zeros(self.size)
        table = self.matrix(w)
        table[: self.features, : self.columns] = np.asarray(coef).T
        if self.intercept and intercept is not None:
            table[self.features, : self.columns] = intercept
        if edge is not None:
            w[self.node_size :] = np.asarray(edge).ravel()
        return w

    def named(self, w: Floats) -> dict[str, Floats]:
        """The parts of w under the names users know: coef (m, d), intercept (m,), edge."""
        parts = self.weights(w)
        named = {"coef": _turned(parts.W, self.columns), "intercept": parts.b.copy()}
        if parts.edge is not None:
            named["edge"] = parts.edge.copy()
        return named

    # The linear map

    def scores(self, block: Structures, w: Floats) -> Scores:
        """Ψ w: the scores of a block."""
        return self.block_scores(block, self.weights(w, self.product_dtype(block.rows)))

    def product_dtype(self, rows: Rows) -> np.dtype[Any]:
        """Dense products run in the dtype of the rows, unless ``precise``. Sparse ones are bound by
        memory: always float64."""
        return np.dtype(np.float64) if self.precise or isinstance(rows, Csr) else rows.dtype

    def block_scores(self, block: Structures, weights: Weights) -> Scores:
        """The scores of a block, from weights unpacked before."""
        node = self._products(block.rows, weights)
        if self.label_features is not None:
            node = node @ self.label_features.T
        return Scores(node.astype(np.float64, copy=False), weights.edge, block.offsets)

    def compiled_for(self, rows: Rows) -> bool:
        """Whether kernels multiply such rows. A dense matrix with one vector is left to BLAS."""
        return self.compiled and (isinstance(rows, Csr) or self.width > 1)

    def _products(self, rows: Rows, weights: Weights) -> Floats:
        m = self.columns
        if not self.compiled_for(rows):
            return np.asarray(as_matrix(rows) @ weights.W[:, :m] + weights.b)
        from ..kernels import products

        node = np.empty((len(rows), m), weights.W.dtype)
        if isinstance(rows, Csr):
            products.csr_scores(*csr_arguments(rows), weights.W, weights.b, node)
        else:
            products.dense_scores(rows, weights.W, weights.b, node)
        return node

    def adjoint(self, block: Structures, residual: Scores, out: Floats) -> None:
        """out += Ψᵀ residual, for the rows of a block."""
        node = self.reduced(residual.node)
        self._add_products(block.rows, node, self.matrix(out))
        self._add_edges(residual.edge, out)

    def adjoint_shared(self, node: Floats, edge: Floats | None, out: Floats) -> None:
        """The part of the adjoint that no row of X enters: intercept and edge tables."""
        if self.intercept:
            self.matrix(out)[self.features, : self.columns] += node.sum(axis=0)
        self._add_edges(edge, out)

    def _add_edges(self, edge: Floats | None, out: Floats) -> None:
        if edge is not None and self.edge_kinds:
            out[self.node_size :] += edge.ravel()

    def reduced(self, node: Floats) -> Floats:
        """Φᵀ r for each node: residuals of the labels as residuals of the weight columns."""
        return node if self.label_features is None else node @ self.label_features

    def _add_products(self, rows: Rows, node: Floats, table: Floats) -> None:
        m, d = self.columns, self.features
        bias = table[d, :m] if self.intercept else table[0, :0]
        if not self.compiled_for(rows):
            table[:d, :m] += as_matrix(rows).T @ node.astype(self.product_dtype(rows), copy=False)
            bias += node.sum(axis=0) if self.intercept else 0.0
            return
        from ..kernels import products

        if isinstance(rows, Csr):
            products.csr_adjoint(*csr_arguments(rows), node, table[:d], bias)
        elif self.product_dtype(rows) == table.dtype:
            products.dense_adjoint(rows, node, table[:d], bias)
        else:  # float32 products: a block at a time, then added up in float64
            part = np.zeros((d, self.width), rows.dtype)
            products.dense_adjoint(rows, node.astype(rows.dtype), part, part[0, :0])
            table[:d] += part
            bias += node.sum(axis=0) if self.intercept else 0.0

    def adjoint_columns(self, piece: Rows, node: Floats, out: Floats, columns: slice) -> None:
        """W[columns] = (Xᵀ R)[columns]: one owner for each feature, who need not find zeros there.

        ``piece`` holds these columns: transposed sparse rows, or dense ones; ``node`` is (R, P), padded
        with zeros.
        """
        table = self.matrix(out)[columns]
        if not isinstance(piece, Csr):
            table[:] = piece.T @ node.astype(self.product_dtype(piece), copy=False)
        elif not self.compiled:
            table[:] = as_matrix(piece) @ node
        else:
            from ..kernels import products

            none = np.zeros(self.width)
            products.csr_scores(*csr_arguments(piece), node, none, table)

    # Sizes of feature vectors

    def norms(self, block: Structures) -> Floats:
        """A bound on the curvature of each example's dual step: ‖x_i‖², halved for two classes."""
        rows = block.rows
        scale = 1.0 if self.label_features is None else 0.5
        if not isinstance(rows, Csr):
            return np.asarray(scale * np.einsum("ij,ij->i", rows, rows, dtype=float))
        if rows.values is None:
            return scale * np.diff(rows.indptr).astype(float)
        if self.compiled:
            from ..kernels import products

            norms = np.empty(len(rows))
            products.csr_norms(rows.indptr, rows.values, 1, norms)
            return scale * norms
        squares = as_matrix(replace(rows, values=np.square(rows.values, dtype=float)))
        return np.asarray(scale * (squares @ np.ones(rows.width)))


def _turned(W: Floats, columns: int) -> Floats:
    """Some columns of a table (d, P) as rows, a few features at a time: what is read once stays in cache."""
    turned = np.empty((columns, len(W)))
    for first in range(0, len(W), TURNED):
        some = slice(first, first + TURNED)
        turned[:, some] = W[some, :columns].T
    return turned
