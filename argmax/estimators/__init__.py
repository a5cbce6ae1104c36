"""The scikit-learn faces of the engine."""

from .classifier import LinearClassifier, SoftmaxRegression
from .rows import RowScorer

__all__ = ["LinearClassifier", "RowScorer", "SoftmaxRegression"]
