"""Numbers as what the template prints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...metrics import Interval, SpanScores
from .. import charts, fitted
from ..limits import FEW, LEAD, Limits, level, percent, signed
from ..safe import shorten
from . import snippets
from .measures import Measures
from .sentences import Sentences

__all__ = ["context"]

MATRIX = 60
"""Labels beyond which the strongest transitions are listed instead of a matrix."""

NUMBERS = 14
"""Labels up to which cells of the matrix show their weights."""


def context(m: Measures, limits: Limits) -> dict[str, Any]:
    """Everything that the template needs; every text from the data is shortened here."""
    from ..sections import run

    e = m.evaluation
    return {
        "title": shorten(e.title, 120),
        "date": shorten(e.date, 40),
        "verdict": _verdict(m),
        "data": _data(m, limits),
        "scores": _scores(m),
        "types": _types(m, limits),
        "sentences": _sentences(m, limits),
        "transitions": _transitions(m, limits),
        "confidence": _confidence(m),
        "confusion": _confusion(m, limits),
        "training": fitted.training(e),
        "weights": _weights(m, limits),
        "run": run(e, limits, snippets.setup(e)),
        "results": _results(m),
    }


def _verdict(m: Measures) -> dict[str, Any]:
    found, e = m.scores, m.evaluation
    main = found.token_accuracy if found.spans is None else found.spans.f1
    chart = None
    if e.baseline is not None:
        chart = charts.against_baseline(
            found.token_accuracy, e.baseline, "each word’s most frequent label"
        )
    return {
        "spans": found.spans is not None,
        "value": percent(main.value),
        "low": percent(main.low),
        "high": percent(main.high),
        "accuracy": percent(found.token_accuracy.value),
        "tokens": found.tokens,
        "sequences": found.sequences,
        "baseline": None if e.baseline is None else percent(e.baseline),
        "chart": chart,
    }


def _data(m: Measures, limits: Limits) -> dict[str, Any]:
    e, found = m.evaluation, m.scores
    lengths = [len(words) for words in e.words]
    return {
        "sequences": found.sequences,
        "tokens": found.tokens,
        "learned": e.learned,
        "k": len(np.asarray(e.classes)),
        "attributes": None if e.coef is None else int(e.coef.shape[1]),
        "pairs": None if e.coef is None else int(sp.csr_array(e.coef).nnz),
        "lengths": (min(lengths), max(lengths)),
        "findings": [shorten(finding, 400) for finding in e.findings[:50]],
        "unseen": [
            {"label": shorten(label, limits.name), "count": n}
            for label, n in list(found.unseen.items())[: limits.classes]
        ],
        "unseen_tokens": sum(found.unseen.values()),
    }


def _scores(m: Measures) -> dict[str, Any]:
    found = m.scores
    listed: list[tuple[str, str, Interval, float | None]] = [
        ("Accuracy of tokens", "labels that are right", found.token_accuracy, m.evaluation.baseline),
        ("Accuracy of sequences", "right from the first token to the last",
         found.sequence_accuracy, None),
    ]  # fmt: skip
    if found.spans is not None:
        listed += [
            ("Precision of spans", "of the spans answered, those that are true", found.spans.precision, None),
            ("Recall of spans", "of the true spans, those answered", found.spans.recall, None),
            ("F1 of spans", "both in one, as conlleval counts", found.spans.f1, None),
        ]  # fmt: skip
    rows = [
        {
            "name": name,
            "means": means,
            "value": percent(interval.value),
            "low": percent(interval.low),
            "high": percent(interval.high),
            "baseline": None if baseline is None else percent(baseline),
            "chart": charts.whisker(interval, 0.0, 1.0, baseline),
        }
        for name, means, interval, baseline in listed
    ]
    return {"rows": rows, "python": snippets.scores(m)}


def _types(m: Measures, limits: Limits) -> dict[str, Any] | None:
    if not m.scores.types:
        return None
    ordered = sorted(m.scores.types, key=lambda t: t.f1.value)
    start = math.floor(10 * min(t.f1.low for t in ordered)) / 10
    return {
        "rows": [_type(one, start, limits) for one in ordered[: limits.classes]],
        "start": percent(start, 0),
        "python": snippets.types(m),
    }


def _type(one: SpanScores, start: float, limits: Limits) -> dict[str, Any]:
    return {
        "label": shorten(one.type or "span", limits.name),
        "true": one.true,
        "answered": one.answered,
        "right": one.right,
        "scores": [
            (percent(found.value), f"{100 * found.low:.0f}–{100 * found.high:.0f}")
            for found in (one.precision, one.recall, one.f1)
        ],
        "chart": charts.whisker(one.f1, start, 1.0),
    }


def _sentences(m: Measures, limits: Limits) -> dict[str, Any]:
    writer = Sentences(m, limits)
    most = limits.examples  # shrinks with the page
    return {
        "spans": writer.tags is not None,
        "kinds": [
            {"label": shorten(kind or "span", 24), "colour": colour}
            for kind, colour in writer.colour.items()
            if kind != "O"
        ][:40],
        "mistakes": writer.of(m.surprising[: 3 * most]),
        "doubts": writer.of(m.doubtful[: 2 * most]),
        "sample": writer.of(m.sample[: 3 * most]),
    }


# Transitions


def _transitions(m: Measures, limits: Limits) -> dict[str, Any] | None:
    e = m.evaluation
    names = [shorten(label, 20) for label in np.asarray(e.classes).tolist()]
    if e.transitions is None or np.shape(e.transitions) != (len(names), len(names)):
        return None
    table = np.asarray(e.transitions, float)
    found: dict[str, Any] = {
        "labels": names,
        "many": len(names) > FEW,
        "numbers": len(names) <= NUMBERS,
        "matrix": None,
        "strongest": _strongest(table, names, e.forbidden),
        "forbidden": 0 if e.forbidden is None else int(np.sum(e.forbidden)),
        "python": snippets.transitions(e),
    }
    if len(names) <= min(MATRIX, limits.matrix):
        start = None if e.start is None else np.asarray(e.start, float)
        rows = table if start is None else np.vstack([start, table])
        largest = max(float(np.abs(rows).max()), 1e-300)
        never = np.zeros(rows.shape, bool)
        if e.forbidden is not None:
            never[len(rows) - len(names) :] = e.forbidden
        if start is not None and e.never_first is not None:
            never[0] = e.never_first
        heads = names if start is None else ["start", *names]
        found["matrix"] = [
            {
                "head": head,
                "cells": [_cell(v, largest, out) for v, out in zip(row, no, strict=True)],
            }
            for head, row, no in zip(heads, rows, never, strict=True)
        ]
    return found


def _cell(value: float, largest: float, never: bool) -> dict[str, Any]:
    if never:
        return {"shade": "never", "value": "×", "told": "not allowed"}
    shade = level(math.sqrt(abs(value) / largest))
    return {
        "shade": f"{'d' if value >= 0 else 'e'}{shade}",
        "value": f"{value:+.1f}".replace("-", "−") if abs(value) >= 0.05 else "0",
        "told": signed(value),
    }


def _strongest(table: Any, names: list[str], forbidden: Any) -> list[dict[str, str]]:
    allowed = np.where(False if forbidden is None else forbidden, -np.inf, table)
    best = np.argsort(-allowed, axis=None, kind="stable")[:LEAD]
    places = [np.unravel_index(int(at), table.shape) for at in best]
    return [
        {"before": names[a], "behind": names[b], "value": signed(table[a, b])}
        for a, b in places
        if np.isfinite(allowed[a, b])
    ]


# Confidence and mistakes


def _confidence(m: Measures) -> dict[str, Any]:
    found, right = m.reliability, m.scores.token_accuracy
    sure = float(m.sure.mean())
    if sure in right:
        tendency = "neither too sure nor too timid on the whole"
    else:
        tendency = "too sure of its answers" if sure > right.high else "less sure than it could be"
    most = max((one.error.high for one in m.levels), default=1.0)
    return {
        "honest": m.evaluation.honest,
        "chart": charts.diagonal(found),
        "ece": f"{found.ece:.3f}",
        "perfect": f"{found.ece_if_calibrated:.3f}",
        "sure": percent(sure),
        "right": percent(right.value),
        "tendency": tendency,
        "bins": len(found.count),
        "levels": [
            {
                "range": f"{_digits(one.low)} – {_digits(one.high)}",
                "tokens": one.tokens,
                "wrong": one.wrong,
                "error": percent(one.error.value),
                "low": percent(one.error.low),
                "high": percent(one.error.high),
                "chart": charts.whisker(one.error, 0.0, most),
            }
            for one in m.levels
        ],
        "python": snippets.confidence(m),
    }


def _digits(share: float) -> str:
    return f"{100 * share:g}\u202f%"


def _confusion(m: Measures, limits: Limits) -> dict[str, Any]:
    shown = m.mistakes[: min(limits.pairs, 3 * LEAD)]
    most = max((n for _, _, n in shown), default=1)
    return {
        "wrong": int((~m.right).sum()),
        "tokens": m.scores.tokens,
        "pairs": [
            {
                "truth": shorten(t, limits.name),
                "answer": shorten(a, limits.name),
                "count": n,
                "share": percent(n / m.totals[t]),
                "level": level(n / most),
            }
            for t, a, n in shown
        ],
        "more": len(m.mistakes) - len(shown),
        "python": snippets.mistakes(m),
    }


def _weights(m: Measures, limits: Limits) -> dict[str, Any] | None:
    e = m.evaluation
    if e.coef is None or e.model is None:
        return None
    names = np.asarray(e.classes).tolist()[: min(limits.classes, 60)]
    rows = sp.csr_array(e.coef)
    cards = [
        fitted.card(e.model, shorten(label, limits.name), _dense(rows, i), limits)
        for i, label in enumerate(names)
    ]
    return {
        "cards": cards,
        "fold": len(cards) > FEW // 2,
        "more": len(np.asarray(e.classes)) - len(cards),
        "python": None,
    }


def _dense(rows: Any, i: int) -> Any:
    found = np.zeros(rows.shape[1])
    part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
    found[rows.indices[part]] = rows.data[part]
    return found


def _results(m: Measures) -> dict[str, Any]:
    """The main numbers for programs, as the page's block of JSON."""

    def plain(found: Interval) -> dict[str, float]:
        return {"value": found.value, "low": found.low, "high": found.high}

    found = m.scores
    spans = found.spans
    return {
        "title": shorten(m.evaluation.title, 120),
        "sequences": found.sequences,
        "tokens": found.tokens,
        "labels": len(np.asarray(m.evaluation.classes)),
        "unseen_tokens": sum(found.unseen.values()),
        "token_accuracy": plain(found.token_accuracy),
        "sequence_accuracy": plain(found.sequence_accuracy),
        "span_f1": None if spans is None else plain(spans.f1),
        "ece": m.reliability.ece,
    }
