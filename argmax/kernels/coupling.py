"""Probabilities of k classes from those of L bits: a small convex problem for each row."""

import numpy as np

from .compile import kernel

__all__ = ["couple"]


@kernel
def _divergences(code, p, q, r, s, kl):
    """Σ_l s_l kl_l, and its parts: s_l = Σ p_j over the classes that take part, r_l = Σ p_j over the bits 1
    / s_l, kl_l = KL(q_l ‖ r_l)."""
    s[:], r[:], value = 0.0, 0.0, 0.0
    for j in range(len(p)):
        for l in range(len(s)):
            s[l] += p[j] * abs(code[j, l])
            r[l] += p[j] * max(code[j, l], 0.0)
    for l in range(len(s)):
        r[l] /= s[l]
        kl[l] = q[l] * np.log(q[l] / r[l]) + (1.0 - q[l]) * np.log((1.0 - q[l]) / (1.0 - r[l]))
        value += s[l] * kl[l]
    return value


@kernel
def _gradient(bits, q, r, kl, value, g):
    """g_j = Σ_l (kl_l + 1 − (q_l/r_l where the bit is 1, (1 − q_l)/(1 − r_l) where it is −1)) − value."""
    L, k = bits.shape
    g[:] = -value
    for l in range(L):
        one, zero = kl[l] + 1.0 - q[l] / r[l], kl[l] + 1.0 - (1.0 - q[l]) / (1.0 - r[l])
        for j in range(k):
            g[j] += max(bits[l, j], 0.0) * one + max(-bits[l, j], 0.0) * zero


@kernel
def _hessian(bits, q, r, s, free, H, z):
    """H = Σ_l z_l z_lᵀ (m, m), lower triangle, of the classes ``free`` (m,); its largest diagonal entry.

    z_lj = √(f″(r_l) / s_l) (1 − r_l where the bit is 1, −r_l where it is −1),   f″ = q/r² + (1 − q)/(1 − r)²
    """
    m, top = len(free), 0.0
    H[:m, :m] = 0.0
    for l in range(len(q)):
        a, b = r[l], 1.0 - r[l]
        root = np.sqrt((q[l] / (a * a) + (1.0 - q[l]) / (b * b)) / s[l])
        for i in range(m):
            bit = bits[l, free[i]]
            z[i] = root * (max(bit, 0.0) * b - max(-bit, 0.0) * a)
        for i in range(m):
            for j in range(i + 1):
                H[i, j] += z[i] * z[j]
    for i in range(m):
        top = max(top, H[i, i])
    return top


@kernel
def _factored(H, m):
    """H = R Rᵀ: R replaces the lower triangle of the first m rows."""
    for i in range(m):
        for j in range(i + 1):
            total = H[i, j]
            for c in range(j):
                total -= H[i, c] * H[j, c]
            H[i, j] = np.sqrt(max(total, 1e-300)) if i == j else total / H[j, j]


@kernel
def _solved(R, x, m):
    """x (m,) becomes the solution of R Rᵀ x = what it held."""
    for i in range(m):
        for c in range(i):
            x[i] -= R[i, c] * x[c]
        x[i] /= R[i, i]
    for i in range(m - 1, -1, -1):
        for c in range(i + 1, m):
            x[i] -= R[c, i] * x[c]
        x[i] /= R[i, i]


@kernel
def _direction(bits, q, r, s, g, p, least, free, m, H, z, ones, delta):
    """δ with (H δ)_j + g_j equal for the classes ``free``[:m], Σ δ = 0; all others move to ``least``.

    Filled delta (k,); H (k, k), z and ones (k,) are room. H p = 0, and codes may be unable to tell classes
    apart: adding a constant to every entry, and a little to the diagonal, makes H definite.
    """
    top = _hessian(bits, q, r, s, free[:m], H, z)
    rest = 0.0
    for j in range(len(p)):
        delta[j] = least - p[j]
        rest += delta[j]
    for i in range(m):
        for j in range(i + 1):
            H[i, j] += top
        H[i, i] += 1e-11 * top
        rest -= delta[free[i]]
        z[i], ones[i] = -g[free[i]], 1.0
    _factored(H, m)
    _solved(H, z, m)
    _solved(H, ones, m)
    shift = -(rest + z[:m].sum()) / ones[:m].sum()
    for i in range(m):
        delta[free[i]] = z[i] + shift * ones[i]


@kernel
def _kept(p, g, least, free, L):
    """Lists the classes that are not held at ``least``, and returns their number.

    Held are those near it that would like to go on; how near is what a step along −g/L moves, 1e-3 at most.
    """
    near, m = 0.0, 0
    for j in range(len(p)):
        near += abs(p[j] - max(p[j] - g[j] / L, least))
    near = least + min(near, 1e-3)
    for j in range(len(p)):
        if p[j] > near or g[j] <= 0.0:
            free[m] = j
            m += 1
    return m


@kernel
def _arc(p, delta, size, least, trial):
    """trial = max(p + size · δ, least), to sum 1."""
    total = 0.0
    for j in range(len(p)):
        trial[j] = max(p[j] + size * delta[j], least)
        total += trial[j]
    for j in range(len(p)):
        trial[j] /= total


@kernel
def couple(code, chance, least, tol, steps, P):
    """For each row the p with p_j ≥ least, Σ p = 1, that minimises f(p) = Σ_l s_l KL(q_l ‖ r_l), where

        s_l = Σ_j p_j of the classes that take part in problem l,     r_l = Σ_j p_j of the bits 1 / s_l.

    From p = 1/k Newton's steps on the classes that are not held at their bound, projected and shortened until
    f falls (Bertsekas 1982, SIAM J. Control 20). As f(ap) = a f(p), ⟨∂f, p⟩ = f(p); so with g = ∂f − f(p),

        f(p') ≥ f(p) + ⟨g, p'⟩ ≥ f(p) + (1 − k least) min_j g_j + least Σ_j g_j      for every p' allowed,

    and the answer is within ``tol`` of the least value where that says so. Classes that all but vanish leave
    this bound loose; a full step that promises less than ``tol`` is the last one too.

    Given code (k, L) of −1, 0 and 1; chance q (n, L) inside (0, 1). Filled P (n, k). Returns the number of
    rows that ``steps`` steps were not enough for.
    """
    (n, L), k = chance.shape, len(code)
    bits = code.T.copy()
    r, s, kl, g, p = np.empty(L), np.empty(L), np.empty(L), np.empty(k), np.empty(k)
    trial, delta, z, ones, H = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty((k, k))
    free, unfinished = np.empty(k, np.int64), 0
    for i in range(n):
        q = chance[i]
        p[:] = 1.0 / k
        value, done = _divergences(code, p, q, r, s, kl), False
        for _ in range(steps):
            _gradient(bits, q, r, kl, value, g)
            if (1.0 - k * least) * g.min() + least * g.sum() >= -tol:
                done = True
                break
            m = _kept(p, g, least, free, L)
            _direction(bits, q, r, s, g, p, least, free, m, H, z, ones, delta)
            size, following = 1.0, np.inf
            while size > 1e-9:
                _arc(p, delta, size, least, trial)
                following, slope = _divergences(code, trial, q, r, s, kl), 0.0
                for j in range(k):
                    slope += g[j] * (trial[j] - p[j])
                if following <= value + 1e-4 * slope and following < value:
                    break
                size *= 0.5
            if not following < value:  # all digits are used up
                done = True
                break
            value, p[:] = following, trial
            if size == 1.0 and slope >= -tol:
                done = True
                break
        unfinished += not done
        P[i] = p
    return unfinished
