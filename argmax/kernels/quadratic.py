"""Coordinate descent on a quadratic model with an l1 penalty."""

from .compile import kernel

__all__ = ["sweep"]


@kernel
def sweep(H, r, u, l1):
    """One cyclic sweep over  min_u  gᵀ(u − w) + ½ (u − w)ᵀ H (u − w) + Σ_j l1_j |u_j|.

    Given H (p, p), l1 (p,). Updated in place: u (p,), and r = g + H (u − w), the gradient at u.
    Each coordinate goes to its own minimum: u_j ← soft(u_j − r_j / H_jj, l1_j / H_jj).
    """
    p = len(u)
    for j in range(p):
        goal = u[j] - r[j] / H[j, j]
        shrink = l1[j] / H[j, j]
        if goal > shrink:
            goal -= shrink
        elif goal < -shrink:
            goal += shrink
        else:
            goal = 0.0
        move = goal - u[j]
        if move != 0.0:
            u[j] = goal
            for i in range(p):
                r[i] += move * H[j, i]
