"""Text cut into lines and fields between blanks. Two ways lead to the same numbers, as everywhere here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..records import Ints
from .ways import by_kernel

__all__ = ["between_blanks", "line_begins"]

BLANKS = b" \t\n\r"


def line_begins(data: NDArray[np.uint8]) -> Ints:
    """(lines,) the first byte of each line."""
    begins = np.append(0, np.flatnonzero(data == ord("\n")) + 1)
    return begins[begins < len(data)]


def between_blanks(data: NDArray[np.uint8]) -> tuple[Ints, Ints, Ints, Ints]:
    """Where lines begin (lines,), the first field of each (lines + 1,), and starts and stops of fields.

    >>> import numpy as np
    >>> from argmax.features.fields import between_blanks
    >>> found = between_blanks(np.frombuffer(bytearray(b"to  be\\n\\nor"), np.uint8))
    >>> [numbers.tolist() for numbers in found]
    [[0, 7, 8], [0, 2, 2, 3], [0, 4, 8], [2, 6, 10]]
    """
    if len(data) < 2**31 and by_kernel(len(data)):
        from ..kernels import lines

        begins, first, starts, stops = lines.between_blanks(data, *lines.count_lines(data))
        return begins, first, starts, stops
    begins, solid = line_begins(data), np.zeros(len(data) + 2, np.bool_)
    solid[1:-1] = ~np.isin(data, list(BLANKS))
    edges = np.flatnonzero(solid[1:] != solid[:-1])
    starts, stops = edges[0::2], edges[1::2]
    return begins, np.append(np.searchsorted(starts, begins), len(starts)), starts, stops
