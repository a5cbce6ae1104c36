"""Measures as what the template prints: the whole page, its beginning and its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..metrics import Interval
from . import charts, fitted, mistakes, snippets
from .evaluation import Evaluation
from .label_sets.evaluation import LabelSets
from .limits import FEW, Limits, level, percent
from .measures import Measures
from .safe import shorten
from .tagging.evaluation import Tagging

__all__ = ["context", "run"]


def context(m: Measures, limits: Limits) -> dict[str, Any]:
    """Everything that the template needs; every text from the data is shortened here."""
    return {
        "title": shorten(m.evaluation.title, 120),
        "date": shorten(m.evaluation.date, 40),
        "verdict": verdict(m, limits),
        "data": data(m, limits),
        "scores": scores(m),
        "confusion": mistakes.confusion(m, limits),
        "classes": mistakes.classes(m, limits),
        "reliability": fitted.reliability(m, limits),
        "training": fitted.training(m.evaluation),
        "weights": fitted.weights(m, limits),
        "errors": mistakes.errors(m, limits),
        "run": run(m.evaluation, limits, snippets.setup(m.evaluation)),
        "results": results(m),
    }


def verdict(m: Measures, limits: Limits) -> dict[str, Any]:
    """The sentence under the title: the score with its interval against the baseline."""
    score, gain = m.scores[0], m.gain
    return {
        "value": percent(score.found.value),
        "low": percent(score.found.low),
        "high": percent(score.found.high),
        "rows": len(m.evaluation.truth),
        "majority": shorten(m.majority, limits.name),
        "learned": m.evaluation.training_counts is not None,
        "baseline": percent(score.baseline),
        "better": gain.low > 0,
        "worse": gain.high < 0,
        "gain": f"{100 * gain.value:+.1f} points ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})",
        "chart": charts.against_baseline(score.found, score.baseline, "most frequent class"),
    }


# Data


def data(m: Measures, limits: Limits) -> dict[str, Any]:
    """Rows, columns, classes with their counts, and what a check found."""
    e = m.evaluation
    counts = np.bincount(m.column[m.column >= 0], minlength=len(e.classes))
    model = e.model
    return {
        "rows": len(e.truth),
        "trained": None if e.training_counts is None else int(np.sum(e.training_counts)),
        "k": len(e.classes),
        "features": None if model is None or model.coef is None else int(model.coef.shape[1]),
        "range": (int(counts.min()), int(counts.max())),
        "fold": len(e.classes) > FEW // 2,
        "classes": _counted(m, limits, counts),
        "more_classes": max(0, len(e.classes) - limits.classes),
        "columns": [_column(column, limits) for column in e.columns[: limits.columns]],
        "more_columns": max(0, len(e.columns) - limits.columns),
        "findings": [shorten(finding, 400) for finding in e.findings[:50]],
        "unseen": [
            {"label": shorten(label, limits.name), "count": count}
            for label, count in list(m.unseen.items())[: limits.classes]
        ],
        "unseen_rows": sum(m.unseen.values()),
        "known": None if m.known is None else _in_words(m.known),
    }


def _counted(m: Measures, limits: Limits, counts: Any) -> list[dict[str, Any]]:
    trained, most = m.evaluation.training_counts, max(int(counts.max()), 1)
    return [
        {
            "label": shorten(label, limits.name),
            "trained": None if trained is None else int(trained[i]),
            "count": int(counts[i]),
            "level": level(counts[i] / most),
        }
        for i, label in enumerate(m.evaluation.classes[: limits.classes].tolist())
    ]


def _column(column: Any, limits: Limits) -> dict[str, Any]:
    return {
        "name": shorten(column.name, limits.name),
        "kind": column.kind,
        "missing": column.missing,
        "distinct": column.distinct,
        "examples": [shorten(example, 30) for example in column.examples[:3]],
    }


def _in_words(found: Interval) -> str:
    return f"{percent(found.value)} ({percent(found.low)} to {percent(found.high)})"


# Scores


def scores(m: Measures) -> dict[str, Any]:
    """The table of scores."""
    rows = []
    for s in m.scores:
        show = percent if s.is_share else "{:.3f}".format
        high = 1.0 if s.is_share else max(s.found.high, s.baseline, 1e-9)
        rows.append(
            {
                "name": s.name,
                "means": s.means,
                "value": show(s.found.value),
                "low": show(s.found.low),
                "high": show(s.found.high),
                "baseline": show(s.baseline),
                "chart": charts.whisker(s.found, 0.0, high, s.baseline),
            }
        )
    return {"rows": rows, "python": snippets.scores(m)}


# The run


def run(
    e: Evaluation | Tagging | LabelSets, limits: Limits, python: snippets.Snippet
) -> dict[str, Any]:
    """What it takes to do it again."""

    def listed(pairs: Any) -> list[tuple[str, str]]:
        return [(shorten(key, limits.name), shorten(value, 120)) for key, value in pairs]

    params = {} if e.model is None else e.model.params
    return {
        "model": None if e.model is None else shorten(e.model.name, limits.name),
        "params": listed((key, repr(value)) for key, value in params.items()),
        "versions": listed([*e.versions.items(), ("seed", e.seed)]),
        "seconds": listed((stage, f"{value:.3g}") for stage, value in e.seconds.items()),
        "digests": listed(e.digests.items()),
        "commands": [shorten(command, 1000) for command in e.commands[:50]],
        "python": python,
    }


def results(m: Measures) -> dict[str, Any]:
    """The main numbers for programs, as the page's block of JSON."""

    def plain(found: Interval) -> dict[str, float]:
        return {"value": found.value, "low": found.low, "high": found.high}

    return {
        "title": shorten(m.evaluation.title, 120),
        "rows": len(m.evaluation.truth),
        "classes": len(m.evaluation.classes),
        "unseen_rows": sum(m.unseen.values()),
        "scores": {s.name: {**plain(s.found), "baseline": s.baseline} for s in m.scores},
        "gain": plain(m.gain),
        "ece": m.reliability.ece,
        "ece_if_calibrated": m.reliability.ece_if_calibrated,
    }
