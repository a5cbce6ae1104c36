"""What ``SequenceTagger`` is given, checked: rows of all tokens, and the labels of all tokens as codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import InvalidInput, WrongType
from ..features.interning import interned
from ..records import Csr, Floats, Ints, Rows, Strings, Structures

__all__ = [
    "Labels",
    "as_lists",
    "as_sparse",
    "check_offsets",
    "same_saved",
    "sequence_weights",
]

SEVERAL = (set, frozenset, tuple, list)
"""What says that any of several labels would be right."""


@final
@dataclass(frozen=True)
class Labels:
    """The labels of all tokens: codes (N,) into sorted ``classes``.

    ``allowed`` (N, K) where some tokens have several labels that would do, or none that is known.

    >>> import numpy as np
    >>> from argmax.estimators.sequences import Labels
    >>> labels = Labels.of([["B", "A"], ["A"]], np.array([0, 2, 3]))
    >>> labels.classes.tolist(), labels.codes
    (['A', 'B'], array([1, 0, 0]))
    >>> Labels.of([["A", {"A", "B"}], [None]], np.array([0, 2, 3])).allowed
    array([[ True, False],
           [ True,  True],
           [ True,  True]])
    """

    classes: Any
    codes: Ints  # (N,)
    allowed: NDArray[np.bool_] | None = None  # (N, K)

    @classmethod
    def of(cls, y: Any, offsets: Ints) -> Labels:
        """From a list of lists of labels, or one label a token in one array, list or ``Strings``.

        A set or tuple of labels in the place of one means any of them; None means any label.
        """
        if y is None:
            raise InvalidInput("requires y to be passed, but the target y is None.")
        if isinstance(y, Strings):
            return cls._of_strings(y, offsets)
        flat = _flat(y, offsets)
        if any(label is None or isinstance(label, SEVERAL) for label in flat):
            return cls._partial(flat)
        classes, codes = _coded(flat)
        return cls(classes, codes)

    @classmethod
    def _of_strings(cls, y: Strings, offsets: Ints) -> Labels:
        _same_count(len(y), offsets)
        numbers, different = interned(y)
        names = different.tolist()
        order = np.argsort(np.array(names))
        rank = np.empty(len(names), np.intp)
        rank[order] = np.arange(len(names))
        classes, missing = np.array(names)[order], numbers < 0
        if not missing.any():
            return cls(classes, rank[numbers])
        codes = rank[np.where(missing, 0, numbers)] if names else np.zeros(len(y), np.intp)
        allowed = np.zeros((len(codes), len(classes)), bool)
        allowed[np.arange(len(codes)), codes] = True
        allowed[missing] = True
        return cls(classes, codes, allowed)

    @classmethod
    def _partial(cls, flat: list[Any]) -> Labels:
        listed = [() if v is None else tuple(v) if isinstance(v, SEVERAL) else (v,) for v in flat]
        classes, every = _coded([label for labels in listed for label in labels])
        allowed = np.zeros((len(flat), len(classes)), bool)
        owner = np.repeat(np.arange(len(flat)), [len(labels) for labels in listed])
        allowed[owner, every] = True
        if any(not len(v) for v in flat if isinstance(v, SEVERAL)):
            raise InvalidInput("y: an empty set of labels allows nothing. Use None for any label.")
        allowed[[not labels for labels in listed]] = True
        codes = allowed.argmax(axis=1) if len(classes) else np.zeros(len(flat), np.intp)
        return cls(classes, codes, allowed)

    def present(self) -> Labels:
        """Without the classes that no token has; of partial labels, all that y names stay."""
        if self.allowed is not None:
            return self
        found, codes = np.unique(self.codes, return_inverse=True)
        return Labels(self.classes[found], codes.astype(np.intp))


def _flat(y: Any, offsets: Ints, name: str = "y", what: str = "labels") -> list[Any]:
    """One label a token; the lengths must be those of X."""
    if isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable):
        raise WrongType(f"{name} must be a list of lists of {what}; got {y!r:.80}.")
    listed, lengths = list(y), np.diff(offsets)
    nested = [isinstance(item, list | tuple | np.ndarray) for item in listed]
    if not all(nested):  # one label a token
        _same_count(len(listed), offsets, name, what)
        return np.asarray(y).tolist() if isinstance(y, np.ndarray) else listed
    if len(listed) != len(lengths):
        raise InvalidInput(
            f"X has {len(lengths)} sequences, {name} has {len(listed)}. Give one list of {what} for each."
        )
    flat: list[Any] = []
    for i, (labels, length) in enumerate(zip(listed, lengths.tolist(), strict=True)):
        if len(labels) != length:
            raise InvalidInput(
                f"sequence {i} has {length} tokens in X and {len(labels)} {what} in {name}, which start with "
                f"{list(labels[:3])!r:.80}. Each token needs one."
            )
        flat.extend(labels.tolist() if isinstance(labels, np.ndarray) else labels)
    return flat


def _same_count(count: int, offsets: Ints, name: str = "y", what: str = "labels") -> None:
    if count != offsets[-1] - offsets[0]:
        raise InvalidInput(
            f"X has {offsets[-1] - offsets[0]} tokens, {name} has {count} {what}. Each token needs one."
        )


def _coded(flat: list[Any]) -> tuple[Any, Ints]:
    """Sorted different labels and the place of each one among them. No Python comparison per token."""
    places: dict[Any, int] = {}
    try:
        first = np.fromiter((places.setdefault(v, len(places)) for v in flat), np.intp, len(flat))
    except TypeError as error:
        raise WrongType(f"labels must be strings or numbers: {error}.") from error
    names = list(places)
    if not names:
        return np.array([]), first
    kinds = {str if isinstance(v, str) else bool if isinstance(v, bool) else float for v in names}
    if len(kinds) > 1:
        raise WrongType(
            f"labels must all be strings or all be numbers; got {names[0]!r} and others of another kind."
        )
    checks.comparable_labels(y=names)
    order = sorted(range(len(names)), key=lambda i: names[i])
    rank = np.empty(len(names), np.intp)
    rank[order] = np.arange(len(names))
    return np.array([names[i] for i in order]), rank[first]


def as_lists(classes: Any, codes: Ints, offsets: Ints) -> list[list[Any]]:
    """Labels of each sequence as Python lists."""
    names = np.empty(len(classes), object)
    names[:] = classes.tolist()
    flat = names[codes].tolist()
    bounds = (offsets - offsets[0]).tolist()
    return [flat[a:b] for a, b in pairwise(bounds)]


def as_sparse(rows: Rows) -> Csr:
    """Rows of attributes: dense ones with every number stored."""
    if isinstance(rows, Csr):
        return rows
    n, d = rows.shape
    indices = np.tile(np.arange(d, dtype=np.int32), n)
    return Csr(np.arange(n + 1) * d, indices, np.ascontiguousarray(rows).ravel(), d)


def sequence_weights(given: Any, n: int) -> Floats | None:
    """One weight a sequence, or None where all are 1."""
    weight = checks.sample_weight(given, n)
    return None if np.all(weight == 1.0) else weight


def token_weights(given: Any, offsets: Ints) -> Floats | None:
    """One weight a token, from a list of lists or one array; None where all are 1."""
    if given is None:
        return None
    flat = _flat(given, offsets, "token_weight", "weights")
    weight = checks.sample_weight(np.array(flat, float), len(flat), name="token_weight")
    return None if np.all(weight == 1.0) else weight


def check_offsets(structures: Structures) -> Ints:
    """Where the sequences start."""
    offsets = structures.offsets
    offsets = np.arange(structures.nodes + 1) if offsets is None else offsets
    return np.ascontiguousarray(offsets, np.int64)


def same_saved(one: Any, other: Any) -> bool:
    """Whether two fitted extractors make the same rows: they would be saved as the same bytes."""
    if type(one) is not type(other) or one.options() != other.options():
        return False
    arrays, others = one.tensors(), other.tensors()
    return arrays.keys() == others.keys() and all(
        np.array_equal(array, others[name]) for name, array in arrays.items()
    )
