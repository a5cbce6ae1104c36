"""Sum-product on graphs with cycles, in probabilities: no exponential and no logarithm but at its ends.

    m_i(b) ← Σ_a  φ_u(a) Π_{j ≠ i} m_j(a) · exp e(a, b)             over the messages j to u; max_b m_i(b) = 1

Symbols, the same for all kernels here: ``starts`` (N + 1,), where the list of each node starts, and of each
place in it the node across (``heads``), its place in the list of that node (``twins``), and the table of the
way there (``ways``); ``tables`` (W, k, P) = exp(e − max e), rows for the sender; ``chances`` (N, P) φ =
exp(s − max s); ``message`` (places, P), what arrived at each place, at most 1. tables and message are flat;
the k labels are padded with zeros to P, a multiple of ``LANES``.

No table spans more than e^200, so that a message is never below 1e−87 and no product of them vanishes: it is
scaled as it is formed.

Pearl 1988; Elidan, McGraw and Koller 2006 (UAI) for the order of residuals, Sutton and McCallum 2007 (UAI)
for their bound by what has arrived since.
"""

import math

import numpy as np

from .compile import kernel
from .simd import (
    add,
    divide,
    fma,
    get,
    largest,
    load,
    maximum,
    minimum,
    mul,
    plus,
    store,
    times,
    zeros,
)

__all__ = ["settle", "sweep"]

TRIFLE = 1e-17
"""What is less likely may move for ever, and says nothing."""

LOWEST, BUCKETS = -60, 80
"""Residuals of 2^i wait together, from i = −60 on."""


@kernel
def _times(old, at, message, place, new, to, P, LANES):
    """new = old · message, scaled where it threatens to vanish."""
    top = 0.0
    for c in range(0, P, len(LANES)):
        product = mul(load(old, at + c, LANES), load(message, place + c, LANES))
        top = max(top, largest(product))
        store(new, to + c, product)
    if top < 1e-100:
        for c in range(0, P, len(LANES)):
            store(new, to + c, times(1.0 / top, load(new, to + c, LANES)))


@kernel
def _sent(cavity, k, tables, at, out, P, LANES):
    """out(b) = Σ_a cavity(a) · exp e(a, b). Returns the largest."""
    top = 0.0
    for c in range(0, P, len(LANES)):
        total = zeros(out, LANES)
        for a in range(k):
            total = fma(get(cavity, a), load(tables, at + a * P + c, LANES), total)
        top = max(top, largest(total))
        store(out, c, total)
    return top


@kernel
def _replaced(sent, scale, damping, message, place, P, LANES):
    """message ← scale · sent, or what damping leaves of it. Returns the largest change of a logarithm."""
    far, least = 0.0, plus(TRIFLE, zeros(message, LANES))
    for c in range(0, P, len(LANES)):
        old, new = load(message, place + c, LANES), times(scale, load(sent, c, LANES))
        if damping > 0.0:
            new = fma(damping, old, times(1.0 - damping, new))
        step = add(new, times(-1.0, old))
        step = maximum(step, times(-1.0, step))
        far = max(far, largest(divide(step, maximum(minimum(old, new), least))))
        store(message, place + c, new)
    return far


@kernel
def _tell(v, k, starts, twins, ways, tables, chances, damping, message, work, moved, LANES):
    """Send all messages of v. Filled: moved (degree,), the largest change of a logarithm of each.

    work ((degree + 4) P,) is room for what arrived before a place of the list, the product without that
    place, what is sent, and what arrived after each place.
    """
    P, first, degree = chances.shape[1], starts[v], starts[v + 1] - starts[v]
    flat, before, cavity, sent = chances.ravel(), work[:P], work[P : 2 * P], work[2 * P : 3 * P]
    after = work[3 * P :]
    for c in range(0, P, len(LANES)):
        store(before, c, load(flat, v * P + c, LANES))
        store(after, degree * P + c, plus(1.0, zeros(flat, LANES)))
    for i in range(degree - 1, 0, -1):
        _times(after, (i + 1) * P, message, (first + i) * P, after, i * P, P, LANES)
    for i in range(degree):
        for c in range(0, P, len(LANES)):
            store(cavity, c, mul(load(before, c, LANES), load(after, (i + 1) * P + c, LANES)))
        top = _sent(cavity, k, tables, ways[first + i] * k * P, sent, P, LANES)
        place = twins[first + i] * P
        moved[i] = _replaced(sent, 1.0 / top, damping, message, place, P, LANES)
        if i + 1 < degree:
            _times(before, 0, message, (first + i) * P, before, 0, P, LANES)


@kernel
def _most(first, last, starts):
    """The largest degree."""
    most = 0
    for v in range(first, last):
        most = max(most, starts[v + 1] - starts[v])
    return most


@kernel
def sweep(nodes, k, starts, twins, ways, tables, chances, damping, message, LANES):
    """Send all messages of ``nodes`` one after the other. Returns the largest change of a logarithm."""
    most, far = _most(0, len(starts) - 1, starts), 0.0
    work, moved = np.empty((most + 4) * chances.shape[1]), np.empty(most)
    for j in range(len(nodes)):
        v = nodes[j]
        _tell(v, k, starts, twins, ways, tables, chances, damping, message, work, moved, LANES)
        for i in range(starts[v + 1] - starts[v]):
            far = max(far, moved[i])
    return far


@kernel
def _bucket(residual):
    """The place of a residual among the buckets, by its power of two."""
    return min(max(math.frexp(min(residual, 1e9))[1] - LOWEST, 0), BUCKETS - 1)


@kernel
def _wait(v, bucket, ahead, behind, where, ends):
    """Put v last in a bucket, out of the one it is in."""
    if where[v] >= 0:
        _leave(v, ahead, behind, where, ends)
    last = ends[bucket, 1]
    where[v], ahead[v], behind[v] = bucket, last, -1
    if last >= 0:
        behind[last] = v
    else:
        ends[bucket, 0] = v
    ends[bucket, 1] = v


@kernel
def _leave(v, ahead, behind, where, ends):
    """Take v out of its bucket."""
    a, b, bucket = ahead[v], behind[v], where[v]
    if a >= 0:
        behind[a] = b
    else:
        ends[bucket, 0] = b
    if b >= 0:
        ahead[b] = a
    else:
        ends[bucket, 1] = a
    where[v] = -1


@kernel
def settle(
    first, last, k, starts, heads, twins, ways, tables, chances, damping, tol, budget,
    message, residual, ahead, behind, where, ends, LANES,
):  # fmt: skip
    """Send the messages of the node whose arrivals changed most; again, until none has by more than tol.

    Of the nodes from first to last; ends after ``budget`` messages all the same, and may be called again.
    residual (N,) is what has arrived at each node since it last sent; ahead, behind, where (N,) and
    ends (buckets, 2) are the lists of nodes that wait. Returns how many messages were sent.
    """
    most, told = _most(first, last, starts), 0
    work, moved = np.empty((most + 4) * chances.shape[1]), np.empty(most)
    ends[:] = -1
    highest = 0
    for v in range(first, last):
        where[v] = -1
        if residual[v] > tol:
            bucket = _bucket(residual[v])
            highest = max(highest, bucket)
            _wait(v, bucket, ahead, behind, where, ends)
    while told < budget:
        while highest >= 0 and ends[highest, 0] < 0:
            highest -= 1
        if highest < 0:
            break
        v = ends[highest, 0]
        _leave(v, ahead, behind, where, ends)
        residual[v] = 0.0
        _tell(v, k, starts, twins, ways, tables, chances, damping, message, work, moved, LANES)
        told += starts[v + 1] - starts[v] + 1
        left = damping / (1.0 - damping)  # of a step, what damping held back
        for i in range(starts[v + 1] - starts[v]):
            w = heads[starts[v] + i]
            residual[v] = max(residual[v], left * moved[i])
            residual[w] += moved[i]
            if moved[i] > 0.0 and residual[w] > tol:
                bucket = _bucket(residual[w])
                highest = max(highest, bucket)
                if where[w] != bucket:
                    _wait(w, bucket, ahead, behind, where, ends)
        if residual[v] > tol:
            bucket = _bucket(residual[v])
            highest = max(highest, bucket)
            _wait(v, bucket, ahead, behind, where, ends)
    return told
