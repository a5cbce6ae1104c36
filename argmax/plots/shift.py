"""The picture of a diagnosis: are probabilities honest, which classes moved, how far, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..calibration import reliability as measured
from .probabilities import FILL, INK, SOFT, reliability
from .style import pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..shift import Diagnosis

__all__ = ["shift_page"]

MOST = 12
"""Classes that are drawn."""

NOW = "#c2571a"


def shift_page(found: Diagnosis) -> Figure:
    """Four panels of what ``shift.diagnose`` gives.

    Reliability on the validation rows; frequencies of the classes before and now, with intervals; how sure
    the model is on old and new rows, or the weights of old rows and how many they count as; accuracy where
    the validation rows come from, on the target rows, and if adapted.

    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from argmax import SoftmaxRegression, plots, shift
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.normal(2.0 * y - 1)[:, None]
    >>> model = SoftmaxRegression().fit(X[:200], y[:200])
    >>> found = shift.diagnose(model, (X[200:300], y[200:300]), X[300:])
    >>> len(plots.shift_page(found).axes)
    4
    """
    figure: Figure
    figure, axes = pyplot().subplots(2, 2, figsize=(9.6, 7.6), layout="constrained")
    figure.suptitle(found.headline, fontsize=10)
    names = np.arange(found.p.shape[1])
    reliability(measured(found.truth, found.p, names), axes[0, 0], "probabilities, old rows")
    _frequencies(found, axes[0, 1])
    _weights(found, axes[1, 0])
    _accuracy(found, axes[1, 1])
    return figure


def _frequencies(found: Diagnosis, ax: Any) -> None:
    shift = found.label
    order = np.argsort(-np.abs(shift.priors - shift.source), kind="stable")[:MOST][::-1]
    at = np.arange(len(order))
    ax.barh(at + 0.2, shift.source[order], 0.35, color=FILL, label="before")
    ax.barh(at - 0.2, shift.priors[order], 0.35, color=NOW, label="now")
    reach = [shift.priors[order] - shift.low[order], shift.high[order] - shift.priors[order]]
    ax.errorbar(
        shift.priors[order], at - 0.2, xerr=np.maximum(reach, 0), fmt="none", lw=1, color="#333333"
    )
    ax.set_yticks(at, [str(shift.classes[i])[:24] for i in order])
    ax.set(xlabel="share of rows", title="frequencies of the classes")
    ax.legend(frameon=False, loc="lower right")


def _weights(found: Diagnosis, ax: Any) -> None:
    if found.weights is None:
        edges = np.linspace(0, 1, 21)
        pairs = ((found.p, FILL, "old rows"), (found.q, NOW, "new rows"))
        for table, colour, name in pairs:
            share = np.full(len(table), 1 / len(table))
            ax.hist(table.max(axis=1), edges, weights=share, color=colour, alpha=0.7, label=name)
        ax.set(xlabel="confidence", ylabel="share of rows", title="how sure the model is")
        ax.legend(frameon=False)
        return
    values = found.weights.values
    ax.hist(np.log10(np.maximum(values, 1e-3)), 30, color=INK)
    ax.axvline(0.0, ls="--", lw=1, color=SOFT)
    ax.set(xlabel="log₁₀ weight of an old row", ylabel="rows")
    ax.set_title(f"{len(values)} old rows count as {found.weights.effective:.0f}")


def _accuracy(found: Diagnosis, ax: Any) -> None:
    named = (("old rows", found.accuracy), ("new rows", found.expected), ("adapted", found.adapted))
    shown = [(name, one) for name, one in named if one is not None]
    for i, (_, one) in enumerate(shown):
        reach = [[max(one.value - one.low, 0)], [max(one.high - one.value, 0)]]
        ax.errorbar([i], [one.value], yerr=reach, fmt="o", color=INK if i == 0 else NOW, capsize=4)
    ax.set_xticks(range(len(shown)), [name for name, _ in shown])
    ax.set_xlim(-0.6, len(shown) - 0.4)
    ax.set(ylabel="accuracy", title="what the model is worth")
