"""Where does a default fit fail? All losses and strengths over real sets and drawn families of problems.

    python -m benchmarks zoo                             six rounds: every set with every loss and C
    python -m benchmarks zoo --minutes 5 --seed 7        a sample, the same again
    python -m benchmarks zoo --sets scales#12,digits     these rows alone; families and draws have names too

Every fit has default settings but for the time limit and the threads. By default only the rows that did not
end well are printed; ``rows.load(name)`` makes those of a line again.
"""

from __future__ import annotations

import random
import time
from dataclasses import asdict
from typing import Any

from ..common import Options, Outcome, progress, say
from . import packages, page
from .fits import LIMIT, Fit, Record
from .plan import LOSSES, Plan
from .workers import Worker

__all__ = ["run"]


def run(options: Options) -> Outcome:
    own = options.own
    seed = own.get("seed")
    seed = random.SystemRandom().randrange(2**31) if seed is None else seed
    losses = _listed(own.get("losses")) or LOSSES
    rounds = own.get("draws") or (1 if options.quick else 6)
    plan = Plan(seed, _listed(own.get("sets")), losses, rounds)
    say(f"{(__doc__ or '').strip()}\n\nSeed {seed}; n_threads={options.threads}.")
    for sentence in packages.missing():
        say(f"Left out: {sentence}")
    records = fits(plan, options)
    page.show(records)
    checks = page.promises(records)
    return Outcome("zoo", checks, [flat(record) for record in records])


def fits(plan: Plan, options: Options) -> list[Record]:
    """All fits of the plan, or as many as the minutes allow."""
    minutes = options.own.get("minutes")
    until = time.perf_counter() + 60.0 * minutes if minutes else float("inf")
    limit = options.limit or LIMIT
    records = []
    with Worker(options.threads) as worker:
        for rows, problem in plan:
            if time.perf_counter() > until:
                say(f"Ended after {minutes:g} minutes.")
                break
            cpu = bool(options.own.get("cpu"))
            fit = Fit(rows, problem, threads=options.threads, limit=limit, cpu=cpu)
            record = worker.ask(fit)
            records.append(record)
            if options.own.get("all") or page.remarkable(record):
                say(page.line(record))
            if len(records) % 100 == 0:
                progress(f"{len(records)} fits, {sum(map(page.in_time, records))} converged")
    return records


def flat(record: Record) -> dict[str, Any]:
    """A record as the JSON file has it."""
    return asdict(record)


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()
