"""Numbers in rising order. Numba has this too, in half a dozen functions that take a second to compile."""

from .compile import inner_kernel
from .simd import get, put

__all__ = ["ENDS", "sort"]

SHORT = 16  # numbers that are put in order one by one
ENDS = (
    128  # whole numbers of memory: the ends of at most 64 runs, each half as long as the one before
)


@inner_kernel
def sort(numbers, n, ends):
    """numbers[:n] rise. Given ``ends`` (ENDS,), memory for the runs that wait.

    Quicksort (Hoare 1962): the pivot is the median of the first, the middle and the last number of a run, and
    the longer part waits while the shorter is cut; what is short is put in order by insertion.
    """
    low, high, waiting = 0, n - 1, 0
    while True:
        while high - low >= SHORT:
            first, middle, last = (
                get(numbers, low),
                get(numbers, (low + high) // 2),
                get(numbers, high),
            )
            pivot = max(min(first, middle), min(max(first, middle), last))
            i, j = low, high
            while i <= j:
                while get(numbers, i) < pivot:
                    i += 1
                while get(numbers, j) > pivot:
                    j -= 1
                if i <= j:
                    left = get(numbers, i)
                    put(numbers, i, get(numbers, j))
                    put(numbers, j, left)
                    i, j = i + 1, j - 1
            if j - low > high - i:
                ends[waiting], ends[waiting + 1] = low, j
                low = i
            else:
                ends[waiting], ends[waiting + 1] = i, high
                high = j
            waiting += 2
        for at in range(low + 1, high + 1):
            number, place = get(numbers, at), at
            while place > low and get(numbers, place - 1) > number:
                put(numbers, place, get(numbers, place - 1))
                place -= 1
            put(numbers, place, number)
        if waiting == 0:
            return
        waiting -= 2
        low, high = ends[waiting], ends[waiting + 1]
