"""Attributes as strings, as a careful user of CRFsuite writes them: what ``Templates`` makes of numbers.

Whatever depends on one word alone is made once for each different word. Names are one letter long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import groupby

Columns = list[tuple[str, ...]]
Rows = list[list[str]]

OUTSIDE = "\0"


def sentences(path: str, separator: str) -> Iterator[Columns]:
    """The columns of each sentence of a file."""
    with open(path, encoding="utf-8", newline="\n") as file:
        text = file.read()
    for block in text.split("\n\n"):
        if block:
            yield list(zip(*[line.split(separator) for line in block.split("\n")], strict=True))


def chunking(columns: Columns) -> Rows:
    """Words and parts of speech around each token; a template that looks beyond the ends makes none."""
    w, p = ((OUTSIDE, OUTSIDE, *column, OUTSIDE, OUTSIDE) for column in columns[:2])
    rows = [
        [
            f"a{w1}", f"b{w2}", f"c{w3}", f"d{w4}", f"e{w5}", f"f{w2}|{w3}", f"g{w3}|{w4}",
            f"h{p1}", f"i{p2}", f"j{p3}", f"k{p4}", f"l{p5}",
            f"m{p1}|{p2}", f"n{p2}|{p3}", f"o{p3}|{p4}", f"p{p4}|{p5}",
            f"q{p1}|{p2}|{p3}", f"r{p2}|{p3}|{p4}", f"s{p3}|{p4}|{p5}",
        ]
        for w1, w2, w3, w4, w5, p1, p2, p3, p4, p5 in zip(
            w, w[1:], w[2:], w[3:], w[4:], p, p[1:], p[2:], p[3:], p[4:], strict=False
        )
    ]  # fmt: skip
    for t in {0, 1, len(rows) - 2, len(rows) - 1} & set(range(len(rows))):
        rows[t] = [attribute for attribute in rows[t] if OUTSIDE not in attribute]
    rows[0].append("BOS")
    rows[-1].append("EOS")
    return rows


def words(columns: Columns) -> Rows:
    """Words around each token, its beginnings, endings and shape."""
    own = [of_word(word) for word in columns[0]]
    low = ["_B-2", "_B-1", *[x.lower for x in own], "_B+1", "_B+2"]
    short = ["_B-1", *[x.short for x in own], "_B+1"]
    return [
        [*x.alone, f"n{l1}", f"o{l2}", f"p{l4}", f"q{l5}", f"r{l2}|{l3}", f"s{l3}|{l4}", f"t{s1}", f"u{s3}"]
        for x, l1, l2, l3, l4, l5, s1, s3 in zip(
            own, low, low[1:], low[2:], low[3:], low[4:], short, short[2:], strict=False
        )
    ]  # fmt: skip


RECIPES: dict[str, Callable[[Columns], Rows]] = {"chunking": chunking, "words": words}


class Word:
    """What the word alone has to say."""

    __slots__ = ("alone", "lower", "shape", "short")

    def __init__(self, word: str) -> None:
        low = self.lower = word.lower()
        self.shape = "".join(map(_symbol, word))
        self.short = "".join(symbol for symbol, _ in groupby(self.shape))
        self.alone = (
            "m", f"a{word}", f"b{low}", f"c{low[:1]}", f"d{low[:2]}", f"e{low[:3]}", f"f{low[:4]}",
            f"g{low[-1:]}", f"h{low[-2:]}", f"i{low[-3:]}", f"j{low[-4:]}",
            f"k{self.shape}", f"l{self.short}",
        )  # fmt: skip

    def columns(self) -> tuple[str, ...]:
        """The same as columns of a file, for Wapiti, whose patterns look at columns."""
        low = self.lower
        ends = (low[:1], low[:2], low[:3], low[:4], low[-1:], low[-2:], low[-3:], low[-4:])
        return low, *ends, self.shape, self.short


of_word = lru_cache(maxsize=None)(Word)


def _symbol(character: str) -> str:
    if character.isupper():
        return "X"
    if character.isalpha() or character.islower():
        return "x"
    return "d" if character.isdigit() else character


# Wapiti's patterns; beyond the ends it finds marks, _x-1 and the like

_WINDOW = range(-2, 3)
_CHUNKING = (
    *(f"%x[{i},0]" for i in _WINDOW),
    *(f"%x[{i},0]/%x[{i + 1},0]" for i in (-1, 0)),
    *(f"%x[{i},1]" for i in _WINDOW),
    *(f"%x[{i},1]/%x[{i + 1},1]" for i in _WINDOW[:4]),
    *(f"%x[{i},1]/%x[{i + 1},1]/%x[{i + 2},1]" for i in _WINDOW[:3]),
)
_WORDS = (
    "", "%x[0,0]", *(f"%x[{i},1]" for i in _WINDOW), "%x[-1,1]/%x[0,1]", "%x[0,1]/%x[1,1]",
    *(f"%x[0,{column}]" for column in range(2, 11)), *(f"%x[{i},11]" for i in (-1, 0, 1)),
)  # fmt: skip


def patterns(recipe: str) -> str:
    """Wapiti's pattern file."""
    lines = _CHUNKING if recipe == "chunking" else _WORDS
    return "\n".join([*(f"U{i:02d}:{line}" for i, line in enumerate(lines)), "B", ""])


def columns_for_wapiti(path: str, separator: str, into: str) -> None:
    """A file with a column for everything that a pattern looks at, and the label last."""
    with open(into, "w", encoding="utf-8") as file:
        for tokens, labels in sentences(path, separator):
            for word, label in zip(tokens, labels, strict=True):
                file.write("\t".join((word, *of_word(word).columns(), label)) + "\n")
            file.write("\n")
