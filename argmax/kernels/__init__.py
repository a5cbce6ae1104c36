"""All the Numba, and nothing else. Importing this package is free: no kernel, no Numba.

Every kernel has a plain NumPy twin where it is used. ``compiled(work)`` decides between them from
the size of the problem alone, so the same data always takes the same path (and gives the same bits),
and a small first fit never waits for a compiler.
"""

import os

__all__ = ["SMALL", "compiled"]

SMALL = 1_000_000
"""Multiply-adds in one pass below which NumPy is used: about 1 ms of work, against seconds of compiling."""


def compiled(work: float) -> bool:
    """Whether a problem of ``work`` multiply-adds a pass runs on compiled kernels.

    The environment variable ``ARGMAX_COMPILED`` (``always`` or ``never``) overrides the rule, for
    tests and for machines without a working compiler.
    """
    forced = os.environ.get("ARGMAX_COMPILED", "")
    if forced:
        return forced == "always"
    return work >= SMALL
