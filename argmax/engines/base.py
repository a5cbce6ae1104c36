"""What an engine must be able to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..records import Ints
from . import limits
from .examples import Examples
from .shards import Shard

__all__ = ["BRANCHES", "Crew", "Engine", "Room", "Sums", "Task", "add_up", "one_by_one"]

Sums = dict[str, Any]


class Room(Protocol):
    """Where threads stay that wait for more of the same work."""

    errors: list[BaseException]
    """Of those inside, whichever call they came with: the next pass may be the one they fail in."""

    @property
    def inside(self) -> int:
        """How many there are."""
        ...


class Crew(Protocol):
    """Threads working side by side on the pieces of one shard."""

    n: int
    """How many threads there are."""

    bell: Ints
    """Rings, by counting one up, when those who stay in some room are to come out."""

    following: Sequence[Shard]
    """Shards at hand for which this crew will be given the same task next."""

    def run(self, piece: Callable[[int], Any], count: int) -> list[Any]:
        """[piece(0), …, piece(count − 1)], computed in any order, returned in this one."""
        ...

    def together(
        self,
        work: Callable[[bool], bool],
        most: int,
        room: Room | None = None,
        counts: Sequence[Ints] = (),
    ) -> None:
        """Have all threads, ``most`` at most, call ``work`` as long as it says True.

        It is a kernel inside which they take turns (``kernels.turns``). The calling thread, which alone gives
        True, is not to say False before all is done; nobody waits for the others to come back. If some have
        stayed in a ``room`` of the kernel since the last time, fewer are called. ``counts`` are the turns
        that they wait for in there: if one of them fails, the others shall not wait for what he had in hand.
        """
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

    @property
    def at_hand(self) -> int:
        """Threads of this process that can work at the same time."""
        return 1

    @abstractmethod
    def open(self) -> AbstractContextManager[Crew]:
        """Hold the workers for a whole fit instead of hiring them for every pass.

        What it yields works in this process, for chores such as checking the input.
        """

    def share(self, piece: Callable[[int], Any], count: int) -> list[Any]:
        """[piece(0), …, piece(count − 1)] in this process: arithmetic on weights, not on examples."""
        return one_by_one(piece, count)

    def together(
        self,
        work: Callable[[bool], bool],
        most: int,
        room: Room | None = None,
        counts: Sequence[Ints] = (),
    ) -> None:
        """``Crew.together`` in this process, as ``share``."""
        while work(True):
            limits.look()

    @abstractmethod
    def collect(self, X: Any, y: Any, sample_weight: Any) -> Examples | None:
        """Examples in a form that only this engine knows; None where it is not such a form."""

    @abstractmethod
    def place(self, shards: Sequence[Any]) -> list[Any]:
        """The shards where this engine can work on them."""

    @abstractmethod
    def fold(self, task: Task, shards: Sequence[Shard], *arguments: Any) -> Sums:
        """Σ over shards of ``task(shard, crew, *arguments)``."""

    @abstractmethod
    def each(self, task: Task, shards: Sequence[Shard], *arguments: Any) -> Iterator[Sums]:
        """``task(shard, crew, *arguments)`` for each shard, in order."""


def one_by_one(piece: Callable[[int], Any], count: int) -> list[Any]:
    """[piece(0), …, piece(count − 1)] in the calling thread.

    >>> from argmax.engines.base import one_by_one
    >>> one_by_one(lambda i: i + 1, 3)
    [1, 2, 3]
    """
    results = []
    for i in range(count):
        limits.look()
        results.append(piece(i))
    return results


BRANCHES = 8
"""Sums that are added one after the other before they are one part of a larger sum."""


def add_up(parts: Iterable[Sums]) -> Sums:
    """Σ of the parts in a fixed shape: eight in a row, then eight of those sums, and so on. In place.

    The shape depends on the number of parts alone, so that a cluster can add on its workers what one
    process adds as it goes, and have the same bits.

    >>> from argmax.engines.base import add_up
    >>> add_up({"value": 0.1 * i} for i in range(20))["value"]
    19.0
    """
    levels: list[tuple[Sums, int]] = []  # a sum in the making, and how many parts it has
    for part in parts:
        level, count = 0, BRANCHES
        while count == BRANCHES:  # a full sum is one part of the next level
            if level == len(levels):
                levels.append(({}, 0))
            total, count = levels[level]
            part, count = _added(total, part), count + 1
            levels[level] = (part, count) if count < BRANCHES else ({}, 0)
            level += 1
    rest: Sums = {}
    for total, _ in levels:
        rest = _added(total, rest)
    return rest


def _added(total: Sums, part: Sums) -> Sums:
    """total + part, name by name; arrays in place. {} is nothing."""
    if not total:
        return part
    for name, value in part.items():
        total[name] += value
    return total
