"""The labelling of least loss, node after node: states of a frontier, those that cost too much dropped.

    loss(y) = Σ_v L_v(y_v) + Σ_(u,v) E_uv(y_u, y_v)                  L, E ≥ 0;  u before v in the order

Symbols, the same for all kernels here: n nodes in order; ``starts`` (n + 1,), where each node's list of
neighbours ``before`` it begins (E,); ``edge`` (E, m, m) a table for each of these, rows for the earlier node;
``node`` (n, m); ``sizes`` (n,) ≤ m, how many labels a node has. A node is on the frontier from its turn until
the last of its neighbours had its own. A state is the labels of the frontier, each in a field of so many
``bits`` of a key.

Dechter and Rish 2003 (JACM 50) for bounds that are moved along an order; Larrosa and Schiex 2004 (Artificial
Intelligence 159) for losses that are moved and stay non-negative.
"""

import numpy as np

from .compile import kernel

__all__ = ["lay_out", "line_up", "push_ahead", "search", "trace"]


@kernel
def _walk(root, heads, first, seen, mark, line, begin):
    """Nodes of the component of a root, breadth first, into the line from begin. Returns its end."""
    line[begin], seen[root], end = root, mark, begin + 1
    while begin < end:
        v = line[begin]
        begin += 1
        for i in range(first[v], first[v + 1]):
            if seen[heads[i]] != mark:
                seen[heads[i]] = mark
                line[end] = heads[i]
                end += 1
    return end


@kernel
def line_up(heads, first, line):
    """An order of n nodes that keeps neighbours near each other, one component after the other.

    Breadth first, from a node at the far end of its component: the last of a walk from any. Given first
    (n + 1,), where the list of neighbours of each node in heads begins. Fills in line (n,).
    """
    n, end = len(line), 0
    seen = np.zeros(n, np.int8)
    for v in range(n):
        if seen[v] == 0:
            far = _walk(v, heads, first, seen, 1, line, end)
            end = _walk(line[far - 1], heads, first, seen, 2, line, end)


@kernel
def lay_out(starts, before, bits, field, stay):
    """A field of the key for each node, free again after the turn of its last neighbour.

    Fills in field (n,), and stay (n,): the bits that outlive the turn of each node. Returns False where more
    than 63 bits would be needed.
    """
    n = len(field)
    last, fields = np.arange(n), 63 // bits
    for v in range(n):
        for i in range(starts[v], starts[v + 1]):
            last[before[i]] = v
    owner = np.full(fields, -1)
    for v in range(n):
        field[v] = -1
        for f in range(fields):
            if owner[f] < 0:
                field[v] = f
                break
        if field[v] < 0:
            return False
        owner[field[v]] = v
        stay[v] = np.int64(-1)
        for f in range(fields):
            if owner[f] >= 0 and last[owner[f]] == v:
                owner[f] = -1
                stay[v] &= ~(((np.int64(1) << bits) - 1) << (f * bits))
    return True


@kernel
def push_ahead(starts, before, sizes, node, edge):
    """Move losses to the earliest node that can tell them, from the last node to the first.

        with p neighbours before v, for each u of them:
            E_uv(a, b) += L_v(b) / p            δ(a) = min_b E_uv(a, b)
            E_uv(a, b) −= δ(a)                  L_u(a) += δ(a)
        L_v = 0

    The loss of any labelling stays what it is, and no number becomes negative. A state then has paid for what
    each of its labels must still cost.
    """
    for v in range(len(sizes) - 1, -1, -1):
        p = starts[v + 1] - starts[v]
        for i in range(starts[v], starts[v + 1]):
            u = before[i]
            for a in range(sizes[u]):
                least = np.inf
                for b in range(sizes[v]):
                    edge[i, a, b] += node[v, b] / p
                    least = min(least, edge[i, a, b])
                for b in range(sizes[v]):
                    edge[i, a, b] -= least
                node[u, a] += least
        if p > 0:
            node[v] = 0.0


@kernel
def search(
    starts, before, sizes, node, edge, bits, field, stay, most, budget,
    key, loss, parent, place, slots, layers, progress,
):  # fmt: skip
    """States of one frontier after the other; of those with equal keys the one of least loss is kept.

    States of more than ``most`` loss are dropped. All states lie one after the other in key, loss, parent and
    place (limit,): the labels, what they cost, the state they come from, the label of the newest node. Those
    before the turn of v begin at layers[v] (n + 2,). slots (a power of two > limit,), zeros at first, is a
    hash table of the layer that is being made: what points below its beginning is old, as good as empty.
    progress (3,) is the node whose turn it is, the state to go on from, and the end of all states.

    Returns 1 at the end, 0 after some ``budget`` losses (call again), −1 where there is no room for a state.
    """
    wrap, low = len(slots) - 1, (np.int64(1) << bits) - 1
    s, end, done = progress[1], progress[2], 0
    for v in range(progress[0], len(sizes)):
        begin = layers[v + 1]
        while s < begin:
            if done >= budget:
                progress[0], progress[1], progress[2] = v, s, end
                return 0
            for a in range(sizes[v]):
                total = loss[s] + node[v, a]
                for i in range(starts[v], starts[v + 1]):
                    total += edge[i, (key[s] >> (field[before[i]] * bits)) & low, a]
                if total > most:
                    continue
                state = (key[s] | (np.int64(a) << (field[v] * bits))) & stay[v]
                mixed = state * np.int64(-7046029254386353131)  # 2^64 / the golden ratio: Knuth
                h = (mixed ^ (mixed >> 32)) & wrap
                while slots[h] >= begin and key[slots[h]] != state:
                    h = (h + 1) & wrap
                found = slots[h]
                if found < begin:
                    if end == len(key):
                        progress[0] = v
                        return -1
                    found = end
                    slots[h], key[end], loss[end] = end, state, np.inf
                    end += 1
                if total < loss[found]:
                    loss[found], parent[found], place[found] = total, s, a
            done += sizes[v]
            s += 1
        layers[v + 2] = end
    return 1


@kernel
def trace(state, parent, place, out):
    """The labels (n,) on the way to a state of the last layer."""
    for v in range(len(out) - 1, -1, -1):
        out[v] = place[state]
        state = parent[state]
