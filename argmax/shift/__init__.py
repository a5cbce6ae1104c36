"""When the world moves: what moved, how sure that is, and a model that fits again.

    diagnose.py    diagnose: one call, one page
    label.py       label: new frequencies of the classes, with intervals and tests
    priors.py      five estimators of them; scatter.py: how far chance moves an estimate
    adapter.py     NewPriors, adapt, undo: a model for other frequencies
    covariate.py   covariate: weights of training rows; weights.py: what weighted rows say of the target
    tests.py       outputs, black_box, classifier, features: has anything moved?
    gate.py        whether other frequencies of the classes explain what moved
    monitor.py     Monitor: batch after batch, with a stated rate of false alarms

Everything works on plain arrays; ``diagnose`` and ``adapt`` take any fitted classifier.
"""

from .adapter import NewPriors, adapt, undo
from .covariate import covariate
from .diagnose import Diagnosis, diagnose
from .label import LabelShift, label
from .monitor import Monitor, Seen
from .priors import (
    adjusted_counts,
    black_box_ratios,
    maximum_likelihood,
    moment_matching,
    regularised_ratios,
)
from .tests import Evidence, Moved, black_box, classifier, features, outputs
from .weights import Weights, doubly_robust, weighted_risk

__all__ = [
    "Diagnosis",
    "Evidence",
    "LabelShift",
    "Monitor",
    "Moved",
    "NewPriors",
    "Seen",
    "Weights",
    "adapt",
    "adjusted_counts",
    "black_box",
    "black_box_ratios",
    "classifier",
    "covariate",
    "diagnose",
    "doubly_robust",
    "features",
    "label",
    "maximum_likelihood",
    "moment_matching",
    "outputs",
    "regularised_ratios",
    "undo",
    "weighted_risk",
]
