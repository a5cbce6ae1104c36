"""Tagged sentences that the library writes itself, for the demonstration, the documentation and tests."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import final

from ..checks import number, positive_integer
from ..errors import InvalidInput
from ..features import Tokens
from .draws import Draws
from .grammar import ENDINGS, LEXICON, NAMES, PATTERNS, SYLLABLES

__all__ = ["sentences", "write_sentences"]

COLUMNS = ("word", "pos", "label")
TYPES = {"person": "PER", "place": "LOC", "company": "ORG"}

Token = tuple[str, str, str]


def sentences(n: int = 2000, seed: int = 0) -> Tokens:
    """Short sentences with the part of speech of each word, and the names in them marked as BIO.

    ====== =====================================================================
    word   the token
    pos    ADJ ADP ADV AUX CCONJ DET NOUN NUM PART PRON PROPN PUNCT SCONJ VERB
    label  O, or B- and I- with PER, LOC or ORG
    ====== =====================================================================

    The task is honest: one word in four has several tags, some names have several types, and one word in
    thirty is made up and never seen again. Whoever takes for each word its most frequent tag has 88 % of
    the parts of speech right; a good tagger has 99 %, and finds nine names in ten, because a few
    sentences cannot be decided (*Chelsea won .*). The same ``n`` and ``seed`` give the same sentences
    everywhere; a larger ``n`` adds some at the end.

    >>> from argmax.data import corpus
    >>> tokens = corpus.sentences(10)
    >>> for word, pos, label in zip(*(tokens.sequences(name)[0] for name in tokens.columns)):
    ...     print(word, pos, label)
    New PROPN B-LOC
    York PROPN I-LOC
    tested VERB O
    now ADV O
    . PUNCT O
    """
    flat = list(_sentences(n, seed))
    lengths = [len(sentence) for sentence in flat]
    columns = {name: [token[c] for s in flat for token in s] for c, name in enumerate(COLUMNS)}
    return Tokens.of(columns, lengths=lengths)


def write_sentences(
    path: str | os.PathLike[str], n: int = 2000, seed: int = 0, *, overwrite: bool = False
) -> None:
    """Write ``sentences(n, seed)`` to a file, in columns: word, part of speech, label.

    >>> import os, tempfile
    >>> from argmax.data import corpus, open_conll
    >>> path = os.path.join(tempfile.mkdtemp(), "train.conll")
    >>> corpus.write_sentences(path, n=10)
    >>> source = open_conll(path, scheme="BIO")
    >>> len(source.read()), source.columns
    (10, ('word', 'pos', 'label'))
    """
    place = os.fspath(path)
    if os.path.exists(place) and not overwrite:
        raise InvalidInput(f"{place} exists. Choose another name, or pass overwrite=True.")
    with open(place, "w", encoding="utf-8", newline="") as file:
        for sentence in _sentences(n, seed):
            file.writelines(f"{' '.join(token)}\n" for token in sentence)
            file.write("\n")


def _sentences(n: int, seed: int) -> Iterator[list[Token]]:
    writer = _Writer(Draws(int(number("seed", seed, 0, 2**63))))
    for _ in range(positive_integer("n", n)):
        yield writer.sentence()


@final
class _Writer:
    """Fills patterns with words."""

    def __init__(self, draw: Draws) -> None:
        self.draw = draw

    def sentence(self) -> list[Token]:
        pattern = self.draw.pick(PATTERNS)
        tokens = [token for part in pattern.split() for token in self.part(part)]
        first, *rest = tokens
        return [(first[0][:1].upper() + first[0][1:], *first[1:]), *rest]

    def part(self, part: str) -> list[Token]:
        """The tokens of one part of a pattern."""
        slot = re.fullmatch(r"\{(\w+)\}", part)
        if slot is None:
            word, tag = part.rsplit("/", 1)
            return [(word, tag, "O")]
        if slot[1] in LEXICON:
            tag, words = LEXICON[slot[1]]
            new = slot[1] in ENDINGS and self.draw.percent(6)
            return [(self.unknown(slot[1]) if new else self.draw.pick(words), tag, "O")]
        kind = self.draw.pick(list(TYPES)) if slot[1] == "name" else slot[1]
        return self.name(kind)

    def name(self, kind: str) -> list[Token]:
        """A name of this type: known, or made of syllables, and perhaps with a second part."""
        known, seconds = NAMES[kind]
        words = self.draw.pick(known).split()
        if self.draw.percent(12):
            words = [self.unknown(kind).capitalize()]
        if len(words) == 1 and seconds and self.draw.percent(45):
            new = kind == "person" and self.draw.percent(30)
            words.append(self.unknown(kind).capitalize() if new else self.draw.pick(seconds))
        marks = ["B", *["I"] * (len(words) - 1)]
        tags = ["ADP" if w in ("of", "de") else "CCONJ" if w == "and" else "PROPN" for w in words]
        return [(w, t, f"{m}-{TYPES[kind]}") for w, t, m in zip(words, tags, marks, strict=True)]

    def unknown(self, kind: str) -> str:
        """A word that nobody has met."""
        stem = "".join(self.draw.pick(SYLLABLES) for _ in range(1 + self.draw.below(2)))
        return stem + self.draw.pick(ENDINGS[kind])
