"""Truth and answers in, numbers out: scores, tables, and intervals that say how sure they are.

    scores.py      accuracy, log_loss, brier, top_k_accuracy; precision, recall, f1; unseen
    tables.py      confusion, per_class
    intervals.py   interval, bootstrap, difference, proportion
    label_sets.py  label_sets: subset accuracy, Hamming loss, F1 and likelihood of sets of labels
    spans.py       tagging; token_accuracy, sequence_accuracy, span_precision, span_recall, span_f1

Everything works on plain arrays, so it serves any classifier:

    truth          (n,)    labels: strings or whole numbers
    answer         (n,)    labels
    probabilities  (n, k)  one column a class, in the order of ``classes``
    classes        (k,)    the labels that the model knows

A label that only the truth has (the model never saw it) is an error of the model: it counts as a wrong
answer, and ``unseen`` lists it.
"""

from .intervals import Interval, bootstrap, difference, interval, proportion
from .label_sets import SetScores, label_sets
from .scores import accuracy, brier, f1, log_loss, precision, recall, top_k_accuracy, unseen
from .spans import (
    SpanScores,
    TaggingScores,
    sequence_accuracy,
    span_f1,
    span_precision,
    span_recall,
    tagging,
    token_accuracy,
)
from .tables import ClassScores, Confusion, confusion, per_class

__all__ = [
    "ClassScores",
    "Confusion",
    "Interval",
    "SetScores",
    "SpanScores",
    "TaggingScores",
    "accuracy",
    "bootstrap",
    "brier",
    "confusion",
    "difference",
    "f1",
    "interval",
    "label_sets",
    "log_loss",
    "per_class",
    "precision",
    "proportion",
    "recall",
    "sequence_accuracy",
    "span_f1",
    "span_precision",
    "span_recall",
    "tagging",
    "token_accuracy",
    "top_k_accuracy",
    "unseen",
]
