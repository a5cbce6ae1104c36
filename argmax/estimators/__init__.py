"""The scikit-learn faces of the engine."""

from .classifier import LinearClassifier, MulticlassSVM, SoftmaxRegression
from .decoding import Explanation
from .rows import RowScorer
from .tagger import CRFTagger, SequenceTagger

__all__ = [
    "CRFTagger",
    "Explanation",
    "LinearClassifier",
    "MulticlassSVM",
    "RowScorer",
    "SequenceTagger",
    "SoftmaxRegression",
]
