"""Templates over token columns: from codes of strings to attributes of tokens, on whole numbers alone.

Conventions (see features/templates/windows.py)

    offsets   (n+1,)   sequence i has the tokens offsets[i] … offsets[i+1]−1, T_i of them
    codes     (m, N)   code of each token in the m sources of a window; UNKNOWN and ABSENT are negative
    cells     (C,)     numbers of the tuples that a window shows at every position it is looked at from;
                       sequence i has T_i + extra of them, from offsets[i] + extra·i on
    table     (G,)     the attribute of each tuple in a template, or UNKNOWN

A dictionary of tuples has the slots of kernels/text.py: 0, or the upper half of a hash and 1 + the number
of an entry below it. An entry is found only if all its numbers are equal: the hash never decides.
"""

import numpy as np

from .compile import kernel
from .simd import prefetch
from .text import ENTRY, TAG, TOGETHER, rebuilt

__all__ = ["ABSENT", "UNKNOWN", "count", "find", "index", "learn", "look", "rows"]

UNKNOWN, ABSENT = -1, -2
PENDING = -3  # not looked up yet


# Windows


@kernel
def look(codes, offsets, relative, low, extra, left, right, keys):
    """Filled keys (C, m): the codes that a window has at each of its positions.

    relative (m,): the distance of each source from the position. Outside the sequence, the position −1 −
    j has the code j for j < left, and T + j the code left + j for j < right; all others are ABSENT.
    """
    for k in range(len(relative)):
        at = 0
        for i in range(len(offsets) - 1):
            start, size = offsets[i], offsets[i + 1] - offsets[i]
            for p in range(low, low + size + extra):
                q = p + relative[k]
                if q < 0:
                    code = -1 - q if -q <= left else ABSENT
                elif q >= size:
                    code = left + q - size if q - size < right else ABSENT
                else:
                    code = codes[k, start + q]
                keys[at, k] = code
                at += 1


# Dictionaries of tuples


@kernel
def _hash(keys, row):
    """64 bits of a row of whole numbers, and its least number."""
    h, least = np.uint64(0x9E3779B97F4A7C15), keys[row, 0]
    for k in range(keys.shape[1]):
        h = (h ^ np.uint64(keys[row, k])) * np.uint64(0xD6E8FEB86659FD93)
        h ^= h >> np.uint64(32)
        least = min(least, keys[row, k])
    return h, least


@kernel
def _equal(keys, row, known, e):
    same = True
    for k in range(keys.shape[1]):
        same &= keys[row, k] == known[e, k]
    return same


@kernel
def _slot(slots, h, keys, row, known):
    """(entry, slot) of a row among the entries; entry −1: a free slot."""
    mask = np.uint64(len(slots) - 1)
    at = h & mask
    while slots[at]:
        if (slots[at] ^ h) & np.uint64(TAG) == 0:
            e = np.int64(slots[at] & np.uint64(ENTRY)) - 1
            if _equal(keys, row, known, e):
                return e, at
        at = (at + np.uint64(1)) & mask
    return -1, at


@kernel
def _first_looks(keys, i, stop, slots, known, hashes, numbers):
    """Hash rows i … stop−1 and look at the first slot of each, so that memory is asked for many at once.

    Filled numbers: the entry if it is there; the least number of the row if that is negative; else PENDING.
    """
    mask, flat, m = np.uint64(len(slots) - 1), known.reshape(known.size), known.shape[1]
    for row in range(i, stop):
        h, numbers[row] = _hash(keys, row)
        hashes[row - i] = h
        prefetch(slots, np.int64(h & mask))
    for row in range(i, stop):
        if numbers[row] >= 0:
            h = hashes[row - i]
            slot = slots[h & mask]
            numbers[row] = PENDING
            if slot and (slot ^ h) & np.uint64(TAG) == 0:
                numbers[row] = np.int64(slot & np.uint64(ENTRY)) - 1
                prefetch(flat, numbers[row] * m)
    for row in range(i, stop):
        if numbers[row] >= 0 and not _equal(keys, row, known, numbers[row]):
            numbers[row] = PENDING


@kernel
def learn(keys, numbers):
    """Number the rows of keys (C, m) by first appearance. Rows with a negative number get their least one.

    Filled numbers (C,). Returned the different rows (G, m).
    """
    C, m = keys.shape
    known, hashes = np.empty((C, m), np.int32), np.empty(C, np.uint64)
    slots, looked = np.zeros(1 << 12, np.uint64), np.empty(TOGETHER, np.uint64)
    entries = 0
    for i in range(0, C, TOGETHER):
        stop = min(i + TOGETHER, C)
        _first_looks(keys, i, stop, slots, known, looked, numbers)
        for row in range(i, stop):
            if numbers[row] != PENDING:
                continue
            h = looked[row - i]
            e, at = _slot(slots, h, keys, row, known)
            if e < 0:
                e = entries
                for k in range(m):
                    known[e, k] = keys[row, k]
                hashes[e], slots[at] = h, (h & np.uint64(TAG)) | np.uint64(e + 1)
                entries += 1
                if 2 * entries > len(slots):
                    slots = rebuilt(4 * len(slots), hashes, entries)
            numbers[row] = e
    return known[:entries].copy()


@kernel
def index(known, size):
    """The slots, ``size`` of them (a power of two), of a dictionary with these rows as entries."""
    hashes = np.empty(len(known), np.uint64)
    for e in range(len(known)):
        hashes[e], _ = _hash(known, e)
    return rebuilt(size, hashes, len(known))


@kernel
def find(keys, known, slots, numbers):
    """Filled numbers (C,): the entry that equals each row of keys (C, m), UNKNOWN, or the least number."""
    looked = np.empty(TOGETHER, np.uint64)
    for i in range(0, len(keys), TOGETHER):
        stop = min(i + TOGETHER, len(keys))
        _first_looks(keys, i, stop, slots, known, looked, numbers)
        for row in range(i, stop):
            if numbers[row] == PENDING:
                numbers[row], _ = _slot(slots, looked[row - i], keys, row, known)


# Attributes


@kernel
def count(cells, offsets, skip, firsts, extras, starts, counts):
    """counts[starts[j] + g] += how many tokens have the tuple g in template j.

    The cell of the token t of sequence i, in template j, is firsts[j] + t + extras[j]·i. The first
    ``skip`` tokens of each sequence do not count.
    """
    for i in range(len(offsets) - 1):
        for j in range(len(firsts)):
            at, start = firsts[j] + extras[j] * i, starts[j]
            for t in range(offsets[i] + skip, offsets[i + 1]):
                g = cells[at + t]
                if g >= 0:
                    counts[start + g] += 1


@kernel
def rows(cells, offsets, skip, firsts, extras, starts, tables, unknown, indptr, indices):
    """The attributes of each token: tables[starts[j] + g] for the tuple g that it has in template j.

    ``skip`` (0 or 1) tokens at the start of each sequence have no row. Filled indptr (rows + 1,) and indices,
    with room for one entry more than all there can be; unknown (J,): how often a template gives nothing
    because training did not have it. Returned the number of entries.
    """
    J, row, entries = len(firsts), 0, 0
    some = np.empty((TOGETHER, J), np.int32)
    unknown[:], indptr[0] = 0, 0
    for i in range(len(offsets) - 1):
        for t in range(offsets[i] + skip, offsets[i + 1], TOGETHER):
            size = min(TOGETHER, offsets[i + 1] - t)
            for j in range(J):
                at, start = firsts[j] + extras[j] * i + t, starts[j]
                for r in range(size):
                    a = cells[at + r]
                    if a >= 0:
                        a = tables[start + a]
                    unknown[j] += a == UNKNOWN
                    some[r, j] = a
            for r in range(size):
                for j in range(J):
                    indices[entries] = some[r, j]
                    entries += some[r, j] >= 0
                row += 1
                indptr[row] = entries
    return entries
