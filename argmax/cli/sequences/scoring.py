"""A tagger and sequences to judge it by -> scores with intervals, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from ... import metrics
from ...features import Tokens
from ...metrics import Interval, SpanScores
from ...report.tagging.evaluation import shares
from ..console import Console, count
from .parts import without

__all__ = ["Judged", "as_json", "judged", "show", "show_mistakes", "with_labels"]

MOST = 20
BLOCK = 2000
"""Sequences tagged at a time."""


@final
class Judged:
    """Sequences with labels, the answers of a tagger, and how sure it is of each."""

    def __init__(self, tagger: Any, tokens: Tokens, word: str, label: str) -> None:
        self.tagger, self.tokens, self.word, self.label = tagger, tokens, word, label
        self.truth: list[list[Any]] = tokens.sequences(label)
        self.answer: list[list[str]] = []
        self.confidence: list[Any] = []  # the probability of each answer, or a share
        classes = {name: i for i, name in enumerate(tagger.classes_.tolist())}
        features = without(tokens, label)
        for start in range(0, len(tokens), BLOCK):
            part = features[start : start + BLOCK]
            answers = tagger.predict(part)
            for labels, p in zip(answers, shares(tagger, part), strict=True):
                self.answer.append(labels)
                self.confidence.append(p[np.arange(len(labels)), [classes[v] for v in labels]])

    @cached_property
    def scores(self) -> metrics.TaggingScores:
        known = self.tagger.classes_.tolist()
        return metrics.tagging(self.truth, self.answer, classes=known)

    @cached_property
    def mistakes(self) -> list[tuple[str, str, int]]:
        """Truth, answer and how many tokens, the most frequent first."""
        pairs = Counter(
            (t, a)
            for truth, answer in zip(self.truth, self.answer, strict=True)
            for t, a in zip(truth, answer, strict=True)
            if t != a
        )
        return [
            (t, a, n) for (t, a), n in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
        ]

    @cached_property
    def surprises(self) -> list[int]:
        """The sequences with mistakes, those with the most confident one first."""
        sure = {
            i: max(float(p) for p, t, a in zip(own, truth, answer, strict=True) if t != a)
            for i, (own, truth, answer) in enumerate(
                zip(self.confidence, self.truth, self.answer, strict=True)
            )
            if truth != answer
        }
        return sorted(sure, key=lambda i: -sure[i])


def judged(tagger: Any, tokens: Tokens, word: str, label: str, console: Console) -> Judged | None:
    """The sequences whose labels are all there, judged; None if there is none."""
    tokens = with_labels(tokens, label, console)
    return Judged(tagger, tokens, word, label) if tokens.size else None


def with_labels(tokens: Tokens, label: str, console: Console) -> Tokens:
    """The sequences whose labels are all there."""
    missing = tokens.column(label).missing
    if missing is None or not missing.any():
        return tokens
    owner = np.searchsorted(tokens.offsets, np.flatnonzero(missing), "right") - 1
    whole = ~np.isin(np.arange(len(tokens)), owner)
    console.warn(f"{count(int((~whole).sum()), 'sequence')} without some label: not judged by.")
    return tokens.take(whole)


# For people


def show(found: Judged, console: Console, which: str = "", baseline: float | None = None) -> None:
    """A table of scores, and one of the types of spans; ``which`` says what sequences these are."""
    scores = found.scores
    console.heading(f"Scores on {count(scores.sequences, 'sequence')}{which}")
    rows = [
        ["Accuracy of tokens", *_cells(scores.token_accuracy), _number(baseline)],
        ["Accuracy of sequences", *_cells(scores.sequence_accuracy), ""],
    ]
    if scores.spans is not None:
        for name in ("precision", "recall", "f1"):
            shown = "F1" if name == "f1" else name.capitalize()
            rows.append([f"{shown} of spans", *_cells(getattr(scores.spans, name)), ""])
    last = 4 if baseline is not None else 3
    heads = ["", ">value", ">95 % interval", ">baseline"]
    console.table(heads[:last], [row[:last] for row in rows])
    if baseline is not None:
        console.say("The baseline gives each word its most frequent label in training.")
    if scores.types:
        _show_types(scores.types, console)
    if scores.unseen:
        listed = ", ".join(f"{label!r} ({n:,})" for label, n in list(scores.unseen.items())[:5])
        total = sum(scores.unseen.values())
        console.say(
            f"{count(total, 'token')} with a label that the model does not know, counted as wrong: {listed}"
        )


def _show_types(types: Sequence[SpanScores], console: Console) -> None:
    weakest = sorted(types, key=lambda t: t.f1.value)
    console.heading("Types of spans, the weakest first")
    console.table(
        ["type", ">spans", ">found", ">precision", ">recall", ">F1", ">95 % interval"],
        [
            [t.type, f"{t.true:,}", f"{t.right:,}", _number(t.precision.value),
             _number(t.recall.value), *_cells(t.f1)]
            for t in weakest[:MOST]
        ],
    )  # fmt: skip


def show_mistakes(found: Judged, console: Console) -> None:
    """The labels that are confused most often."""
    if found.mistakes:
        console.heading("Most frequent mistakes")
        rows = [[t, a, f"{n:,}"] for t, a, n in found.mistakes[:10]]
        console.table(["truth", "answer", ">tokens"], rows)


def _cells(found: Interval) -> list[str]:
    return [_number(found.value), f"{found.low:.4f} to {found.high:.4f}"]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


# For programs


def as_json(found: Judged) -> dict[str, Any]:
    """The same, as JSON can hold it."""
    scores = found.scores
    return {
        "sequences": scores.sequences,
        "tokens": scores.tokens,
        "scores": {
            "token_accuracy": _interval(scores.token_accuracy),
            "sequence_accuracy": _interval(scores.sequence_accuracy),
        },
        "spans": None if scores.spans is None else _spans(scores.spans),
        "types": [{"type": one.type, **_spans(one)} for one in scores.types],
        "mistakes": [{"truth": t, "answer": a, "tokens": n} for t, a, n in found.mistakes[:20]],
        "unseen": dict(scores.unseen),
    }


def _spans(found: SpanScores) -> dict[str, Any]:
    return {
        "true": found.true,
        "answered": found.answered,
        "right": found.right,
        "precision": _interval(found.precision),
        "recall": _interval(found.recall),
        "f1": _interval(found.f1),
    }


def _interval(found: Interval) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high, "level": found.level}
