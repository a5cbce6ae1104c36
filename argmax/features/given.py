"""``Given``: features of tokens that somebody has made already, as rows for a sequence model."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..errors import ArgmaxError, InvalidInput, Unsupported
from ..records import Csr, Rows, Structures
from .arrays import Arrays, bytes_and_offsets, collisions_of, same_keys, whole
from .hashing import Collisions, Slots
from .stacks import Named, Stack
from .templates import Templates
from .templates.names import Names
from .tokens import Tokens
from .vocabulary import Vocabulary, taken

__all__ = ["Given", "for_sequences"]

_counting = threading.Lock()  # a fitted object may be used from many threads

FORMAT = 1
FORMS = ("named", "dense", "sparse")


def for_sequences(sequences: Any) -> Templates | Given:
    """``Given()`` for sequences of features or numbers, ``Templates()`` for strings and tuples of them.

    >>> from argmax.features import for_sequences
    >>> for_sequences([["time", "flies"]]), for_sequences([[{"word": 1.0}, {"word": 2.0}]])
    (Templates(), Given())
    """
    if isinstance(sequences, Tokens | Mapping):
        return Templates()
    if isinstance(sequences, Structures | Csr | np.ndarray) or sp.issparse(sequences):
        return Given()
    for sequence in sequences if isinstance(sequences, Iterable) else ():
        if isinstance(sequence, np.ndarray) or sp.issparse(sequence):
            return Given()
        for token in sequence if isinstance(sequence, Iterable) else ():
            return Templates() if isinstance(token, str | tuple) else Given()
    return Templates()


@final
class Given(BaseEstimator):
    """Features of tokens as they are given: dicts, lists of strings, or numbers.

    ==============================================  ===================================================
    a list of sequences of dicts                    ``{"bias": 1.0, "word": "the", "ends": ["e", "he"]}``
    a list of sequences of lists of strings         each string is a feature with the value 1
    a list of arrays or sparse matrices (T, d)      one row a token
    one array or sparse matrix (N, d), and lengths  the rows of all sequences
    ==============================================  ===================================================

    In a dict, a number is the value of a feature; a string, or each string of a list, makes the feature
    ``key:string`` with the value 1; a dict puts its key in front of all of its own. This is what
    python-crfsuite takes.

    Parameters
    ----------
    min_count : int
        Named features of fewer tokens than this are left out.
    hash_bits : int, optional
        2^hash_bits columns for named features, found by hashing instead of a dictionary.

    Attributes
    ----------
    form_ : "named", "dense" or "sparse"
        What the fit was given.
    unknown_ : int
        How often ``transform`` has met a named feature that training did not have, since the fit.
    collisions_ : Collisions, optional
        With ``hash_bits``, how many features share a column.

    Examples
    --------
    >>> from argmax.features import Given
    >>> given = Given()
    >>> stack = given.fit_transform([[{"bias": 1.0, "word": "so"}, {"bias": 1.0, "length": 2.5}]])
    >>> list(given.names()), stack.rows.indptr, stack.rows.values
    (['bias', 'word:so', 'length'], array([0, 2, 4], dtype=int32), array([1. , 1. , 1. , 2.5]))
    >>> given.fit_transform([[["bias", "word=so"], ["bias"]]]).rows.values is None  # indicators
    True
    """

    def __init__(self, *, min_count: int = 1, hash_bits: int | None = None) -> None:
        self.min_count = min_count
        self.hash_bits = hash_bits

    # Learning

    def fit(self, sequences: Any, y: Any = None, *, lengths: Any = None) -> Given:
        """Learn which features there are; y is not used."""
        self._learn(Stack.of(sequences, lengths))
        return self

    def fit_transform(self, sequences: Any, y: Any = None, *, lengths: Any = None) -> Structures:
        """``fit`` and ``transform``."""
        stack = Stack.of(sequences, lengths)
        self._learn(stack)
        return self._structures(stack)

    def _learn(self, stack: Stack) -> None:
        least = checks.positive_integer("min_count", self.min_count)
        if not stack.offsets[-1]:
            raise InvalidInput(
                "there are no tokens to learn from: every sequence is empty, or there is none."
            )
        keys: Vocabulary | Slots | None = None
        width, collisions = 0, None
        if isinstance(stack.rows, Named):
            keys, collisions = self._keys(stack.rows, least)
            width = len(keys)
        elif stack.rows is not None:
            width = int(stack.rows.shape[1])
        # Nothing failed. From here on this is fitted; until here it was as it had been.
        self._become(stack.form, keys, width, collisions)

    def _keys(self, rows: Named, least: int) -> tuple[Vocabulary | Slots, Collisions | None]:
        if self.hash_bits is None:
            frequent = np.bincount(rows.numbers, minlength=len(rows.different)) >= least
            return Vocabulary(taken(rows.different, np.flatnonzero(frequent))), None
        slots = Slots(_bits(self.hash_bits))
        if least > 1:
            raise Unsupported(
                "min_count needs a dictionary. Leave out hash_bits, or use min_count=1."
            )
        columns, _ = slots.find(rows.different)
        _, place, sharing = np.unique(columns, return_inverse=True, return_counts=True)
        shared = int(np.count_nonzero(sharing[place] > 1))
        return slots, Collisions(len(columns), True, len(sharing), shared)

    def _become(
        self, form: str, keys: Vocabulary | Slots | None, width: int, collisions: Collisions | None
    ) -> None:
        self.form_, self._keys_, self._width, self.collisions_ = form, keys, width, collisions
        self.unknown_ = 0

    # Using

    def transform(self, sequences: Any, *, lengths: Any = None) -> Structures:
        """Rows of all tokens, and where each sequence starts."""
        check_is_fitted(self)
        return self._structures(Stack.of(sequences, lengths))

    def _structures(self, stack: Stack) -> Structures:
        if stack.rows is None:  # no token at all, and so no form
            return Structures(_nothing(self.form_, self._width), stack.offsets)
        if (stack.form == "named") != (self.form_ == "named"):
            raise InvalidInput(
                f"training had {_SAID[self.form_]}, and this is {_SAID[stack.form]}."
            )
        if isinstance(stack.rows, Named):
            return Structures(self._rows(stack.rows), stack.offsets)
        if stack.rows.shape[1] != self._width:
            found = stack.rows.shape[1]
            raise InvalidInput(
                f"tokens have {found} features, but training had {self._width} features."
            )
        return Structures(stack.rows, stack.offsets)

    def _rows(self, named: Named) -> Csr:
        keys = self._keys_
        assert keys is not None
        columns = (
            keys.find(named.different)[0] if isinstance(keys, Slots) else keys.find(named.different)
        )
        where = columns[named.numbers]
        known = where >= 0
        with _counting:
            self.unknown_ += int(np.count_nonzero(~known))
        return named.rows(where, known, self._width)

    @property
    def width(self) -> int:
        """How many columns the rows have."""
        check_is_fitted(self)
        return self._width

    edge_width = 0
    """Transitions have no features of their own."""

    def names(self) -> Names:
        """What each column is, written out when it is asked for.

        >>> from argmax.features import Given
        >>> list(Given().fit([[["a", "b"]]]).names())
        ['a', 'b']
        """
        check_is_fitted(self)
        keys = self._keys_
        if isinstance(keys, Vocabulary):
            return Names(self._width, lambda i: str(keys.strings[i]))
        return Names(self._width, lambda i: f"{'x' if keys is None else '#'}{i}")

    # Saving

    def options(self) -> dict[str, Any]:
        """All but the arrays, as JSON can hold it; with ``tensors`` it makes this again."""
        check_is_fitted(self)
        return {
            "format": FORMAT,
            "min_count": int(self.min_count),
            "hash_bits": None if self.hash_bits is None else int(self.hash_bits),
            "form": self.form_,
            "width": self._width,
            "collisions": None if self.collisions_ is None else asdict(self.collisions_),
        }

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays: strings as bytes and offsets."""
        check_is_fitted(self)
        if isinstance(self._keys_, Vocabulary):
            return bytes_and_offsets("names", self._keys_.strings)
        return {}

    @classmethod
    def rebuild(cls, options: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Given:
        """What gave these options and tensors; everything is checked, nothing is run.

        >>> from argmax.features import Given
        >>> fitted = Given().fit([[["a", "b"]]])
        >>> list(Given.rebuild(fitted.options(), fitted.tensors()).names())
        ['a', 'b']
        """
        try:
            return cls._rebuilt(options, Arrays(tensors))
        except (ArgmaxError, KeyError, TypeError, AttributeError, ValueError) as error:
            raise InvalidInput(f"the saved features are not valid: {error}") from error

    @classmethod
    def _rebuilt(cls, options: Mapping[str, Any], arrays: Arrays) -> Given:
        same_keys(
            "options", options, ("format", "min_count", "hash_bits", "form", "width", "collisions")
        )
        if options["format"] != FORMAT:
            raise InvalidInput(
                f"their format is {options['format']!r}; this version reads {FORMAT}"
            )
        form, width = (
            checks.choice("form", options["form"], FORMS),
            whole("width", options["width"]),
        )
        least = checks.positive_integer("min_count", options["min_count"])
        given = cls(min_count=least, hash_bits=options["hash_bits"])
        keys: Vocabulary | Slots | None = None
        if form == "named":
            keys = given._saved_keys(arrays)
            if len(keys) != width:
                raise InvalidInput(f"width is {width}, and there are {len(keys)} columns")
        arrays.nothing_left()
        collisions = None if options["collisions"] is None else collisions_of(options["collisions"])
        given._become(form, keys, width, collisions)
        return given

    def _saved_keys(self, arrays: Arrays) -> Vocabulary | Slots:
        if self.hash_bits is not None:
            return Slots(_bits(self.hash_bits))
        strings = arrays.strings("names")
        keys = Vocabulary(strings)
        if np.any(keys.find(strings) != np.arange(len(strings))):
            raise InvalidInput("names must differ")
        return keys


def _bits(given: Any) -> int:
    return int(checks.number("hash_bits", checks.positive_integer("hash_bits", given), 1, 30))


_SAID = {"named": "features with names", "dense": "rows of numbers", "sparse": "sparse rows"}


def _nothing(form: str, width: int) -> Rows:
    if form == "dense":
        return np.zeros((0, width))
    return Csr(np.zeros(1, np.int32), np.zeros(0, np.int32), None, width)
