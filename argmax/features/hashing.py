"""N-grams hashed into a fixed number of columns, and an account of what that cost.

The column of an n-gram is |h| mod 2^bits and its sign that of h, where h is the 32-bit MurmurHash3 of its
UTF-8: the same columns as scikit-learn's HashingVectorizer has for n_features = 2^bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import murmurhash3_32

from ..records import Ints, Strings
from .vocabulary import byte_strings, for_kernels
from .ways import by_kernel

__all__ = ["Census", "Collisions", "Slots"]

PYTHON_COST = 50
"""Work of hashing one string in ``compiled``'s measure."""


def hashed(strings: Strings, seed: int = 0) -> NDArray[np.uint32]:
    """MurmurHash3 of each string."""
    if by_kernel(PYTHON_COST * len(strings)):
        from ..kernels import text

        hashes = np.empty(len(strings), np.uint32)
        text.murmur(*for_kernels(strings), seed, hashes)
        return hashes
    found = (murmurhash3_32(value, seed, True) for value in byte_strings(strings))
    return np.fromiter(found, np.uint32, len(strings))


def fingerprints(grams: Strings) -> NDArray[np.uint64]:
    """64 bits for each string, never 0: its hash, and below it nearly all of another one."""
    return hashed(grams).astype(np.uint64) << np.uint64(32) | hashed(grams, seed=1) | np.uint64(1)


@final
@dataclass(frozen=True, slots=True)
class Slots:
    """2^bits columns, found by hashing: the counterpart of a Vocabulary that keeps no strings.

    >>> from argmax.features.hashing import Slots
    >>> from argmax.records import Strings
    >>> columns, signs = Slots(4, signed=True).find(Strings.of(["cat", "dog"]))
    >>> columns, signs
    (array([7, 5]), array([ 1, -1], dtype=int32))
    """

    bits: int
    signed: bool = False

    def __len__(self) -> int:
        return 1 << self.bits

    def find(self, grams: Strings) -> tuple[Ints, NDArray[np.int32]]:
        """The column (n,) and the sign (n,) of each n-gram; signs are 1 unless ``signed``."""
        return self.place(hashed(grams).astype(np.uint64) << np.uint64(32))

    def place(self, prints: NDArray[np.uint64]) -> tuple[Ints, NDArray[np.int32]]:
        """The column and the sign of n-grams with these fingerprints."""
        h = prints.view(np.int64) >> 32
        signs = np.where((h >= 0) | (not self.signed), 1, -1).astype(np.int32)
        return np.abs(h) & (len(self) - 1), signs


@final
@dataclass(frozen=True, slots=True)
class Collisions:
    """What hashing put together.

    ``distinct`` counts the different n-grams met: exactly up to a million, else (``exact`` is False) to about
    0.1 %. ``used`` counts the columns that at least one of them has, and ``shared`` the n-grams that do not
    have a column for themselves.

    >>> from argmax.features import Table
    >>> table = Table({"text": "text"}, hash_bits=3).fit(["one two three four five six"])
    >>> table.collisions_["text"]
    Collisions(distinct=6, exact=True, used=5, shared=2)
    """

    distinct: int
    exact: bool
    used: int
    shared: int


SAMPLE = 2**20
"""Fingerprints that a census keeps: 8 MB."""

EXAMPLES = 2**20
"""Strings that a census keeps at most, if examples are asked for."""


@final
class Census:
    """Counts n-grams and their collisions in bounded memory, and keeps examples of what is in which column.

    A fingerprint is 64 bits of two MurmurHash3. Of the fingerprints, those below a limit are kept, and the
    limit is halved whenever they are too many: kept · 2^64 / limit estimates the number of all, and is exact
    until then (adaptive sampling: Wegman; Flajolet 1990, Computing 43). The result does not depend on the
    order or the batches in which n-grams come.

    A column remembers the fingerprint of the n-gram that came first and whether there was another one.
    Examples are the first n-grams of a column: frequent n-grams come early, so they are likely examples.
    """

    def __init__(self, slots: Slots, examples: int = 0) -> None:
        self.slots, self.examples = slots, examples
        self.found: dict[int, list[str]] = {}
        self._room = EXAMPLES if examples else 0
        self._first = np.zeros(len(slots), np.uint64)  # 0: no n-gram yet
        self._shared = np.zeros(len(slots), np.bool_)
        self._filled = np.zeros(len(slots) if examples else 0, np.int32)
        self._kept = np.zeros(0, np.uint64)
        self._waiting: list[NDArray[np.uint64]] = []
        self._halvings = 0

    def add(self, grams: Strings, prints: NDArray[np.uint64]) -> None:
        """Take note of these different n-grams and their fingerprints."""
        columns, _ = self.slots.place(prints)
        fresh = np.flatnonzero(self._first[columns] == 0)[::-1]  # backwards: the first one stays
        self._first[columns[fresh]] = prints[fresh]
        self._shared[columns[self._first[columns] != prints]] = True
        self._waiting.append(prints)
        if sum(map(len, self._waiting)) > SAMPLE:
            self._settle()
        if self._room:
            self._exemplify(grams, columns)

    def collisions(self) -> Collisions:
        """The account so far."""
        self._settle()
        distinct = len(self._kept) << self._halvings
        used = int(np.count_nonzero(self._first))
        alone = used - int(np.count_nonzero(self._shared))
        return Collisions(distinct, self._halvings == 0, used, max(distinct - alone, 0))

    def _settle(self) -> None:
        prints = np.sort(np.concatenate([self._kept, *self._waiting]))
        self._kept = self._below(prints[np.diff(prints, prepend=np.uint64(0)) > 0])
        self._waiting = []
        while len(self._kept) > SAMPLE:
            self._halvings += 1
            self._kept = self._below(self._kept)

    def _below(self, ascending: NDArray[np.uint64]) -> NDArray[np.uint64]:
        last = np.uint64(2 ** (64 - self._halvings) - 1)
        return ascending[: np.searchsorted(ascending, last, side="right")]

    def _exemplify(self, grams: Strings, columns: Ints) -> None:
        for i in np.flatnonzero(self._filled[columns] < self.examples).tolist():
            column = int(columns[i])
            known, gram = self.found.setdefault(column, []), grams[i]
            if self._room and len(known) < self.examples and gram not in known:
                known.append(gram)
                self._filled[column] += 1
                self._room -= 1
