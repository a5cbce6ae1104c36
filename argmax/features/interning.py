"""Columns of strings with each different string once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..records import Ints, Strings
from .vocabulary import PYTHON_COST, Tally, byte_strings, for_kernels, joined, taken, writable
from .ways import by_kernel

__all__ = ["interned", "spans"]

FEW = 1000
"""Strings below which a Python dict is quicker than making room for a large dictionary."""

CHUNK = 2**13
"""Strings taken in at a time: the dictionary has room for so many new ones, and should fit into the cache."""


def interned(strings: Strings) -> tuple[NDArray[np.int32], Strings]:
    """The number of each string, by first appearance, and the different strings; missing is −1.

    >>> from argmax.features.interning import interned
    >>> from argmax.records import Strings
    >>> numbers, different = interned(Strings.of(["to", "be", "or", "to", None]))
    >>> numbers, different.tolist()
    (array([ 0,  1,  2,  0, -1], dtype=int32), ['to', 'be', 'or'])
    """
    if strings.missing is not None:
        numbers, present = np.full(len(strings), -1, np.int32), np.flatnonzero(~strings.missing)
        numbers[present], different = interned(taken(strings, present))
        return numbers, different
    if len(strings) < FEW:
        known: dict[bytes, int] = {}
        found = [known.setdefault(value, len(known)) for value in byte_strings(strings)]
        return np.array(found, np.int32), joined(known)
    there = Strings(*for_kernels(strings))
    tally, numbers = Tally(), np.empty(len(strings), np.int32)
    for start in range(0, len(strings), CHUNK):
        chunk = slice(start, start + CHUNK)
        numbers[chunk] = tally.numbers(there[chunk])
    return numbers, tally.strings


def spans(data: NDArray[np.uint8], starts: Ints, stops: Ints) -> Strings:
    """The strings data[starts[i] : stops[i]], one behind the other.

    >>> import numpy as np
    >>> from argmax.features.interning import spans
    >>> spans(np.frombuffer(b"to be or", np.uint8), np.array([0, 6]), np.array([2, 8])).tolist()
    ['to', 'or']
    """
    if by_kernel(PYTHON_COST * len(starts)):
        from ..kernels import text

        wide = (np.asarray(bounds, np.int64) for bounds in (starts, stops))
        return Strings(*text.gathered(writable(data), *wide))
    return joined([data[a:b].tobytes() for a, b in zip(starts, stops, strict=True)])
