"""``argmax explain`` on a sequence: why each token got its label."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np

from ...errors import InvalidInput, NoProbabilities
from ...features import Tokens
from ...persist import load
from ..console import Console
from ..outcome import OK
from .predict import bare
from .reading import opened_for

__all__ = ["run"]

SHOWN = 3
"""Attributes of each token in the table."""


def run(model: str, what: str, row: int | None, top: int, read: list[str], console: Console) -> int:
    """Explain one sequence of a file, or one text whose words are told apart by blanks."""
    tagger = load(model)
    if row is None and not os.path.exists(what) and what != "-":
        tokens, source = _of_text(tagger, what), None
    else:
        tokens, source = _sequence(tagger, what, row or 0, read), what
    found = tagger.explain(tokens, top=top)[0]
    p = _sure(tagger, tokens, [one.label for one in found])
    words = tokens.sequences(next(iter(tokens.columns)))[0]
    _show(words, found, p, console)
    ((_, probability),) = bare(tagger).predict_top_k(tokens, 1)[0]
    console.result(
        {
            "model": model,
            "data": source,
            "row": None if source is None else row or 0,
            "probability": None if p[:1] == [None] else probability,
            "tokens": [
                {"token": word, "probability": sure, **asdict(one)}
                for word, sure, one in zip(words, p, found, strict=True)
            ],
        }
    )
    return OK


def _sure(tagger: Any, tokens: Tokens, labels: list[Any]) -> list[float | None]:
    """The probability of each label; None where the loss estimates none."""
    try:
        (tables,) = tagger.predict_marginals(tokens)
    except NoProbabilities:
        return [None] * len(labels)
    codes = {name: i for i, name in enumerate(tagger.classes_.tolist())}
    return [float(own[codes[label]]) for own, label in zip(tables, labels, strict=True)]


def _sequence(tagger: Any, data: str, row: int, read: list[str]) -> Tokens:
    """One sequence of a file, as the model reads it."""
    source, used = opened_for(tagger, data, read, once=True)
    seen = 0
    for tokens in source.batches(used):
        if 0 <= row < seen + len(tokens):
            return tokens[row - seen : row - seen + 1]
        seen += len(tokens)
    raise InvalidInput(
        f"--row must be from 0 to {seen - 1}, the sequences of {source.path}; got {row}."
    )


def _of_text(tagger: Any, text: str) -> Tokens:
    used = list(tagger.features_.used_columns)
    if len(used) != 1 or (os.path.splitext(text)[1] and " " not in text):
        reads = "" if len(used) == 1 else f", and the model reads {', '.join(used)}"
        raise InvalidInput(
            f"there is no file {text!r}{reads}. Name a file of sequences, and --row."
        )
    if not text.split():
        raise InvalidInput("the text has no words.")
    return Tokens.of([text.split()], columns=used)


def _show(words: list[Any], found: list[Any], p: list[float | None], console: Console) -> None:
    console.say(" ".join(map(str, words)))
    console.heading("Why each token got its label")
    rows = [
        [word, one.label, "" if sure is None else f"{sure:.1%}", f"{one.own:+.2f}", f"{one.transition:+.2f}",
         one.runner_up, _margin(one.margin), _reasons(one.attributes)]
        for word, one, sure in zip(words, found, p, strict=True)
    ]  # fmt: skip
    heads = ["token", "label", ">sure", ">own", ">moves", "runner-up", ">behind", "attributes"]
    console.table(heads, rows)
    console.say(
        "own: what the token's attributes add to the score of its label; moves: what the transitions into it "
        "and out of it add; behind: how much less the runner-up has, with all other labels as they are.",
        indent=2,
    )


def _margin(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "not allowed"


def _reasons(attributes: list[tuple[str, float]]) -> str:
    return ", ".join(f"{name} {share:+.2f}" for name, share in attributes[:SHOWN])
