"""Many binary logistic regressions over the same rows, solved together: X is read once for all of them.

    F_l(w, b) = C Σ_i s_il log(1 + exp(−m_il (⟨w, x_i⟩ + b))) + ½‖w‖²        l = 1 … L

The optimum of each is that of ``LinearClassifier(loss="log")`` on its own two classes. Sparse rows with a
small C · mean ‖x‖² go to dual ascent, everything else to Newton's method.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from ..engines import Crew
from ..kernels import compiled
from ..records import Csr, Floats, Rows, Solution
from ..solvers.report import working
from .ascent import ascent, spread
from .bits import Bits, State
from .newton import EXACT, newton

__all__ = ["minimise"]

DUAL_LIMIT = 200.0
"""c · mean ‖x‖² up to which dual ascent converges in tens of sweeps, each far cheaper than a Newton step."""

SWEEPS = 100
"""Sweeps after which Newton's method takes over: columns of very different sizes can stall the ascent."""


def minimise(
    rows: Rows,
    bits: Bits,
    intercept: bool,
    crew: Crew,
    tol: float = 1e-4,
    max_iter: int = 1000,
    time_limit: float | None = None,
    seed: int = 0,
    fast: bool | None = None,
) -> tuple[Floats, Floats, Solution]:
    """coef (L, d), intercept (L,), and an account: objective and gap are sums over the problems.

    ``fast`` says whether to use compiled code; None: where the problems are large enough for it.

    >>> import numpy as np
    >>> from argmax.engines import Threads
    >>> from argmax.reductions.bits import Bits
    >>> from argmax.reductions.together import minimise
    >>> X, code = np.array([[1.0], [2.0], [3.0]]), 2 * np.eye(3) - 1
    >>> bits = Bits(code, np.ones((3, 3)), 1.0, np.arange(3), np.ones(1))
    >>> coef, b, solution = minimise(X, bits, True, Threads(1))
    >>> np.abs(coef.round(2)).ravel(), solution.status
    (array([0.7, 0. , 0.7]), 'converged')
    """
    began, limited, zero = time.perf_counter(), working(), bits.zero
    history: list[tuple[float, float, float]] = []

    def out_of_time() -> bool:
        return time_limit is not None and working() - limited >= time_limit

    steps = _steps(rows, bits, intercept, crew, tol * zero, seed, max_iter, out_of_time, fast)
    for state, passes, over in steps:
        gap = state.gap
        seconds = time.perf_counter() - began
        history.append((seconds, float(state.value.sum()), float(gap.sum())))
        if over:
            status = "converged" if (gap <= tol * zero).all() else "stalled"
            break
        if passes >= max_iter or out_of_time():
            status = "max_iter" if passes >= max_iter else "time_limit"
            break
    return _result(state, status, passes, tol * zero, history)


def _steps(
    rows: Rows,
    bits: Bits,
    intercept: bool,
    crew: Crew,
    enough: Floats,
    seed: int,
    max_iter: int,
    out_of_time: Callable[[], bool],
    fast: bool | None,
) -> Iterator[tuple[State, int, bool]]:
    """States of the ascent where it promises to be quick, else, or if it is not, of Newton's method."""
    sweeps, start = 0, None
    if isinstance(rows, Csr) and _promising(rows, bits, fast):

        def late(count: int) -> bool:
            return count >= min(max_iter, SWEEPS) or out_of_time()

        for start, sweeps, over in ascent(rows, bits, intercept, crew, enough, seed, late, fast):
            yield start, sweeps, over
            if sweeps >= SWEEPS:
                break
    for state, steps, over in newton(rows, bits, intercept, crew, enough, out_of_time, start, fast):
        yield state, sweeps + steps, over


def _promising(rows: Csr, bits: Bits, fast: bool | None) -> bool:
    if fast is None:
        fast = compiled(rows.entries * bits.code.shape[1])
    if rows.width < EXACT or not fast:
        return False
    return spread(rows, bits) <= DUAL_LIMIT


def _result(
    state: State,
    status: str,
    passes: int,
    enough: Floats,
    history: list[tuple[float, float, float]],
) -> tuple[Floats, Floats, Solution]:
    L, d, gap = state.scores.shape[1], state.d, state.gap
    coef = np.ascontiguousarray(state.table[:d, :L].T)
    intercept = state.table[d, :L].copy() if state.shared.layout.intercept else np.zeros(L)
    relative = float((gap / np.maximum(state.bits.zero, 1e-300)).max())
    met = int((gap <= enough).sum())
    message = f"together: {met} of {L} binary problems are within tol of their minimum ({status})."
    seconds, objective, total = history[-1]
    solution = Solution(
        coef, objective, total, relative, status, message, "together", passes, seconds, history
    )
    return coef, intercept, solution
