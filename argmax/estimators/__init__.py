"""The scikit-learn faces of the engine."""

from .classifier import LinearClassifier, MulticlassSVM, SoftmaxRegression
from .decoding import Explanation
from .joint import JointClassifier
from .labeler import GraphLabeler
from .multilabel import MultiLabelClassifier
from .perceptron import MulticlassPerceptron
from .rows import RowScorer
from .tagger import CRFTagger, SequenceTagger

__all__ = [
    "CRFTagger",
    "Explanation",
    "GraphLabeler",
    "JointClassifier",
    "LinearClassifier",
    "MultiLabelClassifier",
    "MulticlassPerceptron",
    "MulticlassSVM",
    "RowScorer",
    "SequenceTagger",
    "SoftmaxRegression",
]
