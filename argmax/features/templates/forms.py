"""What functions make of the different strings of a column, each of them computed once."""

from __future__ import annotations

from typing import final

import numpy as np

from ...records import Ints, Strings
from ..vocabulary import byte_strings, joined, taken
from .functions import Step

__all__ = ["Forms"]

FEW = 100
"""Strings below which calling a Python function on each is quicker than NumPy on all."""

Steps = tuple[Step, ...]


@final
class Forms:
    """Strings, and what chains of functions make of them.

    ASCII strings stand first: NumPy changes all of them at once, and Python the others one by one. A chain
    that begins like another, as suffixes of the lower-cased word do, goes on from there.

    >>> from argmax.features.templates.forms import Forms
    >>> from argmax.features.templates.functions import Step
    >>> from argmax.records import Strings
    >>> forms, places = Forms.of(Strings.of(["Vienna", "ÉTÉ", "I"]))
    >>> forms.strings((Step("lower"), Step("suffix", 2))).tolist()
    ['na', 'té', 'i']
    """

    def __init__(self, plain: Strings, others: list[str]) -> None:
        self._made: dict[Steps, tuple[Strings, list[str]]] = {(): (plain, others)}

    @staticmethod
    def of(strings: Strings) -> tuple[Forms, Ints | None]:
        """The forms of some strings; and where each stands now, if their order has changed."""
        if len(strings) < FEW:
            return Forms(Strings.of([]), _decoded(strings)), None
        others = _not_ascii(strings)
        if not len(others):
            return Forms(_from_zero(strings), []), None
        order = np.concatenate([np.delete(np.arange(len(strings)), others), others])
        plain = taken(strings, order[: -len(others)])
        return Forms(plain, _decoded(taken(strings, others))), np.argsort(order)

    def strings(self, steps: Steps) -> Strings:
        """The functions, first to last, of each string."""
        plain, others = self._after(steps)
        rest = joined([text.encode("utf-8") for text in others])
        if not len(plain):
            return rest
        offsets = np.concatenate([plain.offsets, plain.offsets[-1] + rest.offsets[1:]])
        return Strings(np.concatenate([plain.data, rest.data]), offsets)

    def _after(self, steps: Steps) -> tuple[Strings, list[str]]:
        if steps not in self._made:
            plain, others = self._after(steps[:-1])
            last = steps[-1]
            changed = last.of_all(plain) if len(plain) else plain
            self._made[steps] = changed, [last.of(text) for text in others]
        return self._made[steps]


def _not_ascii(strings: Strings) -> Ints:
    """Which strings are not ASCII."""
    start, stop = strings.offsets[0], strings.offsets[-1]
    foreign = start + np.flatnonzero(strings.data[start:stop] & 0x80)
    return np.unique(np.searchsorted(strings.offsets, foreign, side="right") - 1)


def _from_zero(strings: Strings) -> Strings:
    """The same strings, with nothing around them."""
    start, stop = strings.offsets[0], strings.offsets[-1]
    return Strings(strings.data[start:stop], strings.offsets - start)


def _decoded(strings: Strings) -> list[str]:
    return [value.decode("utf-8") for value in byte_strings(strings)]
