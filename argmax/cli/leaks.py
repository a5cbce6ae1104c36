"""Suspects of leakage: what alone gives the class away.

A column, a row's place in the file, or a word that nearly always tells the class by itself was often written
after the class was known: a status code, a routing tag, an id handed out by department. A model that sees it
scores high here and fails where it is used.

Every suspect is tried on rows it was not learned from: values are given the most frequent class of one half
of the rows and judged on the other half, so that a column of different values is no suspect.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..features.grams import Analyzer
from ..features.vocabulary import Tally
from ..records import Batch, Csr, Ints, Strings
from .findings import ERROR, NOTE, WARNING, Finding
from .fingerprints import Bits, of_column

__all__ = ["suspects"]

SURE, LIKELY = 0.995, 0.97
"""Share of the mistakes of always answering the most frequent class that a suspect avoids."""

FEW = 50
"""Rows below which nothing is suspected."""

BINS = 64
WORDS = 2**22
"""Bytes of a text column that are searched for words."""


def suspects(
    sample: Batch, codes: Ints, classes: list[str], kinds: dict[str, str]
) -> Iterator[Finding]:
    """What gives the class away in a sample of rows with these codes."""
    if len(sample) < FEW or len(classes) < 2:
        return
    if _explained(_binned(np.arange(len(sample), dtype=float)), codes) >= 0.9:
        text = "the rows are sorted by class. That is fine: held-out rows are drawn from all of the file."
        yield Finding(NOTE, "sorted", text)
    for name, column in sample.columns.items():
        kind = kinds.get(name, "ignore")  # the target has none
        if isinstance(column, Csr) or kind == "ignore":
            continue
        if kind == "text" and isinstance(column, Strings):
            yield from _words(name, column, codes, classes)
        elif kind == "id" and isinstance(column, Strings):
            yield from _of_id(name, column, codes)
        else:
            yield from _of_column(name, column, codes)


def _of_column(name: str, column: Any, codes: Ints) -> Iterator[Finding]:
    values = of_column(column) if isinstance(column, Strings) else _binned(column)
    share = _explained(values, codes)
    if share >= LIKELY:
        text = (
            f"column {name!r} alone gives the class: it avoids {share:.1%} of the mistakes of always "
            f"answering the most frequent one. If it is known only afterwards, leave it out: "
            f"--kinds '{name}=ignore'."
        )
        yield Finding(ERROR if share >= SURE else WARNING, "leak", text, name)


def _of_id(name: str, column: Strings, codes: Ints) -> Iterator[Finding]:
    """An identifier is not learned from, but one that tells the class says how the rows were collected."""
    values = column.tolist()
    digits = ["".join(letter for letter in value or "" if letter.isdigit()) for value in values]
    numbers = np.array([float(d[-15:]) if d else np.nan for d in digits])
    heads = of_column(Strings.of([(value or "")[:3] for value in values]))
    share = max(_explained(_binned(numbers), codes), _explained(heads, codes))
    if share >= 0.9:
        text = (
            f"the identifier {name!r} goes with the class (it avoids {share:.1%} of the mistakes of the "
            "most frequent class). It is left out, but rows were collected class by class: other columns "
            "may tell where they come from, too."
        )
        yield Finding(WARNING, "id-leak", text, name)


class _Word(NamedTuple):
    share: float  # the smaller of the two: rows with it in the class, rows of the class with it
    word: str
    label: str


def _words(name: str, column: Strings, codes: Ints, classes: list[str]) -> Iterator[Finding]:
    """Words that nearly all rows of a class have, and hardly any other row."""
    stop = max(1, int(np.searchsorted(column.offsets, column.offsets[0] + WORDS)) - 1)
    found = sorted(_telling(column[:stop], codes[:stop], classes), reverse=True)
    if not found:
        return
    given = {word.label for word in found}
    size = np.bincount(codes[:stop], minlength=len(classes))
    covered = sum(size[i] for i, label in enumerate(classes) if label in given) / size.sum()
    listed = ", ".join(f"{word.word!r} for {word.label!r}" for word in found[:3])
    text = (
        f"in column {name!r} single words give the class away: {listed}"
        f"{', …' if len(found) > 3 else ''}. Such words are often written after the class was known."
    )
    yield Finding(ERROR if covered >= 0.9 else WARNING, "leak", text, name, len(found))


def _telling(column: Strings, codes: Ints, classes: list[str]) -> Iterator[_Word]:
    words, joint = _by_class(column, codes, len(classes))
    if not len(joint):
        return
    rows = np.bincount(codes, minlength=len(classes))
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = joint / joint.sum(axis=1, keepdims=True)
        recall = joint / rows
    share = np.minimum(precision, recall)
    share[:, rows < FEW] = 0.0
    for word, label in np.argwhere(share >= LIKELY).tolist():
        yield _Word(float(share[word, label]), words[word], classes[label])


def _by_class(column: Strings, codes: Ints, k: int) -> tuple[list[str], NDArray[np.int64]]:
    """The words of at least FEW rows, and in how many rows of each class each of them is (words, k)."""
    tally, parts, start = Tally(), [], 0
    for counted in Analyzer("word").count(column):
        numbers = tally.absorb(counted.grams, counted.documents, counted.occurrences)
        stop = start + len(counted)
        rows = np.repeat(codes[start:stop], np.diff(counted.indptr))
        ones = np.ones(len(rows), np.int64)
        parts.append((ones, (np.asarray(numbers)[counted.indices], rows)))
        start = stop
    shape = len(tally), k
    joint = sum((sp.coo_array(part, shape=shape).tocsr() for part in parts), sp.csr_array(shape))
    often = np.flatnonzero(tally.documents >= FEW)
    return [tally.strings[word] for word in often.tolist()], np.asarray(joint[often].toarray())


def _binned(numbers: NDArray[Any]) -> Bits:
    """Numbers as a few values: themselves if they are few, else which of 64 equal parts they fall into."""
    bits = of_column(numbers)
    if len(np.unique(bits)) <= BINS:
        return bits
    edges = np.nanquantile(numbers, np.linspace(0, 1, BINS + 1)[1:-1])
    bins = np.searchsorted(edges, numbers, side="right").astype(np.uint64)
    bins[np.isnan(numbers)] = BINS
    return bins


def _explained(values: Bits, codes: Ints) -> float:
    """How much of what the most frequent class gets wrong the values get right, on rows not learned from."""
    k = int(codes.max()) + 1
    base = np.bincount(codes).max() / len(codes)
    if base == 1.0:
        return 0.0
    _, numbers = np.unique(values, return_inverse=True)
    even = np.arange(len(codes)) % 2 == 0
    right = sum(
        _right(numbers[learn], codes[learn], numbers[~learn], codes[~learn], k)
        for learn in (even, ~even)
    )
    return float((right / len(codes) - base) / (1.0 - base))


def _right(values: Ints, codes: Ints, tried: Ints, truth: Ints, k: int) -> int:
    """How many rows the most frequent class of their value is right for."""
    pairs, counts = np.unique(values.astype(np.int64) * k + codes, return_counts=True)
    order = np.argsort(counts, kind="stable")  # the most frequent class of a value is written last
    answer = np.full(int(max(values.max(), tried.max())) + 1, np.bincount(codes).argmax())
    answer[pairs[order] // k] = pairs[order] % k
    return int((answer[tried] == truth).sum())
