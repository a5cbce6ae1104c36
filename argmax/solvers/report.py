"""The running account of a solver: history, limits, callbacks, and the reason it stopped.

A run that was cut off can go on: after every pass a solver can say all that it holds (``Snapshot``), a
``Keeper`` among the callbacks puts that somewhere safe, and ``minimise`` takes it up where it left off.
"""

from __future__ import annotations

import math
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from ..objective import Objective, Point
from ..records import Floats, Solution

__all__ = ["Keeper", "Progress", "Report", "Snapshot", "Values"]

OPEN = "", "max_iter", "stalled", "time_limit", "handed_on"
"""Reasons to stop that do not matter where ``tol`` is met."""

Values = dict[str, Any]
"""What a solver holds at the end of a pass, by name: arrays, numbers, flags and words."""


@final
@dataclass(frozen=True, slots=True)
class Snapshot:
    """Where a run stood at the end of a pass: all it takes to go on as if it had never stopped.

    Given to ``minimise`` as its ``state``, it leads to the same bits as the run that it comes from. The
    arrays of ``values`` are never changed afterwards.

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> kept = []
    >>> model = SoftmaxRegression(callbacks=[lambda progress: kept.append(progress.snapshot())])
    >>> _ = model.fit(*load_iris(return_X_y=True))
    >>> kept[2].solver, kept[2].passes, "w" in kept[2].values
    ('newton', 3, True)
    """

    solver: str
    passes: int
    seconds: float
    history: tuple[tuple[float, float, float], ...] = field(repr=False)
    values: Values = field(repr=False)


@final
@dataclass(frozen=True, slots=True)
class Progress:
    """What a callback is told after every pass. Returning True stops the solver, keeping its weights.

    >>> import numpy as np
    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> seen = []
    >>> model = SoftmaxRegression(callbacks=[lambda progress: seen.append(progress.objective)])
    >>> _ = model.fit(*load_iris(return_X_y=True))
    >>> seen = np.round(seen, 9).tolist()
    >>> seen == sorted(seen, reverse=True)  # but for rounding, the objective only falls
    True
    """

    passes: int
    seconds: float
    objective: float
    gap: float
    relative_gap: float
    w: Floats
    last: bool = False
    """Whether a limit (``max_iter``, ``time_limit``) ends the run here."""
    take: Callable[[], Snapshot] | None = field(default=None, repr=False, compare=False)

    def snapshot(self) -> Snapshot | None:
        """The whole state of the run, to be asked for during the call; None where a pass has none."""
        return None if self.take is None else self.take()


Callback = Callable[[Progress], Any]


class Keeper(ABC):
    """A callback that keeps snapshots, and can hand one back when the same problem is met again."""

    @abstractmethod
    def __call__(self, progress: Progress) -> Any:
        """Told after every pass, as any callback."""

    @abstractmethod
    def found(self, problem: Values) -> Snapshot | None:
        """Before the first pass: the snapshot to go on from, if there is one.

        ``problem`` describes in words and numbers what is being solved. A keeper that holds a snapshot
        of another problem raises.
        """


@final
class Report:
    """Limits and listeners of one run.

    A solver calls ``report(w, value, gap)`` after every pass and stops when it answers True;
    ``certified(point)`` says whether ``tol`` is met.

    >>> from argmax.solvers import Report
    >>> report = Report(tol=1e-6, time_limit=60.0)
    >>> report.passes, report.out_of_time()
    (0, False)
    """

    def __init__(
        self,
        tol: float = 1e-4,
        max_iter: int = 1000,
        time_limit: float | None = None,
        callbacks: Sequence[Callback] = (),
        verbose: int = 0,
    ) -> None:
        self.tol, self.max_iter, self.time_limit = tol, max_iter, time_limit
        self.callbacks, self.verbose = tuple(callbacks), verbose
        self.history: list[tuple[float, float, float]] = []
        self.passes = 0
        self.status, self.message = "", ""
        self.began = time.perf_counter()
        self.w: Floats | None = None
        self.solver = ""
        self._shown = 0.0
        self._earlier = 0  # passes of solvers that have handed on their point
        self._before = 0.0  # seconds of the runs that this one continues
        self._told = False
        self.watch: Callable[[int, float, float], str | None] | None = None
        self.handed: list[str] = []  # which solver handed its point to which, and why

    @property
    def seconds(self) -> float:
        """Since the report was made, and those of the runs that this one continues."""
        return self._before + time.perf_counter() - self.began

    def out_of_time(self) -> bool:
        """For loops inside a pass: whether ``time_limit`` is spent. It counts from this run's start."""
        return self.time_limit is not None and self.seconds - self._before >= self.time_limit

    def resume(self, snapshot: Snapshot, told: bool = True) -> None:
        """Go on with the account of a snapshot: its passes, seconds and history.

        With ``told`` the next call is about the pass that the snapshot was taken at: already noted.
        """
        self.passes, self._before = snapshot.passes, snapshot.seconds
        self.history, self._told = list(snapshot.history), told

    def reached(self, point: Point, keep: Callable[[], Values] = dict, **held: Any) -> bool:
        """Take note of a pass that ended at ``point``; True means stop.

        ``held`` and what ``keep`` returns are what else the solver holds there. A point that one pass at
        its w would not bring back to the bit has no snapshot.
        """
        objective = point.objective

        def values() -> Values:
            here = {
                "w": point.w,
                "precise": objective.problem.layout.precise,
                "lower": objective.lower,
                "lows": objective.lows,
            }
            return {**here, **held, **keep()}

        state = values if point.fresh else None
        return self(objective, point.w, point.value, point.gap, state=state)

    def __call__(
        self,
        objective: Objective,
        w: Floats,
        value: float,
        gap: float,
        passes: int = 1,
        state: Callable[[], Values] | None = None,
    ) -> bool:
        """Take note of a pass (or of several, where looking costs as much as moving); True means stop."""
        self.w = w
        asked = False
        if self._told:
            self._told = False
        else:
            self.passes += passes
            self.history.append((self.seconds, value, gap))
            asked = self._tell(objective, w, value, gap, state)
            self.look(self.passes, value, gap)
        if asked:
            self._stop("stopped", "a callback asked to stop")
        elif self.out_of_time():
            self._stop("time_limit", f"time_limit of {self.time_limit:g} s reached")
        elif self.passes >= self.max_iter:
            self._stop("max_iter", f"max_iter of {self.max_iter} passes reached")
        return bool(self.status)

    def look(self, passes: int, value: float, gap: float) -> bool:
        """Let the ``watch`` judge a pass that is not reported; True means that the point is handed on."""
        reason = None if self.watch is None else self.watch(passes, value, gap)
        if reason:
            self.stop("handed_on", reason)
        return bool(self.status)

    def hand_on(self, following: str) -> None:
        """Go on with another solver, and the same account."""
        why = self.message or "no step makes progress"
        self.handed.append(f"{self.solver} handed its point to {following} ({why})")
        self.max_iter += self.passes - self._earlier  # each solver has max_iter passes
        self._earlier = self.passes
        self.status, self.message, self.watch = "", "", None

    def _tell(
        self,
        objective: Objective,
        w: Floats,
        value: float,
        gap: float,
        state: Callable[[], Values] | None,
    ) -> bool:
        """Every callback is told, even after one has asked to stop."""
        relative = gap / objective.zero if math.isfinite(gap) and objective.zero else gap
        last = self.out_of_time() or self.passes >= self.max_iter
        take = None if state is None else lambda: self._snapshot(state())
        progress = Progress(self.passes, self.seconds, value, gap, relative, w, last, take)
        asked = [bool(callback(progress)) for callback in self.callbacks]
        self._show(progress)
        return any(asked)

    def _snapshot(self, values: Values) -> Snapshot:
        return Snapshot(self.solver, self.passes, self.seconds, tuple(self.history), values)

    def settled(self, point: Point) -> Point:
        """The point with its free entries solved, if there is time for it."""
        return point.objective.settled(point.w, point.stamp, out_of_time=self.out_of_time)

    def promising(self, point: Point) -> bool:
        """Whether the gap is within tol · F(0); a proof only where the point is settled."""
        if point.objective.penalised:
            return point.relative_gap <= self.tol
        return self._flat(point)

    def certified(self, point: Point) -> bool:
        """Whether F(w) is provably within tol · F(0) of the optimum."""
        return point.proven and self.promising(point)

    def _flat(self, point: Point) -> bool:
        # Without a penalty there is no certificate; the gradient is measured against that at zero.
        scale = max(point.objective.zero, 1e-300)
        return float(abs(point.gradient).max()) <= self.tol * 1e-2 * scale

    def _stop(self, status: str, message: str) -> None:
        self.status, self.message = status, message

    def stop(self, status: str, message: str) -> None:
        """Note why the solver itself stops, unless a limit did so first."""
        if not self.status:
            self._stop(status, message)

    def solution(
        self, objective: Objective, point: Point, solver: str, state: Any = None
    ) -> Solution:
        """The outcome, with the certificate of ``point``, whose free entries are settled first."""
        if not point.proven:
            settled = self.settled(point)
            point = settled if settled.proven else point
        if self.certified(point) and self.status in OPEN:
            self.status, self.message = "converged", ""
        if not self.status:
            self._stop("stalled", "no step makes progress any more")
        gap = point.gap if point.proven else math.inf
        relative = point.relative_gap if point.proven else math.inf
        quality = (
            f"the objective is at most {relative:.1e} (relative to w = 0) above its minimum"
            if math.isfinite(relative)
            else "there is no certificate"
            if objective.penalised
            else "without a penalty there is no certificate"
        )
        who = "; ".join([*self.handed, solver])
        reason = f"{self.message}; " if self.message else f"tol = {self.tol:g} met: "
        self._show(None)
        return Solution(
            w=point.w,
            objective=point.value,
            gap=gap,
            relative_gap=relative,
            status=self.status,
            message=f"{who}: {reason}{quality}.",
            solver=solver,
            passes=self.passes,
            seconds=self.seconds,
            history=self.history,
            state=state,
        )

    def online(self, w: Floats, solver: str) -> Solution:
        """The outcome of a learner that minimises nothing: no gap, and the last value of its history."""
        self._show(None)
        return Solution(
            w=w,
            objective=self.history[-1][1],
            gap=math.inf,
            relative_gap=math.inf,
            status=self.status,
            message=f"{solver}: {self.message}.",
            solver=solver,
            passes=self.passes,
            seconds=self.seconds,
            history=self.history,
        )

    def _show(self, progress: Progress | None) -> None:
        """One line on stderr that rewrites itself: the falling objective and the certificate."""
        if not self.verbose:
            return
        if progress is None:
            if self._shown:
                print(file=sys.stderr, flush=True)
            return
        now = time.perf_counter()
        if now - self._shown < 0.1 and self.verbose < 2:
            return
        self._shown = now
        line = (
            f"pass {progress.passes:4d}   objective {progress.objective:.8g}   "
            f"certificate {progress.relative_gap:.1e} (tol {self.tol:g})   {progress.seconds:.2f} s"
        )
        end = "\n" if self.verbose > 1 or not sys.stderr.isatty() else ""
        print(f"\r{line}", end=end, file=sys.stderr, flush=True)
