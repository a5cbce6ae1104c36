"""From text to counted n-grams: spans of bytes, an exact dictionary, sparse rows of counts.

Conventions

    data, offsets   n strings in one buffer of UTF-8: string i is data[offsets[i] : offsets[i+1]]
    classes         by code point: WORD and SPACE bits, as Python's ``\\w`` and ``\\s`` see characters
    lower           by code point: what is written for a character, itself or its lower case
    out             the texts made regular, so that every n-gram is one span of bytes of it
    starts, stops   (U,)   the span of unit t, a word or a character, in ``out``
    low, high       (S,)   the units of segment s; an n-gram never leaves its segment
    begins          (n+1,) the segments of string i

The UTF-8 is valid, the tables reach as far as its code points, and texts whose lower case is no matter of
single characters were lower-cased before. Memory a kernel asks for is linear in what it is given.

A dictionary is a table of slots, open addressing with linear probing. A slot is 0, or the upper half of a
hash and, below it, 1 + the number of an entry. An entry is found only if its bytes are equal: the hash says
where to look, and never decides.
"""

import numpy as np

from .compile import kernel
from .simd import get, prefetch, put

__all__ = [
    "SPACE",
    "WORD",
    "absorb",
    "arrange",
    "characters",
    "count",
    "find",
    "gathered",
    "index",
    "murmur",
    "padded_words",
    "rebuilt",
    "words",
]

WORD, SPACE = 1, 2
ASCII, BLANK = 128, 32
TAG, ENTRY = 0xFFFFFFFF00000000, 0xFFFFFFFF  # the two halves of a slot
TOGETHER = 64  # strings looked up side by side


# Units: from texts to spans


@kernel
def _foreign(data, at):
    """(code point, bytes) of the character beyond ASCII that begins at ``at`` in valid UTF-8."""
    first, second = np.int64(data[at]), np.int64(data[at + 1] & 0x3F)
    if first < 0xE0:
        return (first & 0x1F) << 6 | second, 2
    third = np.int64(data[at + 2] & 0x3F)
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third, 3
    return (first & 0x07) << 18 | second << 12 | third << 6 | (data[at + 3] & 0x3F), 4


@kernel
def _written(point, out, at):
    """Write a character at out[at] as UTF-8; returned where the next one goes."""
    if point < ASCII:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | point >> 6
    else:
        if point < 0x10000:
            out[at] = 0xE0 | point >> 12
        else:
            out[at] = 0xF0 | point >> 18
            at += 1
            out[at] = 0x80 | point >> 12 & 0x3F
        at += 1
        out[at] = 0x80 | point >> 6 & 0x3F
    out[at + 1] = 0x80 | point & 0x3F
    return at + 2


@kernel
def words(data, offsets, classes, lower):
    """Units are the runs of at least two word characters: the tokens of ``\\b\\w\\w+\\b``.

    Returned out, with one space after each token; starts, stops; begins (n+1,): the tokens of each string.
    """
    n = len(offsets) - 1
    size = offsets[n] - offsets[0]
    room = size + n  # a token's space takes the place of what ended it: a byte, or the end
    out = np.empty(room + size // 2, np.uint8)  # two bytes may be three in lower case
    starts, stops = np.empty(room // 3, np.int64), np.empty(room // 3, np.int64)
    begins = np.zeros(n + 1, np.int64)
    units, at = 0, 0
    for i in range(n):
        t, end = offsets[i], offsets[i + 1]
        while t < end:  # one run of word characters, perhaps empty, and the character that ends it
            start, letters = at, 0
            while t < end:
                byte = get(data, t)
                if byte < ASCII:
                    t += 1
                    if not get(classes, byte) & WORD:
                        break
                    out[at] = get(lower, byte)
                    at += 1
                else:
                    point, width = _foreign(data, t)
                    t += width
                    point = np.int64(lower[point])
                    if not classes[point] & WORD:
                        break
                    at = _written(point, out, at)
                letters += 1
            if letters > 1:
                starts[units], stops[units], out[at] = start, at, BLANK
                units += 1
                at += 1
            else:
                at = start
        begins[i + 1] = units
    return out[:at], starts[:units], stops[:units], begins


@kernel
def characters(data, offsets, classes, lower):
    """Units are characters, after two or more white-space characters in a row became one space.

    Returned out; starts, stops; begins (n+1,): the characters of each string.
    """
    n = len(offsets) - 1
    size = offsets[n] - offsets[0]
    out = np.empty(size + size // 2, np.uint8)
    starts, stops, begins = (
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.zeros(n + 1, np.int64),
    )
    units, at = 0, 0
    for i in range(n):
        t, end, run = offsets[i], offsets[i + 1], 0
        while t < end:
            point, width = np.int64(get(data, t)), 1
            if point >= ASCII:
                point, width = _foreign(data, t)
            t += width
            point = np.int64(lower[point])
            run = run + 1 if classes[point] & SPACE else 0
            if run > 1:  # the first of the run stands for all of it
                units -= 1
                at, point = starts[units], BLANK
            starts[units] = at
            if point < ASCII:
                out[at] = point
                at += 1
            else:
                at = _written(point, out, at)
            stops[units] = at
            units += 1
        begins[i + 1] = units
    return out[:at], starts[:units], stops[:units], begins


@kernel
def padded_words(data, offsets, classes, lower):
    """Units are the characters of the words between white space.

    A segment is a word with a space on each side; neighbours share the space between them.
    Returned out; starts, stops; low, high; begins.
    """
    n = len(offsets) - 1
    size = offsets[n] - offsets[0]
    out = np.empty(size + size // 2 + 2 * n, np.uint8)
    starts, stops = np.empty(size + 2 * n, np.int64), np.empty(size + 2 * n, np.int64)
    low, high = np.empty((size + n) // 2, np.int64), np.empty((size + n) // 2, np.int64)
    begins = np.zeros(n + 1, np.int64)
    units, at, segments = 0, 0, 0
    for i in range(n):
        t, end, letters = offsets[i], offsets[i + 1], 0
        starts[units], stops[units], out[at] = at, at + 1, BLANK
        at, units = at + 1, units + 1
        while t < end:
            point, width = np.int64(get(data, t)), 1
            if point >= ASCII:
                point, width = _foreign(data, t)
            t += width
            point = np.int64(lower[point])
            blank = classes[point] & SPACE
            if not blank:
                starts[units] = at
                if point < ASCII:
                    out[at] = point
                    at += 1
                else:
                    at = _written(point, out, at)
                stops[units] = at
                units, letters = units + 1, letters + 1
            if letters and (blank or t == end):
                starts[units], stops[units], out[at] = at, at + 1, BLANK
                at, units = at + 1, units + 1
                low[segments], high[segments] = units - letters - 2, units
                segments, letters = segments + 1, 0
        begins[i + 1] = segments
    return out[:at], starts[:units], stops[:units], low[:segments], high[:segments], begins


# The dictionary


@kernel
def _hash(data, start, stop):
    """64 bits of data[start : stop]: FNV-1a, then mixed so that the lower bits are as good as the upper."""
    h = np.uint64(0xCBF29CE484222325)
    for t in range(start, stop):
        h = (h ^ np.uint64(get(data, t))) * np.uint64(0x100000001B3)
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return h ^ (h >> np.uint64(32))


@kernel
def _equal(a, i, b, j, size):
    t = 0
    while t < size and get(a, i + t) == get(b, j + t):
        t += 1
    return t == size


@kernel
def _slot(slots, h, data, start, stop, known, lefts, rights):
    """(entry, slot) of data[start : stop] among the entries known[lefts[e] : rights[e]]; entry −1: none."""
    mask = np.uint64(len(slots) - 1)
    at = h & mask
    while slots[at]:
        if (slots[at] ^ h) & np.uint64(TAG) == 0:
            e = np.int64(slots[at] & np.uint64(ENTRY)) - 1
            size = stop - start
            if rights[e] - lefts[e] == size and _equal(known, lefts[e], data, start, size):
                return e, at
        at = (at + np.uint64(1)) & mask
    return -1, at


@kernel
def rebuilt(size, hashes, entries):
    """The slots of a dictionary, ``size`` of them (a power of two), from the hashes of its entries."""
    slots = np.zeros(size, np.uint64)
    mask = np.uint64(size - 1)
    for e in range(entries):
        at = hashes[e] & mask
        while slots[at]:
            at = (at + np.uint64(1)) & mask
        slots[at] = (hashes[e] & np.uint64(TAG)) | np.uint64(e + 1)
    return slots


@kernel
def gathered(data, starts, stops):
    """The strings data[starts[i] : stops[i]], one behind the other: their bytes and offsets (n+1,)."""
    offsets = np.zeros(len(starts) + 1, np.int64)
    for i in range(len(starts)):
        offsets[i + 1] = offsets[i] + stops[i] - starts[i]
    out = np.empty(offsets[len(starts)], np.uint8)
    for i in range(len(starts)):
        at, start = offsets[i], starts[i]
        for t in range(stops[i] - start):
            put(out, at + t, get(data, start + t))
    return out, offsets


@kernel
def _possible(low, high, least, most, whole):
    """How many n-grams the segments can have."""
    total = 0
    for s in range(len(low)):
        for size in range(least, most + 1):
            total += max(high[s] - low[s] - size + 1, 0)
        total += whole
    return total


@kernel
def count(out, starts, stops, low, high, begins, least, most, whole):
    """Every n-gram of least … most units, numbered by first appearance and counted for each string.

    whole: a segment of fewer than n units is itself one n-gram, once (character n-grams inside words).
    Returned the bytes and offsets of the n-grams; indptr (n+1,), indices, counts: the numbers of each
    string's n-grams in the order in which they appear in it, and how often.
    """
    n, room = len(begins) - 1, _possible(low, high, least, most, whole)
    lefts, rights = np.empty(room, np.int64), np.empty(room, np.int64)
    hashes, places = np.empty(room, np.uint64), np.empty(room, np.int64)
    indptr = np.zeros(n + 1, np.int64)
    indices, counts = np.empty(room, np.int32), np.empty(room, np.int32)
    slots = np.zeros(1 << 12, np.uint64)
    grams, entries = 0, 0
    for i in range(n):
        row = entries
        for s in range(begins[i], begins[i + 1]):
            units = high[s] - low[s]
            for size in range(least, most + 1):
                short = whole and units <= size
                for t in range(low[s], low[s] + 1 if short else high[s] - size + 1):
                    start, stop = starts[t], stops[high[s] - 1 if short else t + size - 1]
                    h = _hash(out, start, stop)
                    g, at = _slot(slots, h, out, start, stop, out, lefts, rights)
                    if g < 0:
                        g = grams
                        lefts[g], rights[g], hashes[g], places[g] = start, stop, h, -1
                        slots[at] = (h & np.uint64(TAG)) | np.uint64(g + 1)
                        grams += 1
                        if 2 * grams > len(slots):
                            slots = rebuilt(4 * len(slots), hashes, grams)
                    if places[g] >= row:
                        counts[places[g]] += 1
                    else:
                        places[g] = entries
                        indices[entries], counts[entries] = g, 1
                        entries += 1
                if short:
                    break
        indptr[i + 1] = entries
    data, offsets = gathered(out, lefts[:grams], rights[:grams])
    return data, offsets, indptr, indices[:entries].copy(), counts[:entries].copy()


@kernel
def _first_looks(data, offsets, i, stop, slots, known, bounds, hashes, numbers):
    """Hash strings i … stop−1 and look at the first slot of each: its entry if that is the string, else −1.

    Memory is asked for many of them at once; a loop that finished one string before it began the next would
    wait for each.
    """
    mask = np.uint64(len(slots) - 1)
    for s in range(i, stop):
        h = _hash(data, get(offsets, s), get(offsets, s + 1))
        put(hashes, s - i, h)
        prefetch(slots, np.int64(h & mask))
    for s in range(i, stop):
        h, e = get(hashes, s - i), -1
        slot = slots[h & mask]
        if slot and (slot ^ h) & np.uint64(TAG) == 0:
            e = np.int64(slot & np.uint64(ENTRY)) - 1
            prefetch(bounds, e)
        put(numbers, s, e)
    for s in range(i, stop):
        e = get(numbers, s)
        if e >= 0:
            start, left = get(offsets, s), get(bounds, e)
            size = get(offsets, s + 1) - start
            if get(bounds, e + 1) - left != size or not _equal(known, left, data, start, size):
                put(numbers, s, -1)


@kernel
def absorb(data, offsets, known, bounds, hashes, slots, entries, numbers):
    """Number n strings by the dictionary, which takes in those that it did not hold.

    Given the dictionary: known (bytes), bounds, hashes, slots, with ``entries`` entries and room for n more.
    Filled numbers (n,). Returned how many entries there are now.
    """
    looked = np.empty(TOGETHER, np.uint64)
    for i in range(0, len(numbers), TOGETHER):
        last = min(i + TOGETHER, len(numbers))
        _first_looks(data, offsets, i, last, slots, known, bounds, looked, numbers)
        for s in range(i, last):
            if numbers[s] >= 0:
                continue
            start, stop, h = offsets[s], offsets[s + 1], looked[s - i]
            e, at = _slot(slots, h, data, start, stop, known, bounds, bounds[1:])
            if e < 0:
                e = entries
                for t in range(stop - start):
                    known[bounds[e] + t] = data[start + t]
                bounds[e + 1], hashes[e] = bounds[e] + stop - start, h
                slots[at] = (h & np.uint64(TAG)) | np.uint64(e + 1)
                entries += 1
            numbers[s] = e
    return entries


@kernel
def index(data, offsets, size):
    """The slots, ``size`` of them (a power of two), of a dictionary whose entries are these n strings."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(hashes)):
        hashes[i] = _hash(data, offsets[i], offsets[i + 1])
    return rebuilt(size, hashes, len(hashes))


@kernel
def find(data, offsets, known, bounds, slots, numbers):
    """Filled numbers (n,): the entry that equals each string, or −1."""
    looked = np.empty(TOGETHER, np.uint64)
    for i in range(0, len(numbers), TOGETHER):
        last = min(i + TOGETHER, len(numbers))
        _first_looks(data, offsets, i, last, slots, known, bounds, looked, numbers)
        for s in range(i, last):
            if numbers[s] < 0:
                start, stop, h = offsets[s], offsets[s + 1], looked[s - i]
                numbers[s], _ = _slot(slots, h, data, start, stop, known, bounds, bounds[1:])


# Hashed features


@kernel
def _rotated(x, by):
    return (x << np.uint32(by)) | (x >> np.uint32(32 - by))


@kernel
def murmur(data, offsets, seed, hashes):
    """Filled hashes (n,): MurmurHash3 (x86, 32 bits) of each string, as scikit-learn hashes features.

    Appleby (2008), MurmurHash3_x86_32.
    """
    c1, c2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
    for i in range(len(hashes)):
        start, size = offsets[i], offsets[i + 1] - offsets[i]
        h, tail = np.uint32(seed), start + 4 * (size // 4)
        for t in range(start, tail, 4):
            k = np.uint32(0)
            for j in range(4):
                k |= np.uint32(data[t + j]) << np.uint32(8 * j)
            h ^= np.uint32(_rotated(np.uint32(k * c1), 15) * c2)
            h = np.uint32(np.uint32(_rotated(h, 13) * np.uint32(5)) + np.uint32(0xE6546B64))
        k = np.uint32(0)
        for j in range(size % 4):
            k |= np.uint32(data[tail + j]) << np.uint32(8 * j)
        h ^= np.uint32(_rotated(np.uint32(k * c1), 15) * c2)
        h ^= np.uint32(size)
        h = np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
        h = np.uint32((h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
        hashes[i] = h ^ (h >> np.uint32(16))


# Rows


@kernel
def arrange(indptr, indices, counts, columns, signs, order):
    """Rows with sorted columns, from counted n-grams and the column of each.

    Given indptr (n+1,), indices, counts as ``count`` returns them; columns (G,), −1 to leave an n-gram out;
    signs (G,) ±1; order: the n-grams that stay, by column. N-grams of one column are added up, and what adds
    up to zero is left out. Returned indptr (n+1,), indices, counts.

    Two counting sorts: the entries go to their n-grams, and from there, column by column, to their rows.
    """
    n = len(indptr) - 1
    ends, kept = np.zeros(len(columns), np.int64), np.zeros(n + 1, np.int64)
    for i in range(n):
        for t in range(indptr[i], indptr[i + 1]):
            if columns[indices[t]] >= 0:
                ends[indices[t]] += 1
                kept[i + 1] += 1
        kept[i + 1] += kept[i]
    total = 0
    for g in order:  # ends[g]: where the next entry of n-gram g goes
        total, ends[g] = total + ends[g], total
    rows, amounts = np.empty(total, np.int32), np.empty(total, np.int32)
    for i in range(n):
        for t in range(indptr[i], indptr[i + 1]):
            g = indices[t]
            if columns[g] >= 0:
                rows[ends[g]], amounts[ends[g]] = i, counts[t] * signs[g]
                ends[g] += 1
    wide, sums, fill = np.empty(total, np.int32), np.empty(total, np.int32), kept[:n].copy()
    t = 0
    for g in order:
        for e in range(t, ends[g]):
            i, at = rows[e], fill[rows[e]]
            if at > kept[i] and wide[at - 1] == columns[g]:
                sums[at - 1] += amounts[e]
            else:
                wide[at], sums[at] = columns[g], amounts[e]
                fill[i] += 1
        t = ends[g]
    return _without_zeros(wide, sums, kept, fill)


@kernel
def _without_zeros(wide, sums, starts, stops):
    """The entries starts[i] … stops[i]−1 of each row that are not zero, moved together in place."""
    n, at = len(stops), 0
    indptr = np.zeros(n + 1, np.int64)
    for i in range(n):
        for t in range(starts[i], stops[i]):
            if sums[t]:
                wide[at], sums[at] = wide[t], sums[t]
                at += 1
        indptr[i + 1] = at
    return indptr, wide[:at], sums[:at]
