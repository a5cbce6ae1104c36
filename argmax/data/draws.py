"""Random choices that are the same everywhere and always, for data that the library writes itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, final

import numpy as np

__all__ = ["Draws"]

_T = TypeVar("_T")


@final
class Draws:
    """Random choices from the raw output of PCG64, which never changes between platforms or versions.

    >>> from argmax.data.draws import Draws
    >>> draw = Draws(0)
    >>> [draw.pick("abc") for _ in range(8)]
    ['c', 'b', 'c', 'c', 'a', 'b', 'a', 'b']
    """

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def below(self, bound: int) -> int:
        """A whole number from 0 to bound − 1."""
        return int(self._bits.random_raw()) % bound

    def percent(self, chance: int) -> bool:
        """True in so many cases of a hundred."""
        return self.below(100) < chance

    def pick(self, choices: Sequence[_T]) -> _T:
        """One of them."""
        return choices[self.below(len(choices))]
