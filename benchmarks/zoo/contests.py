"""One problem beside others: our other solvers at the same tol, a tighter run, and peers at equal quality.

Quality is true suboptimality, (F − F*)/F(0) with F* the least F of all fits of the contest, by the judge. A
peer's own tol is tightened step by step until it reaches a target; its time is that of the fastest setting
that does, and ours that of the faster of two, tol = 1e-4 and 1e-6. Short fits run three times in turn, ours,
peer, ours, peer, and the fastest counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from . import judge, peers
from .fits import LIMIT, Fit, Record

__all__ = [
    "LEAST",
    "MARGIN",
    "PATIENCE",
    "SLOWER",
    "TARGETS",
    "TIGHT",
    "Contest",
    "Race",
    "Setting",
    "hold",
]

TARGETS = 1e-4, 1e-6
TIGHT = 1e-9
"""The tol of the run that is to find F*."""

SLOWER, MARGIN = 1.5, 0.02
"""The default takes at most 1.5 times the best solver's seconds and 20 ms more."""

WITHOUT_GAP = "sgd", "subgradient"
"""Solvers that end after so many epochs, not at a tol."""

ROUNDS, SHORT = 3, 1.0
"""Rounds in turn of fits that take less than a second."""

LEAST, MOST = 1.0, LIMIT
"""Bounds on the seconds of a peer's fit, which otherwise may take PATIENCE times ours."""

PATIENCE = 3.0
"""What takes longer could win nothing."""

ENOUGH = 10.0
"""Seconds in which another solver can show that a default that did not converge was a bad choice."""

Ask = Callable[[Fit], Record]


@dataclass
class Setting:
    """A solver or a peer at one tol: the first fit, and the seconds of those in turn."""

    record: Record
    times: list[float] = field(default_factory=list)

    @property
    def who(self) -> str:
        return self.record.fit.peer

    @property
    def seconds(self) -> float:
        return min(self.times) if self.times else self.record.seconds


@dataclass
class Race:
    """Ours and the peers' settings on one problem."""

    settings: list[Setting] = field(default_factory=list)

    def fastest(self, ours: bool, value: float) -> Setting | None:
        """The fastest setting of ours, or of any peer, that ends at F ≤ value."""
        there = [s for s in self.of(ours) if s.record.value <= value]
        return min(there, key=lambda s: s.seconds, default=None)

    def of(self, ours: bool) -> list[Setting]:
        return [s for s in self.settings if (s.who == "") == ours]

    def seconds(self, ours: bool, value: float) -> float:
        found = self.fastest(ours, value)
        return math.inf if found is None else found.seconds


@dataclass
class Contest:
    """The default fit of a problem and what others made of it."""

    default: Record
    others: list[Record] | None = None  # None: not asked
    tight: Record | None = None
    race: Race | None = None

    @property
    def records(self) -> Iterator[Record]:
        yield self.default
        yield from self.others or ()
        if self.tight is not None:
            yield self.tight
        if self.race is not None:
            yield from (setting.record for setting in self.race.settings)

    @property
    def best(self) -> float:
        """F*: the least that was found."""
        return min(record.value for record in self.records)

    def value(self, target: float) -> float:
        """The F at which a target of suboptimality is reached."""
        return self.best + target * self.default.zero

    @property
    def lower(self) -> float:
        """The greatest lower bound on F that a certificate of ours gives."""
        ours = (r for r in self.records if not r.fit.peer and math.isfinite(r.value))
        return max((r.value - r.gap for r in ours if not math.isnan(r.gap)), default=-math.inf)

    @property
    def suboptimality(self) -> float:
        """That of the default as far as anybody knows: the truth is no less, nor is it below ``_floor``."""
        found = judge.suboptimality(self.default.value, self.best, self.default.zero)
        return max(found, self._floor)

    @property
    def _floor(self) -> float:
        """What rounding and the tighter run's own tol leave in doubt."""
        return max(TIGHT, self.default.rounding / self.default.zero)

    @property
    def looseness(self) -> float:
        """How many times the suboptimality the certificate is."""
        return self.default.relative_gap / self.suboptimality

    def within(self, factor: float) -> bool | None:
        """Whether the certificate is at most so many times the truth; None where that is not known."""
        if self.looseness <= factor:
            return True
        most = judge.suboptimality(self.default.value, self.lower, self.default.zero)
        return False if self.default.relative_gap > factor * max(most, self._floor) else None

    @property
    def broken(self) -> list[Record]:
        """Fits of ours whose certificate is refuted by a lower F."""
        return [
            r
            for r in self.records
            if not r.fit.peer
            and math.isfinite(r.value)
            and not judge.certified(r.value, r.gap, self.best, r.zero, r.rounding)
        ]

    @property
    def rival(self) -> Record | None:
        """The fastest other solver that met the same tol."""
        there = [record for record in self.others or () if record.status == "converged"]
        return min(there, key=lambda record: record.seconds, default=None)

    @property
    def well_chosen(self) -> bool:
        """Whether the default took no more than 1.5 times the fastest other solver and 20 ms."""
        seconds = self.rival.seconds if self.rival else math.inf
        took = self.default.seconds if self.default.status == "converged" else math.inf
        return took <= SLOWER * seconds + MARGIN or math.isinf(seconds)


def hold(default: Record, ours: Ask, theirs: Ask, others: bool, race: bool) -> Contest:
    """The contest of a problem that the default has been through; ``ours`` and ``theirs`` carry out fits."""
    contest = Contest(default)
    limit = min(max(PATIENCE * default.seconds, LEAST), default.fit.limit)
    if math.isfinite(default.value):
        contest.tight = ours(replace(default.fit, tol=TIGHT, limit=limit, runs=1))
    if others:
        contest.others = _others(default, ours)
    if race and default.facts is not None:
        contest.race = Race([Setting(default)])
        _race(contest, contest.race, ours, theirs)
    return contest


# Other solvers


def solver_names() -> list[str]:
    """The solvers of the library that stop at a tol, but the choice itself."""
    from argmax import solvers

    everything = [getattr(solvers, name) for name in solvers.__all__]
    kinds = [k for k in everything if isinstance(k, type) and issubclass(k, solvers.Solver)]
    names = [kind.name for kind in kinds if kind not in (solvers.Solver, solvers.Auto)]
    return [name for name in names if name not in WITHOUT_GAP]


def _others(default: Record, ours: Ask) -> list[Record]:
    """Fits by every other solver that takes the problem, none longer than it needs to show a bad choice."""
    if default.seconds <= MARGIN and default.status == "converged":
        return []  # no choice could be better by more than the margin
    limit = min(ENOUGH, default.fit.limit)
    if default.status == "converged":
        limit = (default.seconds - MARGIN) / SLOWER
    made = []
    for name in solver_names():
        if name != default.solver:
            record = ours(replace(default.fit, solver=name, limit=max(limit, 1e-3)))
            made += [record] if record.status != "unsupported" else []
    return made


# Peers


def _race(contest: Contest, race: Race, ours: Ask, theirs: Ask) -> None:
    default = contest.default
    assert default.facts is not None
    entrants = peers.of(default.fit.problem, default.facts)
    if not entrants or math.isnan(default.seconds):
        return
    race.settings.append(Setting(ours(replace(default.fit, tol=TARGETS[-1]))))
    for peer in entrants:
        _tighten(contest, race, peer, theirs)
    _refine(contest, race, theirs)
    _in_turn(contest, race, ours, theirs)


def _allowance(contest: Contest, race: Race) -> float:
    """Seconds for a fit of a peer: PATIENCE times ours, and no more than the best peer so far."""
    value = contest.value(TARGETS[-1])
    us, best = race.seconds(True, value), race.seconds(False, value)
    us = us if math.isfinite(us) else contest.default.seconds
    return min(max(PATIENCE * us, LEAST), MOST, max(best, 0.1))


def _tighten(contest: Contest, race: Race, peer: peers.Peer, theirs: Ask) -> None:
    for tol in peer.tols:
        limit = _allowance(contest, race)
        fit = replace(contest.default.fit, peer=peer.name, tol=tol, limit=limit, runs=1)
        record = theirs(fit)
        race.settings.append(Setting(record))
        if record.status != "done" or record.value <= contest.value(TARGETS[-1]):
            break


def _refine(contest: Contest, race: Race, theirs: Ask) -> None:
    """The fastest peer of each target once more between the tol that did and the one before that did not."""
    for target in TARGETS:
        chosen = race.fastest(False, contest.value(target))
        if chosen is None:
            continue
        fit = chosen.record.fit
        looser = [s.record.fit.tol for s in race.of(False) if s.who == chosen.who]
        looser = [tol for tol in looser if tol > fit.tol]
        if looser:
            tol = math.sqrt(fit.tol * min(looser))
            race.settings.append(Setting(theirs(replace(fit, tol=tol))))


def _in_turn(contest: Contest, race: Race, ours: Ask, theirs: Ask) -> None:
    """What each target's figures come from, again: ours, peer, ours, peer."""
    chosen: list[Setting] = []
    for target in TARGETS:
        value = contest.value(target)
        # With one run behind it the best of several peers is not certain: the two fastest run again.
        there = [s for s in race.of(False) if s.record.value <= value]
        for setting in [*race.of(True)[:2], *sorted(there, key=lambda s: s.seconds)[:2]]:
            if setting not in chosen and setting.record.seconds < SHORT:
                chosen.append(setting)
    for _ in range(ROUNDS):
        for setting in chosen:
            ask = theirs if setting.who else ours
            seconds = ask(replace(setting.record.fit, runs=1)).seconds
            if not math.isnan(seconds):
                setting.times.append(seconds)
