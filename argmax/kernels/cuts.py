"""Minimum cuts: augmenting paths along shortest ones.

Dinic 1970; Kolmogorov and Zabih 2004 (PAMI 26) for what cuts can minimise.
"""

import numpy as np

from .compile import kernel

__all__ = ["minimum_cut"]


@kernel
def _levels(first, heads, capacity, least, source, level, queue):
    """Distances from the source along arcs that have room; −1 where there is no way."""
    level[:] = -1
    level[source] = 0
    queue[0] = source
    done, waiting = 0, 1
    while done < waiting:
        u = queue[done]
        done += 1
        for a in range(first[u], first[u + 1]):
            v = heads[a]
            if level[v] < 0 and capacity[a] > least:
                level[v] = level[u] + 1
                queue[waiting] = v
                waiting += 1


@kernel
def minimum_cut(first, heads, twin, capacity, least, source, sink, beyond):
    """The nodes behind a minimum cut: as few as can be.

    Given the arcs of node u, first_u … first_{u+1} − 1, with heads, the arc back (twin) and capacity
    (m,), which is used up; arcs with at most ``least`` left are full. Filled beyond (N,): whether a node
    still has a way to the sink. Each phase finds the distances from the source, then paths that get further
    with every step.
    """
    n = len(first) - 1
    level, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    following, path = np.empty(n, np.int64), np.empty(n, np.int64)
    while True:
        _levels(first, heads, capacity, least, source, level, queue)
        if level[sink] < 0:
            break
        for u in range(n):
            following[u] = first[u]
        u, length = source, 0
        while True:
            if u == sink:
                room = np.inf
                for i in range(length):
                    room = min(room, capacity[path[i]])
                back = length
                for i in range(length - 1, -1, -1):
                    a = path[i]
                    capacity[a] -= room
                    capacity[twin[a]] += room
                    if capacity[a] <= least:
                        back = i
                u, length = heads[twin[path[back]]], back
            moved = False
            while following[u] < first[u + 1]:
                a = following[u]
                if capacity[a] > least and level[heads[a]] == level[u] + 1:
                    path[length] = a
                    length += 1
                    u, moved = heads[a], True
                    break
                following[u] += 1
            if moved:
                continue
            if u == source:
                break
            level[u] = -1
            length -= 1
            u = heads[twin[path[length]]]
            following[u] += 1
    beyond[:] = False
    beyond[sink] = True
    queue[0] = sink
    done, waiting = 0, 1
    while done < waiting:
        u = queue[done]
        done += 1
        for a in range(first[u], first[u + 1]):
            v = heads[a]
            if not beyond[v] and capacity[twin[a]] > least:
                beyond[v] = True
                queue[waiting] = v
                waiting += 1
