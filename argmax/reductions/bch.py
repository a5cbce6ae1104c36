"""Binary BCH codes: the cyclic codes whose generator has 2t consecutive powers of α among its roots.

A polynomial over GF(2) is a whole number, its bits the coefficients. α generates GF(2^m) as a root of a
primitive polynomial; the minimal polynomial of α^i is the product of x − α^j over i's cyclotomic coset
{i, 2i, 4i, …} mod n, n = 2^m − 1. The generator of designed distance δ is the least common multiple of those
of α¹ … α^(δ−1). MacWilliams and Sloane 1977, chapters 7 and 9.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput

__all__ = ["words"]

PRIMITIVE = {2: 0b111, 3: 0b1011, 4: 0b10011, 5: 0b100101, 6: 0b1000011, 7: 0b10001001,
             8: 0b100011101, 9: 0b1000010001, 10: 0b10000001001, 11: 0b100000000101}  # fmt: skip
"""A primitive polynomial of each degree m."""


def words(m: int, k: int) -> NDArray[np.uint8]:
    """k words of the code of length 2^m − 1 with the largest designed distance that has so many (k, n).

    >>> from argmax.reductions.bch import words
    >>> words(4, 5).sum(axis=1).tolist()  # of length 15 and distance 7
    [0, 7, 7, 7, 7]
    """
    if m not in PRIMITIVE:
        raise InvalidInput(f"length: BCH codes here have up to {2 ** max(PRIMITIVE) - 1} bits.")
    n, needed = 2**m - 1, max((k - 1).bit_length(), 1)
    generator = _generator(m, needed)
    dimension = n - (generator.bit_length() - 1)
    basis = np.array([_bits(generator << i, n) for i in range(dimension)], np.uint8)
    # Nothing, the basis, then sums of it: words that span the whole code leave no two columns alike.
    units = [1 << i for i in range(dimension)]
    others = (number for number in itertools.count() if number & (number - 1))
    chosen = np.array([*itertools.islice(itertools.chain([0], units, others), k)], np.int64)
    messages = (chosen[:, None] >> np.arange(dimension)) & 1
    return np.asarray((messages @ basis) % 2, np.uint8)


def _generator(m: int, needed: int) -> int:
    """The generator of largest designed distance whose code has at least 2^needed words."""
    n, powers = 2**m - 1, _powers(m)
    generator, roots = 1, set[int]()
    for i in range(1, n):
        if i in roots:
            continue
        coset = _coset(i, n)
        if n - len(roots) - len(coset) < needed:
            break
        generator = _product(generator, _minimal(coset, powers))
        roots |= coset
    return generator


def _powers(m: int) -> list[int]:
    """α⁰ … α^(n−1) of GF(2^m)."""
    found, value = [], 1
    for _ in range(2**m - 1):
        found.append(value)
        value <<= 1
        if value >> m:
            value ^= PRIMITIVE[m]
    return found


def _coset(i: int, n: int) -> set[int]:
    found = {i}
    while (i := 2 * i % n) not in found:
        found.add(i)
    return found


def _minimal(coset: set[int], powers: list[int]) -> int:
    """Π (x − α^j): its coefficients end in {0, 1}."""
    n, logs = len(powers), {value: i for i, value in enumerate(powers)}
    polynomial = [1]  # coefficients in GF(2^m), the constant first
    for j in coset:
        shifted = [0, *polynomial]
        scaled = [powers[(logs[c] + j) % n] if c else 0 for c in polynomial] + [0]
        polynomial = [a ^ b for a, b in zip(shifted, scaled, strict=True)]
    return sum(c << i for i, c in enumerate(polynomial))


def _product(a: int, b: int) -> int:
    """a · b over GF(2)."""
    result = 0
    while b:
        result ^= a if b & 1 else 0
        a, b = a << 1, b >> 1
    return result


def _bits(value: int, n: int) -> list[int]:
    return [(value >> i) & 1 for i in range(n)]
