"""From the probabilities of binary problems to those of the classes.

``pairwise`` couples one-vs-one: the p with Σ p = 1 that minimises Σ_{i<j} (r_ji p_i − r_ij p_j)², where r_ij
estimates P(i | i or j): the second method of Wu, Lin and Weng 2004 (JMLR 5), a linear system for each row.

``of_code`` couples any code: the p whose bits are nearest to the estimated ones,

    minimise over p   Σ_l s_l KL(q_l ‖ r_l),     s_l = Σ_j p_j of the classes in problem l,
                                                 r_l = Σ_j p_j of its bits 1 / s_l,     q_l estimated.

Where every class takes part in every problem this is the generalised Bradley–Terry model of Huang, Weng and
Lin 2006 (JMLR 7). Elsewhere a problem counts as much as it is likely to be about the right class, which keeps
the sum convex: there is one answer, and problems between other classes do not disturb it. Where the bits come
from some p, that p is found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engines import Threads
from ..kernels import compiled
from ..records import Floats

__all__ = ["of_code", "pairwise"]

STEPS = 100
"""Newton's steps of ``of_code`` at most; some ten are enough."""

LEAST = 1e-6
"""No class has less than this part of an even share: bits that exclude it do not make it impossible."""

BLOCK = 2**18
"""Numbers of the systems solved together."""

PIECE = 256
"""Rows that a thread takes at a time."""


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


def of_code(code: Any, chance: Floats, tol: float = 1e-8) -> Floats:
    """P (n, k) from chance (n, L), the estimated P(bit = 1 | the class takes part).

    >>> import numpy as np
    >>> from argmax.reductions import codes
    >>> from argmax.reductions.coupling import of_code
    >>> p, code = np.array([[0.5, 0.3, 0.2]]), codes.one_vs_rest(3)
    >>> of_code(code, p @ (code == 1)).round(4)
    array([[0.5, 0.3, 0.2]])
    """
    words = np.ascontiguousarray(code, dtype=float)
    q = np.clip(np.asarray(chance, dtype=float), 1e-12, 1.0 - 1e-12)
    if not compiled(8.0 * q.size * len(words)):
        return _plain(words, q, LEAST / len(words), tol)
    from ..kernels import coupling as kernels

    result = np.empty((len(q), len(words)))

    def piece(i: int) -> None:
        rows = slice(PIECE * i, PIECE * (i + 1))
        kernels.couple(words, q[rows], LEAST / len(words), tol, STEPS, result[rows])

    with Threads().open() as crew:
        crew.run(piece, -(-len(q) // PIECE))
    return result


# The same in NumPy, all rows at a time


def _plain(code: Floats, q: Floats, least: float, tol: float) -> Floats:
    """``kernels.coupling.couple``, where its compilation would take longer than all rows."""
    n, k = len(q), len(code)
    result, going = np.full((n, k), 1.0 / k), np.arange(n)
    for _ in range(STEPS):
        p, some = result[going], q[going]
        value, r, s, kl = _divergences(code, p, some)
        one, zero = kl + 1.0 - some / r, kl + 1.0 - (1.0 - some) / (1.0 - r)
        g = one @ np.maximum(code, 0.0).T + zero @ np.maximum(-code, 0.0).T - value[:, None]
        close = (1.0 - k * least) * g.min(axis=1) + least * g.sum(axis=1) >= -tol
        going, p, some, value, g, r, s = (part[~close] for part in (going, p, some, value, g, r, s))
        if not len(going):
            break
        delta = _directions(code, some, r, s, g, p, least)
        result[going], last = _shortened(code, some, p, delta, g, value, least, tol)
        going = going[~last]
    return result


def _divergences(code: Floats, p: Floats, q: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Σ_l s_l KL(q_l ‖ r_l) (n,), and r, s and the divergences (n, L)."""
    s = p @ np.abs(code)
    r = p @ np.maximum(code, 0.0) / s
    kl = q * np.log(q / r) + (1.0 - q) * np.log((1.0 - q) / (1.0 - r))
    return (s * kl).sum(axis=1), r, s, kl


def _directions(
    code: Floats, q: Floats, r: Floats, s: Floats, g: Floats, p: Floats, least: float
) -> Floats:
    """Newton's directions (n, k) of the classes that are not held at ``least``; the others move there."""
    k = p.shape[1]
    near = np.abs(p - np.maximum(p - g / code.shape[1], least)).sum(axis=1, keepdims=True)
    held = (p <= least + np.minimum(near, 1e-3)) & (g > 0.0)
    root = np.sqrt((q / r**2 + (1.0 - q) / (1.0 - r) ** 2) / s)[:, :, None]
    r = r[:, :, None]
    z = root * (np.maximum(code.T, 0.0) * (1.0 - r) - np.maximum(-code.T, 0.0) * r)
    z *= ~held[:, None, :]
    H, diagonal = np.swapaxes(z, 1, 2) @ z, np.arange(k)
    top = H[:, diagonal, diagonal].max(axis=1)[:, None]
    H += top[:, :, None] * (~held[:, :, None] & ~held[:, None, :])
    H[:, diagonal, diagonal] += np.where(held, 1.0, 1e-11 * top)
    right = np.stack([np.where(held, least - p, -g), ~held], axis=2)
    moves, shifts = np.moveaxis(np.linalg.solve(H, right), 2, 0)
    return np.asarray(
        moves - moves.sum(axis=1, keepdims=True) / shifts.sum(axis=1)[:, None] * shifts
    )


def _shortened(
    code: Floats,
    q: Floats,
    p: Floats,
    delta: Floats,
    g: Floats,
    value: Floats,
    least: float,
    tol: float,
) -> tuple[Floats, Any]:
    """Each row moved along its direction, half as far until its value falls; and which rows are done."""
    result, last, size = p.copy(), np.ones(len(p), bool), np.ones(len(p))
    open_rows = np.arange(len(p))
    while len(open_rows):
        trial = np.maximum(p[open_rows] + size[open_rows, None] * delta[open_rows], least)
        trial /= trial.sum(axis=1, keepdims=True)
        following = _divergences(code, trial, q[open_rows])[0]
        slope = (g[open_rows] * (trial - p[open_rows])).sum(axis=1)
        falls = (following <= value[open_rows] + 1e-4 * slope) & (following < value[open_rows])
        moved = open_rows[falls]
        result[moved], last[moved] = trial[falls], (size[moved] == 1.0) & (slope[falls] >= -tol)
        size[open_rows] *= 0.5
        open_rows = open_rows[~falls & (size[open_rows] > 1e-9)]
    return result, last
