"""Dual coordinate ascent for the hinges: one example at a time, exactly.

    maximise   D(α) = Σ_i ⟨Δ_i, α_i⟩ − ½ ‖W‖²,     W = Σ_i x_i (c_i e_y − α_i)ᵀ           (Crammer and Singer)

over α_i ≥ 0, Σ_c α_ic = c_i. With scores s = Wᵀx, g = s + Δ and q = ‖x‖² the best α_i, others fixed, is

    α ← projection of α + g / q onto {α ≥ 0, Σ_c α_c = c}:   α_c = max(b_c − θ, 0),  b = α + g/q

(Keerthi, Sundararajan, Chang, Hsieh and Lin 2008; Blondel, Fujino and Ueda 2014). θ is found by Newton's
method from where the sum is at least c: it only rises, and ends in a few steps. max b − c is such a place,
and so is (Σ_S b − c)/|S| for any labels S; with those that have mass now it is often the end already.

Weston and Watkins: 0 ≤ α_c ≤ c for c ≠ y, and α_y stands for −Σ_{c≠y} α_c, so W has the same form. With
g_c = 1 + s_c − s_y the best α_i has

    α_c = min(max(b_c − T, 0), c),   b = α + g/q,   T = Σ_{c≠y} (new α_c − old α_c)

and T is the root of a falling, piecewise linear function: its corners are sorted, and walked down to the
piece that holds the root, in O(K log K) (Wang and Scott 2021, algorithm 1).

Example i adds c max_c g_c − ⟨α, g⟩, or Σ_{c≠y} c max(g_c, 0) − α_c g_c, to the duality gap F(W) − D(α). A
visit computes it anyway; examples that add next to nothing are visited less often.
"""

import numpy as np

from .compile import inner_kernel, kernel
from .label_lists import enlist, expire
from .simd import get, prefetch, put
from .sorting import ENDS, sort
from .sparse_rows import LINE, gather, scatter, send_for

__all__ = ["accumulate", "look", "visit"]


AHEAD, FAR = 3, 6  # examples before their turn: their numbers are sent for, and where these are
LANES = 16  # labels that are moved together as fast as one by itself


@kernel
def _share_out(b, K, c, before, y, corners, ends, new):
    """new_k = min(max(b_k − T, 0), c) for k ≠ y, where T = Σ new − before; new_y = −Σ new.

    From above, label k leaves 0 at the corner T = b_k and is held at c from T = b_k − c on. ``corners`` (K,)
    is memory for b, sorted (by ``sorting``): those from ``first`` on have left 0, those from ``full`` on are
    held.
    """
    m = 0
    for k in range(K):
        if k != y:
            corners[m] = b[k]
            m += 1
    sort(corners, m, ends)
    first, full, inside = m, m, 0.0
    while True:
        T = ((m - full) * c + inside - before) / (1.0 + full - first)
        leaves = corners[first - 1] if first > 0 else -np.inf
        held = corners[full - 1] - c if full > first else -np.inf
        if max(leaves, held) <= T:
            break
        if leaves >= held:
            first -= 1
            inside += corners[first]
        else:
            full -= 1
            inside -= corners[full]
    inside = 0.0  # summed anew, without what came and went
    for j in range(first, full):
        inside += corners[j]
    T, total = ((m - full) * c + inside - before) / (1.0 + full - first), 0.0
    for k in range(K):
        if k != y:
            new[k] = min(max(b[k] - T, 0.0), c)
            total += new[k]
    new[y] = -total


@inner_kernel
def _gap(g, alpha, c, K, y, sum_of_hinges):
    """What one example adds to the duality gap, given g; of Weston–Watkins g_y is not used."""
    if sum_of_hinges:
        gap = 0.0
        for k in range(K):
            if k != y:
                gap += c * max(g[k], 0.0) - alpha[k] * g[k]
        return gap
    top, mean = g[0], 0.0
    for k in range(K):
        top = max(top, g[k])
        mean += alpha[k] * g[k]
    return c * top - mean


@inner_kernel
def _margins(
    i, indptr, indices, values, step, flat, last, P, bias, y, cost, sum_of_hinges, row, g, K
):
    """g = s + Δ of example i, of Weston–Watkins less s_y; ``last`` is where the intercept begins."""
    gather(indices, values, step, indptr[i], indptr[i + 1], flat, P, row)
    shift = 0.0
    if sum_of_hinges:
        shift = row[y] + bias * flat[last + y]
    for k in range(K):
        g[k] = row[k] + bias * flat[last + k] + cost[k] - shift


@inner_kernel
def _to_simplex(b, K, theta, c, scale, alpha, place, moved, change):
    """alpha ← projection of b onto {α ≥ 0, Σ α = c}; returns how many changed.

    Given b (K,) and a lower bound of θ. Filled alpha (K,); moved, the labels that changed; change, by them,
    the old α less the new one, scaled. ``place`` (K,) is memory for the labels that may keep something.
    """
    m, total, count = 0, 0.0, 0
    for k in range(K):
        if b[k] > theta:
            place[m] = k
            total += b[k]
            m += 1
        elif alpha[k] != 0.0:
            moved[count], change[count] = k, scale * alpha[k]
            alpha[k] = 0.0
            count += 1
    while True:
        theta, kept, total_kept = (total - c) / m, 0, 0.0
        for j in range(m):
            k = place[j]
            if b[k] > theta:
                place[kept] = k
                total_kept += b[k]
                kept += 1
            elif alpha[k] != 0.0:
                moved[count], change[count] = k, scale * alpha[k]
                alpha[k] = 0.0
                count += 1
        if kept == m:
            break
        m, total = kept, total_kept
    for j in range(m):
        k = place[j]
        new = b[k] - theta
        if new != alpha[k]:
            moved[count], change[count] = k, scale * (alpha[k] - new)
            alpha[k] = new
            count += 1
    return count


@kernel
def _to_box(b, K, c, y, scale, alpha, corners, ends, new, moved, change):
    """The step of Weston–Watkins; otherwise as ``_to_simplex``."""
    count = 0
    _share_out(b, K, c, -alpha[y], y, corners, ends, new)
    for k in range(K):
        if new[k] != alpha[k]:
            moved[count], change[count] = k, scale * (alpha[k] - new[k])
            alpha[k] = new[k]
            count += 1
    return count


@inner_kernel
def _move(indices, values, step, first, last, flat, P, bias, base, row, count, moved, change):
    """W += x changeᵀ: all labels at once, or one by one where few have changed."""
    if bias > 0.0:
        for j in range(count):
            flat[base + moved[j]] += bias * change[j]
    if LANES * count >= P:
        row[:] = 0.0
        for j in range(count):
            row[moved[j]] = change[j]
        scatter(indices, values, step, first, last, flat, P, row)
        return
    for t in range(first, last):
        at, x = np.int64(get(indices, t)) * P, get(values, t * step)
        for j in range(count):
            k = at + get(moved, j)
            put(flat, k, x * get(change, j) + get(flat, k))


@inner_kernel
def _send_for_scalars(i, indptr, q, c, y, begins, gaps, counts, left):
    """Have what example i has one of brought near."""
    prefetch(indptr, i)
    prefetch(q, i)
    prefetch(c, i)
    prefetch(y, i)
    prefetch(begins, i)
    prefetch(gaps, i)
    prefetch(counts, i)
    prefetch(left, i)


@inner_kernel
def _send_for_example(i, indptr, indices, values, step, K, alpha, room, lists, held, counts):
    """Have the numbers of example i brought near. Given flat alpha (n · K), lists and held (n · room)."""
    first, last = np.int64(get(indptr, i)), np.int64(get(indptr, i + 1))
    send_for(first, last, indices, values, step)
    if room == 0 or get(counts, i) <= 0:
        for k in range(i * K, (i + 1) * K, LINE // 8):
            prefetch(alpha, k)
    for j in range(i * room, i * room + get(counts, i), LINE // 8):
        prefetch(lists, j)
        prefetch(held, j)


@inner_kernel
def _send_for_weights(i, indptr, indices, flat, P, room, lists, count):
    """Have the weights brought near that example i is going to read, if it has a list."""
    for t in range(np.int64(get(indptr, i)), np.int64(get(indptr, i + 1))):
        at = np.int64(get(indices, t)) * P
        for j in range(i * room, i * room + count):
            prefetch(flat, at + get(lists, j))


@kernel
def visit(
    order, indptr, indices, values, step, q, c, y, prices, begins, sum_of_hinges, scale, bias, W, alpha, gaps,
    lists, held, counts, left, terms,
):  # fmt: skip
    """Visit the examples in ``order`` once.

    Given  rows; q (n,) curvatures ‖x‖² + bias (scaled); c (n,) weights C·s_i; y (n,); prices, where those of
           example i, Δ_i (K,), begin at begins[i]; scale 1, or ½ for two classes; bias 1 where the last row
           of W is the intercept, else 0.
    Filled W (d [+ 1], P), alpha (n, K), gaps (n,) as they were before each step.

    ``lists`` (n, L) and what follows are the labels that matter (``label_lists``); L = 0 leaves them out.
    """
    K, P, flat, room = alpha.shape[1], W.shape[1], W.ravel(), lists.shape[1]
    base = (len(W) - 1) * P
    row, g, b, new = np.zeros(P, W.dtype), np.empty(K), np.empty(K), np.empty(K)
    mass, change = np.empty(K), np.empty(K, W.dtype)
    corners, ends = np.empty(K), np.empty(ENDS, np.int64)
    nothing = np.zeros(1, W.dtype)  # a zero of the same kind: a literal would be float64
    place, moved, some = np.empty(K, np.int64), np.empty(K, np.int64), np.arange(K)
    # No views inside the loop: each would be counted as one more user of its array, which takes time.
    flat_alpha, flat_lists, flat_held = alpha.ravel(), lists.ravel(), held.ravel()
    for at in range(len(order)):
        i = np.int64(order[at])
        if at + FAR < len(order):
            _send_for_scalars(
                np.int64(order[at + FAR]), indptr, q, c, y, begins, gaps, counts, left
            )
        if at + AHEAD < len(order):
            _send_for_example(
                order[at + AHEAD], indptr, indices, values, step, K, flat_alpha, room, flat_lists, flat_held,
                counts,
            )  # fmt: skip
        if room > 0 and at + 1 < len(order):
            following = np.int64(order[at + 1])
            _send_for_weights(
                following, indptr, indices, flat, P, room, flat_lists, get(counts, following)
            )
        own_label, weight = np.int64(get(y, i)), get(c, i)
        first, last = np.int64(get(indptr, i)), np.int64(get(indptr, i + 1))
        cost, inverse = get(begins, i), 1.0 / get(q, i)
        m, label = K, own_label
        if room > 0:
            m = np.int64(get(counts, i))
            for j in range(m):
                some[j], mass[j] = get(flat_lists, i * room + j), get(flat_held, i * room + j)
                label = j if some[j] == own_label else label
            if m <= 0:
                m = K
                for k in range(K):
                    some[k] = k
        # 1. Scores of the labels at hand: g = s + Δ, for Weston–Watkins less s_y.
        if m < K:
            for j in range(m):
                k = get(some, j)
                s = nothing[0]
                for t in range(first, last):
                    s += get(values, t * step) * get(flat, np.int64(get(indices, t)) * P + k)
                g[j] = s + bias * get(flat, base + k) + get(prices, cost + k)
        else:
            gather(indices, values, step, first, last, flat, P, row)
            for k in range(K):
                g[k] = row[k] + bias * get(flat, base + k) + get(prices, cost + k)
                mass[k] = get(flat_alpha, i * K + k)
        # 2. What the example adds to the gap.
        shift = g[label] if sum_of_hinges else 0.0
        best, best_b, mean, price, support, sum_b = -np.inf, -np.inf, 0.0, 0.0, 0, 0.0
        for j in range(m):
            g[j] -= shift
            b[j] = mass[j] + g[j] * inverse
            if j != label or not sum_of_hinges:
                here = mass[j] > 0.0
                mean += mass[j] * g[j]
                price += max(g[j], 0.0)
                best, best_b = max(best, g[j]), max(best_b, b[j])
                support += here
                sum_b += here * b[j]
        gaps[i] = weight * (price if sum_of_hinges else best) - mean
        # 3. The step, and a new list after all labels were looked at.
        count = 0
        if gaps[i] > 0.0:
            if sum_of_hinges:
                count = _to_box(b, m, weight, label, scale, mass, corners, ends, new, moved, change)
            else:
                theta = max(best_b - weight, (sum_b - weight) / max(support, 1))
                count = _to_simplex(b, m, theta, weight, scale, mass, place, moved, change)
            for j in range(count):
                k = moved[j]
                if m < K:
                    put(flat_held, i * room + k, mass[k])
                else:
                    put(flat_alpha, i * K + k, mass[k])
                moved[j] = some[k]
            _move(
                indices, values, step, first, last, flat, P, bias, base, row, count, moved, change
            )
        if room > 0:
            left[i] -= 1
            if left[i] <= 0 and m < K:
                expire(i, alpha, lists, held, counts)
            elif left[i] <= 0:
                enlist(i, own_label, alpha, lists, held, counts, left, terms)


@kernel
def look(
    first, last, indptr, indices, values, step, c, y, prices, begins, sum_of_hinges, bias, W, alpha, gaps
):  # fmt: skip
    """The gaps of examples first … last−1 at W, nothing moved; returns their Σ ⟨Δ_i, α_i⟩."""
    K, P, flat, gain = alpha.shape[1], W.shape[1], W.ravel(), 0.0
    row, g, base = np.zeros(P), np.empty(K), (len(W) - 1) * P
    for i in range(first, last):
        cost = prices[begins[i] : begins[i] + K]
        _margins(
            i, indptr, indices, values, step, flat, base, P, bias, y[i], cost, sum_of_hinges, row, g, K
        )  # fmt: skip
        gaps[i] = _gap(g, alpha[i], c[i], K, y[i], sum_of_hinges)
        for k in range(K):
            gain += cost[k] * alpha[i, k]
    return gain


@kernel
def accumulate(
    first, last, indptr, indices, values, step, c, y, sum_of_hinges, scale, bias, W, alpha
):  # fmt: skip
    """W += scale Σ_i x_i (c_i e_y − α_i)ᵀ over examples first … last−1, those that add nothing passed over.

    Weston–Watkins has no c.
    """
    K, P, flat = alpha.shape[1], W.shape[1], W.ravel()
    base = (len(W) - 1) * P
    row = np.zeros(P)
    for i in range(first, last):
        some = False
        for k in range(K):
            row[k] = -scale * alpha[i, k]
        if not sum_of_hinges:
            row[y[i]] += scale * c[i]
        for k in range(K):
            some = some or row[k] != 0.0
        if some:
            scatter(indices, values, step, indptr[i], indptr[i + 1], flat, P, row)
            if bias > 0.0:
                for k in range(K):
                    flat[base + k] += bias * row[k]
