"""Where the answers are wrong: the matrix and the rows behind it, each class, the most confident mistakes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..records import Ints
from . import charts, snippets
from .limits import FEW, LEAD, Limits, level, percent, signed
from .measures import Driver, Measures
from .safe import shorten

__all__ = ["classes", "confusion", "errors"]


def confusion(m: Measures, limits: Limits) -> dict[str, Any]:
    """The matrix, and the rows behind its cells."""
    found = m.confusion
    k = len(found.labels)
    many = k > FEW
    wrong = found.truth != found.answer
    pairs = _pairs(m, limits, np.flatnonzero(wrong), limits.pairs)
    right = [] if many else _pairs(m, limits, np.flatnonzero(~wrong), k)
    links = {pair["cell"]: pair["id"] for pair in pairs + right}
    labels = [shorten(label, min(limits.name, 26)) for label in found.labels.tolist()]
    return {
        "many": many,
        "labels": labels,
        "upright": max(map(len, labels)) <= 3,
        "matrix": _matrix(found.table(), links) if k <= limits.matrix else None,
        "pairs": pairs[:LEAD],
        "more_pairs": pairs[LEAD:],
        "right": right,
        "pairs_in_all": int(wrong.sum()),
        "wrong": int(found.count[wrong].sum()),
        "python": snippets.confusion(m, limits.examples),
    }


def _matrix(table: Ints, links: dict[tuple[int, int], str]) -> list[list[dict[str, Any] | None]]:
    totals = np.maximum(table.sum(axis=1), 1)
    rows: list[list[dict[str, Any] | None]] = [[None] * len(table) for _ in table]
    for i, j in zip(*(at.tolist() for at in np.nonzero(table)), strict=True):
        share = table[i, j] / totals[i]
        shade = (
            f"d{level(share)}" if i == j else f"e{level(math.sqrt(share))}"
        )  # few errors show too
        rows[i][j] = {"count": int(table[i, j]), "shade": shade, "link": links.get((i, j))}
    return rows


def _pairs(m: Measures, limits: Limits, cells: Ints, most: int) -> list[dict[str, Any]]:
    """Cells of the matrix and rows behind them, the most frequent first."""
    found = m.confusion
    cells = cells[np.argsort(-found.count[cells], kind="stable")][:most]
    totals = np.bincount(found.truth, weights=found.count)
    return [_pair(m, limits, cell, totals[found.truth[cell]]) for cell in cells.tolist()]


def _pair(m: Measures, limits: Limits, cell: int, total: float) -> dict[str, Any]:
    found = m.confusion
    i, j = int(found.truth[cell]), int(found.answer[cell])
    truth, answer = found.labels[i], found.labels[j]
    shown = found.rows_of_cell(cell, limits.examples, m.evaluation.seed)
    return {
        "id": f"c{i}-{j}",
        "cell": (i, j),
        "truth": shorten(truth, limits.name),
        "answer": shorten(answer, limits.name),
        "right": i == j,
        "count": int(found.count[cell]),
        "share": percent(found.count[cell] / total),
        "examples": [_example(m, limits, position) for position in shown.tolist()],
    }


def _example(m: Measures, limits: Limits, position: int) -> dict[str, Any]:
    e, own = m.evaluation, m.column[position]
    p = e.probabilities[position]
    return {
        "row": int(e.rows[position]),
        "answer": percent(p.max()),
        "truth": percent(p[own] if own >= 0 else 0.0),
        "text": _preview(m, position, limits.preview),
    }


def _preview(m: Measures, position: int, most: int) -> str:
    previews = m.evaluation.previews
    return "" if previews is None else shorten(previews[position] or "", most)


# Classes


def classes(m: Measures, limits: Limits) -> dict[str, Any]:
    """Scores of each class, the weakest first."""
    ordered = sorted(m.per_class, key=lambda c: c.f1.value)
    start = math.floor(10 * min(c.f1.low for c in ordered)) / 10
    rows = [
        {
            "label": shorten(c.label, limits.name),
            "rows": c.rows,
            "scores": [
                (percent(found.value), f"{100 * found.low:.0f}–{100 * found.high:.0f}")
                for found in (c.precision, c.recall, c.f1)
            ],
            "chart": charts.whisker(c.f1, start, 1.0),
        }
        for c in ordered[: limits.classes]
    ]
    return {
        "rows": rows[:FEW],
        "more_rows": rows[FEW:],
        "more": len(ordered) - len(rows),
        "long": max(len(str(row["label"])) for row in rows) > 12,
        "start": percent(start, 0),
        "python": snippets.classes(m),
    }


# Surprises


def errors(m: Measures, limits: Limits) -> dict[str, Any]:
    """The most confident mistakes, and the features that drove them."""
    e = m.evaluation

    def listed(found: list[Driver]) -> list[dict[str, str]]:
        names = [shorten(driver.feature, limits.name) for driver in found]
        # Each amount is for the class that its list stands under.
        amounts = [signed(abs(driver.value)) for driver in found]
        return [{"name": name, "value": v} for name, v in zip(names, amounts, strict=True)]

    items = [
        {
            "row": int(e.rows[s.position]),
            "truth": shorten(e.truth[s.position], limits.name),
            "unseen": bool(m.column[s.position] < 0),
            "answer": shorten(m.answer[s.position], limits.name),
            "confidence": percent(s.confidence),
            "own": percent(s.own),
            "text": _preview(m, s.position, 2 * limits.preview),
            "rival": shorten(s.rival, limits.name),
            "toward": listed(s.toward),
            "against": listed(s.against),
        }
        for s in m.surprises
    ]
    return {"mistakes": items, "python": snippets.errors(m)}
