"""Labels on the nodes of rooted forests: max- and sum-product, draws.

    m_c(a)   = max_b [ e(a, b) + I_c(b) ]   or   log Σ_b exp [ e(a, b) + I_c(b) ]
    I_v(a)   = s_v(a) + Σ_c m_c(a)
    P(b | a) ∝ exp [ e(a, b) + I_c(b) ]

Symbols, the same for all kernels here: ``order`` (m,) nodes, a parent ahead of its children; ``parent`` (N,),
−1 for a root; ``table`` (N,) the table of the edge to the parent, and ``turned`` (N,) whether that table has
the child's label in its rows; ``tables`` e (T, k, k).

*Range.* Where a table has no −inf and spans less than ``SPAN``, sums over b of
exp(e(a, b) − max e) exp(I_c(b) − max I_c) cannot underflow: the exponentials of the table are taken once,
outside, and ``plain`` says so. Other tables go through a maximum for each a.

Pearl 1988 (Probabilistic Reasoning in Intelligent Systems), chapter 4.
"""

import numpy as np

from .compile import kernel

__all__ = ["SPAN", "first_of_equals", "max_down", "max_up", "sample", "sum_down", "sum_up"]

SPAN = 500.0


@kernel
def max_up(order, parent, table, turned, tables, inside):
    """I of every node, for maxima. Given inside (N, k) holding s; filled with I."""
    k = inside.shape[1]
    for i in range(len(order) - 1, -1, -1):
        c = order[i]
        p = parent[c]
        if p < 0:
            continue
        e, flip = tables[table[c]], turned[c]
        for a in range(k):
            best = -np.inf
            for b in range(k):
                way = (e[b, a] if flip else e[a, b]) + inside[c, b]
                best = max(best, way)
            inside[p, a] += best


@kernel
def max_down(order, parent, table, turned, tables, inside, labels):
    """The best labels, given I. Filled labels (N,). Returns whether another labelling may be as good."""
    k, ties = inside.shape[1], 0
    for i in range(len(order)):
        c = order[i]
        p = parent[c]
        best, chosen, equals = -np.inf, 0, 0
        for b in range(k):
            way = inside[c, b]
            if p >= 0:
                a = labels[p]
                way = (tables[table[c], b, a] if turned[c] else tables[table[c], a, b]) + way
            if way > best:
                best, chosen, equals = way, b, 1
            elif way == best:
                equals += 1
        labels[c] = chosen
        ties += equals > 1
    return ties > 0


@kernel
def _partners(e, flip, inside, a, best):
    """best (k,) = which b reach max_b [ e(a, b) + I_c(b) ]."""
    k, top = len(inside), -np.inf
    for b in range(k):
        top = max(top, (e[b, a] if flip else e[a, b]) + inside[b])
    for b in range(k):
        best[b] = (e[b, a] if flip else e[a, b]) + inside[b] == top


@kernel
def first_of_equals(order, parent, table, turned, tables, inside, labels):
    """The first best labelling in lexicographic order, given I. Filled labels (N,).

    1. live (N, k): labels that some best labelling has, from the roots down.
    2. For v = 0, 1, …: keep the first live label, and take away at the neighbours, and at theirs, what has no
       partner any more. On a tree, a label with a partner at every neighbour is part of a best labelling.
    """
    N, k = inside.shape
    live, best = np.zeros((N, k), np.bool_), np.empty(k, np.bool_)
    first, following = np.full(N, -1, np.int64), np.full(N, -1, np.int64)  # lists of children
    for i in range(len(order)):
        c = order[i]
        p = parent[c]
        if p < 0:
            top = -np.inf
            for b in range(k):
                top = max(top, inside[c, b])
            for b in range(k):
                live[c, b] = inside[c, b] == top
            continue
        following[c], first[p] = first[p], c
        for a in range(k):
            if live[p, a]:
                _partners(tables[table[c]], turned[c], inside[c], a, best)
                for b in range(k):
                    live[c, b] |= best[b]
    waiting, left, stack = np.sort(order), np.empty(k, np.bool_), [order[0]]
    stack.pop()
    for i in range(len(waiting)):
        v = waiting[i]
        found = False
        for b in range(k):
            if live[v, b] and found:
                live[v, b] = False
                if len(stack) == 0:
                    stack.append(v)
            elif live[v, b]:
                labels[v], found = b, True
        while len(stack) > 0:
            u = stack.pop()
            p = parent[u]
            if p >= 0:  # labels of the parent that still have a partner here
                lost = False
                for a in range(k):
                    if live[p, a]:
                        _partners(tables[table[u]], turned[u], inside[u], a, best)
                        kept = False
                        for b in range(k):
                            kept |= best[b] and live[u, b]
                        if not kept:
                            live[p, a] = False
                            lost = True
                if lost:
                    stack.append(p)
            c = first[u]
            while c >= 0:
                left[:] = False
                for a in range(k):
                    if live[u, a]:
                        _partners(tables[table[c]], turned[c], inside[c], a, best)
                        for b in range(k):
                            left[b] |= best[b]
                lost = False
                for b in range(k):
                    if live[c, b] and not left[b]:
                        live[c, b] = False
                        lost = True
                if lost:
                    stack.append(c)
                c = following[c]


@kernel
def _chances(t, flip, tables, exps, plain, inside, scaled, a, out):
    """out (k,) ∝ exp [ e(a, b) + I_c(b) ]; returns its sum and the logarithm of what it was divided by."""
    k, total = len(inside), 0.0
    if plain[t]:
        for b in range(k):
            out[b] = (exps[t, b, a] if flip else exps[t, a, b]) * scaled[b]
            total += out[b]
        return total, 0.0
    top = -np.inf
    for b in range(k):
        out[b] = (tables[t, b, a] if flip else tables[t, a, b]) + inside[b]
        top = max(top, out[b])
    if top == -np.inf:
        out[:] = 0.0
        return 0.0, top
    for b in range(k):
        out[b] = np.exp(out[b] - top)
        total += out[b]
    return total, top


@kernel
def sum_up(
    order, parent, table, turned, tables, exps, highest, plain, inside, scaled, example, value
):
    """I of every node for sums, and log Z.

    Given exps (T, k, k) = exp(e − highest_t), highest (T,), plain (T,), the example (N,) of each node, and
    inside (N, k) holding s. Filled inside with I less what was moved into log Z, and scaled (N, k) =
    exp(I − max I); log Z is added to value (n,).
    """
    k = inside.shape[1]
    work = np.empty(k)
    for i in range(len(order) - 1, -1, -1):
        c = order[i]
        top = -np.inf
        for b in range(k):
            top = max(top, inside[c, b])
        total, p = 0.0, parent[c]
        if top == -np.inf:
            value[example[c]] = -np.inf
            if p >= 0:
                inside[p] = -np.inf
            continue
        for b in range(k):
            scaled[c, b] = np.exp(inside[c, b] - top)
            total += scaled[c, b]
        if p < 0:
            value[example[c]] += top + np.log(total)
            continue
        t = table[c]
        moved = top + highest[t]
        value[example[c]] += moved
        for a in range(k):
            total, shift = _chances(
                t, turned[c], tables, exps, plain, inside[c], scaled[c], a, work
            )
            if plain[t]:
                inside[p, a] += np.log(total)
            elif total > 0.0:
                inside[p, a] += np.log(total) + (shift - moved)
            else:
                inside[p, a] = -np.inf


@kernel
def sum_down(
    order, parent, table, turned, tables, exps, plain, inside, scaled, example, weight, p, edge
):
    """Marginals, given I of ``sum_up``, where every example has an answer.

    Given weight (n,). Filled p (N, k), unweighted; weight · P(a, b) is added to edge, (T, k, k) or empty.
    """
    k = inside.shape[1]
    work = np.empty(k)
    for i in range(len(order)):
        c = order[i]
        above = parent[c]
        if above < 0:
            total = 0.0
            for b in range(k):
                total += scaled[c, b]
            for b in range(k):
                p[c, b] = scaled[c, b] / total
            continue
        t, flip = table[c], turned[c]
        p[c] = 0.0
        for a in range(k):
            if p[above, a] == 0.0:
                continue
            total, _ = _chances(t, flip, tables, exps, plain, inside[c], scaled[c], a, work)
            share, heavy = p[above, a] / total, weight[example[c]]
            for b in range(k):
                both = share * work[b]
                p[c, b] += both
                if len(edge) > 0:
                    if flip:
                        edge[t, b, a] += heavy * both
                    else:
                        edge[t, a, b] += heavy * both


@kernel
def sample(order, parent, table, turned, tables, exps, plain, inside, scaled, uniform, draws):
    """Draws, given I of ``sum_up`` and uniform (draws, N). Filled draws (draws, N)."""
    k = inside.shape[1]
    work = np.empty(k)
    for j in range(len(draws)):
        for i in range(len(order)):
            c = order[i]
            above = parent[c]
            if above < 0:
                total = 0.0
                for b in range(k):
                    work[b] = scaled[c, b]
                    total += work[b]
            else:
                total, _ = _chances(
                    table[c], turned[c], tables, exps, plain, inside[c], scaled[c],
                    draws[j, above], work,
                )  # fmt: skip
            passed, limit, chosen = 0.0, uniform[j, c] * total, -1
            for b in range(k):
                passed += work[b]
                if work[b] > 0.0:
                    chosen = b
                    if passed > limit:
                        break
            draws[j, c] = chosen
