"""The perceptron's mistakes against the bound that theory promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import bounds
from ..records import Floats, Ints
from .style import COLOURS, INK, figure

__all__ = ["hardest", "perceptron_mistakes"]


def hardest(n: int) -> tuple[Floats, Ints]:
    """n rows on which the multiclass perceptron makes as many mistakes as the bound allows.

    Rows e₁ … e_n of class 1, then −e₁ of class 0; no intercept, ties to class 0.

    >>> from argmax.plots import hardest
    >>> hardest(2)[0]
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1., -0.]])
    """
    X = np.vstack([np.eye(n), -np.eye(n)[0]])
    return X, np.append(np.ones(n, int), 0)


def perceptron_mistakes(sizes: Sequence[int] = (2, 4, 8, 16, 32, 64, 128), ax: Any = None) -> Any:
    """Mistakes on the hardest rows of each size, beside 2 (R/γ)² and the (R/γ)² that they exceed; the axes.

    >>> from argmax import plots
    >>> made, bound, exceeded = plots.perceptron_mistakes((2, 8)).lines
    >>> made.get_ydata().tolist(), bound.get_ydata().round(6).tolist()
    ([2, 8], [2.0, 8.0])
    """
    ax = figure(size=(5.4, 4.0))[1][0] if ax is None else ax
    separators = (np.array([-np.ones(n), np.ones(n)]) for n in sizes)
    pairs = zip(map(hardest, sizes), separators, strict=True)
    found = [bounds.perceptron(X, y, coef=W, bias=0) for (X, y), W in pairs]
    made, bound = [each.made for each in found], np.array([each.bound for each in found])
    ax.plot(sizes, made, "o", color=COLOURS[1], label="mistakes made", zorder=3)
    ax.plot(sizes, bound, color=INK, lw=1.2, label="2 (R/γ)², the bound")
    ax.plot(sizes, bound / 2.0, "--", color=COLOURS[0], lw=1.2, label="(R/γ)², exceeded")
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="mistakes")
    ax.legend(frameon=False, fontsize=9)
    return ax
