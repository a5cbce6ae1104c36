"""Short lists of the labels that matter to an example, for dual ascent over many labels.

With many labels most never matter to an example: it keeps a list of those with mass and of those whose score
is near the best one, and for a while visits look at no others.

    lists   (n, L)   the labels
    held    (n, L)   their α, which alone is kept up to date while the list serves; all others have α = 0
    counts  (n,)     how many; 0 where there is no list; negated where the list has served its time
    left    (n,)     visits that the list still serves, or until one is tried again
    terms   (n,)     visits that it was made for: twice those of the one before if that one missed nothing
"""

import numpy as np

from .compile import inner_kernel, kernel
from .simd import L4, largest, load, maximum
from .sparse_rows import gather

__all__ = ["enlist", "expire", "renew", "settle"]

SHORT, LONG = 3, 64  # visits with one list, at first and at most
HALVINGS, AGAIN = 8, 16  # of the band; visits without a list until one is tried again


@inner_kernel
def enlist(i, y, alpha, lists, held, counts, left, terms):
    """The labels of example i that have mass, after all were looked at: ``renew`` makes a list of them."""
    count, room = 0, lists.shape[1]
    for k in range(alpha.shape[1]):
        if alpha[i, k] != 0.0 or k == y:
            if count < room:
                lists[i, count], held[i, count] = k, alpha[i, k]
            count += 1
    counts[i] = -count if count <= room else 0
    left[i], terms[i] = AGAIN, SHORT


@inner_kernel
def expire(i, alpha, lists, held, counts):
    """The list of example i has served: α goes back to where all labels have theirs."""
    for j in range(counts[i]):
        alpha[i, lists[i, j]] = held[i, j]
    counts[i] = -counts[i]


@kernel
def settle(alpha, lists, held, counts):
    """Bring alpha (n, K) up to date where lists hold a part of it."""
    for i in range(len(counts)):
        for j in range(counts[i]):
            alpha[i, lists[i, j]] = held[i, j]


@kernel
def renew(
    some, indptr, indices, values, step, y, prices, begins, sum_of_hinges, bias, W, alpha, band,
    lists, held, counts, left, terms,
):  # fmt: skip
    """New lists for those examples of ``some`` whose list has served: all labels are looked at, none moved.

    Arguments as those of ``margins.visit``. Examples do not touch each other's: parts may run side by side.
    """
    K, P, flat, room = alpha.shape[1], W.shape[1], W.ravel(), lists.shape[1]
    base, end = (len(W) - 1) * P, -(-K // 4) * 4
    row, g, near = np.zeros(P, W.dtype), np.empty(end, W.dtype), np.empty(end + 1, np.int64)
    g[K:] = -np.inf
    for at in range(len(some)):
        i = some[at]
        before = -np.int64(counts[i])
        if before <= 0:
            continue
        cost = prices[begins[i] : begins[i] + K]
        gather(indices, values, step, indptr[i], indptr[i + 1], flat, P, row)
        for k in range(K):
            g[k] = row[k] + bias * flat[base + k] + cost[k]
        # What is above the cut gains mass: of the hinge, what beats all labels of the list.
        cut, missed, count = g[y[i]], 0, 0
        if not sum_of_hinges:
            for j in range(before):
                cut = max(cut, g[lists[i, j]])
        top = cut if sum_of_hinges else _largest(g)
        for k in range(K):
            missed += g[k] > cut
        # Those with mass stay, first; what is left of g are the others.
        for j in range(before):
            k = lists[i, j]
            missed -= g[k] > cut
            if held[i, j] != 0.0 or k == y[i]:
                lists[i, count], held[i, count] = k, held[i, j]
                g[k] = -np.inf
                count += 1
        terms[i] = SHORT if missed > 0 else min(2 * terms[i], LONG)
        more = _others(g, top, band, near, room - count, lists[i, count:])
        held[i, count : count + more] = 0.0
        counts[i] = count + more if more >= 0 else 0
        left[i] = terms[i] if more >= 0 else AGAIN


@inner_kernel
def _largest(g):
    best = load(g, 0, L4)
    for k in range(4, len(g), 4):
        best = maximum(load(g, k, L4), best)
    return largest(best)


@kernel
def _others(g, top, band, near, room, chosen):
    """Fill ``chosen`` with the labels within ``band`` of the top, halved until they are ``room`` at most.

    Returns how many, or −1 where halving did not help: then all labels matter.
    """
    count, floor = 0, top - band
    for k in range(0, len(g), 4):
        if largest(load(g, k, L4)) > floor:
            for j in range(k, k + 4):
                near[count] = j
                count += g[j] > floor
    for _ in range(HALVINGS):
        if count <= room:
            break
        band *= 0.5
        wide, count = count, 0
        for j in range(wide):
            near[count] = near[j]
            count += g[near[j]] > top - band
    if count > room:
        return -1
    for j in range(count):
        chosen[j] = near[j]
    return count
