"""Plain Python and NumPy, or kernels: which way to go."""

from __future__ import annotations

import math
import sys

from ..kernels import compiled

__all__ = ["by_kernel"]


def by_kernel(work: float) -> bool:
    """Whether to use the kernels of text for so much work.

    Both ways give the same bits. So once the kernels are there, because some larger piece of work needed
    them, smaller pieces use them too; unless ``ARGMAX_COMPILED`` says never.
    """
    loaded = "argmax.kernels.text" in sys.modules
    return compiled(math.inf if loaded else work)
