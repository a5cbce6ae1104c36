"""``Templates``: token columns as rows of attributes, in the manner of a scikit-learn transformer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ... import checks
from ...errors import InvalidInput, Unsupported
from ...memory import give_back
from ...records import Csr, Structures
from ..tokens import Tokens
from . import saved
from .defaults import DEFAULT
from .dictionary import Dictionary
from .hashed import Hashed
from .keys import Encoded, Keys
from .language import parse_all
from .names import Names
from .saved import State
from .texts import Texts
from .vectors import Vectors
from .windows import Plan

__all__ = ["Templates"]


LEARNED = 60.0
"""Bytes that learning takes for each token, and does not need any more."""

_counting = threading.Lock()  # a fitted object may be used from many threads


@final
class Templates(BaseEstimator):
    """Attributes of tokens by templates, such as ``word[-1]|word[0]`` or ``suffix(lower(word[0]),3)``.

    Takes lists of token strings (then the one column is ``word``), lists of tuples or dicts of columns, a
    dict of columns with ``lengths``, or ``Tokens`` as readers of files give them. Gives
    ``records.Structures`` whose rows are indicators: row t lists the attributes of token t.

    Parameters
    ----------
    templates : list of str, or str with one a line, optional
        What around a token makes its attributes. None: a set for plain words (``features.DEFAULT``).

        - ``word[-1]`` is the string one token to the left; ``word[0]|word[1]`` two strings as one attribute.
        - Functions: lower, prefix(…, n), suffix(…, n), shape, short_shape, length, is_capitalised, is_upper,
          is_number, is_punctuation, has_digit, has_hyphen; they can be put into each other.
        - ``bias`` is one attribute for all tokens, ``first`` and ``last`` mark the ends of a sequence.
        - ``edge: pos[0]`` describes the transition into the token, ``both: pos[0]`` the token and the
          transition.
    columns : list of str, optional
        Names of the columns, if tokens are tuples.
    min_count : int
        Attributes of fewer tokens than this are left out.
    outside : "mark" or "skip"
        What a template that looks beyond the ends of a sequence finds: a mark that says how far outside
        (``_B-1``, ``_B+2``), as in CRF++, or nothing, so that it makes no attribute.
    hash_bits : int, optional
        2^hash_bits attributes, found by hashing instead of a dictionary. Nothing is unknown then.
    examples : int
        How many names of each hashed attribute to remember. A model file then holds them.
    dense : str or list of str, optional
        Columns of vectors whose numbers follow behind the attributes.

    Attributes
    ----------
    unknown_ : dict
        For each template, how often ``transform`` has met something that training did not have, since the
        fit.
    collisions_ : Collisions, optional
        With ``hash_bits``, how many attributes of tokens share a number.

    Examples
    --------
    >>> from argmax.features import Templates
    >>> templates = Templates(["word[0]", "word[-1]|word[0]", "suffix(word[0],2)"])
    >>> tokens = [["time", "flies"], ["fruit", "flies", "like", "time"]]
    >>> stack = templates.fit_transform(tokens)
    >>> stack.rows.shape, stack.offsets
    ((6, 14), array([0, 2, 6]))
    >>> names = templates.names()
    >>> [names[i] for i in stack.rows.indices[:6]]
    ['word[0]=time', 'word[-1]|word[0]=_B-1|time', 'suffix(word[0],2)=me',
     'word[0]=flies', 'word[-1]|word[0]=time|flies', 'suffix(word[0],2)=es']
    >>> new = templates.transform([["time", "lies"]])
    >>> [names[i] for i in new.rows.indices], templates.unknown_
    (['word[0]=time', 'word[-1]|word[0]=_B-1|time', 'suffix(word[0],2)=me', 'suffix(word[0],2)=es'],
     {'word[0]': 1, 'word[-1]|word[0]': 1, 'suffix(word[0],2)': 0})
    """

    def __init__(
        self,
        templates: Sequence[str] | str | None = None,
        *,
        columns: Sequence[str] | None = None,
        min_count: int = 1,
        outside: str = "mark",
        hash_bits: int | None = None,
        examples: int = 0,
        dense: Sequence[str] | str | None = None,
    ) -> None:
        self.templates = templates
        self.columns = columns
        self.min_count = min_count
        self.outside = outside
        self.hash_bits = hash_bits
        self.examples = examples
        self.dense = dense

    # Learning

    def fit(self, sequences: Any, y: Any = None, *, lengths: Any = None) -> Templates:
        """Learn which attributes there are; y is not used."""
        self._learn(Tokens.of(sequences, columns=self.columns, lengths=lengths))
        return self

    def fit_transform(self, sequences: Any, y: Any = None, *, lengths: Any = None) -> Structures:
        """``fit`` and ``transform``, looking at each token once."""
        tokens = Tokens.of(sequences, columns=self.columns, lengths=lengths)
        rows = self._learn(tokens)
        give_back(LEARNED * tokens.size)
        return self._structures(tokens, rows())

    def _learn(self, tokens: Tokens) -> Callable[[], Encoded]:
        checks.choice("outside", self.outside, ("mark", "skip"))
        least = checks.positive_integer("min_count", self.min_count)
        plan = Plan.of(
            parse_all(DEFAULT if self.templates is None else self.templates), self.outside == "mark"
        )
        if not tokens.size:
            raise InvalidInput(
                "there are no tokens to learn from: every sequence is empty, or there is none."
            )
        vectors = Vectors.of(self.dense, tokens)
        texts = self._texts(tokens, plan)
        keys: Keys
        if self.hash_bits is None:
            keys, rows = Dictionary.learned(plan, texts, least)
            collisions = None
        else:
            keys, rows, collisions = Hashed.learned(plan, texts, *self._hashing())
        # Nothing failed. From here on this is fitted; until here it was as it had been.
        self._become(State(self._parameters(plan), keys, vectors, collisions))
        return rows

    def _hashing(self) -> tuple[int, int]:
        bits = checks.positive_integer("hash_bits", self.hash_bits)
        checks.number("hash_bits", bits, 1, 30)
        if self.min_count > 1:
            raise Unsupported(
                "min_count needs a dictionary. Leave out hash_bits, or use min_count=1."
            )
        return bits, int(checks.number("examples", self.examples, 0))

    def _parameters(self, plan: Plan) -> dict[str, Any]:
        """The parameters as JSON can hold them, with the templates written out."""
        return {
            "templates": [str(template) for template in plan.templates],
            "columns": None if self.columns is None else list(self.columns),
            "min_count": int(self.min_count),
            "outside": self.outside,
            "hash_bits": None if self.hash_bits is None else int(self.hash_bits),
            "examples": int(self.examples),
            "dense": self.dense
            if self.dense is None or isinstance(self.dense, str)
            else list(self.dense),
        }

    def _become(self, state: State) -> None:
        self._state = state
        self.collisions_ = state.collisions
        self.unknown_ = dict.fromkeys(map(str, state.keys.plan.used), 0)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    # Using

    def transform(self, sequences: Any, *, lengths: Any = None) -> Structures:
        """Rows of attributes of all tokens, and where each sequence starts."""
        check_is_fitted(self)
        tokens = self.tokens(sequences, lengths=lengths)
        if tokens is None:
            return self._nothing(len(sequences))
        encoded = self._state.keys.encode(self._texts(tokens, self._state.keys.plan))
        with _counting:
            for template, count in encoded.unknown.items():
                self.unknown_[template] += count
        return self._structures(tokens, encoded)

    def tokens(self, sequences: Any, *, lengths: Any = None) -> Tokens | None:
        """What ``transform`` takes, as columns that can be cut into blocks; None if there is no token in it.

        >>> from argmax.features import Templates
        >>> Templates(["word[0]"]).tokens([["to", "be"], ["or"]])[1:].sequences("word")
        [['or']]
        """
        if _has_no_tokens(sequences):  # and so no columns
            return None
        return Tokens.of(sequences, columns=self.columns, lengths=lengths)

    def _nothing(self, sequences: int) -> Structures:
        """Rows of so many sequences without a token."""
        edge = _no_rows(self.edge_width) if self.edge_width else None
        return Structures(_no_rows(self.width), np.zeros(sequences + 1, np.int64), edge_rows=edge)

    @staticmethod
    def _texts(tokens: Tokens, plan: Plan) -> Texts:
        needed = 8.0 * tokens.size * len(plan.used)
        advice = "Give fewer sequences at a time, or use fewer templates."
        checks.memory(needed, "the table of attributes", advice)
        return Texts.of(tokens, plan.columns)

    def _structures(self, tokens: Tokens, encoded: Encoded) -> Structures:
        rows = self._state.vectors.beside(encoded.node, tokens)
        return Structures(rows, tokens.offsets - tokens.offsets[0], edge_rows=encoded.edge)

    @property
    def width(self) -> int:
        """How many columns the rows of tokens have."""
        check_is_fitted(self)
        return self._state.keys.width + self._state.vectors.width

    @property
    def used_columns(self) -> tuple[str, ...]:
        """The columns of tokens that the templates read, and those of vectors.

        >>> from argmax.features import Templates
        >>> tokens = {"word": ["to", "be"], "pos": ["TO", "VB"]}
        >>> Templates(["pos[0]"]).fit(tokens, lengths=[2]).used_columns
        ('pos',)
        """
        check_is_fitted(self)
        return (*self._state.keys.plan.columns, *self._state.vectors.widths)

    @property
    def edge_width(self) -> int:
        """How many columns the rows of transitions have; 0 if no template describes transitions."""
        check_is_fitted(self)
        return self._state.keys.edge_width

    def names(self) -> Names:
        """What each column is, written out when it is asked for.

        >>> from argmax.features import Templates
        >>> list(Templates(["shape(word[0])"]).fit([["In", "1984"]]).names())
        ['shape(word[0])=Xx', 'shape(word[0])=dddd']
        """
        check_is_fitted(self)
        keys, vectors = self._state.keys, self._state.vectors
        return Names(
            self.width, lambda i: keys.name(i) if i < keys.width else vectors.name(i - keys.width)
        )

    def edge_names(self) -> Names:
        """What each column of the rows of transitions is.

        >>> from argmax.features import Templates
        >>> list(Templates(["word[0]", "edge: word[0]"]).fit([["to", "be"]]).edge_names())
        ['bias', 'word[0]=be']
        """
        check_is_fitted(self)
        keys = self._state.keys
        return Names(keys.edge_width, lambda i: keys.name(i, edge=True))

    def select(self, keep: Any, keep_edge: Any = None) -> Templates:
        """A copy with the marked columns only, numbered anew: what has no weight need not be kept.

        >>> from argmax.features import Templates
        >>> fitted = Templates(["word[0]"]).fit([["to", "be", "or"]])
        >>> list(fitted.select([True, False, True]).names())
        ['word[0]=to', 'word[0]=or']
        """
        check_is_fitted(self)
        keys, vectors = self._state.keys, self._state.vectors
        if not isinstance(keys, Dictionary):
            raise Unsupported(
                "select needs a dictionary; hashed attributes have no list to leave out of."
            )
        mask, edge = _mask("keep", keep, self.width), None
        if keep_edge is not None:
            edge = _mask("keep_edge", keep_edge, self.edge_width)
        if not mask[keys.width :].all():
            raise Unsupported(
                "select keeps all columns of vectors; mark them, or fit without them."
            )
        fewer = keys.kept(mask[: keys.width], edge)
        copy = type(self)(**self._state.parameters)
        copy._become(State(self._state.parameters, fewer, vectors, None))
        return copy

    # Saving

    def options(self) -> dict[str, Any]:
        """All but the arrays, as JSON can hold it; with ``tensors`` it makes the templates again.

        >>> import json
        >>> from argmax.features import Templates
        >>> fitted = Templates(["word[0]"]).fit([["to", "be"]])
        >>> again = Templates.rebuild(json.loads(json.dumps(fitted.options())), fitted.tensors())
        >>> list(again.names())
        ['word[0]=to', 'word[0]=be']
        """
        check_is_fitted(self)
        return saved.options(self._state)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays: strings as bytes and offsets, tuples and attributes as whole numbers."""
        check_is_fitted(self)
        return saved.tensors(self._state)

    @classmethod
    def rebuild(cls, options: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Templates:
        """The templates that gave these options and tensors; everything is checked, nothing is run."""
        state = saved.rebuilt(options, tensors)
        templates = cls(**state.parameters)
        templates._become(state)
        return templates


def _has_no_tokens(sequences: Any) -> bool:
    """Whether these are lists, and all of them empty."""
    return isinstance(sequences, list | tuple) and not any(
        not isinstance(sequence, list | tuple) or len(sequence) for sequence in sequences
    )


def _no_rows(width: int) -> Csr:
    return Csr(np.zeros(1, np.int32), np.zeros(0, np.int32), None, width)


def _mask(name: str, given: Any, size: int) -> NDArray[np.bool_]:
    mask = np.asarray(given)
    if mask.dtype != np.bool_ or mask.shape != (size,):
        raise InvalidInput(
            f"{name} must be {size} booleans, one a column; got shape {mask.shape}, {mask.dtype}."
        )
    return mask
