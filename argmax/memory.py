"""Memory that was freed, given back to the system."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["give_back"]

WORTH = 2**22
"""Bytes from which on it is worth a walk through the heap."""


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
