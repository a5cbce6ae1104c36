"""What is fitted, in which order: every set and a fresh draw of every family, round after round.

In a round each rows meet every loss, each with another C; six rounds take a set through all pairs of a loss
and a C. The order of a round is drawn, so that the first minutes of a run are a fair sample of the whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from . import sets
from .families import FAMILIES
from .judge import Problem

__all__ = ["LOSSES", "STRENGTHS", "Plan"]

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

    def __iter__(self) -> Iterator[tuple[str, Problem]]:
        for number in range(self.draws):
            rng = np.random.default_rng([self.seed, number])
            everything = [*self.sets(), *self.drawn(number)]
            for i in rng.permutation(len(everything)):
                for problem in self.problems(everything[i], number):
                    yield everything[i], problem

    def sets(self) -> list[str]:
        """The sets, and the draws that were asked for by their seed."""
        own = [name for name in sets.names() if not self.chosen or _named(name, self.chosen)]
        return own + [name for name in self.chosen if "#" in name]

    def drawn(self, number: int) -> list[str]:
        """One draw of each family."""
        names = [name for name in FAMILIES if not self.chosen or name in self.chosen]
        entropy = [self.seed, number]
        return [
            f"{name}#{np.random.SeedSequence([*entropy, _code(name)]).generate_state(1)[0]}"
            for name in names
        ]

    def problems(self, rows: str, number: int) -> list[Problem]:
        """Every loss with one C, and some again with l1."""
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


def _named(name: str, chosen: tuple[str, ...]) -> bool:
    """Whether a set is meant: by its full name, or by that of its table."""
    return name in chosen or name.split("/")[0] in chosen


def _code(name: str) -> int:
    return zlib.crc32(name.encode())
