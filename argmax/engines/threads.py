"""Threads: all shards in this process, the pieces of one shard side by side on its cores."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import Any, final

import numpy as np
import threadpoolctl
from threadpoolctl import ThreadpoolController

from .. import checks
from ..records import Ints
from . import limits
from .base import Engine, Room, Sums, Task, add_up, one_by_one
from .examples import Examples
from .shards import Shard

__all__ = ["Threads", "one_blas_thread"]


@final
class Threads(Engine):
    """A pool of threads over compiled kernels that release the interpreter lock.

    ``n`` None: as many threads as this process may use cores. The pool lives as long as ``open()``
    (one fit): a pool kept across a fork would hang in the child.

    >>> from argmax.engines import Threads
    >>> Threads(2).run(lambda piece: piece**2, 4)
    [0, 1, 4, 9]
    """

    random_access = True
    following: Sequence[Shard] = ()

    def __init__(self, n: int | None = None) -> None:
        self.n = checks.threads(n)
        self._pool: _Pool | None = None
        self._cores = 1
        self.bell: Ints = np.zeros(1, np.int64)
        self._room: Room | None = None  # where some may have stayed
        self._users, self._lock = 0, threading.Lock()

    def __repr__(self) -> str:
        return f"Threads({self.n})"

    def __getstate__(self) -> dict[str, Any]:
        return {"n": self.n}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["n"])

    @property
    def at_hand(self) -> int:
        return 1 if self._pool is None else min(self.n, self._cores)

    @contextmanager
    def open(self) -> Iterator[Threads]:
        with one_blas_thread():
            # Fits that share one engine share its pool; the last one out closes it.
            with self._lock:
                if self._users == 0 and self.n > 1:
                    self._pool, self._cores = _Pool(self.n - 1), checks.cores()
                self._users += 1
            try:
                yield self
            finally:
                with self._lock:
                    self._users -= 1
                    pool, self._pool = self._pool, None if self._users == 0 else self._pool
                if self._pool is None and pool is not None:
                    self._ring(None)
                    pool.close()

    def run(self, piece: Callable[[int], Any], count: int) -> list[Any]:
        """[piece(0), …, piece(count − 1)]; the calling thread works too."""
        if self._pool is None or count == 1:
            return one_by_one(piece, count)
        if self._room is not None:
            self._ring(None)
        results: list[Any] = [None] * count
        ticket, stopped = itertools.count(), [False]  # next() is atomic

        def work() -> None:
            try:
                while not stopped[0] and (i := next(ticket)) < count:
                    limits.look()
                    results[i] = piece(i)
            finally:  # no tickets left, or an error: nobody need begin another piece
                stopped[0] = True

        left = limits.current()

        def help_out() -> None:
            with limits.within(left):
                work()

        helped = self._pool.start(work if left is None else help_out, min(self.n, count) - 1)
        try:
            work()
        finally:  # after an error or Ctrl-C the helpers finish the piece in hand, no more
            stopped[0] = True
            errors = [error for error in helped() if error is not None]
        if errors:
            raise errors[0]
        return results

    def share(self, piece: Callable[[int], Any], count: int) -> list[Any]:
        return self.run(piece, count)

    def together(
        self,
        work: Callable[[bool], bool],
        most: int,
        room: Room | None = None,
        counts: Sequence[Ints] = (),
    ) -> None:
        """``Crew.together``."""
        if self._pool is None or most == 1:
            while work(True):
                limits.look()
            return
        errors: list[BaseException] = [] if room is None else room.errors

        def help_out() -> None:
            try:
                while work(False):
                    pass
            except BaseException as error:
                errors.append(error)
                _abandon(counts)

        if room is None or room is not self._room:
            self._ring(room)
        there = 0 if room is None else room.inside
        helped = self._pool.start(help_out, min(self.n, most) - 1 - there)
        try:
            while work(True) and not errors:
                limits.look()
            if errors or _abandoned(counts):  # what somebody had in hand will never be done
                raise errors[0] if errors else MemoryError("A thread ran out of memory.")
        except BaseException:
            _abandon(counts)
            self._ring(None)
            helped()  # they still write to memory that is about to be used again
            while room is not None and room.inside:
                time.sleep(0.001)
            errors.clear()
            raise

    def _ring(self, room: Room | None) -> None:
        """Call out those who have stayed somewhere; ``room`` is where they may stay from now on."""
        self.bell[0] += 1
        self._room = room

    def collect(self, X: Any, y: Any, sample_weight: Any) -> Examples | None:
        return None

    def place(self, shards: Sequence[Any]) -> list[Any]:
        return list(shards)

    def fold(self, task: Task, shards: Sequence[Shard], *arguments: Any) -> Sums:
        if len(shards) == 1:
            sums = task(shards[0], self, *arguments)
            shards[0].rest()
            return sums
        return add_up(self.each(task, shards, *arguments))

    def each(self, task: Task, shards: Sequence[Shard], *arguments: Any) -> Iterator[Sums]:
        for i, shard in enumerate(shards):
            following = shards[i + 1 :]
            result = task(shard, _Followed(self, following) if following else self, *arguments)
            shard.rest()
            yield result


ABANDONED = 2**62
"""More than any count of ``kernels.turns`` comes to: nobody waits any longer, and nobody gets a piece."""


def _abandon(counts: Sequence[Ints]) -> None:
    for count in counts:
        count.fill(ABANDONED)


def _abandoned(counts: Sequence[Ints]) -> bool:
    """Perhaps by somebody on his way out of another room, where only memory can fail him."""
    return any(count[0] >= ABANDONED for count in counts)


@final
class _Followed:
    """The crew of an engine, for one of several shards. (Fits may share an engine, each with its own.)"""

    def __init__(self, engine: Threads, following: Sequence[Shard]) -> None:
        self.n, self.bell, self.following = engine.n, engine.bell, following
        self.run, self.together = engine.run, engine.together


@final
class _Pool:
    """Threads that wait for work. A plain queue starts sixteen of them in a fifth of the time that
    ``concurrent.futures`` takes, and a pass over the data may last no longer than that."""

    def __init__(self, n: int) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # Daemons: a process may end, by an error, with a fit in the middle.
        self._threads = [
            threading.Thread(target=self._serve, name=f"argmax-{i}", args=(i,), daemon=True)
            for i in range(n)
        ]
        self._threads[0].start()

    def _serve(self, number: int) -> None:
        # Each starts two others: one alone would take milliseconds for all, and keep everybody waiting.
        for other in self._threads[2 * number + 1 : 2 * number + 3]:
            with suppress(RuntimeError):  # the system has no more threads: fewer will do
                other.start()
        while (job := self._jobs.get()) is not None:
            job()
            del job  # while this thread waits for the next one, nothing that it held shall stay

    def start(
        self, work: Callable[[], None], times: int
    ) -> Callable[[], list[BaseException | None]]:
        """Have ``work`` done so many times; what comes back waits for the end and returns the errors."""
        ended: SimpleQueue[BaseException | None] = SimpleQueue()

        def job() -> None:
            try:
                work()
            except BaseException as error:
                ended.put(error)
            else:
                ended.put(None)

        for _ in range(times):
            self._jobs.put(job)
        return lambda: [ended.get() for _ in range(times)]

    def close(self) -> None:
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:  # each was started, if at all, by one before it
            if thread.ident is not None:
                thread.join()


# BLAS with one thread. Its own threads would compete with ours and change the order of sums. The
# setting belongs to the whole process, so fits running side by side share it: the last one out restores.

_blas = threading.Lock()
_blas_libraries: Any = None  # looking them up takes milliseconds
_blas_users = 0
_blas_limit: Any = None


def _after_fork() -> None:
    """A child starts with no fit running, whatever its parent's other threads were doing."""
    global _blas, _blas_users, _blas_limit
    _blas, _blas_users, _blas_limit = threading.Lock(), 0, None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _release_control() -> None:
    # threadpoolctl lets only the first thread that limited OpenBLAS do so again; we hold a lock instead.
    controller = getattr(threadpoolctl, "OpenBLASController", None)
    clear = getattr(controller, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within, BLAS runs on one thread, whoever else is inside or leaves meanwhile."""
    global _blas_users, _blas_limit, _blas_libraries
    with _blas:
        if _blas_libraries is None:
            _blas_libraries = ThreadpoolController()
        if _blas_users == 0:
            _release_control()
            _blas_limit = _blas_libraries.limit(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas:
            _blas_users -= 1
            if _blas_users == 0:
                _release_control()
                _blas_limit.restore_original_limits()
                _blas_limit = None
