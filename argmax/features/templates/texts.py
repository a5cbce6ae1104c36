"""The columns of some tokens with each different string once, so that a function sees it once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from ...records import Ints, Strings
from ..interning import interned
from ..tokens import Tokens
from .forms import Forms
from .language import Source
from .tuples import ABSENT, Codes

__all__ = ["Texts"]


@final
@dataclass(frozen=True, slots=True)
class Texts:
    """Columns of tokens: for each, the numbers of its strings (N,) and the different strings."""

    offsets: Ints
    columns: dict[str, tuple[Codes, Forms]]

    @staticmethod
    def of(tokens: Tokens, names: Iterable[str]) -> Texts:
        """The columns of these names."""
        offsets = (tokens.offsets - tokens.offsets[0]).astype(np.int64, copy=False)
        return Texts(offsets, {name: _formed(tokens.column(name)) for name in names})

    def different(self, source: Source) -> Strings:
        """What a source makes of each different string of its column; two of them may become one."""
        return self.columns[source.column or ""][1].strings(source.steps)

    def numbered(self, source: Source) -> tuple[Codes, Strings]:
        """The number a source gives each different string of its column, and its own different strings."""
        found = self.different(source)
        return interned(found) if source.steps else (np.arange(len(found), dtype=np.int32), found)

    def codes(self, table: Codes, source: Source, marks: int) -> Codes:
        """(N,) the code of each token in a source; ``table`` numbers the different strings of its column."""
        codes = np.full(len(table) + 1, ABSENT, np.int32)  # a missing string is −1, the last place
        codes[:-1] = np.where(table < 0, table, table + np.int32(marks))
        return codes[self.columns[source.column or ""][0]]

    def constant(self, name: str, marks: int) -> Codes:
        """(N,) the codes of ``bias``, ``first`` or ``last``."""
        codes = np.full(self.offsets[-1], marks if name == "bias" else ABSENT, np.int32)
        some = np.diff(self.offsets) > 0
        if name == "first":
            codes[self.offsets[:-1][some]] = marks
        elif name == "last":
            codes[self.offsets[1:][some] - 1] = marks
        return codes


def _formed(column: Strings) -> tuple[Codes, Forms]:
    numbers, different = interned(column)
    forms, places = Forms.of(different)
    if places is not None:
        numbers = np.where(numbers < 0, numbers, places[numbers]).astype(np.int32)
    return numbers, forms
