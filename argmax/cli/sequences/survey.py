"""One look at a corpus: labels, illegal ones, repeated and contradictory sequences, ambiguous words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from ...data import Repairs
from ...features import Tokens
from ...features.interning import interned
from ...records import Ints
from ...tags import Tags
from ..console import count
from ..findings import ERROR, NOTE, WARNING, Finding

__all__ = ["Survey", "scheme_of"]

RARE = 10
"""Tokens below which a label can hardly be learned, and not be judged."""

EXAMPLES = 5

MENDED = {
    "recut": "lines with spaces where tabs should be",
    "dropped": "sequences with a line that has more or fewer columns: left out",
    "empty": "cells with nothing in them: missing",
    "numbers": "words with a number out of order",
}
"""What a lenient reader repairs, and a strict one refuses."""


def scheme_of(names: Iterable[str]) -> str | None:
    """BIO or BILOU, if all labels can be read as such.

    >>> from argmax.cli.sequences.survey import scheme_of
    >>> scheme_of(["O", "B-PER"]), scheme_of(["O", "U-PER"]), scheme_of(["NOUN"])
    ('BIO', 'BILOU', None)
    """
    listed = list(names)
    if not Tags.fit(listed):
        return None
    return "BILOU" if any(name[0] in "LUES" for name in listed if name != "O") else "BIO"


@final
class Survey:
    """What there is to say of a corpus. ``word`` is the column of the words, ``label`` that of the labels."""

    def __init__(self, tokens: Tokens, word: str, label: str, repairs: Repairs) -> None:
        self.tokens, self.word, self.label, self.repairs = tokens, word, label, repairs
        self.codes, different = interned(tokens.column(label))
        self.names = [str(name) for name in different.tolist()]

    @cached_property
    def counts(self) -> dict[str, int]:
        """Tokens of each label, the most frequent first."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        order = np.argsort(-counts, kind="stable")
        return {self.names[i]: int(counts[i]) for i in order}

    @property
    def scheme(self) -> str | None:
        return scheme_of(self.names)

    @cached_property
    def illegal(self) -> Ints:
        """The tokens whose label the scheme does not allow where it stands."""
        if self.scheme is None:
            return np.zeros(0, np.int64)
        names = tuple(dict.fromkeys([*self.names, "O"]))
        codes = np.where(self.codes < 0, names.index("O"), self.codes)
        return np.asarray(Tags(names).illegal(codes, self.tokens.offsets, self.scheme))

    @cached_property
    def spans(self) -> dict[str, int]:
        """Spans of each type, where labels mark any."""
        if self.scheme is None:
            return {}
        names = tuple(dict.fromkeys([*self.names, "O"]))
        tags = Tags(names)
        codes = np.where(self.codes < 0, names.index("O"), self.codes)
        found = tags.spans(codes, self.tokens.offsets)
        return dict(Counter(tags.types[kind] for kind in found.type.tolist()).most_common())

    @cached_property
    def sentences(self) -> list[tuple[Any, ...]]:
        """What each sequence says, but for its labels."""
        columns = [name for name in self.tokens.columns if name != self.label]
        lists = [self.tokens.sequences(name) for name in columns]
        return [tuple(map(tuple, parts)) for parts in zip(*lists, strict=True)]

    # What it saw

    def findings(self) -> list[Finding]:
        """Everything worth saying about the corpus alone."""
        return [*self._of_lines(), *self._of_labels(), *self._of_sentences(), *self._of_words()]

    def _of_lines(self) -> Iterator[Finding]:
        for name, text in MENDED.items():
            if found := getattr(self.repairs, name):
                yield Finding(ERROR, "malformed", f"{found:,} {text}.", None, found)

    def _of_labels(self) -> Iterator[Finding]:
        if unlabelled := int(np.count_nonzero(self.codes < 0)):
            text = f"{count(unlabelled, 'token')} without a label: any label may be right there."
            lines = self._lines(np.flatnonzero(self.codes < 0))
            yield Finding(WARNING, "unlabelled", text, self.label, unlabelled, lines)
        if len(self.counts) < 2:
            got = f"only {self.names[0]!r}" if self.names else "none"
            text = f"{self.label!r} must have at least two labels; there is {got}."
            yield Finding(ERROR, "one-class", text, self.label, len(self.counts))
        if len(self.counts) > max(100, 0.5 * self.tokens.size):
            text = (
                f"{self.label!r} has {len(self.counts):,} different labels in {self.tokens.size:,} tokens: "
                "it looks like words or identifiers, not like labels."
            )
            yield Finding(ERROR, "not-classes", text, self.label, len(self.counts))
        elif rare := [name for name, n in self.counts.items() if n < RARE]:
            text = (
                f"{count(len(rare), 'label')} with fewer than {RARE} tokens ({_listed(rare)}): too few to "
                "learn from, and to judge by."
            )
            yield Finding(WARNING, "rare-classes", text, self.label, len(rare))
        if len(self.illegal):
            text = (
                f"{count(len(self.illegal), 'label')} that {self.scheme} does not allow where it stands, "
                f"such as {self.names[int(self.codes[self.illegal[0]])]!r}. Spans are read as conlleval "
                "reads them, and a model may answer such labels too."
            )
            lines = self._lines(self.illegal)
            yield Finding(WARNING, "illegal-tags", text, self.label, len(self.illegal), lines)

    def _of_sentences(self) -> Iterator[Finding]:
        first: dict[Any, int] = {}
        owner = [first.setdefault(said, i) for i, said in enumerate(self.sentences)]
        repeated = [i for i, at in enumerate(owner) if at != i]
        if not repeated:
            return
        share = len(repeated) / len(owner)
        text = (
            f"{count(len(repeated), 'sequence')} {'repeats' if len(repeated) == 1 else 'repeat'} an earlier "
            f"one ({share:.1%}). One that is both learned from and held out flatters the score."
        )
        yield Finding(WARNING, "duplicates", text, None, len(repeated), self._starts(repeated))
        labels = self.tokens.sequences(self.label)
        conflicts = [i for i in repeated if labels[i] != labels[owner[i]]]
        if conflicts:
            text = (
                f"{count(len(conflicts), 'sequence')} with the tokens of an earlier one and other labels. No "
                "model can get both right."
            )
            starts = self._starts(conflicts)
            yield Finding(WARNING, "conflicts", text, self.label, len(conflicts), starts)

    def _of_words(self) -> Iterator[Finding]:
        words, _ = interned(self.tokens.column(self.word))
        known = (self.codes >= 0) & (words >= 0)
        pairs = np.unique(np.stack([words[known], self.codes[known]]), axis=1)
        several = np.bincount(pairs[0], minlength=int(words.max(initial=0)) + 1) > 1
        tokens = int(np.count_nonzero(several[words[known]]))
        if tokens:
            text = (
                f"{count(int(several.sum()), 'word')} with several labels: {tokens / known.sum():.0%} of the "
                "tokens need their neighbours."
            )
            yield Finding(NOTE, "ambiguous", text, self.label, int(several.sum()))

    def overlap(self, test: Survey) -> Iterator[Finding]:
        """What makes a test file unfit to judge a model of this one."""
        mine = set(self.sentences)
        met = [i for i, said in enumerate(test.sentences) if said in mine]
        if met:
            share = len(met) / len(test.sentences)
            text = (
                f"{count(len(met), 'sequence')} of the test file ({share:.1%}) "
                f"{'is' if len(met) == 1 else 'are'} also in the data to learn from: the score would flatter."
            )
            severity = ERROR if share > 0.05 else WARNING
            yield Finding(severity, "overlap", text, None, len(met), test._starts(met))
        if unseen := [name for name in test.names if name not in set(self.names)]:
            text = f"the test file has labels that the data do not have: {_listed(unseen)}."
            yield Finding(WARNING, "unseen-classes", text, self.label, len(unseen))
        words = set(self.tokens.column(self.word).tolist())
        new = [word not in words for word in test.tokens.column(self.word).tolist()]
        if any(new):
            text = f"{np.mean(new):.1%} of the tokens of the test file are words that the data do not have."
            yield Finding(NOTE, "unseen-words", text, self.word, sum(new))

    def _lines(self, tokens: Ints) -> tuple[int, ...]:
        lines = self.tokens.lines
        return () if lines is None else tuple(lines[tokens[:EXAMPLES]].tolist())

    def _starts(self, sequences: Sequence[int]) -> tuple[int, ...]:
        return self._lines(self.tokens.offsets[np.asarray(sequences[:EXAMPLES])])


def _listed(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(repr(name[:40]) for name in names[:most]) + more
