"""What Python says about characters, as tables for kernels: word characters, white space, lower case."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["ASCII", "SPACE", "WORD", "classes", "fold"]

WORD, SPACE = 1, 2  # bits; kernels/text.py reads them
ASCII = 128
CODE_POINTS = 0x110000


@lru_cache(maxsize=2)
def classes(size: int = CODE_POINTS) -> NDArray[np.uint8]:
    r"""For each code point below ``size``, the bits WORD (``\w``) and SPACE (``\s``).

    Asked of Python's own regular expressions, so it is right for the Unicode version of this Python.
    """
    points = np.arange(size, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    table = np.zeros(size, np.uint8)
    for bit, pattern in ((WORD, r"\w+"), (SPACE, r"\s+")):
        for run in re.finditer(pattern, points):
            table[run.start() : run.end()] |= bit
    return table


@lru_cache(maxsize=2)
def fold(lowercase: bool) -> NDArray[np.uint8]:
    """What is written for each ASCII character: its lower case, or itself."""
    characters = bytes(range(ASCII))
    return np.frombuffer(bytearray(characters.lower() if lowercase else characters), np.uint8)
