"""Python lines that give the numbers of the page again, and what they print."""

from __future__ import annotations

from ..snippets import Snippet
from .evaluation import LabelSets
from .measures import Measures

__all__ = ["labels", "pairs", "scores", "setup"]


def setup(e: LabelSets) -> Snippet:
    """The names that the other blocks use."""
    unseen = f"labels += {list(e.unseen)!r}" if e.unseen else ""
    width = len(e.labels)
    return Snippet.of(
        "import numpy as np",
        "from argmax import metrics",
        "",
        e.setup.strip("\n") or "# model, X and y are those that this report was made from",
        "answer, labels = model.predict(X), model.classes_.tolist()",
        "rows = model[:-1].transform(X)" if e.estimator == "model[-1]" else "rows = X",
        f"surprise = {e.estimator}.log_likelihood(rows, y[:, : len(labels)])",
        *(
            [unseen, f"answer = np.pad(answer, ((0, 0), (0, {width} - answer.shape[1])))"]
            if unseen
            else []
        ),
        f"found = metrics.label_sets(y, answer, labels=labels, log_likelihood=surprise, seed={e.seed})",
    )


def scores(m: Measures) -> Snippet:
    """The table of scores."""
    return Snippet.of(*((f"print(found.{s.attribute})", str(s.found)) for s in m.scores))


def labels(m: Measures) -> Snippet:
    """The weakest label."""
    one = min(m.found.each, key=lambda each: each.f1.value)
    return Snippet.of(
        "one = min(found.each, key=lambda each: each.f1.value)",
        ("print(repr(one.label), one.rows, one.f1)", f"{one.label!r} {one.rows} {one.f1}"),
    )


def pairs(m: Measures) -> Snippet | None:
    """The strongest pair."""
    if not m.strongest:
        return None
    a, b, value = m.strongest[0]
    model = m.evaluation.estimator
    return Snippet.of(
        f"weights = {model}.pair_weights_",
        "best = int(np.argsort(-np.abs(weights), kind='stable')[0])",
        f"a, b = {model}.classes_[{model}.pairs_[best]].tolist()",
        (
            "print(repr(a), repr(b), round(float(weights[best]), 4))",
            f"{a!r} {b!r} {round(value, 4)}",
        ),
    )
