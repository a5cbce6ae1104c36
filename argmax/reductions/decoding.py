"""From the scores of binary problems (n, L) to a distance of each class (n, k): the least one wins.

    hamming        Σ_l (1 − sign(m_l f_l)) / 2                  wrong bits; a bit that takes no part counts ½
    log            Σ_l log(1 + exp(−m_l f_l))                   loss-based, for bases that minimise a log loss
    hinge          Σ_l max(0, 1 − m_l f_l)                      … a hinge loss
    exponential    Σ_l exp(−m_l f_l)                            … the loss of AdaBoost
    probability    −Σ_l log P(bit_l = m_l)                      for bases with probabilities; no part: ½

m is the row of the class, f the scores. Loss-based decoding: Allwein, Schapire and Singer 2000 (JMLR 1).
Hamming distances often tie: of equals the class with the larger Σ_l m_l f_l is nearer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..records import Floats

__all__ = ["DECODINGS", "distance", "squashed"]


def _hamming(z: Floats) -> Floats:
    return np.asarray((1.0 - np.sign(z)) / 2.0)


def _log(z: Floats) -> Floats:
    return np.asarray(np.logaddexp(0.0, -z))


def _hinge(z: Floats) -> Floats:
    return np.asarray(np.maximum(0.0, 1.0 - z))


def _exponential(z: Floats) -> Floats:
    # Larger ones would overflow; they lose anyway.
    return np.asarray(np.exp(np.minimum(-z, 700.0)))


LOSSES: dict[str, Callable[[Floats], Floats]] = {
    "exponential": _exponential,
    "hamming": _hamming,
    "hinge": _hinge,
    "log": _log,
}
DECODINGS = "exponential", "hamming", "hinge", "log", "probability"
"""The names of the distances."""


def distance(code: Floats, scores: Floats, decoding: str) -> Floats:
    """Distances (n, k). ``scores`` (n, L) are margins; for "probability" they are log odds.

    >>> import numpy as np
    >>> from argmax.reductions import codes
    >>> from argmax.reductions.decoding import distance
    >>> distance(codes.one_vs_rest(3), np.array([[1.0, -2.0, -3.0]]), "hinge")
    array([[0., 5., 6.]])
    """
    loss = LOSSES["log" if decoding == "probability" else decoding]
    # A bit takes three values only: the loss of each score for each value, then two products.
    parts = ((code == m).astype(float).T for m in (1, -1, 0))
    values = (loss(scores), loss(-scores), loss(np.zeros_like(scores)))
    total = sum(value @ part for value, part in zip(values, parts, strict=True))
    if decoding == "hamming":
        total = total - squashed(scores @ code.T.astype(float))
    return np.asarray(total)


def squashed(confidence: Floats) -> Floats:
    """Confidences in (−¼, ¼), in the same order: enough to break a tie, too little to make one vote."""
    return np.asarray(confidence / (4.0 * (1.0 + np.abs(confidence))))
