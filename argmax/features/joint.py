"""The joint feature map Ψ(x, y): features of an input and a label together, under one weight vector.

    score(x, y) = ⟨w, Ψ(x, y)⟩

``multivector`` puts x into the block of y: k weight vectors, written one behind the other. ``Joint`` takes
any function ψ(x, y) that names its features, such as ``suffix=ing×VERB``, and gives each name a column, from
a dictionary or by hashing. ``crossed`` makes such a function of features of x and features of y: labels that
share a feature share its weights, and a label never seen before has scores through its features.

The multivector has as many numbers as the k weight vectors it stands for. What saves memory is shared
features, observed names only, or hashing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..errors import InvalidInput, WrongType
from ..records import Floats, Ints, Strings
from .hashing import Slots

__all__ = ["Crossed", "Joint", "crossed", "multivector"]

Named = Mapping[str, Any] | Iterable[str] | str
"""Features by name: with values, or each 1."""


def multivector(x: Any, y: Any, classes: Any) -> Floats:
    """Ψ(x, y): x (d,) in the block of label y, zeros in those of the others (k·d,).

    ``classes`` are the labels in the order of their blocks, or their number for labels 0 … k − 1. With the
    weight vectors of the classes one behind the other, ⟨w, Ψ(x, y)⟩ = ⟨w_y, x⟩. Several rows x (n, d) and
    labels y (n,) give several vectors (n, k·d).

    >>> import numpy as np
    >>> from argmax.features import multivector
    >>> multivector([1.0, 2.0], 2, classes=[1, 2, 3])
    array([0., 0., 1., 2., 0., 0.])
    >>> w = np.array([0.5, -1.0, 0.2, 0.3, -0.4, 1.0])
    >>> [float(w @ multivector([1.0, 2.0], y, [1, 2, 3])) for y in (1, 2, 3)]
    [-1.5, 0.8, 1.6]
    """
    rows = np.asarray(x, dtype=float)
    labels = list(range(classes)) if isinstance(classes, int) else list(classes)
    places = {label: i for i, label in enumerate(labels)}
    given = [y] if rows.ndim == 1 else list(y)
    if unknown := [label for label in given if label not in places]:
        raise InvalidInput(f"y holds {unknown[0]!r}, which is not among the classes {labels!r}.")
    table = np.atleast_2d(rows)
    checks.lengths(x=len(table), y=len(given))
    result = np.zeros((len(table), len(labels), table.shape[1]))
    result[np.arange(len(table)), [places[label] for label in given]] = table
    flat = result.reshape(len(table), -1)
    return flat[0] if rows.ndim == 1 else flat


@final
@dataclass(frozen=True)
class Crossed:
    """ψ(x, y) with a feature for each feature of x and feature of y: their names, and the product of values.

    Made by ``crossed``. A constant of either side belongs into its function.

    >>> from argmax.features import crossed
    >>> psi = crossed(lambda word: [f"word={word}", f"suffix={word[-3:]}"])
    >>> psi("running", "VERB")
    {'word=running×VERB': 1.0, 'suffix=ing×VERB': 1.0}
    """

    of_input: Callable[[Any], Named] | None = None
    of_label: Callable[[Any], Named] | None = None

    def __call__(self, x: Any, y: Any) -> dict[str, float]:
        """The crossed features of one input and one label."""
        left = named(x if self.of_input is None else self.of_input(x))
        right = named(str(y) if self.of_label is None else self.of_label(y))
        return {f"{a}×{b}": u * v for a, u in left.items() for b, v in right.items()}


def crossed(
    of_input: Callable[[Any], Named] | None = None, of_label: Callable[[Any], Named] | None = None
) -> Crossed:
    """ψ(x, y) from features of x and features of y, all pairs of them.

    ``of_input`` None: x is itself a dict, a list of strings or a string; ``of_label`` None: the label's name.

    >>> from argmax.features import crossed
    >>> crossed(of_label=lambda y: [y, f"animal={y in {'cat', 'dog'}}"])({"barks": 1.0}, "dog")
    {'barks×dog': 1.0, 'barks×animal=True': 1.0}
    """
    return Crossed(of_input, of_label)


def named(features: Named) -> dict[str, float]:
    """Features by name; a string as a value is part of the name: {"word": "run"} is word=run."""
    if isinstance(features, str):
        return {features: 1.0}
    if not isinstance(features, Mapping):
        if not isinstance(features, Iterable):
            raise WrongType(
                "features must be a dict of numbers, a list of names or one name; psi, or a function in it, "
                f"returned {features!r}."
            )
        return dict.fromkeys(map(str, features), 1.0)
    pairs = features.items()
    return {
        f"{name}={value}" if isinstance(value, str) else str(name): _value(name, value)
        for name, value in pairs
    }


def _value(name: Any, value: Any) -> float:
    if isinstance(value, str):
        return 1.0
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise WrongType(
            f"feature {name!r} must have a number or a string; got {value!r}."
        ) from None
    if not math.isfinite(number):
        raise InvalidInput(
            f"feature {name!r} must have a finite number; got {number!r}. Leave the feature out where "
            "its value is not known."
        )
    return number


@final
class Joint(BaseEstimator):
    """Rows of Ψ(x, y) from a function ψ(x, y) that names its features.

    Parameters
    ----------
    psi : callable (x, y) → dict of numbers, list of names, or one name; None: ``crossed()``
    hash_bits : int or None
        None: a dictionary of the names met in ``fit``; others are left out. Else 2^hash_bits columns, found
        by hashing, with signs: no dictionary, and names that collide cancel on average.

    Attributes
    ----------
    names_ : list or None
        The names by column; None where they are hashed.
    width_ : int
        The number of columns.

    Examples
    --------
    >>> from argmax.features import Joint
    >>> words, tags = ["apple", "run", "run"], ["NOUN", "NOUN", "VERB"]
    >>> joint = Joint().fit(words, tags)
    >>> joint.names_
    ['apple×NOUN', 'run×NOUN', 'run×VERB']
    >>> joint.transform(["run"], ["NOUN"]).toarray()
    array([[0., 1., 0.]])
    """

    def __init__(
        self, psi: Callable[[Any, Any], Named] | None = None, hash_bits: int | None = None
    ) -> None:
        self.psi = psi
        self.hash_bits = hash_bits

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> Self:
        """Read the names off the pairs (x, y)."""
        if self.hash_bits is not None:
            bits = checks.positive_integer("hash_bits", self.hash_bits)
            if bits > 30:
                raise InvalidInput(f"hash_bits must be at most 30; got {bits}.")
            self.names_, self.width_ = None, 1 << bits
            return self
        known: dict[str, int] = {}
        for features in self._pairs(X, y):
            for name in features:
                known.setdefault(name, len(known))
        if not known:
            raise InvalidInput(
                "psi gave no feature for any pair of X and y. Check what it returns."
            )
        self.names_, self.width_, self._columns = list(known), len(known), known
        return self

    def transform(self, X: Sequence[Any], y: Sequence[Any]) -> sp.csr_array:
        """Ψ(x_i, y_i) as sparse rows (n, ``width_``)."""
        check_is_fitted(self, "width_")
        pairs = self._pairs(X, y)
        if self.names_ is not None:
            known = self._columns
            pairs = [{n: v for n, v in pair.items() if n in known} for pair in pairs]
            columns: Ints = np.array([known[name] for pair in pairs for name in pair], np.int64)
            signs: Any = 1.0
        else:
            names = Strings.of(name for pair in pairs for name in pair)
            columns, signs = Slots(int(self.hash_bits or 0), signed=True).find(names)
        values = np.array([value for pair in pairs for value in pair.values()]) * signs
        ends = np.cumsum([0, *map(len, pairs)])
        rows = sp.csr_array((values, columns, ends), shape=(len(pairs), self.width_))
        rows.sum_duplicates()
        return rows

    def _pairs(self, X: Sequence[Any], y: Sequence[Any]) -> list[dict[str, float]]:
        psi = Crossed() if self.psi is None else self.psi
        if not callable(psi):
            raise WrongType(f"psi must be a function of x and y, or None; got {psi!r}.")
        inputs, labels = list(checks.given_rows(X)), list(checks.given_rows(y, "y"))
        checks.lengths(X=len(inputs), y=len(labels))
        return [named(psi(x, label)) for x, label in zip(inputs, labels, strict=True)]
