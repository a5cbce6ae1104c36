"""Softmax regression: seconds to the same quality of the same objective, on the same features and threads.

Quality is relative suboptimality, (F − F*)/F* with F* the lowest value that anybody finds. Ours is the time
of *whole* fits, at the loosest ``tol`` of a sweep whose final objective meets the target; peers are only
charged the time to the first evaluation that meets it (see ``peers``).
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

from threadpoolctl import threadpool_limits

from argmax import LinearClassifier

from . import data, peers
from .common import (
    Check,
    Neighbours,
    Options,
    Outcome,
    note_ratio,
    progress,
    say,
    table,
    verdict,
)
from .race import Case, Entrant, Reach, Task, quietly

TARGETS = (1e-4, 1e-6)
# 1e6 … 100, then 10 … 1e-10 by half steps. The certificate is ½‖gradient‖²: on columns of wildly different
# scales it is far above the true distance, so a loose tol may end very near the optimum.
TOLS = (1e6, 1e5, 1e4, 1e3, 1e2, *(10.0 ** (1 - i / 2) for i in range(23)))
DEFAULT = 1e-4
SLOW = 30.0  # a run longer than this is repeated only with --full
FAST = 2.0  # a run shorter than this is repeated more often

PROBLEMS = {  # data set: the values of C, and the seconds a run of a peer may take
    "mnist": ((0.01, 1.0), 120.0),
    "20news": ((1.0, 10.0), 90.0),
    "clinc150": ((10.0,), 90.0),
    "letter": ((1.0,), 60.0),
    "satimage": ((1.0,), 30.0),
    "letter-scaled": ((1.0,), 60.0),
    "satimage-scaled": ((1.0,), 30.0),
}
QUICK = ("mnist", "clinc150", "satimage-scaled")
FIRST_ORDER = ("lbfgs", "newton-cg", "saga")
ANYBODY = (*FIRST_ORDER, "newton-cholesky")

FLOORS = {  # data set: what is promised at 1e-4, against the best of whom
    "mnist": ((5.0, ANYBODY),),
    "20news": ((8.0, ANYBODY),),
    "clinc150": ((8.0, ANYBODY),),
    "letter": ((10.0, ANYBODY),),
    "letter-scaled": ((30.0, FIRST_ORDER), (4.0, ("newton-cholesky",))),
    "satimage-scaled": ((30.0, FIRST_ORDER), (4.0, ("newton-cholesky",))),
}

EXPLANATION = """\
Seconds until (F − F*)/F* is at most 1e-4 and 1e-6, F = C Σ loss + ½‖w‖², F* the lowest value anybody finds;
every value is checked against plain NumPy.
Ours: whole fits, input checks, setup and stopping rule included, with solver="auto", at the loosest tol whose
result meets the target. Peers are charged less: only the time to the first evaluation that meets the target,
inside one fit at a tolerance of 1e-14; saga: whole fits of the fewest epochs that will do (to within 15 %, or
a factor of 2 where another peer is faster anyway).
Kernels are compiled before. scikit-learn may use the same threads: its BLAS gets all of them or one,
whichever multiplies the table faster; its loss uses one, as its fit does, and so do its sparse products.
newton-cholesky is left out where k·d > 5000: its Hessian takes (k·d)² numbers.
Medians of runs taken in turn"""
RULES = {
    True: ": 7 where a run takes less than 2 s, 3 otherwise. --full: a peer is cut at its limit alone.",
    False: ": 7 where a run takes less than 2 s, 3 up to 30 s, 1 beyond (--full: 3). A peer is cut at\n"
    "twice the best peer's time to 1e-6, but not before 10 s or half as much again as the promise allows it\n"
    '(--full: at its limit); "> 20" means cut after 20 s.',
}


@final
class Ours(Entrant):
    """LinearClassifier with solver="auto", whole fits over a sweep of tol."""

    name = "argmax"

    def __init__(self, case: Case, threads: int) -> None:
        self.case, self.threads = case, threads
        self.times: dict[float, list[float]] = {}
        self.values: dict[float, float] = {}
        self.solver, self.limit = "", math.inf
        self.lower = -math.inf  # the certificate: no w has a smaller F

    def explore(self, task: Task) -> None:
        """Warm up, fit to the last digits (the reference), then sweep tol from loose to tight."""
        self.limit = task.limit
        self._fit(1e-2, None)  # compiles
        solution = self._fit(TOLS[-1], task.limit)[1].solution_
        self.lower, self.best = solution.objective - solution.gap, solution.objective
        self.sweep(self.best * (1.0 + 0.1 * min(TARGETS)))
        if DEFAULT not in self.values:
            self._note(DEFAULT)

    def sweep(self, target: float) -> None:
        """Go on to tighter tols until one ends at F ≤ target."""
        for tol in TOLS:
            if self.tol(target) is not None:
                break
            if tol not in self.values:
                self._note(tol)

    def repeat(self, targets: Sequence[float]) -> None:
        chosen = {DEFAULT, *(self.tol(target) for target in targets)}
        for tol in sorted(t for t in chosen if t is not None):
            self._note(tol)

    def reach(self, target: float) -> Reach:
        tol = self.tol(target)
        return Reach() if tol is None else Reach(tuple(self.times[tol]))

    def tol(self, target: float) -> float | None:
        """The loosest tol of the sweep whose fit ends at F ≤ target."""
        return max((tol for tol, value in self.values.items() if value <= target), default=None)

    def _note(self, tol: float) -> None:
        seconds, model = self._fit(tol, self.limit)
        solution = model.solution_
        self.case.confirm(self.name, solution.objective, model.coef_, model.intercept_)
        self.times.setdefault(tol, []).append(seconds)
        self.values[tol], self.solver = solution.objective, solution.solver
        self.best = min(self.best, solution.objective)

    def _fit(self, tol: float, limit: float | None) -> tuple[float, Any]:
        model = LinearClassifier(C=self.case.C, tol=tol, n_threads=self.threads, time_limit=limit)
        gc.collect()
        with quietly():
            began = time.perf_counter()
            model.fit(self.case.table.X, self.case.table.y)
            return time.perf_counter() - began, model


@dataclass
class Race:
    """All entrants on one problem, after the last round."""

    case: Case
    ours: Ours
    blas: int  # threads of the peers' BLAS
    others: list[Entrant] = field(default_factory=list)
    company: str = ""

    @property
    def everybody(self) -> list[Entrant]:
        return [self.ours, *self.others]

    @property
    def optimum(self) -> float:
        """F*."""
        return min(entrant.best for entrant in self.everybody)

    def values(self) -> list[float]:
        """The targets as values of F."""
        return [self.optimum * (1.0 + target) for target in TARGETS]

    def best(self, names: Sequence[str], value: float) -> tuple[str, Reach]:
        """The first of these peers to reach a value; where one was cut earlier, that bound counts."""
        ways = [(e.name, e.reach(value)) for e in self.others if e.name in names]
        return min(ways, key=lambda way: way[1].seconds, default=("nobody", Reach()))


def run(options: Options) -> Outcome:
    outcome = Outcome("softmax")
    if why := data.missing():
        say(f"Left out: {why}")
        return outcome
    say(f"{EXPLANATION}{RULES[options.full]}\n")
    for name in options.data or (QUICK if options.quick else PROBLEMS):
        strengths, limit = PROBLEMS[name]
        limit = options.limit or (1.0 if options.quick else limit)
        for C in strengths:
            race = hold(Case(data.load(name, options.quick), C), limit, options)
            show(race)
            outcome.figures.append(figures(race))
            outcome.checks += promises(race, name)
    return outcome


# The race


def hold(case: Case, limit: float, options: Options) -> Race:
    """The first round sets the optimum and the order of time; the others repeat what it reports."""
    race = Race(case, Ours(case, options.threads), peers.blas_threads(case, options.threads))
    with threadpool_limits(race.blas, user_api="blas"), Neighbours() as company:
        peers.warm_up(case)
        first_round(race, limit, options)
        more_rounds(race, options)
    race.company = str(company)
    return race


def first_round(race: Race, limit: float, options: Options) -> None:
    progress(f"{race.case.name}: argmax")
    race.ours.explore(Task(limit, (), (), 0.0))
    # F* ≥ lower, by our certificate: a run at lower · (1 + 1e-8) has met every target there can be.
    proven = race.ours.lower * (1.0 + 1e-8)
    for entrant in peers.entrants(race.case):
        allowed = limit if options.full else _allowance(race, limit)
        progress(f"{race.case.name}: {entrant.name}, at most {allowed:.0f} s a run")
        rivals = [race.best(ANYBODY, value)[1].seconds for value in race.values()]
        entrant.explore(Task(allowed, race.values(), rivals, proven))
        race.others.append(entrant)
    race.ours.sweep(min(race.values()))  # the optimum may have fallen


def more_rounds(race: Race, options: Options) -> None:
    values = race.values()
    rounds = {e.name: _rounds(e.run_seconds(values), options) for e in race.everybody}
    for i in range(1, max(rounds.values())):
        progress(f"{race.case.name}: round {i + 1}")
        for entrant in race.everybody:
            if i < rounds[entrant.name]:
                entrant.repeat(values)


def _allowance(race: Race, limit: float) -> float:
    """Enough to know that a peer is not the best, and to judge every promise."""
    value = race.values()[-1]
    best = [reach.seconds for e in race.others if (reach := e.reach(value)).times]
    us = race.ours.reach(value).seconds
    if not best or math.isinf(us):
        return limit
    promised = max((floor for floor, _ in FLOORS.get(race.case.table.name, ())), default=10.0)
    return min(limit, max(2.0 * min(best), 1.5 * promised * us, 10.0))


def _rounds(seconds: float, options: Options) -> int:
    if math.isinf(seconds):
        return 1
    if seconds < FAST and not options.quick:
        return 7
    return 3 if seconds <= SLOW or options.full else 1


# What is printed


def show(race: Race) -> None:
    rows = [_row(race, entrant) for entrant in race.everybody]
    columns = [
        "",
        "s to 1e-4",
        "s to 1e-6",
        "peer/us 1e-4",
        "peer/us 1e-6",
        "runs",
        "best (F−F*)/F*",
    ]
    table(f"{race.case.name}   {race.case.table.describe()}", columns, rows)
    ours, value = race.ours, race.values()
    tols = ", ".join(f"{tol:.1e}" if (tol := ours.tol(v)) else "none" for v in value)
    say(f"  F* = {race.optimum:.8g}; argmax ran {ours.solver!r}, tol = {tols}.")
    above = (ours.values[DEFAULT] - race.optimum) / race.optimum
    usual = Reach(tuple(ours.times[DEFAULT])).seconds
    say(f"  At its default tol, {DEFAULT:g}, it takes {usual:.3g} s and ends {above:.1e} above F*.")
    say(f"  Peers' BLAS threads: {race.blas}. {race.company}")
    if race.optimum < ours.lower * (1.0 - 1e-10):
        say(f"  CERTIFICATE BROKEN: argmax claims that no w has F < {ours.lower!r}.")
    say()


def _row(race: Race, entrant: Entrant) -> list[str]:
    reaches = [entrant.reach(value) for value in race.values()]
    cells = [str(reach) for reach in reaches]
    if entrant is race.ours:
        cells += ["", ""]
    else:
        ours = [race.ours.reach(value) for value in race.values()]
        cells += [_ratio_text(*_ratio(p, o)) for p, o in zip(reaches, ours, strict=True)]
    runs = " / ".join(str(len(reach.times) or 1) for reach in reaches)
    above = max((entrant.best - race.optimum) / race.optimum, 0.0)
    return [entrant.name, *cells, runs, f"{above:.1e}"]


def _ratio(peer: Reach, ours: Reach) -> tuple[float, bool]:
    """Peer's time over ours, and whether that is only a lower bound. NaN: neither gets there."""
    if math.isinf(ours.seconds):
        return (math.nan, False) if math.isinf(peer.seconds) or peer.bound else (0.0, False)
    return peer.seconds / ours.seconds, peer.bound


def _ratio_text(ratio: float, bound: bool) -> str:
    if math.isnan(ratio):
        return "nobody gets there"
    if ratio == 0.0:
        return "peer wins: we do not get there"
    if bound:
        return f"> {ratio:.3g}×" if ratio >= 1.0 else "open: cut off"
    return note_ratio(ratio)


def promises(race: Race, name: str) -> list[Check]:
    """The floors at 1e-4, and beside them what holds at 1e-6 and with feature extraction counted."""
    result = []
    for floor, names in FLOORS.get(name, ()):
        texts = []
        for value in race.values():
            peer, reach = race.best(names, value)
            ratio, bound = _ratio(reach, race.ours.reach(value))
            texts.append((ratio, bound, f"{_ratio_text(ratio, bound)} ({peer})"))
        ratio, bound, figure = texts[0]
        decision = "not met" if math.isnan(ratio) else verdict(ratio, floor, bound)
        also = f"{figure}; at 1e-6: {texts[1][2]}{_with_extraction(race, names)}"
        result.append(Check(f"{race.case.name} at 1e-4", also, f"{floor:g}×", decision))
    return result


def _with_extraction(race: Race, names: Sequence[str]) -> str:
    extra, value = race.case.table.extraction, race.values()[0]
    peer, ours = race.best(names, value)[1].seconds, race.ours.reach(value).seconds
    if not extra or math.isinf(peer) or math.isinf(ours):
        return ""
    return f"; counting {extra:.2g} s of tf-idf for both: {(peer + extra) / (ours + extra):.2g}×"


def figures(race: Race) -> dict[str, Any]:
    """One problem, for the JSON file."""
    entries = {}
    for entrant in race.everybody:
        reaches = [entrant.reach(value) for value in race.values()]
        entries[entrant.name] = {
            "best": entrant.best,
            "seconds": {f"{t:g}": r.times for t, r in zip(TARGETS, reaches, strict=True)},
            "cut": {f"{t:g}": r.cut for t, r in zip(TARGETS, reaches, strict=True)},
        }
    tols = {f"{t:g}": race.ours.tol(v) for t, v in zip(TARGETS, race.values(), strict=True)}
    return {
        "case": race.case.name,
        "rows": race.case.table.describe(),
        "optimum": race.optimum,
        "lower_bound": race.ours.lower,
        "solver": race.ours.solver,
        "tol": tols,
        "sweep": [(tol, race.ours.times[tol], value) for tol, value in race.ours.values.items()],
        "blas_threads": race.blas,
        "company": race.company,
        "extraction": race.case.table.extraction,
        "entrants": entries,
    }
