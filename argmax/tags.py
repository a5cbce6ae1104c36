"""Labels that mark spans: B-PER I-PER O, and the rules between them.

    BIO     B-X begins a span of type X, I-X goes on with it, O is outside. (Also called IOB2.)
    BILOU   besides, L-X ends a span and U-X is one of a single token. E and S mean the same (BIOES).

Three questions are answered here, once for the whole library: which spans a labelling marks, which label
may follow which, and how an illegal labelling is mended. The first is answered for every labelling, legal
or not, as conlleval does: a span begins at B, U, or where the type changes or nothing goes on; it ends
where another begins or nothing goes on.

Labels are codes into a list of names. Sequence i has the tokens offsets[i] … offsets[i+1]−1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidInput
from .records import Ints

__all__ = ["SCHEMES", "Spans", "Tags"]

SCHEMES = ("BIO", "BILOU")

O, B, I, L, U = range(5)
_PREFIX = {"B": B, "I": I, "L": L, "E": L, "U": U, "S": U}

# What may come next, by prefix: a span that goes on needs I or L of its type, and I and L need one to go on.
_OPEN = {"BIO": (), "BILOU": (B, I)}
_FIRST = {"BIO": (O, B), "BILOU": (O, B, U)}


@final
@dataclass(frozen=True, slots=True)
class Spans:
    """Spans in order: the sequence, the first token and the last (counted in the sequence), and the type."""

    sequence: Ints  # (m,)
    first: Ints  # (m,)
    last: Ints  # (m,)
    type: Ints  # (m,) positions among the types

    def __len__(self) -> int:
        return len(self.first)


@final
@dataclass(frozen=True)
class Tags:
    """Names of labels, read as tags of a scheme.

    >>> import numpy as np
    >>> from argmax.tags import Tags
    >>> tags = Tags(("O", "B-PER", "I-PER", "B-LOC"))
    >>> tags.types
    ('PER', 'LOC')
    >>> found = tags.spans(np.array([1, 2, 0, 2, 3]), np.array([0, 5]))
    >>> found.first, found.last, found.type
    (array([0, 3, 4]), array([1, 3, 4]), array([0, 0, 1]))
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.names:
            if not is_tag(name):
                raise InvalidInput(
                    f"the label {name!r} marks no span. Labels must be O, or one of B-, I-, L-, U-, E-, S- "
                    "and a type, such as B-PER."
                )

    @staticmethod
    def fit(names: Iterable[str]) -> bool:
        """Whether all of these can be read as tags, and not all of them are O."""
        listed = list(names)
        return all(map(is_tag, listed)) and any(name != "O" for name in listed)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types, in the order of the labels."""
        return tuple(dict.fromkeys(_type(name) for name in self.names if name != "O"))

    @cached_property
    def prefix(self) -> NDArray[np.int8]:
        """(K,) what each label does: O, B, I, L or U."""
        return np.array([O if name == "O" else _PREFIX[name[0]] for name in self.names], np.int8)

    @cached_property
    def type(self) -> NDArray[np.int64]:
        """(K,) the type of each label among ``types``; −1 for O."""
        place = {name: i for i, name in enumerate(self.types)}
        return np.array([-1 if n == "O" else place[_type(n)] for n in self.names], np.int64)

    # Spans

    def begins(self, labels: Ints, offsets: Ints) -> NDArray[np.bool_]:
        """(N,) where a span begins."""
        prefix, kind = self.prefix[labels], self.type[labels]
        before, kind_before = _before(prefix, offsets, O), _before(kind, offsets, -1)
        goes_on = np.isin(before, (B, I)) & np.isin(prefix, (I, L)) & (kind == kind_before)
        return np.asarray((prefix != O) & ~goes_on)

    def spans(self, labels: Ints, offsets: Ints) -> Spans:
        """The spans that a labelling marks, as conlleval sees them."""
        begins = self.begins(labels, offsets)
        inside = self.prefix[labels] != O
        stops = ~_after(inside & ~begins, offsets)  # the token behind does not go on
        first, last = np.flatnonzero(begins), np.flatnonzero(inside & stops)
        sequence = np.searchsorted(offsets, first, side="right") - 1
        start = offsets[sequence]
        return Spans(sequence, first - start, last - start, self.type[labels[first]])

    # Rules

    def rules(self, scheme: str = "BIO") -> tuple[NDArray[np.bool_], ...]:
        """Which label may follow which (K, K), which may begin a sequence (K,), and which may end one (K,).

        >>> from argmax.tags import Tags
        >>> follows, begins, ends = Tags(("O", "B-A", "I-A", "I-B")).rules()
        >>> follows.astype(int)
        array([[1, 1, 0, 0],
               [1, 1, 1, 0],
               [1, 1, 1, 0],
               [1, 1, 0, 1]])
        >>> begins.astype(int)
        array([1, 1, 0, 0])
        """
        scheme = self._scheme(scheme)
        open_, first = np.isin(self.prefix, _OPEN[scheme]), np.isin(self.prefix, _FIRST[scheme])
        goes_on = np.isin(self.prefix, (B, I))[:, None] & ~first & (self.type[:, None] == self.type)
        return goes_on | (first & ~open_[:, None]), first, ~open_

    def illegal(self, labels: Ints, offsets: Ints, scheme: str = "BIO") -> Ints:
        """The tokens whose label may not follow the one before it, or stands where a span must go on."""
        follows, begins, ends = self.rules(scheme)
        outside = len(self.names)  # one more label, before and behind the sequences
        table = np.zeros((outside + 1, outside + 1), np.bool_)
        table[:outside, :outside], table[outside, :outside], table[:outside, outside] = (
            follows,
            begins,
            ends,
        )
        before, after = _before(labels, offsets, outside), _after(labels, offsets, outside)
        last = after == outside
        return np.flatnonzero(~table[before, labels] | (last & ~table[labels, after]))

    def repaired(
        self, labels: Ints, offsets: Ints, scheme: str = "BIO"
    ) -> tuple[tuple[str, ...], Ints, int]:
        """A legal labelling with the same spans: names (some may be new), labels, and how many changed.

        >>> import numpy as np
        >>> from argmax.tags import Tags
        >>> names, labels, changed = Tags(("O", "I-A", "B-A")).repaired(
        ...     np.array([1, 1, 0]), np.array([0, 3])
        ... )
        >>> [names[label] for label in labels], changed
        (['B-A', 'I-A', 'O'], 1)
        """
        letters = self._letters(known_scheme(scheme))
        begins, inside = self.begins(labels, offsets), self.prefix[labels] != O
        ends = inside & ~_after(inside & ~begins, offsets)
        role = np.where(begins, np.where(ends, U, B), np.where(ends, L, I))
        wanted = np.where(inside, 1 + 5 * self.type[labels] + role, 0)
        place = {name: i for i, name in enumerate(self.names)}
        new = np.zeros(1 + 5 * (len(self.types) + 1), np.int64)
        for code in np.unique(wanted).tolist():
            kind, part = divmod(code - 1, 5)
            name = (
                "O"
                if not code
                else letters[part] + (f"-{self.types[kind]}" if self.types[kind] else "")
            )
            new[code] = place.setdefault(name, len(place))
        result = new[wanted]
        return tuple(place), result, int(np.count_nonzero(result != labels))

    def _scheme(self, scheme: str) -> str:
        """The scheme, if it has all of these labels."""
        found = known_scheme(scheme)
        others = np.flatnonzero(np.isin(self.prefix, (L, U)))
        if found == "BIO" and len(others):
            name = self.names[int(others[0])]
            raise InvalidInput(f"the label {name!r} is none of the scheme BIO. Use scheme='BILOU'.")
        return found

    def _letters(self, scheme: str) -> Sequence[str]:
        """What the prefixes are called; E and S where these names have them."""
        if scheme == "BIO":
            return "OBIIB"
        return "OBIES" if any(name[0] in "ES" for name in self.names) else "OBILU"


def is_tag(name: str) -> bool:
    """Whether a label is O, or one of B, I, L, U, E, S, alone or with a hyphen and a type."""
    return name == "O" or (name[:1] in _PREFIX and name[1:2] in ("", "-"))


def known_scheme(scheme: str) -> str:
    """One of SCHEMES, by this name or another that it has."""
    found = {"IOB2": "BIO", "BIOES": "BILOU", "IOBES": "BILOU"}.get(scheme, scheme)
    if found not in SCHEMES:
        raise InvalidInput(f"scheme must be one of 'BIO', 'BILOU', 'BIOES'; got {scheme!r}.")
    return found


def _type(name: str) -> str:
    return name[2:]


def _before(values: NDArray[Any], offsets: Ints, outside: int) -> NDArray[Any]:
    """The value of the token before each, in its sequence."""
    moved = np.empty_like(values)
    moved[1:] = values[:-1]
    starts = offsets[:-1]
    moved[starts[starts < len(values)]] = outside
    return moved


def _after(values: NDArray[Any], offsets: Ints, outside: int = 0) -> NDArray[Any]:
    """The value of the token behind each, in its sequence."""
    moved = np.empty_like(values)
    moved[:-1] = values[1:]
    some = np.diff(offsets) > 0
    moved[offsets[1:][some] - 1] = outside
    return moved
