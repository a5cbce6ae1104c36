"""Sums over parts of the data whose shape depends on their number alone, by threads inside one kernel.

Each part sums into a table of its own. Parts are added in pairs, pairs in pairs of pairs, and so on: part 5
to part 4, then 6 and 7 to those, … Of two that are to be added, whoever is ready second does it, at once; the
table of the second is then free for another part. So there are hardly more tables in use than threads.

    tables (T, size)   one row for each table
    book (5, …)        whole numbers, in rows: TURNS (``turns``), and

        LOCK           guards what follows
        FREE           how many tables are free, and which
        PLACES         the table of each part
        MET            for the second of two: how many of them are ready

``passes.sums.Tables`` is the same for parts that are not kernels.
"""

from .compile import inner_kernel, kernel
from .turns import again, arrive, enter, leave

__all__ = ["FREE", "LOCK", "MET", "PLACES", "ROWS", "TURNS", "begin", "give", "take"]

TURNS, LOCK, FREE, PLACES, MET = range(5)
ROWS = 5


@kernel
def begin(tables, book):
    """All parts are to be summed anew, in so many tables; the first are used first, so few are touched."""
    free, met = book[FREE], book[MET]
    free[0], met[:] = tables, 0
    for table in range(tables):
        free[1 + table] = tables - 1 - table
    again(book[TURNS])


@inner_kernel
def take(part, places, free, lock):
    """A table for a part, with whatever was left there."""
    enter(lock)
    free[0] -= 1
    table = free[1 + free[0]]
    leave(lock)
    places[part] = table
    return table


@inner_kernel
def give(part, parts, tables, values, places, met, free, lock):
    """A part is ready: its table, and its entry in values (T,). In the end all is in those of part 0."""
    width, size = 1, tables.shape[1]
    while width < parts:
        first = part - part % (2 * width)
        second = first + width
        if second < parts:
            if arrive(met, second) == 0:
                return
            mine, other = places[first], places[second]
            for j in range(size):
                tables[mine, j] += tables[other, j]
            values[first] += values[second]
            enter(lock)
            free[1 + free[0]] = other
            free[0] += 1
            leave(lock)
        part, width = first, 2 * width
