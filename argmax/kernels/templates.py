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
from .simd import get, prefetch, put
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
    m, flat = len(relative), keys.reshape(keys.size)
    for k in range(m):
        at, row = k, codes[k]
        for i in range(len(offsets) - 1):
            start, size = offsets[i], offsets[i + 1] - offsets[i]
            for p in range(low, low + size + extra):
                q = p + relative[k]
                if q < 0:
                    code = -1 - q if -q <= left else ABSENT
                elif q >= size:
                    code = left + q - size if q - size < right else ABSENT
                else:
                    code = get(row, start + q)
                put(flat, at, code)
                at += m


# Dictionaries of tuples


@kernel
def _hash(keys, row, m):
    """64 bits of a row of whole numbers, and its least number. Given keys (C, m) flat."""
    h, least = np.uint64(0x9E3779B97F4A7C15), get(keys, row * m)
    for k in range(row * m, row * m + m):
        h = (h ^ np.uint64(get(keys, k))) * np.uint64(0xD6E8FEB86659FD93)
        h ^= h >> np.uint64(32)
        least = min(least, get(keys, k))
    return h, least


@kernel
def _equal(keys, row, known, e, m):
    same = True
    for k in range(m):
        same &= get(keys, row * m + k) == get(known, e * m + k)
    return same


@kernel
def _slot(slots, h, keys, row, known, m):
    """(entry, slot) of a row among the entries; entry −1: a free slot."""
    mask = np.uint64(len(slots) - 1)
    at = h & mask
    while slots[at]:
        if (slots[at] ^ h) & np.uint64(TAG) == 0:
            e = np.int64(slots[at] & np.uint64(ENTRY)) - 1
            if _equal(keys, row, known, e, m):
                return e, at
        at = (at + np.uint64(1)) & mask
    return -1, at


@kernel
def _first_looks(keys, i, stop, slots, known, m, hashes, numbers):
    """Hash rows i … stop−1 and look at the first slot of each, so that memory is asked for many at once.

    Filled numbers: the entry if it is there; the least number of the row if that is negative; else PENDING.
    """
    mask = np.uint64(len(slots) - 1)
    for row in range(i, stop):
        h, least = _hash(keys, row, m)
        put(numbers, row, least)
        put(hashes, row - i, h)
        prefetch(slots, np.int64(h & mask))
    for row in range(i, stop):
        if get(numbers, row) >= 0:
            h = get(hashes, row - i)
            slot, e = slots[h & mask], PENDING
            if slot and (slot ^ h) & np.uint64(TAG) == 0:
                e = np.int64(slot & np.uint64(ENTRY)) - 1
                prefetch(known, e * m)
            put(numbers, row, e)
    for row in range(i, stop):
        e = get(numbers, row)
        if e >= 0 and not _equal(keys, row, known, e, m):
            put(numbers, row, PENDING)


@kernel
def learn(keys, numbers):
    """Number the rows of keys (C, m) by first appearance. Rows with a negative number get their least one.

    Filled numbers (C,). Returned the different rows (G, m).
    """
    C, m = keys.shape
    flat, known, hashes = keys.reshape(C * m), np.empty(C * m, np.int32), np.empty(C, np.uint64)
    slots, looked = np.zeros(1 << 12, np.uint64), np.empty(TOGETHER, np.uint64)
    entries = 0
    for i in range(0, C, TOGETHER):
        stop = min(i + TOGETHER, C)
        _first_looks(flat, i, stop, slots, known, m, looked, numbers)
        for row in range(i, stop):
            if get(numbers, row) != PENDING:
                continue
            h = get(looked, row - i)
            e, at = _slot(slots, h, flat, row, known, m)
            if e < 0:
                e = entries
                for k in range(m):
                    put(known, e * m + k, get(flat, row * m + k))
                hashes[e], slots[at] = h, (h & np.uint64(TAG)) | np.uint64(e + 1)
                entries += 1
                if 2 * entries > len(slots):
                    slots = rebuilt(4 * len(slots), hashes, entries)
            put(numbers, row, e)
    return known[: entries * m].copy().reshape(entries, m)


@kernel
def index(known, size):
    """The slots, ``size`` of them (a power of two), of a dictionary with these rows as entries."""
    hashes, flat, m = np.empty(len(known), np.uint64), known.reshape(known.size), known.shape[1]
    for e in range(len(known)):
        hashes[e], _ = _hash(flat, e, m)
    return rebuilt(size, hashes, len(known))


@kernel
def find(keys, known, slots, numbers):
    """Filled numbers (C,): the entry that equals each row of keys (C, m), UNKNOWN, or the least number."""
    looked, (C, m) = np.empty(TOGETHER, np.uint64), keys.shape
    flat, entries = keys.reshape(C * m), known.reshape(known.size)
    for i in range(0, C, TOGETHER):
        stop = min(i + TOGETHER, C)
        _first_looks(flat, i, stop, slots, entries, m, looked, numbers)
        for row in range(i, stop):
            if get(numbers, row) == PENDING:
                numbers[row], _ = _slot(slots, get(looked, row - i), flat, row, entries, m)


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
                g = get(cells, at + t)
                if g >= 0:
                    put(counts, start + g, get(counts, start + g) + 1)


@kernel
def rows(cells, offsets, skip, firsts, extras, starts, tables, unknown, indptr, indices):
    """The attributes of each token: tables[starts[j] + g] for the tuple g that it has in template j.

    ``skip`` (0 or 1) tokens at the start of each sequence have no row. Filled indptr (rows + 1,) and indices,
    with room for one entry more than all there can be; unknown (J,): how often a template gives nothing
    because training did not have it. Returned the number of entries.
    """
    J, row, entries = len(firsts), 0, 0
    some = np.empty(TOGETHER * J, np.int32)
    unknown[:], indptr[0] = 0, 0
    for i in range(len(offsets) - 1):
        for t in range(offsets[i] + skip, offsets[i + 1], TOGETHER):
            size = min(TOGETHER, offsets[i + 1] - t)
            for j in range(J):
                at, start, missed = firsts[j] + extras[j] * i + t, starts[j], 0
                for r in range(size):
                    a = get(cells, at + r)
                    if a >= 0:
                        a = get(tables, start + a)
                    missed += a == UNKNOWN
                    put(some, r * J + j, a)
                unknown[j] += missed
            for r in range(size):
                for j in range(r * J, r * J + J):
                    put(indices, entries, get(some, j))
                    entries += get(some, j) >= 0
                row += 1
                put(indptr, row, entries)
    return entries
