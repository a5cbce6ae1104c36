"""PAC-Bayes: a cloud of weights around those found, and what it costs to have moved the cloud there.

Before the rows are seen, weights are v ~ N(0, I); afterwards v ~ N(μ w/‖w‖, I). The move costs KL = μ²/2.
Let Q̂ be the share of mistakes in training of a v drawn anew for every row (Gibbs), and Q the same on new
rows. With probability at least 1 − δ, for all w and μ at once,

    kl(Q̂ ‖ Q) ≤ [ μ²/2 + log(2√n / δ) ] / n           kl(p ‖ q) = p log(p/q) + (1 − p) log((1 − p)/(1 − q))

Where w itself is wrong, at least half of the cloud is, so the true share of mistakes of w is at most 2 Q.
Scores of a row are independent Gaussians around μ s, s_c = ⟨w_c, x⟩ / ‖w‖‖x‖, hence with y the true class

    Q̂ = mean of 1 − Φ(μ y s)                          two classes with one weight vector, y = ±1
    Q̂ = mean of 1 − E_ε Π_{c≠y} Φ(μ (s_y − s_c) + ε)   k classes, ε ~ N(0, 1), by quadrature

Since the bound holds for every μ, the best one may be taken.

Reference: McAllester 1999; Langford and Shawe-Taylor, PAC-Bayes and margins, NeurIPS 2003; Maurer, A note
on the PAC Bayesian theorem, 2004.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from .. import checks
from ..errors import InvalidInput
from ..records import Floats
from .promise import Assumption, Bound, level, sampled

__all__ = ["gibbs", "kl_inverse", "pac_bayes"]

PRIOR = "the prior N(0, I) on weights was fixed beforehand"
NODES, FEWER_NODES = 40, 12
"""Of the quadrature: ten digits, and three to choose μ by."""

SOUGHT_ON = 500
"""Rows that μ is chosen on; the bound is then computed from all, and holds however μ was chosen."""


def pac_bayes(
    scores: Any, labels: Any = None, *, scale: float | None = None, delta: float = 0.05
) -> Bound:
    """From normalised scores: y⟨w, x⟩ / ‖w‖‖x‖ (n,), or ⟨w_c, x⟩ / ‖w‖‖x‖ (n, k) with ``labels``.

    ``labels`` (n,) are the columns of the true classes.
    ``scale`` is μ, how far the cloud moves; None: the best.

    >>> import numpy as np
    >>> from argmax import bounds
    >>> found = bounds.pac_bayes(np.full(1000, 0.5))
    >>> print(found)
    PAC-Bayes: 0.061, a promise
      ? the rows were drawn independently from the distribution that the promise is about
      ? the features were fixed before these rows were seen
      ✓ the prior N(0, I) on weights was fixed beforehand
    >>> {name: round(value, 2) for name, value in found.facts.items()}
    {'scale': 6.25, 'divergence': 19.55, 'gibbs_training': 0.0, 'gibbs': 0.03}
    """
    delta, leads = level(delta), _leads(scores, labels)
    n = len(leads)
    if scale is None:
        scale = _best(leads[:: -(-n // SOUGHT_ON)], n, delta)
    scale = checks.number("scale", scale, 0.0)
    observed = gibbs(leads, scale)
    true = kl_inverse(observed, _budget(scale, n, delta))
    facts = {"scale": scale, "divergence": scale**2 / 2, "gibbs_training": observed, "gibbs": true}
    known = sampled(Assumption(PRIOR, True))
    reference = "Langford and Shawe-Taylor 2003"
    return Bound(
        "PAC-Bayes", 2 * true, {"twice the cloud's": 2 * true}, known, delta, reference, facts
    )


def gibbs(leads: Floats, scale: float, quadrature: int = NODES) -> float:
    """Q̂, the mean chance that weights from the cloud are wrong.

    ``leads`` (n,) of two classes, or (n, k) of the true class over each one, +inf over itself.
    """
    if leads.ndim == 1:
        return float(ndtr(-scale * leads).mean())
    nodes, weights = np.polynomial.hermite_e.hermegauss(quadrature)
    right = 0.0
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        right += weight * float(ndtr(scale * leads + node).prod(axis=1).mean())
    return min(max(1.0 - right, 0.0), 1.0)


def kl_inverse(p: float, budget: float) -> float:
    """The largest q with kl(p ‖ q) ≤ budget.

    >>> from argmax.bounds.gaussian import kl_inverse
    >>> round(kl_inverse(0.0, 0.1), 6), kl_inverse(0.3, 0.0)  # 1 − exp(−0.1); nothing to spend
    (0.095163, 0.3)
    """
    low, high = p, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if _kl(p, middle) > budget else (middle, high)
    return high if budget else p


def _kl(p: float, q: float) -> float:
    first = p * math.log(p / q) if p > 0 else 0.0
    return first + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def _budget(scale: float, n: int, delta: float) -> float:
    return (scale**2 / 2 + math.log(2 * math.sqrt(n) / delta)) / n


def _best(leads: Floats, n: int, delta: float) -> float:
    """The μ with the smallest bound, to a few percent; beyond √(2n) every bound is vacuous."""

    def value(scale: float) -> float:
        return kl_inverse(gibbs(leads, scale, FEWER_NODES), _budget(scale, n, delta))

    coarse = np.geomspace(0.05, math.sqrt(2 * n), 20)
    best = min(coarse.tolist(), key=value)
    step = float(coarse[1] / coarse[0])
    return float(min(np.geomspace(best / step, best * step, 13).tolist(), key=value))


def _leads(scores: Any, labels: Any) -> Floats:
    found = np.asarray(scores, dtype=np.float64)
    if found.ndim != (1 if labels is None else 2) or not found.size or not np.isfinite(found).all():
        raise InvalidInput(
            "scores must be finite, of shape (n,) without labels or (n, k) with them; got shape "
            f"{found.shape}. Divide them by the lengths of the weights and of the row."
        )
    if labels is None:
        return found
    rows, y = np.arange(len(found)), np.asarray(labels)
    checks.same_length(scores=found, labels=y)
    if y.dtype.kind not in "iu" or y.min() < 0 or y.max() >= found.shape[1]:
        raise InvalidInput(
            f"labels must be the columns of the true classes, 0 to {found.shape[1] - 1}, as whole numbers."
        )
    leads: Floats = found[rows, y][:, None] - found
    leads[rows, y] = math.inf
    return leads
