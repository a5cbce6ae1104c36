"""What the report on a tagger shows, from sequences that were judged."""

from __future__ import annotations

from typing import Any

from ...report import Tagging
from ...report.tagging.evaluation import model_facts
from .parts import without
from .scoring import Judged

__all__ = ["evaluation"]


def evaluation(found: Judged, **facts: Any) -> Tagging:
    """What a report is about; ``facts`` are further fields of ``Tagging``."""
    tokens, tagger = found.tokens, found.tagger
    features = without(tokens, found.label)
    lines = None if tokens.lines is None else tokens.lines[tokens.offsets[:-1]].tolist()
    known: dict[str, Any] = {
        "words": tokens.sequences(found.word),
        "truth": found.truth,
        "answer": found.answer,
        "confidence": found.confidence,
        "lines": lines,
        **model_facts(tagger),
    }
    if known["honest"]:
        known["spans"] = lambda which: tagger.span_confidence(features.take(which))
    return Tagging(**(known | facts))
