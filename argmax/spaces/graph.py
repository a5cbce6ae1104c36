"""A label for every node of any graph of pairs: exact where that is affordable, honest where it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .. import checks
from ..errors import NoLegalLabelling, Unsupported
from ..records import Answer, Floats, Ints, Scores, Value
from .base import Space
from .elimination import Elimination, Step, steps
from .pairwise import Pairwise
from .recursions import log_sum, softmax
from .tree import Tree

__all__ = ["Graph"]

QUICK = 2**12
"""Numbers that are eliminated before a search for the maximum is made: beyond, that is quicker if it ends."""


@final
@dataclass(frozen=True, slots=True)
class _Narrow:
    """One example that can be eliminated: its place, its scores, and the order."""

    example: int
    pair: Pairwise
    nodes: slice
    edges: Ints
    order: tuple[Step, ...]


@final
class Graph(Space):
    """y ∈ {0, …, k−1}^N for the N nodes of a graph; ``scores.edges`` may have cycles.

    Scores are those of ``Tree``. Each example takes the best way there is for its graph:

        forest    max- and sum-product, exact
        narrow    elimination (a junction tree) within ``table_limit`` numbers, exact
        wide      argmax: a minimum cut where two labels attract each other, exact; else labels by messages,
                  a bound that none exceeds (MPLP), and a search among the labellings that it leaves possible:
                  exact if ``table_limit`` states are enough for it; else improved by expansion moves
                  sums: belief propagation with Bethe's log Z; draws: a Gibbs chain

    For the argmax a search is tried before a large elimination.
    ``argmax`` says how good it is by ``bound``: where it equals ``value``, the answer is exact. ``logz`` and
    ``marginals`` have ``exact``, ``converged`` and ``residual``; marginals are finite and add up to 1 in any
    case.

    Parameters
    ----------
    k : int
        Labels. Nodes with fewer have scores of −inf for the others.
    sweeps : int
        Sweeps over all edges at most, of a wide graph.
    damping : float
        Share of the old message in a new one. More of it comes to rest on graphs with strong scores.
    schedule : "auto", "sweeps" or "residual"
        In which order sum-product sends messages: in sweeps over the nodes, there and back; from whoever has
        heard most since it last spoke, which rests more often on graphs with strong scores; or, "auto", 20
        sweeps and then, where that was not enough, the order of residuals within the same limit. Tables with
        −inf are always swept over.
    tol : float
        Messages are at rest when no logarithm moves further; a bound is good enough when it is within this
        share of the value.
    table_limit : int
        Numbers that the elimination of one example may need, and states of a search; 0: neither.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.spaces import Graph
    >>> differ = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    >>> triangle = np.array([[0, 1], [1, 2], [0, 2]])
    >>> scores = Scores(np.zeros((3, 2)), differ, np.array([0, 3]), triangle)
    >>> Graph(2).argmax(scores)
    Answer(labels=array([0, 0, 1]), value=array([2.]), bound=array([2.]))
    >>> Graph(2, table_limit=0).argmax(scores).bound  # no labelling has more
    array([3.])
    >>> Graph(2).logz(scores).exact, Graph(2, table_limit=0).logz(scores).exact
    (True, False)

    Koller and Friedman 2009 (Probabilistic Graphical Models), chapters 9 to 13.
    """

    def __init__(
        self,
        k: int,
        sweeps: int = 200,
        damping: float = 0.0,
        tol: float = 1e-6,
        table_limit: int = 2**18,
        schedule: str = "auto",
    ) -> None:
        self.k = checks.positive_integer("k", k)
        self.sweeps = checks.positive_integer("sweeps", sweeps)
        self.damping = checks.number("damping", damping, 0.0, 0.99)
        self.tol = checks.number("tol", tol, 0.0)
        self.schedule = checks.choice("schedule", schedule, ("auto", "sweeps", "residual"))
        self.table_limit = int(checks.number("table_limit", table_limit, 0.0))

    # Which way

    def _ways(self, pair: Pairwise, limit: int) -> tuple[Ints, list[_Narrow], Ints]:
        """Examples that are forests; those to be eliminated within a limit, in an order; and wide ones."""
        forest = _forests(pair)
        narrow, wide = [], []
        for i, part, nodes, edges in pair.singles(np.flatnonzero(~forest)):
            order = steps(part.edges.tobytes(), len(part.node), self.k, limit)
            if order is None:
                wide.append(i)
            else:
                narrow.append(_Narrow(i, part, nodes, edges, order))
        return np.flatnonzero(forest), narrow, np.array(wide, np.intp)

    def _settings(self) -> Any:
        from .messages import Settings  # which imports kernels

        return Settings(self.sweeps, self.damping, self.tol, self.schedule)

    # Maxima

    def argmax(self, scores: Scores) -> Answer:
        pair = Pairwise.of(scores, self.k)
        forests, narrow, wide = self._ways(pair, min(self.table_limit, QUICK))
        labels = np.zeros(len(pair.node), np.intp)
        value, bound = np.zeros(len(pair)), np.zeros(len(pair))
        if len(forests):
            part, nodes, _ = pair.take(forests)
            found = Tree(self.k).argmax(_scores(part))
            labels[nodes], value[forests], bound[forests] = found.labels, found.value, found.value
        for one in narrow:
            solved = Elimination(one.pair, one.order, maximum=True)
            labels[one.nodes], value[one.example] = solved.labels(), solved.value
            bound[one.example] = solved.value
        pair.answered(value)
        if len(wide):
            from .wide import best  # which imports kernels

            part, nodes, _ = pair.take(wide)
            answers = best(part, self._settings(), self.table_limit)
            labels[nodes], value[wide], bound[wide] = answers
            pair.answered(bound)
            if np.isneginf(value).any():
                i = int(np.argmax(np.isneginf(value)))
                raise NoLegalLabelling(
                    f"no legal labelling of example {i} was found, and the graph is too wide to look at all. "
                    "Raise table_limit, or allow more labels or pairs."
                )
        return Answer(labels, value, bound)

    def top_k(self, scores: Scores, k: int) -> tuple[Ints, Floats]:
        """The k best answers of each example, of graphs that have exact ones.

        By splitting what is left: everything that agrees with a found labelling up to a node, and differs
        there (Lawler 1972).
        """
        pair, k = Pairwise.of(scores, self.k), checks.positive_integer("k", k)
        labels = np.full((k, len(pair.node)), -1)
        values = np.full((k, len(pair)), -np.inf)
        for i, part, nodes, _ in pair.singles(np.arange(len(pair))):
            found = self._several(part, k)
            for rank, (value, answer) in enumerate(found):
                labels[rank, nodes], values[rank, i] = answer, value
        return labels, values

    def _several(self, pair: Pairwise, k: int) -> list[tuple[float, Ints]]:
        found: list[tuple[float, Ints]] = []
        open_ = [self._constrained(pair, pair.node, 0)]
        while len(found) < k:
            open_ = [choice for choice in open_ if choice is not None]
            if not open_:
                break
            place = max(range(len(open_)), key=lambda i: open_[i][0])  # type: ignore[index]
            value, labels, node, first = open_.pop(place)  # type: ignore[misc]
            found.append((value, labels))
            for v in range(first, len(labels)):
                rest = node.copy()
                rest[v, labels[v]] = -np.inf
                open_.append(self._constrained(pair, rest, v))
                node = node.copy()
                node[v, np.arange(self.k) != labels[v]] = -np.inf
        return found

    def _constrained(
        self, pair: Pairwise, node: Floats, first: int
    ) -> tuple[float, Ints, Floats, int] | None:
        """The best labelling of these node scores; None where there is none."""
        try:
            answer = self.argmax(_scores(pair, node))
        except NoLegalLabelling:
            return None
        if answer.bound.size and answer.bound[0] > answer.value[0]:
            raise Unsupported("top_k needs an exact argmax, and this graph is too wide for one.")
        value = float(answer.value[0]) if len(answer.value) else 0.0
        return value, answer.labels, node, first

    # Sums

    def logz(self, scores: Scores) -> Value:
        return self.marginals(scores)[0]

    def marginals(
        self, scores: Scores, weight: Floats | None = None, out: Scores | None = None
    ) -> tuple[Value, Scores]:
        pair = Pairwise.of(scores, self.k)
        forests, narrow, wide = self._ways(pair, self.table_limit)
        node, edge = np.zeros(pair.node.shape), np.zeros((len(pair.edges), self.k, self.k))
        value, residual = np.zeros(len(pair)), 0.0
        if len(forests):
            part, nodes, edges = pair.take(forests)
            found, p = Tree(self.k).marginals(_scores(part))
            value[forests], node[nodes] = found.value, p.node
            edge[edges] = p.edge
        for one in narrow:
            solved = Elimination(one.pair, one.order)
            value[one.example] = solved.value
            node[one.nodes], edge[one.edges] = solved.marginals()
        pair.answered(value)
        if len(wide):
            from .messages import beliefs

            part, nodes, edges = pair.take(wide)
            rest = beliefs(part, self._settings())
            value[wide], residual = rest.value, rest.residual
            node[nodes], edge[edges] = rest.node, rest.edge
        exact = not len(wide)
        told = Value(checks.some_answer(value), exact, residual <= self.tol, residual)
        return told, _given_back(pair, scores, node, edge, weight, out)

    def sample(self, scores: Scores, n: int, rng: np.random.Generator) -> Ints:
        """n draws (n, N): exact and independent where sums are, otherwise of a Gibbs chain.

        The chain starts at the best labels of single nodes, runs for ``sweeps`` sweeps before the first
        draw and for a tenth of that between two.
        """
        pair = Pairwise.of(scores, self.k)
        forests, narrow, wide = self._ways(pair, self.table_limit)
        draws = np.zeros((n, len(pair.node)), np.intp)
        if len(forests):
            part, nodes, _ = pair.take(forests)
            draws[:, nodes] = Tree(self.k).sample(_scores(part), n, rng)
        for one in narrow:
            solved = Elimination(one.pair, one.order)
            one.pair.answered(np.array([solved.value]))
            draws[:, one.nodes] = solved.sample(rng.random((n, len(one.order))))
        if len(wide):
            from .messages import gibbs

            part, nodes, _ = pair.take(wide)
            draws[:, nodes] = gibbs(part, n, rng, self.sweeps, max(1, self.sweeps // 10))
        return draws

    # Given labels

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

    def pseudo(self, scores: Scores, labels: Ints, weight: Floats | None, out: Scores) -> Floats:
        pair = Pairwise.of(scores, self.k)
        share = np.ones(len(pair)) if weight is None else weight
        (left, right), N = pair.edges.T, np.arange(len(labels))
        given = pair.node.copy()
        np.add.at(given, left, pair.tables[pair.which, :, labels[right]])
        np.add.at(given, right, pair.tables[pair.which, labels[left]])
        values = pair.sums(log_sum(given) - given[N, labels])
        residual = softmax(given)
        residual[N, labels] -= 1.0
        out.node[:] = residual * share[pair.example][:, None]
        if out.edge is not None:
            out.edge[:] = 0.0
            columns = np.arange(self.k)
            np.add.at(
                out.edge, (pair.which[:, None], columns, labels[right][:, None]), out.node[left]
            )
            np.add.at(
                out.edge, (pair.which[:, None], labels[left][:, None], columns), out.node[right]
            )
        return checks.some_answer(values * share)


def _forests(pair: Pairwise) -> Any:
    """Whether each example has no cycle."""
    n, (left, right) = len(pair.node), pair.edges.T
    few = np.bincount(pair.example[left], minlength=len(pair)) < np.diff(pair.offsets)
    if not few.any():
        return few & False
    graph = sp.coo_array((np.ones(len(pair.edges)), (left, right)), shape=(n, n))
    _, owner = connected_components(graph, directed=False)
    firsts = np.unique(owner, return_index=True)[1]
    trees = pair.sums(np.ones(len(firsts)), firsts)
    edges = pair.sums(np.ones(len(left)), left) if len(left) else np.zeros(len(pair))
    return edges == np.diff(pair.offsets) - trees


def _scores(pair: Pairwise, node: Floats | None = None) -> Scores:
    """Scores with a table for each edge."""
    return Scores(
        pair.node if node is None else node, pair.tables[pair.which], pair.offsets, pair.edges
    )


def _given_back(
    pair: Pairwise,
    scores: Scores,
    node: Floats,
    edge: Floats,
    weight: Floats | None,
    out: Scores | None,
) -> Scores:
    """Marginals in the shape of the scores, times the weights of the examples."""
    if out is None:
        tables = None if scores.edge is None else np.empty(scores.edge.shape)
        out = Scores(np.empty(node.shape), tables, scores.offsets, scores.edges, scores.edge_kind)
    share = np.ones(len(pair)) if weight is None else np.asarray(weight, float)
    out.node[:] = node * share[pair.example][:, None]
    if out.edge is not None:
        out.edge[:] = 0.0
        shares = share[pair.example[pair.edges[:, 0]]]
        np.add.at(out.edge, pair.which, edge * shares[:, None, None])
    return out
