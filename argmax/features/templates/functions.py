"""What a template may do with a string: cut it, lower it, or say what it looks like.

A function is written for one Python string. Most strings are ASCII, and for those there is the same function
of a whole column; a test holds the two together.

    lower(x)            str.lower
    prefix(x, n)        the first n characters, or all of them if there are fewer
    suffix(x, n)        the last n
    shape(x)            letters become X or x and digits d, the rest stays:   "F-16s" → "X-ddx"
    short_shape(x)      the same, and what repeats is written once:           "F-16s" → "X-dx"
    length(x)           how many characters
    is_capitalised(x)   yes if the first character is an upper-case letter, else no
    is_upper(x)         yes if some letter is upper-case and none is lower-case
    is_number(x)        yes if there is a digit, and nothing but digits, points, commas and hyphens
    is_punctuation(x)   yes if there is neither a letter nor a digit
    has_digit(x)        yes if there is a digit
    has_hyphen(x)       yes if there is a hyphen
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np

from ...records import Strings
from ..interning import spans
from ..vocabulary import joined, taken

__all__ = ["FUNCTIONS", "Function", "Step"]

UPPER, LOWER, LETTER, DIGIT, POINT, HYPHEN, OTHER = (1 << bit for bit in range(7))
"""What a character can be; a letter without case is a LETTER."""

SYMBOLS = {UPPER: "X", LOWER: "x", LETTER: "x", DIGIT: "d"}
ANSWERS = "no", "yes"


@lru_cache(maxsize=4096)
def kind(character: str) -> int:
    """What one character is."""
    if character.isupper():
        return UPPER
    if character.islower():
        return LOWER
    if character.isalpha():
        return LETTER
    if character.isdigit():
        return DIGIT
    if character in ".,":
        return POINT
    return HYPHEN if character in "-‐‑–—" else OTHER


def _symbol(character: str) -> str:
    return SYMBOLS.get(kind(character), character)


_ASCII = [chr(code) for code in range(128)]
_KINDS = np.array([kind(character) for character in _ASCII], np.uint8)
_SHAPES = np.frombuffer("".join(map(_symbol, _ASCII)).encode(), np.uint8)
_LOWER = np.frombuffer("".join(_ASCII).lower().encode(), np.uint8)


# Whole strings


def _lower(strings: Strings, size: int) -> Strings:
    return Strings(_LOWER[strings.data], strings.offsets)


def _shape(strings: Strings, size: int) -> Strings:
    return Strings(_SHAPES[strings.data], strings.offsets)


def _short_shape(strings: Strings, size: int) -> Strings:
    shapes = _SHAPES[strings.data]
    stays = np.ones(len(shapes), np.bool_)
    stays[1:] = shapes[1:] != shapes[:-1]
    starts = strings.offsets[:-1]
    stays[starts[starts < len(shapes)]] = True  # whatever the string before it ends with
    return Strings(shapes[stays], np.concatenate([[0], np.cumsum(stays)])[strings.offsets])


def _prefix(strings: Strings, size: int) -> Strings:
    starts, stops = strings.offsets[:-1], strings.offsets[1:]
    return spans(strings.data, starts, np.minimum(starts + size, stops))


def _suffix(strings: Strings, size: int) -> Strings:
    starts, stops = strings.offsets[:-1], strings.offsets[1:]
    return spans(strings.data, np.maximum(stops - size, starts), stops)


def _length(strings: Strings, size: int) -> Strings:
    lengths, place = np.unique(np.diff(strings.offsets), return_inverse=True)
    return taken(joined([b"%d" % length for length in lengths.tolist()]), place)


# Yes or no


@dataclass(frozen=True, slots=True)
class _Question:
    """Yes if one of the characters is of a kind in ``some``, and none of a kind in ``none``.

    ``first`` looks at the first character only.
    """

    some: int
    none: int = 0
    first: bool = False

    def of(self, text: str, size: int) -> str:
        seen = 0
        for character in text[:1] if self.first else text:
            seen |= kind(character)
        return ANSWERS[bool(seen & self.some) and not seen & self.none]

    def of_all(self, strings: Strings, size: int) -> Strings:
        seen = np.zeros(len(strings), np.uint8)
        some = np.diff(strings.offsets) > 0
        starts = strings.offsets[:-1][some]
        kinds = _KINDS[strings.data]
        if len(starts):
            seen[some] = kinds[starts] if self.first else np.bitwise_or.reduceat(kinds, starts)
        yes = (seen & self.some != 0) & (seen & self.none == 0)
        return taken(Strings.of(ANSWERS), yes.astype(np.int64))


# The functions


@dataclass(frozen=True, slots=True)
class Function:
    """A function of strings: of one, and of a column of ASCII. ``sized``: it takes a number as well."""

    of: Callable[[str, int], str]
    of_all: Callable[[Strings, int], Strings]
    sized: bool = False


def _question(some: int, none: int = 0, first: bool = False) -> Function:
    asked = _Question(some, none, first)
    return Function(asked.of, asked.of_all)


def _shaped(text: str, size: int) -> str:
    return "".join(map(_symbol, text))


def _shaped_short(text: str, size: int) -> str:
    return "".join(symbol for symbol, _ in groupby(map(_symbol, text)))


FUNCTIONS = {
    "lower": Function(lambda text, size: text.lower(), _lower),
    "prefix": Function(lambda text, size: text[:size], _prefix, sized=True),
    "suffix": Function(lambda text, size: text[-size:], _suffix, sized=True),
    "shape": Function(_shaped, _shape),
    "short_shape": Function(_shaped_short, _short_shape),
    "length": Function(lambda text, size: str(len(text)), _length),
    "is_capitalised": _question(UPPER, first=True),
    "is_upper": _question(UPPER, none=LOWER),
    "is_number": _question(DIGIT, none=UPPER | LOWER | LETTER | OTHER),
    "is_punctuation": _question(POINT | HYPHEN | OTHER, none=UPPER | LOWER | LETTER | DIGIT),
    "has_digit": _question(DIGIT),
    "has_hyphen": _question(HYPHEN),
}


@dataclass(frozen=True, slots=True)
class Step:
    """A function by its name, and its number."""

    name: str
    size: int = 0

    def of(self, text: str) -> str:
        """The function of one string."""
        return FUNCTIONS[self.name].of(text, self.size)

    def of_all(self, strings: Strings) -> Strings:
        """The function of each string; all are ASCII and lie one behind the other from byte 0."""
        return FUNCTIONS[self.name].of_all(strings, self.size)
