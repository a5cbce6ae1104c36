"""Brute force and the laws: for people who add a space, a loss or a tagger, and for this library's own tests.

    BruteForce(k)                a space that answers every question by listing all k^L labellings
    random_scores(rng, k)        scores to try a space on, some of them −inf, some of them equal
    check_space(make)            every oracle of a space against BruteForce
    check_loss(loss)             residuals against finite differences; convexity; weights; the conjugate
    check_sequence_estimator(e)  what scikit-learn's own checks ask of a classifier, for sequences

The checks return None, or raise an AssertionError that says which one failed, on what, by how much.
"""

from .brute_force import BruteForce
from .losses import check_loss
from .scores import random_scores
from .sequences import check_sequence_estimator
from .spaces import check_space

__all__ = [
    "BruteForce",
    "check_loss",
    "check_sequence_estimator",
    "check_space",
    "random_scores",
]
