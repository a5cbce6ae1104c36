"""Time limits that act between any two pieces of work, whoever does them.

A fit with a limit runs ``within`` it. Engines ``look`` before every piece of a pass, and so do loops that no
engine runs: once the limit is over, ``OutOfTime`` ends whatever is under way, as Ctrl-C would, and the fit
answers with the best weights that it has reported. Work that cannot be cut into pieces is not begun where it
would not end in time: ``afford``.

The limit belongs to the thread of the fit and to those that help it: fits side by side have their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import final

__all__ = ["Left", "OutOfTime", "afford", "affordable", "current", "left", "look", "within"]

Left = Callable[[], float]
"""The seconds that are left; negative when they are over."""

PRODUCTS = 5e9
"""Multiply-adds a second of dense factorisations, at least: most processors do several times as many."""

_left: ContextVar[Left | None] = ContextVar("left", default=None)


@final
class OutOfTime(Exception):
    """The limit is over, or would be before the next piece of work is done. It never leaves a fit."""


def current() -> Left | None:
    """The limit of this thread, for others that help it."""
    return _left.get()


@contextmanager
def within(left: Left | None) -> Iterator[None]:
    """What happens within has so many seconds left; None sets no limit.

    >>> from argmax.engines import limits
    >>> with limits.within(lambda: -1.0):
    ...     limits.look()
    Traceback (most recent call last):
    argmax.engines.limits.OutOfTime
    """
    token = _left.set(left)
    try:
        yield
    finally:
        _left.reset(token)


def left() -> float:
    """The seconds that are left; ∞ without a limit."""
    found = _left.get()
    return math.inf if found is None else found()


def look() -> None:
    """Raise ``OutOfTime`` where the limit is over."""
    found = _left.get()
    if found is not None and found() <= 0.0:
        raise OutOfTime


def affordable(work: float) -> bool:
    """Whether so many multiply-adds in one piece would end before the limit.

    >>> from argmax.engines import limits
    >>> limits.affordable(1e15)  # there is none
    True
    """
    return work / PRODUCTS <= left()


def afford(work: float) -> None:
    """Raise ``OutOfTime`` where so many multiply-adds in one piece would end after the limit."""
    if not affordable(work):
        raise OutOfTime
