"""Sums of what threads bring, in an order that does not depend on them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, final

__all__ = ["InOrder"]


PATIENCE = 1.0
"""Seconds that a thread waits for an earlier part at most: whoever works on it may have failed."""


@final
class InOrder:
    """Hands on what parts bring, part 0 first, each as soon as those before it have come.

    Whoever finds somebody else handing on, or an earlier part missing, leaves his own to others. He goes on
    with another part at once if nothing else is left here, and else waits for a while: what is left takes
    memory, and so there is little more of it than there are threads.

    >>> from argmax.passes.in_order import InOrder
    >>> seen = []
    >>> adding = InOrder(seen.append)
    >>> for part, what in ((1, "b"), (0, "a"), (2, "c")):
    ...     adding.give(part, what)
    >>> seen
    ['a', 'b', 'c']
    """

    def __init__(self, add: Callable[[Any], None]) -> None:
        self._add, self._lock = add, threading.Lock()
        self._room = threading.Condition(self._lock)
        self._waiting: dict[int, Any] = {}
        self._next, self._busy = 0, False

    def give(self, part: int, what: Any) -> None:
        """What a part brings."""
        with self._lock:
            self._waiting[part] = what
            if self._busy:
                self._wait()
                return
            self._busy = True
        while True:
            with self._lock:
                if self._next not in self._waiting:
                    self._busy = False
                    self._wait()
                    return
                what = self._waiting.pop(self._next)
                self._next += 1
                self._room.notify_all()
            self._add(what)

    def _wait(self) -> None:
        self._room.wait_for(lambda: len(self._waiting) <= 1, PATIENCE)
