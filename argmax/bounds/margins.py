"""Margins instead of dimensions: rows that are right by far count for more than their number of features.

The margin of a row is m = y ⟨w, x⟩ with y = ±1, or with k classes the true score less the best other one.
With ‖w‖ ≤ Λ, ‖x‖ ≤ R, r = RΛ and c = 2, or c = 4√k for k > 2 (w then holds all classes), probability at
least 1 − δ:

    ρ fixed      true ≤ share with m < ρ  +    c r / (ρ√n)  +  √[log(1/δ) / 2n]
    ρ chosen     true ≤ share with m < ρ  +  2 c r / (ρ√n)  +  √[log(2/δ) / 2n]  +  √[log log₂(2r/ρ) / n]

the second for all ρ ≤ r at once. Textbooks have c = 4k for k classes; the square root comes from the
contraction inequality for vectors, since the margin changes by at most √2 times the change of the score
vector.

Fat shattering, hard margins only: for γ fixed beforehand, if *every* row has m ≥ γ (‖w‖ = 1, two classes),
with D = 64 R²/γ² < n,

    true ≤ (2/n) [ D log₂(enγ / 4R) log₂(128 n R²/γ²) + log₂(4/δ) ]

(R/γ)² bounds the fat-shattering dimension at γ, not the VC dimension, which is d + 1 whatever the margin.
To put the γ that was observed into the formula is to fix it afterwards, and of a fit with one mistake it
has no meaning.

Reference: Koltchinskii and Panchenko 2002; Mohri, Rostamizadeh, Talwalkar, Foundations of Machine Learning
(2018), theorems 5.8 and 5.9; Maurer, A vector-contraction inequality for Rademacher complexities, ALT 2016;
Lei, Dogan, Binder, Kloft, NeurIPS 2015; Shawe-Taylor, Bartlett, Williamson, Anthony 1998; Bartlett and
Shawe-Taylor 1999.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import checks
from ..errors import InvalidInput
from ..records import Floats
from .promise import Assumption, Bound, level, sampled

__all__ = ["fat_shattering", "margin"]

WITHIN = "no row, seen or unseen, is longer than R"
BEFOREHAND = "the margin was fixed beforehand"


def margin(
    margins: Any,
    radius: float,
    *,
    norm: float = 1.0,
    rho: float | None = None,
    classes: int = 2,
    delta: float = 0.05,
) -> Bound:
    """From the margins (n,) of training rows: ``rho`` fixed beforehand, or (None) the best one afterwards.

    ``norm`` is Λ, the length of all weights together; with geometric margins (divided by it) it is 1.

    >>> import numpy as np
    >>> from argmax import bounds
    >>> margins = np.linspace(-0.02, 0.98, 50_000)
    >>> fixed = bounds.margin(margins, radius=1.0, rho=0.25)
    >>> print(fixed)
    margin, ρ fixed: 0.312, a promise
      below the margin 0.270 + complexity 0.036 + confidence 0.005
      ? the rows were drawn independently from the distribution that the promise is about
      ? the features were fixed before these rows were seen
      ? no row, seen or unseen, is longer than R
      ? the margin was fixed beforehand
    >>> chosen = bounds.margin(margins, radius=1.0)
    >>> round(chosen.facts["rho"], 3), round(chosen.value, 3)
    (0.134, 0.299)
    """
    found, delta = _margins(margins), level(delta)
    radius = checks.number("radius", radius, 0.0)
    reach = radius * checks.number("norm", norm, 0.0)
    k = checks.positive_integer("classes", classes)
    slope = 2.0 if k <= 2 else 4.0 * math.sqrt(k)
    if rho is None:
        rho, terms = _best(found, reach, slope, delta)
        known = sampled(Assumption(WITHIN))
        name = "margin, ρ chosen"
    else:
        rho = checks.number("rho", rho, 0.0, open_low=True)
        terms = _fixed(found, rho, reach, slope, delta)
        known = sampled(Assumption(WITHIN), Assumption(BEFOREHAND))
        name = "margin, ρ fixed"
    facts = {"rho": rho, "radius": radius, "norm": norm, "classes": k}
    return Bound(
        name, sum(terms.values()), terms, known, delta, "Koltchinskii, Panchenko 2002", facts
    )


def _fixed(
    margins: Floats, rho: float, reach: float, slope: float, delta: float
) -> dict[str, float]:
    n = len(margins)
    return {
        "below the margin": float(np.mean(margins < rho)),
        "complexity": slope * reach / (rho * math.sqrt(n)),
        "confidence": math.sqrt(math.log(1 / delta) / (2 * n)),
    }


def _best(
    margins: Floats, reach: float, slope: float, delta: float
) -> tuple[float, dict[str, float]]:
    """The ρ with the smallest bound. Between two margins it falls with ρ, so only margins and r are tried."""
    n, ordered = len(margins), np.sort(margins)
    tried = np.append(ordered[(ordered > 0) & (ordered <= reach)], reach or 1.0)
    below = np.searchsorted(ordered, tried, side="left") / n
    complexity = 2 * slope * reach / (tried * math.sqrt(n))
    choice = np.sqrt(np.log(np.log2(2 * (reach or 1.0) / tried)) / n)
    best = int(np.argmin(below + complexity + choice))
    return float(tried[best]), {
        "below the margin": float(below[best]),
        "complexity": float(complexity[best]),
        "choice of ρ": float(choice[best]),
        "confidence": math.sqrt(math.log(2 / delta) / (2 * n)),
    }


def fat_shattering(
    margins: Any,
    radius: float,
    gamma: float | None = None,
    *,
    classes: int = 2,
    delta: float = 0.05,
) -> Bound:
    """The hard-margin bound from geometric margins (n,), for γ fixed beforehand.

    Without ``gamma`` the smallest margin observed is put in, as is often done; the condition is then
    crossed. It is NaN where its conditions on the sample fail: a row below γ, too few rows, or more than
    two classes.

    >>> import numpy as np
    >>> from argmax import bounds
    >>> bounds.fat_shattering(np.full(10_000_000, 0.5), radius=1.0, gamma=0.5).verdict
    'a promise'
    >>> print(bounds.fat_shattering([0.9, -0.1, 0.5], radius=1.0))
    fat shattering: not applicable
      ? the rows were drawn independently from the distribution that the promise is about
      ? the features were fixed before these rows were seen
      ? no row, seen or unseen, is longer than R
      ✗ the margin was fixed beforehand
      ✓ two classes
      ✗ no row is below the margin
      ✗ more than 64 R²/γ² rows
    """
    found, delta = _margins(margins), level(delta)
    radius = checks.number("radius", radius, 0.0)
    fixed = None if gamma is not None else False
    least, n = float(found.min()), len(found)
    gamma = least if gamma is None else checks.number("gamma", gamma, 0.0, open_low=True)
    ratio = radius / gamma if gamma > 0 else math.inf
    dimension = ratio * ratio
    conditions = (
        Assumption("two classes", classes == 2),
        Assumption("no row is below the margin", least >= gamma > 0),
        Assumption("more than 64 R²/γ² rows", 64 * dimension < n),
    )
    value = math.nan
    if all(condition.holds for condition in conditions):
        logs = math.log2(math.e * n / (4 * ratio)) * math.log2(128 * n * dimension)
        value = 2 / n * (64 * dimension * logs + math.log2(4 / delta))
    known = sampled(Assumption(WITHIN), Assumption(BEFOREHAND, fixed), *conditions)
    facts = {"gamma": gamma, "radius": radius, "dimension": dimension}
    return Bound("fat shattering", value, {}, known, delta, "Shawe-Taylor et al. 1998", facts)


def _margins(margins: Any) -> Floats:
    found = np.asarray(margins, dtype=np.float64)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise InvalidInput(
            f"margins must be finite numbers, one a row; got shape {found.shape}. Pass y ⟨w, x⟩ of the "
            "training rows, or with k classes the true score less the best other one."
        )
    return found
