"""One fit: what is asked, what came of it, and how it is carried out (in a worker, see ``workers``).

A fit is by the library, with solver="auto" or another of its own, or by a peer of the same objective.
"""

from __future__ import annotations

import gc
import math
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from . import graphs, judge, peers, sequences
from .graphs import Graphs
from .judge import Problem
from .rows import Facts, Rows, load
from .sequences import Sequences

__all__ = ["LIMIT", "Fit", "Record", "carry_out"]

LIMIT = 30.0
"""Seconds that a fit may take."""

CPU_SLACK = 3.0
"""Limits on the clock over those of the processor, for machines with other things to do."""

SHORT, REPEATS = 0.3, 3
"""Fits shorter than so many seconds are repeated, and the fastest run counts."""


@dataclass(frozen=True)
class Fit:
    """What is asked: rows by name, a problem, the solver or the peer, how many threads, and how closely."""

    rows: str
    problem: Problem
    solver: str = "auto"
    threads: int = 1
    tol: float = 1e-4
    limit: float = LIMIT
    cpu: bool = False  # seconds are the processor's, and the clock may run CPU_SLACK times as long
    peer: str = ""  # one of ``peers.PEERS``; the library otherwise
    runs: int = REPEATS  # of which the fastest counts, where they are short

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
    status: str
    """Of the solution; "done" of a peer; "unsupported" where the solver does not take the problem; or
    "exception", "late" (a peer at its limit), "killed", "died"."""
    shape: str = ""
    facts: Facts | None = None
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
    rounding: float = 0.0  # what F is in doubt by
    warnings: list[str] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        """Converged without a warning."""
        return self.status == "converged" and not self.warnings


def carry_out(fit: Fit, tell: Callable[[str], None]) -> Record:
    """The fit, and again while it is short or was held up by the compiler; ``tell`` hears of each start."""
    rows = _rows(fit.rows)
    record = Record(fit, "", rows.describe(), rows.facts, rows.work)
    record.zero = _judge_of(rows).at_zero(rows, fit.problem)
    once = _by_peer if fit.peer else _by_us
    for _ in range(fit.runs):
        tell("start")
        compiled = once(fit, rows, record)
        if record.status in FAILED or (record.seconds > SHORT and not compiled):
            break
        if compiled:
            record.seconds = math.nan  # the next run counts
    return record


FAILED = "exception", "unsupported", "late"


@lru_cache(maxsize=3)
def _rows(name: str) -> Any:
    return load(name)


def _judge_of(rows: Any) -> Any:
    """The module that knows F of this kind of rows."""
    if isinstance(rows, Sequences):
        return sequences
    return graphs if isinstance(rows, Graphs) else judge


def _by_us(fit: Fit, rows: Any, record: Record) -> bool:
    """One run into the record, the faster of two equal ones kept; whether it had to compile."""
    from numba.core import event

    from argmax.errors import Unsupported

    model = _model(fit, rows)
    weights = {} if rows.weight is None else {"sample_weight": rows.weight}
    with (
        warnings.catch_warnings(record=True) as said,
        event.install_recorder("numba:compile") as compiler,
    ):
        warnings.simplefilter("always")
        try:
            _timed(fit, record, lambda: model.fit(rows.X, rows.y, **weights))
        except Unsupported as error:
            record.status, record.message = "unsupported", str(error)
            return False
        except Exception as error:
            record.status, record.message = "exception", f"{type(error).__name__}: {error}"
            return False
    found = model.solution_
    record.status, record.message, record.solver = found.status, found.message, found.solver
    record.passes, record.relative_gap = found.passes, found.relative_gap
    record.claimed, record.gap = found.objective, found.gap
    record.warnings = sorted({f"{w.category.__name__}: {w.message}" for w in said})
    record.value, record.rounding = _value(rows, fit.problem, model)
    return len(compiler.buffer) > 0


def _by_peer(fit: Fit, rows: Rows, record: Record) -> bool:
    """The same by a peer, which may be cut off; nothing is compiled."""
    peer, problem = peers.PEERS[fit.peer], fit.problem
    record.solver = peer.name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a peer is judged by its F alone
        try:
            solve = peer.prepare(rows, problem, fit.tol, fit.limit)
            with nullcontext() if peer.deaf else peers.alarm(fit.allowance):
                found = _timed(fit, record, solve)
        except peers.Late:
            record.status = "late"
            return False
        except Exception as error:
            record.status, record.message = "exception", f"{type(error).__name__}: {error}"
            return False
    record.status = "done"
    record.value, record.rounding = judge.judged(rows, fit.problem, *found)
    return False


def _timed(fit: Fit, record: Record, call: Callable[[], Any]) -> Any:
    clock = time.process_time if fit.cpu else time.perf_counter
    gc.collect()
    began = clock()
    found = call()
    seconds = clock() - began
    record.seconds = seconds if math.isnan(record.seconds) else min(seconds, record.seconds)
    return found


def _value(rows: Any, problem: Problem, model: Any) -> tuple[float, float]:
    """F by the judge, and what rounding leaves in doubt."""
    if isinstance(rows, Rows):
        return judge.judged(rows, problem, model.coef_, model.intercept_)
    found: tuple[float, float] = _judge_of(rows).judged(rows, problem, model)
    return found


def _model(fit: Fit, rows: Any) -> Any:
    from argmax import LinearClassifier

    share = fit.problem.l1
    options: dict[str, Any] = {
        "solver": fit.solver,
        "tol": fit.tol,
        "n_threads": fit.threads,
        "time_limit": fit.allowance,
    }
    if isinstance(rows, Graphs):
        return graphs.labeler(rows, fit.problem, **options)
    penalty = {0.0: "l2", 1.0: "l1"}.get(share, "elasticnet")
    options |= {"penalty": penalty, "l1_ratio": share if penalty == "elasticnet" else None}
    if isinstance(rows, Sequences):
        return sequences.tagger(rows, fit.problem, **options)
    return LinearClassifier(fit.problem.loss, C=fit.problem.C, **options)
