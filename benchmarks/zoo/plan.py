"""What is fitted, in which order: every set and a fresh draw of every family, round after round.

In a round each rows meet every loss, each with another C; six rounds take a set through all pairs of a loss
and a C. They do so in visits of a few losses, whose order is drawn, so that the first minutes of a run are a
fair sample of the whole. Sequences and graphs have losses and strengths of their own.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from . import graphs, sequences, sets
from .families import FAMILIES
from .judge import Problem
from .rows import kind

__all__ = ["KINDS", "LOSSES", "STRENGTHS", "Plan", "losses_of"]

KINDS = "rows", "sequences", "graphs"

VISIT = 3
"""Problems that rows are asked about before others have their turn."""

LOSSES = (
    "log", "softmax_margin", "ovr_log", "hinge", "weston_watkins", "squared_hinge", "squared",
)  # fmt: skip
SPARSE_LOSSES = "log", "softmax_margin", "ovr_log", "squared_hinge", "squared"
"""Losses that take an l1 penalty."""

STRENGTHS = 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6
SHARE_L1 = 0.2
"""Share of the fits, of losses that take it, that are made once more with l1 or an elastic net."""


@dataclass(frozen=True)
class Plan:
    """Rounds of problems. ``chosen`` names sets, families, or draws such as ``scales#12``; none: all."""

    seed: int
    chosen: tuple[str, ...] = ()
    losses: tuple[str, ...] = LOSSES
    draws: int = len(STRENGTHS)
    kinds: tuple[str, ...] = KINDS

    def __iter__(self) -> Iterator[tuple[str, Problem]]:
        for number in range(self.draws):
            rng = np.random.default_rng([self.seed, number])
            visits = []
            for rows in [*self.sets(), *self.drawn(number)]:
                problems = self.problems(rows, number)
                cut = [problems[i : i + VISIT] for i in range(0, len(problems), VISIT)]
                visits += [(rows, part) for part in cut]
            for i in rng.permutation(len(visits)):
                rows, problems = visits[i]
                yield from ((rows, problem) for problem in problems)

    def sets(self) -> list[str]:
        """The sets, and the draws that were asked for by their seed."""
        known = [*sets.names(), *sequences.corpora(), *graphs.pictures()]
        own = [name for name in known if not self.chosen or _named(name, self.chosen)]
        own += [name for name in self.chosen if "#" in name]
        return [name for name in own if kind(name) in self.kinds]

    def drawn(self, number: int) -> list[str]:
        """One draw of each family."""
        everything = [*FAMILIES, *sequences.FAMILIES, *graphs.FAMILIES]
        names = [name for name in everything if not self.chosen or name in self.chosen]
        names = [name for name in names if kind(name) in self.kinds]
        entropy = [self.seed, number]
        return [
            f"{name}#{np.random.SeedSequence([*entropy, _code(name)]).generate_state(1)[0]}"
            for name in names
        ]

    def problems(self, rows: str, number: int) -> list[Problem]:
        """Every loss with one C, and some again with l1."""
        if kind(rows) != "rows":
            return self._structured(rows, number)
        generated = "#" in rows
        rng = np.random.default_rng([self.seed, number, _code(rows)])
        first = int(np.random.default_rng([self.seed, _code(rows)]).integers(len(STRENGTHS)))
        made = []
        for i, loss in enumerate(LOSSES):
            fixed = STRENGTHS[(first + i + number) % len(STRENGTHS)]
            C = float(10.0 ** rng.uniform(-4, 6)) if generated else fixed
            extra, ratio = rng.random() < SHARE_L1, float(rng.choice([1.0, round(rng.random(), 2)]))
            if loss not in self.losses:
                continue
            made.append(Problem(loss, C))
            if extra and loss in SPARSE_LOSSES:
                made.append(Problem(loss, C, ratio))
        return made

    def _structured(self, rows: str, number: int) -> list[Problem]:
        """The same for sequences and graphs; what the library refuses is not asked for."""
        rng = np.random.default_rng([self.seed, number, _code(rows)])
        made = []
        for loss in losses_of(rows):
            C, extra = float(10.0 ** rng.uniform(-3, 3)), rng.random() < SHARE_L1
            if loss in self.losses or self.losses == LOSSES:
                made.append(Problem(loss, C))
                if extra and loss == "log" and kind(rows) == "sequences":
                    made.append(Problem(loss, C, 1.0))
        return made


def losses_of(rows: str) -> tuple[str, ...]:
    """Those of these rows.

    A sum over the labellings of a graph with cycles has no certificate, and a hinge no second order.
    """
    if kind(rows) == "rows":
        return LOSSES
    if kind(rows) == "sequences":
        return sequences.LOSSES[:-1] if "order2" in rows else sequences.LOSSES
    trees = rows.startswith(("graphs-trees", "graphs-paths"))
    return graphs.LOSSES if trees else graphs.LOSSES[1:]


def _named(name: str, chosen: tuple[str, ...]) -> bool:
    """Whether a set is meant: by its full name, or by that of its table."""
    return name in chosen or name.split("/")[0] in chosen


def _code(name: str) -> int:
    return zlib.crc32(name.encode())
