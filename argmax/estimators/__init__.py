"""The scikit-learn faces of the engine."""

from .classifier import LinearClassifier, MulticlassSVM, SoftmaxRegression
from .decoding import Explanation
from .joint import JointClassifier
from .perceptron import MulticlassPerceptron
from .rows import RowScorer
from .tagger import CRFTagger, SequenceTagger

__all__ = [
    "CRFTagger",
    "Explanation",
    "JointClassifier",
    "LinearClassifier",
    "MulticlassPerceptron",
    "MulticlassSVM",
    "RowScorer",
    "SequenceTagger",
    "SoftmaxRegression",
]
