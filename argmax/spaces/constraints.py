"""Which label sequences are legal, as data: where they start and end, and what may follow what.

    Constraints(labels, start, end, follow)     masks: True is allowed
    bio(labels)  bilou(labels)                  the schemes of entity labels, read from their names
    forbid(labels, pairs)                       some transitions are not allowed, the rest are
    get("BIO", labels)                          by name; several together; None

A constraint becomes scores of −inf: on transitions, on the first and on the last node of each sequence. Every
oracle of ``Chain`` then knows it: illegal paths have probability 0, in training as in decoding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import InvalidInput, WrongType
from ..records import Ints, Scores

__all__ = ["Constraints", "bilou", "bio", "forbid", "get"]

Mask = NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class Constraints:
    """Masks over k labels: ``start`` (k,), ``end`` (k,), and ``follow`` (k, k): may b come right behind a.

    ``a & b`` allows what both allow.

    >>> import numpy as np
    >>> from argmax.records import Scores
    >>> from argmax.spaces import Chain, constraints
    >>> labels = ["O", "B-PER", "I-PER"]
    >>> rules = constraints.bio(labels)
    >>> scores = Scores(np.array([[1.0, 0.0, 0.5], [0.0, 0.0, 2.0]]), None, np.array([0, 2]))
    >>> [labels[y] for y in Chain(3).argmax(scores).labels]
    ['O', 'I-PER']
    >>> [labels[y] for y in Chain(3).argmax(rules.apply(scores)).labels]
    ['B-PER', 'I-PER']
    """

    labels: tuple[str, ...]
    start: Mask
    end: Mask
    follow: Mask

    @property
    def k(self) -> int:
        return len(self.labels)

    def __and__(self, other: Constraints) -> Constraints:
        if self.labels != other.labels:
            raise InvalidInput("constraints on different labels cannot be joined.")
        follow = self.follow & other.follow
        return Constraints(self.labels, self.start & other.start, self.end & other.end, follow)

    def apply(self, scores: Scores, allowed: Any = None) -> Scores:
        """The scores with −inf wherever something is not allowed; what is given is not changed.

        ``allowed`` (N, k) says in addition which labels each node may take.
        """
        node = np.array(checks.node_scores(scores, self.k), dtype=float)
        if allowed is not None:
            node[~checks.label_mask(allowed, node.shape)] = -np.inf
        first, last = _ends(checks.sequence_offsets(scores))
        for rows, mask in ((first, self.start), (last, self.end)):
            node[rows] = np.where(mask, node[rows], -np.inf)
        return Scores(node, self.edges(scores.edge), scores.offsets)

    def edges(self, edge: Any = None) -> Any:
        """Tables of transitions with −inf where one is not allowed; None stays None if all are."""
        if self.follow.all():
            return edge
        table = np.zeros((1, self.k, self.k)) if edge is None else np.asarray(edge)
        rows = np.arange(table.shape[1]) % self.k  # a state of order 2 shows its last label
        return np.where(self.follow[rows], table, -np.inf)

    def violations(self, labels: Ints, offsets: Ints) -> Ints:
        """The nodes whose label may not stand where it does: behind its neighbour, first, or last.

        >>> import numpy as np
        >>> from argmax.spaces import constraints
        >>> rules = constraints.bio(["O", "B-PER", "I-PER"])
        >>> rules.violations(
        ...     np.array([2, 2, 0, 1, 2]), np.array([0, 3, 5])
        ... )  # an entity begins with I
        array([0])
        """
        labels = np.asarray(labels)
        first, last = _ends(np.asarray(offsets))
        legal = np.ones(len(labels), bool)
        legal[1:] = self.follow[labels[:-1], labels[1:]]
        legal[first] = self.start[labels[first]]
        legal[last] &= self.end[labels[last]]
        return np.flatnonzero(~legal)


def _ends(offsets: Ints) -> tuple[Ints, Ints]:
    """The first and the last node of every sequence that has any."""
    filled = np.diff(offsets) > 0
    return offsets[:-1][filled], offsets[1:][filled] - 1


# Schemes


def bio(labels: Sequence[str]) -> Constraints:
    """Begin, inside, outside (IOB2): I-X only behind B-X or I-X, and never first.

    >>> from argmax.spaces import constraints
    >>> rules = constraints.bio(["O", "B-LOC", "I-LOC"])
    >>> rules.follow[0], rules.start
    (array([ True,  True, False]), array([ True,  True, False]))
    """
    return _scheme("BIO", labels, opens="B", inside="I", closes="", single="")


def bilou(labels: Sequence[str]) -> Constraints:
    """Begin, inside, last, outside, unit; also written BIOES, with E for L and S for U.

    B-X and I-X are followed by I-X or L-X, and nothing else is; no sequence ends within an entity.

    >>> from argmax.spaces import constraints
    >>> constraints.bilou(["O", "B-LOC", "L-LOC", "U-LOC"]).end
    array([ True, False,  True,  True])
    """
    return _scheme("BILOU", labels, opens="B", inside="I", closes="LE", single="US")


def _scheme(
    name: str, labels: Sequence[str], *, opens: str, inside: str, closes: str, single: str
) -> Constraints:
    """An entity is open behind a label of ``opens`` or ``inside``; ``inside`` and ``closes`` need it to be.

    Without letters in ``closes`` an entity may end anywhere; with them it must be closed.
    """
    letters = opens + inside + closes + single
    names = _names(labels)
    parts = [re.fullmatch(rf"(?:(O)|([{letters}])-(.+))", label, re.DOTALL) for label in names]
    if wrong := [label for label, part in zip(names, parts, strict=True) if part is None]:
        shapes = ", ".join(f"{letter}-…" for letter in letters)
        raise InvalidInput(
            f"constraints={name!r} reads labels O, {shapes}; got {wrong[0]!r}. Rename it, or pass "
            "Constraints of your own."
        )
    kind = np.array([part[2] or "O" for part in parts if part])
    entity = np.array([part[3] or "" for part in parts if part])
    needs = np.isin(kind, list(inside + closes))  # an open entity of its own type before it
    leaves = np.isin(kind, list(opens + inside))  # one open behind it
    same = entity[:, None] == entity[None, :]
    follow = np.where(needs[None, :], leaves[:, None] & same, True)
    end = np.ones(len(names), bool)
    if closes:
        follow &= ~leaves[:, None] | needs[None, :]
        end = ~leaves
    return Constraints(names, ~needs, end, follow)


def forbid(labels: Sequence[str], pairs: Iterable[Any]) -> Constraints:
    """No label b right behind a, for each pair (a, b); everything else is allowed.

    >>> from argmax.spaces import constraints
    >>> constraints.forbid(["noun", "verb"], [("verb", "verb")]).follow
    array([[ True,  True],
           [ True, False]])
    """
    names = _names(labels)
    place = {name: i for i, name in enumerate(names)}
    follow = np.ones((len(names), len(names)), bool)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise WrongType(
                f"constraints must name pairs of labels (before, behind); got {pair!r}."
            )
        if unknown := [name for name in pair if name not in place]:
            raise InvalidInput(
                f"constraints forbid a transition of {unknown[0]!r}, which is not one of the labels. "
                "Remove it, or check its spelling."
            )
        follow[place[pair[0]], place[pair[1]]] = False
    every = np.ones(len(names), bool)
    return Constraints(names, every, every, follow)


def get(constraints: Any, labels: Sequence[str]) -> Constraints:
    """Constraints by name ("BIO", "BILOU", "BIOES"), as forbidden pairs, ready made, or None: no constraint.

    >>> from argmax.spaces import constraints
    >>> int(constraints.get("BIO", ["O", "B-LOC", "I-LOC"]).follow.sum())
    8
    >>> constraints.get([("O", "O")], ["O", "X"]).follow
    array([[False,  True],
           [ True,  True]])
    """
    if isinstance(constraints, Constraints):
        if constraints.labels != _names(labels):
            raise InvalidInput("the constraints were made for other labels. Make them anew.")
        return constraints
    if isinstance(constraints, str):
        checks.choice("constraints", constraints, ("BIO", "BILOU", "BIOES"))
        return bio(labels) if constraints == "BIO" else bilou(labels)
    return forbid(labels, () if constraints is None else constraints)


def _names(labels: Sequence[Any]) -> tuple[str, ...]:
    names = tuple(labels)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise WrongType(f"constraints need labels that are strings; got {wrong[0]!r}.")
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InvalidInput(f"labels must differ from each other; {twice!r} is there twice.")
    return names
