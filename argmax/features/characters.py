"""What Python says about characters, as tables for kernels: word characters, white space, lower case."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["ASCII", "SPACE", "UNRULY", "WORD", "classes", "itself", "lower"]

WORD, SPACE = 1, 2  # bits; kernels/text.py reads them
ASCII = 128
CODE_POINTS = 0x110000

UNRULY = "\u03a3\u0130"
"""Σ, which becomes σ or ς depending on its neighbours, and İ, which becomes two characters: all other lower
cases are one character for one (a test asks Python about each)."""


@lru_cache(maxsize=2)
def classes(size: int = CODE_POINTS) -> NDArray[np.uint8]:
    r"""For each code point below ``size``, the bits WORD (``\w``) and SPACE (``\s``).

    Asked of Python's own regular expressions, so it is right for the Unicode version of this Python.
    """
    points = _points(size)
    table = np.zeros(size, np.uint8)
    for bit, pattern in ((WORD, r"\w+"), (SPACE, r"\s+")):
        for run in re.finditer(pattern, points):
            table[run.start() : run.end()] |= bit
    return table


@lru_cache(maxsize=2)
def lower(size: int = CODE_POINTS) -> NDArray[np.int32]:
    """The lower case of each code point below ``size``; UNRULY ones stay as they are."""
    points = _points(size)
    for character in UNRULY:
        points = points.replace(character, " ")
    changed = points.lower().encode("utf-32-le", "surrogatepass")
    table = np.frombuffer(bytearray(changed), "<i4").astype(np.int32)
    unruly = np.array([ord(character) for character in UNRULY if ord(character) < size], np.int32)
    table[unruly] = unruly
    return table


@lru_cache(maxsize=2)
def itself(size: int = CODE_POINTS) -> NDArray[np.int32]:
    """Each code point below ``size``: text is left as it is."""
    return np.arange(size, dtype=np.int32)


def _points(size: int) -> str:
    return np.arange(size, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
