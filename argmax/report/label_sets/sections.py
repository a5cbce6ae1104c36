"""Numbers as what the template prints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...metrics import ClassScores
from .. import charts, fitted
from ..limits import FEW, LEAD, Limits, level, percent, signed
from ..safe import shorten
from . import snippets
from .measures import Measures, Score

__all__ = ["context"]


def context(m: Measures, limits: Limits) -> dict[str, Any]:
    """Everything that the template needs; every text from the data is shortened here."""
    from ..sections import run

    e = m.evaluation
    return {
        "title": shorten(e.title, 120),
        "date": shorten(e.date, 40),
        "verdict": _verdict(m, limits),
        "data": _data(m, limits),
        "scores": {"rows": [_score(s) for s in m.scores], "python": snippets.scores(m)},
        "labels": _labels(m, limits),
        "pairs": _pairs(m, limits),
        "training": fitted.training(e),
        "weights": _weights(m, limits),
        "errors": _errors(m, limits),
        "run": run(e, limits, snippets.setup(e)),
        "results": _results(m),
    }


def _set(names: list[Any], row: Any, limits: Limits) -> list[str]:
    return [shorten(names[j], limits.name) for j in np.flatnonzero(row).tolist()]


def _verdict(m: Measures, limits: Limits) -> dict[str, Any]:
    whole, baseline = m.scores[0], m.scores[0].baseline
    gain = m.gain
    return {
        "value": percent(whole.found.value),
        "low": percent(whole.found.low),
        "high": percent(whole.found.high),
        "f1": percent(m.found.micro_f1.value),
        "rows": m.found.rows,
        "majority": " | ".join(_set(m.evaluation.labels, m.majority, limits)) or "no label",
        "baseline": percent(baseline),
        "gain": f"{100 * gain.value:+.1f} points ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})",
        "chart": charts.against_baseline(whole.found, baseline, "most frequent set"),
    }


def _data(m: Measures, limits: Limits) -> dict[str, Any]:
    e = m.evaluation
    per_row = e.truth.sum(axis=1)
    model = e.model
    return {
        "rows": len(e.truth),
        "learned": None if e.learned is None else len(e.learned),
        "k": len(np.asarray(e.classes)),
        "features": None if model is None or model.coef is None else int(model.coef.shape[1]),
        "mean": f"{per_row.mean():.2f}",
        "most": int(per_row.max()),
        "sets": len(np.unique(e.truth, axis=0)),
        "findings": [shorten(finding, 400) for finding in e.findings[:50]],
        "unseen": [
            {"label": shorten(name, limits.name), "count": n}
            for name, n in list(m.unseen.items())[: limits.classes]
        ],
        "columns": [
            {"name": shorten(column.name, limits.name), "kind": column.kind}
            for column in e.columns[: limits.columns]
        ],
        "more_columns": max(0, len(e.columns) - limits.columns),
    }


def _score(s: Score) -> dict[str, Any]:
    shown = percent if s.is_share else (lambda value: f"{value:.3f}")
    low = 0.0 if s.is_share else min(s.found.low, s.baseline) * 1.05
    return {
        "name": s.name,
        "means": s.means,
        "value": shown(s.found.value),
        "low": shown(s.found.low),
        "high": shown(s.found.high),
        "baseline": shown(s.baseline),
        "chart": charts.whisker(s.found, low, 1.0 if s.is_share else 0.0, s.baseline),
    }


def _labels(m: Measures, limits: Limits) -> dict[str, Any]:
    ordered = sorted(m.found.each, key=lambda one: one.f1.value)
    start = math.floor(10 * min(one.f1.low for one in ordered)) / 10
    shown = ordered[: limits.classes]
    return {
        "rows": [_label(one, start, limits) for one in shown],
        "long": len(shown) > FEW,
        "more": len(ordered) - len(shown),
        "start": percent(start, 0),
        "python": snippets.labels(m),
    }


def _label(one: ClassScores, start: float, limits: Limits) -> dict[str, Any]:
    return {
        "label": shorten(one.label, limits.name),
        "rows": one.rows,
        "answered": one.answered,
        "scores": [
            (percent(found.value), f"{100 * found.low:.0f}–{100 * found.high:.0f}")
            for found in (one.precision, one.recall, one.f1)
        ],
        "chart": charts.whisker(one.f1, start, 1.0),
    }


def _pairs(m: Measures, limits: Limits) -> dict[str, Any] | None:
    if not m.strongest:
        return None
    shown = m.strongest[: min(limits.pairs, 3 * LEAD)]
    largest = max(abs(shown[0][2]), 1e-300)
    return {
        "rows": [
            {
                "a": shorten(a, limits.name),
                "b": shorten(b, limits.name),
                "value": signed(value),
                "positive": value > 0,
                "level": level(abs(value) / largest),
            }
            for a, b, value in shown
        ],
        "more": len(m.strongest) - len(shown),
        "python": snippets.pairs(m),
    }


def _weights(m: Measures, limits: Limits) -> dict[str, Any] | None:
    e = m.evaluation
    if e.model is None or e.model.coef is None:
        return None
    names = np.asarray(e.classes).tolist()[: min(limits.classes, 60)]
    cards = [
        fitted.card(e.model, shorten(label, limits.name), w, limits)
        for label, w in zip(names, e.model.coef, strict=False)
    ]
    more = len(np.asarray(e.classes)) - len(cards)
    return {"cards": cards, "fold": len(cards) > FEW // 2, "more": more, "python": None}


def _errors(m: Measures, limits: Limits) -> dict[str, Any]:
    e, at = m.evaluation, m.surprising[: 3 * limits.examples].tolist()
    names = e.labels
    return {
        "wrong": len(m.surprising),
        "rows": [
            {
                "row": int(e.rows[i]),
                "text": None
                if e.previews is None
                else shorten(e.previews[i] or "", limits.preview),
                "truth": _set(names, e.truth[i], limits),
                "answer": _set(names, e.answer[i], limits),
                "surprise": f"{-e.log_likelihood[i]:.1f}",
            }
            for i in at
        ],
    }


def _results(m: Measures) -> dict[str, Any]:
    """The main numbers for programs, as the page's block of JSON."""
    return {
        "title": shorten(m.evaluation.title, 120),
        "rows": m.found.rows,
        "labels": len(np.asarray(m.evaluation.classes)),
        "scores": {
            s.name: {
                "value": s.found.value,
                "low": s.found.low,
                "high": s.found.high,
                "baseline": s.baseline,
            }
            for s in m.scores
        },
    }
