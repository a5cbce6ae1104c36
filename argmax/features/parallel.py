"""Tasks side by side, results in order: a pool made for the call, as kernels release the lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_order"]

Item = TypeVar("Item")
Result = TypeVar("Result")


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
