"""An exact dictionary of tuples of whole numbers, beside that of strings in ``vocabulary``."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ..ways import by_kernel

__all__ = ["ABSENT", "UNKNOWN", "Codes", "Tuples"]

Codes = NDArray[np.int32]

UNKNOWN, ABSENT = -1, -2
"""Not in the dictionary; and nothing there to look for. kernels/templates.py reads them."""

PYTHON_COST = 100
"""Work of one tuple in ``compiled``'s measure: 10 000 of them take plain Python a few milliseconds."""


@final
class Tuples:
    """Different tuples, numbered.

    >>> import numpy as np
    >>> from argmax.features.templates.tuples import Tuples
    >>> keys = np.array([[3, 1], [0, 2], [3, 1], [-2, 1]], np.int32)
    >>> numbers, known = Tuples.numbered(keys)
    >>> numbers, known.keys.tolist()
    (array([ 0,  1,  0, -2], dtype=int32), [[3, 1], [0, 2]])
    >>> known.find(np.array([[0, 2], [2, 0]], np.int32))
    array([ 1, -1], dtype=int32)
    """

    def __init__(self, keys: Codes) -> None:
        self.keys = keys  # (G, m)
        self._small: dict[tuple[int, ...], int] | None = None
        self._slots: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def __getstate__(self) -> Codes:
        return self.keys  # the ways to look up are made again where they are needed

    def __setstate__(self, keys: Codes) -> None:
        self.__init__(keys)

    @staticmethod
    def numbered(keys: Codes) -> tuple[Codes, Tuples]:
        """Rows (C, m) numbered by first appearance (C,), and their dictionary.

        A row with a negative number is not taken in: its number is the least one in it.
        """
        if by_kernel(PYTHON_COST * len(keys)):
            from ...kernels import templates

            numbers = np.empty(len(keys), np.int32)
            return numbers, Tuples(templates.learn(keys, numbers))
        known: dict[tuple[int, ...], int] = {}
        found = [
            min(key) if min(key) < 0 else known.setdefault(key, len(known))
            for key in map(tuple, keys.tolist())
        ]
        return np.array(found, np.int32), Tuples(_rows(list(known), keys.shape[1]))

    def find(self, keys: Codes) -> Codes:
        """The number of each row, or UNKNOWN; of a row with a negative number the least one in it."""
        if self._slots is not None or by_kernel(PYTHON_COST * len(keys)):
            return self._find_compiled(keys)
        if self._small is None:
            self._small = {key: i for i, key in enumerate(map(tuple, self.keys.tolist()))}
        known = self._small
        rows = map(tuple, keys.tolist())
        found = [min(key) if min(key) < 0 else known.get(key, UNKNOWN) for key in rows]
        return np.array(found, np.int32)

    def _find_compiled(self, keys: Codes) -> Codes:
        from ...kernels import templates

        if self._slots is None:
            size = 1 << max(
                6, (2 * len(self) - 1).bit_length()
            )  # half empty, and small for the cache
            self._slots = templates.index(self.keys, size)
        numbers = np.empty(len(keys), np.int32)
        templates.find(keys, self.keys, self._slots, numbers)
        return numbers


def _rows(keys: list[tuple[int, ...]], width: int) -> Codes:
    return np.array(keys, np.int32).reshape(len(keys), width)
