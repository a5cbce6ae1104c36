"""Features of tokens in the forms in which people have them, as one stack."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import checks
from ..errors import ArgmaxError, InvalidInput, WrongType
from ..records import Csr, Floats, Ints, Rows, Strings, Structures
from .intake import sparse
from .interning import interned
from .tokens import as_offsets, packed, per_sequence

__all__ = ["Named", "Stack"]


@final
@dataclass(frozen=True, slots=True)
class Named:
    """Features with names: entry e of token rows[e] is the string numbers[e], with a value."""

    tokens: int
    row: Ints
    numbers: NDArray[np.int32]
    values: Floats
    different: Strings

    def rows(self, columns: Ints, known: NDArray[np.bool_], width: int) -> Csr:
        """Sparse rows, given the column of each entry; features of one column are added up."""
        entries = self.values[known], (self.row[known], columns[known])
        found = sp.coo_array(entries, shape=(self.tokens, width)).tocsr()
        found.eliminate_zeros()
        rows = checks.compressed(found)
        ones = rows.values is not None and bool(np.all(rows.values == 1.0))
        return Csr(rows.indptr, rows.indices, None if ones else rows.values, width)


@final
@dataclass(frozen=True, slots=True)
class Stack:
    """The tokens of all sequences; ``rows`` is None if there is not a single one."""

    rows: Rows | Named | None
    offsets: Ints

    @property
    def form(self) -> str:
        if isinstance(self.rows, Named):
            return "named"
        return "sparse" if isinstance(self.rows, Csr) else "dense"

    @staticmethod
    def of(sequences: Any, lengths: Any) -> Stack:
        if isinstance(sequences, Structures):
            offsets = sequences.offsets
            sequences = sequences.rows
            lengths = np.ones(len(sequences), int) if offsets is None else np.diff(offsets)
        if isinstance(sequences, Csr):
            sequences = sparse(sequences)
        if sp.issparse(sequences) or (isinstance(sequences, np.ndarray) and sequences.ndim == 2):
            rows = _checked(sequences)
            if lengths is None:
                raise InvalidInput(
                    "a matrix of tokens needs lengths: how many rows each sequence has."
                )
            return Stack(rows, as_offsets(lengths, len(rows), "the matrix has"))
        if lengths is not None:
            raise InvalidInput("lengths goes with one matrix; a list of sequences has its own.")
        return _listed(sequences)


def _checked(matrix: Any) -> Rows:
    rows = checks.block(matrix)
    checks.finite(rows)
    return rows


def _listed(sequences: Any) -> Stack:
    listed: Any = sequences if isinstance(sequences, str | bytes) else list(sequences)
    some: list[Any] = [
        s for s in listed if sp.issparse(s) or (isinstance(s, np.ndarray) and s.ndim == 2)
    ]
    if some and len(some) < len(listed):
        at = next(i for i, s in enumerate(listed) if not any(s is other for other in some))
        raise WrongType(
            f"sequences[{at}] must be a matrix with one row a token, as sequences[0] is."
        )
    if some:
        for at, matrix in enumerate(some):  # before they are put together
            checks.sparse_structure(matrix, f"sequences[{at}]")
        widths = {s.shape[1] for s in some}
        if len(widths) > 1:
            raise InvalidInput(f"sequences have rows of different lengths: {sorted(widths)[:5]}.")
        stacked = sp.vstack(some) if any(map(sp.issparse, some)) else np.concatenate(some)
        return Stack(_checked(stacked), as_offsets([s.shape[0] for s in some], stacked.shape[0]))
    flat, offsets = per_sequence(listed)
    return Stack(_named(flat, offsets) if flat else None, offsets)


def _named(flat: list[Any], offsets: Ints) -> Named:
    names, values, sizes = list[str](), list[float](), list[int]()
    for at, token in enumerate(flat):
        try:
            for name, value in _features(token):
                names.append(name)
                values.append(value)
        except (ArgmaxError, TypeError) as error:
            i = int(np.searchsorted(offsets, at, side="right")) - 1
            raise InvalidInput(f"sequence {i}, token {at - int(offsets[i])}: {error}") from error
        sizes.append(len(names))
    row = np.repeat(np.arange(len(flat)), np.diff(sizes, prepend=0))
    entries, different = interned(packed(names, "features", np.array([0, len(names)])))
    return Named(len(flat), row, entries, np.array(values, np.float64), different)


def _features(token: Any, prefix: str = "") -> Iterator[tuple[str, float]]:
    """(name, value) of each feature of a token."""
    if isinstance(token, Mapping):
        for key, value in token.items():
            yield from _of_key(f"{prefix}{key}", value)
        return
    if isinstance(token, str) or not isinstance(token, Iterable):
        raise WrongType(f"features must be a dict or a list of strings; got {token!r:.60}.")
    for name in token:
        if not isinstance(name, str):
            raise WrongType(f"a feature must be a string; got {name!r:.60}.")
        yield prefix + name, 1.0


def _of_key(key: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, str):
        yield f"{key}:{value}", 1.0
    elif isinstance(value, numbers.Real | np.bool_):
        if not np.isfinite(float(value)):
            raise InvalidInput(f"feature {key!r} has the value {value}. Values must be finite.")
        yield key, float(value)
    else:
        yield from _features(value, f"{key}:")
