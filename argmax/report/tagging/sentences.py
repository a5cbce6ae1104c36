"""Tagged sentences as the template prints them: pieces of text, each plain or with a label and a shade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...tags import Tags
from ..limits import Limits, percent
from ..safe import shorten
from .measures import Measures

__all__ = ["Sentences"]

COLOURS = 8
"""Colours of types in the page's style; more types take them in turn."""

LONGEST = 80
"""Tokens of a sentence that are shown."""


class Sentences:
    """Writes out sentences; spans of the model with their confidence, and what is true where it errs."""

    def __init__(self, m: Measures, limits: Limits) -> None:
        self.m, self.e, self.limits = m, m.evaluation, limits
        names = tuple(
            dict.fromkeys(
                str(v) for v in [*np.asarray(self.e.classes).tolist(), *m.scores.unseen, "O"]
            )
        )
        self.tags = Tags(names) if m.marks_spans and Tags.fit(names) else None
        kinds = names if self.tags is None else self.tags.types
        self.colour = {kind: i % COLOURS for i, kind in enumerate(kinds)}

    def of(self, which: Sequence[int]) -> list[dict[str, Any]]:
        """Some sentences, in this order."""
        spans = None
        if self.tags is not None and self.e.spans is not None and which:
            spans = self.e.spans(which)
        return [self._sentence(i, None if spans is None else spans[k]) for k, i in enumerate(which)]

    def _sentence(self, i: int, spans: Any) -> dict[str, Any]:
        e = self.e
        words = [shorten(word, 40) for word in e.words[i][:LONGEST]]
        truth, answer = list(e.truth[i]), list(e.answer[i])
        sure = [float(p) for p in e.confidence[i]]
        if self.tags is None:
            parts, true = self._tokens(words, truth, answer, sure), []
        else:
            found = self._spans(answer, sure) if spans is None else spans
            true_spans = self._spans(truth, None)
            parts = self._pieces(words, found, {span[:3] for span in true_spans})
            agreed = {span[:3] for span in found}
            true = self._pieces(words, true_spans, agreed) if truth != answer else []
        return {
            "number": i,
            "line": None if e.lines is None else int(e.lines[i]),
            "wrong": sum(t != a for t, a in zip(truth, answer, strict=True)),
            "parts": parts,
            "truth": true,
            "cut": len(e.words[i]) > LONGEST,
        }

    def _spans(self, labels: list[Any], sure: list[float] | None) -> list[Any]:
        """Spans of labels; how sure the least certain token is, where nothing better is known."""
        assert self.tags is not None
        place = {name: k for k, name in enumerate(self.tags.names)}
        codes = np.array([place[str(label)] for label in labels], np.int64)
        found = self.tags.spans(codes, np.array([0, len(codes)]))
        rows = zip(found.first.tolist(), found.last.tolist(), found.type.tolist(), strict=True)
        return [
            (a, b + 1, self.tags.types[kind], None if sure is None else min(sure[a : b + 1]))
            for a, b, kind in rows
        ]

    def _pieces(self, words: list[str], spans: list[Any], other: set[Any]) -> list[dict[str, Any]]:
        """Words between spans as one piece, each span as one. ``other`` holds those that agree."""
        pieces: list[dict[str, Any]] = []
        at = 0
        for first, behind, kind, p in spans:
            if first >= len(words):
                break
            if first > at:
                pieces.append({"text": " ".join(words[at:first]), "kind": None})
            pieces.append(
                {
                    "text": " ".join(words[first:behind]),
                    "kind": shorten(kind or "span", 24),
                    "colour": self.colour.get(kind, 0),
                    "sure": None if p is None else percent(p, 0),
                    "wrong": (first, behind, kind) not in other,
                }
            )
            at = behind
        if at < len(words):
            pieces.append({"text": " ".join(words[at:]), "kind": None})
        return pieces

    def _tokens(
        self, words: list[str], truth: list[Any], answer: list[Any], sure: list[float]
    ) -> list[dict[str, Any]]:
        return [
            {
                "text": word,
                "kind": shorten(a, 24),
                "colour": self.colour.get(str(a), 0),
                "sure": percent(p, 0) if p < 0.995 else None,
                "wrong": t != a,
                "truth": shorten(t, 24) if t != a else None,
            }
            for word, t, a, p in zip(words, truth, answer, sure, strict=False)
        ]
