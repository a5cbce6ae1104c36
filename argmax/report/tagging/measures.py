"""Every number of the page about a tagger, computed once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from ... import calibration, metrics
from ...metrics import Interval
from ...records import Floats, Ints
from ...tags import Tags
from .evaluation import Tagging

__all__ = ["EDGES", "Level", "Measures"]

BINS = 15
EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)
MISTAKES, DOUBTS, SAMPLE = 12, 6, 10
"""Sentences shown: with the most confident mistakes, with the least certain right answers, and at random."""


class Level(NamedTuple):
    """Tokens whose answer has a confidence in some range, and how many of them are wrong."""

    low: float
    high: float
    tokens: int
    wrong: int
    error: Interval


@dataclass(frozen=True)
class Measures:
    """The numbers of a ``Tagging``, computed when they are asked for and then kept."""

    evaluation: Tagging

    @cached_property
    def scores(self) -> metrics.TaggingScores:
        e = self.evaluation
        known = np.asarray(e.classes).tolist()
        return metrics.tagging(e.truth, e.answer, classes=known, seed=e.seed)

    @cached_property
    def marks_spans(self) -> bool:
        return Tags.fit(map(str, np.asarray(self.evaluation.classes).tolist()))

    @cached_property
    def right(self) -> Any:
        """(N,) whether each token is right."""
        truth, answer = (
            chain.from_iterable(part) for part in (self.evaluation.truth, self.evaluation.answer)
        )
        return np.fromiter((t == a for t, a in zip(truth, answer, strict=True)), np.bool_)

    @cached_property
    def sure(self) -> Floats:
        """(N,) the confidence of each token."""
        return np.concatenate([np.asarray(p, float) for p in self.evaluation.confidence])

    @cached_property
    def owner(self) -> Ints:
        """(N,) the sequence of each token."""
        sizes = [len(words) for words in self.evaluation.words]
        return np.repeat(np.arange(len(sizes)), sizes)

    # Confidence

    @cached_property
    def reliability(self) -> calibration.Reliability:
        sure = np.clip(self.sure, 0.0, 1.0)
        table = np.stack([1.0 - sure, sure], axis=1)
        return calibration.reliability(self.right, table, [False, True], BINS, label=True)

    @cached_property
    def levels(self) -> list[Level]:
        """Errors by confidence; ranges without a token are left out."""
        place = np.searchsorted(EDGES[1:-1], self.sure, side="right")
        found = []
        for i, (low, high) in enumerate(pairwise(EDGES)):
            own = place == i
            tokens, wrong = int(own.sum()), int((own & ~self.right).sum())
            if tokens:
                found.append(Level(low, high, tokens, wrong, metrics.proportion(wrong, tokens)))
        return found

    # Mistakes

    @cached_property
    def mistakes(self) -> list[tuple[Any, Any, int]]:
        """Truth, answer and how many tokens, the most frequent first."""
        e = self.evaluation
        pairs = zip(chain.from_iterable(e.truth), chain.from_iterable(e.answer), strict=True)
        counts = Counter((t, a) for t, a in pairs if t != a)
        ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
        return [(t, a, n) for (t, a), n in ordered]

    @cached_property
    def totals(self) -> Counter[Any]:
        """Tokens of each label of the truth."""
        return Counter(chain.from_iterable(self.evaluation.truth))

    # Sentences

    @cached_property
    def surprising(self) -> list[int]:
        """Sequences with mistakes, those with the most confident one first."""
        wrong = np.flatnonzero(~self.right)
        order = wrong[np.argsort(-self.sure[wrong], kind="stable")]
        return list(dict.fromkeys(self.owner[order].tolist()))[:MISTAKES]

    @cached_property
    def doubtful(self) -> list[int]:
        """Sequences that are right, those with the least certain token first."""
        whole = set(self.owner[~self.right].tolist())
        order = np.argsort(self.sure, kind="stable")
        found = (i for i in self.owner[order].tolist() if i not in whole)
        return list(dict.fromkeys(found))[:DOUBTS]

    @cached_property
    def sample(self) -> list[int]:
        """Some sequences drawn at random."""
        filled = np.unique(self.owner)
        rng = np.random.default_rng(self.evaluation.seed)
        return sorted(rng.permutation(filled)[:SAMPLE].tolist())
