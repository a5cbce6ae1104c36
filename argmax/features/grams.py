r"""From a column of text to counted n-grams.

The n-grams are those of scikit-learn's vectorisers, to the letter:

    word       tokens are runs of at least two word characters, ``(?u)\b\w\w+\b``; an n-gram is n tokens in a
               row, joined by one space
    char       n characters in a row, after every run of two or more white-space characters became a space
    char_wb    n characters in a row inside a word with a space on each side; a word that is too short counts
               once, whole
    value      the whole string (a category)

Text is lower-cased by Python's ``str.lower``, which knows the final sigma and the dotted I.

Two ways lead to the same ``Counted``: plain Python for little text, kernels for much. These have tables of
the lower case and the class of every character, taken from ``str.lower`` and ``re``; the few texts in which
lower case is no matter of single characters go through ``str.lower`` themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import InvalidInput, ResourceLimit
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
UNRULY = re.compile("|".join(characters.UNRULY).encode("utf-8"))


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
        threads: int | None = 1,
        then: Callable[[Counted], Any] = lambda counted: counted,
    ) -> Iterator[Any]:
        """``then`` of the texts' n-grams, a chunk at a time and in order; a missing text has none."""
        size = int(texts.offsets[-1] - texts.offsets[0])
        counted = partial(_compiled if by_kernel(PYTHON_COST * size) else _plain, self)
        needed = checks.threads(threads) if size > self._chunk_size else 1
        return in_order(lambda chunk: then(counted(chunk)), self._chunks(texts), needed)

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
    try:
        counted = text.count(*_units(analyzer, *chunk), *analyzer.ngrams, whole)
    except MemoryError as error:
        raise ResourceLimit(
            f"the n-grams of a text in or after row {chunk[0]} do not fit into memory. Use shorter "
            "ngrams, or cut long texts."
        ) from error
    return Counted(Strings(*counted[:2]), *counted[2:])


def _units(analyzer: Analyzer, first: int, texts: Strings) -> tuple[Any, ...]:
    """out, starts, stops, low, high, begins, as kernels/text.py describes them."""
    from ..kernels import text

    data, offsets = _valid(first, texts)
    if analyzer.kind == "value":
        low = np.arange(len(texts))
        high = low + 1 if texts.missing is None else low + ~texts.missing
        return data, offsets[:-1], offsets[1:], low, high, np.arange(len(texts) + 1)
    size = characters.ASCII if data.max(initial=0) < characters.ASCII else characters.CODE_POINTS
    lower = characters.lower(size) if analyzer.lowercase else characters.itself(size)
    if analyzer.lowercase and size > characters.ASCII:
        data, offsets = _unruly_lowered(data, offsets)
    given = data, offsets, characters.classes(size), lower
    if analyzer.kind == "char_wb":
        return tuple(text.padded_words(*given))
    cut = text.words if analyzer.kind == "word" else text.characters
    out, starts, stops, begins = cut(*given)
    return out, starts, stops, begins[:-1], begins[1:], np.arange(len(begins))


def _valid(first: int, texts: Strings) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of the texts alone, and their offsets; every text is UTF-8."""
    low, high = texts.offsets[0], texts.offsets[-1]
    data, offsets = np.array(texts.data[low:high]), texts.offsets - low
    if data.max(initial=0) >= characters.ASCII:
        begins = data[offsets[:-1][offsets[:-1] < len(data)]]
        try:
            whole = data.tobytes().decode("utf-8") is not None and not np.any(begins & 0xC0 == 0x80)
        except UnicodeDecodeError:
            whole = False
        if not whole:  # find the text, and name it
            for i in range(len(texts)):
                _decoded(data[offsets[i] : offsets[i + 1]].tobytes(), first + i)
    return data, offsets


def _unruly_lowered(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The texts, with those in lower case that have a character whose lower case is not one character."""
    raw = data.tobytes()
    unruly = [found.start() for found in UNRULY.finditer(raw)]
    if not unruly:
        return data, offsets
    sizes, parts, end = np.diff(offsets), list[bytes](), 0
    for i in np.unique(np.searchsorted(offsets, unruly, side="right") - 1).tolist():
        start, stop = int(offsets[i]), int(offsets[i + 1])
        changed = raw[start:stop].decode("utf-8").lower().encode("utf-8")
        parts += [raw[end:start], changed]
        sizes[i], end = len(changed), stop
    parts.append(raw[end:])
    return np.frombuffer(bytearray(b"".join(parts)), np.uint8), np.concatenate(
        [[0], np.cumsum(sizes)]
    )
