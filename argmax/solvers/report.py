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

import numpy as np

from ..engines.limits import OutOfTime, within
from ..kernels import compiling
from ..objective import Objective, Point
from ..records import Floats, Solution

__all__ = ["Keeper", "Progress", "Report", "Snapshot", "Values", "working"]

OPEN = "", "max_iter", "stalled", "time_limit", "handed_on"
"""Reasons to stop that do not matter where ``tol`` is met."""

GRACE = 0.5
"""Seconds after ``time_limit`` in which a pass that has begun, or a last one, may end; then it is cut."""

NOTICED = 0.1
"""Seconds of compiling that are worth telling."""


def working() -> float:
    """A clock that stands still while kernels are compiled."""
    return time.perf_counter() - compiling.seconds()


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

    ``time_limit`` counts from here, without the time in which kernels are compiled (``seconds`` have it).
    Loops look at ``out_of_time``; what does not is cut soon after (``run``). ``clock`` tells its seconds.

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
        clock: Callable[[], float] = working,
    ) -> None:
        self.tol, self.max_iter, self.time_limit = tol, max_iter, time_limit
        self.callbacks, self.verbose = tuple(callbacks), verbose
        self.history: list[tuple[float, float, float]] = []
        self.passes = 0
        self.status, self.message = "", ""
        self.began, self._ready = time.perf_counter(), compiling.seconds()
        self._clock, self._start = clock, clock()
        self.reserve = 0.0  # seconds that a solver needs at the end, to see where it is
        self.w: Floats | None = None
        self._found: list[
            tuple[float, float, Floats]
        ] = []  # value, proven gap, w: points known so far
        self.solver = ""
        self._shown = 0.0
        self._earlier = 0  # passes of solvers that have handed on their point
        self._before = 0.0  # seconds of the runs that this one continues
        self._told = self._begun = False
        self.watch: Callable[[int, float, float], str | None] | None = None
        self.certifies = True  # whether the run ends with a look at F, and a certificate
        self.handed: list[str] = []  # which solver handed its point to which, and why

    @property
    def seconds(self) -> float:
        """Since the report was made, and those of the runs that this one continues."""
        return self._before + time.perf_counter() - self.began

    @property
    def compiled(self) -> float:
        """Seconds of this run in which kernels were compiled: they do not count."""
        return compiling.seconds() - self._ready

    @property
    def spent(self) -> float:
        """Seconds of ``time_limit`` that are used up; it counts from this run's start."""
        return self._clock() - self._start

    @property
    def left(self) -> float | None:
        """Seconds of ``time_limit`` that are left for steps; None without a limit."""
        if self.time_limit is None:
            return None
        return max(self.time_limit - self.reserve - self.spent, 0.0)

    def out_of_time(self) -> bool:
        """For loops inside a pass: whether ``time_limit`` is spent, but for what the end needs."""
        return self.time_limit is not None and self.spent + self.reserve >= self.time_limit

    def run(self, solve: Callable[[], Solution], objective: Objective, start: Floats) -> Solution:
        """``solve()``; where the limit cuts it, the best point that it has told."""
        if self.time_limit is None:
            return solve()
        end = self.time_limit + GRACE
        try:
            with within(lambda: end - self.spent):
                return solve()
        except OutOfTime:
            return self._cut(objective, start)

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
        return self(
            objective,
            point.w,
            point.value,
            point.gap,
            state=state,
            proven=point.proven,
            looks=True,
        )

    def __call__(
        self,
        objective: Objective,
        w: Floats,
        value: float,
        gap: float,
        passes: int = 1,
        state: Callable[[], Values] | None = None,
        proven: bool = True,
        looks: bool = False,
    ) -> bool:
        """Take note of a pass (or of several, where looking costs as much as moving); True means stop.

        ``proven`` says whether the gap is a bound, and not only an estimate. ``looks``: the solver looks
        before it moves. Its look at the start is the first pass, but not where ``max_iter`` allows a single
        one: that one shall move, so that runs of one pass each get on.
        """
        self.w = w
        self._found[-1:] = [(value, gap if proven else math.inf, w)]
        first, self._begun = not (self._begun or self._told), True
        if looks and first and self.max_iter == 1 and not self.out_of_time():
            return False
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
            self._stop_in_time()
        elif self.passes >= self.max_iter:
            self._stop("max_iter", f"max_iter of {self.max_iter} passes reached")
        return bool(self.status)

    def found_without_value(self, w: Floats) -> None:
        """Take note of the weights of a pass that is cut: better than any before it."""
        self.w, self._found = w, []

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
        self._found += self._found[-1:]  # the first point of the other solver may be worse

    def _tell(
        self,
        objective: Objective,
        w: Floats,
        value: float,
        gap: float,
        state: Callable[[], Values] | None,
    ) -> bool:
        """Every callback is told, even after one has asked to stop."""
        if not self.callbacks and not self.verbose:
            return False
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

    def _stop_in_time(self) -> None:
        self._stop("time_limit", f"time_limit of {self.time_limit:g} s reached")

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
        return self._outcome(objective, point.w, point.value, gap, solver, state)

    def _cut(self, objective: Objective, start: Floats) -> Solution:
        """The outcome of a run that was cut, from what it has told; without any other pass if possible."""
        online = objective.problem.loss.online
        if self.status in ("", "handed_on", "stalled"):
            self._stop_in_time()
        if online:
            rows = float(sum(len(shard) for shard in objective.shards))
            return self.online(start if self.w is None else self.w, self.solver, rows)
        known = [found for found in self._found if found[0] <= objective.zero]
        if known:
            value, gap, w = min(known, key=lambda found: found[0])
        elif not self._found and (self.w is not None or self._started(objective, start)):
            point = objective.at(start if self.w is None else self.w)
            value, gap, w = point.value, math.inf, point.w
        else:  # nothing is known but what zero weights are worth
            value, gap, w = objective.zero, math.inf, np.zeros(objective.size, objective.dtype)
        if objective.penalised and math.isfinite(objective.lower):
            gap = min(gap, max(value - objective.lower, 0.0))
        return self._outcome(objective, w, value, gap, self.solver, None)

    @staticmethod
    def _started(objective: Objective, start: Floats) -> bool:
        """Whether a run began with weights that are worth a pass: more than intercepts."""
        begun = start.copy()
        begun[objective.problem.layout.free] = 0.0
        return bool(begun.any())

    def _outcome(
        self, objective: Objective, w: Floats, value: float, gap: float, solver: str, state: Any
    ) -> Solution:
        relative = gap / objective.zero if objective.zero else 0.0
        quality = (
            f"the objective is at most {relative:.1e} (relative to w = 0) above its minimum"
            if math.isfinite(relative)
            else "there is no certificate"
            if objective.penalised
            else "without a penalty there is no certificate"
        )
        who = "; ".join([*self.handed, solver or "auto"])
        reason = f"{self.message}; " if self.message else f"tol = {self.tol:g} met: "
        ready = self.compiled
        compiled = f" Compiling kernels took {ready:.1f} s." if ready >= NOTICED else ""
        self._show(None)
        return Solution(
            w=w,
            objective=value,
            gap=gap,
            relative_gap=relative,
            status=self.status,
            message=f"{who}: {reason}{quality}.{compiled}",
            solver=solver,
            passes=self.passes,
            seconds=self.seconds,
            history=self.history,
            state=state,
        )

    def online(self, w: Floats, solver: str, value: float = math.inf) -> Solution:
        """The outcome of a learner that minimises nothing: no gap, and the last value of its history.

        ``value`` is what no history has: rows that may all be answered wrong.
        """
        self._show(None)
        return Solution(
            w=w,
            objective=self.history[-1][1] if self.history else value,
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
