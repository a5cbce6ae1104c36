"""Columns of text: n-grams by dictionary or by hash, counted and weighted.

value = term · idf,  divided by the length of its row

term   the count c; 1 + log c (``sublinear``); or 1 (``weight="binary"``). Signed counts keep their sign.
idf    log((1 + n) / (1 + df)) + 1, for n documents of which df have the n-gram; without the ones added in
       the fraction if not ``smooth``; 1 unless ``weight="tfidf"``
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..records import Csr, Floats, Ints, Strings
from .grams import Analyzer, Counted
from .hashing import Census, Collisions, Slots, fingerprints
from .parallel import in_order
from .rows import Counts, arranged, stacked
from .sorting import sorted_order
from .vocabulary import Tally, Vocabulary, taken

__all__ = ["Text", "TextLearner", "TextOptions"]


SMALL_TERMS = 1.0 + np.log(np.maximum(np.arange(256.0), 1.0))


@final
@dataclass(frozen=True, slots=True)
class TextOptions:
    """What a user may choose about text; ``Table`` explains each and checks them."""

    analyzer: str
    ngrams: tuple[int, int]
    lowercase: bool
    min_count: int
    max_share: float
    max_features: int | None
    weight: str
    sublinear: bool
    smooth: bool
    norm: str | None
    hash_bits: int | None
    signed: bool
    examples: int

    @property
    def cut(self) -> Analyzer:
        """How texts become n-grams."""
        return Analyzer(self.analyzer, self.ngrams, self.lowercase)

    @property
    def counts_documents(self) -> bool:
        """Whether columns depend on how many documents have them."""
        return self.weight == "tfidf" or self.min_count > 1 or self.max_share < 1

    def stay(self, documents: Ints, n: int) -> Any:
        """Which columns are neither too rare nor too common, given their document frequencies."""
        return (documents >= self.min_count) & (documents <= self.max_share * n)

    def idf(self, documents: Ints, n: int) -> Floats | None:
        """The factor of each column, None if all are 1."""
        if self.weight != "tfidf":
            return None
        ones = int(self.smooth)
        idf: Floats = np.log((n + ones) / np.maximum(documents + ones, 1)) + 1.0
        return idf

    def values(self, counts: Counts, factors: Floats | None) -> Floats:
        """The value of each entry."""
        terms = np.sign(counts.counts) if self.weight == "binary" else counts.counts
        values: NDArray[np.float64] = terms.astype(np.float64)
        if self.sublinear and self.weight != "binary":
            values = _sublinear(counts.counts)
        if factors is not None:
            values *= factors[counts.indices]
        if self.norm is not None:
            rows = counts.rows
            lengths = np.sqrt(np.bincount(rows, values * values, minlength=len(counts.indptr) - 1))
            lengths[lengths == 0] = 1.0  # every n-gram of the row was left out by its factor
            values /= lengths[rows]
        return values


def _sublinear(counts: NDArray[np.int32]) -> NDArray[np.float64]:
    """1 + log |c|, with the sign of c; most counts are small, so logarithms are looked up."""
    sizes = np.abs(counts)
    terms = SMALL_TERMS[np.minimum(sizes, len(SMALL_TERMS) - 1)]
    large = np.flatnonzero(sizes >= len(SMALL_TERMS))
    terms[large] = 1.0 + np.log(sizes[large])
    signed: NDArray[np.float64] = np.copysign(terms, counts)
    return signed


@final
class Text:
    """A column of text, learned: ``transform`` makes sparse rows of it.

    ``keys`` finds the column of an n-gram; ``factors`` (width,) multiplies columns, and leaves out those that
    are 0. ``examples`` are strings of hashed columns.
    """

    def __init__(
        self,
        options: TextOptions,
        keys: Vocabulary | Slots,
        factors: Floats | None,
        examples: dict[int, list[str]] | None = None,
    ) -> None:
        self.options, self.keys, self.factors = options, keys, factors
        self.examples = examples or {}

    @property
    def width(self) -> int:
        return len(self.keys)

    def name(self, column: int) -> str:
        """The n-gram of a column; of a hashed one its number, and examples where they were kept."""
        if isinstance(self.keys, Vocabulary):
            return str(self.keys.strings[column])
        known = self.examples.get(column)
        return f"#{column}" + (f" ({', '.join(known)})" if known else "")

    def names(self) -> list[str]:
        """The names of all columns."""
        if isinstance(self.keys, Vocabulary):
            return self.keys.texts()
        return [self.name(column) for column in range(self.width)]

    def transform(self, texts: Strings, threads: int | None, dtype: Any) -> Csr:
        """Sparse rows (n, width)."""

        def rows(counted: Counted) -> tuple[Counts, Floats]:
            return self.weighted(arranged(counted, *_columns(self.keys, counted.grams)), dtype)

        parts = self.options.cut.count(texts, threads, rows)
        return stacked(list(parts), self.width, dtype)

    def weighted(self, counts: Counts, dtype: Any) -> tuple[Counts, Floats]:
        """The counts with their values; entries whose factor is 0 are gone."""
        if self.factors is not None and isinstance(self.keys, Slots):
            counts = _without(counts, self.factors[counts.indices] == 0)
        return counts, self.options.values(counts, self.factors).astype(dtype, copy=False)


def _columns(keys: Vocabulary | Slots, grams: Strings) -> tuple[Ints, Any]:
    if isinstance(keys, Slots):
        return keys.find(grams)
    return keys.find(grams), np.ones(len(grams), np.int32)


def _without(counts: Counts, gone: Any) -> Counts:
    if not gone.any():
        return counts
    kept = np.concatenate([[0], np.cumsum(~gone)])
    return Counts(kept[counts.indptr], counts.indices[~gone], counts.counts[~gone])


# Learning


class TextLearner(ABC):
    """Reads a column of text once, batch by batch, and makes a ``Text`` of it.

    With ``keep`` the counts are kept as well, so that ``rows`` need not read the texts again.
    """

    def __init__(self, options: TextOptions, threads: int | None, keep: bool) -> None:
        self.options, self.threads, self.keep = options, threads, keep
        self.documents = 0

    @staticmethod
    def of(options: TextOptions, threads: int | None, keep: bool) -> TextLearner:
        """By dictionary or by hash, as the options say."""
        kind = DictionaryLearner if options.hash_bits is None else HashLearner
        return kind(options, threads, keep)

    @abstractmethod
    def add(self, texts: Strings) -> None:
        """Read some texts."""

    @abstractmethod
    def text(self) -> Text:
        """What was learned."""

    @abstractmethod
    def rows(self, text: Text, dtype: Any) -> Csr:
        """The rows of all texts that were read, once."""

    @property
    @abstractmethod
    def collisions(self) -> Collisions | None:
        """What hashing put together; None with a dictionary."""


@final
class DictionaryLearner(TextLearner):
    """Every different n-gram is counted; those that stay become the sorted columns."""

    def __init__(self, options: TextOptions, threads: int | None, keep: bool) -> None:
        super().__init__(options, threads, keep)
        self._tally = Tally()
        self._kept: list[tuple[Counted, Ints]] = []
        self._columns = np.zeros(0, np.int64)  # of each number in the tally, once chosen

    def add(self, texts: Strings) -> None:
        self.documents += len(texts)
        for counted in self.options.cut.count(texts, self.threads):
            often = 0 if self.options.max_features is None else counted.occurrences
            numbers = self._tally.absorb(counted.grams, counted.documents, often)
            if self.keep:
                self._kept.append((counted.bare(), numbers))

    def text(self) -> Text:
        chosen = self._chosen()
        self._columns = np.full(len(self._tally), -1, np.int64)
        self._columns[chosen] = np.arange(len(chosen))
        vocabulary = Vocabulary(taken(self._tally.strings, chosen))
        factors = self.options.idf(self._tally.documents[chosen], self.documents)
        return Text(self.options, vocabulary, factors)

    def _chosen(self) -> Ints:
        """The numbers that become columns, sorted by string. Of equally frequent ones the first stay."""
        stay = np.flatnonzero(self.options.stay(self._tally.documents, self.documents))
        chosen = stay[sorted_order(taken(self._tally.strings, stay))]
        if (limit := self.options.max_features) is None or len(chosen) <= limit:
            return chosen
        most = np.argsort(-self._tally.occurrences[chosen], kind="stable")[:limit]
        return chosen[np.sort(most)]

    def rows(self, text: Text, dtype: Any) -> Csr:
        def weighted(part: tuple[Counted, Ints]) -> tuple[Counts, Floats]:
            counted, numbers = part
            columns = self._columns[numbers]
            return text.weighted(arranged(counted, columns, np.ones(len(columns), np.int32)), dtype)

        parts, self._kept = self._kept, []
        done = in_order(weighted, parts, checks.threads(self.threads))
        return stacked(list(done), text.width, dtype)

    @property
    def collisions(self) -> None:
        return None


@final
class HashLearner(TextLearner):
    """Columns are there from the start; what is learned is how many documents have them, and collisions."""

    def __init__(self, options: TextOptions, threads: int | None, keep: bool) -> None:
        super().__init__(options, threads, keep)
        self._slots = Slots(options.hash_bits or 0, options.signed)
        checks.memory(
            25.0 * len(self._slots),
            f"a text hashed to 2^{options.hash_bits} columns",
            "Use fewer hash_bits.",
        )
        self._census = Census(self._slots, options.examples)
        self._met = np.zeros(len(self._slots) if options.counts_documents else 0, np.int64)
        self._kept: list[Counts] = []

    def add(self, texts: Strings) -> None:
        def rows(counted: Counted) -> tuple[Strings, NDArray[np.uint64], Counts]:
            prints = fingerprints(counted.grams)
            return counted.grams, prints, arranged(counted, *self._slots.place(prints))

        self.documents += len(texts)
        for grams, prints, counts in self.options.cut.count(texts, self.threads, rows):
            self._census.add(grams, prints)
            if len(self._met):
                np.add.at(self._met, counts.indices, 1)
            if self.keep:
                self._kept.append(counts)

    def text(self) -> Text:
        factors = None
        if len(self._met):
            idf = self.options.idf(self._met, self.documents)
            stay = self.options.stay(self._met, self.documents)
            factors = np.where(stay, 1.0 if idf is None else idf, 0.0)
        return Text(self.options, self._slots, factors, self._census.found)

    def rows(self, text: Text, dtype: Any) -> Csr:
        def weighted(counts: Counts) -> tuple[Counts, Floats]:
            return text.weighted(counts, dtype)

        parts, self._kept = self._kept, []
        done = in_order(weighted, parts, checks.threads(self.threads))
        return stacked(list(done), text.width, dtype)

    @property
    def collisions(self) -> Collisions:
        return self._census.collisions()
