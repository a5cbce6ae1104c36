"""Attribute–label pairs: which there are, and the sums of their weights over the attributes of a token.

    S_t(c) = Σ_{a at t} w(a, c)               gather       and back:  w(a, c) += Σ_t R_t(c)      scatter

Most attributes of text are rare, and a rare attribute was seen with one or two labels; a few are everywhere,
with most labels. So there are three kinds, and a token lists what it has of each (``Plan``):

    heavy   a row of P lanes in a table: one vector addition
    light   the pairs that exist, one by one
    once    attributes of a single token. All of that token have the same gradient, so with an l2 penalty they
            have the same weight: one variable v for all s of them, each √(1/s) v, leaves F as it is

(Nothing else in a fit is as expensive as these sums: forward–backward takes about a third of the time.)
"""

from typing import Any, NamedTuple

import numpy as np

from .compile import kernel
from .simd import add, fma, get, load, mul, prefetch, put, store

__all__ = [
    "Plan",
    "Weights",
    "ahead",
    "collect",
    "count",
    "count_pairs",
    "expand",
    "fill_pairs",
    "label_of",
    "labels_of",
    "list_pairs",
    "list_slots",
    "mark",
    "most_of",
    "part_attributes",
    "plan_sizes",
    "scatter",
    "scores",
    "scores_of_rows",
    "turn",
]


class Plan(NamedTuple):
    """What each token has. ``step`` is 0 where all values are the same single 1."""

    heavy_start: Any  # (N + 1,)
    rows: Any  # (heavy entries,): rows of the table
    row_values: Any  # (heavy entries,) or (1,)
    light_start: Any  # (N + 1,)
    pairs: Any  # (light entries,): place in the list of light pairs · 2^bits + label of that pair
    bits: Any  # of a label, which stands here as well, since places in memory are far apart
    pair_values: Any  # (light entries,) or (1,)
    step: Any
    slot: Any  # (N,): its variable for attributes that occur once, or −1
    singles: Any  # (N,): s, how many these are
    root: Any  # (most + 1,): √s of every s


class Weights(NamedTuple):
    """A flat w as kernels read it, or a gradient as they write it."""

    table: Any  # (heavy · P,)
    light: Any  # (light pairs,)
    codes: Any  # (light pairs,): their labels
    once: Any  # (slots,)
    base: Any  # (P,): 0 for labels, −inf beyond; what every position starts with
    first: Any  # (P,): added at the first position of a sequence
    last: Any  # (P,): added at the last one


@kernel
def labels_of(weights):
    """K: the lanes that are labels."""
    K = 0
    for c in range(len(weights.base)):
        K += weights.base[c] == 0
    return K


# Which pairs there are


@kernel
def count(indices, counts):
    """counts[a] += how often attribute a occurs."""
    for q in range(len(indices)):
        put(counts, indices[q], get(counts, indices[q]) + 1)


@kernel
def mark(indptr, indices, labels, seen):
    """Set the bits of the labels that each attribute occurs with. Given seen (d, words)."""
    for t in range(len(labels)):
        word, bit = labels[t] >> 6, np.uint64(1) << np.uint64(labels[t] & 63)
        for q in range(indptr[t], indptr[t + 1]):
            seen[indices[q], word] |= bit


@kernel
def count_pairs(seen, sizes):
    """sizes[a] = how many labels attribute a was seen with."""
    for a in range(len(sizes)):
        sizes[a] = 0
        for word in range(seen.shape[1]):
            x = seen[a, word]
            while x:
                x &= x - np.uint64(1)  # without its lowest bit
                sizes[a] += 1


@kernel
def list_pairs(seen, chosen, K, codes):
    """The labels of each chosen attribute, ascending, one attribute after the other, into codes."""
    m = 0
    for a in chosen:
        for c in range(K):
            if seen[a, c >> 6] >> np.uint64(c & 63) & np.uint64(1):
                codes[m] = c
                m += 1


@kernel
def list_slots(indptr, indices, once, rank, slot, token):
    """The variables for attributes that occur once: one for each token that has some.

    Given rank (d,): their numbers among each other. Filled slot (so many,): the variable of each; token: the
    token of each variable. Returned how many variables there are.
    """
    slots = 0
    for t in range(len(indptr) - 1):
        found = False
        for q in range(indptr[t], indptr[t + 1]):
            a = get(indices, q)
            if get(once, a):
                put(slot, get(rank, a), slots)
                found = True
        if found:
            put(token, slots, t)
            slots += 1
    return slots


# What each token has of them


@kernel
def plan_sizes(indptr, indices, row, ptr, once, first, last, heavy, few, light, singles):
    """How many rows, light attributes and pairs of these each of the tokens first … last−1 has.

    And attributes of its own. Given row (d,): ≥ 0 if heavy; ptr (d + 1,) of light pairs; once (d,) booleans.
    """
    for t in range(first, last):
        rows, others, pairs, alone = 0, 0, 0, 0
        for q in range(indptr[t], indptr[t + 1]):
            a = get(indices, q)
            if get(row, a) >= 0:
                rows += 1
            elif get(once, a):
                alone += 1
            else:
                others += 1
                pairs += get(ptr, a + 1) - get(ptr, a)
        heavy[t], few[t], light[t], singles[t] = rows, others, pairs, alone


@kernel
def part_attributes(indptr, indices, values, step, row, once, first, last, heavy, few):
    """The attributes of these tokens: heavy ones as rows, light ones by number.

    ``heavy`` and ``few`` are three arrays each: where those of a token start, which is given; what they are
    and their values, which are filled.
    """
    for t in range(first, last):
        i, j = heavy[0][t], few[0][t]
        for q in range(indptr[t], indptr[t + 1]):
            a = get(indices, q)
            if get(row, a) >= 0:
                put(heavy[1], i, get(row, a))
                if step:
                    heavy[2][i] = values[q]
                i += 1
            elif not get(once, a):
                put(few[1], j, a)
                if step:
                    few[2][j] = values[q]
                j += 1


@kernel
def fill_pairs(few, ptr, codes, first, last, plan):
    """The pairs of a ``Plan``, and their values; given ``few`` of ``part_attributes``, codes of all pairs."""
    for t in range(first, last):
        j = plan.light_start[t]
        for q in range(few[0][t], few[0][t + 1]):
            a = get(few[1], q)
            for p in range(get(ptr, a), get(ptr, a + 1)):
                put(plan.pairs, j, (p << plan.bits) + get(codes, p))
                if plan.step:
                    plan.pair_values[j] = few[2][q]
                j += 1


# From the flat w and back


@kernel
def expand(w, heavy, codes, first, last, P, table):
    """table[r, c] = w of heavy row r and label c. Given heavy (rows + 1,), codes of the heavy pairs."""
    for r in range(first, last):
        for p in range(heavy[r], heavy[r + 1]):
            table[r * P + codes[p]] = w[p]


@kernel
def collect(table, heavy, codes, P, out):
    """out[p] += the entry of heavy pair p in a table (rows, P)."""
    for r in range(len(heavy) - 1):
        for p in range(heavy[r], heavy[r + 1]):
            put(out, p, get(out, p) + get(table, r * P + get(codes, p)))


@kernel
def label_of(pair, bits):
    """The label of an entry of ``Plan.pairs``; pair >> bits is its place."""
    return pair & ((1 << bits) - 1)


# The sums themselves. Fields of a named tuple cost a count of references each time: taken out once a sequence


@kernel
def scores(plan, weights, labels, start, L, s, P, LANES):
    """s (L, P): the scores of a sequence whose tokens begin at ``start``.

    Given labels (N,): where an attribute occurs once, its only label is that of its token.
    """
    heavy, rows, row_values, light, pairs, bits, pair_values, step, slot, singles, root = plan
    table, listed, _, once, base, first, last = weights
    for t in range(start, start + L):
        here = (t - start) * P
        for k in range(0, P, len(LANES)):
            y = load(base, k, LANES)
            for i in range(get(heavy, t), get(heavy, t + 1)):
                y = fma(get(row_values, i * step), load(table, get(rows, i) * P + k, LANES), y)
            store(s, here + k, y)
        for j in range(get(light, t), get(light, t + 1)):
            pair = get(pairs, j)
            at = here + label_of(pair, bits)
            put(s, at, get(s, at) + get(pair_values, j * step) * get(listed, pair >> bits))
        if get(slot, t) >= 0:
            s[here + labels[t]] += root[singles[t]] * get(once, get(slot, t))
    end = (L - 1) * P
    for k in range(0, P, len(LANES)):
        store(s, k, add(load(s, k, LANES), load(first, k, LANES)))
        store(s, end + k, add(load(s, end + k, LANES), load(last, k, LANES)))


@kernel
def ahead(plan, offsets, order, at):
    """Asks memory for what the next sequences of ``order`` have, while the one at ``at`` is worked on.

    A processor foresees a walk through memory, not a jump to another sequence: so the places of the next
    one's weights are asked for, and where these begin of the one behind it.
    """
    heavy, rows, _, light, pairs, _, _, _, slot, singles, _ = plan
    if at + 2 < len(order):
        start, stop = offsets[order[at + 2]], offsets[order[at + 2] + 1]
        for t in range(start, stop + 16, 16):  # a line of memory holds sixteen
            prefetch(heavy, t)
            prefetch(light, t)
            prefetch(slot, t)
            prefetch(singles, t)
    if at + 1 < len(order):
        start, stop = offsets[order[at + 1]], offsets[order[at + 1] + 1]
        for i in range(heavy[start], heavy[stop] + 32, 32):
            prefetch(rows, i)
        for j in range(light[start], light[stop] + 16, 16):
            prefetch(pairs, j)


@kernel
def scatter(plan, labels, start, L, r, factor, out, mask, P, LANES):
    """out += factor · the features of a sequence times its residuals r (L, P): the adjoint of ``scores``.

    Given ``mask``, 1 for the pairs of the table and 0 elsewhere; if it is empty, all of it is written to.
    """
    heavy, rows, row_values, light, pairs, bits, pair_values, step, slot, singles, root = plan
    table, listed, _, once, _, first, _ = out
    for t in range(start, start + L):
        here = (t - start) * P
        for i in range(get(heavy, t), get(heavy, t + 1)):
            x, at = factor * get(row_values, i * step), get(rows, i) * P
            for k in range(0, P, len(LANES)):
                y = load(r, here + k, LANES)
                if len(mask):
                    y = mul(load(mask, at + k, LANES), y)
                store(table, at + k, fma(x, y, load(table, at + k, LANES)))
        for j in range(get(light, t), get(light, t + 1)):
            pair = get(pairs, j)
            at = pair >> bits
            x = factor * get(pair_values, j * step) * get(r, here + label_of(pair, bits))
            put(listed, at, get(listed, at) + x)
        if get(slot, t) >= 0:
            once[slot[t]] += factor * root[singles[t]] * r[here + labels[t]]
    for c in range(P):
        first[c] += factor * r[c]


@kernel
def turn(plan, t, right, wrong, amount, out, mask, P):
    """out of token t += amount with the right label, −= amount with a wrong one; mask as in ``scatter``."""
    heavy, rows, row_values, light, pairs, bits, pair_values, step, slot, singles, root = plan
    table, listed, _, once, _, _, _ = out
    if slot[t] >= 0:
        once[slot[t]] += amount * root[singles[t]]
    for i in range(heavy[t], heavy[t + 1]):
        x, at = amount * row_values[i * step], rows[i] * P
        table[at + right] += x * mask[at + right] if len(mask) else x
        table[at + wrong] -= x * mask[at + wrong] if len(mask) else x
    for j in range(light[t], light[t + 1]):
        x, label = amount * pair_values[j * step], label_of(pairs[j], bits)
        if label == right:
            listed[pairs[j] >> bits] += x
        elif label == wrong:
            listed[pairs[j] >> bits] -= x


@kernel
def _rows_ahead(indptr, indices, row, ptr, table, listed, codes, t, stop, P):
    """Asks memory for the weights of a token a little behind t, and for where these are of a later one."""
    if t + LATER < stop:
        for q in range(get(indptr, t + LATER), get(indptr, t + LATER + 1)):
            prefetch(row, get(indices, q))
            prefetch(ptr, get(indices, q))
    if t + SOON < stop:
        for q in range(get(indptr, t + SOON), get(indptr, t + SOON + 1)):
            a = get(indices, q)
            for k in range(0, P, 16):
                prefetch(table, max(get(row, a), 0) * P + k)
            prefetch(listed, get(ptr, a))
            prefetch(codes, get(ptr, a))


SOON, LATER = 2, 4


@kernel
def scores_of_rows(
    indptr, indices, values, step, row, ptr, weights, start, L, stop, s, heavy, light, P, LANES
):
    """``scores`` of tokens that no plan has. Which attributes of a token are heavy is found out first.

    (A branch for each attribute would be guessed wrongly once in four.) Tokens from ``stop`` on are not read
    ahead. heavy and light are memory for the attributes of one token and one more.
    """
    table, listed, codes, _, base, first, last = weights
    for t in range(start, start + L):
        _rows_ahead(indptr, indices, row, ptr, table, listed, codes, t, stop, P)
        here, rows, others = (t - start) * P, 0, 0
        for q in range(get(indptr, t), get(indptr, t + 1)):
            put(heavy, rows, q)
            put(light, others, q)
            is_heavy = get(row, get(indices, q)) >= 0
            rows += is_heavy
            others += not is_heavy
        for k in range(0, P, len(LANES)):
            y = load(base, k, LANES)
            for i in range(rows):
                q = get(heavy, i)
                at = get(row, get(indices, q)) * P + k
                y = fma(get(values, q * step), load(table, at, LANES), y)
            store(s, here + k, y)
        for i in range(others):
            q = get(light, i)
            a = get(indices, q)
            for p in range(get(ptr, a), get(ptr, a + 1)):
                at = here + get(codes, p)
                put(s, at, get(s, at) + get(values, q * step) * get(listed, p))
    end = (L - 1) * P
    for k in range(0, P, len(LANES)):
        store(s, k, add(load(s, k, LANES), load(first, k, LANES)))
        store(s, end + k, add(load(s, end + k, LANES), load(last, k, LANES)))


@kernel
def most_of(indptr, start, stop):
    """The most entries that one of these rows has."""
    most = 0
    for t in range(start, stop):
        most = max(most, indptr[t + 1] - indptr[t])
    return most
