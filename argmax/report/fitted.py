"""What the model is like: whether its probabilities are honest, how it was trained, what it weighs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..estimators.learner import FINE
from ..metrics import Interval
from ..records import Floats, Ints
from . import charts, snippets
from .evaluation import Evaluation, Model
from .label_sets.evaluation import LabelSets
from .limits import FEW, Limits, level, percent, power, signed
from .measures import Measures, feature_name
from .safe import shorten
from .tagging.evaluation import Tagging

__all__ = ["card", "reliability", "training", "weights"]

MULTIPLES = 12
"""Classes whose own reliability is drawn."""


def reliability(m: Measures, limits: Limits) -> dict[str, Any]:
    """The diagram, its sentence, and the classes that are worst calibrated."""
    found, right = m.reliability, m.scores[0].found
    sure = float(m.evaluation.probabilities.max(axis=1).mean())
    worst = sorted(m.reliability_by_class.items(), key=lambda item: -item[1].ece)[:MULTIPLES]
    if sure in right:
        tendency = "neither too sure nor too timid on the whole"
    else:
        tendency = "too sure of its answers" if sure > right.high else "less sure than it could be"
    return {
        "chart": charts.diagonal(found),
        "ece": f"{found.ece:.3f}",
        "perfect": f"{found.ece_if_calibrated:.3f}",
        "noise": found.ece <= 1.5 * found.ece_if_calibrated,
        "sure": percent(sure),
        "right": percent(right.value),
        "tendency": tendency,
        "bins": len(found.count),
        "debiased": None if (error := m.calibration_error) is None else _range(error.root),
        "parts": _parts(m),
        "costs": None if m.costs is None else list(map(_range, m.costs)),
        "each": [
            {
                "label": (name := shorten(label, limits.name)),
                "ece": f"{one.ece:.3f}",
                "chart": charts.small_diagonal(one, name),
            }
            for label, one in worst
        ],
        "python": snippets.reliability(m),
    }


def _range(found: Interval) -> str:
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def _parts(m: Measures) -> dict[str, str] | None:
    """The log loss as calibration and refinement, and what follows."""
    found = m.decomposition
    if found is None:
        return None
    saved = found.calibration
    advice = (
        "Calibrating is worth it: argmax calibrate does it on rows that the model has not seen."
        if saved.low > 0.0
        else "There is little to gain by calibrating."
    )
    return {
        "total": f"{found.total:.4f}",
        "calibration": f"{saved.value:.4f}",
        "low": f"{saved.low:.4f}",
        "high": f"{saved.high:.4f}",
        "refinement": f"{found.refinement:.4f}",
        "advice": advice,
    }


def training(e: Evaluation | Tagging | LabelSets) -> dict[str, Any] | None:
    """Why training stopped, and how the objective and its certificate fell."""
    if e.model is None or e.model.solution is None:
        return None
    s = e.model.solution
    objective = [(seconds, value) for seconds, value, _ in s.history]
    gap = [(seconds, value) for seconds, _, value in s.history]
    return {
        "message": shorten(s.message, 600),
        "converged": s.status in FINE,
        "facts": [
            ("Solver", s.solver),
            ("Passes over the data", f"{s.passes:,}"),
            ("Seconds", f"{s.seconds:.3g}"),
            ("Objective", f"{s.objective:.6g}"),
            ("Certificate: at most above the optimum", _certificate(s.gap)),
            ("The same, as a share of the objective at zero", _certificate(s.relative_gap)),
        ],
        "objective": charts.course(objective, "Objective against seconds", _brief, log=False),
        "gap": charts.course(gap, "Certificate against seconds", power, log=True),
        "python": snippets.training(e),
    }


def _brief(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _certificate(value: float) -> str:
    if not math.isfinite(value):
        return "not known"
    return f"{value:.3g}" if value == 0 or 0.01 <= abs(value) < 1e4 else power(value)


def weights(m: Measures, limits: Limits) -> dict[str, Any] | None:
    """The features that speak most for and against each class."""
    model = m.evaluation.model
    if model is None or model.coef is None:
        return None
    labels = [shorten(label, limits.name) for label in m.evaluation.classes[: limits.classes]]
    if len(model.coef) == 1:  # two classes have one row of weights between them
        labels = [f"{labels[-1]} against {labels[0]}"]
    cards = [card(model, label, w, limits) for label, w in zip(labels, model.coef, strict=False)]
    return {
        "cards": cards,
        "fold": len(cards) > FEW,
        "more": len(model.coef) - len(cards),
        "python": snippets.weights(m.evaluation),
    }


def card(model: Model, label: str, w: Floats, limits: Limits) -> dict[str, Any]:
    """The features that speak most for and against one class."""
    largest = max(float(np.abs(w).max()), 1e-300)

    def listed(positions: Ints) -> list[dict[str, Any]]:
        return [
            {
                "name": shorten(feature_name(model, j), limits.name),
                "value": signed(w[j]),
                "level": level(abs(w[j]) / largest),
            }
            for j in positions.tolist()
        ]

    return {
        "label": label,
        "toward": listed(_largest(w, limits.weights)),
        "against": listed(_largest(-w, limits.weights)),
    }


def _largest(values: Floats, most: int) -> Ints:
    """Positions of the largest positive values, the largest first; of equals, the first."""
    size = min(most, len(values))
    found = np.sort(np.argpartition(-values, size - 1)[:size])
    found = found[np.argsort(-values[found], kind="stable")]
    return np.asarray(found[values[found] > 0])
