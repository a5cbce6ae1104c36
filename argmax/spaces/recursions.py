"""The recursions of a lattice in NumPy and in logarithms, all sequences in step.

    max_   β_t(s) = max_c [ e_t(s, c) + S_{t+1}(c) + β_{t+1}(s') ]               s' = successors[s, c]
    sum_   β_t(s) = log Σ_c exp [ e_t(s, c) + S_{t+1}(c) + β_{t+1}(s') ]
           P_t(c|s) ∝ exp [ e_t(s, c) + S_{t+1}(c) + β_{t+1}(s') ]                the chain, left to right

The route for small problems, and what the compiled one is compared with. Position t of all sequences that
are long enough is one step of a loop, so the interpreter runs once for each position of the longest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..records import Floats, Ints, Scores
from .lattice import Lattice

__all__ = [
    "argmax",
    "curvature",
    "draw",
    "entropy",
    "log_sum",
    "logz",
    "marginals",
    "sample",
    "softmax",
    "top_k",
]


class _Walk:
    """All sequences in step, the longest first: those still going are then a slice."""

    def __init__(self, lattice: Lattice) -> None:
        order = np.argsort(-lattice.lengths, kind="stable")
        order = order[: np.count_nonzero(lattice.lengths)]
        self.lattice, self.sequences = lattice.finite(), order  # without the empty ones
        self.starts, self.first_edges = lattice.offsets[:-1][order], lattice.first_edges[order]
        self.lengths, self.successors = lattice.lengths[order], lattice.successors

    @property
    def longest(self) -> int:
        return int(self.lengths[0]) if len(self.lengths) else 0

    def going(self, t: int) -> int:
        """How many sequences have a position t + 1."""
        return int(np.searchsorted(-self.lengths, -(t + 1)))

    def edges(self) -> Iterator[tuple[Ints, Ints]]:
        """For t = 0, 1, …: the nodes at position t that have a next one, and the table of each edge."""
        for t in range(self.longest - 1):
            m = self.going(t)
            tables = np.zeros(m, np.intp) if self.lattice.shared else self.first_edges[:m] + t
            yield self.starts[:m] + t, tables

    def ways(self, beta: Floats, rows: Ints, tables: Ints) -> Floats:
        """e_t(s, c) + S_{t+1}(c) + β_{t+1}(s') as (m, states, k)."""
        ahead: Floats = self.lattice.node[rows + 1][:, None, :] + beta[rows + 1][:, self.successors]
        return ahead + self.lattice.edge[tables]

    def beginnings(self, beta: Floats) -> Floats:
        """S_0(c) + β_0 of each first label c, as (sequences, k)."""
        k = self.lattice.k
        firsts: Floats = self.lattice.node[self.starts] + beta[self.starts][:, -k:]
        return firsts

    def spread(self, values: Floats, empty: float = 0.0) -> Floats:
        """One value a sequence, in the order of the lattice; empty sequences have one empty answer."""
        out = np.full(len(self.lattice), empty)
        out[self.sequences] = values
        return out

    def max_messages(self) -> Floats:
        beta = np.zeros((len(self.lattice.node), self.lattice.states))
        for rows, tables in reversed(list(self.edges())):
            beta[rows] = self.ways(beta, rows, tables).max(axis=2)
        return beta

    def sum_messages(self) -> tuple[Floats, Floats, Floats]:
        """β less max_s β_t(s), small numbers being precise ones; P(y_0 = c); and log Z of ``sequences``."""
        beta = np.zeros((len(self.lattice.node), self.lattice.states))
        base = np.zeros(len(self.sequences))
        for rows, tables in reversed(list(self.edges())):
            sums = log_sum(self.ways(beta, rows, tables))
            top = sums.max(axis=1)
            top[np.isneginf(top)] = 0.0
            beta[rows] = sums - top[:, None]
            base[: len(rows)] += top
        firsts = self.beginnings(beta)
        return beta, softmax(firsts), base + log_sum(firsts)

    def chances(self, beta: Floats, rows: Ints, tables: Ints) -> Floats:
        """P_t(c|s) as (m, states, k); 0 for a state from which there is no way on."""
        return softmax(self.ways(beta, rows, tables))

    def arrive(self, pairs: Floats) -> Floats:
        """Σ over the ways into each state: (m, states, k) to (m, states)."""
        m, k, states = len(pairs), self.lattice.k, self.lattice.states
        if states == k:
            return np.asarray(pairs.sum(axis=1))
        inner = pairs.reshape(m, k + 1, k, k).sum(axis=1).reshape(m, k * k)
        return np.hstack([inner, np.zeros((m, k))])  # nothing leads back to the start

    def by_label(self, values: Floats) -> Floats:
        """Σ over the states of each label: (…, states) to (…, k)."""
        k = self.lattice.k
        return np.asarray(values.reshape(*values.shape[:-1], values.shape[-1] // k, k).sum(axis=-2))


def log_sum(values: Floats) -> Floats:
    """log Σ exp along the last axis; −inf where everything is −inf."""
    top = values.max(axis=-1)
    shift = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = np.log(np.exp(values - shift[..., None]).sum(axis=-1)) + shift
    return result


def softmax(values: Floats) -> Floats:
    """exp(values) / Σ exp(values) along the last axis; 0 where everything is −inf."""
    total = log_sum(values)[..., None]
    return np.exp(values - np.where(np.isneginf(total), 0.0, total))


# Maxima


def argmax(lattice: Lattice) -> tuple[Ints, Floats]:
    """Labels (N,) and values (n,) of the best paths; of equals, the first in lexicographic order."""
    walk = _Walk(lattice)
    beta, labels = walk.max_messages(), np.zeros(len(lattice.node), np.intp)
    firsts = walk.beginnings(beta)
    labels[walk.starts] = best = firsts.argmax(axis=1)
    state = lattice.states - lattice.k + best
    for rows, tables in walk.edges():
        state = state[: len(rows)]
        ways = walk.ways(beta, rows, tables)[np.arange(len(rows)), state]
        labels[rows + 1] = best = ways.argmax(axis=1)
        state = walk.successors[state, best]
    return labels, walk.spread(firsts.max(axis=1, initial=-np.inf))


def top_k(lattice: Lattice, k: int) -> tuple[Ints, Floats]:
    """Labels (k, N) and values (k, n) of the k best paths: ``max_`` with a list of k for each state.

    A path is remembered by a code for each state and rank: label · k + rank of what follows.
    """
    walk, K = _Walk(lattice), lattice.k
    best = np.full((len(walk.sequences), lattice.states, k), -np.inf)
    best[:, :, 0] = 0.0
    codes: list[Ints] = []
    for rows, tables in reversed(list(walk.edges())):
        m = len(rows)
        scores = lattice.edge[tables] + lattice.node[rows + 1][:, None, :]
        ways = (scores[..., None] + best[:m][:, walk.successors]).reshape(m, lattice.states, K * k)
        codes.append(np.argsort(-ways, axis=2, kind="stable")[:, :, :k])
        best[:m] = np.take_along_axis(ways, codes[-1], axis=2)
    ways = (lattice.node[walk.starts][:, :, None] + best[:, -K:]).reshape(-1, K * k)
    code: Ints = np.argsort(-ways, axis=1, kind="stable")[:, :k]  # (sequences, k)
    found = np.take_along_axis(ways, code, axis=1)
    values = np.full((k, len(lattice)), -np.inf)
    values[0] = 0.0
    values[: found.shape[1], walk.sequences] = found.T
    labels = np.full((k, len(lattice.node)), -1)
    ranks = np.arange(found.shape[1])[:, None]
    labels[ranks, walk.starts] = np.where(np.isneginf(found), -1, code // k).T
    state: Ints = lattice.states - K + code // k
    for (rows, _), after in zip(walk.edges(), reversed(codes), strict=True):
        m = len(rows)
        code = after[np.arange(m)[:, None], state[:m], code[:m] % k]
        state = walk.successors[state[:m], code // k]
        labels[ranks, rows + 1] = np.where(np.isneginf(found[:m]), -1, code // k).T
    return labels, values


# Sums


def logz(lattice: Lattice) -> Floats:
    """log Z of each sequence."""
    walk = _Walk(lattice)
    return walk.spread(walk.sum_messages()[2])


def marginals(lattice: Lattice, weight: Floats, out: Scores) -> Floats:
    """log Z; out: the marginals, times weight (n,), unless there is no answer."""
    walk = _Walk(lattice)
    beta, firsts, value = walk.sum_messages()
    share, p = weight[walk.sequences], np.zeros(beta.shape)
    p[walk.starts, -lattice.k :] = firsts
    for rows, tables in walk.edges():
        pairs = p[rows][:, :, None] * walk.chances(beta, rows, tables)
        p[rows + 1] = walk.arrive(pairs)
        _add_pairs(lattice, tables, share, pairs, out)
    out.node[:] = walk.by_label(p) * np.repeat(weight, lattice.lengths)[:, None]
    return walk.spread(value)


def _add_pairs(lattice: Lattice, tables: Ints, share: Floats, pairs: Floats, out: Scores) -> None:
    if out.edge is None:
        return
    if lattice.shared:
        out.edge[0] += np.tensordot(share[: len(pairs)], pairs, axes=1)
    else:
        out.edge[tables] = share[: len(pairs), None, None] * pairs


def entropy(lattice: Lattice) -> tuple[Floats, Floats]:
    """log Z and the entropy of each sequence: h_t(s) = Σ_c P_t(c|s) [ h_{t+1}(s') − log P_t(c|s) ]."""
    walk = _Walk(lattice)
    beta, firsts, value = walk.sum_messages()
    h = np.zeros(beta.shape)
    for rows, tables in reversed(list(walk.edges())):
        h[rows] = _mean(walk.chances(beta, rows, tables), h[rows + 1][:, walk.successors])
    return walk.spread(value), walk.spread(_mean(firsts, h[walk.starts][:, -lattice.k :]))


def _mean(p: Floats, h: Floats) -> Floats:
    """Σ_c p_c (h_c − log p_c)"""
    return np.asarray((p * (h - np.log(np.where(p > 0.0, p, 1.0)))).sum(axis=-1))


def sample(lattice: Lattice, uniform: Floats) -> tuple[Ints, Floats]:
    """Draws (draws, N) made of uniform numbers (draws, N); and log Z."""
    walk = _Walk(lattice)
    beta, p, value = walk.sum_messages()
    draws = np.zeros(uniform.shape, np.intp)
    draws[:, walk.starts] = label = draw(p[None], uniform[:, walk.starts])
    state = lattice.states - lattice.k + label
    for rows, tables in walk.edges():
        m = len(rows)
        p = walk.chances(beta, rows, tables)[np.arange(m), state[:, :m]]
        draws[:, rows + 1] = label = draw(p, uniform[:, rows + 1])
        state = walk.successors[state[:, :m], label]
    return draws, walk.spread(value)


def draw(p: Floats, u: Floats) -> Ints:
    """The first label at which the sum of p (…, k) passes u Σ p; one of probability 0 never does."""
    passed = np.cumsum(p, axis=-1)
    label = (passed <= u[..., None] * passed[..., -1:]).sum(axis=-1)
    last = p.shape[-1] - 1 - np.argmax(p[..., ::-1] > 0.0, axis=-1)
    return np.asarray(np.minimum(label, last))


def curvature(lattice: Lattice, weight: Floats, direction: Scores, out: Scores) -> Floats:
    """log Z; out: weight · the change of the marginals along ``direction``.

        future_t(s) = Σ_c P_t(c|s) [ d_t(s, c) + v_{t+1}(c) + future_{t+1}(s') ]
        ∂P_t(c|s)   = P_t(c|s) [ d_t(s, c) + v_{t+1}(c) + future_{t+1}(s') − future_t(s) ]

    Forward-mode differentiation: Tsuboi, Unno, Kashima and Okazaki 2011 (AAAI).
    """
    walk, k = _Walk(lattice), lattice.k
    beta, start, value = walk.sum_messages()
    slant = np.zeros(lattice.edge.shape) if direction.edge is None else direction.edge
    x, future = np.tile(direction.node, lattice.states // k), np.zeros(beta.shape)
    for rows, tables in reversed(list(walk.edges())):
        chances = walk.chances(beta, rows, tables)
        rises = slant[tables] + x[rows + 1][:, walk.successors]
        future[rows] = (chances * rises).sum(axis=2)
        x[rows] += future[rows] - future[rows].mean(axis=1, keepdims=True)  # only differences count
    p, dp = np.zeros(beta.shape), np.zeros(beta.shape)
    p[walk.starts, -k:] = start
    rise = x[walk.starts, -k:]
    dp[walk.starts, -k:] = start * (rise - (start * rise).sum(axis=1, keepdims=True))
    share = weight[walk.sequences]
    for rows, tables in walk.edges():
        chances = walk.chances(beta, rows, tables)
        rises = slant[tables] + x[rows + 1][:, walk.successors] - future[rows][:, :, None]
        changes = chances * (dp[rows][:, :, None] + p[rows][:, :, None] * rises)
        p[rows + 1] = walk.arrive(p[rows][:, :, None] * chances)
        dp[rows + 1] = walk.arrive(changes)
        _add_pairs(lattice, tables, share, changes, out)
    out.node[:] = walk.by_label(dp) * np.repeat(weight, lattice.lengths)[:, None]
    return walk.spread(value)
