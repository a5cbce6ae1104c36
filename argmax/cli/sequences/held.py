"""The sequences that a tagger was judged by, for whoever computes the numbers of a report again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...features import Tokens
from .parts import held_out, without
from .reading import opened_for

__all__ = ["sequences_of"]


def sequences_of(
    path: str,
    label: str,
    tagger: Any,
    *,
    test: float = 0.0,
    seed: int = 0,
    read: Sequence[str] = (),
) -> tuple[Tokens, list[list[Any]]]:
    """What ``argmax evaluate`` judges by, or (with ``test``) what ``argmax train`` held out: tokens, labels.

    >>> import os, tempfile
    >>> import argmax
    >>> from argmax.cli.sequences.held import sequences_of
    >>> from argmax.data import corpus
    >>> path = os.path.join(tempfile.mkdtemp(), "tagged.conll")
    >>> corpus.write_sentences(path, n=50)
    >>> tagger = argmax.CRFTagger().fit([["a", "b"]], [["O", "B-PER"]])
    >>> tagger.features_.columns = ["word", "pos"]
    >>> X, y = sequences_of(path, "label", tagger, test=0.2)
    >>> len(X), len(y)
    (10, 10)
    """
    source, used = opened_for(tagger, path, read)
    tokens = source.read([*used, label])
    if test:
        tokens = tokens.take(held_out(len(tokens), test, seed))
    return without(tokens, label), tokens.sequences(label)
