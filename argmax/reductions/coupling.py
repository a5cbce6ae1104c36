"""From the probabilities of binary problems to those of the classes.

``pairwise`` couples one-vs-one: the p with Σ p = 1 that minimises Σ_{i<j} (r_ji p_i − r_ij p_j)², where r_ij
estimates P(i | i or j): the second method of Wu, Lin and Weng 2004 (JMLR 5), a linear system for each row.

``of_code`` couples any code: the p whose bits are nearest to the estimated ones in Kullback–Leibler
divergence, the generalised Bradley–Terry model of Huang, Weng and Lin 2006 (JMLR 7), by their multiplicative
updates, each of which brings p nearer. Where the bits come from some p, that p is found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..records import Floats

__all__ = ["of_code", "pairwise"]

STEPS = 500
"""Updates of ``of_code`` at most."""

BLOCK = 2**18
"""Numbers of the systems solved together."""


def pairwise(r: Floats) -> Floats:
    """P (n, k) from r (n, k, k) with r_ij + r_ji = 1; diagonals are ignored.

    >>> import numpy as np
    >>> from argmax.reductions.coupling import pairwise
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> pairwise((p[:, None] / (p[:, None] + p))[None]).round(6)
    array([[0.5, 0.3, 0.2]])
    """
    n, k = r.shape[:2]
    result, size = np.empty((n, k)), max(BLOCK // (k + 1) ** 2, 1)
    for first in range(0, n, size):
        result[first : first + size] = _solved(r[first : first + size])
    return result


def _solved(r: Floats) -> Floats:
    n, k = r.shape[:2]
    diagonal = np.arange(k)
    r = r.copy()
    r[:, diagonal, diagonal] = 0.0
    system = np.zeros((n, k + 1, k + 1))
    system[:, :k, :k] = -np.swapaxes(r, 1, 2) * r
    system[:, diagonal, diagonal] = (
        np.square(r).sum(axis=1) + 1e-12
    )  # certain losers make it singular
    system[:, :k, k] = system[:, k, :k] = 1.0
    right = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :k, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def of_code(code: Any, chance: Floats, tol: float = 1e-7) -> Floats:
    """P (n, k) from chance (n, L), the estimated P(bit = 1 | the class takes part).

    >>> import numpy as np
    >>> from argmax.reductions import codes
    >>> from argmax.reductions.coupling import of_code
    >>> p, code = np.array([[0.5, 0.3, 0.2]]), codes.one_vs_rest(3)
    >>> of_code(code, p @ (code == 1)).round(4)
    array([[0.5, 0.3, 0.2]])
    """
    ones, zeros = (np.asarray(code == bit, float) for bit in (1, -1))
    q = np.clip(chance, 1e-12, 1.0 - 1e-12)
    result = np.full((len(q), len(ones)), 1.0 / len(ones))
    open_rows = np.arange(len(q))
    for _ in range(STEPS):
        before = result[open_rows]
        following = _nearer(ones, zeros, q[open_rows], before)
        result[open_rows] = following
        open_rows = open_rows[np.abs(following - before).max(axis=1) > tol]
        if not len(open_rows):
            break
    return result


def _nearer(ones: Floats, zeros: Floats, q: Floats, p: Floats) -> Floats:
    """One multiplicative update of p (n, k)."""
    up, down = np.maximum(p @ ones, 1e-300), np.maximum(p @ zeros, 1e-300)
    gain = (q / up) @ ones.T + ((1.0 - q) / down) @ zeros.T
    following = p * gain / ((1.0 / (up + down)) @ (ones + zeros).T)
    return np.asarray(following / following.sum(axis=1, keepdims=True))
