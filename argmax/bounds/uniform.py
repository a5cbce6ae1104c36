"""Bounds over all members of a class at once: how rich it is decides what training mistakes are worth.

For all h in the class, with probability at least 1 − δ,

    finite        |true − training| ≤ √[(log |H| + log(2/δ)) / 2n]
    VC            |true − training| ≤ √[8 (log Π(2n) + log(4/δ)) / n]
    Rademacher     true ≤ training + complexity + √[log(1/δ) / 2n]
                   true ≤ training + complexity of this sample + 3 √[log(2/δ) / 2n]

Π(m) is the number of ways in which the class can label m rows. ŷ = argmax_y ⟨w_y, x⟩ depends on the signs of
⟨w, Ψ(x, a) − Ψ(x, b)⟩ for pairs a < b: m k(k−1)/2 half-spaces in p dimensions, p = (k − 1)(d + 1) since only
differences of classes matter. By Sauer's lemma, for k = 2 the textbook's,

    log Π(m) ≤ min(p log(e m k(k−1) / 2p), m log k)

Reference: Vapnik and Chervonenkis 1971; Anthony and Bartlett, Neural Network Learning (1999), theorem 4.3;
Mohri, Rostamizadeh, Talwalkar, Foundations of Machine Learning (2018), theorems 2.13, 3.5, 3.7; Natarajan
1989 for k classes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import checks
from ..records import Csr, Floats, Rows
from .promise import Bound, counted, level, sampled

__all__ = [
    "ball_complexity",
    "finite",
    "growth",
    "growth_complexity",
    "rademacher",
    "scipy_rows",
    "squares",
    "vc",
]


def finite(mistakes: Any, n: Any, log_size: float, *, delta: float = 0.05) -> Bound:
    """For a class of N predictors, ``log_size`` = log N: the price of having chosen one of them.

    A model kept as p numbers of 32 bits is one of 2³²ᵖ, so that ``log_size`` is 32 p log 2.

    >>> import math
    >>> from argmax import bounds
    >>> round(bounds.finite(10, 1000, log_size=math.log(50)).value, 4)
    0.0716
    """
    mistakes, n = counted(mistakes, n)
    delta = level(delta)
    log_size = checks.number("log_size", log_size, 0.0)
    gap = math.sqrt((log_size + math.log(2 / delta)) / (2 * n))
    return _sum("finite class", mistakes, n, gap, delta, "Hoeffding 1963", {"log_size": log_size})


def vc(mistakes: Any, n: Any, dimension: int, *, classes: int = 2, delta: float = 0.05) -> Bound:
    """For all linear classifiers: ``dimension`` is (k − 1) times the features, the constant one included.

    With two classes that is the VC dimension of half-spaces, d + 1 whatever the margin.

    >>> from argmax import bounds
    >>> round(bounds.vc(10, 398, dimension=31).value, 2)  # breast cancer
    1.68
    >>> round(bounds.vc(10, 100_000, dimension=31).value, 3)
    0.157
    """
    mistakes, n = counted(mistakes, n)
    delta = level(delta)
    gap = math.sqrt(8 * (growth(2 * n, dimension, classes) + math.log(4 / delta)) / n)
    return _sum("VC dimension", mistakes, n, gap, delta, "Vapnik and Chervonenkis 1971",
                {"dimension": dimension, "classes": classes})  # fmt: skip


def rademacher(
    risk: float, n: Any, complexity: float, *, empirical: bool = False, delta: float = 0.05
) -> Bound:
    """For any class whose losses lie between 0 and 1: ``risk`` is the mean loss of n training rows.

    ``complexity`` is twice the Rademacher complexity of the losses: expected over samples, or of this sample
    (``empirical``), which costs more confidence. ``growth_complexity`` bounds it for mistakes of linear
    classifiers, ``ball_complexity`` for losses of slope at most 1 in ⟨w, x⟩ with ‖w‖ ≤ Λ.

    >>> from argmax import bounds
    >>> richness = bounds.growth_complexity(398, dimension=31)
    >>> round(bounds.rademacher(10 / 398, 398, richness).value, 2)
    0.83
    """
    n = checks.positive_integer("n", n)
    risk = checks.number("risk", risk, 0.0, 1.0)
    complexity = checks.number("complexity", complexity, 0.0)
    delta = level(delta)
    confidence = (
        3 * math.sqrt(math.log(2 / delta) / (2 * n))
        if empirical
        else math.sqrt(math.log(1 / delta) / (2 * n))
    )
    terms = {"training loss": risk, "complexity": complexity, "confidence": confidence}
    return Bound(
        "Rademacher",
        risk + complexity + confidence,
        terms,
        sampled(),
        delta,
        "Bartlett and Mendelson 2002",
    )


def growth_complexity(n: Any, dimension: int, classes: int = 2) -> float:
    """√(2 log Π(n) / n): at least twice the Rademacher complexity of the mistakes of linear classifiers.

    Mistakes are 0 or 1, so a sample has at most Π(n) different ones, all within √n / 2 of their centre
    (Massart).

    >>> from argmax import bounds
    >>> round(bounds.growth_complexity(10_000, dimension=3), 4)
    0.0739
    """
    n = checks.positive_integer("n", n)
    return math.sqrt(2 * growth(n, dimension, classes) / n)


def ball_complexity(X: Any, norm: float = 1.0) -> float:
    """2 Λ √(Σ ‖x_i‖²) / n: at least twice the Rademacher complexity, on these rows, of ⟨w, x⟩ with ‖w‖ ≤ Λ.

    A loss of slope 1/ρ in the score multiplies it by 1/ρ (Talagrand's contraction).

    >>> import numpy as np
    >>> from argmax import bounds
    >>> bounds.ball_complexity(np.eye(100), norm=2.0)
    0.4
    """
    rows = checks.block(X)
    checks.finite(rows)
    total = float(squares(rows).sum())
    return 2 * checks.number("norm", norm, 0.0) * math.sqrt(total) / len(rows)


def squares(rows: Rows) -> Floats:
    """‖x_i‖² (n,)."""
    if not isinstance(rows, Csr):
        return np.asarray(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    matrix = scipy_rows(rows)
    return np.asarray(matrix.multiply(matrix).sum(axis=1), dtype=np.float64)


def scipy_rows(rows: Rows) -> Any:
    """Rows that can be multiplied: an array as it is, or SciPy's CSR."""
    if not isinstance(rows, Csr):
        return rows
    values = np.ones(len(rows.indices)) if rows.values is None else rows.values
    return sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def growth(m: int, dimension: int, classes: int = 2) -> float:
    """log Π(m), the logarithm of the number of ways to label m rows."""
    p = checks.positive_integer("dimension", dimension)
    k = checks.positive_integer("classes", classes)
    signs = m * k * (k - 1) / 2
    sauer = p * math.log(math.e * signs / p) if signs >= p else math.inf
    return min(sauer, m * math.log(k))


def _sum(
    name: str,
    mistakes: int,
    n: int,
    gap: float,
    delta: float,
    reference: str,
    facts: dict[str, Any],
) -> Bound:
    terms = {"training mistakes": mistakes / n, "complexity": gap}
    return Bound(name, mistakes / n + gap, terms, sampled(), delta, reference, facts)
