"""Columns of numbers behind the attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ...errors import InvalidInput
from ...records import Csr, Floats
from ..tokens import Tokens

__all__ = ["Vectors"]


@final
@dataclass(frozen=True, slots=True)
class Vectors:
    """Columns of vectors, and how long each is."""

    widths: dict[str, int]

    @staticmethod
    def of(names: Sequence[str] | str | None, tokens: Tokens) -> Vectors:
        """The columns of these names."""
        listed = [names] if isinstance(names, str) else list(names or ())
        return Vectors({name: _numbers(name, tokens).shape[1] for name in listed})

    @property
    def width(self) -> int:
        """The numbers of all columns together."""
        return sum(self.widths.values())

    def name(self, number: int) -> str:
        """Number j of column v is called ``v[j]``."""
        for name, width in self.widths.items():
            if number < width:
                return f"{name}[{number}]"
            number -= width
        raise IndexError(number)

    def beside(self, rows: Csr, tokens: Tokens) -> Csr:
        """The rows, each with the numbers of its token behind its attributes."""
        if not self.widths:
            return rows
        table = np.concatenate([self._table(name, tokens) for name in self.widths], axis=1)
        q, entries = table.shape[1], rows.entries + table.size
        kind = np.int32 if entries < 2**31 else np.int64
        indptr = (rows.indptr + q * np.arange(len(table) + 1, dtype=np.int64)).astype(kind)
        behind = (indptr[1:] - q)[:, None] + np.arange(q)  # where the numbers go
        indices, values = np.empty(entries, np.int32), np.ones(entries, table.dtype)
        attributes = np.ones(len(indices), np.bool_)
        attributes[behind] = False
        indices[attributes] = rows.indices
        indices[behind], values[behind] = rows.width + np.arange(q, dtype=np.int32), table
        return Csr(indptr, indices, values, rows.width + q)

    def _table(self, name: str, tokens: Tokens) -> Floats:
        found = _numbers(name, tokens)
        if found.shape[1] != self.widths[name]:
            raise InvalidInput(
                f"column '{name}' has vectors of {found.shape[1]} numbers; training had {self.widths[name]}."
            )
        return found


def _numbers(name: str, tokens: Tokens) -> Floats:
    found = tokens.columns.get(name)
    if not isinstance(found, np.ndarray) or found.ndim != 2:
        raise InvalidInput(
            f"dense names the column '{name}', which must hold a vector for each token. Pass a dict of "
            f"columns with lengths: fit({{'word': [...], '{name}': array}}, lengths=[...])."
        )
    return found
