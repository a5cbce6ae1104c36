"""Tasks side by side, results in order: a pool made for the call, as kernels release the lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import joblib

from .. import checks

__all__ = ["in_order", "thread_count"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(n_threads: int | None) -> int:
    """``n_threads``, or as many as this process may use cores."""
    return (
        joblib.cpu_count() if n_threads is None else checks.positive_integer("n_threads", n_threads)
    )


def in_order(
    task: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """task(item) for each item, in order, with at most two tasks a thread begun ahead of the reader."""
    if threads == 1:
        yield from map(task, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="argmax") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(task, item))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # an error, Ctrl-C, or a reader who left: what has not begun never will
            for future in waiting:
                future.cancel()
