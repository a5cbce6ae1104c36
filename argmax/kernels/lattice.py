"""Label sequences in logarithms: exact whatever the scores, order 1 or 2, one table or one for every edge.

*States.* A state is what the next step depends on: for order 1 the label; for order 2 the last two labels,
(a, b) = a·K + b, where a = K is the start. State s shows the label s mod K. Label c follows it into state
turn(s) + c: 0 + c for order 1, (s mod K)·K + c for order 2. So a state has K successors, however many states
there are. The first label b is in state states − K + b.

    max_   β_t(s) = max_c [ e_t(s, c) + S_{t+1}(c) + β_{t+1}(turn(s) + c) ]                     0 at the end
    sum_   β_t(s) = log Σ_c exp [ e_t(s, c) + S_{t+1}(c) + β_{t+1}(turn(s) + c) ]
           P_t(c|s) ∝ exp [ e_t(s, c) + S_{t+1}(c) + β_{t+1}(turn(s) + c) ]

From β on, everything is a walk along P_t, the chain from left to right: no number there is above 1, and none
that counts is lost.

Given everywhere: node (N, K), edge (tables, states, K), offsets (n+1,); ``edges`` (n,), the first table of
each sequence, or empty if one table serves all; the sequences first … last−1 to work on.
"""

import numpy as np

from .compile import kernel
from .sequences import longest_of
from .simd import exp_in_place

__all__ = ["argmax", "curvature", "entropy", "marginals", "sample", "top_k"]


@kernel
def _turn(s, states, K):
    return 0 if states == K else (s % K) * K


@kernel
def _table(edges, i, t):
    """The table between positions t and t+1 of sequence i."""
    return edges[i] + t if len(edges) else 0


@kernel
def _ways(S, table, beta, t, s, row):
    """row_c = e_t(s, c) + S_{t+1}(c) + β_{t+1}(turn(s) + c). Returns the largest."""
    turn, top = _turn(s, len(table), len(row)), -np.inf
    for c in range(len(row)):
        row[c] = table[s, c] + S[t + 1, c] + beta[t + 1, turn + c]
        top = max(top, row[c])
    return top


@kernel
def _exp_sum(row, top):
    """row_c ← exp(row_c − top). Returns Σ_c row_c."""
    total = 0.0
    for c in range(len(row)):
        row[c] -= top
    exp_in_place(row)
    for c in range(len(row)):
        total += row[c]
    return total


@kernel
def _log_sum(row, top):
    """log Σ_c exp(row_c), of which ``top`` is the largest. Used up: row."""
    return top + np.log(_exp_sum(row, top)) if top > -np.inf else top


@kernel
def _softmax(row, top):
    """row_c ← exp(row_c) / Σ_c exp(row_c); all 0 where there is no way on."""
    if top == -np.inf:
        row[:] = 0.0
        return
    share = 1.0 / _exp_sum(row, top)
    for c in range(len(row)):
        row[c] *= share


@kernel
def _beginnings(S, beta, row):
    """row_c = S_0(c) + β_0 of the state of a first label c. Returns the largest."""
    states, K, top = beta.shape[1], len(row), -np.inf
    for c in range(K):
        row[c] = S[0, c] + beta[0, states - K + c]
        top = max(top, row[c])
    return top


@kernel
def _max_messages(S, edge, edges, i, row, beta):
    """β_t(s) by maxima. Returns the score of the best path."""
    beta[len(S) - 1, :] = 0.0
    for t in range(len(S) - 2, -1, -1):
        table = edge[_table(edges, i, t)]
        for s in range(edge.shape[1]):
            beta[t, s] = _ways(S, table, beta, t, s, row)
    return _beginnings(S, beta, row)


@kernel
def _sum_messages(S, edge, edges, i, row, beta):
    """β_t(s) by sums, less max_s β_t(s): small numbers are precise ones. Returns log Z."""
    beta[len(S) - 1, :], base = 0.0, 0.0
    for t in range(len(S) - 2, -1, -1):
        table, top = edge[_table(edges, i, t)], -np.inf
        for s in range(edge.shape[1]):
            beta[t, s] = _log_sum(row, _ways(S, table, beta, t, s, row))
            top = max(top, beta[t, s])
        if top > -np.inf:
            base += top
            for s in range(edge.shape[1]):
                beta[t, s] -= top
    return base + _log_sum(row, _beginnings(S, beta, row))


@kernel
def _first(S, beta, row):
    """row_c = P(y_0 = c)"""
    _softmax(row, _beginnings(S, beta, row))


@kernel
def _next(S, table, beta, t, s, row):
    """row_c = P_t(c|s), all 0 for a state from which there is no way on."""
    _softmax(row, _ways(S, table, beta, t, s, row))


# Sums


@kernel
def marginals(node, edge, offsets, edges, first, last, weight, out, out_edge, value):
    """log Z and weighted marginals. Given weight (n,) or a single 1. Filled out (N, K), value (n,).

    Added to out_edge (tables, states, K), unless it is empty.
    """
    states, K, step = edge.shape[1], node.shape[1], 0 if len(weight) == 1 else 1
    beta, row = np.empty((longest_of(offsets, first, last), states)), np.empty(K)
    p, ahead = np.empty(states), np.empty(states)
    for i in range(first, last):
        S, rows = node[offsets[i] : offsets[i + 1]], out[offsets[i] : offsets[i + 1]]
        value[i], w = 0.0, weight[i * step]
        if not len(S):
            continue
        value[i] = _sum_messages(S, edge, edges, i, row, beta)
        _first(S, beta, row)
        p[:], rows[:] = 0.0, 0.0
        for c in range(K):
            p[states - K + c] = row[c]
        for t in range(len(S)):
            for s in range(states):
                rows[t, s % K] += w * p[s]
            if t == len(S) - 1:
                break
            at, ahead[:] = _table(edges, i, t), 0.0
            for s in range(states):
                if p[s] > 0.0:
                    _next(S, edge[at], beta, t, s, row)
                    turn = _turn(s, states, K)
                    for c in range(K):
                        ahead[turn + c] += p[s] * row[c]
                    if len(out_edge):
                        for c in range(K):
                            out_edge[at, s, c] += w * p[s] * row[c]
            p, ahead = ahead, p


@kernel
def _mean(p, h, at):
    """Σ_c p_c (h_{at+c} − log p_c)"""
    total = 0.0
    for c in range(len(p)):
        if p[c] > 0.0:
            total += p[c] * (h[at + c] - np.log(p[c]))
    return total


@kernel
def entropy(node, edge, offsets, edges, first, last, value, out):
    """h_t(s) = Σ_c P_t(c|s) [ h_{t+1}(turn(s) + c) − log P_t(c|s) ]. Filled value (n,): log Z, out (n,): H.

    Hernando, Crespi and Cybenko 2005 (IEEE Transactions on Information Theory 51).
    """
    states, K = edge.shape[1], node.shape[1]
    beta, row = np.empty((longest_of(offsets, first, last), states)), np.empty(K)
    h, ahead = np.empty(states), np.empty(states)
    for i in range(first, last):
        S = node[offsets[i] : offsets[i + 1]]
        value[i], out[i] = 0.0, 0.0
        if not len(S):
            continue
        value[i] = _sum_messages(S, edge, edges, i, row, beta)
        h[:] = 0.0
        for t in range(len(S) - 2, -1, -1):
            h, ahead, table = ahead, h, edge[_table(edges, i, t)]
            for s in range(states):
                _next(S, table, beta, t, s, row)
                h[s] = _mean(row, ahead, _turn(s, states, K))
        _first(S, beta, row)
        out[i] = _mean(row, h, states - K)


@kernel
def _draw(p, u):
    """The first label at which the sum of p passes u Σ p; labels of probability 0 are stepped over."""
    total, last = 0.0, 0
    for c in range(len(p)):
        total += p[c]
        if p[c] > 0.0:
            last = c
    passed, u = 0.0, u * total
    for c in range(last):
        passed += p[c]
        if passed > u:
            return c
    return last


@kernel
def sample(node, edge, offsets, edges, first, last, uniform, draws, value):
    """Exact draws. Given uniform (draws, N) in [0, 1). Filled draws (draws, N), value (n,): log Z."""
    states, K = edge.shape[1], node.shape[1]
    beta, row = np.empty((longest_of(offsets, first, last), states)), np.empty(K)
    for i in range(first, last):
        start, S = offsets[i], node[offsets[i] : offsets[i + 1]]
        value[i] = 0.0
        if not len(S):
            continue
        value[i] = _sum_messages(S, edge, edges, i, row, beta)
        for r in range(len(draws)):
            _first(S, beta, row)
            c = _draw(row, uniform[r, start])
            s, draws[r, start] = states - K + c, c
            for t in range(len(S) - 1):
                _next(S, edge[_table(edges, i, t)], beta, t, s, row)
                c = _draw(row, uniform[r, start + t + 1])
                s, draws[r, start + t + 1] = _turn(s, states, K) + c, c


# The derivative of the marginals


@kernel
def _futures(S, edge, edges, i, beta, move, slant, row, future, centre):
    """future_t(s) = Σ_c P_t(c|s) [ d_t(s, c) + v_{t+1}(c) + future_{t+1}(turn(s) + c) − centre_{t+1} ].

    centre_t is the mean of future_t over the states that can go on: only differences count.
    """
    states, K = edge.shape[1], len(row)
    future[len(S) - 1, :], centre[len(S) - 1] = 0.0, 0.0
    for t in range(len(S) - 2, -1, -1):
        at, total, alive = _table(edges, i, t), 0.0, 0
        for s in range(states):
            _next(S, edge[at], beta, t, s, row)
            turn, mean = _turn(s, states, K), 0.0
            for c in range(K):
                ahead = move[t + 1, c] + future[t + 1, turn + c] - centre[t + 1]
                mean += row[c] * (slant[at, s, c] + ahead)
            future[t, s] = mean
            if beta[t, s] > -np.inf:
                total, alive = total + mean, alive + 1
        centre[t] = total / max(alive, 1)


@kernel
def curvature(
    node, edge, offsets, edges, first, last, weight, direction, slant, out, out_edge, value
):  # fmt: skip
    """The weighted change of the marginals when nodes move along ``direction`` (N, K), edges along ``slant``.

    The formulas are those of ``chain.curvature_rows``. Given slant, of the shape of edge. Filled out (N, K),
    value (n,): log Z; added to out_edge (tables, states, K), unless it is empty.
    """
    states, K, step = edge.shape[1], node.shape[1], 0 if len(weight) == 1 else 1
    longest, row = longest_of(offsets, first, last), np.empty(K)
    beta, future = np.empty((longest, states)), np.empty((longest, states))
    centre = np.empty(longest)
    p, ahead = np.empty(states), np.empty(states)
    dp, dahead = np.empty(states), np.empty(states)
    for i in range(first, last):
        S, rows = node[offsets[i] : offsets[i + 1]], out[offsets[i] : offsets[i + 1]]
        move, w = direction[offsets[i] : offsets[i + 1]], weight[i * step]
        value[i] = 0.0
        if not len(S):
            continue
        value[i] = _sum_messages(S, edge, edges, i, row, beta)
        _futures(S, edge, edges, i, beta, move, slant, row, future, centre)
        _first(S, beta, row)
        p[:], dp[:], rows[:] = 0.0, 0.0, 0.0
        mean = 0.0
        for c in range(K):
            mean += row[c] * (move[0, c] + future[0, states - K + c])
        for c in range(K):
            p[states - K + c] = row[c]
            dp[states - K + c] = row[c] * (move[0, c] + future[0, states - K + c] - mean)
        for t in range(len(S)):
            for s in range(states):
                rows[t, s % K] += w * dp[s]
            if t == len(S) - 1:
                break
            at, ahead[:], dahead[:] = _table(edges, i, t), 0.0, 0.0
            for s in range(states):
                if p[s] <= 0.0:
                    continue
                _next(S, edge[at], beta, t, s, row)
                turn = _turn(s, states, K)
                for c in range(K):
                    rise = slant[at, s, c] + move[t + 1, c] - future[t, s]
                    rise += future[t + 1, turn + c] - centre[t + 1]
                    change = row[c] * (dp[s] + p[s] * rise)
                    ahead[turn + c] += p[s] * row[c]
                    dahead[turn + c] += change
                    if len(out_edge):
                        out_edge[at, s, c] += w * change
            p, ahead, dp, dahead = ahead, p, dahead, dp


# Maxima


@kernel
def argmax(node, edge, offsets, edges, first, last, labels, value):
    """The best path, of equals the first in lexicographic order. Filled labels (N,), value (n,)."""
    states, K = edge.shape[1], node.shape[1]
    beta, row = np.empty((longest_of(offsets, first, last), states)), np.empty(K)
    for i in range(first, last):
        start, S = offsets[i], node[offsets[i] : offsets[i + 1]]
        value[i], s = 0.0, -1
        if not len(S):
            continue
        value[i] = _max_messages(S, edge, edges, i, row, beta)
        for t in range(len(S)):
            if t > 0:
                _ways(S, edge[_table(edges, i, t - 1)], beta, t - 1, s, row)
            else:
                _beginnings(S, beta, row)
            best = 0
            for c in range(1, K):
                if row[c] > row[best]:
                    best = c
            labels[start + t] = best
            s = (states - K if t == 0 else _turn(s, states, K)) + best


@kernel
def _insert(values, codes, value, code):
    """Into a list sorted by falling value, behind its equals; the last one drops out."""
    r = len(values) - 1
    while r > 0 and values[r - 1] < value:
        values[r], codes[r] = values[r - 1], codes[r - 1]
        r -= 1
    values[r], codes[r] = value, code


@kernel
def top_k(node, edge, offsets, edges, first, last, labels, value):
    """The k best paths, best first. Filled labels (k, N), value (k, n); beyond the last path −1 and −inf.

    max_ with a sorted list of k values for each state instead of one. A path is remembered by a code for each
    state and rank: label · k + rank of what follows.
    """
    states, K, k = edge.shape[1], node.shape[1], len(labels)
    longest = longest_of(offsets, first, last)
    best, ahead = np.empty((states, k)), np.empty((states, k))
    codes = np.empty((longest, states, k), np.int32)
    firsts, first_codes = np.empty(k), np.empty(k, np.int32)
    for i in range(first, last):
        start, S = offsets[i], node[offsets[i] : offsets[i + 1]]
        if not len(S):
            value[0, i] = 0.0
            continue
        best[:] = -np.inf
        best[:, 0] = 0.0
        for t in range(len(S) - 2, -1, -1):
            table = edge[_table(edges, i, t)]
            ahead, best = best, ahead
            best[:] = -np.inf
            for s in range(states):
                turn = _turn(s, states, K)
                for c in range(K):
                    score = table[s, c] + S[t + 1, c]
                    for r in range(k):
                        total = score + ahead[turn + c, r]
                        if not total > best[s, k - 1]:
                            break
                        _insert(best[s], codes[t, s], total, c * k + r)
        firsts[:] = -np.inf
        for c in range(K):
            for r in range(k):
                total = S[0, c] + best[states - K + c, r]
                if not total > firsts[k - 1]:
                    break
                _insert(firsts, first_codes, total, c * k + r)
        for rank in range(k):
            value[rank, i] = firsts[rank]
            if firsts[rank] == -np.inf:
                break
            code = first_codes[rank]
            s = states - K + code // k
            labels[rank, start] = code // k
            for t in range(len(S) - 1):
                code = codes[t, s, code % k]
                s = _turn(s, states, K) + code // k
                labels[rank, start + t + 1] = code // k
