"""An exact dictionary of strings: grown while learning (``Tally``), then sorted and fixed (``Vocabulary``).

Both hold strings as bytes and offsets. Few are kept in a Python dict, many in a hash table (kernels/text.py);
strings are compared byte by byte either way, so two different n-grams never share a column.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import ResourceLimit
from ..records import Ints, Strings
from .ways import by_kernel

__all__ = [
    "Tally",
    "Vocabulary",
    "byte_strings",
    "for_kernels",
    "joined",
    "taken",
    "writable",
]

LIMIT = 2**31 - 2
"""Strings in one dictionary: a slot keeps 32 bits for the number, and columns are 32-bit numbers."""

PYTHON_COST = 50
"""Work of one look-up in ``compiled``'s measure: 20 000 of them take plain Python about 10 ms."""


@final
class Tally:
    """Counts of strings that are met again and again, numbered by first appearance.

    >>> from argmax.features.vocabulary import Tally
    >>> from argmax.records import Strings
    >>> tally = Tally()
    >>> tally.absorb(Strings.of(["b", "a"]), documents=[2, 1], occurrences=[2, 5])
    array([0, 1])
    >>> tally.absorb(Strings.of(["c", "b"]), documents=[1, 1], occurrences=[1, 1])
    array([2, 0])
    >>> tally.strings.tolist(), tally.documents.tolist(), tally.occurrences.tolist()
    (['b', 'a', 'c'], [3, 1, 1], [3, 5, 1])
    """

    def __init__(self) -> None:
        self._small: dict[bytes, int] | None = {}
        self._large: _Slots | None = None
        self._documents = self._occurrences = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._small or ()) if self._large is None else self._large.entries

    @property
    def strings(self) -> Strings:
        """The strings, by number."""
        return joined(self._small or {}) if self._large is None else self._large.strings

    @property
    def documents(self) -> Ints:
        """How many documents have each string."""
        return self._documents[: len(self)]

    @property
    def occurrences(self) -> Ints:
        """How often each string occurs."""
        return self._occurrences[: len(self)]

    def absorb(self, strings: Strings, documents: Any, occurrences: Any = 0) -> Ints:
        """The numbers of these different strings, new ones taken in, and their counts added."""
        numbers = self.numbers(strings)
        self._documents = _grown(self._documents, len(self))
        self._occurrences = _grown(self._occurrences, len(self))
        self._documents[numbers] += documents
        self._occurrences[numbers] += occurrences
        return numbers

    def numbers(self, strings: Strings) -> Ints:
        """The numbers of these strings, new ones taken in; nothing is counted."""
        found = self._numbers(strings)
        if len(self) > LIMIT:
            raise ResourceLimit(
                f"more than {LIMIT} different n-grams. Use hash_bits, or shorter ngrams."
            )
        return found

    def _numbers(self, strings: Strings) -> Ints:
        if self._large is None and by_kernel(PYTHON_COST * (len(self) + len(strings))):
            self._large = _Slots()
            self._large.absorb(joined(self._small or {}))
            self._small = None
        if self._large is not None:
            return self._large.absorb(strings)
        known = self._small or {}
        self._small = known
        found = [known.setdefault(value, len(known)) for value in byte_strings(strings)]
        return np.array(found, np.int64)


class _Slots:
    """A dictionary in arrays, for the kernels; every array has room to grow."""

    def __init__(self) -> None:
        self.entries = 0
        self.known = np.empty(0, np.uint8)
        self.bounds = np.zeros(1, np.int64)
        self.hashes = np.empty(0, np.uint64)
        self.slots = np.zeros(1, np.uint64)

    @property
    def strings(self) -> Strings:
        bounds = self.bounds[: self.entries + 1]
        return Strings(self.known[: bounds[-1]], bounds)

    def absorb(self, strings: Strings) -> Ints:
        from ..kernels import text

        self._make_room(len(strings), int(strings.offsets[-1] - strings.offsets[0]))
        numbers = np.empty(len(strings), np.int64)
        given = for_kernels(strings)
        held = self.known, self.bounds, self.hashes, self.slots
        self.entries = int(text.absorb(*given, *held, self.entries, numbers))
        return numbers

    def _make_room(self, strings: int, size: int) -> None:
        """Room for so many more strings of so many bytes together, whether or not they are new."""
        from ..kernels import text

        entries = self.entries + strings
        self.known = _grown(self.known, int(self.bounds[self.entries]) + size)
        self.bounds = _grown(self.bounds, entries + 1)
        self.hashes = _grown(self.hashes, entries)
        if 2 * entries > len(self.slots):
            size = table_size(entries)
            self.slots = text.rebuilt(size, self.hashes, self.entries)


@final
class Vocabulary:
    """Different strings in sorted order (of code points, as Python sorts); a string's place is its column.

    >>> from argmax.features.vocabulary import Vocabulary
    >>> from argmax.records import Strings
    >>> Vocabulary(Strings.of(["ant", "bee"])).find(Strings.of(["bee", "cow"]))
    array([ 1, -1])
    """

    def __init__(self, strings: Strings) -> None:
        self.strings = strings
        self._small: dict[bytes, int] | None = None
        self._large: tuple[NDArray[Any], ...] | None = None  # bytes, offsets, slots

    def __len__(self) -> int:
        return len(self.strings)

    def __getstate__(self) -> Strings:
        return self.strings  # the ways to look up are made again where they are needed

    def __setstate__(self, strings: Strings) -> None:
        self.__init__(strings)

    def texts(self) -> list[str]:
        """The strings, as Python's."""
        return [value.decode("utf-8") for value in byte_strings(self.strings)]

    def find(self, strings: Strings) -> Ints:
        """(n,) the column of each string, or −1."""
        if self._large is not None or by_kernel(PYTHON_COST * len(strings)):
            return self._find_compiled(strings)
        if self._small is None:
            self._small = {value: i for i, value in enumerate(byte_strings(self.strings))}
        known = self._small
        return np.array([known.get(value, -1) for value in byte_strings(strings)], np.int64)

    def _find_compiled(self, strings: Strings) -> Ints:
        from ..kernels import text

        if self._large is None:
            held = for_kernels(self.strings)
            self._large = (*held, text.index(*held, table_size(len(self))))
        numbers = np.empty(len(strings), np.int64)
        text.find(*for_kernels(strings), *self._large, numbers)
        return numbers


def table_size(entries: int) -> int:
    """Slots of a table that stays half empty until twice as many entries have come."""
    return 1 << max(12, (4 * entries - 1).bit_length())


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array, or a copy with zeros behind: at least twice as long, so that growing is cheap."""
    if size <= len(array):
        return array
    size = max(size, 2 * len(array))
    checks.memory(
        size * array.itemsize,
        "the dictionary of n-grams",
        "Use hash_bits, or shorter ngrams.",
    )
    longer = np.zeros(size, array.dtype)
    longer[: len(array)] = array
    return longer


def byte_strings(strings: Strings) -> list[bytes]:
    """The strings, as bytes of Python."""
    low, high = strings.offsets[0], strings.offsets[-1]
    raw, offsets = strings.data[low:high].tobytes(), (strings.offsets - low).tolist()
    return [raw[a:b] for a, b in itertools.pairwise(offsets)]


def joined(values: Collection[bytes]) -> Strings:
    """Byte strings, one behind the other."""
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum([len(value) for value in values], out=offsets[1:])
    return Strings(np.frombuffer(b"".join(values), np.uint8), offsets)


def writable(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Kernels are compiled for arrays that can be written: one kind, not two."""
    return data if data.flags.writeable else data.copy()


def for_kernels(strings: Strings) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of these strings alone, though they may be a view of many, and their offsets there."""
    low, high = strings.offsets[0], strings.offsets[-1]
    return writable(strings.data[low:high]), np.subtract(strings.offsets, low, dtype=np.int64)


def taken(strings: Strings, which: Ints) -> Strings:
    """Some of the strings, in the order of ``which``.

    >>> from argmax.features.vocabulary import taken
    >>> from argmax.records import Strings
    >>> taken(Strings.of(["a", "bc", "d"]), [2, 1]).tolist()
    ['d', 'bc']
    """
    starts, stops = strings.offsets[which], strings.offsets[np.add(which, 1)]
    if by_kernel(PYTHON_COST * len(starts)):
        from ..kernels import text

        low, high = strings.offsets[0], strings.offsets[-1]
        data = writable(strings.data[low:high])
        wide = (np.subtract(bounds, low, dtype=np.int64) for bounds in (starts, stops))
        return Strings(*text.gathered(data, *wide))
    values = [strings.data[a:b].tobytes() for a, b in zip(starts, stops, strict=True)]
    return joined(values)
