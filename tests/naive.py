"""The slow, obvious twin of every kernel: Python loops over numbers, one formula a line.

Twins take the arguments of their kernels and fill the same arrays, so a test calls both and compares.
"""

import itertools
import math
import re

import numpy as np

# kernels/simd.py


def exp_in_place(flat):
    for i in range(len(flat)):
        flat[i] = math.exp(flat[i])


def gather(indices, values, step, first, last, W, P, row):
    """row_c = Σ_t values_t · W[indices_t, c]"""
    for c in range(P):
        row[c] = math.fsum(values[t * step] * W[indices[t] * P + c] for t in range(first, last))


def scatter(indices, values, step, first, last, W, P, row):
    """W[indices_t, c] += values_t · row_c"""
    for t in range(first, last):
        for c in range(P):
            W[indices[t] * P + c] += values[t * step] * row[c]


# kernels/chain.py: rows (L, P) and tables (P, P) are flat


def tables(edge, E, Et):
    """E = exp(e − max e), 0 where forbidden or in a lane that is no label"""
    K, P = len(edge), math.isqrt(len(E))
    top = max(max(row) for row in edge)
    E[:], Et[:] = 0.0, 0.0
    for a in range(K):
        for b in range(K):
            E[a * P + b] = Et[b * P + a] = math.exp(edge[a, b] - top)
    return top


def exp_rows(s, L, P, LANES):
    """s_t ← exp(s_t − max s_t)"""
    base = 0.0
    for t in range(L):
        row = s[t * P : t * P + P]
        top = max(row)
        base += top
        row[:] = [math.exp(x - top) for x in row]
    return base


def forward(s, E, alpha, inverse, L, K, P, LANES):
    """α_t(b) = s_t(b) Σ_a α_{t−1}(a) E(a, b) / c_{t−1}, c_t = Σ_b α_t(b)"""
    logs = 0.0
    for t in range(L):
        for b in range(P):
            ways = [alpha[(t - 1) * P + a] * E[a * P + b] for a in range(K)] if t else [1.0]
            alpha[t * P + b] = s[t * P + b] * math.fsum(ways) * (inverse[t - 1] if t else 1.0)
        c = math.fsum(alpha[t * P : t * P + P])
        inverse[t] = 1.0 / c
        logs += math.log(c)
    return logs


def backward(s, Et, alpha, inverse, beta, L, K, P, LANES):
    """β_t(a) = Σ_b E(a, b) γ_{t+1}(b), γ_t = s_t β_t / c_t, u_t = α_t / c_t"""
    for t in reversed(range(L)):
        for a in range(P):
            ways = [s[(t + 1) * P + b] * Et[b * P + a] for b in range(K)] if t < L - 1 else [1.0]
            beta[t * P + a] = math.fsum(ways)
        for a in range(P):
            s[t * P + a] *= beta[t * P + a] * inverse[t]
            alpha[t * P + a] *= inverse[t]
    return True


def expected(u, beta, weight, L, P, LANES):
    for k in range(L * P):
        beta[k] *= weight * u[k]
        u[k] *= weight


def transitions(u, g, T, L, K, P, LANES):
    """T(a, b) += Σ_t u_t(a) g_{t+1}(b)"""
    for a in range(K):
        for b in range(P):
            T[a * P + b] += math.fsum(u[t * P + a] * g[(t + 1) * P + b] for t in range(L - 1))


def viterbi(s, M, labels, L, K, P):
    """The first of the best of all paths."""
    best = -math.inf
    for y in itertools.product(range(K), repeat=L):
        value = sum(s[t * P + y[t]] for t in range(L))
        value += sum(M[y[t] * P + y[t + 1]] for t in range(L - 1))
        if value > best:
            best, labels[:] = value, y
    return best


# kernels/products.py


def csr_scores(indptr, indices, values, step, W, b, S):
    """S_i = b + Σ_j x_ij W_j"""
    for i in range(S.shape[0]):
        for c in range(S.shape[1]):
            S[i, c] = b[c]
            for t in range(indptr[i], indptr[i + 1]):
                S[i, c] += values[t * step] * W[indices[t], c]


def csr_adjoint(indptr, indices, values, step, R, G, bias):
    """G_j += Σ_i x_ij R_i, bias += Σ_i R_i"""
    for i in range(R.shape[0]):
        for c in range(R.shape[1]):
            for t in range(indptr[i], indptr[i + 1]):
                G[indices[t], c] += values[t * step] * R[i, c]
        for c in range(len(bias)):
            bias[c] += R[i, c]


def csr_squares(indptr, indices, values, step, c, out):
    """out_j = Σ_i c_i x_ij², rows transposed"""
    for j in range(len(out)):
        ends = range(indptr[j], indptr[j + 1])
        out[j] = math.fsum(c[indices[t]] * values[t * step] ** 2 for t in ends)


def dense_scores(X, W, b, S):
    """S_i = b + Σ_j x_ij W_j"""
    for i in range(S.shape[0]):
        for c in range(S.shape[1]):
            S[i, c] = b[c] + math.fsum(X[i, j] * W[j, c] for j in range(X.shape[1]))


def dense_adjoint(X, R, G, bias):
    """G_j += Σ_i x_ij R_i, bias += Σ_i R_i"""
    for c in range(R.shape[1]):
        for j in range(X.shape[1]):
            G[j, c] += math.fsum(X[i, j] * R[i, c] for i in range(X.shape[0]))
    for c in range(len(bias)):
        bias[c] += math.fsum(R[:, c])


# kernels/classes.py


def marginals(S, P, value):
    """P_i = softmax(S_i), value_i = log Σ_c exp S_ic"""
    for i in range(S.shape[0]):
        top = max(S[i])
        total = math.fsum(math.exp(s - top) for s in S[i])
        value[i] = top + math.log(total)
        for c in range(S.shape[1]):
            P[i, c] = math.exp(S[i, c] - value[i])


def nll(S, y, weight, R, value):
    """value_i = s_i (log Σ_c exp S_ic − S_iy), R_i = s_i (softmax(S_i) − e_y)"""
    marginals(S, R, value)
    for i in range(S.shape[0]):
        s = weight[0] if len(weight) == 1 else weight[i]
        value[i] = s * (value[i] - S[i, y[i]])
        for c in range(S.shape[1]):
            R[i, c] = s * (R[i, c] - (c == y[i]))


def argmax(S, labels, value):
    """The first of the largest entries of each row."""
    for i in range(S.shape[0]):
        value[i] = max(S[i])
        labels[i] = list(S[i]).index(value[i])


def curvature(P, weight, V, out):
    """out_i = weight_i (diag p_i − p_i p_iᵀ) v_i"""
    K = P.shape[1]
    for i in range(P.shape[0]):
        for a in range(K):
            row = [P[i, a] * ((a == b) - P[i, b]) for b in range(K)]
            out[i, a] = weight[i] * math.fsum(row[b] * V[i, b] for b in range(K))


def spread(S, out):
    """out_i = 1 − ‖softmax(S_i)‖²"""
    P = np.empty(S.shape)
    marginals(S, P, np.empty(len(S)))
    for i in range(len(S)):
        out[i] = 1.0 - math.fsum(p * p for p in P[i])


def shifted(S, move, y, weight, gradient, hessian):
    """gradient += Σ s_i (p_i − e_y), lower triangle of hessian += Σ s_i (diag p_i − p_i p_iᵀ)"""
    n, K = S.shape
    P = np.empty(S.shape)
    marginals(S + move, P, np.empty(n))
    for i in range(n):
        s = weight[i % len(weight)]
        for a in range(K):
            gradient[a] += s * (P[i, a] - (a == y[i]))
            for b in range(a + 1):
                hessian[a, b] += s * P[i, a] * ((a == b) - P[i, b])


# kernels/fused.py


def dense_log(X, W, b, y, weight, ready, kept, G, bias):
    """Σ_i s_i loss_i; kept: the scores; G and bias: the gradient is added."""
    if not ready:
        dense_scores(X, W, b, kept)
    residual, value = np.empty(kept.shape), np.empty(len(kept))
    nll(kept, y, weight, residual, value)
    dense_adjoint(X, residual, G, bias)
    return math.fsum(value)


def csr_log(indptr, indices, values, step, W, b, y, weight, ready, kept, G, bias):
    if not ready:
        csr_scores(indptr, indices, values, step, W, b, kept)
    residual, value = np.empty(kept.shape), np.empty(len(kept))
    nll(kept, y, weight, residual, value)
    csr_adjoint(indptr, indices, values, step, residual, G, bias)
    return math.fsum(value)


def csr_residuals(indptr, indices, values, step, W, b, y, weight, ready, kept, R, bias):
    """R: the residuals, columns beyond the labels untouched; bias += Σ_i R_i."""
    if not ready:
        csr_scores(indptr, indices, values, step, W, b, kept)
    residual, value = np.empty(kept.shape), np.empty(len(kept))
    nll(kept, y, weight, residual, value)
    for i in range(len(kept)):
        for c in range(kept.shape[1]):
            R[i, c] = residual[i, c]
            if len(bias):
                bias[c] += residual[i, c]
    return math.fsum(value)


def csr_curvature(indptr, indices, values, step, V, v, p, weight, R, bias):
    ahead, residual = np.empty(p.shape), np.empty(p.shape)
    csr_scores(indptr, indices, values, step, V, v, ahead)
    curvature(p, weight, ahead, residual)
    for i in range(len(p)):
        for c in range(p.shape[1]):
            R[i, c] = residual[i, c]
            if len(bias):
                bias[c] += residual[i, c]


# kernels/vectors.py


def combine(a, x, b, y, out):
    for i in range(len(out)):
        out[i] = a * x[i] + b * y[i]


def dots(x, y, starts, stops, out):
    for r, (first, last) in enumerate(zip(starts, stops, strict=True)):
        out[r] = sum(x[i] * y[i] for i in range(first, last))


def conjugate_steps(step, p, product, d, residual, starts, stops, out):
    for i in range(len(d)):
        d[i] += step * p[i]
        residual[i] -= step * product[i]
    dots(residual, residual, starts, stops, out)


def scale_rows(table, scale, out):
    for j in range(len(scale)):
        for c in range(table.shape[1]):
            out[j, c] = scale[j] * table[j, c]


# kernels/quadratic.py


def quadratic_sweep(H, r, u, l1):
    """Each coordinate in turn to the minimum of  gᵀ(u − w) + ½ (u − w)ᵀ H (u − w) + Σ l1_j |u_j|."""
    for j in range(len(u)):
        slope = [
            r[j] + H[j, j] * (0.0 - u[j]) + side * l1[j] for side in (-1.0, 1.0)
        ]  # at u_j = 0±
        goal = 0.0 if slope[0] <= 0.0 <= slope[1] else -min(slope, key=abs) / H[j, j]
        for i in range(len(u)):
            r[i] += H[j, i] * (goal - u[j])
        u[j] = goal


# kernels/structure.py


def has_duplicates(indptr, indices, width):
    rows = [indices[indptr[i] : indptr[i + 1]].tolist() for i in range(len(indptr) - 1)]
    return any(len(set(row)) < len(row) for row in rows)


# kernels/dual.py


def block_step(s, mu, Q):
    """The ν with log ν_c + Q (ν_c − μ_c) − s_c + λ = 0 and Σ ν = 1, by bisection inside bisection."""
    u = [s[c] + Q * mu[c] for c in range(len(s))]

    def share(rest):
        """ν with log ν + Q ν = rest; the left side rises with ν."""
        low, high = -800.0, 50.0  # bounds on log ν
        for _ in range(200):
            middle = 0.5 * (low + high)
            if middle + Q * math.exp(middle) > rest:
                high = middle
            else:
                low = middle
        return math.exp(0.5 * (low + high))

    low, high = min(u) - Q - 50.0, max(u) + 50.0  # bounds on λ; Σ ν falls as λ rises
    for _ in range(200):
        middle = 0.5 * (low + high)
        if math.fsum(share(value - middle) for value in u) > 1.0:
            low = middle
        else:
            high = middle
    nu = np.array([share(value - 0.5 * (low + high)) for value in u])
    return nu / nu.sum()


def sweep(order, indptr, indices, values, step, q, c, scale, B, U, b, h, v, mu):
    """Visit the rows in order; solve each block to the last digit."""
    gap, K = 0.0, mu.shape[1]
    for i in order:
        entries = [(indices[t], values[t * step]) for t in range(indptr[i], indptr[i + 1])]
        s = np.array([b[k] + B * h[k] + sum(x * U[j, k] for j, x in entries) for k in range(K)])
        away = v[i] - s
        gap += 0.5 * c[i] * max(mu[i] @ away**2 - (mu[i] @ away) ** 2, 0.0)
        nu = block_step(s, mu[i], c[i] * (q[i] + scale * B))
        change = c[i] * scale * (mu[i] - nu)
        for j, x in entries:
            U[j, :K] += x * change
        h += change
        mu[i], v[i] = nu, np.log(nu)
    return gap


def lagrangian(X, labels, c, scale, B, b, mu):
    """What a block step raises: Σ c_i H(μ_i) − (½‖U‖² + ⟨b, h⟩ + ½ B ‖h‖²) / scale."""
    r = np.zeros(mu.shape)
    entropy = 0.0
    for i in range(len(labels)):
        for k in range(mu.shape[1]):
            r[i, k] = c[i] * scale * ((labels[i] == k) - mu[i, k])
            entropy -= c[i] * mu[i, k] * math.log(mu[i, k] or 1.0)  # 0 log 0 is 0
    U, h = X.T @ r, r.sum(axis=0)
    return entropy - (0.5 * (U**2).sum() + b @ h + 0.5 * B * (h @ h)) / scale


# kernels/templates.py


def look(codes, offsets, relative, low, extra, left, right, keys):
    """keys: what a window shows from low to T − 1 + low + extra, marks outside, −2 beyond them."""
    at = 0
    for i in range(len(offsets) - 1):
        row = list(range(offsets[i], offsets[i + 1]))
        for p in range(low, len(row) + low + extra):
            for k, distance in enumerate(relative):
                q = p + distance
                if 0 <= q < len(row):
                    keys[at, k] = codes[k, row[q]]
                elif q < 0:
                    keys[at, k] = -q - 1 if -q - 1 < left else -2
                else:
                    keys[at, k] = left + q - len(row) if q - len(row) < right else -2
            at += 1


def learn(keys, numbers):
    """Rows numbered by first appearance; a row with a negative number is that number, the least."""
    known = []
    for c, key in enumerate(keys.tolist()):
        if min(key) < 0:
            numbers[c] = min(key)
            continue
        if key not in known:
            known.append(key)
        numbers[c] = known.index(key)
    return np.array(known, np.int32).reshape(-1, keys.shape[1])


def find(keys, known, slots, numbers):
    rows = known.tolist()
    for c, key in enumerate(keys.tolist()):
        numbers[c] = min(key) if min(key) < 0 else rows.index(key) if key in rows else -1


def template_count(cells, offsets, skip, firsts, extras, starts, counts):
    """counts[starts_j + g]: tokens whose cell in template j is g"""
    for i in range(len(offsets) - 1):
        for t in range(offsets[i] + skip, offsets[i + 1]):
            for j in range(len(firsts)):
                g = cells[firsts[j] + t + extras[j] * i]
                if g >= 0:
                    counts[starts[j] + g] += 1


def template_rows(cells, offsets, skip, firsts, extras, starts, tables, unknown, indptr, indices):
    """the numbers tables[starts_j + g] that are not negative, token by token; unknown_j counts the −1"""
    unknown[:], found, row = 0, [], 0
    indptr[0] = 0
    for i in range(len(offsets) - 1):
        for t in range(offsets[i] + skip, offsets[i + 1]):
            for j in range(len(firsts)):
                g = cells[firsts[j] + t + extras[j] * i]
                a = tables[starts[j] + g] if g >= 0 else g
                unknown[j] += a == -1
                found += [a] if a >= 0 else []
            row += 1
            indptr[row] = len(found)
    indices[: len(found)] = found
    return len(found)


# features/templates


def attribute(places, sequence, t, outside):
    """The name of a template's attribute at token t, or None: each place is (steps, column, offset).

    ``sequence`` is a list of dicts; a step is a function of one string, with its name and number.
    """
    written, found = [], []
    for steps, column, offset in places:
        text, q = f"{column}[{offset}]", t + offset
        for name, size, _ in steps:
            text = f"{name}({text},{size})" if size else f"{name}({text})"
        written.append(text)
        if not 0 <= q < len(sequence):
            if outside == "skip":
                return None
            found.append(f"_B{q}" if q < 0 else f"_B+{q - len(sequence) + 1}")
            continue
        value = sequence[q][column]
        if value is None:
            return None
        for _, size, function in steps:
            value = function(value, size)
        found.append(value)
    return "|".join(written) + "=" + "|".join(found)


def crfpp_attributes(lines, sequence):
    """What CRF++ makes of a sequence of tuples: for each token, each line with its macros replaced."""

    def value(t, row, column):
        q = t + int(row)
        if q < 0:
            return f"_B{q}"
        return f"_B+{q - len(sequence) + 1}" if q >= len(sequence) else sequence[q][int(column)]

    macro = re.compile(r"%x\[(-?\d+),(\d+)\]")
    return [
        [macro.sub(lambda found, t=t: value(t, *found.groups()), line) for line in lines]
        for t in range(len(sequence))
    ]


# tags.py


def conlleval(labels):
    """(type, first, last) of the spans of one sequence, by the rules of conlleval, token by token."""
    spans, begin = [], 0
    before, type_before = "O", ""
    for t, label in enumerate([*labels, "O"]):
        tag, _, kind = label.partition("-")
        tag = {"L": "E", "U": "S"}.get(tag, tag)
        ends = before != "O" and (before in "ES" or tag in ("B", "S", "O") or type_before != kind)
        starts = tag != "O" and (tag in "BS" or before in ("E", "S", "O") or type_before != kind)
        if ends:
            spans.append((type_before, begin, t - 1))
        if starts:
            begin = t
        before, type_before = tag, kind
    return spans


def simplex_step(alpha, g, q, c):
    """argmax over {a ≥ 0, Σ a = c} of ⟨g, a⟩ − ½ q ‖a − alpha‖²: sort, then shift."""
    b = alpha + g / q
    high = np.sort(b)[::-1]
    thetas = (np.cumsum(high) - c) / np.arange(1, len(b) + 1)
    theta = thetas[np.flatnonzero(high > thetas)[-1]]
    return np.maximum(b - theta, 0.0)


def box_step(alpha, g, q, c, y):
    """argmax over 0 ≤ a ≤ c of ⟨g, a⟩ − ½ q (‖a − alpha‖² + (Σ a − Σ alpha)²), labels but y: bisection."""
    b, before = np.delete(alpha + g / q, y), np.delete(alpha, y).sum()
    low, high = -before, len(b) * c - before
    for _ in range(200):
        middle = 0.5 * (low + high)
        up = np.clip(b - middle, 0.0, c).sum() - before > middle
        low, high = (middle, high) if up else (low, middle)
    new = np.clip(b - high, 0.0, c)
    return np.insert(new, y, -new.sum())


# kernels/bits.py


def bits_evaluate(S, code, share, C, y, weight, R, D, value):
    """value_l = Σ_i c log(1 + exp(−m S)), R = −c m σ(−m S), D = c σ(S) σ(−S)"""
    value[:] = 0.0
    for i in range(len(S)):
        for l in range(S.shape[1]):
            m = code[y[i], l]
            c = C * weight[i if len(weight) > 1 else 0] * share[y[i], l]
            wrong = 1.0 / (1.0 + math.exp(m * S[i, l]))
            value[l] += c * (math.log1p(math.exp(-abs(m * S[i, l]))) + max(-m * S[i, l], 0.0))
            R[i, l] = -c * m * wrong
            D[i, l] = c / (1.0 + math.exp(-S[i, l])) / (1.0 + math.exp(S[i, l]))


# kernels/online.py


def mc_perceptron(X, y, k, epochs):
    """The first notes' program, word for word; yields (W, b, mistakes) after every epoch."""
    W, b = np.zeros((k, X.shape[1])), np.zeros(k)
    for _ in range(epochs):
        wrong = 0
        for xi, yi in zip(X, y, strict=True):
            y_hat = (W.dot(xi) + b).argmax()
            if y_hat != yi:
                W[yi] += xi
                W[y_hat] -= xi
                b[yi] += 1
                b[y_hat] -= 1
                wrong += 1
        yield W.copy(), b.copy(), wrong


def online_step(rule, W, b, x, y, s=1.0, C=1.0, rate=1.0):
    """One visit by ``rule`` with a weight vector for each class; W and b change. Whether it was wrong."""
    scores = [math.fsum(W[c] * x) + b[c] for c in range(len(W))]
    others = [c for c in range(len(W)) if c != y]
    best = max(others, key=lambda c: scores[c])
    if rule == "perceptron":
        winner = int(np.argmax(scores))
        moves = [(winner, rate * s)] if winner != y else []
    elif rule == "perceptron_sum":
        moves = [(c, rate * s) for c in others if scores[c] >= scores[y]]
    else:
        loss = max(0.0, 1.0 - scores[y] + scores[best])
        q = 2.0 * (x @ x + 1.0)
        tau = min(C * s, loss / q) if rule == "pa1" else loss / (q + 1.0 / (2.0 * C * s))
        moves = [(best, tau)]
    for c, amount in moves:
        W[y] += amount * x
        W[c] -= amount * x
        b[y] += amount
        b[c] -= amount
    return bool(moves) if rule.startswith("perceptron") else bool(scores[best] >= scores[y])
