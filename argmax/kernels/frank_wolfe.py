"""Steps in the dual of the structured hinge loss: each sequence has a distribution over its label sequences.

    w = Σ_i κ_i (Ψ_i(y_i) − E_i Ψ_i),     dual / l2 = Σ_i κ_i E_i cost − ½ ‖w‖²,     κ_i = C s_i / l2

Of a distribution only its marginals count, and on a chain every consistent set of them belongs to one. So
a sequence keeps, for each token, the pairs (label before, label) that have mass, and their mass: seldom more
than two. A step finds the path of the largest score + cost, and that of the smallest among those with mass,
and moves mass from the one to the other: each stretch between two tokens where they meet by itself, and each
time by exactly as much as raises the dual most. Only tokens that the paths disagree about are touched.

Lacoste-Julien, Jaggi, Schmidt and Pletscher 2013 (ICML), block-coordinate Frank–Wolfe; Osokin, Alayrac,
Lukasewitz, Dokania and Lacoste-Julien 2016 (ICML), pairwise steps and steps without a new path; Taskar,
Guestrin and Koller 2003 (NIPS), marginals.
"""

from typing import Any, NamedTuple

import numpy as np

from .attributes import label_of, labels_of, scores, turn
from .chain import viterbi
from .compile import kernel
from .tagging import augment

__all__ = ["Corpus", "Moving", "Support", "begin", "copy", "improve", "resum", "visit"]

NOTHING = 1e-12  # less mass than this is none


class Corpus(NamedTuple):
    """What is given: tokens, right labels, and what errors cost."""

    plan: Any
    labels: Any  # (N,)
    offsets: Any  # (n + 1,)
    kappa: Any  # (n,)
    cost: Any  # (K, K)
    scale: Any  # (N,): of the cost


class Support(NamedTuple):
    """Token t of sequence i has room[i] ≥ 2 places from begin[i] + t · room[i] on, free ones last."""

    room: Any  # (n,)
    begin: Any  # (n,)
    before: Any  # the label before; of the first token it means nothing
    code: Any  # the label
    mass: Any  # 0: the place is free


class Moving(NamedTuple):
    """w, and a direction that is all zeros between two steps."""

    weights: Any
    edge: Any  # (P, P) flat
    table: Any  # of the direction, as in ``weights``
    listed: Any
    once: Any
    start: Any
    follow: Any  # of the direction, as ``edge``
    mask: Any
    has_start: Any
    has_edge: Any


class Memory(NamedTuple):
    """For one sequence at a time."""

    best: Any  # (L,): a path
    worst: Any  # (L,): a path with mass
    reach: Any  # (L,): its places
    goal: Any  # (L,): places for best
    node: Any  # (L · room,): score + cost of the labels with mass
    top: Any  # (L,): that of best
    value: Any  # (L · room,)
    came: Any  # (L · room,)


@kernel
def _memory(corpus, support, order):
    L, size = 0, 0
    for i in order:
        L = max(L, corpus.offsets[i + 1] - corpus.offsets[i])
        size = max(size, (corpus.offsets[i + 1] - corpus.offsets[i]) * support.room[i])
    best, worst = np.empty(L, np.int64), np.empty(L, np.int64)
    reach, goal = np.empty(L, np.int64), np.empty(L, np.int64)
    return Memory(
        best, worst, reach, goal, np.empty(size), np.empty(L), np.empty(size), np.empty(size, np.int64)
    )  # fmt: skip


# Scores where labels are open


@kernel
def _quiet(support, here, room, label):
    """Whether all mass of the token whose places begin at ``here`` is on this label."""
    for p in range(here, here + room):
        if support.mass[p] == 0:
            break
        if support.code[p] != label:
            return False
    return True


@kernel
def _open_scores(corpus, moving, support, i, memory):
    """node and top of ``memory``; both 0 where all mass is on the label of best."""
    heavy, rows, row_values, light, pairs, bits, pair_values, step, slot, singles, root = (
        corpus.plan
    )
    table, listed, _, once, _, first, _ = moving.weights
    best, node, top, P = memory.best, memory.node, memory.top, len(first)
    start, L, room = corpus.offsets[i], corpus.offsets[i + 1] - corpus.offsets[i], support.room[i]
    for t in range(L):
        here, token, y = support.begin[i] + t * room, start + t, corpus.labels[start + t]
        top[t], quiet = 0.0, _quiet(support, here, room, best[t])
        for k in range(0 if quiet else -1, room):
            if k >= 0 and support.mass[here + k] == 0:
                break
            if quiet:
                node[t * room + k] = 0.0
                continue
            c, same = best[t] if k < 0 else np.int64(support.code[here + k]), -2
            for j in range(-1, k):
                if c == (best[t] if j < 0 else np.int64(support.code[here + j])):
                    same = j
                    break
            if same > -2:
                x = top[t] if same < 0 else node[t * room + same]
            else:
                x = corpus.scale[token] * corpus.cost[y, c]
                if t == 0:
                    x += first[c]
                for q in range(heavy[token], heavy[token + 1]):
                    x += row_values[q * step] * table[rows[q] * P + c]
                for q in range(light[token], light[token + 1]):
                    if label_of(pairs[q], bits) == c:
                        x += pair_values[q * step] * listed[pairs[q] >> bits]
                if c == y and slot[token] >= 0:
                    x += root[singles[token]] * once[slot[token]]
            if k < 0:
                top[t] = x
            else:
                node[t * room + k] = x


@kernel
def _gap(moving, support, i, L, memory):
    """score + cost of best, less the mean over the distribution: what i adds to (F − dual) / (C s_i)."""
    edge, P, room, total = moving.edge, len(moving.weights.base), support.room[i], 0.0
    for t in range(L):
        total += memory.top[t]
        if t:
            total += edge[memory.best[t - 1] * P + memory.best[t]]
        for k in range(room):
            p, x = support.begin[i] + t * room + k, memory.node[t * room + k]
            if support.mass[p] == 0:
                break
            if t:
                x += edge[support.before[p] * P + support.code[p]]
            total -= support.mass[p] * x
    return total


@kernel
def _extreme(moving, support, i, L, sign, memory, path):
    """The path of the largest sign · (score + cost) among those with mass. Filled path (L,) and reach."""
    edge, P, room, begin = moving.edge, len(moving.weights.base), support.room[i], support.begin[i]
    node, value, came, last = memory.node, memory.value, memory.came, -1
    for t in range(L):
        last = -1
        for k in range(room):
            p, at = begin + t * room + k, t * room + k
            if support.mass[p] == 0:
                break
            x, found = sign * node[at], -1
            if t:
                for j in range(room):
                    q = p - k - room + j
                    if support.mass[q] == 0:
                        break
                    if support.code[q] == support.before[p] and (
                        found < 0 or value[at - k - room + j] > value[at - k - room + found]
                    ):
                        found = j
                x += sign * edge[support.before[p] * P + support.code[p]]
                # No way here: rounding has left some mass behind.
                x = x + value[at - k - room + found] if found >= 0 else -np.inf
            value[at], came[at] = x, found
            if last < 0 or x > value[t * room + last]:
                last = k
    for t in range(L - 1, -1, -1):
        memory.reach[t] = begin + t * room + last
        path[t] = support.code[memory.reach[t]]
        last = came[t * room + last]


# Moving along a direction


@kernel
def _added(array, at, x):
    """array[at] += x; returns how much its square grows by."""
    old = array[at]
    array[at] = old + x
    return x * (2 * old + x)


@kernel
def _spread(corpus, moving, i, L, a, b, memory):
    """The direction from worst to best at tokens a … b, where they differ. Returns slope and squared norm."""
    heavy, rows, row_values, light, pairs, bits, pair_values, step, slot, singles, root = (
        corpus.plan
    )
    table, listed, _, once, _, first, _ = moving.weights
    mask, edge, P, slope, square = moving.mask, moving.edge, len(first), 0.0, 0.0
    for t in range(a, b + 1):
        token = corpus.offsets[i] + t
        y = corpus.labels[token]
        for sign, c in ((1.0, memory.best[t]), (-1.0, memory.worst[t])):
            slope += sign * corpus.scale[token] * corpus.cost[y, c]
            for q in range(heavy[token], heavy[token + 1]):
                at = rows[q] * P + c
                x = sign * row_values[q * step] * mask[at]
                slope += x * table[at]
                square += _added(moving.table, at, x)
            for q in range(light[token], light[token + 1]):
                if label_of(pairs[q], bits) == c:
                    x = sign * pair_values[q * step]
                    slope += x * listed[pairs[q] >> bits]
                    square += _added(moving.listed, pairs[q] >> bits, x)
            if c == y and slot[token] >= 0:
                slope += sign * root[singles[token]] * once[slot[token]]
                square += _added(moving.once, slot[token], sign * root[singles[token]])
            if t == 0 and moving.has_start:
                slope += sign * first[c]
                square += _added(moving.start, c, sign)
    for t in range(max(a, 1), min(b + 2, L)):
        for sign, path in ((1.0, memory.best), (-1.0, memory.worst)):
            at = path[t - 1] * P + path[t]
            if moving.has_edge:
                slope += sign * edge[at]
                square += _added(moving.follow, at, sign)
    return slope, square


@kernel
def _moved(w, direction, at, amount):
    """w += amount · direction, which becomes 0, in one place."""
    w[at] += amount * direction[at]
    direction[at] = 0.0


@kernel
def _follow(corpus, moving, i, L, a, b, amount, memory):
    """w += amount · the direction that ``_spread`` left, which is cleared."""
    heavy, rows, _, light, pairs, bits, _, _, slot, _, _ = corpus.plan
    table, listed, _, once, _, first, _ = moving.weights
    P = len(first)
    for t in range(a, b + 1):
        token = corpus.offsets[i] + t
        for c in (memory.best[t], memory.worst[t]):
            for q in range(heavy[token], heavy[token + 1]):
                _moved(table, moving.table, rows[q] * P + c, amount)
            for q in range(light[token], light[token + 1]):
                if label_of(pairs[q], bits) == c:
                    _moved(listed, moving.listed, pairs[q] >> bits, amount)
            if c == corpus.labels[token] and slot[token] >= 0:
                _moved(once, moving.once, slot[token], amount)
            if t == 0 and moving.has_start:
                _moved(first, moving.start, c, amount)
    if moving.has_edge:
        for t in range(max(a, 1), min(b + 2, L)):
            for path in (memory.best, memory.worst):
                _moved(moving.edge, moving.follow, path[t - 1] * P + path[t], amount)


@kernel
def _places(support, i, a, end, memory):
    """Filled goal: the places of best at tokens a … end − 1, free ones if need be. False: there are none."""
    room, best = support.room[i], memory.best
    for t in range(a, end):
        here, memory.goal[t] = support.begin[i] + t * room, -1
        for p in range(here, here + room):
            same = support.code[p] == best[t] and (t == 0 or support.before[p] == best[t - 1])
            if same or support.mass[p] == 0:
                memory.goal[t] = p
                break
        if memory.goal[t] < 0:
            return False
    return True


@kernel
def _shift(support, i, a, end, size, memory):
    """Mass from worst to best at tokens a … end − 1."""
    before, code, mass = support.before, support.code, support.mass
    for t in range(a, end):
        p, q = memory.goal[t], memory.reach[t]
        code[p] = memory.best[t]
        if t:
            before[p] = memory.best[t - 1]
        mass[p] += size
        if mass[q] - size > NOTHING:
            mass[q] -= size
        else:  # the last one takes its place
            p = support.begin[i] + (t + 1) * support.room[i] - 1
            while mass[p] == 0:
                p -= 1
            before[q], code[q], mass[q] = before[p], code[p], mass[p]
            mass[p] = 0.0


@kernel
def _exchange(corpus, moving, support, i, L, memory):
    """Mass from worst to best, by stretches. Returns what (dual / C s_i) grew by, and if all had a place."""
    kappa, grown, fits, a = corpus.kappa[i], 0.0, True, 0
    while a < L:
        if memory.best[a] == memory.worst[a]:
            a += 1
            continue
        b = a
        while b + 1 < L and memory.best[b + 1] != memory.worst[b + 1]:
            b += 1
        end = min(b + 2, L)
        if _places(support, i, a, end, memory):
            most = 1.0
            for t in range(a, end):
                most = min(most, support.mass[memory.reach[t]])
            slope, square = _spread(corpus, moving, i, L, a, b, memory)
            size = most
            if slope < most * kappa * square:
                size = max(slope, 0.0) / (kappa * square)
            _follow(corpus, moving, i, L, a, b, -kappa * size, memory)
            if size > 0:
                _shift(support, i, a, end, size, memory)
                grown += size * (slope - 0.5 * size * kappa * square)
        else:
            fits = False
        a = b + 1
    return grown, fits


@kernel
def _mixed(support, i, L):
    """Whether there is more than one path with mass."""
    mixed = False
    for t in range(L):
        mixed = mixed or support.mass[support.begin[i] + t * support.room[i] + 1] > 0
    return mixed


@kernel
def visit(corpus, moving, support, order, gaps, mixed, full, LANES):
    """A step towards the best path under score + cost, for each sequence of ``order``.

    Filled gaps (n,): those before the steps; mixed (n,): whether there is more than one path with mass; full
    (n,): whether places were lacking. Returns Σ of what (dual / l2) grew by.
    """
    weights, edge = moving.weights, moving.edge
    P, dtype, K, grown = len(weights.base), weights.table.dtype, labels_of(weights), 0.0
    memory, changed, turned = _memory(corpus, support, order), True, np.empty(P * P, dtype)
    s = np.empty(len(memory.best) * P, dtype)
    for k in range(P * P):
        turned[k] = -np.inf
    for i in order:
        start, L = corpus.offsets[i], corpus.offsets[i + 1] - corpus.offsets[i]
        if changed:
            for a in range(K):
                for b in range(K):
                    turned[b * P + a] = edge[a * P + b]
        scores(corpus.plan, weights, corpus.labels, start, L, s, P, LANES)
        augment(s, corpus.labels, start, L, P, corpus.cost, corpus.scale, 1.0)
        viterbi(s, edge, turned, memory.best, L, K, P, LANES)
        _open_scores(corpus, moving, support, i, memory)
        gaps[i] = max(_gap(moving, support, i, L, memory), 0.0)
        _extreme(moving, support, i, L, -1.0, memory, memory.worst)
        more, fits = _exchange(corpus, moving, support, i, L, memory)
        grown, full[i], changed = grown + corpus.kappa[i] * more, not fits, more > 0
        mixed[i] = _mixed(support, i, L)
    return grown


@kernel
def improve(corpus, moving, support, order, full):
    """Steps from the worst to the best of the paths that have mass. Returns Σ of what (dual / l2) grew by."""
    memory, grown = _memory(corpus, support, order), 0.0
    for i in order:
        L, room = corpus.offsets[i + 1] - corpus.offsets[i], support.room[i]
        for t in range(L):
            memory.best[t] = support.code[support.begin[i] + t * room]
        _open_scores(corpus, moving, support, i, memory)
        _extreme(moving, support, i, L, 1.0, memory, memory.best)
        _extreme(moving, support, i, L, -1.0, memory, memory.worst)
        more, fits = _exchange(corpus, moving, support, i, L, memory)
        grown += corpus.kappa[i] * more
        full[i] = full[i] or not fits
    return grown


# The whole of it


@kernel
def begin(corpus, support):
    """All mass on the right labels."""
    for i in range(len(support.room)):
        start, room = corpus.offsets[i], support.room[i]
        for t in range(corpus.offsets[i + 1] - start if room else 0):
            p = support.begin[i] + t * room
            support.mass[p], support.code[p] = 1.0, corpus.labels[start + t]
            if t:
                support.before[p] = corpus.labels[start + t - 1]


@kernel
def resum(corpus, mask, support, out, edge):
    """out and edge (P, P) += w, from the marginals alone. Returns Σ_i κ_i E_i cost."""
    P, paid = len(out.base), 0.0
    for i in range(len(support.room)):
        start, room = corpus.offsets[i], support.room[i]
        for t in range(corpus.offsets[i + 1] - start if room else 0):
            y, here = corpus.labels[start + t], support.begin[i] + t * room
            for p in range(here, here + room):
                x, c = corpus.kappa[i] * support.mass[p], support.code[p]
                if x == 0:
                    break
                paid += x * corpus.scale[start + t] * corpus.cost[y, c]
                if y != c:
                    turn(corpus.plan, start + t, y, c, x, out, mask, P)
                    if t == 0:
                        out.first[y] += x
                        out.first[c] -= x
                if t:
                    last = corpus.labels[start + t - 1]
                    if y != c or last != support.before[p]:
                        edge[last * P + y] += x
                        edge[support.before[p] * P + c] -= x
    return paid


@kernel
def copy(offsets, old, new):
    """The marginals of old, into more places."""
    for i in range(len(old.room)):
        for t in range(offsets[i + 1] - offsets[i]):
            for k in range(old.room[i]):
                p, q = old.begin[i] + t * old.room[i] + k, new.begin[i] + t * new.room[i] + k
                new.before[q], new.code[q], new.mass[q] = old.before[p], old.code[p], old.mass[p]
