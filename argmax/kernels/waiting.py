"""Whose turn it is in a sweep of dual ascent, and who waits how long after it."""

import numpy as np

from .compile import kernel

__all__ = ["due", "schedule"]

FACTOR, STEP, BITS = 1664525, 1013904223, 32  # a generator of whole numbers (Knuth 1998, 3.3.4)


@kernel
def due(rest, seed, order):
    """Fill ``order`` with the examples that wait no longer, shuffled; returns how many they are.

    Given  a seed below 2³². Changed rest (n,), the sweeps that each example still waits: one less.
    """
    count = 0
    for i in range(len(rest)):
        if rest[i] <= 0:
            order[count] = i
            count += 1
        rest[i] -= 1
    state = np.int64(seed)
    for last in range(count - 1, 0, -1):
        state = (state * FACTOR + STEP) & ((1 << BITS) - 1)
        other = (state * (last + 1)) >> BITS
        order[last], order[other] = order[other], order[last]
    return count


@kernel
def schedule(seen, gaps, least, longest, wait, rest):
    """Those of ``seen`` that added ``least`` or less wait, each time twice as long, up to ``longest``."""
    for at in range(len(seen)):
        i = seen[at]
        wait[i] = min(2 * wait[i] + 1, longest) if gaps[i] <= least else 0
        rest[i] = wait[i]
