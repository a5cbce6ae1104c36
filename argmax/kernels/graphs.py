"""Labels on the nodes of graphs with cycles: messages along edges, and single labels given their neighbours.

Symbols, the same for all kernels here: ``edges`` (E, 2) node pairs u, v; ``which`` (E,) the table of each
edge; ``tables`` e (T, k, k), rows for u; ``message`` (E, 2, k), that of each edge to u (0) and to v (1);
``belief`` (N, k) = s_v + Σ of the messages to v. All numbers are finite.

Pearl 1988 for belief propagation; Globerson and Jaakkola 2007 (NIPS) for the bound.
"""

import numpy as np

from .compile import kernel

__all__ = ["gibbs_sweep", "relax", "sum_sweep"]


@kernel
def _send(e, flip, cavity, out):
    """out(b) = log Σ_a exp [ cavity(a) + e(a, b) ], less its maximum."""
    k, highest = len(cavity), -np.inf
    for b in range(k):
        top = -np.inf
        for a in range(k):
            top = max(top, cavity[a] + (e[b, a] if flip else e[a, b]))
        total = 0.0
        for a in range(k):
            total += np.exp(cavity[a] + (e[b, a] if flip else e[a, b]) - top)
        out[b] = top + np.log(total)
        highest = max(highest, out[b])
    for b in range(k):
        out[b] -= highest


@kernel
def sum_sweep(order, edges, which, tables, damping, message, belief):
    """One sweep of sum-product over the edges in ``order``, both directions of each.

        m_e→v(b) ← damping · m_e→v(b) + (1 − damping) · log Σ_a exp [ B_u(a) − m_e→u(a) + e(a, b) ]

    Beliefs follow every message at once. Returns the largest change of a message.
    """
    k, far = belief.shape[1], 0.0
    cavity, sent = np.empty(k), np.empty(k)
    for i in range(len(order)):
        j = order[i]
        for side in range(2):
            u, v = edges[j, side], edges[j, 1 - side]
            for a in range(k):
                cavity[a] = belief[u, a] - message[j, side, a]
            _send(tables[which[j]], side == 1, cavity, sent)
            for b in range(k):
                new = damping * message[j, 1 - side, b] + (1.0 - damping) * sent[b]
                step = new - message[j, 1 - side, b]
                # What hardly any probability stands behind may move for ever, and says nothing.
                if sent[b] > -40.0:
                    far = max(far, abs(step))
                message[j, 1 - side, b] = new
                belief[v, b] += step
    return far


@kernel
def _dual_sweep(order, edges, which, tables, message, belief, left, right, top, other):
    """One sweep of MPLP, with room to work in (k,) each.

    m_e→u(a) ← ½ max_b [ e(a, b) + λ_v(b) ] − ½ λ_u(a)              λ = B − m_e, and so for v
    """
    k = belief.shape[1]
    for i in range(len(order)):
        j = order[i]
        u, v, e = edges[j, 0], edges[j, 1], tables[which[j]]
        for a in range(k):
            left[a] = belief[u, a] - message[j, 0, a]
            right[a] = belief[v, a] - message[j, 1, a]
            other[a] = -np.inf
        for a in range(k):
            highest = -np.inf
            for b in range(k):
                ahead, back = e[a, b] + right[b], e[a, b] + left[a]
                if ahead > highest:
                    highest = ahead
                other[b] = back if back > other[b] else other[b]
            top[a] = highest
        for a in range(k):
            message[j, 0, a] = 0.5 * (top[a] - left[a])
            message[j, 1, a] = 0.5 * (other[a] - right[a])
            belief[u, a] = left[a] + message[j, 0, a]
            belief[v, a] = right[a] + message[j, 1, a]


@kernel
def _read(first, last, belief, found):
    """The labels of the highest beliefs. Returns the sum of these."""
    total = 0.0
    for v in range(first, last):
        best = 0
        for a in range(1, belief.shape[1]):
            if belief[v, a] > belief[v, best]:
                best = a
        found[v] = best
        total += belief[v, best]
    return total


@kernel
def _score(first, last, order, edges, which, tables, node, labels):
    """s(labels) of the nodes from first to last and the edges in ``order``."""
    total = 0.0
    for v in range(first, last):
        total += node[v, labels[v]]
    for i in range(len(order)):
        j = order[i]
        total += tables[which[j], labels[edges[j, 0]], labels[edges[j, 1]]]
    return total


@kernel
def relax(
    first, last, there, back, starts, ends, sides, edges, which, tables, node, sweeps, tol,
    message, belief, found, labels, state,
):  # fmt: skip
    """Sweeps of MPLP over one example: labels that get better and a bound that never rises.

    After a sweep every max [ e − m_e→u − m_e→v ] is 0, so that Σ_v max B_v bounds the score of any labelling.
    The labels of the highest beliefs are improved one at a time; the best are kept.

    Given the edges of the example there and back, two sweeps at a time, and at most ``sweeps``. state (3,) is
    the value of the labels, the bound, and how many sweeps were made. Returns whether it has ended: where the
    two are within tol, or the bound rests.
    """
    k = belief.shape[1]
    work = np.empty((4, k))
    for _ in range(sweeps):
        order = there if int(state[2]) % 2 == 0 else back
        _dual_sweep(
            order, edges, which, tables, message, belief, work[0], work[1], work[2], work[3]
        )
        before, state[2] = state[1], state[2] + 1
        state[1] = min(before, _read(first, last, belief, found))
        for _ in range(sweeps):
            if not improve(first, last, starts, ends, sides, edges, which, tables, node, found):
                break
        value = _score(first, last, there, edges, which, tables, node, found)
        if value > state[0]:
            state[0] = value
            for v in range(first, last):
                labels[v] = found[v]
        slack = tol * (1.0 + abs(state[1]))
        if state[1] - state[0] <= slack or before - state[1] <= 1e-3 * slack:
            return True
    return False


@kernel
def _given(v, starts, ends, sides, edges, which, tables, node, labels, out):
    """out(a) = s_v(a) + Σ_u e(a, y_u) over the neighbours u.

    Given where the list of each node starts (N + 1,), and in it the edges of the node and its end of each.
    """
    k = len(out)
    for a in range(k):
        out[a] = node[v, a]
    for i in range(starts[v], starts[v + 1]):
        j, side = ends[i], sides[i]
        y = labels[edges[j, 1 - side]]
        for a in range(k):
            out[a] += tables[which[j], a, y] if side == 0 else tables[which[j], y, a]


@kernel
def improve(first, last, starts, ends, sides, edges, which, tables, node, labels):
    """One sweep of better single labels (iterated conditional modes) over the nodes from first to last.

    Returns how many changed.
    """
    k, changed = node.shape[1], 0
    given = np.empty(k)
    for v in range(first, last):
        _given(v, starts, ends, sides, edges, which, tables, node, labels, given)
        best = labels[v]
        for a in range(k):
            if given[a] > given[best]:
                best = a
        if best != labels[v]:
            labels[v] = best
            changed += 1
    return changed


@kernel
def gibbs_sweep(starts, ends, sides, edges, which, tables, node, uniform, labels):
    """Draw every label anew, given its neighbours. Given uniform (N,). Geman and Geman 1984."""
    k = node.shape[1]
    given = np.empty(k)
    for v in range(len(node)):
        _given(v, starts, ends, sides, edges, which, tables, node, labels, given)
        top = -np.inf
        for a in range(k):
            top = max(top, given[a])
        total = 0.0
        for a in range(k):
            given[a] = np.exp(given[a] - top)
            total += given[a]
        passed, limit, chosen = 0.0, uniform[v] * total, 0
        for a in range(k):
            passed += given[a]
            if given[a] > 0.0:
                chosen = a
                if passed > limit:
                    break
        labels[v] = chosen
