"""What tasks leave at a shard for the next one, stamped with the point it belongs to."""

from __future__ import annotations

import itertools
import os
import uuid
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..records import Floats
from .files import OnDisk, Scratch

__all__ = ["Slots", "Stamp"]

_PROCESS, _NUMBERS = uuid.uuid4().hex, itertools.count()


def _new_name() -> str:
    """A name that no other stamp has, in this process, its forks or another one."""
    return f"{_PROCESS}-{os.getpid()}-{next(_NUMBERS)}"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Stamp:
    """Names a point for what tasks leave behind, and says how to have it again where it is gone.

    The scores are those of w; or those of ``base``, an earlier stamp, with the intercept moved by
    ``shift``. Copies that travelled to another process are equal to the original.

    >>> import numpy as np
    >>> from argmax.engines import Stamp
    >>> here = Stamp(np.zeros(3))
    >>> there = here.moved(np.ones(1))
    >>> there.base == here, there == here, there.w is here.w
    (True, False, True)
    """

    w: Floats
    base: Stamp | None = None
    shift: Floats | None = None
    name: str = field(default_factory=_new_name)

    def moved(self, shift: Floats) -> Stamp:
        """The point that differs by a shift of the intercept alone."""
        return Stamp(self.w, self, shift)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stamp) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


@final
class Slots:
    """Arrays by name, each for one point; asked for another point, a slot is empty.

    With a ``scratch`` they wait there between two tasks, so that one shard's at a time are in memory.

    >>> import numpy as np
    >>> from argmax.engines import Stamp
    >>> from argmax.engines.files import Scratch
    >>> from argmax.engines.slots import Slots
    >>> slots, here = Slots(Scratch(budget=0)), Stamp(np.zeros(2))
    >>> slots.keep("node", here, (3,))[:] = 7.0
    >>> slots.rest()  # into a file
    >>> slots.kept("node", here), slots.kept("node", Stamp(np.zeros(2)))
    (array([7., 7., 7.]), None)
    """

    def __init__(self, scratch: Scratch | None = None) -> None:
        self._scratch, self._id = scratch, uuid.uuid4().hex
        self._held: dict[str, tuple[Any, Floats]] = {}
        self._parked: dict[str, tuple[Any, NDArray[Any] | OnDisk]] = {}

    def kept(self, name: str, stamp: Any) -> Any:
        """What a task left under this name for this point, or None."""
        parked = self._parked.get(name)
        if name not in self._held and parked is not None and parked[0] == stamp:
            assert self._scratch is not None
            self._held[name] = stamp, self._scratch.fetch(parked[1])
        found = self._held.get(name)
        return found[1] if found is not None and found[0] == stamp else None

    def keep(self, name: str, stamp: Any, shape: tuple[int, ...]) -> Any:
        """An array to fill under this name for this point; the memory of an older one is used again."""
        self._parked.pop(name, None)  # it is about to change
        found = self._held.get(name)
        array = np.empty(shape) if found is None or found[1].shape != shape else found[1]
        self._held[name] = stamp, array
        return array

    def zeros(self, name: str, shape: tuple[int, ...]) -> Any:
        """Memory of no point in particular, cleared when it is made and then as tasks leave it."""
        found = self._held.get(name)
        if found is None or found[1].shape != shape:
            found = self._held[name] = None, np.zeros(shape)
        return found[1]

    def drop(self, name: str, stamp: Any) -> None:
        """Give back the memory of what was left under this name for this point."""
        for slots in (self._held, self._parked):
            if name in slots and slots[name][0] == stamp:
                del slots[name]
                if self._scratch is not None:
                    self._scratch.forget(f"{self._id} {name}")

    def clear(self) -> None:
        self._held.clear()
        self._parked.clear()

    def rest(self) -> None:
        """The end of a task: what is worth keeping goes to the scratch, if there is one."""
        if self._scratch is None:
            return
        for name, (stamp, array) in self._held.items():
            if stamp is not None and name not in self._parked:
                self._parked[name] = stamp, self._scratch.park(f"{self._id} {name}", array)
        self._held.clear()
