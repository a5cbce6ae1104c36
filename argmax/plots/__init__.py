"""Pictures, drawn with matplotlib, which is imported when the first one is asked for."""

from .posteriors import decision_boundaries, posterior_lines, predictive_bands

__all__ = ["decision_boundaries", "posterior_lines", "predictive_bands"]
