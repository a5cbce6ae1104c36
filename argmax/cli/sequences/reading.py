"""Options about files -> an open file of sequences, the column of the labels, and those to learn from."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data import Conll, open_conll
from ...errors import BadFile, InvalidInput
from ...features import DEFAULT, read_crfpp
from ...records import Strings
from ..reading import SEQUENCES, others, reading

__all__ = [
    "columns_for",
    "default_templates",
    "label_of",
    "named_templates",
    "opened",
    "opened_for",
    "target_of",
]

CRFPP = re.compile(r"^\s*[UB*][^\n]*%x\[", re.MULTILINE)


def opened(path: str, read: Sequence[str] = (), **more: Any) -> Conll:
    """Open a file of sequences as ``--read`` says."""
    return open_conll(path, **(reading(read, SEQUENCES) | more))


# What is learned, and from what


def target_of(source: Conll, target: str | None) -> str:
    """The column of the labels: the one named, else ``upos`` of CoNLL-U, else the last one."""
    if target is None:
        return "upos" if source.format == "conllu" else source.columns[-1]
    if target not in source.columns:
        near = difflib.get_close_matches(target, source.columns, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else others(source.columns)
        raise InvalidInput(f"{source.path} has no column {target!r} for --target. {hint}")
    return target


def columns_for(source: Conll, label: str) -> list[str]:
    """The columns to learn from: words, and in columns whatever else stands before the label.

    In CoNLL-U the other columns are annotations as the label is, and new text does not have them.
    """
    if source.format == "conllu":
        return ["word"]
    found = [name for name in source.columns if name != label]
    if not found:
        raise InvalidInput(
            f"{source.path} has one column, {label!r}, and nothing to learn it from. Tokens and labels "
            "stand on one line, with a blank or a tab between."
        )
    return found


def default_templates(columns: Sequence[str]) -> list[str]:
    """Templates for words in the first column, and windows over each of the others.

    >>> from argmax.cli.sequences.reading import default_templates
    >>> default_templates(["form", "pos"])[-3:]
    ['pos[-1]|pos[0]', 'pos[0]|pos[1]', 'pos[-1]|pos[0]|pos[1]']
    """
    word, *more = columns
    found = [template.replace("word[", f"{word}[") for template in DEFAULT]
    for name in more:
        found += [f"{name}[{place}]" for place in range(-2, 3)]
        found += [f"{name}[-1]|{name}[0]", f"{name}[0]|{name}[1]"]
        found.append(f"{name}[-1]|{name}[0]|{name}[1]")
    return found


def named_templates(path: str, columns: Sequence[str]) -> list[str]:
    """The templates of a file: CRF++'s language, or ours with one a line."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot be read: {error}.", path=path) from error
    if CRFPP.search(text):
        return read_crfpp(path, columns)
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


# What a model reads


def opened_for(
    tagger: Any, path: str, read: Sequence[str] = (), **more: Any
) -> tuple[Conll, list[str]]:
    """A file for a model, and the columns that the model reads.

    A file without names has the columns of the training file, with the label behind them or without.
    """
    used = _used(tagger)
    source = opened(path, read, **more)
    given = reading(read, SEQUENCES).get("columns")
    if source.format == "columns" and given is None:
        source = source.named(_names(source, list(tagger.features_.columns or used)))
    if absent := [name for name in used if name not in source.columns]:
        raise InvalidInput(
            f"the model reads the column {absent[0]!r}, and {source.path} has {len(source.columns)}: "
            f"{', '.join(source.columns)}. Name them with --read names=word,…"
        )
    return source, used


def _names(source: Conll, known: list[str]) -> Sequence[str]:
    """Names for as many columns as a file has, given those of training."""
    width = len(source.columns)
    if width == len(known):
        return known
    behind = next(name for name in ("label", "label2") if name not in known)
    return [*known, behind] if width == len(known) + 1 else source.columns


def _used(tagger: Any) -> list[str]:
    """The columns that the templates of a tagger read."""
    features = tagger.features_
    if not hasattr(features, "used_columns"):
        raise InvalidInput(
            "this tagger reads features that somebody made, not the columns of a file. Use it in Python with "
            "argmax.load, or make a model for files with `argmax train`."
        )
    return list(features.used_columns)


def label_of(source: Conll, target: str | None, used: Sequence[str], classes: Sequence[str]) -> str:
    """The column of the labels: the one named, or the only one that holds labels of the model."""
    if target is not None:
        return target_of(source, target)
    free = [name for name in source.columns if name not in used]
    shares = {name: _share(source, name, classes) for name in free}
    best = max(shares.values(), default=0.0)
    found = [name for name, share in shares.items() if share >= max(0.5, best)]
    if len(found) != 1:
        what = "several columns hold" if found else "no column holds"
        raise InvalidInput(
            f"--target is missing: {what} labels of this model, such as {classes[0]!r}. Name the column of "
            f"{source.path} that has them. {others(source.columns)}"
        )
    return found[0]


def _share(source: Conll, name: str, classes: Sequence[str]) -> float:
    """The share of the first labels of a column that the model knows."""
    first = next(iter(source.batches([name])))
    column = first.columns[name]
    assert isinstance(column, Strings)
    known = [value for value in column[:5000].tolist() if value is not None]
    return float(np.mean(np.isin(known, list(classes)))) if known else 0.0
