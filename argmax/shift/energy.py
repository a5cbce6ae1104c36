"""Energy distance: how far apart two samples are, in one number that no difference escapes.

    E = 2 E|x − y| − E|x − x'| − E|y − y'|  ≥ 0,   and 0 only where both follow one law

Reference: Székely and Rizzo, Energy statistics: a class of statistics based on distances, 2013.
"""

from __future__ import annotations

import numpy as np

from ..metrics.scores import SMALLEST
from ..records import Floats, Ints

__all__ = ["between", "log_outputs", "pairwise", "thinned"]

LEAST = 1e-6
"""Probabilities below this count as this: how impossible a class is says nothing about a shift."""


def log_outputs(p: Floats) -> Floats:
    """Where rows stand by their probabilities (n, k)."""
    return np.log(np.maximum(p, LEAST))


def pairwise(rows: Floats) -> Floats:
    """Distances of all rows to all rows (n, n)."""
    from scipy.spatial.distance import cdist  # takes long to import, and few need it

    return np.asarray(cdist(rows, rows))


def between(D: Floats, one: Floats, other: Floats) -> Floats:
    """Energy distances (b,) of b pairs of samples: weights (b, n) of rows with distances D (n, n)."""
    one = one / np.maximum(one.sum(axis=1, keepdims=True), SMALLEST)
    other = other / np.maximum(other.sum(axis=1, keepdims=True), SMALLEST)
    apart = one - other
    return np.asarray(-np.einsum("bn,bn->b", apart @ D, apart))


def thinned(n: int, most: int, rng: np.random.Generator) -> Ints:
    """All n rows in order, or ``most`` of them by chance."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
