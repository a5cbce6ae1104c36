"""How long this process has waited for kernels: for Numba, and for what it compiles.

A kernel is compiled when it is first called, by Numba's compiler, which takes seconds that say nothing about
the work itself: time limits leave them out. While any thread compiles, the clock of ``seconds`` runs; kernels
that are compiled inside others, and threads that wait for each other's, count once.

Nothing here imports Numba: ``compile`` does, and reports it.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["listen", "preparing", "seconds"]

_lock = threading.RLock()  # of the same thread, when memory is cleared in between
_inside, _since, _before = 0, 0.0, 0.0


def seconds() -> float:
    """Seconds in which this process has loaded Numba or compiled kernels, up to now.

    >>> from argmax.kernels import compiling
    >>> before = compiling.seconds()
    >>> with compiling.preparing(), compiling.preparing():
    ...     compiling.seconds() >= before
    True
    """
    with _lock:
        return _before + (time.perf_counter() - _since if _inside else 0.0)


@contextmanager
def preparing() -> Iterator[None]:
    """What happens within is preparation of kernels."""
    _begin()
    try:
        yield
    finally:
        _end()


def _begin() -> None:
    global _inside, _since
    with _lock:
        if not _inside:
            _since = time.perf_counter()
        _inside += 1


def _end() -> None:
    global _inside, _before
    with _lock:
        if _inside == 1:
            _before += time.perf_counter() - _since
        _inside = max(_inside - 1, 0)  # what was under way when listening began ends unannounced


def _after_fork() -> None:
    """Threads that were compiling are not in the child."""
    global _lock, _inside
    _lock, _inside = threading.RLock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def listen() -> None:
    """Have Numba say when it begins and ends to compile."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            _begin()

        def on_end(self, event: Any) -> None:
            _end()

    event.register("numba:compile", Listener())
