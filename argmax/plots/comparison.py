"""Where one-vs-rest fails: a class that no line separates from all the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators import SoftmaxRegression
from ..records import Floats, Ints
from ..reductions import OneVsOne, OneVsRest
from .geometry import points
from .regions import decision_regions
from .style import figure

__all__ = ["four_classes", "reductions_compared"]

DISTANCE, RADIUS = 2.2, 0.9
"""Of the three outer discs from the middle one, and of each disc: they do not touch."""


def four_classes(n: int = 240, seed: int = 0) -> tuple[Floats, Ints]:
    """n points X (n, 2) in four discs, y (n,): class 0, a tenth of them, in the middle of the others.

    >>> import numpy as np
    >>> from argmax.plots import four_classes
    >>> X, y = four_classes(40)
    >>> X.shape, np.bincount(y).tolist()
    ((40, 2), [4, 12, 12, 12])
    """
    rng, few = np.random.default_rng(seed), n // 10
    y = np.append(np.zeros(few, int), 1 + np.arange(n - few) % 3)
    angles = np.pi / 2 + 2 * np.pi / 3 * np.arange(3)
    outer = DISTANCE * np.column_stack([np.cos(angles), np.sin(angles)])
    turn, reach = rng.uniform(0.0, 2 * np.pi, n), RADIUS * np.sqrt(rng.uniform(0.0, 1.0, n))
    noise = reach[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.vstack([np.zeros(2), outer])[y] + noise, y


def reductions_compared(X: Any = None, y: Any = None, C: float = 1.0) -> Any:
    """Regions of one-vs-rest, one-vs-one and softmax on the same points; returns the figure.

    Without X and y on ``four_classes()``. Each pair of classes can be separated, and so can all four by one
    argmax of linear scores; but no line separates the middle class from the rest. Its one-vs-rest score is
    hardly more than the log odds of its size everywhere, and the others share its place among them.

    >>> from argmax import plots
    >>> [ax.get_title().split(":")[0] for ax in plots.reductions_compared().axes]
    ['one-vs-rest', 'one-vs-one', 'softmax']
    """
    rows, labels = four_classes() if X is None else (points(X), np.asarray(y))
    base = SoftmaxRegression(C=C)
    models: dict[str, Any] = {
        "one-vs-rest": OneVsRest(base),
        "one-vs-one": OneVsOne(base),
        "softmax": base,
    }
    made, axes = figure(len(models), (3.8, 3.7))
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        answers = model.fit(rows, labels).predict(rows)
        decision_regions(model, rows, labels, ax=ax)
        right = [float(np.mean(answers[labels == label] == label)) for label in model.classes_]
        worst = int(np.argmin(right))
        share, label = np.mean(answers == labels), model.classes_[worst]
        ax.set_title(f"{name}: {share:.1%} right, class {label} {right[worst]:.0%}", fontsize=9)
    return made
