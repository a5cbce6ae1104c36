"""Processes of their own for the fits, so that one that hangs or dies takes nothing with it.

Peers have another process than the library: many of their fits can only be ended with it.
"""

from __future__ import annotations

import gc
import os
import signal
import time
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

from .fits import Fit, Record
from .rows import kind

__all__ = ["Worker"]

GRACE, GRACE_OF_PEERS = 10.0, 1.0
"""Seconds beyond its limit after which a fit is killed."""

LOADING, WARMING = 180.0, 900.0
"""Seconds that reading rows may take, and warming up: compilers are slow where others compute, too."""


class Worker:
    """Carries out one fit after another in a process that is started anew whenever it had to be ended."""

    def __init__(
        self, threads: int, peers: bool = False, kinds: tuple[str, ...] = ("rows",)
    ) -> None:
        self.threads, self.peers, self.kinds = threads, peers, kinds
        # A server that has the peers' packages in memory starts a process in no time.
        quick = peers and "forkserver" in get_all_start_methods()
        self._context: Any = get_context("forkserver" if quick else "spawn")
        if quick:
            self._context.set_forkserver_preload([f"{__package__}.peers"])
        self._process: Any = None
        self._pipe: Any = None

    def ask(self, fit: Fit) -> Record:
        """What came of the fit; "killed" if it did not end, "died" if the process did."""
        self._ready()
        self._pipe.send(fit)
        began, allowed = time.perf_counter(), LOADING
        while True:
            seconds = max(allowed - (time.perf_counter() - began), 0.0)
            try:
                if not self._pipe.poll(seconds):
                    self.end()
                    return Record(fit, "killed", seconds=time.perf_counter() - began)
                told = self._pipe.recv()
            except (EOFError, OSError):
                code = self.end()
                return Record(fit, "died", message=f"the process ended with code {code}")
            if isinstance(told, Record):
                return told
            if told == "start":
                grace = GRACE_OF_PEERS if self.peers else GRACE
                began, allowed = time.perf_counter(), fit.allowance + grace
            else:
                raise RuntimeError(f"{fit.name}: {told}")

    def _ready(self) -> None:
        if self._process is not None:
            return
        self._pipe, other = self._context.Pipe()
        self._process = self._context.Process(
            target=_serve,
            args=(other, self.threads, () if self.peers else self.kinds),
            daemon=True,
        )
        self._process.start()
        other.close()
        if not self._pipe.poll(WARMING):
            raise RuntimeError(f"the process that fits was not ready after {WARMING:g} s.")
        self._pipe.recv()

    def end(self) -> int | None:
        """End the process at once; its exit code."""
        if self._process is None:
            return None
        if self._process.is_alive():
            self._process.kill()
        self._process.join()
        code: int | None = self._process.exitcode
        self._pipe.close()
        self._process = self._pipe = None
        return code

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None
    ) -> None:
        self.end()


def _serve(pipe: Connection, threads: int, kinds: tuple[str, ...]) -> None:
    """The process: warms up for these kinds of rows, then answers fits until the pipe is closed."""
    from threadpoolctl import threadpool_limits

    from .fits import carry_out

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["PYTHONFAULTHANDLER"] = "1"
    with threadpool_limits(threads):
        _warm_up(threads, kinds)
        gc.freeze()  # what is there now stays, and is not looked through before every fit
        pipe.send("ready")
        while True:
            try:
                fit = pipe.recv()
            except EOFError:
                return
            try:
                answer: Any = carry_out(fit, pipe.send)
            except Exception as error:  # not of the fit: of the instrument
                answer = f"{type(error).__name__}: {error}"
            pipe.send(answer)


WARM = (
    "sklearn-iris", "sklearn-digits", "text_tfidf#0",  # below the size from which kernels are compiled, above
    "chains-numbers#1", "chains-strings#0", "chains-order2#0", "graphs-trees#0", "graphs-grids#0",
)  # fmt: skip


def _warm_up(threads: int, kinds: tuple[str, ...]) -> None:
    """Each loss once on each of these, so that few fits meet the compiler; those that do are repeated."""
    from .fits import carry_out
    from .judge import Problem
    from .plan import losses_of

    for rows in WARM:
        for loss in losses_of(rows) if kind(rows) in kinds else ():
            problem = Problem(loss, 0.01)
            carry_out(Fit(rows, problem, threads=threads, tol=1e-1, limit=60.0), _nobody)


def _nobody(told: str) -> None:
    """Nobody waits for news while the process warms up."""
