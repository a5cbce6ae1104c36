"""What travels to a worker, and what runs there.

Remote    a shard as the driver knows it: its size, and how to have it loaded
Parcel    the arguments of one pass, with the long vectors taken out so that each is sent once
work      one task on one shard, on the worker
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..errors import BadFile, Unsupported
from ..records import aligned
from .base import Sums, Task, add_up
from .machine import Machine, difference, machine
from .shards import Shard
from .stored import Stored
from .threads import Threads

__all__ = ["Parcel", "Remote", "load", "look", "summed", "work"]

LONG = 2**14
"""Bytes of an array from which on it is sent on its own, once for all shards."""


@final
class Remote:
    """A shard that lies on some worker, in what a driver needs of a ``Shard``.

    ``make(workers, attempt)`` has it loaded and returns its future; a shard that is lost is asked for
    again. ``where`` names it for people.

    >>> import numpy as np
    >>> from argmax.engines.remote import Remote
    >>> shard = Remote(lambda workers, attempt: attempt, 5, 100, False, np.dtype(float))
    >>> first = shard.future(None)
    >>> shard.lose()
    >>> len(shard), first, shard.future(None)
    (5, 0, 1)
    """

    on_disk = False

    def __init__(
        self,
        make: Callable[[list[str] | None, int], Any],
        length: int,
        work: int,
        sparse: bool,
        dtype: np.dtype[Any],
    ) -> None:
        self._make, self._length = make, length
        self.work, self.sparse, self.dtype = work, sparse, dtype
        self.where = ""
        self._future: Any = None
        self._attempt = 0

    def __len__(self) -> int:
        return self._length

    def future(self, workers: list[str] | None) -> Any:
        """The future of the loaded shard; if there is none, it is asked for on ``workers`` (None: any)."""
        if self._future is None:
            self._future = self._make(workers, self._attempt)
        return self._future

    @property
    def made(self) -> bool:
        """Whether it has been asked for, and not been lost since."""
        return self._future is not None

    def lose(self) -> None:
        """It has to be loaded again."""
        self._future, self._attempt = None, self._attempt + 1

    def drop(self, name: str, stamp: Any) -> None:
        """What the worker keeps under a name stays until the next of that name takes its place."""


@final
@dataclass(frozen=True)
class Parcel:
    """A task and its arguments in pickled form; ``vectors`` are the long arrays in it, by their digest.

    >>> import numpy as np
    >>> from argmax.engines.remote import Parcel
    >>> w = np.zeros(10_000)
    >>> parcel = Parcel.pack((w, "small", w))
    >>> len(parcel.vectors), len(parcel.content) < 1000
    (1, True)
    >>> first, word, second = parcel.unpack([w])
    >>> first is w and second is w
    True
    """

    content: bytes
    vectors: dict[str, Any]

    @classmethod
    def pack(cls, values: Any) -> Parcel:
        buffer = io.BytesIO()
        pickler = _Pickler(buffer, pickle.HIGHEST_PROTOCOL)
        pickler.dump(values)
        return cls(buffer.getvalue(), pickler.vectors)

    def unpack(self, vectors: list[Any]) -> Any:
        """The values, given the long arrays in the order of ``vectors``."""
        return opened(self.content, dict(zip(self.vectors, vectors, strict=True)))


class _Pickler(pickle.Pickler):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.vectors: dict[str, Any] = {}

    def persistent_id(self, value: Any) -> str | None:
        if not isinstance(value, np.ndarray) or value.nbytes < LONG:
            return None
        plain = np.ascontiguousarray(value)
        digest = hashlib.blake2b(plain.data.cast("B"), digest_size=16)
        digest.update(f"{value.dtype} {value.shape}".encode())
        self.vectors[digest.hexdigest()] = value
        return digest.hexdigest()


class _Unpickler(pickle.Unpickler):
    vectors: dict[str, Any]

    def persistent_load(self, name: Any) -> Any:
        return aligned(self.vectors[name])


def opened(content: bytes, vectors: dict[str, Any]) -> Any:
    """What ``Parcel.pack`` took."""
    unpickler = _Unpickler(io.BytesIO(content))
    unpickler.vectors = vectors
    return unpickler.load()


# On the worker


def look() -> Machine:
    """What this worker is."""
    return machine()


def load(shard: Shard) -> Shard:
    """The shard with its rows in this worker's memory."""
    if shard.reading is not None and shard.reading.origin is not None:
        folder, digest = shard.reading.origin
        if Stored(folder).digest != digest:  # not ``open``, which may read all of it
            raise BadFile("a worker sees another set there than the driver.", path=folder)
    return shard.loaded()


def work(
    shard: Shard,
    content: bytes,
    names: list[str],
    vectors: list[Any],
    like: Machine | None,
    threads: int,
) -> Sums:
    """A task on one shard. ``like`` is what every worker must be; None: whatever it is."""
    if like is not None and (found := difference(like, machine())):
        raise Unsupported(
            f"a worker joined that differs from the others: {found}. The bits would depend on who "
            "answers. Make the workers equal, or pass mixed=True."
        )
    task: Task
    task, arguments = opened(content, dict(zip(names, vectors, strict=True)))
    crew = Threads(threads)
    # A task that was given up as late may still run when the next one comes: one at a time.
    with shard.lock, crew.open():
        try:
            return task(shard, crew, *arguments)
        except BaseException:
            shard.slots.clear()  # half filled, perhaps
            raise


def summed(*parts: Sums) -> Sums:
    """Σ of some sums, which stay as they are: they belong to the cluster."""
    return add_up(map(copied, parts))


def copied(part: Sums) -> Sums:
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in part.items()
    }
