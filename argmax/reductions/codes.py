"""Output codes: a row of bits for each class, a column for each binary problem.

    code (k, L) of −1, 1, and 0 where a class takes no part in a problem

A code is usable if every two rows differ by opposite bits somewhere, and useful in every column: both bits
occur, and no two columns ask the same question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import hadamard as sylvester

from .. import checks
from ..errors import InvalidInput
from .bch import words
from .distances import Code, Distances, alike, checked, distances, useful

__all__ = [
    "CODES",
    "Distances",
    "all_pairs",
    "bch",
    "distances",
    "exhaustive",
    "get",
    "hadamard",
    "minimal",
    "one_vs_rest",
    "random_dense",
    "random_sparse",
]

TRIES, EFFORT = 200, 1_000_000
"""Random codes drawn, of which the one with the largest distance is kept; fewer of so many bits in all."""

LARGEST = 14
"""Classes of an exhaustive code: 8191 problems."""


def one_vs_rest(k: int) -> Code:
    """Each class against all others; two classes are one problem.

    >>> from argmax.reductions import codes
    >>> codes.one_vs_rest(3)
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    """
    return np.array([[-1], [1]], np.int8) if k == 2 else (2 * np.eye(k) - 1).astype(np.int8)


def all_pairs(k: int) -> Code:
    """Each class against each other: k(k − 1)/2 problems, the first class of a pair being +1.

    >>> from argmax.reductions import codes
    >>> codes.all_pairs(3)
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]], dtype=int8)
    """
    first, second = np.triu_indices(k, 1)
    code = np.zeros((k, len(first)), np.int8)
    code[first, np.arange(len(first))] = 1
    code[second, np.arange(len(first))] = -1
    return code


def exhaustive(k: int) -> Code:
    """All 2^(k−1) − 1 ways to split the classes in two: distance 2^(k−2).

    Dietterich and Bakiri 1995 (JAIR 2), for k up to 14.

    >>> from argmax.reductions import codes
    >>> codes.exhaustive(3)
    array([[ 1,  1,  1],
           [ 1, -1, -1],
           [-1,  1, -1]], dtype=int8)
    """
    if k > LARGEST:
        raise InvalidInput(
            f"an exhaustive code of {k} classes has {2 ** (k - 1) - 1} problems; it takes up to "
            f"{LARGEST} classes. Use code='bch' or 'random_dense'."
        )
    numbers = np.arange(2 ** (k - 1) - 2, -1, -1)
    bits = (numbers >> np.arange(k - 2, -1, -1)[:, None]) & 1 if k > 1 else numbers
    return np.vstack([np.ones(len(numbers)), 2 * bits - 1]).astype(np.int8)


def hadamard(k: int) -> Code:
    """Rows of Sylvester's matrix without its constant column: m − 1 problems at distance m/2, m = 2^⌈log₂ k⌉.

    >>> from argmax.reductions import codes
    >>> codes.distances(codes.hadamard(10))
    Distances(classes=10, length=15, least=8.0, correctable=3)
    """
    m = 1 << (k - 1).bit_length()
    return np.asarray(sylvester(m)[:k, 1:], np.int8)


def bch(k: int, length: int | None = None) -> Code:
    """Words of a binary BCH code: of those of this length with enough words, the one of largest distance.

    ``length`` is rounded up to 2^m − 1; None: about 10 log₂ k. Columns that say nothing new about k of the
    words are left out. Bose and Ray-Chaudhuri 1960; Hocquenghem 1959.

    >>> from argmax.reductions import codes
    >>> codes.distances(codes.bch(26))
    Distances(classes=26, length=63, least=31.0, correctable=15)
    """
    wanted = _default(k, 10) if length is None else _length(length, k)
    m = max(wanted.bit_length(), (k - 1).bit_length() + 1, 2)
    return useful(2 * words(m, k).astype(np.int8) - 1)


def minimal(k: int) -> Code:
    """⌈log₂ k⌉ bits: 0 … k − 1 in binary. Here to show why it fails: one wrong bit is a wrong class.

    >>> from argmax.reductions import codes
    >>> codes.distances(codes.minimal(8))
    Distances(classes=8, length=3, least=1.0, correctable=0)
    """
    width = max((k - 1).bit_length(), 1)
    bits = (np.arange(k)[:, None] >> np.arange(width - 1, -1, -1)) & 1
    return (2 * bits - 1).astype(np.int8)


def random_dense(k: int, length: int | None = None, seed: Any = 0) -> Code:
    """Random bits: of many codes the one with the largest distance. ``length`` None: 10 log₂ k.

    >>> from argmax.reductions import codes
    >>> codes.random_dense(6, 12, seed=0).shape
    (6, 12)
    """
    most = 2 ** (k - 1) - 1
    size = min(_default(k, 10), most) if length is None else _length(length, k, most)

    def draw(rng: Any) -> Code:
        if size > 2 * (k - 1).bit_length():
            return _columns(rng, [-1, 1], k, size)
        # So few bits that nearly all words may be needed: distinct rows first.
        chosen = rng.choice(2**size, size=k, replace=False)
        return np.asarray(2 * ((chosen[:, None] >> np.arange(size)) & 1) - 1, np.int8)

    return exhaustive(k) if size == most else _best(draw, k, size, seed)


def random_sparse(k: int, length: int | None = None, seed: Any = 0) -> Code:
    """Random bits of which half are 0: a problem then asks about half of the classes only.

    ``length`` None: 15 log₂ k.

    >>> from argmax.reductions import codes
    >>> sorted(set(codes.random_sparse(6, seed=0).ravel().tolist()))
    [-1, 0, 1]
    """
    most = (3**k - 2 ** (k + 1) + 1) // 2
    size = min(_default(k, 15), most) if length is None else _length(length, k, most)

    def draw(rng: Any) -> Code:
        return _columns(rng, [-1, 0, 0, 1], k, size)

    return _best(draw, k, size, seed)


CODES: dict[str, Callable[..., Code]] = {
    "all_pairs": all_pairs,
    "bch": bch,
    "exhaustive": exhaustive,
    "hadamard": hadamard,
    "minimal": minimal,
    "one_vs_rest": one_vs_rest,
    "random_dense": random_dense,
    "random_sparse": random_sparse,
}
"""The codes by name."""


def get(code: Any, k: int, length: int | None = None, seed: Any = 0) -> Code:
    """A code for k classes by its name, or a matrix (k, L), checked.

    >>> from argmax.reductions import codes
    >>> codes.get([[1, 1, 0], [-1, 0, 1], [0, -1, -1]], k=3).shape
    (3, 3)
    """
    if isinstance(code, str):
        make = CODES[checks.choice("code", code, tuple(CODES))]
        if length is not None and code not in ("bch", "random_dense", "random_sparse"):
            raise InvalidInput(f"code {code!r} has a length of its own. Use length=None.")
        sized = {} if code not in ("bch", "random_dense", "random_sparse") else {"length": length}
        return make(k, **sized, **({"seed": seed} if code.startswith("random") else {}))
    if length is not None:
        raise InvalidInput(
            "length belongs to a code by name; a matrix has its own. Use length=None."
        )
    return checked(code, k)


def _columns(rng: Any, values: list[int], k: int, size: int) -> Code:
    """Useful columns of random values."""
    found = np.zeros((k, 0), np.int8)
    while found.shape[1] < size:
        more = rng.choice(values, size=(k, 2 * size + 8)).astype(np.int8)
        found = useful(np.hstack([found, more]))
    return found[:, :size]


def _best(draw: Callable[[Any], Code], k: int, size: int, seed: Any) -> Code:
    """Of many drawn codes with distinct rows and useful columns, the one with the largest distance."""
    from sklearn.utils import check_random_state

    rng, found, tries = check_random_state(seed), None, max(min(TRIES, EFFORT // (k * size)), 20)
    for _ in range(tries):
        code = draw(rng)
        if useful(code).shape[1] < size or alike(code) is not None:
            continue
        if found is None or distances(code).least > distances(found).least:
            found = code
    if found is None:
        raise InvalidInput(
            f"length={size}: none of {tries} random codes for {k} classes has distinct rows and useful "
            "columns. Raise length."
        )
    return found


def _default(k: int, times: int) -> int:
    return int(np.ceil(times * np.log2(k)))


def _length(length: Any, k: int, most: int | None = None) -> int:
    """A number of problems that can tell k classes apart."""
    size, least = checks.positive_integer("length", length), max((k - 1).bit_length(), 1)
    if size < least:
        raise InvalidInput(
            f"length must be at least {least} to tell {k} classes apart; got {size}."
        )
    if most is not None and size > most:
        raise InvalidInput(f"length must be at most {most} for {k} classes; got {size}.")
    return size
