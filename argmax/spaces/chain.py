"""A label for every position of a sequence: maxima and sums over all k^L paths in O(L k²).

    argmax     β_t(a) = max_b     [ e(a, b) + s_{t+1}(b) + β_{t+1}(b) ]             Viterbi
    sums       β_t(a) = log Σ_b exp [ e(a, b) + s_{t+1}(b) + β_{t+1}(b) ]           forward–backward

``lattice`` holds the scores of a stack of sequences; ``recursions`` (NumPy) and ``compiled`` (kernels) are
two routes through the same functions, and this file asks one of them.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from .. import checks
from ..kernels import compiled
from ..records import Answer, Floats, Ints, Scores, Value
from .base import Space
from .constraints import Constraints
from .lattice import Lattice

__all__ = ["Chain"]


@final
class Chain(Space):
    """y ∈ {0, …, k−1}^L for a sequence of L nodes; edges join consecutive nodes.

    ``scores.offsets`` says where each sequence starts (None: every node is one). ``scores.edge`` is None, one
    table (1, k, k) for all edges, or one for each edge, sequences in order; entry (a, b) is the score of
    label b right behind label a. −inf forbids a label or a transition; ``constraints`` writes such scores.

    A score for the first label, given y₀ = START, needs no table: it is added to the first node of a
    sequence, as one for the last label is to the last node.

    ``order=2`` lets a transition see two labels back. Tables are then (1, (k+1)·k, k): row a·k + b, column c
    is the score of c behind b behind a, and a = k is START, because before the first transition of a sequence
    there is one label only. A table of order 1, repeated for every a, gives the same chain.

    ``constraints`` (of ``spaces.constraints``) leave out paths: no oracle ever sees them.

    ``compiled`` forces (True) or forbids (False) the compiled kernels; None decides by size.

    >>> import numpy as np
    >>> from argmax.spaces import Chain
    >>> from argmax.records import Scores
    >>> node = np.array([[1.5, 0.0], [0.0, 0.2], [2.0, 0.0]])
    >>> stay = np.array([[[0.0, -1.0], [-1.0, 0.0]]])
    >>> scores, chain = Scores(node, stay, np.array([0, 3])), Chain(2)
    >>> chain.argmax(scores).labels
    array([0, 0, 0])
    >>> labels, values = chain.top_k(scores, 2)
    >>> labels
    array([[0, 0, 0],
           [0, 1, 0]])
    >>> np.exp(values[:, 0] - chain.logz(scores).value).round(3)  # their probabilities
    array([0.667, 0.11 ])

    Rabiner 1989 (Proceedings of the IEEE 77); Lafferty, McCallum and Pereira 2001 (ICML).
    """

    def __init__(
        self,
        k: int,
        order: int = 1,
        compiled: bool | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        self.k = checks.positive_integer("k", k)
        self.order = checks.choice("order", order, (1, 2))
        self.compiled, self.constraints = compiled, constraints

    @property
    def states(self) -> int:
        """Rows of a table of transitions: k, or (k+1)·k for order 2."""
        return self.k if self.order == 1 else (self.k + 1) * self.k

    def __repr__(self) -> str:
        return f"Chain({self.k})" if self.order == 1 else f"Chain({self.k}, order=2)"

    def _lattice(self, scores: Scores) -> Lattice:
        if self.constraints is not None:
            scores = self.constraints.apply(scores)
        return Lattice.of(scores, self.k, self.states)

    def _route(self, lattice: Lattice) -> Any:
        """The module that computes: ``compiled`` or ``recursions``."""
        if compiled(3 * lattice.work) if self.compiled is None else self.compiled:
            from . import compiled as route
        else:
            from . import recursions as route  # type: ignore[no-redef]
        return route

    # The questions of every space

    def argmax(self, scores: Scores) -> Answer:
        lattice = self._lattice(scores)
        labels, value = self._route(lattice).argmax(lattice)
        lattice.answered(value)
        return Answer(labels, value, value)

    def logz(self, scores: Scores) -> Value:
        lattice = self._lattice(scores)
        return Value(lattice.answered(self._route(lattice).logz(lattice)))

    def marginals(
        self, scores: Scores, weight: Floats | None = None, out: Scores | None = None
    ) -> tuple[Value, Scores]:
        lattice = self._lattice(scores)
        work = _work(lattice, scores, out)
        value = self._route(lattice).marginals(lattice, _weight(lattice, weight), work)
        return Value(lattice.answered(value)), _given_back(work, out)

    def score(self, scores: Scores, labels: Ints) -> Floats:
        return self._lattice(scores).score(labels)

    def parts(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> None:
        self._lattice(scores).subtract(labels, weight, out)

    def nll(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        lattice = self._lattice(scores)
        work = _work(lattice, scores, out)
        value = self._route(lattice).marginals(lattice, _weight(lattice, weight), work)
        lattice.answered(value)
        lattice.subtract(labels, weight, work)
        _given_back(work, out)
        value -= lattice.score(labels)
        return np.asarray(value if weight is None else value * weight)

    def sample(self, scores: Scores, n: int, rng: np.random.Generator) -> Ints:
        lattice = self._lattice(scores)
        uniform = rng.random((n, len(lattice.node)))
        draws, value = self._route(lattice).sample(lattice, uniform)
        lattice.answered(value)
        return np.asarray(draws)

    def top_k(self, scores: Scores, k: int) -> tuple[Ints, Floats]:
        lattice, k = self._lattice(scores), checks.positive_integer("k", k)
        labels, values = self._route(lattice).top_k(lattice, k)
        return labels, values

    # What sequences are asked besides

    def hvp(self, scores: Scores, weight: Floats | None, direction: Scores, out: Scores) -> Value:
        """out = weight · (∂ marginals / ∂ scores) · direction: second derivatives of log Z along a direction.

        Forward–backward differentiated in forward mode, at some three times the cost of the marginals. Given
        ``direction``, of the shape of ``scores`` and finite. Returns log Z.

        >>> import numpy as np
        >>> from argmax.records import Scores
        >>> from argmax.spaces import Chain
        >>> scores, ahead = Scores(np.zeros((1, 2))), Scores(np.array([[1.0, 0.0]]))
        >>> out = Scores(np.empty((1, 2)))
        >>> log_z = Chain(2).hvp(scores, None, ahead, out)
        >>> out.node  # p (1 − p) at p = ½
        array([[ 0.25, -0.25]])
        """
        lattice = self._lattice(scores)
        work, share = _work(lattice, scores, out), _weight(lattice, weight)
        value = self._route(lattice).curvature(lattice, share, direction, work)
        _given_back(work, out)
        return Value(lattice.answered(value))

    def posterior(self, scores: Scores) -> Answer:
        """The legal labels with the fewest expected errors, argmax_y Σ_t P(y_t): minimum Hamming risk.

        ``value`` is the expected number of right labels. Where nothing is forbidden, every position takes its
        most probable label.

        >>> import numpy as np
        >>> from argmax.records import Scores
        >>> from argmax.spaces import Chain
        >>> pairs = np.log([[[0.4, 1e-9], [0.3, 0.3]]])  # one path of 0.4, two of 0.3
        >>> scores = Scores(np.zeros((2, 2)), pairs, np.array([0, 2]))
        >>> Chain(2).argmax(scores).labels, Chain(2).posterior(scores).labels
        (array([0, 0]), array([1, 0]))
        """
        p = self.marginals(scores)[1].node
        legal = np.where(np.isneginf(scores.node), -np.inf, p)
        edge = scores.edge
        if edge is not None:
            edge = np.where(np.isneginf(edge), -np.inf, 0.0)
        return self.argmax(Scores(legal, edge, scores.offsets))

    def entropy(self, scores: Scores) -> Floats:
        """H = −Σ_y P(y) log P(y) of each sequence (n,), in nats: how undecided the model is.

        >>> import numpy as np
        >>> from argmax.records import Scores
        >>> from argmax.spaces import Chain
        >>> Chain(4).entropy(Scores(np.zeros((3, 4)), None, np.array([0, 3])))  # 64 equal paths
        array([4.15888308])
        """
        lattice = self._lattice(scores)
        value, entropy = self._route(lattice).entropy(lattice)
        lattice.answered(value)
        return np.asarray(entropy)

    def spans(self, scores: Scores, labels: Ints, spans: Ints) -> Floats:
        """P(y_t = labels_t for all t in the span), for each span: the confidence in a piece of an answer.

        Given labels (N,) and spans (m, 2): the first node and the one behind the last, in one sequence.
        Returns (m,): exp(log Z with no other labels allowed there − log Z). A product of the probabilities of
        single labels would ignore that neighbours go together.

        >>> import numpy as np
        >>> from argmax.records import Scores
        >>> from argmax.spaces import Chain
        >>> alike = np.array([[[9.0, 0.0], [0.0, 9.0]]])  # neighbours hardly ever differ
        >>> scores = Scores(np.zeros((3, 2)), alike, np.array([0, 3]))
        >>> Chain(2).spans(scores, np.array([1, 1, 1]), np.array([[0, 1], [0, 3]])).round(3)
        array([0.5, 0.5])
        """
        lattice = self._lattice(scores)
        total = lattice.answered(self._route(lattice).logz(lattice))
        labels, spans = checks.span_labels(labels, spans, self.k, lattice.offsets)
        which = np.searchsorted(lattice.offsets, spans[:, 0], "right") - 1
        part, nodes = lattice.take(which)
        owner = np.repeat(np.arange(len(spans)), part.lengths)
        inside = (nodes >= spans[owner, 0]) & (nodes < spans[owner, 1])
        other = inside[:, None] & (np.arange(self.k) != labels[nodes][:, None])
        part.node[other] = -np.inf
        return np.asarray(np.exp(self._route(part).logz(part) - total[which]))


def _weight(lattice: Lattice, weight: Floats | None) -> Floats:
    return np.ones(len(lattice)) if weight is None else np.asarray(weight, float)


def _work(lattice: Lattice, scores: Scores, out: Scores | None) -> Scores:
    """Memory for marginals as kernels want it, edges zeroed: that of ``out`` where it will do."""
    node = None if out is None else out.node
    if node is None or node.dtype != lattice.node.dtype or not node.flags.c_contiguous:
        node = np.empty_like(lattice.node)
    edge = scores.edge if out is None else out.edge
    if edge is None or edge is scores.edge or not _plain(edge):
        edge = None if edge is None else np.zeros(edge.shape)
    else:
        edge[:] = 0.0
    return Scores(node, edge, scores.offsets)


def _plain(array: Floats) -> bool:
    return array.dtype == np.float64 and array.flags.c_contiguous


def _given_back(work: Scores, out: Scores | None) -> Scores:
    """``out`` with what ``work`` holds, where they are not the same memory already."""
    if out is None:
        return work
    if out.node is not work.node:
        out.node[:] = work.node
    if out.edge is not None and out.edge is not work.edge:
        out.edge[:] = work.edge
    return out
