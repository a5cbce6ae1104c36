"""The tagged corpora of ``tagging``, as plain text files that everybody reads: one token a line."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from argmax.features import DEFAULT

from ..data import folder

QUICK_SENTENCES = 300
FEW_SENTENCES = 1500  # with more than the 20,000 tokens from which on fits take the path of all
EVERY = 10  # of mac_morpho, which has no published split, each tenth sentence is tagged; all are learned from

WINDOW = range(-2, 3)
CHUNKING = (  # the 19 templates of CRF++'s chunking example, and the two ends of the sentence
    *(f"word[{i}]" for i in WINDOW),
    *(f"word[{i}]|word[{i + 1}]" for i in (-1, 0)),
    *(f"pos[{i}]" for i in WINDOW),
    *(f"pos[{i}]|pos[{i + 1}]" for i in WINDOW[:4]),
    *(f"pos[{i}]|pos[{i + 1}]|pos[{i + 2}]" for i in WINDOW[:3]),
    "first",
    "last",
)


@dataclass(frozen=True)
class Recipe:
    """Attributes, by the name under which ``tagging_peers`` writes the same ones as strings."""

    name: str
    templates: tuple[str, ...]
    outside: str


RECIPES = {
    "chunking": Recipe("chunking", CHUNKING, "skip"),
    "words": Recipe("words", tuple(DEFAULT), "mark"),
}


@dataclass(frozen=True)
class Corpus:
    """Three files with the same columns: to learn from, to tag, and a few sentences to warm up on."""

    name: str
    columns: tuple[str, ...]  # the label is the last
    recipe: Recipe
    train: Path
    test: Path
    few: Path

    @property
    def separator(self) -> str:
        return " " if self.recipe.name == "chunking" else "\t"


def missing() -> str | None:
    """Why there is nothing to tag, or None."""
    place = folder() / "sequence"
    return None if place.is_dir() else f"no data in {place}. Set ARGMAX_DATA."


def prepare(name: str, place: Path, quick: bool) -> Corpus:
    """The files of a corpus, written into a folder."""
    train, test = _CORPORA[name]()
    if quick:
        train, test = train[:QUICK_SENTENCES], test[:QUICK_SENTENCES]
    paths = {}
    for part, sentences in {"train": train, "test": test, "few": train[:FEW_SENTENCES]}.items():
        paths[part] = place / f"{name}-{part}.txt"
        paths[part].write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
    if name == "conll2000":
        return Corpus(name, ("word", "pos", "chunk"), RECIPES["chunking"], **paths)
    return Corpus(name, ("word", "label"), RECIPES["words"], **paths)


# Sentences as text, lines joined


def sentences(file: str) -> list[str]:
    with lzma.open(folder() / "sequence" / f"{file}.xz", "rt", encoding="utf-8") as lines:
        return lines.read().strip("\n").split("\n\n")


def _conll2000() -> tuple[list[str], list[str]]:
    return sentences("conll2000-train.txt"), sentences("conll2000-test.txt")


def _wnut17() -> tuple[list[str], list[str]]:
    return sentences("wnut17-train.conll"), sentences("wnut17-test.conll")


def _mac_morpho() -> tuple[list[str], list[str]]:
    whole = [_without_gaps(s) for s in sentences("mac_morpho.tsv")]
    return whole, whole[::EVERY]


def _without_gaps(sentence: str) -> str:
    """The lines that have a word: a few of mac_morpho have a tag alone."""
    return "\n".join(line for line in sentence.split("\n") if not line.startswith("\t"))


def _ewt(column: int) -> tuple[list[str], list[str]]:
    train, test = (
        [_two_columns(s, column) for s in sentences(f"ud_en_ewt-{part}.conllu")]
        for part in ("train", "test")
    )
    return train, test


def _two_columns(sentence: str, column: int) -> str:
    """The words and one other column of a sentence in CoNLL-U."""
    rows = (line.split("\t") for line in sentence.split("\n"))
    return "\n".join(f"{row[1]}\t{row[column]}" for row in rows if row[0].isdigit())


_CORPORA: dict[str, Callable[[], tuple[list[str], list[str]]]] = {
    "conll2000": _conll2000,
    "ewt-upos": lambda: _ewt(3),
    "ewt-xpos": lambda: _ewt(4),
    "wnut17": _wnut17,
    "mac_morpho": _mac_morpho,
}
NAMES = tuple(_CORPORA)
