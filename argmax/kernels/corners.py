"""Steps of a dual point between the corners of one example: Frank–Wolfe with pairs of corners."""

from .compile import kernel

__all__ = ["move"]


@kernel
def move(gram, slope, alpha, l2, least, steps):
    """Move α from the worst corner it holds to the best, as far as helps, until there is little to gain.

        g_j    slope of the dual along corner j            G = gram, ⟨w_j, w_k⟩
        step = min [ α_k, (g_j − g_k) / l2 (G_jj − 2 G_jk + G_kk) ]     j = argmax g,  k = argmin, α_k > 0
        g_i −= l2 · step · (G_ij − G_ik)

    Given G (m, m), and ``least``, the g_j − g_k that is not worth a step. Changes g (m,) and α (m,). Returns
    how many steps were made, ``steps`` at most. Osokin et al. 2016 (ICML).
    """
    m = len(alpha)
    for made in range(steps):
        best, worst = 0, -1
        for i in range(m):
            if slope[i] > slope[best]:
                best = i
            if alpha[i] > 0.0 and (worst < 0 or slope[i] < slope[worst]):
                worst = i
        rise = slope[best] - slope[worst]
        if rise <= least:
            return made
        bend = l2 * (gram[best, best] - 2.0 * gram[best, worst] + gram[worst, worst])
        step = alpha[worst]
        if bend > 0.0:
            step = min(step, rise / bend)
        alpha[best] += step
        alpha[worst] -= step
        for i in range(m):
            slope[i] -= l2 * step * (gram[best, i] - gram[worst, i])
    return steps
