"""Python lines that give the numbers of the page again, and what they print."""

from __future__ import annotations

import numpy as np

from ..snippets import Snippet
from .evaluation import Tagging
from .measures import BINS, Measures

__all__ = ["confidence", "mistakes", "scores", "setup", "transitions", "types"]


def setup(e: Tagging) -> Snippet:
    """The names that the other blocks use."""
    return Snippet.of(
        "import numpy as np",
        "from argmax import calibration, metrics",
        "",
        e.setup.strip("\n") or "# tagger, X and y are those that this report was made from",
        "answer = tagger.predict(X)",
        "classes = tagger.classes_.tolist()",
        f"found = metrics.tagging(y, answer, classes=classes{_seed(e)})",
    )


def scores(m: Measures) -> Snippet:
    """The table of scores."""
    found = m.scores
    lines: list[str | tuple[str, str]] = [
        ("print(found.token_accuracy)", str(found.token_accuracy)),
        ("print(found.sequence_accuracy)", str(found.sequence_accuracy)),
    ]
    if found.spans is not None:
        for name in ("precision", "recall", "f1"):
            lines.append((f"print(found.spans.{name})", str(getattr(found.spans, name))))
    return Snippet.of(*lines)


def types(m: Measures) -> Snippet | None:
    """The weakest type."""
    if not m.scores.types:
        return None
    one = min(m.scores.types, key=lambda t: t.f1.value)
    return Snippet.of(
        "one = min(found.types, key=lambda t: t.f1.value)",
        ("print(repr(one.type), one.true, one.f1)", f"{one.type!r} {one.true} {one.f1}"),
    )


def mistakes(m: Measures) -> Snippet:
    """How many tokens are wrong."""
    wrong = int((~m.right).sum())
    return Snippet.of(
        "wrong = [t != a for ts, labels in zip(y, answer) for t, a in zip(ts, labels)]",
        ("print(sum(wrong))", str(wrong)),
    )


def confidence(m: Measures) -> Snippet:
    """The calibration error of the answers."""
    ece = round(m.reliability.ece, 4)
    shares = "tagger.predict_marginals(X)"
    if not m.evaluation.honest:
        shares = "map(np.exp, tagger.decision_function(X))"
    return Snippet.of(
        "place = {label: i for i, label in enumerate(classes)}",
        "sure = np.concatenate(",
        "    [",
        "        p[np.arange(len(p)), [place[label] for label in labels]]",
        f"        for p, labels in zip({shares}, answer)",
        "    ]",
        ")",
        "right = [t == a for ts, labels in zip(y, answer) for t, a in zip(ts, labels)]",
        "table = np.clip(np.stack([1 - sure, sure], axis=1), 0, 1)",
        f"diagram = calibration.reliability(right, table, [False, True], {BINS}, label=True)",
        ("print(round(diagram.ece, 4))", str(ece)),
    )


def transitions(e: Tagging) -> Snippet | None:
    """The strongest transition."""
    table = np.asarray(e.transitions)
    K = len(np.asarray(e.classes))
    if table.shape != (K, K):
        return None
    a, b = np.unravel_index(int(table.argmax()), table.shape)
    names = np.asarray(e.classes).tolist()
    told = f"{names[a]!r} {names[b]!r} {round(float(table[a, b]), 4)}"
    return Snippet.of(
        "table = tagger.transitions_",
        "a, b = np.unravel_index(int(table.argmax()), table.shape)",
        ("print(repr(classes[a]), repr(classes[b]), round(float(table[a, b]), 4))", told),
    )


def _seed(e: Tagging) -> str:
    return f", seed={e.seed}" if e.seed else ""
