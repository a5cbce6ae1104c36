"""Priors of one pair of sets, and of sets drawn from it: how far chance moves an estimate."""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.special import softmax

from ..calibration import BiasCorrected
from ..metrics.scores import SMALLEST
from ..records import Floats, Ints
from . import energy, priors

__all__ = ["Sets", "draws", "interval"]

MANY = 2**14
"""Target rows that are resampled; of more, as many, and what they scatter is scaled down."""

REFITS, KNOWN = 2000, 30
"""Validation rows that are calibrated anew, of more likewise, and how often."""


@final
class Sets:
    """Calibrated scores of validation rows with their truth, and of target rows; each row may count often."""

    def __init__(
        self, method: str, known: Floats, truth: Ints, new: Floats, weight: Floats | None = None
    ) -> None:
        self.method, self.weight = method, weight
        self.known, self.truth, self.new = known, truth, new
        self.p, self.q = (np.asarray(softmax(table, axis=1)) for table in (known, new))
        self.source = np.average(self.p, axis=0, weights=weight)

    def ratios(self) -> Floats:
        """P(y | x) over the priors that it belongs to, for each target row."""
        return self.q / np.maximum(self.source, SMALLEST)

    def estimate(self, counts: Floats | None = None) -> Floats:
        """Priors (k,) without shrinkage, of target rows that count ``counts`` (m,)."""
        if self.method == "maximum_likelihood":
            each = np.ones((1, len(self.q))) if counts is None else counts[None, :]
            return np.asarray(priors.em(self.ratios(), each, self.source, 0.0, None, 1e-6)[0])
        soft = self.method != "adjusted_counts"
        joint = priors.tally(self.p, self.truth, soft, self.weight)
        mean = np.average(priors.answers(self.q, soft), axis=0, weights=counts)
        if self.method == "adjusted_counts":
            return priors.adjusted_counts(joint, mean)
        if self.method == "black_box":
            ratios = priors.black_box_ratios(joint, mean)
        else:
            ratios = priors.regularised_ratios(joint, mean, len(self.p))
        return np.asarray(ratios * joint.sum(axis=0))

    def target_scatter(self, sets: int, rng: np.random.Generator) -> Floats:
        """How estimates (sets, k) scatter when target rows are drawn anew."""
        some = energy.thinned(len(self.new), MANY, rng)
        part = Sets(self.method, self.known, self.truth, self.new[some], self.weight)
        m, centre = len(some), part.estimate()
        counts = rng.multinomial(m, np.full(m, 1 / m), size=sets).astype(float)
        if self.method == "maximum_likelihood":
            drawn = priors.em(part.ratios(), counts, part.source, 0.0, centre, 1e-4)
        else:
            drawn = np.array([part.estimate(row) for row in counts])
        return np.asarray((drawn - centre) * np.sqrt(m / len(self.new)))

    def known_scatter(self, sets: int, rng: np.random.Generator) -> Floats:
        """How they scatter when validation rows are drawn anew, and calibrated again."""
        some, few = (energy.thinned(len(t), REFITS, rng) for t in (self.known, self.new))
        known, truth, n, found = self.known[some], self.truth[some], len(some), []
        for weight in rng.multinomial(n, np.full(n, 1 / n), size=sets).astype(float):
            again = BiasCorrected().fit(known, truth, sample_weight=weight).readout_
            drawn = Sets(self.method, again(known), truth, again(self.new[few]), weight)
            found.append(drawn.estimate())
        deviation = np.array(found) - np.mean(found, axis=0)
        return np.asarray(deviation * np.sqrt(n / len(self.known)))


def draws(rows: Sets, resamples: int, seed: int) -> Floats:
    """Estimates (b, k) of drawn sets; the two sets scatter independently, so their deviations are added."""
    rng = np.random.default_rng(seed)
    scatter = rows.target_scatter(resamples, rng)
    known = rows.known_scatter(min(resamples, KNOWN), rng)
    drawn = rows.estimate() + scatter + known[rng.integers(len(known), size=resamples)]
    return np.clip(drawn, 0.0, 1.0)


def interval(drawn: Floats, found: Floats, level: float, m: int) -> tuple[Floats, Floats]:
    """Ends (k,) between which a share ``level`` of the draws lies, and the estimate."""
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    low[low * m < 0.5] = 0.0  # less than half a row: none is as likely
    return np.minimum(low, found), np.maximum(high, found)
