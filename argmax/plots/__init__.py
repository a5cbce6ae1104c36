"""Pictures, drawn with matplotlib, which is imported when the first one is asked for."""

from .bounds import promises
from .comparison import four_classes, reductions_compared
from .geometry import Border, Vertex, borders, vertices
from .graphs import cooccurrence, messages, segmentation
from .losses import losses
from .margins import margin_sweep, margin_width
from .mistakes import hardest, perceptron_mistakes
from .posteriors import decision_boundaries, posterior_lines, predictive_bands
from .probabilities import cost_curve, reliability, reliability_by_class
from .regions import decision_regions
from .shift import shift_page

__all__ = [
    "Border",
    "Vertex",
    "borders",
    "cooccurrence",
    "cost_curve",
    "decision_boundaries",
    "decision_regions",
    "four_classes",
    "hardest",
    "losses",
    "margin_sweep",
    "margin_width",
    "messages",
    "perceptron_mistakes",
    "posterior_lines",
    "predictive_bands",
    "promises",
    "reductions_compared",
    "reliability",
    "reliability_by_class",
    "segmentation",
    "shift_page",
    "vertices",
]
