"""Sums of what threads bring, in an order that does not depend on them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, final

__all__ = ["InOrder"]


@final
class InOrder:
    """Hands on what parts bring, part 0 first, each as soon as those before it have come.

    Nobody waits: whoever finds somebody else handing on leaves his own to him.

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
        self._waiting: dict[int, Any] = {}
        self._next, self._busy = 0, False

    def give(self, part: int, what: Any) -> None:
        """What a part brings."""
        with self._lock:
            self._waiting[part] = what
            if self._busy:
                return
            self._busy = True
        while True:
            with self._lock:
                if self._next not in self._waiting:
                    self._busy = False
                    return
                what = self._waiting.pop(self._next)
                self._next += 1
            self._add(what)
