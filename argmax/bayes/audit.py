"""Does averaging over the posterior pay? The answer on rows that the fit has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from .. import metrics
from ..metrics import Interval

__all__ = ["Audit", "audited"]

MATTERS = 0.05
"""Share of the log loss below which a difference is not worth a word."""


@final
@dataclass(frozen=True)
class Audit:
    """Held-out log loss of the mode alone (MAP) against that of the average over the posterior.

    ``difference`` is averaged minus MAP, with a paired interval. If all of it lies above a twentieth of MAP's
    log loss, averaging hurts beyond chance and by an amount that matters: the Gaussian at the mode is wider
    than the posterior it stands for, as it is for classes that are nearly separable. ``too_wide`` says so.

    >>> from argmax.bayes import Audit
    >>> from argmax.metrics import Interval
    >>> print(Audit(0.18, 0.62, Interval(0.44, 0.40, 0.48), 360))
    log loss on 360 held-out rows: MAP 0.1800, averaged 0.6200, difference 0.4400 (0.4000 to 0.4800).
    The Laplace posterior is too wide: averaging over it predicts worse than its mode.
    Use predictive="map", or a smaller C.
    """

    map_log_loss: float
    averaged_log_loss: float
    difference: Interval
    rows: int

    @property
    def too_wide(self) -> bool:
        """Whether averaging is worse than the mode, beyond chance and by an amount that matters."""
        return self.difference.low > MATTERS * self.map_log_loss

    def __str__(self) -> str:
        found = (
            f"log loss on {self.rows} held-out rows: MAP {self.map_log_loss:.4f}, averaged "
            f"{self.averaged_log_loss:.4f}, difference {self.difference}."
        )
        return f"{found}\n{self.verdict}"

    @property
    def verdict(self) -> str:
        """What follows, in words."""
        if self.too_wide:
            return (
                "The Laplace posterior is too wide: averaging over it predicts worse than its mode.\n"
                'Use predictive="map", or a smaller C.'
            )
        if self.difference.high < 0.0:
            return "Averaging over the posterior predicts better than its mode."
        return "Averaging over the posterior predicts about as well as its mode."


def audited(truth: Any, averaged: Any, plugged: Any, classes: Any) -> Audit:
    """Compare probabilities (n, k) averaged over the posterior with those at its mode."""
    gap = metrics.difference(metrics.log_loss, truth, averaged, plugged, classes=classes)
    at_mode = metrics.log_loss(truth, plugged, classes)
    return Audit(at_mode, metrics.log_loss(truth, averaged, classes), gap, len(averaged))
