"""The perceptron's mistakes against the bound that theory promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..records import Floats, Ints
from .style import COLOURS, INK, figure

__all__ = ["hardest", "mistakes_bound", "perceptron_mistakes"]


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


def mistakes_bound(X: Any, y: Any, W: Any) -> float:
    """2 (R / γ)²: no more mistakes are made over all passes if W (k, d) separates the rows.

    γ is the least lead of a true score over the best other one, for W of unit norm; R the largest ‖x‖. The 2
    is often forgotten: each mistake adds x to one weight vector and subtracts it from another.

    >>> import numpy as np
    >>> from argmax.plots import hardest, mistakes_bound
    >>> X, y = hardest(8)
    >>> round(mistakes_bound(X, y, np.array([-np.ones(8), np.ones(8)])), 6)
    8.0
    """
    rows, labels, W = np.asarray(X, float), np.asarray(y), np.asarray(W, float)
    scores = rows @ (W / np.linalg.norm(W)).T
    truth = scores[np.arange(len(rows)), labels]
    scores[np.arange(len(rows)), labels] = -np.inf
    margin = float((truth - scores.max(axis=1)).min())
    return 2.0 * float((np.square(rows).sum(axis=1)).max()) / margin**2 if margin > 0 else np.inf


def perceptron_mistakes(sizes: Sequence[int] = (2, 4, 8, 16, 32, 64, 128), ax: Any = None) -> Any:
    """Mistakes on the hardest rows of each size, beside 2 (R/γ)² and the (R/γ)² that they exceed; the axes.

    >>> from argmax import plots
    >>> made, bound, exceeded = plots.perceptron_mistakes((2, 8)).lines
    >>> made.get_ydata().tolist(), bound.get_ydata().round(6).tolist()
    ([2, 8], [2.0, 8.0])
    """
    ax = figure(size=(5.4, 4.0))[1][0] if ax is None else ax
    made, bounds = [], []
    for n in sizes:
        X, y = hardest(n)
        made.append(_mistakes(X, y, 2))
        bounds.append(mistakes_bound(X, y, np.array([-np.ones(n), np.ones(n)])))
    bound = np.array(bounds)
    ax.plot(sizes, made, "o", color=COLOURS[1], label="mistakes made", zorder=3)
    ax.plot(sizes, bound, color=INK, lw=1.2, label="2 (R/γ)², the bound")
    ax.plot(sizes, bound / 2.0, "--", color=COLOURS[0], lw=1.2, label="(R/γ)², exceeded")
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="mistakes")
    ax.legend(frameon=False, fontsize=9)
    return ax


def _mistakes(X: Floats, y: Ints, k: int) -> int:
    """Updates of the multiclass perceptron until a pass has none; ties go to the first class."""
    W, total = np.zeros((k, X.shape[1])), 0
    while True:
        before = total
        for x, truth in zip(X, y, strict=True):
            answer = int((W @ x).argmax())
            if answer != truth:
                W[truth] += x
                W[answer] -= x
                total += 1
        if total == before:
            return total
