"""Arrays that lie in files: read a slice at a time, or parked there between two passes.

    OnDisk    a plain ``.npy`` file; slices are views, and only ``np.asarray`` reads
    Scratch   arrays that wait for their next pass, in memory up to a budget and beyond it in one file

Everything goes through plain reads into memory of our own, never through mappings: what a process takes is
then what it holds, whichever way its limit is counted.
"""

from __future__ import annotations

import math
import os
import stat
import tempfile
import threading
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile, ResourceLimit

__all__ = ["OnDisk", "Scratch", "plain_file"]


def plain_file(path: str | Path) -> None:
    """Refuse what is no plain file: a named pipe would be waited for without end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise BadFile("it is no plain file.", path=str(path))


@final
@dataclass(frozen=True, slots=True)
class OnDisk:
    """An array in a ``.npy`` file, or some of its rows. Slicing reads nothing; ``np.asarray`` does.

    >>> import numpy as np, tempfile
    >>> from argmax.engines.files import OnDisk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.arange(12.0).reshape(6, 2))
    ...     rows = OnDisk.open(f"{folder}/x.npy")
    ...     part = rows[1:6:2]
    ...     part.shape, np.asarray(part), int(rows[2][1])
    ((3, 2), array([[ 2.,  3.], [ 6.,  7.], [10., 11.]]), 5)
    """

    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int  # bytes before the first row of the file
    first: int = 0  # the row of the file that is row 0 here
    step: int = 1

    @classmethod
    def open(cls, path: str | Path) -> OnDisk:
        """The array of a whole file; its header is checked against its length."""
        try:
            plain_file(path)
            with open(path, "rb") as file:
                version = np.lib.format.read_magic(file)
                if version != (1, 0):
                    raise ValueError(f"version {version}")
                shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
                offset, length = file.tell(), os.fstat(file.fileno()).st_size
        except OSError as error:
            raise BadFile(f"it cannot be read: {error.strerror}.", path=str(path)) from error
        except ValueError as error:
            raise BadFile(f"not a plain array file: {error}.", path=str(path)) from error
        held = math.prod(shape) * dtype.itemsize
        if fortran or dtype.hasobject or offset + held != length:
            raise BadFile(
                f"the file has {length} bytes, but its header asks for {offset + held} in C order. "
                "Write it again.",
                path=str(path),
            )
        return cls(str(path), dtype, shape, offset)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __getitem__(self, rows: int | slice) -> Any:
        if not isinstance(rows, slice):
            i = range(len(self))[rows]
            return np.asarray(self[i : i + 1])[0]
        start, stop, step = rows.indices(len(self))
        count = len(range(start, stop, step))
        return replace(
            self,
            shape=(count, *self.shape[1:]),
            first=self.first + start * self.step,
            step=self.step * step,
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        with open(self.path, "rb", buffering=0) as file:
            array = self.read(file)
        return array if dtype is None else array.astype(dtype, copy=False)

    def read(self, file: IO[bytes]) -> NDArray[Any]:
        """These rows, from an open file."""
        row = math.prod(self.shape[1:]) * self.dtype.itemsize
        if self.step == 1:
            file.seek(self.offset + self.first * row)
            array = np.fromfile(file, self.dtype, self.size)
        else:
            # Rows far apart (a sample): each is read on its own, so that what lies between is not.
            parts = []
            for i in range(self.first, self.first + len(self) * self.step, self.step):
                file.seek(self.offset + i * row)
                parts.append(file.read(row))
            array = np.frombuffer(bytearray(b"".join(parts)), self.dtype)
        if array.size != self.size:
            raise BadFile("the file ends too early. Write it again.", path=self.path)
        return array.reshape(self.shape)


@final
class Scratch:
    """Arrays that wait for their next pass: in memory while they fit into ``budget`` bytes, then in a file.

    The file has no name and is gone with the process, however that ends. Passes visit shards in turn, so
    those that came first stay in memory: with the oldest making room, each would be gone when needed.

    >>> import numpy as np
    >>> from argmax.engines.files import Scratch
    >>> scratch = Scratch(budget=100)
    >>> small = scratch.park("a", np.ones(5))  # 40 bytes
    >>> large = scratch.park("b", np.full((3, 4), 2.0))  # 96 more
    >>> isinstance(small, np.ndarray), isinstance(large, np.ndarray)
    (True, False)
    >>> float(scratch.fetch(small).sum()), scratch.fetch(large).shape
    (5.0, (3, 4))
    """

    def __init__(self, folder: str | Path | None = None, budget: int = 2**28) -> None:
        self.folder, self.budget = folder, budget
        self._held: dict[str, int] = {}  # bytes in memory
        self._places: dict[str, tuple[int, int]] = {}  # offset and bytes in the file
        self._file: IO[bytes] | None = None
        self._end = 0
        self._lock = threading.Lock()  # one file, one position

    def park(self, key: str, array: NDArray[Any]) -> NDArray[Any] | OnDisk:
        """Take an array until it is fetched: itself if it may stay in memory, or where it went."""
        self._held.pop(key, None)
        if sum(self._held.values()) + array.nbytes <= self.budget:
            self._held[key] = array.nbytes
            return array
        place = self.blank(key, array.dtype, array.shape)
        self.fill(place, array)
        return place

    def blank(self, key: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> OnDisk:
        """A place in the file for an array; that of an earlier one of this name, if it is large enough."""
        offset, room = self._places.get(key, (0, -1))
        need = math.prod(shape) * dtype.itemsize
        if room < need:
            offset, self._end = self._end, self._end + need
            self._places[key] = offset, need
        return OnDisk(key, dtype, shape, offset)

    def fill(self, place: OnDisk, array: NDArray[Any]) -> None:
        """Write an array to its place, or to a slice of it."""
        row = math.prod(place.shape[1:]) * place.dtype.itemsize
        try:
            with self._lock:
                file = self._open()
                file.seek(place.offset + place.first * row)
                array.tofile(file)
        except OSError as error:
            raise ResourceLimit(
                f"no room for {self._end / 2**30:.2f} GiB that wait between passes in {self._where()}. "
                "Open the set with scratch= another folder, or with more memory=."
            ) from error

    def fetch(self, parked: NDArray[Any] | OnDisk) -> NDArray[Any]:
        """The array that was parked."""
        if not isinstance(parked, OnDisk):
            return parked
        with self._lock:
            return parked.read(self._open())

    def forget(self, key: str) -> None:
        """Its memory is free again; its place in the file is kept for the next of that name."""
        self._held.pop(key, None)

    def _where(self) -> str:
        return str(self.folder or tempfile.gettempdir())

    def _open(self) -> IO[bytes]:
        if self._file is None:
            try:
                file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115
            except OSError:  # a set that lies on a read-only disk
                file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
            weakref.finalize(self, file.close)
            self._file = file
        return self._file
