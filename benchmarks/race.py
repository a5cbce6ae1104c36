"""A race: one problem, those who solve it, and the time each takes to reach a value of the objective."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from .data import Table


@dataclass(frozen=True, eq=False)
class Case:
    """One problem: a table and a C."""

    table: Table
    C: float

    @property
    def name(self) -> str:
        return f"{self.table.name} C={self.C:g}"

    def objective(self, coef: Any, intercept: Any) -> float:
        """F in plain NumPy: the judge of everybody's own figures."""
        scores = self.table.X @ coef.T + intercept
        truth = scores[np.arange(len(scores)), self.table.y]
        return float(self.C * (logsumexp(scores, axis=1) - truth).sum() + 0.5 * (coef * coef).sum())

    def confirm(self, who: str, claimed: float, coef: Any, intercept: Any) -> None:
        """Stop everything if a recorded value is not F at these weights."""
        true = self.objective(coef, intercept)
        if not math.isclose(true, claimed, rel_tol=1e-8):
            raise RuntimeError(f"{self.name}: {who} reports F = {claimed!r}; NumPy finds {true!r}.")


@dataclass(frozen=True)
class Reach:
    """How long it took to reach a target: seconds of each run, or why there are none.

    ``cut`` is the limit at which a run that had not got there was stopped; None with no times means
    that the solver gave up by itself.
    """

    times: tuple[float, ...] = ()
    cut: float | None = None

    @property
    def seconds(self) -> float:
        """The median; a lower bound where the run was cut; infinity where the solver gave up."""
        if self.times:
            return float(np.median(self.times))
        return math.inf if self.cut is None else self.cut

    @property
    def bound(self) -> bool:
        return not self.times and self.cut is not None

    def __str__(self) -> str:
        if self.times:
            return f"{self.seconds:.3g}"
        return "gave up" if self.cut is None else f"> {self.cut:.3g}"


@dataclass(frozen=True)
class Task:
    """What the first round asks for.

    ``targets`` are values of F; they may still fall, to just above ``proven``, if the entrant finds a lower F
    than anybody before. ``rivals`` are the best times so far to each of them: no need to be exact beyond.
    """

    limit: float  # seconds for one run
    targets: Sequence[float]
    rivals: Sequence[float]
    proven: float


class Entrant(ABC):
    """Somebody in the race. ``explore`` is the first round; ``repeat`` runs again what ``reach`` reports."""

    name: str
    best: float = math.inf
    """The lowest value of F found."""

    @abstractmethod
    def explore(self, task: Task) -> None:
        """The first round: find out what is reached, and when."""

    @abstractmethod
    def repeat(self, targets: Sequence[float]) -> None:
        """Once more, to the targets that the first round reached."""

    @abstractmethod
    def reach(self, target: float) -> Reach:
        """The time to F ≤ target."""

    def run_seconds(self, targets: Sequence[float]) -> float:
        """What one more round would cost; infinity where no target was reached."""
        reached = [r.seconds for r in map(self.reach, targets) if r.times]
        return max(reached, default=math.inf)


@contextmanager
def quietly() -> Iterator[None]:
    """Fits that are stopped on purpose warn about it; nobody needs to read that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
