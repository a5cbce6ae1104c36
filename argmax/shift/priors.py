"""How frequent classes are in rows without labels, if P(x | y) is what it was: five estimators.

    n, m    rows with labels (validation), rows without (target)       k    classes
    p       (n, k) and q (m, k), probabilities of the classes by one model
    truth   (n,)  columns of the true classes

    moment_matching      q(x) = Σ_y π_y p(x | y) for x of finitely many values
    adjusted_counts      the same with the answer in place of x: μ = Aπ,  A_ij = P(ŷ = i | y = j)
    black_box_ratios     μ = Cw,  C_ij = P(ŷ = i, y = j): gives *ratios* w_j = π_j / P(y = j)
    regularised_ratios   the same, w drawn towards 1 as far as the rows cannot tell
    maximum_likelihood   the π of the most probable target rows, with a Dirichlet prior

The notes' π = (XᵀX)⁻¹Xᵀq is moment matching without its constraints; it can give negative priors.

References: Saerens, Latinne, Decaestecker, Adjusting the outputs of a classifier to new a priori
probabilities, 2002; Forman, Quantifying counts and costs via classification, 2008; Lipton, Wang, Smola,
Detecting and correcting for label shift with black box predictors, ICML 2018; Azizzadenesheli, Liu, Yang,
Anandkumar, Regularized learning for domain adaptation under label shifts, ICLR 2019; Alexandari, Kundaje,
Shrikumar, Maximum likelihood with bias-corrected calibration, ICML 2020.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import checks
from ..errors import InvalidInput
from ..metrics.scores import SMALLEST
from ..records import Floats, Ints
from .simplex import least_squares

__all__ = [
    "adjusted_counts",
    "answers",
    "black_box_ratios",
    "em",
    "maximum_likelihood",
    "moment_matching",
    "regularised_ratios",
    "shares",
    "shrunk",
    "tally",
]

PASSES = 5000
ENOUGH = 1e-9
"""Change of the priors, summed over classes, at which EM ends."""

TRIED, FOLDS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0), 5
"""Shrinkages to choose from, and folds of target rows to choose by."""

SURE = 0.05
"""The bound on the noise of C holds with probability 1 − SURE."""


def moment_matching(conditional: Any, marginal: Any) -> Floats:
    """Priors π (k,) with q = Xπ as nearly as may be: the least ‖Xπ − q‖ over the simplex.

    ``conditional`` X (v, k) has P(x = i | y = j), columns that sum to 1; ``marginal`` q (v,) the
    frequencies of the v values among rows without labels. Right only where x has finitely many values, no
    column of X is a mixture of the others, and P(x | y) has stayed.

    >>> from argmax import shift
    >>> X = [[0.9, 0.2], [0.1, 0.8]]
    >>> shift.moment_matching(X, [0.9 * 0.3 + 0.2 * 0.7, 0.1 * 0.3 + 0.8 * 0.7]).round(3)
    array([0.3, 0.7])
    >>> shift.moment_matching(X, [0.95, 0.05])  # least squares alone would say 1.07 and −0.07
    array([1., 0.])
    """
    X, q = np.asarray(conditional, dtype=float), np.asarray(marginal, dtype=float)
    if X.ndim != 2 or q.shape != X.shape[:1]:
        raise InvalidInput(
            f"conditional must have shape (v, k) and marginal (v,); got {X.shape} and {q.shape}."
        )
    if not (np.allclose(X.sum(axis=0), 1.0) and np.isclose(q.sum(), 1.0) and X.min() >= 0):
        raise InvalidInput("each column of conditional, and marginal, must be probabilities.")
    if np.linalg.matrix_rank(X) < X.shape[1]:
        raise InvalidInput(
            "conditional has a column that is a mixture of the others: the priors cannot be told apart."
        )
    return least_squares(X, q)


def tally(p: Floats, truth: Ints, soft: bool, weight: Floats | None = None) -> Floats:
    """C (k, k): the share of rows, or the mean probability, of answer i and truth j. Sums to 1."""
    k = p.shape[1]
    w = np.ones(len(p)) if weight is None else weight
    table = np.zeros((k, k))
    np.add.at(table.T, truth, answers(p, soft) * w[:, None])
    return np.asarray(table / w.sum())


def answers(p: Floats, soft: bool) -> Floats:
    """What is counted of each row: its probabilities, or a 1 at its answer."""
    return p if soft else np.eye(p.shape[1])[p.argmax(axis=1)]


def adjusted_counts(joint: Floats, mean: Floats) -> Floats:
    """Priors π (k,) from μ = Aπ, where A = P(ŷ | y) comes from the ``joint`` C (k, k) and μ is ``mean`` (k,).

    A class without rows has no column; it gets the prior 0.

    >>> import numpy as np
    >>> from argmax import shift
    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])  # right four times in five
    >>> shift.adjusted_counts(joint, np.array([0.38, 0.62])).round(3)
    array([0.3, 0.7])
    """
    share = joint.sum(axis=0)
    known = share > 0
    priors = np.zeros(len(share))
    priors[known] = least_squares(joint[:, known] / share[known], mean)
    return priors


def black_box_ratios(joint: Floats, mean: Floats) -> Floats:
    """Ratios w (k,) ≥ 0 of new to old priors, from Cw = μ; Σ_j w_j P(y = j) is 1.

    >>> import numpy as np
    >>> from argmax import shift
    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> shift.black_box_ratios(joint, np.array([0.38, 0.62])).round(3)
    array([0.6, 1.4])
    """
    return _ratios(np.linalg.lstsq(joint, mean, rcond=None)[0], joint.sum(axis=0))


def regularised_ratios(joint: Floats, mean: Floats, rows: int, scale: float = 0.01) -> Floats:
    """Ratios w = 1 + θ (k,) of the least ‖Cθ − (μ − C1)‖ + Δ‖θ‖, where Δ shrinks with the ``rows`` behind C.

    Δ = 3·scale·(2L/(3n) + √(2L/n)) with L = log(2k/δ) bounds the noise of C up to ``scale``, for which its
    authors take 0.01.

    >>> import numpy as np
    >>> from argmax import shift
    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> shift.regularised_ratios(joint, np.array([0.38, 0.62]), rows=10_000).round(2)
    array([0.6, 1.4])
    >>> shift.regularised_ratios(joint, np.array([0.38, 0.62]), rows=10, scale=1.0)
    array([1., 1.])
    """
    share, k = joint.sum(axis=0), len(joint)
    spread = math.log(2 * k / SURE)
    bound = 3 * scale * (2 * spread / (3 * rows) + math.sqrt(2 * spread / rows))
    return _ratios(1.0 + _cone(joint, mean - joint.sum(axis=1), bound), share)


def _cone(C: Floats, b: Floats, bound: float) -> Floats:
    """The θ of the least ‖Cθ − b‖ + bound·‖θ‖: a ridge solution, whose λ solves λ‖θ‖ = bound·‖Cθ − b‖."""
    U, s, Vt = np.linalg.svd(C)
    g = U.T @ b

    def ridge(lam: float) -> Floats:
        return np.asarray(Vt.T @ (s * g / (s * s + lam)))

    def lacking(lam: float) -> bool:
        theta = ridge(lam)
        return bool(lam * np.linalg.norm(theta) < bound * np.linalg.norm(C @ theta - b))

    if np.linalg.norm(s * g) <= bound * np.linalg.norm(b):
        return np.zeros(len(C))
    low, high = 1e-15, 1e6
    if not lacking(low):
        return ridge(low)
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if lacking(middle) else (low, middle)
    return ridge(high)


def _ratios(w: Floats, share: Floats) -> Floats:
    """Ratios without negative ones, that turn the old priors into priors."""
    w = np.maximum(w, 0.0)
    total = float(w @ share)
    return np.asarray(w / total if total > 0 else np.ones_like(w))


def maximum_likelihood(
    probabilities: Any, source: Any, *, shrinkage: float | str = "auto", seed: int = 0
) -> Floats:
    """Priors π (k,) of the most probable target rows: the largest Σ_i log Σ_j π_j q_ij / source_j, by EM.

    ``probabilities`` q (m, k) must be honest: calibrate first (``calibration.BiasCorrected``). ``source``
    (k,) are the priors they belong to, best their mean over the validation rows. ``shrinkage`` is the
    weight of a Dirichlet prior around ``source``, as a share of the rows; 0 for none, which overfits where
    classes are many or rows few. "auto" takes the one that makes left-out rows most probable.

    >>> import numpy as np
    >>> from argmax import shift
    >>> q = np.array(
    ...     [[0.8, 0.2]] * 62 + [[0.2, 0.8]] * 38
    ... )  # right four times in five, equal priors
    >>> shift.maximum_likelihood(q, [0.5, 0.5], shrinkage=0).round(3)
    array([0.7, 0.3])
    """
    old = np.asarray(source, dtype=float)
    q = checks.probabilities(probabilities, len(probabilities), len(old))
    if not len(q):
        raise InvalidInput("probabilities has no rows. Pass at least one target row.")
    if shrinkage != "auto":
        shrinkage = checks.number("shrinkage", shrinkage, 0.0)
    return shrunk(q / np.maximum(old, SMALLEST), old, shrinkage, seed)


def shrunk(ratios: Floats, source: Floats, shrinkage: float | str, seed: int = 0) -> Floats:
    """Priors (k,) of rows with these ratios (m, k); of "auto", the best of ``TRIED`` on left-out rows."""
    m = len(ratios)
    if isinstance(shrinkage, str):
        fold = np.random.default_rng(seed).permutation(m) % min(FOLDS, m)
        held = fold == np.arange(min(FOLDS, m))[:, None]
        shrinkage = max(
            TRIED, key=lambda one: _left_out(ratios, held, source, one) if m > 1 else one
        )
    return np.asarray(em(ratios, np.ones((1, m)), source, shrinkage)[0])


def shares(ratios: Floats, priors: Floats) -> Floats:
    """How often each class is expected among the very rows with these ratios (m, k), given their priors.

    Priors are of the place that rows come from, and chance makes the rows themselves differ from it; so
    priors that are drawn towards the old ones are no estimate of what these rows hold. This is: one more
    expectation of the EM algorithm, without its prior.
    """
    mixed = ratios * priors
    total = np.maximum(mixed.sum(axis=1, keepdims=True), SMALLEST)
    return np.asarray((mixed / total).mean(axis=0))


def _left_out(ratios: Floats, held: Any, source: Floats, shrinkage: float) -> float:
    """Log-likelihood of the rows ``held`` (folds, m), each by the priors of the others."""
    priors = em(ratios, ~held * 1.0, source, shrinkage, None, 1e-4)
    return float(np.log(np.maximum(priors @ ratios.T, SMALLEST))[held].sum())


def em(
    ratios: Floats,
    counts: Floats,
    source: Floats,
    shrinkage: float,
    start: Floats | None = None,
    enough: float = ENOUGH,
) -> Floats:
    """Priors (b, k) of b sets of rows with ``ratios`` (m, k) at once; ``counts`` (b, m) say how often.

    E: responsibilities π_j r_ij / Σ_j π_j r_ij.  M: π ∝ their sums + pseudo-counts.
    Every third step is stretched as far as the two before it suggest (Varadhan and Roland, Simple and
    globally convergent methods for accelerating the convergence of any EM algorithm, 2008, scheme S3).
    """
    total = counts.sum(axis=1, keepdims=True)
    pseudo = shrinkage * total * source

    def step(priors: Floats) -> Floats:
        mixed = np.maximum(priors @ ratios.T, SMALLEST)
        sums = priors * ((counts / mixed) @ ratios) + pseudo
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))

    priors = np.repeat(source[None, :] / source.sum(), len(counts), axis=0)
    if start is not None:
        priors = np.broadcast_to(start, priors.shape).copy()
    for _ in range(PASSES // 3):
        one = step(priors)
        two = step(one)
        if np.abs(two - one).sum(axis=1).max() <= enough:
            return two
        priors = step(_stretched(priors, one, two))
    return priors


def _stretched(zero: Floats, one: Floats, two: Floats) -> Floats:
    """Further along the path of two steps, and still probabilities."""
    first, bend = one - zero, two - 2 * one + zero
    size = np.linalg.norm(bend, axis=1, keepdims=True)
    stretch = np.linalg.norm(first, axis=1, keepdims=True) / np.maximum(size, 1e-300)
    stretch = np.clip(stretch, 1.0, 64.0)
    ahead = zero + 2 * stretch * first + stretch**2 * bend
    return np.asarray(np.maximum(ahead, 0.01 * two))
