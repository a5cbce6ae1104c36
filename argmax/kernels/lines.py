"""A text cut into lines and fields in one walk over its bytes.

data     (bytes,)     the text; lines end with a newline, the last one perhaps without
begins   (lines,)     the first byte of each line
first    (lines + 1,) the first field of each line
starts, stops (fields,)  the bytes of each field
"""

import numpy as np

from .compile import kernel
from .simd import get, put

__all__ = ["between_blanks", "count_lines"]

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32


@kernel
def _is_blank(byte):
    return (byte <= SPACE) & (
        (byte == SPACE) | (byte == TAB) | (byte == NEWLINE) | (byte == RETURN)
    )


@kernel
def count_lines(data):
    """How many lines there are, and how many fields between blanks."""
    lines, fields, inside = 0, 0, False
    for t in range(len(data)):
        byte = get(data, t)
        solid = not _is_blank(byte)
        fields += solid & (not inside)
        lines += byte == NEWLINE
        inside = solid
    return lines + (len(data) > 0 and data[len(data) - 1] != NEWLINE), fields


@kernel
def between_blanks(data, lines, fields):
    """Returned begins, first, starts and stops of fields between runs of spaces and tabs.

    Given how many lines and fields there are; and no more than 2³¹ bytes.
    """
    begins, first = np.empty(lines, np.int64), np.empty(lines + 1, np.int64)
    starts, stops = np.empty(fields + 1, np.int32), np.empty(fields + 1, np.int32)
    line, field, inside = 0, 0, False
    begins[:1], first[0] = 0, 0
    for t in range(len(data)):
        byte = get(data, t)
        if _is_blank(byte):
            put(stops, field, t)
            field += inside
            inside = False
            if byte == NEWLINE:
                line += 1
                put(first, line, field)
                if line < lines:
                    put(begins, line, t + 1)
        elif not inside:
            put(starts, field, t)
            inside = True
    if inside:
        stops[field] = len(data)
    first[lines] = fields
    return begins, first, starts[:fields], stops[:fields]
