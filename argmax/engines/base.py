"""What an engine must be able to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from .shards import Shard

__all__ = ["Crew", "Engine", "Sums", "Task", "add"]

Sums = dict[str, Any]


class Crew(Protocol):
    """Threads working side by side on the pieces of one shard."""

    def run(self, piece: Callable[[int], Any], count: int) -> list[Any]:
        """[piece(0), …, piece(count − 1)], computed in any order, returned in this one."""
        ...


Task = Callable[..., Sums]


class Engine(ABC):
    """Runs a task on every shard and adds up what comes back.

    A task is a module-level function ``task(shard, crew, *arguments) -> sums``, so that it can travel
    to another process. Sums are added in the order of the shards, inside a shard in an order that
    depends on the data alone: the number of workers changes the time, never the bits.
    """

    random_access: bool
    """Whether a solver may visit single examples in any order (memory, yes; a cluster, no)."""

    @abstractmethod
    def open(self) -> AbstractContextManager[Crew]:
        """Hold the workers for a whole fit instead of hiring them for every pass.

        What it yields works in this process, for chores such as checking the input.
        """

    def share(self, piece: Callable[[int], Any], count: int) -> list[Any]:
        """[piece(0), …, piece(count − 1)] in this process: arithmetic on weights, not on examples."""
        return [piece(i) for i in range(count)]

    @abstractmethod
    def fold(self, task: Task, shards: Sequence[Shard], *arguments: Any) -> Sums:
        """Σ over shards of ``task(shard, crew, *arguments)``."""

    @abstractmethod
    def each(self, task: Task, shards: Sequence[Shard], *arguments: Any) -> Iterator[Sums]:
        """``task(shard, crew, *arguments)`` for each shard, in order."""


def add(total: Sums | None, part: Sums) -> Sums:
    """total + part, name by name; arrays in place."""
    if total is None:
        return part
    for name, value in part.items():
        total[name] += value
    return total
