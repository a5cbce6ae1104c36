"""The running account of a solver: history, limits, callbacks, and the reason it stopped."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

from ..objective import Objective, Point
from ..records import Floats, Solution

__all__ = ["Progress", "Report"]


@final
@dataclass(frozen=True, slots=True)
class Progress:
    """What a callback is told after every pass. Returning True stops the solver, keeping its weights.

    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> seen = []
    >>> model = SoftmaxRegression(callbacks=[lambda progress: seen.append(progress.objective)])
    >>> _ = model.fit(*load_iris(return_X_y=True))
    >>> seen == sorted(seen, reverse=True)  # the objective only falls
    True
    """

    passes: int
    seconds: float
    objective: float
    gap: float
    relative_gap: float
    w: Floats


Callback = Callable[[Progress], Any]


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
        self._shown = 0.0

    @property
    def seconds(self) -> float:
        """Since the report was made."""
        return time.perf_counter() - self.began

    def out_of_time(self) -> bool:
        """For loops inside a pass: whether ``time_limit`` is spent."""
        return self.time_limit is not None and self.seconds >= self.time_limit

    def __call__(
        self, objective: Objective, w: Floats, value: float, gap: float, passes: int = 1
    ) -> bool:
        """Take note of a pass (or of several, where looking costs as much as moving); True means stop."""
        self.w = w
        self.passes += passes
        self.history.append((self.seconds, value, gap))
        relative = gap / objective.zero if objective.zero else gap
        progress = Progress(self.passes, self.seconds, value, gap, relative, w)
        asked = [bool(callback(progress)) for callback in self.callbacks]
        self._show(progress)
        if any(asked):
            self._stop("stopped", "a callback asked to stop")
        elif self.out_of_time():
            self._stop("time_limit", f"time_limit of {self.time_limit:g} s reached")
        elif self.passes >= self.max_iter:
            self._stop("max_iter", f"max_iter of {self.max_iter} passes reached")
        return bool(self.status)

    def promising(self, point: Point) -> bool:
        """Whether the gap is within tol · F(0); a proof only where the point is settled."""
        if point.objective.penalised:
            return point.relative_gap <= self.tol
        return self._flat(point)

    def certified(self, point: Point) -> bool:
        """Whether F(w) is provably within tol · F(0) of the optimum."""
        return point.settled and self.promising(point)

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
        if not point.settled:
            settled = objective.settled(point.w, point.stamp)
            point = settled if settled.settled else point
        if self.certified(point) and self.status in ("", "max_iter", "stalled", "time_limit"):
            self.status, self.message = "converged", ""
        if not self.status:
            self._stop("stalled", "no step makes progress any more")
        gap = point.gap if point.settled else math.inf
        relative = point.relative_gap if point.settled else math.inf
        quality = (
            f"the objective is at most {relative:.1e} (relative to w = 0) above its minimum"
            if math.isfinite(relative)
            else "there is no certificate"
            if objective.penalised
            else "without a penalty there is no certificate"
        )
        reason = f"{self.message}; " if self.message else f"tol = {self.tol:g} met: "
        self._show(None)
        return Solution(
            w=point.w,
            objective=point.value,
            gap=gap,
            relative_gap=relative,
            status=self.status,
            message=f"{solver}: {reason}{quality}.",
            solver=solver,
            passes=self.passes,
            seconds=self.seconds,
            history=self.history,
            state=state,
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
