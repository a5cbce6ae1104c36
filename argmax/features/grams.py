r"""From a column of text to counted n-grams.

The n-grams are those of scikit-learn's vectorisers, to the letter:

    word       tokens are runs of at least two word characters, ``(?u)\b\w\w+\b``; an n-gram is n tokens in a
               row, joined by one space
    char       n characters in a row, after every run of two or more white-space characters became a space
    char_wb    n characters in a row inside a word with a space on each side; a word that is too short counts
               once, whole
    value      the whole string (a category)

Text is lower-cased by Python's ``str.lower``, which knows the final sigma and the dotted I.

Two ways lead to the same ``Counted``: plain Python for little text, kernels for much. There, ASCII is folded
by the kernel, and other texts go once through ``str.lower``; word characters and white space are ``re``'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..records import Ints, Strings
from . import characters
from .parallel import in_order
from .ways import by_kernel

__all__ = ["Analyzer", "Counted"]

CHUNK = 2**19
"""Bytes of text counted together: few enough that their dictionary stays in the cache."""

PYTHON_COST = 4
"""Work of a byte in ``compiled``'s measure: 250 kB of text take plain Python about 50 ms."""

TOKEN = re.compile(r"(?u)\b\w\w+\b")
SPACES = re.compile(r"\s\s+")


@dataclass(frozen=True, slots=True)
class Counted:
    """The n-grams of some documents, numbered by first appearance, and how often each document has which."""

    grams: Strings  # (G,) different n-grams
    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (entries,) n-grams of each document
    counts: NDArray[np.int32]  # (entries,)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def bare(self) -> Counted:
        """The same without the n-grams themselves, for whoever knows them by number."""
        return replace(self, grams=Strings.of([]))

    @property
    def documents(self) -> Ints:
        """(G,) in how many of the documents each n-gram is."""
        return np.bincount(self.indices, minlength=len(self.grams))

    @property
    def occurrences(self) -> Ints:
        """(G,) how often each n-gram occurs in all of them."""
        total = np.bincount(self.indices, self.counts, minlength=len(self.grams))
        return total.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Analyzer:
    """How texts become n-grams.

    >>> from argmax.features.grams import Analyzer
    >>> from argmax.records import Strings
    >>> (counted,) = Analyzer("word", (1, 2)).count(Strings.of(["the cat, the CAT", "a cat"]))
    >>> counted.grams.tolist()
    ['the', 'cat', 'the cat', 'cat the']
    >>> counted.counts.tolist(), counted.indptr.tolist()
    ([2, 2, 2, 1, 1], [0, 4, 5])
    """

    kind: str = "word"  # "word" "char" "char_wb" "value"
    ngrams: tuple[int, int] = (1, 1)
    lowercase: bool = True

    def count(
        self,
        texts: Strings,
        threads: int = 1,
        then: Callable[[Counted], Any] = lambda counted: counted,
    ) -> Iterator[Any]:
        """``then`` of the texts' n-grams, a chunk at a time and in order; a missing text has none."""
        size = int(texts.offsets[-1] - texts.offsets[0])
        counted = partial(_compiled if by_kernel(PYTHON_COST * size) else _plain, self)
        threads = threads if size > self._chunk_size else 1
        return in_order(lambda chunk: then(counted(chunk)), self._chunks(texts), threads)

    @property
    def _chunk_size(self) -> int:
        return CHUNK // (self.ngrams[1] - self.ngrams[0] + 1)

    def _chunks(self, texts: Strings) -> Iterator[tuple[int, Strings]]:
        """(number of the first text, texts): cut by bytes."""
        start = 0
        while start < len(texts):
            end = (
                np.searchsorted(texts.offsets, texts.offsets[start] + self._chunk_size, "right") - 1
            )
            stop = min(max(int(end), start + 1), len(texts))
            yield start, texts[start:stop]
            start = stop

    def split(self, text: str) -> Iterator[str]:
        """The n-grams of one text, in the order in which they are numbered."""
        if self.kind == "value":
            yield text
            return
        text = text.lower() if self.lowercase else text
        if self.kind == "char_wb":
            for word in text.split():
                yield from _inside(f" {word} ", *self.ngrams)
            return
        units: list[str] | str = (
            TOKEN.findall(text) if self.kind == "word" else SPACES.sub(" ", text)
        )
        join = " ".join if self.kind == "word" else "".join
        for n in range(self.ngrams[0], self.ngrams[1] + 1):
            yield from (join(units[t : t + n]) for t in range(len(units) - n + 1))


def _inside(word: str, least: int, most: int) -> Iterator[str]:
    for n in range(least, most + 1):
        if n >= len(word):
            yield word
            return
        yield from (word[t : t + n] for t in range(len(word) - n + 1))


def _decoded(raw: bytes, row: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"the text in row {row} is not valid UTF-8 (byte {error.start}: {error.reason}). "
            "Read the file with its own encoding."
        ) from error


# Plain Python


def _plain(analyzer: Analyzer, chunk: tuple[int, Strings]) -> Counted:
    first, texts = chunk
    numbers: dict[str, int] = {}
    indptr, indices, counts = [0], list[int](), list[int]()
    for text in _each(first, texts):
        found: dict[int, int] = {}
        for gram in () if text is None else analyzer.split(text):
            number = numbers.setdefault(gram, len(numbers))
            found[number] = found.get(number, 0) + 1
        indices += found.keys()
        counts += found.values()
        indptr.append(len(indices))
    return Counted(
        Strings.of(numbers),
        np.array(indptr, np.int64),
        np.array(indices, np.int32),
        np.array(counts, np.int32),
    )


def _each(first: int, texts: Strings) -> Iterator[str | None]:
    raw, offsets = texts.data.tobytes(), texts.offsets.tolist()
    missing = texts.missing
    for i in range(len(texts)):
        absent = missing is not None and missing[i]
        yield None if absent else _decoded(raw[offsets[i] : offsets[i + 1]], first + i)


# Kernels


def _compiled(analyzer: Analyzer, chunk: tuple[int, Strings]) -> Counted:
    from ..kernels import text

    whole = int(analyzer.kind == "char_wb")
    counted = text.count(*_units(analyzer, *chunk), *analyzer.ngrams, whole)
    return Counted(Strings(*counted[:2]), *counted[2:])


def _units(analyzer: Analyzer, first: int, texts: Strings) -> tuple[Any, ...]:
    """out, starts, stops, low, high, begins, as kernels/text.py describes them."""
    from ..kernels import text

    fold = characters.fold(analyzer.lowercase)
    if analyzer.kind == "value":
        data, offsets, _ = _regular(first, texts, str)
        low = np.arange(len(texts))
        high = low + 1 if texts.missing is None else low + ~texts.missing
        return data, offsets[:-1], offsets[1:], low, high, np.arange(len(texts) + 1)
    given = _regular(first, texts, str.lower if analyzer.lowercase else str)
    if analyzer.kind == "char_wb":
        return tuple(text.padded_words(*given, fold))
    cut = text.words if analyzer.kind == "word" else text.characters
    out, starts, stops, begins = cut(*given, fold)
    return out, starts, stops, begins[:-1], begins[1:], np.arange(len(begins))


def _regular(first: int, texts: Strings, change: Callable[[str], str]) -> tuple[Any, ...]:
    """data, offsets and classes of characters; every text that is not ASCII decoded and changed."""
    low, high = texts.offsets[0], texts.offsets[-1]
    offsets = texts.offsets - low
    data = np.array(texts.data[low:high])  # a copy, as kernels want what can be written
    foreign = np.flatnonzero(data >= characters.ASCII)
    if not len(foreign):
        return data, offsets, characters.classes(characters.ASCII)
    rows = np.unique(np.searchsorted(offsets, foreign, side="right") - 1)
    raw, end, parts, sizes = data.tobytes(), 0, [], np.diff(offsets)
    for i in rows.tolist():
        start, stop = int(offsets[i]), int(offsets[i + 1])
        new = change(_decoded(raw[start:stop], first + i)).encode("utf-8")
        parts += [raw[end:start], new]
        end = stop
        sizes[i] = len(new)
    parts.append(raw[end:])
    data = np.frombuffer(bytearray(b"".join(parts)), np.uint8)
    return data, np.concatenate([[0], np.cumsum(sizes)]), characters.classes()
