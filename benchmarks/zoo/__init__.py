"""Where does a default fit fail? All losses and strengths over real sets and drawn families of problems.

    python -m benchmarks zoo                             six rounds: every set with every loss and C
    python -m benchmarks zoo --minutes 5 --seed 7        a sample, the same again
    python -m benchmarks zoo --sets scales#12,digits     these rows alone; families and draws have names too
    python -m benchmarks zoo --others 1 --peers 0.5      every row beside our other solvers, half beside peers

Every fit has default settings but for the time limit and the threads. A drawn share of the rows is fitted by
every other solver of the library too, and by peers. Sums come first, then the rows that did not end well;
``rows.load(name)`` makes those of a line again.
"""

from __future__ import annotations

import random
import time
from dataclasses import asdict
from typing import Any

import numpy as np

from ..common import Options, Outcome, progress, say
from . import contests, packages, page, peers, verdicts
from .contests import Contest
from .fits import LIMIT, Fit, Record
from .plan import KINDS, LOSSES, Plan
from .rows import kind
from .workers import Worker

__all__ = ["run"]

OTHERS, PEERS = 0.3, 0.3
"""Shares of the rows that other solvers and peers fit too."""

TOLS = {"rows": 1e-4, "sequences": 1e-4, "graphs": 1e-3}
"""The default of each estimator."""


def run(options: Options) -> Outcome:
    own = options.own
    seed = own.get("seed")
    seed = random.SystemRandom().randrange(2**31) if seed is None else seed
    losses = _listed(own.get("losses")) or LOSSES
    rounds = own.get("draws") or (1 if options.quick else 6)
    kinds = _listed(own.get("kinds")) or KINDS
    plan = Plan(seed, _listed(own.get("sets")), losses, rounds, kinds)
    say(f"{(__doc__ or '').strip()}\n\nSeed {seed}; n_threads={options.threads}.")
    for sentence in (*packages.missing(), *peers.missing()):
        say(f"Left out: {sentence}")
    records, held = fitted(plan, options)
    say()
    page.sums(records)
    verdicts.sums(held)
    page.bad_rows(records)
    verdicts.bad_rows(held)
    checks = page.promises(records) + (verdicts.promises(held) if held else [])
    figures = [*map(flat, records), *map(verdicts.figures, held)]
    return Outcome("zoo", checks, figures)


def fitted(plan: Plan, options: Options) -> tuple[list[Record], list[Contest]]:
    """All fits of the plan, or as many as the minutes allow."""
    minutes = options.own.get("minutes")
    started = time.perf_counter()
    until = started + 60.0 * minutes if minutes else float("inf")
    draw = np.random.default_rng([plan.seed, 1])
    records: list[Record] = []
    held: list[Contest] = []
    spent = 0.0
    with (
        Worker(options.threads, kinds=plan.kinds) as ours,
        Worker(options.threads, peers=True) as theirs,
    ):
        for rows, problem in plan:
            if time.perf_counter() > until:
                say(f"Ended after {minutes:g} minutes.")
                break
            record = ours.ask(_fit(rows, problem, options))
            records.append(record)
            if options.own.get("all"):
                say(page.line(record))
            drawn = draw.random()
            others, race = (drawn < share for share in _shares(options))
            if others or race:
                began = time.perf_counter()
                held.append(contests.hold(record, ours.ask, theirs.ask, others, race))
                spent += time.perf_counter() - began
            if len(records) % 100 == 0:
                told = f"{sum(map(page.in_time, records))} converged, {len(held)} contests"
                progress(f"{len(records)} fits, {told}")
    everything = time.perf_counter() - started
    say(f"{len(records)} fits; {len(held)} contests took {spent:.0f} of {everything:.0f} seconds.")
    return records, held


def _fit(rows: str, problem: Any, options: Options) -> Fit:
    limit, cpu = options.limit or LIMIT, bool(options.own.get("cpu"))
    return Fit(rows, problem, threads=options.threads, tol=TOLS[kind(rows)], limit=limit, cpu=cpu)


def _shares(options: Options) -> tuple[float, float]:
    """Of rows beside other solvers, and beside peers."""
    others, race = options.own.get("others"), options.own.get("peers")
    return (OTHERS if others is None else others), (PEERS if race is None else race)


def flat(record: Record) -> dict[str, Any]:
    """A record as the JSON file has it."""
    return asdict(record)


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()
