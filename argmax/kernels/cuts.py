"""Minimum cuts by incremental breadth-first search.

Symbols, the same for all kernels here, with N nodes and A arcs, each beside its way back:

    first (N + 1,)   where the arcs of each node start
    arcs (A,)        records: head, twin (the way back) and room (how much more it carries)
    excess (N,)      > 0: what the source still gives to the node; < 0: what the sink still takes from it
    level (N,)       > 0: steps from the source, < 0: minus the steps to the sink, 0: in neither tree
    parent (N,)      the arc to the parent; −1: a root; −2 − a: none, to be looked for from arc a on
    least            arcs and excesses of at most this are full, so that rounding ends

Both trees are kept as short as they would be if found anew, which bounds the work by O(N² A); an arc that
joins them is a shortest path to push along.

Goldberg, Hed, Kaplan, Tarjan and Werneck 2011 (ESA); Boykov and Kolmogorov 2004 (PAMI 26) for the two trees.
"""

import numpy as np

from .compile import kernel

__all__ = ["ARC", "fill_arcs", "grow", "plant", "push_direct"]

ARC = np.dtype([("head", np.uint32), ("twin", np.uint32), ("room", np.float64)])

ROOT = -1
SIDE, PLACE, LENGTH, DEPTH, COMING, FLIP = 0, 1, 2, 3, 5, 7
"""Where ``state`` (9,) keeps the side that grows, the place in its list and its length, and for both sides
the level that grows next, how many nodes are listed there, and which of two lists that is."""


@kernel
def fill_arcs(edges, ahead, back, first, arcs):
    """Fill first (N + 1,) and arcs (2E,) of edges (E, 2) with room ahead (E,) and back (E,)."""
    n = len(first) - 1
    first[:] = 0
    for e in range(len(edges)):
        first[edges[e, 0] + 1] += 1
        first[edges[e, 1] + 1] += 1
    for v in range(n):
        first[v + 1] += first[v]
    free = first[:n].copy()
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        a = free[u]
        free[u] += 1
        b = free[v]
        free[v] += 1
        arcs[a].head, arcs[a].twin, arcs[a].room = v, b, ahead[e]
        arcs[b].head, arcs[b].twin, arcs[b].room = u, a, back[e]


@kernel
def push_direct(edges, ahead, back, excess):
    """Push what neighbours can give to each other: most of what noise asks for.

    Changed: ahead (E,), back (E,) and excess (N,).
    """
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        if excess[u] > 0.0 and excess[v] < 0.0:
            flow = min(excess[u], -excess[v], ahead[e])
        elif excess[u] < 0.0 and excess[v] > 0.0:
            flow = -min(-excess[u], excess[v], back[e])
        else:
            continue
        excess[u] -= flow
        excess[v] += flow
        ahead[e] -= flow
        back[e] += flow


@kernel
def plant(excess, least, level, parent, lists, listed, state):
    """Two trees of roots alone. Filled: level, parent, lists (2, 2, N), listed (2, N) and state (9,)."""
    state[:] = 0
    state[DEPTH], state[DEPTH + 1] = 1, 1
    state[SIDE] = 1
    for v in range(len(excess)):
        parent[v], level[v] = ROOT, 0
        listed[0, v], listed[1, v] = 0, 0
        if abs(excess[v]) > least:
            side = 0 if excess[v] > 0.0 else 1
            level[v] = 1 - 2 * side
            _list(v, side, 1, lists, listed, state)


@kernel
def _list(v, side, depth, lists, listed, state):
    """Remember that v is to grow when its tree has this depth; once is enough."""
    if listed[side, v] != depth:
        listed[side, v] = depth
        lists[side, state[FLIP + side], state[COMING + side]] = v
        state[COMING + side] += 1


@kernel
def _orphan(v, start, depth, parent, bucket, following):
    """v waits, with others of its depth, for a parent behind an arc from ``start`` on."""
    parent[v] = -2 - start
    following[v] = bucket[depth]
    bucket[depth] = v


@kernel
def _carried(v, side, arcs, parent, excess, flow):
    """How much of ``flow`` the path between v and its root carries."""
    while parent[v] != ROOT:
        a = parent[v]
        flow = min(flow, arcs[a if side else arcs[a].twin].room)
        v = arcs[a].head
    return min(flow, abs(excess[v]))


@kernel
def _push(v, side, flow, first, arcs, excess, level, parent, least, bucket, following):
    """Push along the path between v and its root. Returns the depth of the first orphan, and how many."""
    low, orphans, depth = 0, 0, abs(level[v])
    while parent[v] != ROOT:
        a = parent[v]
        b = arcs[a].twin
        full, other = (a, b) if side else (b, a)
        arcs[full].room -= flow
        arcs[other].room += flow
        if arcs[full].room <= least:
            _orphan(v, a + 1, depth, parent, bucket, following)
            low = depth
            orphans += 1
        v = arcs[a].head
        depth -= 1
    excess[v] += flow if side else -flow
    if abs(excess[v]) <= least:
        excess[v] = 0.0
        _orphan(v, first[v], 1, parent, bucket, following)
        low = 1
        orphans += 1
    return low, orphans


@kernel
def _adopt(
    depth,
    orphans,
    side,
    reach,
    first,
    arcs,
    level,
    parent,
    least,
    bucket,
    following,
    lists,
    listed,
    state,
):
    """Give orphans a parent as near to the root as can be, at most at depth reach − 1, or leave them free.

    From the root outwards: (1) a parent at the depth of the lost one, behind an arc not yet tried;
    (2) failing that, the nearest of all, while the children become orphans; (3) failing that, none.
    """
    sign = 1 - 2 * side
    while orphans > 0:
        v = bucket[depth]
        if v < 0:
            depth += 1
            continue
        bucket[depth] = following[v]
        orphans -= 1
        chosen = -1
        if depth > 1:
            for a in range(-2 - parent[v], first[v + 1]):
                if (
                    level[arcs[a].head] == sign * (depth - 1)
                    and arcs[a if side else arcs[a].twin].room > least
                ):
                    chosen = a
                    break
        if chosen >= 0:
            parent[v] = chosen
            continue
        nearest = reach
        for a in range(first[v], first[v + 1]):
            w, b = arcs[a].head, arcs[a].twin
            away = sign * level[w]
            if away <= 0:
                continue
            if parent[w] == b:
                _orphan(w, b + 1, away, parent, bucket, following)
                orphans += 1
            if away < nearest and arcs[a if side else b].room > least:
                nearest, chosen = away, a
        if chosen < 0:
            level[v], parent[v] = 0, ROOT
            continue
        level[v], parent[v] = sign * (nearest + 1), chosen
        if nearest + 1 == reach:
            _list(v, side, reach, lists, listed, state)


@kernel
def _augment(
    a, side, first, arcs, excess, level, parent, least, bucket, following, lists, listed, state
):  # fmt: skip
    """Push along the path that arc a, from the tree of ``side`` to the other, closes; mend both trees."""
    b = arcs[a].twin
    ahead, back = (b, a) if side else (a, b)
    flow = _carried(arcs[b].head, side, arcs, parent, excess, arcs[ahead].room)
    flow = _carried(arcs[a].head, 1 - side, arcs, parent, excess, flow)
    arcs[ahead].room -= flow
    arcs[back].room += flow
    for i in range(2):
        end, tree = (arcs[b].head, side) if i else (arcs[a].head, 1 - side)
        low, orphans = _push(
            end, tree, flow, first, arcs, excess, level, parent, least, bucket, following
        )
        if orphans > 0:
            reach = state[DEPTH + tree] + (tree == side)
            _adopt(
                low, orphans, tree, reach, first, arcs, level, parent, least, bucket, following,
                lists, listed, state,
            )  # fmt: skip


@kernel
def grow(
    first, arcs, excess, level, parent, least, bucket, following, lists, listed, state, work
):  # fmt: skip
    """Grow the trees and push along the paths that join them, for about ``work`` steps; whether it is done.

    The end is when the tree of the sink is complete: nodes with level < 0 are those behind the cut, as few
    as can be. bucket (N + 2,) is −1 and following (N,) anything.
    """
    while True:
        side = state[SIDE]
        sign, depth = 1 - 2 * side, state[DEPTH + side]
        while state[PLACE] < state[LENGTH]:
            if work <= 0:
                return False
            v = lists[side, 1 - state[FLIP + side], state[PLACE]]
            state[PLACE] += 1
            a = first[v]
            work -= 1 + first[v + 1] - a
            while a < first[v + 1] and level[v] == sign * depth:
                w, b = arcs[a].head, arcs[a].twin
                if sign * level[w] > 0 or arcs[b if side else a].room <= least:
                    a += 1
                elif level[w] == 0:
                    level[w], parent[w] = sign * (depth + 1), b
                    _list(w, side, depth + 1, lists, listed, state)
                    a += 1
                else:
                    work -= 2 * depth
                    _augment(
                        a, side, first, arcs, excess, level, parent, least, bucket, following,
                        lists, listed, state,
                    )  # fmt: skip
        state[DEPTH + side] += state[LENGTH] > 0
        if state[COMING + 1] == 0:
            return True
        side = 0 if 0 < state[COMING] < state[COMING + 1] else 1
        state[SIDE], state[PLACE], state[LENGTH] = side, 0, state[COMING + side]
        state[COMING + side], state[FLIP + side] = 0, 1 - state[FLIP + side]
