"""One fit: what is asked, what came of it, and how it is carried out (in a worker, see ``workers``)."""

from __future__ import annotations

import gc
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from . import judge
from .judge import Problem
from .rows import Rows, load

__all__ = ["LIMIT", "Fit", "Record", "carry_out"]

LIMIT = 30.0
"""Seconds that a fit may take."""

CPU_SLACK = 3.0
"""Limits on the clock over those of the processor, for machines with other things to do."""

SHORT, REPEATS = 0.3, 3
"""Fits shorter than so many seconds are repeated, and the fastest run counts."""


@dataclass(frozen=True)
class Fit:
    """What is asked: rows by name, a problem, who solves it, with how many threads, and how closely."""

    rows: str
    problem: Problem
    solver: str = "auto"
    threads: int = 1
    tol: float = 1e-4
    limit: float = LIMIT
    cpu: bool = False  # seconds are the processor's, and the clock may run CPU_SLACK times as long

    @property
    def allowance(self) -> float:
        """Seconds on the clock."""
        return CPU_SLACK * self.limit if self.cpu else self.limit

    @property
    def name(self) -> str:
        return f"{self.rows}  {self.problem}"


@dataclass
class Record:
    """What came of it. ``value`` is F as the judge finds it; ``gap``, ``claimed`` are the library's own."""

    fit: Fit
    status: str  # of the solution, or "exception", "killed", "died"
    shape: str = ""
    work: float = 0.0  # n·d·k
    seconds: float = math.nan
    passes: int = 0
    solver: str = ""
    message: str = ""
    relative_gap: float = math.nan
    claimed: float = math.nan
    gap: float = math.nan
    value: float = math.inf
    zero: float = math.nan
    warnings: list[str] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        """Converged without a warning."""
        return self.status == "converged" and not self.warnings


def carry_out(fit: Fit, tell: Callable[[str], None]) -> Record:
    """The fit, and again while it is short or was held up by the compiler; ``tell`` hears of each start."""
    rows = _rows(fit.rows)
    record = Record(fit, "", rows.describe(), rows.work, zero=judge.at_zero(rows, fit.problem))
    for _ in range(REPEATS):
        tell("start")
        compiled = _once(fit, rows, record)
        if record.status == "exception" or (record.seconds > SHORT and not compiled):
            break
        if compiled:
            record.seconds = math.nan  # the next run counts
    return record


@lru_cache(maxsize=3)
def _rows(name: str) -> Rows:
    return load(name)


def _once(fit: Fit, rows: Rows, record: Record) -> bool:
    """One run into the record, the faster of two equal ones kept; whether it had to compile."""
    from numba.core import event

    model = _model(fit)
    clock = time.process_time if fit.cpu else time.perf_counter
    weights = {} if rows.weight is None else {"sample_weight": rows.weight}
    gc.collect()
    with (
        warnings.catch_warnings(record=True) as said,
        event.install_recorder("numba:compile") as compiler,
    ):
        warnings.simplefilter("always")
        began = clock()
        try:
            model.fit(rows.X, rows.y, **weights)
        except Exception as error:
            record.status, record.message = "exception", f"{type(error).__name__}: {error}"
            return False
        seconds = clock() - began
    record.seconds = seconds if math.isnan(record.seconds) else min(seconds, record.seconds)
    found = model.solution_
    record.status, record.message, record.solver = found.status, found.message, found.solver
    record.passes, record.relative_gap = found.passes, found.relative_gap
    record.claimed, record.gap = found.objective, found.gap
    record.warnings = sorted({f"{w.category.__name__}: {w.message}" for w in said})
    record.value = judge.objective(rows, fit.problem, model.coef_, model.intercept_)
    return len(compiler.buffer) > 0


def _model(fit: Fit) -> Any:
    from argmax import LinearClassifier

    share = fit.problem.l1
    penalty = {0.0: "l2", 1.0: "l1"}.get(share, "elasticnet")
    return LinearClassifier(
        fit.problem.loss,
        C=fit.problem.C,
        penalty=penalty,
        l1_ratio=share if penalty == "elasticnet" else None,
        solver=fit.solver,
        tol=fit.tol,
        n_threads=fit.threads,
        time_limit=fit.allowance,
    )
