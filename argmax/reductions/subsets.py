"""Many binary problems over a few of the rows each, such as all pairs of classes.

One product for all problems would compute scores that no problem asks for: with k classes a pair needs two
parts in k of the rows. So each problem takes its own rows, and the threads take problems. What the problems
share is what a fit of its own would repeat: checks, settings and the pool.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import compressed
from ..engines import Crew, Threads
from ..kernels import compiled
from ..layouts import as_matrix
from ..records import Csr, Floats, Rows, Solution
from ..solvers.report import working
from .bits import Bits
from .together import minimise

__all__ = ["minimise_subsets", "scattered", "summed"]

SHARE = 0.5
"""Of all rows, what problems may need on average to be worth solving one by one."""


ENDS = (
    "converged",
    "no mistakes",
    "epochs done",
    "stopped",
    "stalled",
    "separable",
    "max_iter",
    "time_limit",
)
"""How fits end, the best first."""


def scattered(bits: Bits) -> bool:
    """Whether the problems need few enough of the rows each.

    >>> import numpy as np
    >>> from argmax.reductions import codes
    >>> from argmax.reductions.bits import Bits
    >>> from argmax.reductions.subsets import scattered
    >>> y = np.arange(6)
    >>> make = lambda code: Bits(code.astype(float), np.ones(code.shape), 1.0, y, np.ones(1))
    >>> scattered(make(codes.all_pairs(6))), scattered(make(codes.one_vs_rest(6)))
    (True, False)
    """
    return float((bits.code[bits.y] != 0).mean()) <= SHARE


def minimise_subsets(
    rows: Rows,
    bits: Bits,
    intercept: bool,
    crew: Crew,
    tol: float = 1e-4,
    max_iter: int = 1000,
    time_limit: float | None = None,
    seed: int = 0,
) -> tuple[Floats, Floats, Solution]:
    """As ``together.minimise``: coef (L, d), intercept (L,), and one account of all problems."""
    began, limited, X = time.perf_counter(), working(), as_matrix(rows)
    L, d = bits.code.shape[1], rows.shape[1]
    coef, b = np.empty((L, d)), np.empty(L)
    entries = rows.entries if isinstance(rows, Csr) else rows.size
    fast = compiled(entries * float((bits.code[bits.y] != 0).sum()) / len(rows))

    def solve(l: int) -> Solution:
        left = None if time_limit is None else max(0.0, time_limit - (working() - limited))
        some, problem = _own(X, rows, bits, l)
        weights, start, account = minimise(
            some, problem, intercept, Threads(1), tol, max_iter, left, seed, fast
        )
        coef[l], b[l] = weights[0], start[0]
        return account

    accounts = crew.run(solve, L)
    return coef, b, summed(coef, accounts, time.perf_counter() - began)


def _own(X: Any, rows: Rows, bits: Bits, l: int) -> tuple[Rows, Bits]:
    """The rows that take part in problem l, and what is asked of them."""
    used = np.flatnonzero(bits.code[bits.y, l])
    some: Rows = X[used]
    if isinstance(rows, Csr):
        some = compressed(X[used], sum_duplicates=False)
        some = replace(some, values=None) if rows.values is None else some
    column = slice(l, l + 1)
    weight = bits.weight if len(bits.weight) == 1 else bits.weight[used]
    return some, Bits(bits.code[:, column], bits.share[:, column], bits.C, bits.y[used], weight)


def _rank(status: str) -> int:
    """How bad an end is: of several, that of the worst counts."""
    return ENDS.index(status) if status in ENDS else 0


def summed(coef: Floats, accounts: list[Solution], seconds: float) -> Solution:
    """Sums of objectives and gaps, and the worst end."""
    status = max((account.status for account in accounts), key=_rank)
    met = sum(account.converged for account in accounts)
    objective, gap = (
        float(sum(getattr(account, name) for account in accounts)) for name in ("objective", "gap")
    )
    return Solution(
        coef,
        objective,
        gap,
        max(account.relative_gap for account in accounts),
        status,
        f"one by one: {met} of {len(accounts)} binary problems are within tol of their minimum ({status}).",
        "one by one",
        max(account.passes for account in accounts),
        seconds,
        [(seconds, objective, gap)],
    )
