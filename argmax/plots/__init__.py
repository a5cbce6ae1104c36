"""Pictures, drawn with matplotlib, which is imported when the first one is asked for."""

from .posteriors import decision_boundaries, posterior_lines, predictive_bands
from .probabilities import cost_curve, reliability, reliability_by_class

__all__ = [
    "cost_curve",
    "decision_boundaries",
    "posterior_lines",
    "predictive_bands",
    "reliability",
    "reliability_by_class",
]
