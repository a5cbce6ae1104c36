"""One of k labels: the smallest space, and the one-node case of all the others."""

from __future__ import annotations

from typing import final

import numpy as np

from .. import checks
from ..kernels import compiled
from ..records import Answer, Floats, Ints, Scores, Value
from .base import Space

__all__ = ["Classes"]


FEW = 16
"""Columns up to which their maximum is taken one column at a time: NumPy is slow along short rows."""


def row_max(table: Floats) -> Floats:
    """The largest entry of each row (n,).

    >>> import numpy as np
    >>> from argmax.spaces.classes import row_max
    >>> row_max(np.array([[1.0, 3.0], [2.0, -np.inf]]))
    array([3., 2.])
    """
    if table.shape[1] > FEW:
        return np.asarray(table.max(axis=1))
    top: Floats = table[:, 0].copy()
    for c in range(1, table.shape[1]):
        np.maximum(top, table[:, c], out=top)
    return top


@final
class Classes(Space):
    """y ∈ {0, …, k−1}, one for each row of scores.

        argmax     ŷ = argmax_c s_c                      O(k)
        logz       log Σ_c exp s_c, the maximum subtracted
        marginals  softmax(s)

    ``compiled`` forces (True) or forbids (False) the compiled kernels; None decides by size.

    >>> import numpy as np
    >>> from argmax.spaces import Classes
    >>> from argmax.records import Scores
    >>> scores = Scores(np.array([[0.0, 1.0, 1.0], [2.0, -np.inf, 0.0]]))
    >>> space = Classes(3)
    >>> space.argmax(scores).labels
    array([1, 0])
    >>> space.marginals(scores)[1].node.round(3)
    array([[0.155, 0.422, 0.422],
           [0.881, 0.   , 0.119]])
    """

    curved = True

    def __init__(self, k: int, compiled: bool | None = None) -> None:
        self.k = checks.positive_integer("k", k)
        self.compiled = compiled

    def _fast(self, scores: Scores) -> bool:
        # A few arithmetic operations an entry, where a multiply-add is the unit of ``compiled``.
        return compiled(8 * scores.node.size) if self.compiled is None else self.compiled

    def argmax(self, scores: Scores) -> Answer:
        node = checks.node_scores(scores, self.k)
        if self._fast(scores):
            from ..kernels import classes as kernels

            labels, value = np.empty(len(node), np.intp), np.empty(len(node))
            kernels.argmax(node, labels, value)
        else:
            labels = node.argmax(axis=1)
            value = node[np.arange(len(node)), labels]
        checks.some_answer(value)
        return Answer(labels, value, value)

    def logz(self, scores: Scores) -> Value:
        return self.marginals(scores)[0]

    def marginals(
        self, scores: Scores, weight: Floats | None = None, out: Scores | None = None
    ) -> tuple[Value, Scores]:
        node = checks.node_scores(scores, self.k)
        p = np.empty(node.shape) if out is None else out.node
        if self._fast(scores):
            from ..kernels import classes as kernels

            value: Floats = np.empty(len(node))
            kernels.marginals(node, p, value)
        else:
            top = row_max(node)
            with np.errstate(invalid="ignore"):
                np.exp(np.subtract(node, top[:, None], out=p), out=p)
            total = p @ np.ones(self.k)
            p /= total[:, None]
            value = top + np.log(total)
        if np.isnan(value).any():  # −inf everywhere made −inf − (−inf)
            checks.some_answer(node.max(axis=1))
        checks.some_answer(value)
        if weight is not None:
            p *= weight[:, None]
        return Value(value), Scores(p, None, scores.offsets)

    def score(self, scores: Scores, labels: Ints) -> Floats:
        return scores.node[np.arange(len(labels)), labels]

    def parts(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> None:
        out.node[np.arange(len(labels)), labels] -= 1.0 if weight is None else weight

    def nll(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        node = checks.node_scores(scores, self.k)
        if self._fast(scores):
            from ..kernels import classes as kernels

            values = np.empty(len(node))
            kernels.nll(node, labels, np.ones(1) if weight is None else weight, out.node, values)
            return checks.some_answer(values)
        total, _ = self.marginals(scores, weight, out)
        self.parts(scores, labels, weight, out)
        values = total.value - self.score(scores, labels)
        return values if weight is None else values * weight

    def sample(self, scores: Scores, n: int, rng: np.random.Generator) -> Ints:
        p = self.marginals(scores)[1].node
        cumulative = np.cumsum(p, axis=1)
        cumulative /= cumulative[:, -1:]  # the last entry is 1 whatever was rounded
        draws = rng.random((n, len(p), 1))
        # Labels of probability 0 are stepped over: a draw is at least the sum before its label.
        return np.asarray((draws >= cumulative).sum(axis=2))

    def top_k(self, scores: Scores, k: int) -> tuple[Ints, Floats]:
        node = checks.node_scores(scores, self.k)
        k = checks.positive_integer("k", k)
        best = min(k, self.k)
        order = np.argsort(-node, axis=1, kind="stable")[:, :best].T  # (best, n)
        values = node[np.arange(len(node)), order]
        labels = np.where(np.isneginf(values), -1, order)
        if best < k:
            filler = np.full((k - best, len(node)), -1)
            labels = np.vstack([labels, filler])
            values = np.vstack([values, np.full(filler.shape, -np.inf)])
        return labels, values

    def curvature(self, marginals: Scores, weight: Floats, direction: Scores, out: Scores) -> None:
        p, v = marginals.node, direction.node
        if self._fast(marginals):
            from ..kernels import classes as kernels

            kernels.curvature(p, weight, v, out.node)
        else:
            mean = np.einsum("ij,ij->i", p, v)
            np.multiply(p, v - mean[:, None], out=out.node)
            out.node[:] *= weight[:, None]
