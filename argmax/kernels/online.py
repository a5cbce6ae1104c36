"""Learners that change w after every row: perceptrons, passive-aggressive steps, stochastic gradients.

Conventions

    V, late   (d, P)   weights and what averaging takes from them: feature-major, columns m … P−1 are zero
    b, late_b (m,)     the same of the intercept; empty where there is none
    K                  classes; two of them have one column (m = 1) and the scores (−½s, ½s)

Averaging is lazy. With w_t = scale_t · V_t and the clock c_t = Σ_{τ≤t} scale_τ, a change δ of V at step t
is missing in all earlier w, so that Σ_τ w_τ = c V − late with late += c_{t−1} δ: what a step does not touch
costs nothing. (Collins 2002 with scale 1, where c counts; Xu 2011 for the rest.) An empty ``late`` means no
average.

Rows are CSR (indptr, indices, values, step), or dense: then X (n, d) is not empty and indices are 0 … d−1.
"""

import numpy as np

from .compile import kernel
from .simd import L4, L8, add, exp_in_place, fma, get, load, store, zeros
from .sparse_rows import gather, scatter

__all__ = ["descend", "perceive"]

WINNER, ALL, PA1, PA2 = 0, 1, 2, 3  # as in ``rules.RULES``
SOFT, HINGE, SUM, SQUARED_HINGE, SQUARED, LOGISTIC = 0, 1, 2, 3, 4, 5  # as in ``rules.LOSSES``
FACTORS = 512  # no product of so many numbers below 2 overflows
CONSTANT, INVERSE, ROOT, FALLING = 0, 1, 2, 3  # as in ``rules.SCHEDULES``


@kernel
def _dense_tile(x, d, W, P, c, row, LANES):
    # Four sums at once, because one would wait for its own last addition.
    s0, s1, s2, s3 = zeros(W, LANES), zeros(W, LANES), zeros(W, LANES), zeros(W, LANES)
    j = 0
    while j + 4 <= d:
        at = j * P + c
        s0 = fma(get(x, j), load(W, at, LANES), s0)
        s1 = fma(get(x, j + 1), load(W, at + P, LANES), s1)
        s2 = fma(get(x, j + 2), load(W, at + 2 * P, LANES), s2)
        s3 = fma(get(x, j + 3), load(W, at + 3 * P, LANES), s3)
        j += 4
    while j < d:
        s0 = fma(get(x, j), load(W, j * P + c, LANES), s0)
        j += 1
    store(row, c, add(add(s0, s1), add(s2, s3)))


@kernel
def _dense_gather(x, W, P, row):
    """row = Σ_j x_j W_j: ``sparse_rows.gather`` for a dense row x (d,)."""
    d, c = len(x), 0
    if P == 1:
        s0, s1, s2, s3, j = row[0] * 0.0, row[0] * 0.0, row[0] * 0.0, row[0] * 0.0, 0
        while j + 4 <= d:
            s0 += x[j] * W[j]
            s1 += x[j + 1] * W[j + 1]
            s2 += x[j + 2] * W[j + 2]
            s3 += x[j + 3] * W[j + 3]
            j += 4
        while j < d:
            s0 += x[j] * W[j]
            j += 1
        row[0] = (s0 + s1) + (s2 + s3)
        c = 1
    while c + 8 <= P:
        _dense_tile(x, d, W, P, c, row, L8)
        c += 8
    if c + 4 <= P:
        _dense_tile(x, d, W, P, c, row, L4)


@kernel
def _score(indices, source, step, first, last, dense, V, P, scale, b, bias_scale, row, S):
    """S = Φ (scale · Vᵀx + bias_scale · b), with Φ = (−½, ½) for two classes. Filled row (P,), S (K,)."""
    if dense:
        _dense_gather(source, V, P, row)
    else:
        gather(indices, source, step, first, last, V, P, row)
    if P == 1:
        s = scale * row[0] + (bias_scale * b[0] if len(b) else 0.0)
        S[0], S[1] = -0.5 * s, 0.5 * s
    else:
        for c in range(len(S)):
            S[c] = scale * row[c] + (bias_scale * b[c] if len(b) else 0.0)


@kernel
def _exchange(indices, source, step, first, last, V, late, clock, P, up, down, amount):
    """V_up += amount · x, V_down −= amount · x, and the clock times that in ``late``."""
    for t in range(first, last):
        at, v = np.int64(indices[t]) * P, amount * source[t * step]
        V[at + up] += v
        V[at + down] -= v
        if len(late):
            late[at + up] += clock * v
            late[at + down] -= clock * v


@kernel
def _spread(indices, source, step, first, last, V, late, clock, P, row):
    """V_c += row_c · x for all columns, and the clock times that in ``late``. Scales row."""
    out = V
    for _ in range(2 if len(late) else 1):  # one place to compile ``scatter`` into
        scatter(indices, source, step, first, last, out, P, row)
        for c in range(P):
            row[c] *= clock
        out = late


@kernel
def _best_other(S, y):
    """argmax over c ≠ y of S_c, the first of equals."""
    best = 1 if y == 0 else 0
    for c in range(len(S)):
        if c != y and S[c] > S[best]:
            best = c
    return best


@kernel
def _change(S, y, best, amount, everybody, row):
    """What is added to each column, times x: ``amount`` for y, and from ``best`` or from everybody ahead."""
    row[:] = 0.0
    if len(row) == 1:  # which holds both of two classes
        row[0] = amount if y == 1 else -amount
        return
    for c in range(len(S)):
        if c == best or (everybody and c != y and S[c] >= S[y]):
            row[y] += amount
            row[c] -= amount


@kernel
def _square(source, step, first, last):
    total = 0.0
    for t in range(first, last):
        total += source[t * step] * source[t * step]
    return total


@kernel
def perceive(
    X, indptr, indices, values, step, order, y, weight, W, b, late_W, late_b, clock, rule, C, rate, K
):  # fmt: skip
    """Visit the rows in ``order``; where the answer is wrong, or right by too little, move w to the truth.

        WINNER   ŷ = argmax S ≠ y, the first of equals:   w_y += a x,  w_ŷ −= a x,   a = rate · s_i
        ALL      every c ≠ y with S_c ≥ S_y:              w_y += a x,  w_c −= a x
        PA1      ŷ the best other, ℓ = 1 − S_y + S_ŷ > 0, q = ‖Ψ(x, y) − Ψ(x, ŷ)‖²:
                 as WINNER, with a = min(C s_i, ℓ / q)
        PA2      a = ℓ / (q + 1 / (2 C s_i))

    Given labels y (n,), weight s (n,) or a single 1; clock: 1 and the steps before this call.
    Filled W (d, P), b (m,), late_W (d, P) or (0, P), late_b. Returns the number of mistakes: answers other
    than y for WINNER, and rows where another class scores no less than y for the others.
    Crammer and Singer 2003; Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006.
    """
    dense, P, V, late = X.shape[1] > 0, W.shape[1], W.ravel(), late_W.ravel()
    row, S, source = np.zeros(P), np.empty(K), values
    weighted = 0 if len(weight) == 1 else 1
    first, last, wrong = 0, X.shape[1], 0
    for place in range(len(order)):
        i = order[place]
        if dense:
            source = X[i]
        else:
            first, last = indptr[i], indptr[i + 1]
        _score(indices, source, step, first, last, dense, V, P, 1.0, b, 1.0, row, S)
        s, truth = weight[i * weighted], y[i]
        best = _best_other(S, truth)
        behind = S[best] > S[truth] or (S[best] == S[truth] and (rule != WINNER or best < truth))
        wrong += behind
        amount = rate * s if behind else 0.0
        loss = 1.0 - S[truth] + S[best]
        if rule >= PA1 and loss > 0.0:
            q = _square(source, step, first, last) + (1.0 if len(b) else 0.0)
            q *= 1.0 if P == 1 else 2.0
            most = C * s if rule == PA1 else loss / (q + 0.5 / (C * s))
            amount = min(most, loss / q) if q > 0.0 else 0.0
        if amount > 0.0:
            _change(S, truth, best, amount, rule == ALL, row)
            for c in range(len(b)):
                b[c] += row[c]
                if len(late_b):
                    late_b[c] += clock * row[c]
            if rule == ALL or P == 1:
                _spread(indices, source, step, first, last, V, late, clock, P, row)
            else:
                _exchange(
                    indices, source, step, first, last, V, late, clock, P, truth, best, amount
                )
        clock += 1.0
    return wrong


@kernel
def _soft(S, y, own, s, R):
    """log Σ_c exp S_c − own, the score of y without its cost; R = softmax(S) − e_y."""
    top = S[0]
    for c in range(1, len(S)):
        top = max(top, S[c])
    for c in range(len(S)):
        R[c] = S[c] - top
    exp_in_place(R)
    total = 0.0
    for c in range(len(S)):
        total += R[c]
    for c in range(len(S)):
        R[c] *= s / total
    R[y] -= s
    return s * (np.log(total) + top - own)


@kernel
def _margin(S, y, own, s, loss, R):
    """HINGE: max_c S_c − own, the score of y without its cost; SUM: Σ_{c≠y} (S_c + 1 − S_y)₊."""
    R[:] = 0.0
    if loss == HINGE:
        best = np.argmax(S)
        if best != y:
            R[best], R[y] = s, -s
        return s * (S[best] - own)
    value = 0.0
    for c in range(len(S)):
        over = S[c] + 1.0 - S[y]
        if c != y and over > 0.0:
            value += s * over
            R[c] += s
            R[y] -= s
    return value


@kernel
def _logistic(S, y, s, start, R):
    """Σ_c log(1 + exp(−m_c)), m = ±S_c; from start = 1 on, of two classes, m = ±(S₁ − S₀).

    With e = exp(−|m|) < 1 the logarithms of FACTORS labels are one, of the product of 1 + e.
    """
    K, value, product = len(S), 0.0, 1.0
    for c in range(start, K):
        R[c] = -abs(S[1] - S[0] if start else S[c])
    exp_in_place(R[start:])
    for c in range(start, K):
        t = 1.0 if c == y else -1.0
        m, small = t * (S[1] - S[0] if start else S[c]), R[c]
        value += max(-m, 0.0)
        product *= 1.0 + small
        if (c + 1) % FACTORS == 0:
            value += np.log(product)
            product = 1.0
        R[c] = -s * t * (small if m > 0.0 else 1.0) / (1.0 + small)
    if start:
        R[0] = -R[1]
    return s * (value + np.log(product))


@kernel
def _questions(S, y, s, loss, R):
    """Σ_c φ(t_c S_c) with t_c = 1 for y and −1 elsewhere; two classes are one question, S₁ − S₀.

    SQUARED_HINGE φ(m) = (1 − m)₊², SQUARED φ(m) = ½ (1 − m)², LOGISTIC φ(m) = log(1 + exp(−m)).
    """
    value, K = 0.0, len(S)
    start = 1 if K == 2 else 0
    if loss == LOGISTIC:
        return _logistic(S, y, s, start, R)
    for c in range(start, K):
        t = 1.0 if c == y else -1.0
        m = t * (S[1] - S[0] if K == 2 else S[c])
        if loss == SQUARED_HINGE:
            over = max(1.0 - m, 0.0)
            value += over * over
            slope = -2.0 * over
        else:
            value += 0.5 * (1.0 - m) * (1.0 - m)
            slope = m - 1.0
        R[c] = s * t * slope
    if K == 2:
        R[0] = -R[1]
    return s * value


@kernel
def _rate(schedule, eta, decay, t):
    """η_t: constant; 1/(λ t); η/√t; η/(1 + η λ t). Never beyond 1/λ, where w would pass through zero."""
    rate = eta
    if schedule == INVERSE:
        rate = 1.0 / (decay * (t + 1.0))
    elif schedule == ROOT:
        rate = eta / np.sqrt(t + 1.0)
    elif schedule == FALLING:
        rate = eta / (1.0 + eta * decay * t)
    return min(rate, 1.0 / decay) if decay > 0.0 else rate


@kernel
def _fold(V, late, b, late_b, state, free, factor):
    """V ← factor · V and scale 1; what the clock has counted goes into ``late``. b as well, unless free."""
    for j in range(len(V)):
        if len(late):
            late[j] -= state[1] * V[j]
        V[j] *= factor
    for c in range(0 if free else len(b)):
        if len(late_b):
            late_b[c] -= state[1] * b[c]
        b[c] *= factor
    state[0], state[1] = 1.0, 0.0


@kernel
def descend(
    X, indptr, indices, values, step, order, y, weight, cost, priced, W, b, late_W, late_b, state, loss,
    schedule, eta, decay, free, K,
):  # fmt: skip
    """w ← w − η_t (s_i ∇loss_i(w) + λ w) for the rows in ``order``; a ``free`` intercept does not shrink.

    What does not shrink would never recover from first steps of 1/λ: there 1/√t is the most.

    Given labels y (n,), weight s (n,) or a single 1, decay λ, and cost, added to the scores of a row: none
    (0, 0), one number for all wrong labels (1, 1), a table (K, K) for its label or, if ``priced``, its own
    (n, K).
    Filled W, b, late_W, late_b, and state: scale, clock, steps so far, and the weight of all w that the mean
    has; step t has weight 1, or t with INVERSE (Lacoste-Julien, Schmidt and Bach 2012), where the clock adds
    up t · scale. Then w = scale · W. Returns the sum of the losses, each before its step.
    """
    dense, P, V, late = X.shape[1] > 0, W.shape[1], W.ravel(), late_W.ravel()
    row, S, R, source = np.zeros(P), np.empty(K), np.empty(K), values
    weighted = 0 if len(weight) == 1 else 1
    first, last, total = 0, X.shape[1], 0.0
    for place in range(len(order)):
        i = order[place]
        if dense:
            source = X[i]
        else:
            first, last = indptr[i], indptr[i + 1]
        rate, scale, s = _rate(schedule, eta, decay, state[2]), state[0], weight[i * weighted]
        _score(
            indices,
            source,
            step,
            first,
            last,
            dense,
            V,
            P,
            scale,
            b,
            1.0 if free else scale,
            row,
            S,
        )
        own = S[y[i]]
        if len(cost) and cost.shape[1] == 1:
            for c in range(K):
                S[c] += cost[0, 0] if c != y[i] else 0.0
        elif len(cost):
            which = i if priced else y[i]
            for c in range(K):
                S[c] += cost[which, c]
        if loss == SOFT:
            value = _soft(S, y[i], own, s, R)
        elif loss <= SUM:
            value = _margin(S, y[i], own, s, loss, R)
        else:
            value = _questions(S, y[i], s, loss, R)
        factor = 1.0 - rate * decay
        if scale * factor < 1e-4:  # smaller, and clock · V − late would cancel its digits
            _fold(V, late, b, late_b, state, free, scale * factor)
            scale, factor = 1.0, 1.0
        scale *= factor
        clock = state[1]
        if value > 0.0:
            total += value
            if P == 1:
                row[0] = -0.5 * rate * (R[1] - R[0])
            else:
                for c in range(K):
                    row[c] = -rate * R[c]
            slower = 1.0
            if free and schedule == INVERSE:
                slower = min(1.0, 1.0 / (rate * np.sqrt(state[2] + 1.0)))
            for c in range(len(b)):
                change = slower * row[c] if free else row[c] / scale
                b[c] += change
                if len(late_b):
                    late_b[c] += (state[3] if free else clock) * change
            if loss == HINGE and P > 1:
                best, amount = np.argmax(R), rate * s / scale
                if R[best] > 0.0:
                    _exchange(
                        indices, source, step, first, last, V, late, clock, P, y[i], best, amount
                    )
            else:
                for c in range(P):
                    row[c] /= scale
                _spread(indices, source, step, first, last, V, late, clock, P, row)
        share = state[2] + 1.0 if schedule == INVERSE else 1.0
        state[0], state[1] = scale, clock + share * scale
        state[2], state[3] = state[2] + 1.0, state[3] + share
    return total
