"""How often a perceptron can be wrong, and how often it was. No chance is involved: it holds for all rows.

A comparator u of length 1 whose margins m_i on the rows are at least γ > 0 bounds the mistakes of all passes,

    two classes   M ≤ (R/γ)²          m = y ⟨u, x⟩
    k classes     M ≤ 2 (R/γ)²        m = true score less the best other one, u holds all classes

each mistake adds x to one class and takes it from another, so that ‖w‖² grows by at most 2 ‖x‖². A bias is
a constant B behind every x: R² becomes R² + B² and u, b become (u, b/B), to be renormalised. If no u
separates the rows, then for one pass and any γ > 0,

    M ≤ ((cR + D) / γ)²    D² = Σ max(0, γ − m_i)²    c = 1, or √2 for k > 2

A tie is a mistake, as otherwise nothing would ever be learned from w = 0.

Reference: Novikoff 1962; Collins 2002 and Crammer and Singer 2003 for k classes; Cristianini and
Shawe-Taylor 2000 for the bias; Freund and Schapire, Large margin classification using the perceptron
algorithm, 1999.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from .. import checks
from ..records import Floats, Ints
from .linear import Linear

__all__ = ["Mistakes", "perceptron"]


@final
@dataclass(frozen=True, slots=True)
class Mistakes:
    """What a comparator promises of a perceptron on these rows, and what the perceptron did.

    >>> from argmax import bounds
    >>> found = bounds.perceptron([[1.0], [-2.0]], ["b", "a"], coef=[[1.0]], bias=0)
    >>> print(found)
    perceptron: 1 mistake in all passes, at most 4 (margin 1 in a radius of 2)
    """

    bound: float  # for all passes; ∞ if the comparator does not separate the rows
    first_pass: float  # for the first pass, whatever the comparator
    margin: float  # the smallest, of a comparator of length 1
    radius: float  # the longest row, the constant included
    made: int  # in all passes
    made_first: int  # in the first
    finished: bool  # whether a pass was without mistakes

    @property
    def separable(self) -> bool:
        """Whether the comparator is right about every row."""
        return self.margin > 0

    def __str__(self) -> str:
        if self.separable:
            when = "all passes" if self.finished else "these passes"
            said = _said(self.made, when, self.bound)
            return f"{said} (margin {self.margin:.4g} in a radius of {self.radius:.4g})"
        said = _said(self.made_first, "the first pass", self.first_pass)
        return f"{said}: the comparator does not separate the rows"


def _said(made: int, when: str, most: float) -> str:
    many = "mistake" if made == 1 else "mistakes"
    return f"perceptron: {made:,} {many} in {when}, at most {np.floor(most + 1e-9):,.0f}"


def perceptron(
    X: Any,
    y: Any,
    *,
    coef: Any,
    intercept: Any = None,
    classes: Any = None,
    bias: float = 1.0,
    passes: int = 100,
) -> Mistakes:
    """The mistakes that the comparator ``coef`` (1, d) or (k, d) allows a perceptron on these rows.

    The perceptron starts at 0 and takes the rows in the order given, until a pass is without a mistake or
    ``passes`` are over. ``bias`` is the constant B behind every row; 0 is for none, and then the comparator
    must not have an intercept either.

    >>> import numpy as np
    >>> from argmax import bounds
    >>> n = 8  # the rows e_1 … e_n of one class and −e_1 of the other: the bound is attained
    >>> X, y = np.vstack([np.eye(n), -np.eye(n)[:1]]), np.array([1] * n + [0])
    >>> found = bounds.perceptron(X, y, coef=[-np.ones(n), np.ones(n)], bias=0)
    >>> found.made, round(found.bound, 9), round(found.margin**2 * n, 9)
    (8, 8.0, 2.0)
    """
    passes = checks.positive_integer("passes", passes)
    comparator = Linear.of(coef, intercept, np.unique(y) if classes is None else classes)
    view = comparator.view(X, y, bias)
    twice = 1.0 if comparator.binary else 2.0
    reach, least = math.sqrt(twice) * view.radius, float(view.margins.min())
    counts, finished = _counts(view.rows, view.codes, comparator.k, bias, passes)
    return Mistakes(
        _square(reach / least) if least > 0 else math.inf,
        min(_one_pass(view.margins, reach), float(len(view.codes))),
        least,
        view.radius,
        sum(counts),
        counts[0],
        finished,
    )


def _one_pass(margins: Floats, reach: float) -> float:
    """The least ((cR + D)/γ)² over γ: any γ is allowed, so a fine grid will do."""
    tried = (float(np.abs(margins).max()) or 1.0) * np.geomspace(1e-3, 10.0, 200)
    slack = (float(np.linalg.norm(np.maximum(0.0, gamma - margins))) for gamma in tried)
    bounds = [_square((reach + D) / gamma) for D, gamma in zip(slack, tried.tolist(), strict=True)]
    least = float(margins.min())
    return min([*bounds, _square(reach / least)] if least > 0 else bounds)


def _square(ratio: float) -> float:
    """ratio², which may be ∞; ``**`` would raise."""
    return ratio * ratio


def _counts(rows: Any, codes: Ints, k: int, bias: float, passes: int) -> tuple[list[int], bool]:
    """Mistakes of each pass of the multiclass perceptron, and whether the last pass had none."""
    counts: list[int] = []
    W = np.zeros((rows.shape[1] + 1, k))
    for _ in range(passes):
        counts.append(sum(_step(W, *_row(rows, i), bias, int(y)) for i, y in enumerate(codes)))
        if counts[-1] == 0:
            return counts, True
    return counts, False


def _row(rows: Any, i: int) -> tuple[Any, Floats]:
    """Columns and values of one row."""
    if not sp.issparse(rows):
        return slice(0, rows.shape[1]), rows[i]
    entries = slice(rows.indptr[i], rows.indptr[i + 1])
    return rows.indices[entries], rows.data[entries]


def _step(W: Floats, columns: Any, x: Floats, bias: float, y: int) -> bool:
    """One row: whether the true score fails to be strictly the best, and the update if so."""
    scores = x @ W[columns] + bias * W[-1]
    true, scores[y] = scores[y], -math.inf
    other = int(np.argmax(scores))
    if true > scores[other]:
        return False
    for label, sign in ((y, 1.0), (other, -1.0)):
        W[columns, label] += sign * x
        W[-1, label] += sign * bias
    return True
