"""A label for every node of given trees: maxima and sums over all k^N labellings in O(N k²)."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from .. import checks
from ..kernels import compiled
from ..records import Answer, Floats, Ints, Scores, Value
from .base import Space
from .best_trees import top_k
from .forest import Forest
from .pairwise import Pairwise

__all__ = ["Tree"]


@final
class Tree(Space):
    """y ∈ {0, …, k−1}^N for the N nodes of a tree, or of several trees that make one example.

    ``scores.edges`` (E, 2) are the pairs of nodes that are joined, numbered through the whole stack, in
    any order and direction; ``scores.offsets`` says where each example's nodes start. ``scores.edge`` is
    None, one table (1, k, k) for all edges, one for each edge, or one for each kind of edge
    (``scores.edge_kind``); entry (a, b) is the score of label a at ``edges[:, 0]`` together with b at
    ``edges[:, 1]``. −inf forbids.

    A path is a ``Chain``, a single node is ``Classes``; edges with a cycle are refused: see ``Graph``.

    ``compiled`` forces (True) or forbids (False) the compiled kernels; None decides by size.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.spaces import Tree
    >>> node = np.array([[0.0, 0.2], [1.0, 0.0], [1.0, 0.0], [0.0, 1.5]])
    >>> agree = np.array([[[0.8, 0.0], [0.0, 0.8]]])
    >>> star = np.array([[0, 1], [0, 2], [0, 3]])
    >>> scores, tree = Scores(node, agree, np.array([0, 4]), star), Tree(2)
    >>> tree.argmax(scores)
    Answer(labels=array([0, 0, 0, 1]), value=array([5.1]), bound=array([5.1]))
    >>> tree.marginals(scores)[1].node[0].round(3)  # of the centre
    array([0.504, 0.496])
    >>> tree.top_k(scores, 2)[0]
    array([[0, 0, 0, 1],
           [1, 0, 0, 1]])

    Pearl 1988 (Probabilistic Reasoning in Intelligent Systems), chapter 4.
    """

    def __init__(self, k: int, compiled: bool | None = None) -> None:
        self.k = checks.positive_integer("k", k)
        self.compiled = compiled

    def _forest(self, scores: Scores) -> Forest:
        return Forest.of(Pairwise.of(scores, self.k))

    def _route(self, forest: Forest) -> Any:
        """The module that computes: ``forest_compiled`` or ``forest``."""
        if compiled(8 * forest.pair.work) if self.compiled is None else self.compiled:
            from . import forest_compiled as route
        else:
            from . import forest as route  # type: ignore[no-redef]
        return route

    def argmax(self, scores: Scores) -> Answer:
        forest = self._forest(scores)
        labels, value = self._route(forest).argmax(forest)
        forest.pair.answered(value)
        return Answer(labels, value, value)

    def logz(self, scores: Scores) -> Value:
        forest = self._forest(scores)
        return Value(forest.pair.answered(self._route(forest).logz(forest)))

    def marginals(
        self, scores: Scores, weight: Floats | None = None, out: Scores | None = None
    ) -> tuple[Value, Scores]:
        forest = self._forest(scores)
        if out is None:
            edge = None if scores.edge is None else np.zeros(scores.edge.shape)
            out = Scores(np.empty(scores.node.shape), edge, *_given(scores))
        elif out.edge is not None:
            out.edge[:] = 0.0
        share = np.ones(len(forest.pair)) if weight is None else np.asarray(weight, float)
        value = self._route(forest).marginals(forest, share, out)
        return Value(forest.pair.answered(value)), out

    def score(self, scores: Scores, labels: Ints) -> Floats:
        return Pairwise.of(scores, self.k).score(labels)

    def parts(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> None:
        Pairwise.of(scores, self.k).subtract(labels, weight, out)

    def nll(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        total, _ = self.marginals(scores, weight, out)
        pair = Pairwise.of(scores, self.k)
        pair.subtract(labels, weight, out)
        values = total.value - pair.score(labels)
        return values if weight is None else values * weight

    def sample(self, scores: Scores, n: int, rng: np.random.Generator) -> Ints:
        forest = self._forest(scores)
        uniform = rng.random((n, len(forest.order)))
        draws, value = self._route(forest).sample(forest, uniform)
        forest.pair.answered(value)
        return np.asarray(draws)

    def top_k(self, scores: Scores, k: int) -> tuple[Ints, Floats]:
        return top_k(self._forest(scores), checks.positive_integer("k", k))


def _given(scores: Scores) -> tuple[Ints | None, ...]:
    return scores.offsets, scores.edges, scores.edge_kind
