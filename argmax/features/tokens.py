"""Token columns of sequences: what readers of CoNLL files give and ``Templates`` takes.

a list of sequences of         becomes
strings                        one column, ``word``
tuples or lists of strings     the columns that the caller names
dicts of strings               the columns that the dicts name
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, final

import numpy as np

from .. import checks
from ..errors import InvalidInput, WrongType
from ..records import Floats, Ints, Strings
from .intake import sheet

__all__ = ["Tokens", "as_offsets", "packed", "per_sequence"]

WORD = "word"


@final
@dataclass(frozen=True, slots=True)
class Tokens:
    """n sequences with N tokens together, as columns: Strings (N,), or vectors (N, q) of numbers.

    Sequence i has the tokens offsets[i] … offsets[i + 1] − 1. ``lines`` are their lines in a file, if
    they come from one.

    >>> from argmax.features import Tokens
    >>> tokens = Tokens.of([["the", "cat"], ["so", "it", "is"]])
    >>> len(tokens), tokens.size, tokens.offsets, tokens.columns["word"][3]
    (2, 5, array([0, 2, 5]), 'it')
    >>> Tokens.of([[("the", "DT"), ("cat", "NN")]], columns=["word", "pos"]).columns["pos"].tolist()
    ['DT', 'NN']
    >>> Tokens.of({"word": ["the", "cat", "so"]}, lengths=[2, 1])[1:].columns["word"].tolist()
    ['so']
    """

    columns: dict[str, Strings | Floats]
    offsets: Ints  # (n + 1,)
    lines: Ints | None = None  # (N,)

    @classmethod
    def of(
        cls, sequences: Any, *, columns: Sequence[str] | None = None, lengths: Any = None
    ) -> Tokens:
        """From a list of sequences; or from a dict of columns, whose rows ``lengths`` cuts into sequences.

        A token is a string, a tuple or list of strings that ``columns`` names, or a dict of strings. None
        is a string that is missing: templates that need it give nothing.
        """
        if isinstance(sequences, Tokens):
            return sequences
        if isinstance(sequences, Mapping):
            return _from_columns(sequences, lengths)
        if lengths is not None:
            raise InvalidInput(
                "lengths goes with a dict of columns; a list of sequences has its own."
            )
        flat, offsets = per_sequence(sequences)
        return cls(_columns(flat, offsets, columns), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def size(self) -> int:
        """N, the number of tokens."""
        return int(self.offsets[-1] - self.offsets[0])

    @property
    def lengths(self) -> Ints:
        """How many tokens each sequence has."""
        return np.diff(self.offsets)

    def __getitem__(self, sequences: slice) -> Tokens:
        """Some consecutive sequences, as a view (offsets start again at 0)."""
        start, stop, _ = sequences.indices(len(self))
        stop = max(start, stop)
        low, high = int(self.offsets[start]), int(self.offsets[stop])
        return replace(
            self,
            columns={name: column[low:high] for name, column in self.columns.items()},
            offsets=self.offsets[start : stop + 1] - low,
            lines=None if self.lines is None else self.lines[low:high],
        )

    def take(self, which: Any) -> Tokens:
        """The sequences of these numbers, in their order; or those that are marked.

        >>> from argmax.features import Tokens
        >>> Tokens.of([["a", "b"], ["c"], ["d", "e"]]).take([2, 0]).sequences("word")
        [['d', 'e'], ['a', 'b']]
        """
        chosen = np.asarray(which)
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths)
        columns = {name: _taken(column, rows) for name, column in self.columns.items()}
        return Tokens(columns, offsets, None if self.lines is None else self.lines[rows])

    def column(self, name: str) -> Strings:
        """A column of strings; raises if there is none of that name."""
        found = self.columns.get(name)
        if isinstance(found, Strings):
            return found
        if found is not None:
            raise InvalidInput(f"column '{name}' holds vectors, where strings are needed.")
        listed = ", ".join(f"'{known}'" for known in self.columns)
        raise InvalidInput(f"the tokens have no column '{name}'; they have {listed}.")

    def sequences(self, name: str) -> list[list[str | None]]:
        """A column as Python lists, one a sequence.

        >>> from argmax.features import Tokens
        >>> Tokens.of([["the", "cat"], []]).sequences("word")
        [['the', 'cat'], []]
        """
        values, bounds = self.column(name).tolist(), (self.offsets - self.offsets[0]).tolist()
        return [values[a:b] for a, b in pairwise(bounds)]


def _taken(column: Strings | Floats, rows: Ints) -> Strings | Floats:
    from .vocabulary import taken

    if not isinstance(column, Strings):
        return column[rows]
    found = taken(column, rows)
    missing = None if column.missing is None else column.missing[rows]
    return Strings(found.data, found.offsets, missing)


def as_offsets(lengths: Any, rows: int, what: str = "the columns have") -> Ints:
    """Offsets (n + 1,) of sequences of these lengths, which share out all the rows."""
    try:
        given = np.asarray(lengths)
    except ValueError as error:
        raise InvalidInput(f"lengths must be a list of whole numbers: {error}") from error
    if given.ndim != 1 or (len(given) and given.dtype.kind not in "iu") or np.any(given < 0):
        raise InvalidInput(
            f"lengths must be a list of whole numbers, 0 or more; got {lengths!r:.80}."
        )
    offsets = np.concatenate([[0], np.cumsum(given, dtype=np.int64)]).astype(np.int64)
    if offsets[-1] != rows:
        raise InvalidInput(
            f"{what} {rows} rows but lengths add up to {offsets[-1]}. Each sequence needs one row per "
            "position."
        )
    return offsets


def per_sequence(sequences: Any) -> tuple[list[Any], Ints]:
    """The tokens of all sequences in one list, and the offsets of the sequences."""
    if isinstance(sequences, str | bytes) or not isinstance(sequences, Iterable):
        raise WrongType(f"sequences must be a list of lists of tokens; got {sequences!r:.80}.")
    listed = list(sequences)
    for i, sequence in enumerate(listed):
        if isinstance(sequence, str | bytes | Mapping) or not isinstance(sequence, Iterable):
            raise WrongType(
                f"sequences[{i}] must be a list of tokens; got {sequence!r:.80}. "
                "If this is one sequence, put it into a list; if it is text, split it into tokens."
            )
    listed = [s if isinstance(s, list | tuple) else list(s) for s in listed]
    offsets = np.zeros(len(listed) + 1, np.int64)
    np.cumsum([len(sequence) for sequence in listed], out=offsets[1:])
    return list(chain.from_iterable(listed)), offsets


def packed(values: list[Any], where: str, offsets: Ints) -> Strings:
    """Python strings as Strings; None is missing. Joined and cut again: much quicker than one by one."""
    try:
        raw = "\n".join(values).encode("utf-8")
    except (TypeError, UnicodeEncodeError):
        return _packed_slowly(values, where, offsets)
    if raw.count(b"\n") != max(len(values) - 1, 0):  # a token holds a line end itself
        return Strings.of(values)
    data = np.frombuffer(raw, np.uint8)
    ends = np.append(np.flatnonzero(data == ord("\n")), len(data))[: len(values)]
    bounds = np.zeros(len(values) + 1, np.int64)
    bounds[1:] = ends - np.arange(len(ends))
    return Strings(data[data != ord("\n")], bounds)


def _packed_slowly(values: list[Any], where: str, offsets: Ints) -> Strings:
    for at, value in enumerate(values):
        i = int(np.searchsorted(offsets, at, side="right")) - 1
        place = f"{where}, sequence {i}, token {at - int(offsets[i])}"
        if value is not None and not isinstance(value, str):
            raise WrongType(
                f"{place}: {value!r:.40} is no string. Tokens are strings, or None if missing."
            )
        try:
            (value or "").encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{place}: a lone surrogate ({error.reason}), which no text has."
            ) from error
    return Strings.of(values)


# Tokens of several columns


def _columns(
    flat: list[Any], offsets: Ints, names: Sequence[str] | None
) -> dict[str, Strings | Floats]:
    first = next(iter(flat), "")
    if isinstance(first, Mapping):
        return {
            name: packed(values, f"column '{name}'", offsets)
            for name, values in _fields(flat, offsets)
        }
    if isinstance(first, tuple | list):
        return _named(flat, offsets, names)
    single = WORD if names is None else _known_names(names, 1)[0]
    return {single: packed(flat, f"column '{single}'", offsets)}


def _named(
    flat: list[Any], offsets: Ints, names: Sequence[str] | None
) -> dict[str, Strings | Floats]:
    if names is None:
        raise InvalidInput(
            f"a token is {flat[0]!r:.80}, and nothing says what these are. Name them: "
            "columns=['word', 'pos']."
        )
    known = _known_names(names, len(flat[0]))
    for at, token in enumerate(flat):
        if not isinstance(token, tuple | list) or len(token) != len(known):
            i = int(np.searchsorted(offsets, at, side="right")) - 1
            raise InvalidInput(
                f"sequence {i}, token {at - int(offsets[i])} must have {len(known)} strings "
                f"({', '.join(known)}); got {token!r:.80}."
            )
    return {
        name: packed([token[c] for token in flat], f"column '{name}'", offsets)
        for c, name in enumerate(known)
    }


def _known_names(names: Sequence[str], count: int) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names)
    if len(listed) != count or len(set(listed)) < count:
        raise InvalidInput(
            f"columns must give {count} different names, as a token has; got {names!r}."
        )
    return listed


def _fields(flat: list[Any], offsets: Ints) -> Iterable[tuple[str, list[Any]]]:
    names = list(flat[0])
    for at, token in enumerate(flat):
        if not isinstance(token, Mapping) or token.keys() != flat[0].keys():
            i = int(np.searchsorted(offsets, at, side="right")) - 1
            raise InvalidInput(
                f"sequence {i}, token {at - int(offsets[i])} must have the columns {names}; got "
                f"{token!r:.80}."
            )
    return [(str(name), [token[name] for token in flat]) for name in names]


def _from_columns(columns: Mapping[str, Any], lengths: Any) -> Tokens:
    if lengths is None:
        raise InvalidInput("a dict of columns needs lengths: how many rows each sequence has.")
    vectors = {str(name): _vectors(str(name), v) for name, v in columns.items() if _has_rows(v)}
    others = {str(name): v for name, v in columns.items() if str(name) not in vectors}
    found: dict[str, Any] = {**sheet(others).columns, **vectors}
    checks.same_length(**found)
    for name, column in found.items():
        if isinstance(column, np.ndarray) and column.ndim == 1:
            found[name] = column[:, None]  # one number a token
    rows = len(next(iter(found.values()), ()))
    return Tokens(found, as_offsets(lengths, rows))


def _has_rows(values: Any) -> bool:
    """Whether a column has a vector, not a string or a number, for each token."""
    if isinstance(values, Strings):
        return False
    if isinstance(values, np.ndarray):
        return values.ndim == 2
    first = next(iter(values), None) if isinstance(values, Sequence) else None
    return isinstance(first, np.ndarray | list | tuple) and all(
        isinstance(v, numbers.Real) for v in first
    )


def _vectors(name: str, values: Any) -> Floats:
    found = checks.block(values)
    if not isinstance(found, np.ndarray):
        raise InvalidInput(f"column '{name}' must hold dense vectors; got a sparse matrix.")
    checks.finite(found)
    return found
