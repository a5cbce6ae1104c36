"""Pictures of probabilities: reliability with its bands, class by class, and the cost curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..calibration import Reliability
from ..decisions import CostCurve
from ..errors import InvalidInput
from .style import pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["cost_curve", "reliability", "reliability_by_class"]

INK, SOFT, FILL = "#1f5fa8", "#8a8f98", "#e4e6ea"


def reliability(found: Reliability, ax: Axes | None = None, title: str = "") -> Axes:
    """Frequency against confidence: points with their band, and grey where chance alone would put them.

    ``found`` is what ``calibration.reliability`` gives.

    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from argmax import calibration, plots
    >>> found = calibration.reliability([0, 1], [[0.9, 0.1], [0.4, 0.6]], [0, 1], bins=2)
    >>> plots.reliability(found).get_xlabel()
    'confidence'
    """
    ax = _axes() if ax is None else ax
    ax.fill_between(
        found.confidence, found.envelope_low, found.envelope_high, color=FILL, lw=0,
        label="a perfect model, with so many rows",
    )  # fmt: skip
    ax.plot([0, 1], [0, 1], ls="--", lw=1, color=SOFT)
    reach = [
        np.maximum(found.frequency - found.band_low, 0.0),
        np.maximum(found.band_high - found.frequency, 0.0),
    ]
    ax.errorbar(
        found.confidence, found.frequency, yerr=reach, fmt="o", ms=4, lw=1, color=INK,
        label="all intervals at once, 95 %",
    )  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="frequency", title=title)
    ax.set_aspect("equal")
    return ax


def reliability_by_class(found: Mapping[Any, Reliability], columns: int = 4) -> Figure:
    """A small diagram for each class; ``found`` is what ``calibration.by_class`` gives.

    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from argmax import calibration, plots
    >>> found = calibration.by_class([0, 1], [[0.9, 0.1], [0.4, 0.6]], [0, 1], bins=2)
    >>> len(plots.reliability_by_class(found).axes)
    2
    """
    if not found:
        raise InvalidInput("found is empty: there is no class to draw.")
    width = min(columns, len(found))
    height = -(-len(found) // width)
    figure: Figure
    figure, axes = pyplot().subplots(
        height, width, figsize=(2.6 * width, 2.8 * height), squeeze=False, layout="constrained"
    )
    flat = axes.ravel().tolist()
    for ax, (label, one) in zip(flat, found.items(), strict=False):
        reliability(one, ax, str(label))
    for ax in flat[len(found) :]:
        ax.remove()
    return figure


def cost_curve(found: CostCurve, ax: Axes | None = None, title: str = "") -> Axes:
    """What acting costs over all ratios of the two errors' costs; what lies above the best is miscalibration.

    ``found`` is what ``decisions.cost_curve`` gives.

    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from argmax import decisions, plots
    >>> found = decisions.cost_curve([0, 1], [[0.8, 0.2], [0.1, 0.9]], [0, 1], label=1)
    >>> len(plots.cost_curve(found).lines)
    4
    """
    ax = _axes() if ax is None else ax
    ax.plot(found.t, found.never, ls=":", lw=1, color=SOFT, label="never act")
    ax.plot(found.t, found.always, ls="--", lw=1, color=SOFT, label="always act")
    ax.plot(found.t, found.best, lw=1, color=INK, label="best threshold in hindsight")
    ax.plot(found.t, found.cost, lw=2, color=INK, label="act on the probabilities")
    ax.fill_between(found.t, found.best, found.cost, color=FILL, lw=0)
    top = 1.1 * float(max(found.cost.max(), np.minimum(found.never, found.always).max(), 1e-9))
    ax.set(xlim=(0, 1), ylim=(0, top), xlabel="t: a false alarm costs t, a miss 1 − t", title=title)
    ax.set_ylabel("mean cost")
    ax.legend(frameon=False)
    return ax


def _axes() -> Any:
    return pyplot().subplots(figsize=(4.2, 4.2), layout="constrained")[1]
