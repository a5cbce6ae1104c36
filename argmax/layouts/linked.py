"""Weights of nodes and of edges: what graphs are labelled with.

    nodes   S_v = Wᵀ x_v + b                       (K,) for each node
    edges   S_uv = Σ_j z_uv,j V_j                  (K, K) for each edge with features z; 1 where it has none

    flat w = [ W and b, as in ``full`` | V (e, K, K), or (e,) for Potts ]

Potts: V_j = v_j I, one number for equal labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..records import Floats, Scores, Structures
from .base import Layout, as_matrix
from .full import Full

__all__ = ["Linked"]


@final
@dataclass(frozen=True, eq=False)
class Linked(Layout):
    """Weights for d features of nodes, e features of edges and K labels. Nothing is free of the penalty.

    >>> import numpy as np
    >>> from argmax.layouts import Linked
    >>> from argmax.records import Structures
    >>> layout = Linked(features=1, labels=2, edge_features=1, potts=True, intercept=False)
    >>> w = np.array([0.0, 1.0, 0.0, 0.0, 0.5])  # W is padded to 4 columns
    >>> pair = Structures(np.array([[1.0], [3.0]]), np.array([0, 2]), np.array([[0, 1]]))
    >>> scores = layout.scores(pair, w)
    >>> scores.node, scores.edge
    (array([[0., 1.],
           [0., 3.]]), array([[[0.5, 0. ],
            [0. , 0.5]]]))
    """

    features: int  # d
    labels: int  # K
    edge_features: int = 1  # e
    potts: bool = False
    intercept: bool = True
    sparse: bool = False
    precise: bool = False
    compiled: bool = False

    @property
    def nodes(self) -> Full:
        """The layout of W and b."""
        return Full(
            self.features,
            self.labels,
            intercept=self.intercept,
            free_intercept=False,
            sparse=self.sparse,
            precise=self.precise,
            compiled=self.compiled,
        )

    @property
    def size(self) -> int:
        return self.nodes.size + self.edge_features * (1 if self.potts else self.labels**2)

    @property
    def width(self) -> int:
        return self.nodes.width

    @property
    def free(self) -> slice:
        return slice(0, 0)

    @property
    def kept(self) -> int:
        return 2 * self.labels

    @property
    def vectors(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    def rounded(self, sparse: bool, dtype: np.dtype[Any]) -> bool:
        return self.nodes.rounded(sparse, dtype)

    def spread(self, columns: Floats, edges: Floats, constant: float) -> Floats:
        tables = edges if len(edges) else np.full(self.edge_features, constant)
        each = 1 if self.potts else self.labels**2
        nodes = self.nodes.spread(columns, edges, constant)
        return np.concatenate([nodes, np.repeat(tables, each)])

    def tables(self, w: Floats) -> Floats:
        """V (e, K, K)."""
        v = w[self.nodes.size :]
        if self.potts:
            return v[:, None, None] * np.eye(self.labels)
        return v.reshape(self.edge_features, self.labels, self.labels)

    def named(self, w: Floats) -> dict[str, Any]:
        return {**self.nodes.named(w[: self.nodes.size]), "edge": self.tables(w).copy()}

    def pack(self, coef: Floats, intercept: Floats, edge: Floats) -> Floats:
        """The flat w of coef (K, d), intercept (K,) and edge (e, K, K)."""
        v = edge[:, 0, 0] if self.potts else edge.ravel()
        return np.concatenate([self.nodes.pack(coef, intercept), v])

    def scores(self, block: Structures, w: Floats) -> Scores:
        """Ψ w: the scores of a block; one table for all edges where they have no features."""
        node, V = self.nodes.scores(block, w[: self.nodes.size]).node, self.tables(w)
        if block.edge_rows is not None:
            flat = as_matrix(block.edge_rows) @ V.reshape(self.edge_features, self.labels**2)
            V = np.asarray(flat, float).reshape(-1, self.labels, self.labels)
        return Scores(node, V, block.offsets, block.edges)

    def adjoint(self, block: Structures, residual: Scores, out: Floats) -> None:
        """out += Ψᵀ residual."""
        self.nodes.adjoint(block, Scores(residual.node), out[: self.nodes.size])
        assert residual.edge is not None
        edge = residual.edge.reshape(len(residual.edge), self.labels**2)
        if block.edge_rows is not None:
            edge = np.asarray(as_matrix(block.edge_rows).T @ edge)
        if self.potts:
            edge = edge[:, :: self.labels + 1].sum(axis=1)
        out[self.nodes.size :] += edge.ravel()
