"""A picture of what theory promises: every bound of a report, and where it stops to say anything."""

from __future__ import annotations

from typing import Any

from ..bounds import Bound, Report
from .style import COLOURS, INK, figure

__all__ = ["promises"]

SHADES = {"a promise": COLOURS[2], "no promise": COLOURS[3], "vacuous": COLOURS[6]}
SEEN = ("held-out mistakes", "training mistakes", "training loss")
"""Terms that were observed: the rest of a bar is what is added to them."""

LONGEST = 2.0
"""Where bars are cut: how vacuous a bound is does not matter, and its number stands beside it."""


def promises(report: Report, ax: Any = None) -> Any:
    """Bars as long as the bounds, dark as far as mistakes were observed; grey where they are vacuous.

    A bound that has no meaning for the fit has no bar. The axes are returned.

    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from argmax import SoftmaxRegression, bounds, plots
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftmaxRegression().fit(X[::2], y[::2])
    >>> ax = plots.promises(bounds.report(model, X[::2], y[::2], test=(X[1::2], y[1::2])))
    >>> ax.get_yticklabels()[0].get_text()
    'test set'
    """
    ax = figure(size=(6.4, 3.2))[1][0] if ax is None else ax
    for place, bound in enumerate(report):
        _draw(ax, place, bound)
    ax.axvline(1.0, color=INK, lw=1, ls="--")
    ax.set_yticks(range(len(report)), [bound.name for bound in report])
    ax.set_xlim(0.0, 1.35 * LONGEST)
    ax.invert_yaxis()
    ax.set_xlabel("at most this share of mistakes; from 1 on, nothing is said")
    return ax


def _draw(ax: Any, place: int, bound: Bound) -> None:
    if not bound.defined:
        ax.text(0.02, place, bound.verdict, va="center", fontsize=8, color=INK)
        return
    length = min(bound.value, LONGEST)
    ax.barh(place, length, height=0.6, color=SHADES[bound.verdict])
    ax.barh(place, sum(bound.terms.get(name, 0.0) for name in SEEN), height=0.6, color=INK)
    label = f" {bound.shown}  {bound.verdict}"
    ax.text(length, place, label, va="center", fontsize=8, color=INK)
