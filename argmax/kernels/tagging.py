"""One pass over label sequences with attributes: scores, forward–backward and gradient of each, fused.

A sequence is gathered, summed over and scattered before the next one, in memory for the longest: a pass
leaves nothing behind and needs nothing of the size of the data.

Given everywhere: ``plan`` and ``weights`` of ``attributes``; labels (N,), offsets (n+1,), the sequences
first … last−1, tables of ``chain.tables`` or ``triples.tables`` (see ``sequences`` for how kernels tell their
orders apart), weight (n,) or a single 1, cost (K, K) or nothing, and its scale
(N,) or a single 1.
"""

from typing import Any, NamedTuple

import numpy as np

from . import triples
from .attributes import ahead, labels_of, most_of, scatter, scores, scores_of_rows, turn
from .compile import kernel
from .sequences import (
    FLUSH,
    add_transitions,
    best_path,
    flush,
    longest_of,
    memory,
    messages,
    neighbours,
    squared_neighbours,
    sums,
)
from .simd import add, exp, load, mul, plus, store, times

__all__ = [
    "Tables",
    "augment",
    "curvatures",
    "descend",
    "log_loss",
    "max_loss",
    "part_adjoint",
    "part_scores",
    "perceive",
    "tag",
    "token_scores",
]


class Tables(NamedTuple):
    """The transitions: e (K, K), or (K+1, K, K) for order 2, and E = exp(e − top), its transpose flat."""

    edge: Any
    E: Any
    Et: Any
    top: Any


@kernel
def _step(edge, labels, start, t):
    """The score of the transition from position t − 1 to t."""
    b, c = labels[start + t - 1], labels[start + t]
    if edge.ndim == 3:
        return edge[labels[start + t - 2] if t > 1 else len(edge) - 1, b, c]
    return edge[b, c]


@kernel
def _score_of_step(M, labels, start, t, P):
    """The same, of M as ``best_path`` takes it."""
    if M.ndim == 3:
        return _step(M, labels, start, t)
    return M[labels[start + t - 1] * P + labels[start + t]]


@kernel
def _add_step(edge, labels, start, t, amount):
    """edge += amount where that transition is."""
    b, c = labels[start + t - 1], labels[start + t]
    if edge.ndim == 3:
        edge[labels[start + t - 2] if t > 1 else len(edge) - 1, b, c] += amount
    else:
        edge[b, c] += amount


@kernel
def _gold(s, edge, labels, start, L, P):
    """The score of the labels that are right."""
    value = 0.0
    for t in range(L):
        value += s[t * P + labels[start + t]]
        if t:
            value += _step(edge, labels, start, t)
    return value


@kernel
def _subtract(labels, start, L, P, weight, p, edge):
    """p and edge less weight · the indicators of the right labels."""
    for t in range(L):
        p[t * P + labels[start + t]] -= weight
        if t:
            _add_step(edge, labels, start, t, -weight)


@kernel
def augment(s, labels, start, L, P, cost, scale, factor):
    """s (L, P) += factor · scale · cost of each label where the given ones are right."""
    each = 0 if len(scale) == 1 else 1
    for t in range(L if len(cost) else 0):
        y, x = labels[start + t], s.dtype.type(factor * scale[(start + t) * each])
        for c in range(len(cost)):
            s[t * P + c] += x * cost[y, c]


@kernel
def _copied(s, L, P, out, LANES):
    for k in range(0, L * P, len(LANES)):
        store(out, k, load(s, k, LANES))


@kernel
def _sums(s, tables, weight, L, K, P, room, p, T, edge, LANES):
    """log Z, or NaN if it lost its footing, and nothing is added then. Used up: s.

    Filled p (L, P): weight · marginals; added to T, now and then to edge: the expected transitions.
    """
    _, E, Et, top = tables
    value = sums(s, E, Et, top, weight, room, p, edge, L, K, P, LANES)
    if value == value:
        neighbours(s, E, room, T, edge, L, K, P, LANES)
    return value


@kernel
def _truth_sums(s, q, tables, allowed, weight, start, L, K, P, room, p, r, T, edge, LANES):
    """−log Z of the allowed labels, and p −= their share. Given s; used up: q, r."""
    _copied(s, L, P, q, LANES)
    for t in range(L):
        for c in range(K):
            if not allowed[start + t, c]:
                q[t * P + c] = -np.inf
    value = _sums(q, tables, -weight, L, K, P, room, r, T, edge, LANES)
    for k in range(L * P):
        p[k] += r[k]
    return -value


@kernel
def log_loss(
    plan, weights, tables, labels, allowed, cost, cost_scale, offsets, first, last, weight, gradient, edge,
    value, LANES
):  # fmt: skip
    """value_i = weight_i (log Z − score of the truth), and the gradient of their sum.

    The truth is labels, or every sequence of ``allowed`` (N, K) labels unless that is empty. With ``cost``
    (K, K), c(y_t, a) is added to the scores in log Z. Filled value (n,); added to gradient and edge.
    Where value is NaN, nothing was added: that sequence needs logarithms (``lattice``).
    """
    K, P, dtype = edge.shape[1], len(weights.base), weights.table.dtype
    step, longest = 0 if len(weight) == 1 else 1, longest_of(offsets, first, last)
    s, p = np.empty(longest * P, dtype), np.empty(longest * P, dtype)
    room = memory(edge, longest, K, P, s)
    copy = np.empty(longest * P if len(allowed) else 0, dtype)
    q, r = np.empty(len(copy), dtype), np.empty(len(copy), dtype)
    T, waiting, one = np.zeros(len(tables.Et), dtype), 0, dtype.type(1)
    for i in range(first, last):
        start, L, w = offsets[i], offsets[i + 1] - offsets[i], dtype.type(weight[i * step])
        value[i] = 0.0
        if not L:
            continue
        scores(plan, weights, labels, start, L, s, P, LANES)
        if len(allowed):
            _copied(s, L, P, copy, LANES)
        gold = _gold(s, tables.edge, labels, start, L, P)
        augment(s, labels, start, L, P, cost, cost_scale, 1.0)
        total = _sums(s, tables, w, L, K, P, room, p, T, edge, LANES)
        if len(allowed) and total == total:
            given = (tables, allowed, w, start, L, K, P, room, p, r, T, edge, LANES)
            gold = -_truth_sums(copy, q, *given)
            if gold != gold:  # take back what was added
                _sums(copy, tables, -w, L, K, P, room, p, T, edge, LANES)
        value[i] = weight[i * step] * (total - gold)
        if value[i] != value[i]:
            continue
        if not len(allowed):
            _subtract(labels, start, L, P, w, p, edge)
        scatter(plan, labels, start, L, p, one, gradient, p[:0], P, LANES)
        waiting += L
        if waiting > FLUSH:
            flush(tables.E, T, edge)
            waiting = 0
    flush(tables.E, T, edge)


@kernel
def curvatures(
    plan, squared, weights, tables, labels, cost, cost_scale, offsets, first, last, weight, diagonal, edge,
    LANES
):  # fmt: skip
    """The variances of what a label, a transition occurs, weighted and summed up: p − p² at every place.

    That is the diagonal of the Hessian of Σ ``log_loss``, if places are taken for independent. ``squared`` is
    the plan with its values squared. Added to diagonal and edge. A sequence whose sums are not finite
    is left out.
    """
    K, P, dtype = edge.shape[1], len(weights.base), weights.table.dtype
    step, longest = 0 if len(weight) == 1 else 1, longest_of(offsets, first, last)
    s, p = np.empty(longest * P, dtype), np.empty(longest * P, dtype)
    room, waiting, one = memory(edge, longest, K, P, s), 0, dtype.type(1)
    T, T2 = np.zeros(len(tables.Et), dtype), np.zeros(len(tables.Et), dtype)
    E2 = -tables.E * tables.E  # Σ_t p_t(a, b)² = E(a, b)² Σ_t u_t(a)² g_{t+1}(b)²
    for i in range(first, last):
        start, L, w = offsets[i], offsets[i + 1] - offsets[i], dtype.type(weight[i * step])
        if not L or not w:
            continue
        scores(plan, weights, labels, start, L, s, P, LANES)
        augment(s, labels, start, L, P, cost, cost_scale, 1.0)
        value = _sums(s, tables, w, L, K, P, room, p, T, edge, LANES)
        if value != value:
            continue
        for k in range(0, L * P, len(LANES)):
            q = load(p, k, LANES)
            store(p, k, add(q, times(-one / w, mul(q, q))))
        squared_neighbours(s, one / w, room, edge, L, K, P, LANES)
        neighbours(s, E2, room, T2, edge, L, K, P, LANES)
        scatter(squared, labels, start, L, p, one, diagonal, p[:0], P, LANES)
        waiting += L
        if waiting > FLUSH:
            flush(tables.E, T, edge)
            flush(E2, T2, edge)
            waiting = 0
    flush(tables.E, T, edge)
    flush(E2, T2, edge)


@kernel
def max_loss(
    plan, weights, M, Mt, labels, cost, cost_scale, offsets, first, last, weight, gradient, edge, value, LANES
):  # fmt: skip
    """value_i = weight_i (max over y' of score + cost − score of the truth), and a subgradient of their sum.

    Given M = e and Mt as ``sequences.best_path`` takes them. Filled value (n,); added to gradient and edge.
    """
    K, P, dtype = edge.shape[1], len(weights.base), weights.table.dtype
    step = 0 if len(weight) == 1 else 1
    longest = longest_of(offsets, first, last)
    s, best = np.empty(longest * P, dtype), np.empty(longest, np.int64)
    V = messages(M, longest, K, P)
    for i in range(first, last):
        start, L, w = offsets[i], offsets[i + 1] - offsets[i], weight[i * step]
        value[i] = 0.0
        if not L:
            continue
        scores(plan, weights, labels, start, L, s, P, LANES)
        gold = 0.0
        for t in range(L):
            gold += s[t * P + labels[start + t]]
            if t:
                gold += _score_of_step(M, labels, start, t, P)
        augment(s, labels, start, L, P, cost, cost_scale, 1.0)
        value[i] = w * (best_path(s, M, Mt, V, best, L, K, P, LANES) - gold)
        for t in range(L):
            y, other = labels[start + t], best[t]
            if y != other:
                turn(plan, start + t, y, other, dtype.type(-w), gradient, s[:0], P)
                if t == 0:
                    gradient.first[y] -= w
                    gradient.first[other] += w
            if t:
                _add_step(edge, labels, start, t, -w)
                _add_step(edge, best, 0, t, w)


@kernel
def part_scores(plan, weights, labels, offsets, first, last, node, LANES):
    """node (tokens of these sequences, K): their scores."""
    K, P = node.shape[1], len(weights.base)
    s = np.empty(longest_of(offsets, first, last) * P, weights.table.dtype)
    for i in range(first, last):
        start, L, at = offsets[i], offsets[i + 1] - offsets[i], offsets[i] - offsets[first]
        if L:
            scores(plan, weights, labels, start, L, s, P, LANES)
        for t in range(L):
            for c in range(K):
                node[at + t, c] = s[t * P + c]


@kernel
def part_adjoint(plan, out, labels, offsets, first, last, node, LANES):
    """out += the features of these sequences times their residuals node (tokens, K)."""
    K, P, dtype = node.shape[1], len(out.base), out.table.dtype
    r = np.zeros(longest_of(offsets, first, last) * P, dtype)
    for i in range(first, last):
        start, L, at = offsets[i], offsets[i + 1] - offsets[i], offsets[i] - offsets[first]
        for t in range(L):
            for c in range(K):
                r[t * P + c] = node[at + t, c]
        if L:
            scatter(plan, labels, start, L, r, dtype.type(1), out, r[:0], P, LANES)


# Single steps. Their edge holds the transitions that change from one step to the next, −inf beyond K: (P, P)
# flat, or for order 2 Mᵗ of ``triples`` as (K+1, K, P).


@kernel
def _exp_table(edge, scale, K, P, E, Et, LANES):
    """E = exp(scale · edge − top) and its transpose. Returns top."""
    if edge.ndim == 3:
        return triples.exp_tables(edge.ravel(), scale, E, Et, K, P, LANES)
    top = edge[0]
    for a in range(K):
        for b in range(K):
            top = max(top, edge[a * P + b])
    top *= scale
    for k in range(0, K * P, len(LANES)):
        store(E, k, exp(plus(-top, times(scale, load(edge, k, LANES)))))
    for a in range(K):
        for b in range(K):
            Et[b * P + a] = E[a * P + b]
    return top


@kernel
def _place(edge, labels, start, t, K, P):
    """Where the transition from position t − 1 to t is in an edge."""
    if edge.ndim == 3:
        return triples.place(labels, start, t, K, P)
    return labels[start + t - 1] * P + labels[start + t]


@kernel
def _descend_edge(edge, factor, E, Et, T, K, P, LANES):
    """edge += factor · the expected transitions, T ← 0."""
    if edge.ndim == 3:
        triples.descend(edge.ravel(), factor, Et, T, K, P)
        return
    for k in range(0, K * P, len(LANES)):
        change = times(factor, mul(load(E, k, LANES), load(T, k, LANES)))
        store(edge, k, add(load(edge, k, LANES), change))
    T[:] = 0.0


@kernel
def descend(
    plan, weights, mask, edge, labels, offsets, order, weight, state, eta, decay, cost, cost_scale, LANES
):  # fmt: skip
    """Stochastic gradient steps on sequences in this order, for w = scale · weights.

    loss_i + ½ decay ‖w‖² of one sequence after the other, at a rate of eta / (1 + eta · decay · t). Given
    state = (scale, t); edge: the transitions, −inf where there is none; mask of the pairs in the table.
    Returns Σ loss before each step. Shalev-Shwartz, Singer, Srebro and Cotter 2011 for the scale; Bottou 2010
    (COMPSTAT) for the rate.
    """
    P, dtype, longest = len(weights.base), weights.table.dtype, 0
    K, size = labels_of(weights), 0 if len(weight) == 1 else 1
    for i in order:
        longest = max(longest, offsets[i + 1] - offsets[i])
    s, p = np.empty(longest * P, dtype), np.empty(longest * P, dtype)
    room, pairs, loss = memory(edge, longest, K, P, s), edge.ravel(), 0.0
    E = np.zeros(edge.size + (2 * K * P if edge.ndim == 3 else 0), dtype)
    Et, T = np.zeros(edge.size, dtype), np.zeros(edge.size, dtype)
    for at in range(len(order)):
        i = order[at]
        start, L, w = offsets[i], offsets[i + 1] - offsets[i], dtype.type(weight[i * size])
        ahead(plan, offsets, order, at)
        if not L:
            continue
        scale = dtype.type(state[0])
        top = _exp_table(edge, scale, K, P, E, Et, LANES)
        scores(plan, weights, labels, start, L, s, P, LANES)
        for k in range(0, L * P, len(LANES)):
            store(s, k, times(scale, load(s, k, LANES)))
        value = 0.0
        for t in range(L):
            value -= s[t * P + labels[start + t]]
            if t:
                value -= scale * pairs[_place(edge, labels, start, t, K, P)]
        augment(s, labels, start, L, P, cost, cost_scale, 1.0)
        value += sums(s, E, Et, top, w, room, p, edge, L, K, P, LANES)
        if value != value:  # never seen in practice; this sequence waits for its next turn
            continue
        add_transitions(s, room, T, edge, 0, L, K, P, LANES)
        loss += w * value
        rate = eta / (1.0 + eta * decay * state[1])
        state[0] *= 1.0 - rate * decay
        state[1] += 1.0
        factor = dtype.type(-rate / state[0])
        for t in range(L):
            p[t * P + labels[start + t]] -= w
            if t:
                pairs[_place(edge, labels, start, t, K, P)] -= factor * w
        _descend_edge(edge, factor, E, Et, T, K, P, LANES)
        scatter(plan, labels, start, L, p, factor, weights, mask, P, LANES)
    return loss


@kernel
def _transposed(edge, P):
    """Mt of ``best_path``: of order 2 the edge itself, of order 1 a copy."""
    if edge.ndim == 3:
        return edge.ravel()
    turned = edge.copy()
    for a in range(P):
        for b in range(P):
            turned[b * P + a] = edge[a * P + b]
    return turned


@kernel
def perceive(
    plan, weights, late, mask, edge, late_edge, labels, offsets, order, weight, count, cost, cost_scale,
    growth, LANES
):  # fmt: skip
    """Perceptron updates on sequences in this order: v += weight (Ψ(y) − Ψ(ŷ)) (Collins 2002).

    ŷ = argmax ⟨v, Ψ⟩ + growth · (count − 1) · cost, where count is the number of the step: with a growth λ
    these are subgradient steps of length 1/(λ count) on w = v / (λ count) (Shalev-Shwartz et al. 2011).
    ``late`` and ``late_edge`` add up count · update, so that v − late / count is the mean of all v so far,
    the first one included. Returns the wrong tokens, the count, and Σ weight · cost of ŷ.
    """
    P, dtype, longest, wrong, paid = len(weights.base), weights.table.dtype, 0, 0, 0.0
    K, size, each = labels_of(weights), len(weight) > 1, len(cost_scale) > 1
    for i in order:
        longest = max(longest, offsets[i + 1] - offsets[i])
    s, best, V = (
        np.empty(longest * P, dtype),
        np.empty(longest, np.int64),
        messages(edge, longest, K, P),
    )
    turned, pairs, late_pairs = _transposed(edge, P), edge.ravel(), late_edge.ravel()
    for at in range(len(order)):
        i = order[at]
        start, L = offsets[i], offsets[i + 1] - offsets[i]
        ahead(plan, offsets, order, at)
        if not L:
            continue
        w = weight[i * size]
        one = dtype.type(w)
        scores(plan, weights, labels, start, L, s, P, LANES)
        augment(s, labels, start, L, P, cost, cost_scale, growth * max(count - 1, 1))
        best_path(s, edge, turned, V, best, L, K, P, LANES)
        for t in range(L):
            y, guess = np.int64(labels[start + t]), best[t]
            if len(cost):
                paid += w * cost_scale[(start + t) * each] * cost[y, guess]
            if y != guess:
                wrong += 1
                turn(plan, start + t, y, guess, one, weights, mask, P)
                turn(plan, start + t, y, guess, w * count, late, mask, P)
                if t == 0:
                    for label, sign in ((y, 1), (guess, -1)):
                        weights.first[label] += sign * one
                        late.first[label] += sign * w * count
            if t:
                at, other = _place(edge, labels, start, t, K, P), _place(edge, best, 0, t, K, P)
                if at != other:
                    pairs[at] += one
                    pairs[other] -= one
                    late_pairs[at] += w * count
                    late_pairs[other] -= w * count
                    if edge.ndim == 1:
                        turned[at % P * P + at // P] += one
                        turned[other % P * P + other // P] -= one
        count += 1
    return wrong, count, paid


# Answers


@kernel
def token_scores(
    indptr, indices, values, step, row, ptr, weights, offsets, first, last, node, LANES
):
    """node (N, K): the scores of tokens that no plan has, start and end of their sequences included."""
    K, P = node.shape[1], len(weights.base)
    s, stop = np.empty(longest_of(offsets, first, last) * P, weights.table.dtype), offsets[last]
    most = 1 + most_of(indptr, offsets[first], stop)
    heavy, light = np.empty(most, np.int64), np.empty(most, np.int64)
    for i in range(first, last):
        start, L = offsets[i], offsets[i + 1] - offsets[i]
        if L:
            scores_of_rows(
                indptr, indices, values, step, row, ptr, weights, start, L, stop, s, heavy, light, P, LANES
            )  # fmt: skip
        for t in range(L):
            for c in range(K):
                node[start + t, c] = s[t * P + c]


@kernel
def tag(
    indptr, indices, values, step, row, ptr, weights, M, Mt, offsets, first, last, labels, value, LANES
):  # fmt: skip
    """The best path of each sequence. Given M = e and Mt as ``sequences.best_path`` takes them.

    Filled labels (N,), value (n,).
    """
    K, P, longest = labels_of(weights), len(weights.base), longest_of(offsets, first, last)
    s, stop = np.empty(longest * P, weights.table.dtype), offsets[last]
    V = messages(M, longest, K, P)
    most = 1 + most_of(indptr, offsets[first], stop)
    heavy, light = np.empty(most, np.int64), np.empty(most, np.int64)
    for i in range(first, last):
        start, L = offsets[i], offsets[i + 1] - offsets[i]
        value[i] = 0.0
        if L:
            scores_of_rows(
                indptr, indices, values, step, row, ptr, weights, start, L, stop, s, heavy, light, P, LANES
            )  # fmt: skip
            value[i] = best_path(s, M, Mt, V, labels[start:], L, K, P, LANES)
