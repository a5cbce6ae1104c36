"""Rows to learn from and rows to judge by: at random, of each class alike, and decided row by row.

Whether a row is held out depends on its class, on how many rows of that class came before it, on the share
and on the seed. So a file can be split while it streams by, into the same parts as in memory; and of every
class about the same share is held out, wherever its rows are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput

__all__ = ["Draws", "HeldOut"]


@final
class Draws:
    """A place 0 … stretch − 1, drawn for each row among the ``stretch`` consecutive rows of its class.

    The first row of a class has the last place: as long as not every place is held out, no class is met for
    the first time when it is too late to learn it.

    >>> import numpy as np
    >>> from argmax.cli.splitting import Draws
    >>> codes = np.arange(1000) % 3
    >>> places = Draws(5, seed=0)(codes)
    >>> np.bincount(places)
    array([200, 198, 200, 201, 201])
    >>> again = Draws(5, seed=0)
    >>> bool(np.all(np.append(again(codes[:130]), again(codes[130:])) == places))
    True
    """

    def __init__(self, stretch: int, seed: int) -> None:
        self.stretch, self.seed = stretch, seed
        self._seen: dict[int, int] = {}  # rows of each class so far

    def __call__(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """The place of each row, given the codes of their classes."""
        places = np.zeros(len(codes), np.int64)
        order = np.argsort(codes, kind="stable")
        present, starts = np.unique(codes[order], return_index=True)
        stops = [*starts[1:], len(codes)]
        for code, start, stop in zip(present.tolist(), starts, stops, strict=False):
            rows = order[start:stop]
            first = self._seen.get(code, 0)
            self._seen[code] = first + len(rows)
            places[rows] = self._of_class(code, first, first + len(rows))
        return places

    def _of_class(self, code: int, first: int, stop: int) -> NDArray[np.int64]:
        """Rows first … stop − 1 of a class. The raw output of PCG64 never changes between versions."""
        size = self.stretch
        low, high = first // size, -(-stop // size)
        bits = np.random.PCG64(np.random.SeedSequence([self.seed, code])).advance(low * size)
        draws = bits.random_raw((high - low) * size).reshape(-1, size)
        if low == 0:
            draws[0, 0] = np.iinfo(np.uint64).max
        places = draws.argsort(axis=1, kind="stable").argsort(axis=1)
        part: NDArray[np.int64] = places.ravel()[first - low * size : stop - low * size]
        return part


@final
class HeldOut:
    """Of each row, whether it is held out, given the codes of their classes, batch by batch.

    >>> import numpy as np
    >>> from argmax.cli.splitting import HeldOut
    >>> codes = np.arange(1000) % 3
    >>> np.bincount(codes[HeldOut(0.25, seed=0)(codes)])
    array([84, 83, 83])
    """

    def __init__(self, share: float, seed: int) -> None:
        if share != 0 and not 0.001 <= share <= 0.9:
            raise InvalidInput(
                f"--test must be a file, 0, or a share from 0.001 to 0.9; got {share:g}."
            )
        part = Fraction(share).limit_denominator(1000)
        self._held, self._draws = part.numerator, Draws(part.denominator, seed)

    def __call__(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        return self._draws(codes) < self._held
