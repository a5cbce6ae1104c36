"""Sweeps of dual ascent (``dual``) in blocks of examples that do not see each other's steps.

Minibatch dual ascent (Takáč, Bijral, Richtárik and Srebro 2013). Sparse rows have little in common, so that a
hundred of them at once go as far as one after the other (``solvers.ascent`` says how many).

Threads share a block, in two stages (``turns``). In the first each owner of features (``dealt``) adds to his
weights what the block before has changed, and multiplies them with his part of the rows; in the second the
parts are added up, and the examples visited. So weights stay in the cache of the core that owns them, and
only scores and steps travel: K numbers an example.
"""

import numpy as np

from .compile import inner_kernel, kernel
from .dealt import GROUP, gather_group, scatter_group, send_for_group
from .dual import FAR, visit
from .simd import L4, add, load, prefetch, put, store
from .sparse_rows import LINE
from .turns import LINE as APART
from .turns import arrive, done_own, next_own

__all__ = ["sweep_blocks"]

AHEAD = 2  # groups whose entries are sent for before it is their turn


@inner_kernel
def _send_for_parts(parts, stride, T, at, P):
    """Have the scores of one row, at … at + P − 1 in each of T parts, brought near."""
    for z in range(T):
        for k in range(at, at + P, LINE // parts.itemsize):
            prefetch(parts, z * stride + k)


@kernel
def sweep_blocks(
    steps, pieces, threads, groups, block, order, starts, indices, values, step, q, c, scale, B, U, b, h, v,
    mu, gaps, parts, moved, shifts,
):  # fmt: skip
    """Visit the examples of these groups once, ``block`` at a time. Every thread calls this.

    Neither who does what nor the number of ``pieces``, which divides the number T of owners, changes a bit.

    Given  rows as in ``dealt``; q, c, scale, B, b as in ``dual.sweep``; block, a multiple of GROUP.
    Filled U (places, P), h (K,), v = log μ and mu (n, K), by row; gaps (len(groups) · GROUP,), what ``sweep``
           adds up. Between stages: parts (T, block · P or more), moved (block, P), shifts (T, K or more).
    """
    K, P, flat, row = mu.shape[1], U.shape[1], U.ravel(), np.zeros(U.shape[1], U.dtype)
    Z = -(-K // 4) * 4
    s, new = np.full(Z, FAR), np.full(Z, FAR)
    exps, old, live = np.zeros(Z), np.zeros(Z), np.zeros(Z)
    live[:K] = 1.0
    flat_v, flat_mu, shift, n = v.ravel(), mu.ravel(), np.zeros(K), len(order)
    flat_parts, flat_moved = parts.ravel(), moved.ravel()
    T, some, stride = len(shifts), block // GROUP, parts.shape[1]
    me = arrive(steps, pieces * APART) % threads
    for stage in range(2 * -(-len(groups) // some) + 1):
        first = stage // 2 * some
        last = min(first + some, len(groups))
        count = (last - first) * GROUP
        while True:
            piece = next_own(steps, pieces, threads, me, stage)
            if piece < 0:
                break
            low, high = piece * T // pieces, (piece + 1) * T // pieces
            if stage % 2 == 0:
                if piece == 0 and stage > 0:
                    for r in range(T):
                        for k in range(K):
                            h[k] += shifts[r, k]
                for slot in range(low * count // T, high * count // T):
                    place = groups[first + slot // GROUP] * GROUP + slot % GROUP
                    if place < n:
                        for k in range(
                            order[place] * K, (order[place] + 1) * K, LINE // v.itemsize
                        ):
                            prefetch(flat_v, k)
                            prefetch(flat_mu, k)
                for g in range(max(first - some, 0), min(first, len(groups))):
                    base = (g - first + some) * GROUP * P
                    for r in range(low, high):
                        at = (groups[g] * T + r) * GROUP
                        scatter_group(
                            at, starts, indices, values, None, step, flat, P, flat_moved, base
                        )
                for g in range(first, last):
                    for r in range(low, high):
                        if g + AHEAD < len(groups):
                            at = (groups[g + AHEAD] * T + r) * GROUP
                            send_for_group(at, starts, indices, values, step)
                        at = (groups[g] * T + r) * GROUP
                        base = r * stride + (g - first) * GROUP * P
                        gather_group(at, starts, indices, values, step, flat, P, flat_parts, base)
            else:
                for r in range(low, high):
                    shift[:] = 0.0
                    for slot in range(r * count // T, (r + 1) * count // T):
                        place = groups[first + slot // GROUP] * GROUP + slot % GROUP
                        if place >= n:
                            continue
                        i = order[place]
                        if slot + 1 < count:  # those parts are in the caches of others
                            _send_for_parts(flat_parts, stride, T, (slot + 1) * P, P)
                        for k in range(0, P, 4):
                            sums = load(flat_parts, slot * P + k, L4)
                            for z in range(1, T):
                                sums = add(sums, load(flat_parts, z * stride + slot * P + k, L4))
                            store(row, k, sums)
                        for k in range(K):
                            s[k] = row[k] + b[k] + B * h[k]
                        Q, weight = c[i] * (q[i] + scale * B), c[i] * scale
                        gap = visit(i, c[i], Q, s, live, new, old, exps, flat_v, flat_mu, K)
                        gaps[first * GROUP + slot] = gap
                        for k in range(K):
                            change = weight * (old[k] - exps[k])
                            shift[k] += change
                            put(flat_moved, slot * P + k, change)
                    for k in range(K):
                        shifts[r, k] = shift[k]
            done_own(steps, piece, stage)
