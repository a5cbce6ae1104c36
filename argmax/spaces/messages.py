"""Graphs too wide for exact answers: messages until they rest, a bound, and a chain of draws."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..kernels import beliefs as probabilities
from ..kernels import graphs
from ..kernels.simd import L4, L8, L16, Lanes
from ..records import Floats, Ints
from .frontier import Losses
from .pairwise import Pairwise
from .recursions import softmax

__all__ = ["ROUNDING", "Beliefs", "Relaxation", "Settings", "beliefs", "gibbs"]


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """How long messages are passed on, and in which order."""

    sweeps: int
    damping: float
    tol: float
    schedule: str = "auto"


@final
@dataclass(frozen=True, slots=True)
class Beliefs:
    """What messages say: marginals, Bethe's log Z (n,), and how far the last sweep moved a message."""

    node: Floats  # (N, k)
    edge: Floats  # (E, k, k)
    value: Floats  # (n,)
    residual: float


def _finite(pair: Pairwise) -> tuple[Floats, Floats]:
    """Node scores and tables with a number so low for −inf that no labelling with one is ever better."""
    spans, tops = 0.0, 0.0
    for scores, uses in ((pair.node, None), (pair.tables, pair.which)):
        axes = tuple(range(1, scores.ndim))
        with np.errstate(invalid="ignore"):
            low = np.where(np.isneginf(scores), np.inf, scores).min(axis=axes, initial=np.inf)
            high = scores.max(axis=axes, initial=-np.inf)
            span = np.where(np.isfinite(high - low), high - low, 0.0)
        spans += float(span.sum() if uses is None else span[uses].sum())
        tops = max(tops, float(np.abs(np.where(np.isfinite(scores), scores, 0.0)).max(initial=0)))
    floor = -(spans + tops + 50.0)
    return tuple(np.where(np.isneginf(s), floor, s) for s in (pair.node, pair.tables))  # type: ignore[return-value]


def beliefs(pair: Pairwise, settings: Settings) -> Beliefs:
    """Sum-product. Tables with −inf, or that span more than e^200, are worked on in logarithms."""
    node, tables = _finite(pair)
    spans = np.ptp(pair.tables, axis=(1, 2)) if np.isfinite(pair.tables).all() else np.inf
    if np.max(spans, initial=0.0) <= SPAN:
        message, residual = _passed(pair, settings)
    else:
        message, residual = _passed_in_logs(pair, node, tables, settings)
    belief = node.copy()
    for side in (0, 1):
        np.add.at(belief, pair.edges[:, side], message[:, side])
    left, right = pair.edges.T
    ways = (belief[left] - message[:, 0])[:, :, None] + tables[pair.which]
    ways += (belief[right] - message[:, 1])[:, None, :]
    p = softmax(belief)
    pairs = softmax(ways.reshape(len(ways), -1)).reshape(ways.shape)
    return Beliefs(p, pairs, _bethe(pair, node, tables, p, pairs), float(residual))


SPAN = 200.0
"""How far apart the scores of a table may lie for messages in probabilities."""

EASY = 20
"""Sweeps after which messages rest on easy graphs; the order of residuals costs twice as much."""

ROUNDING = 1e-9
"""The share of a bound that may be rounding."""

MESSAGES = 1_000_000
"""Messages between two looks at the clock and the keyboard: some 50 ms."""


def _passed(pair: Pairwise, settings: Settings) -> tuple[Floats, float]:
    """Logarithms of messages (E, 2, k) to both ends of each edge, and how far they may still move."""
    starts, edges, sides = _around(pair)
    E = len(pair.edges)
    place = np.empty((2, E), np.intp)  # of each end of an edge, in the list of its node
    place[sides, edges] = np.arange(2 * E)
    heads, twins = pair.edges[edges, 1 - sides], place[1 - sides, edges]
    high = pair.tables.max(axis=(1, 2), keepdims=True)
    tables = np.exp(np.concatenate([pair.tables - high, (pair.tables - high).transpose(0, 2, 1)]))
    chances = np.exp(pair.node - pair.node.max(axis=1, keepdims=True))
    lanes = next((some for some in (L4, L8) if pair.k <= len(some)), L16)
    message = _padded(np.ones((2 * E, pair.k)), lanes).ravel()
    graph = (
        *(pair.k, starts, heads, twins, pair.which[edges] + len(high) * sides),
        *(_padded(tables, lanes).ravel(), _padded(chances, lanes), settings.damping),
    )
    residual = np.inf
    if settings.schedule != "residual":
        residual = _swept(pair, graph, message, settings, lanes)
    if settings.schedule != "sweeps" and residual > settings.tol:
        residual = _settled(pair, graph, message, settings, lanes)
    return np.log(message.reshape(2 * E, -1)[place.T, : pair.k]), residual


def _padded(values: Floats, lanes: Lanes) -> Floats:
    """Zeros at the end of the last axis, to a multiple of the lanes."""
    extra = -values.shape[-1] % len(lanes)
    return np.ascontiguousarray(np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, extra)]))


def _swept(pair: Pairwise, graph: Any, message: Floats, settings: Settings, lanes: Lanes) -> float:
    """Messages in sweeps over the nodes, there and back. Returns how far the last one moved a logarithm."""
    k, starts, _, *rest = graph
    there, residual = np.arange(len(pair.node)), np.inf
    limit = settings.sweeps if settings.schedule == "sweeps" else min(settings.sweeps, EASY)
    for sweep in range(limit):
        order = there if sweep % 2 == 0 else there[::-1].copy()
        residual = probabilities.sweep(order, k, starts, *rest, message, lanes)
        if residual <= settings.tol:
            break
    return float(residual)


def _settled(
    pair: Pairwise, graph: Any, message: Floats, settings: Settings, lanes: Lanes
) -> float:
    """Messages of whoever has heard most. Each example has a budget: one without rest takes no other's."""
    N, starts = len(pair.node), graph[1]
    residual = np.full(N, np.inf)
    lists = (
        *(np.empty(N, np.intp) for _ in range(3)),
        np.empty((probabilities.BUCKETS, 2), np.intp),
    )
    for first, last in itertools.pairwise(pair.offsets.tolist()):
        budget = settings.sweeps * int(starts[last] - starts[first] + last - first)
        while budget > 0 and residual[first:last].max(initial=0.0) > settings.tol:
            budget -= probabilities.settle(
                first,
                last,
                *graph,
                settings.tol,
                min(budget, MESSAGES),
                message,
                residual,
                *lists,
                lanes,
            )
    return float(residual.max(initial=0.0))


def _passed_in_logs(
    pair: Pairwise, node: Floats, tables: Floats, settings: Settings
) -> tuple[Floats, float]:
    """As ``_passed``, for any tables, sweeping over the edges back and forth."""
    message, belief = np.zeros((len(pair.edges), 2, pair.k)), node.copy()
    there, residual = np.arange(len(pair.edges)), np.inf
    for sweep in range(settings.sweeps):
        order = there if sweep % 2 == 0 else there[::-1].copy()
        residual = graphs.sum_sweep(
            order, pair.edges, pair.which, tables, settings.damping, message, belief
        )
        if residual <= settings.tol:
            break
    return message, float(residual)


def _bethe(pair: Pairwise, node: Floats, tables: Floats, p: Floats, pairs: Floats) -> Floats:
    """Σ_v ⟨p_v, s_v⟩ + Σ_e ⟨p_e, e⟩ + Σ_e H(p_e) − Σ_v (degree − 1) H(p_v): Yedidia et al. 2005."""
    degree = np.bincount(pair.edges.ravel(), minlength=len(p))
    nodes = (p * node).sum(axis=1) - (degree - 1) * _entropy(p)
    flat = pairs.reshape(len(pairs), -1)
    edges = (flat * tables[pair.which].reshape(len(pairs), -1)).sum(axis=1) + _entropy(flat)
    return pair.sums(nodes) + pair.sums(edges, pair.edges[:, 0])


def _entropy(p: Floats) -> Floats:
    return np.asarray(-(p * np.log(np.where(p > 0.0, p, 1.0))).sum(axis=1))


@final
class Relaxation:
    """A bound for each example that sweeps lower (MPLP), and the best labels met on the way.

    The bound is Σ_v max B_v, of beliefs B that messages make of the scores; see ``kernels.graphs``.
    """

    def __init__(self, pair: Pairwise, settings: Settings) -> None:
        self.pair, self.settings = pair, settings
        self.node, self.tables = _finite(pair)
        self.message, self.belief = np.zeros((len(pair.edges), 2, pair.k)), self.node.copy()
        self.labels = np.zeros(len(self.node), np.intp)
        self._found, self._around = self.labels.copy(), _around(pair)
        owner = pair.example[pair.edges[:, 0]]
        order = np.argsort(owner, kind="stable")
        begins = np.searchsorted(owner[order], np.arange(len(pair) + 1))
        self._edges = [order[a:b] for a, b in itertools.pairwise(begins.tolist())]
        self._states = np.tile([-np.inf, np.inf, 0.0], (len(pair), 1))

    def sweep(self, i: int, sweeps: int) -> None:
        """Sweeps over the edges of example i until it has had so many, or needs no more."""
        pair, there, state, done = self.pair, self._edges[i], self._states[i], False
        back, at_once = there[::-1].copy(), 1 + MESSAGES // max(len(there) * pair.k, 1)
        while not done and state[2] < sweeps:
            done = graphs.relax(
                *pair.offsets[i : i + 2], there, back, *self._around, pair.edges, pair.which,
                self.tables, self.node, min(at_once, sweeps - int(state[2])), self.settings.tol,
                self.message, self.belief, self._found, self.labels, state,
            )  # fmt: skip

    def bound(self, i: int) -> float:
        """What no labelling of example i exceeds."""
        return float(self._states[i, 1])

    def gap(self, i: int) -> float:
        """By how much the bound of example i exceeds its labels; 0 where that is rounding."""
        value, bound, _ = self._states[i].tolist()
        return 0.0 if bound - value <= ROUNDING * (1.0 + abs(bound)) else bound - value

    def losses(self, i: int) -> Losses:
        """What labellings of example i lose against the bound."""
        pair, edges, (first, last) = self.pair, self._edges[i], self.pair.offsets[i : i + 2]
        belief = self.belief[first:last]
        return Losses(
            belief.max(axis=1, keepdims=True) - belief,
            pair.edges[edges] - first,
            self.tables,
            pair.which[edges],
            self.message[edges],
        )


def _around(pair: Pairwise) -> tuple[Ints, Ints, Ints]:
    """Of each node: where its list starts (N + 1,), its edges, and which end of them it is."""
    ends = pair.edges.T.ravel()
    order = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[order], np.arange(len(pair.node) + 1))
    E = max(len(pair.edges), 1)
    return starts, order % E, order // E


def gibbs(pair: Pairwise, n: int, rng: np.random.Generator, burn: int, between: int) -> Ints:
    """n draws (n, N) of a Markov chain, ``burn`` sweeps after its start and ``between`` sweeps apart."""
    node, tables = _finite(pair)
    around, labels = _around(pair), node.argmax(axis=1)
    draws = np.empty((n, len(node)), np.intp)
    for i in range(n):
        for _ in range(burn if i == 0 else between):
            uniform = rng.random(len(node))
            graphs.gibbs_sweep(*around, pair.edges, pair.which, tables, node, uniform, labels)
        draws[i] = labels
    return draws
