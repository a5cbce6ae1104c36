"""What a report on a tagger is about, as plain fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ... import checks
from ...errors import InvalidInput, NoProbabilities
from ...features import Tokens
from ...records import Floats
from ..evaluation import Model, digest, versions

__all__ = ["Tagging", "of_tagger", "shares"]

Span = tuple[int, int, str, float]
"""First token, the one behind the last, type, probability."""


@dataclass(frozen=True, kw_only=True)
class Tagging:
    """Everything that a report on a tagger shows. Only the first five fields are needed.

    >>> from argmax import report
    >>> found = report.Tagging(
    ...     classes=["O", "B-PER"],
    ...     words=[["so", "Ada", "said"]],
    ...     truth=[["O", "B-PER", "O"]],
    ...     answer=[["O", "B-PER", "O"]],
    ...     confidence=[[0.9, 0.8, 0.9]],
    ... )
    >>> "Ada" in report.render(found)
    True
    """

    classes: Any  # (K,) labels that the model knows
    words: Sequence[Sequence[Any]]
    truth: Sequence[Sequence[Any]]
    answer: Sequence[Sequence[Any]]
    confidence: Sequence[Any]  # the probability of each answer

    title: str = "Tagger"
    lines: Sequence[int] | None = None  # where each sequence begins in its file
    findings: Sequence[str] = ()
    learned: tuple[int, int] | None = None  # sequences and tokens
    baseline: float | None = None  # accuracy of giving each word its most frequent label

    transitions: Any = None  # (K, K), or (states, K) of order 2
    start: Any = None  # (K,)
    forbidden: Any = None  # (K, K): transitions that the model never makes
    never_first: Any = None  # (K,): labels that it never begins with
    honest: bool = True  # whether the confidences are meant as probabilities
    spans: Callable[[Sequence[int]], list[list[Span]]] | None = None  # of some sequences

    model: Model | None = None
    coef: Any = None  # (K, d) sparse
    seconds: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    date: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[str] = ()
    setup: str = ""  # Python lines that define tagger, X and y
    estimator: str = "tagger"

    def __post_init__(self) -> None:
        checks.same_length(
            words=self.words, truth=self.truth, answer=self.answer, confidence=self.confidence
        )
        lists = zip(self.words, self.truth, self.answer, self.confidence, strict=True)
        for i, parts in enumerate(lists):
            if len({len(part) for part in parts}) > 1:
                raise InvalidInput(
                    f"sequence {i} has {len(parts[0])} words, {len(parts[1])} labels and {len(parts[2])} "
                    "answers. Each word needs one of each."
                )
        if not any(len(words) for words in self.words):
            raise InvalidInput("there are no tokens to report on.")


def of_tagger(tagger: Any, X: Any, y: Any, **facts: Any) -> Tagging:
    """The evaluation of a fitted tagger on sequences X with labels y; ``facts`` are further fields.

    >>> from argmax import CRFTagger, report
    >>> X, y = [["no", "way"], ["way", "out"]], [["D", "N"], ["N", "P"]]
    >>> found = report.of(CRFTagger().fit(X, y), X, y, title="Ways")
    >>> found.title, len(found.words)
    ('Ways', 2)
    """
    answer = tagger.predict(X)
    place = {name: i for i, name in enumerate(tagger.classes_.tolist())}
    sure = [
        p[np.arange(len(labels)), [place[label] for label in labels]]
        for p, labels in zip(shares(tagger, X), answer, strict=True)
    ]
    facts = model_facts(tagger) | facts
    if (solution := facts["model"].solution) is not None:
        facts.setdefault("seconds", {"fit": solution.seconds})
    known: dict[str, Any] = {
        "words": _words(X, tagger),
        "truth": y,
        "answer": answer,
        "confidence": sure,
        "spans": lambda which: tagger.span_confidence(_some(X, which)),
    }
    if not facts["honest"]:
        del known["spans"]
    return Tagging(**(known | facts))


def shares(tagger: Any, X: Any) -> list[Floats]:
    """P(label) of each token; of a tagger without probabilities, shares that rank its labels.

    >>> from argmax import SequenceTagger
    >>> from argmax.report.tagging.evaluation import shares
    >>> tagger = SequenceTagger(loss="hinge").fit([["no", "way"]], [["D", "N"]])
    >>> [p.shape for p in shares(tagger, [["no"]])]
    [(1, 2)]
    """
    try:
        found: list[Floats] = tagger.predict_marginals(X)
    except NoProbabilities:
        return [np.exp(scores) for scores in tagger.decision_function(X)]
    return found


def model_facts(tagger: Any) -> dict[str, Any]:
    """What a report shows of a fitted tagger, whatever it is judged by."""
    from ...calibration import CalibratedTagger

    title, honest = type(tagger).__name__, True
    if isinstance(tagger, CalibratedTagger):
        tagger = tagger.estimator_
    else:
        honest = tagger._loss().probabilities
    rules = tagger._space(tagger.classes_).constraints
    return {
        "classes": tagger.classes_,
        "title": title,
        "transitions": tagger.transitions_,
        "start": tagger.start_ if tagger.start else None,
        "forbidden": None if rules is None else ~rules.follow,
        "never_first": None if rules is None else ~rules.start,
        "honest": honest,
        "model": Model(
            type(tagger).__name__,
            tagger.get_params(deep=False),
            getattr(tagger, "solution_", None),
            None,
            tagger.features_.names(),
        ),
        "coef": tagger.coef_,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": versions(),
        "digests": {"weights": digest(tagger.coef_, tagger.transitions_)},
    }


def _words(X: Any, tagger: Any) -> list[list[str]]:
    """What stands for each token on the page: its first column, or what it is in short."""
    if isinstance(X, Tokens):
        return [list(map(str, words)) for words in X.sequences(next(iter(X.columns)))]
    if isinstance(X, list | tuple):
        return [[_word(token) for token in sequence] for sequence in X]
    return [[f"#{t}" for t in range(len(p))] for p in tagger.predict(X)]


def _word(token: Any) -> str:
    if isinstance(token, str):
        return token
    if isinstance(token, tuple | list) and token:
        return str(token[0])
    if isinstance(token, Mapping):
        return str(token.get("word", next(iter(token.values()), "")))
    return "·"


def _some(X: Any, which: Sequence[int]) -> Any:
    return X.take(which) if isinstance(X, Tokens) else [X[i] for i in which]
