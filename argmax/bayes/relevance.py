"""A prior variance for every weight, chosen by evidence: those of no use come out as exactly 0.

With a_j the prior variance of weight j, the targets have covariance C = σ²I + Σ_j a_j x_j x_jᵀ. As a function
of one a_j alone the evidence has a closed form, with s and q of C without column j,

    log p(y) = −½ [log(1 + a s) − a q² / (1 + a s)] + what the others say       s = x_jᵀC⁻¹x_j    q = x_jᵀC⁻¹r

    largest at a = (q² − s) / s² if q² > s, else at a = 0

so the columns are visited in turn, each set to its best value, and the noise after each round; nothing ever
lowers the evidence. A change of a_j by δ moves K = XᵀC⁻¹X and k = XᵀC⁻¹r by one rank:

    K ← K − δ K_j K_jᵀ / (1 + δ K_jj)        k ← k − δ k_j K_j / (1 + δ K_jj)

Reference: Faul, Tipping, Analysis of sparse Bayesian learning, NeurIPS 2001.
"""

from __future__ import annotations

import numpy as np

from ..records import Floats
from .spectrum import Spectrum

__all__ = ["relevances"]

ROUNDS = 500
"""Rounds over all columns at most."""

FLOOR = 1e-8
"""The least noise that is chosen, as a share of the variance of y. Where columns can explain every y there
would be none, and what rounding leaves of s and q would decide who is of use."""

GAIN = 1e-8
"""Evidence that a round must gain for another one to follow."""


def relevances(unit: Spectrum, noise: float | None) -> tuple[Spectrum, float]:
    """The problem with the prior variances of the highest evidence, and the noise: given, or chosen too.

    ``unit`` has the prior covariance I. The search starts from the best common variance.
    """
    least = FLOOR * unit.scale()
    if noise is None:
        chosen, factor = unit.best_both()
        chosen = max(chosen, least)
    else:
        chosen, factor = noise, unit.best_scale(noise)
    variances = np.full(len(unit.values), factor)
    now, evidence = unit.reweighted(variances), -np.inf
    for _ in range(ROUNDS):
        variances = _round(unit, variances, chosen)
        now = unit.reweighted(variances)
        chosen = max(now.best_noise(), least) if noise is None else noise
        before, evidence = evidence, float(now.log_evidence(chosen))
        if evidence - before < GAIN:
            break
    return now, chosen


def _round(unit: Spectrum, variances: Floats, noise: float) -> Floats:
    """Every variance at its best value in turn, the others as they are by then."""
    gram, xy = unit.gram(), unit.axes @ unit.loading
    # XᵀC⁻¹ = (σ²I + XᵀX A)⁻¹ Xᵀ
    solved = np.linalg.solve(
        noise * np.eye(len(gram)) + gram * variances, np.column_stack([gram, xy])
    )
    K, k, result = solved[:, :-1], solved[:, -1], variances.copy()
    for j in range(len(k)):
        left = 1.0 - result[j] * K[j, j]  # undo column j's own part
        s, q = K[j, j] / left, k[j] / left
        best = (q * q - s) / (s * s) if q * q > s > 0.0 else 0.0
        step = best - result[j]
        column, denominator = K[:, j].copy(), 1.0 + step * K[j, j]
        k = k - step * k[j] / denominator * column
        K -= np.outer(step / denominator * column, column)
        result[j] = best
    return result
