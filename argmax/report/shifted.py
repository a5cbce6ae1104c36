"""The page of a diagnosis of shift: what moved, four drawings, what to do, and what cannot be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..calibration import reliability
from ..metrics import Interval
from ..shift import Diagnosis
from ..shift.words import parts
from . import charts, shift_charts
from .limits import Limits
from .safe import shorten

__all__ = ["Shifted", "context", "results"]

NAMED = 100
"""Features that moved, and rows to label, that programs are told of."""


@dataclass(frozen=True, kw_only=True)
class Shifted:
    """A report about a shift: what ``shift.diagnose`` found, and where it comes from.

    >>> import numpy as np
    >>> from argmax import SoftmaxRegression, report, shift
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.normal(2.0 * y - 1)[:, None]
    >>> model = SoftmaxRegression().fit(X[:200], y[:200])
    >>> found = shift.diagnose(model, (X[200:300], y[200:300]), X[300:])
    >>> page = report.render(report.Shifted(diagnosis=found, title="June"))
    >>> page.count("<figure>"), "https://" in page
    (4, False)
    """

    diagnosis: Diagnosis
    title: str = "Has the world moved?"
    first: Sequence[Any] | None = None  # numbers of the rows to label first; None: their positions
    date: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[str] = ()  # what was typed to get here


def context(e: Shifted, limits: Limits) -> dict[str, Any]:
    """Everything that the template needs; every text from the data is shortened here."""
    found = e.diagnosis
    return {
        "title": shorten(e.title, 120),
        "date": shorten(e.date, 40),
        "unit": found.unit,
        "headline": found.headline,
        "moved": found.kind != "none",
        "rows": found.label.rows,
        "told": [
            {"title": title, "lines": [shorten(line, 400) for line in lines]}
            for title, lines in parts(found)
        ],
        "drawings": _drawings(found, limits),
        "first": [shorten(row, 20) for row in _first(e)],
        "run": _run(e, limits),
        "results": {"title": shorten(e.title, 120), **results(found, e.first)},
    }


def _drawings(found: Diagnosis, limits: Limits) -> list[dict[str, Any]]:
    honest = reliability(found.truth, found.p, np.arange(found.p.shape[1]))
    third = (shift_charts.weights, _weighted(found)) if found.weights else (
        shift_charts.sureness, "How sure the model is, on old rows and on new ones."
    )  # fmt: skip
    return [
        {
            "chart": charts.diagonal(honest),
            "caption": "Are probabilities honest on old rows? On the dashed line they are.",
        },
        {
            "chart": shift_charts.frequencies(found, limits.name),
            "caption": _frequent(found),
        },
        {"chart": third[0](found), "caption": third[1]},
        {"chart": shift_charts.worth(found), "caption": _worth(found)},
    ]


def _frequent(found: Diagnosis) -> str:
    told = "How frequent classes were, and are estimated to be now, with 95\u202f% intervals."
    if found.kind != "other":
        return told
    return f"{told} Do not trust them here: they assume that each class looks as it did."


def _weighted(found: Diagnosis) -> str:
    assert found.weights is not None
    return f"How much each old row says about the new ones; 1 is as much as any. {found.weights}"


def _worth(found: Diagnosis) -> str:
    if found.expected is None:
        return "Accuracy. On the new rows it cannot be said without labels."
    return "Accuracy, with 95\u202f% intervals; on the new rows it is an estimate, made without their labels."


def _first(e: Shifted) -> list[Any]:
    return (e.diagnosis.first.tolist() if e.first is None else list(e.first))[:NAMED]


def _run(e: Shifted, limits: Limits) -> dict[str, Any]:
    versions = [(shorten(k, limits.name), shorten(v, 120)) for k, v in e.versions.items()]
    return {
        "model": None,
        "params": [],
        "versions": versions,
        "seconds": [],
        "digests": [],
        "commands": [shorten(command, 1000) for command in e.commands],
        "python": None,
    }


def results(found: Diagnosis, first: Sequence[Any] | None = None) -> dict[str, Any]:
    """All that was found, for programs."""
    label, moved = found.label, found.features
    tests = (label.moved, label.compatible, found.separable)
    return {
        "kind": found.kind,
        "headline": found.headline,
        "tests": {
            t.name: {"size": t.size, "p_value": t.p_value} for t in tests if t is not None
        },
        "classes": {
            str(name): {
                "before": float(label.source[i]),
                "now": float(label.priors[i]),
                "low": float(label.low[i]),
                "high": float(label.high[i]),
                "share": float(label.shares[i]),
            }
            for i, name in enumerate(label.classes)
        },
        "accuracy": _ends(found.accuracy),
        "expected": _ends(found.expected),
        "adapted_accuracy": _ends(found.adapted),
        "effective_rows": None if found.weights is None else found.weights.effective,
        "features": [] if moved is None else _named(found, moved.rejected()[:NAMED]),
        "label_first": (found.first.tolist() if first is None else list(first)),
        "advice": found.advice,
        "unknown": found.unknown,
    }  # fmt: skip


def _named(found: Diagnosis, columns: Any) -> list[str]:
    return [str(c if found.names is None else found.names[int(c)]) for c in columns]


def _ends(one: Interval | None) -> dict[str, float] | None:
    return None if one is None else {"value": one.value, "low": one.low, "high": one.high}
