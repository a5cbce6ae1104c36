"""Strings in the order of their bytes, which is the order of their code points: Python's."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records import Ints, Strings
from .vocabulary import byte_strings, taken

__all__ = ["ascending", "sorted_order"]


def ascending(strings: Strings) -> bool:
    """Whether every string is greater than the one before it."""
    before: bytes | None = None
    for start, stop in itertools.pairwise(strings.offsets.tolist()):
        value = strings.data[start:stop].tobytes()
        if before is not None and value <= before:
            return False
        before = value
    return True


ROUNDS = 4


def sorted_order(strings: Strings) -> Ints:
    """The permutation that sorts strings by their bytes, which is by code point.

    Eight bytes at a time as one whole number; only ties go on to the next eight, and the few that are
    still tied after four rounds are sorted by Python.

    >>> from argmax.features.sorting import sorted_order
    >>> from argmax.records import Strings
    >>> sorted_order(Strings.of(["b", "a", "", "aa"]))
    array([2, 1, 3, 0])
    """
    order = places = np.arange(len(strings))  # places: where those that are still tied stand
    groups = np.zeros(len(strings), np.int64)  # which tie each of them belongs to
    for word in range(ROUNDS):
        keys = _eight_bytes(strings, order[places], word)
        finer = np.lexsort((keys, groups)) if word else np.argsort(keys)
        order = order.copy()
        order[places] = order[places][finer]
        keys = keys[finer]
        groups = np.cumsum(_changes(groups) | _changes(keys))
        tied = np.bincount(groups)[groups] > 1
        places, groups = places[tied], groups[tied]
    left = byte_strings(taken(strings, order[places]))
    rest = sorted(range(len(left)), key=lambda t: (groups[t], left[t]))
    order[places] = order[places][rest]
    return order


def _changes(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a value differs from the one before it."""
    changes: NDArray[np.bool_] = np.diff(values, prepend=values[:1]) != 0
    return changes


def _eight_bytes(strings: Strings, which: Ints, word: int) -> NDArray[np.uint64]:
    """Bytes 8·word … 8·word + 7 of some strings, as numbers that sort like them; zeros behind the end."""
    keys = np.zeros(len(which), np.uint64)
    starts, ends = strings.offsets[which] + 8 * word, strings.offsets[which + 1]
    for t in range(8):
        inside = np.flatnonzero(starts + t < ends)
        keys[inside] |= strings.data[starts[inside] + t].astype(np.uint64) << np.uint64(56 - 8 * t)
    return keys
