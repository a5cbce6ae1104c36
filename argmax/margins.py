"""Margins: by how much the truth is ahead of every other class, and what follows from it.

    m_c(x, y) = score_y(x) − score_c(x)        m(x, y) = min over c ≠ y of m_c
    R = max ‖x‖                                γ = min over the examples of m / ‖w‖, w all weights in one

With γ > 0 the classes are separable, and no perceptron makes more mistakes than

    2 (R/γ)²      k ≥ 3 weight vectors: a mistake moves two of them, ‖Ψ(x, y) − Ψ(x, ŷ)‖² = 2 ‖x‖²
    (R/γ)²        two classes and one weight vector (Novikoff 1962)

over all passes, whatever the order (Crammer and Singer 2003; (R/γ)² for k classes, as one often reads, is too
small by the factor 2). An intercept is the weight of a column of ones: R² becomes R² + 1, and w contains it.

Plain arrays in, so these serve any linear classifier.

>>> import numpy as np
>>> from argmax import margins
>>> X, y = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]), np.array([0, 1, 2])
>>> found = margins.of(X, y, coef=np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]))
>>> found.by_class
array([[inf,  2.,  4.],
       [ 1., inf,  1.],
       [ 2.,  1., inf]])
>>> found.smallest, found.radius
(array([2., 1., 1.]), 2.0)
>>> round(found.gamma, 4), round(found.mistake_bound, 1)
(0.5774, 24.0)
>>> found.support.tolist(), found.violators.tolist()
([1, 2], [])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from . import checks
from .errors import InvalidInput
from .records import Floats, Ints

__all__ = ["Margins", "Programme", "mistake_bound", "of", "programme"]

TOUCHING = 1e-6
"""A margin within this of 1 is one that lies on the boundary."""


@final
@dataclass(frozen=True)
class Programme:
    """The size of the quadratic programme of a multiclass SVM.

        min ½‖w‖² + C Σ ξ_i     with   score_y − score_c ≥ 1 − ξ_i for every c ≠ y,   and ξ_i ≥ 0

    ``variables``: kd weights, k intercepts and n slacks. ``margins``: n (k − 1) constraints, one for every
    wrong class of an example. ``constraints``: nk, with the n signs of the slacks.

    >>> from argmax import margins
    >>> margins.programme(n=100, d=4, k=3)
    Programme(variables=115, margins=200, constraints=300)
    """

    variables: int
    margins: int
    constraints: int


def programme(n: int, d: int, k: int, intercept: bool = True) -> Programme:
    """Counts of the programme for n examples, d features and k classes.

    >>> from argmax import margins
    >>> margins.programme(n=10, d=2, k=3, intercept=False).variables
    16
    """
    n, d, k = (checks.positive_integer(*pair) for pair in (("n", n), ("d", d), ("k", k)))
    return Programme(k * d + k * bool(intercept) + n, n * (k - 1), n * k)


def mistake_bound(
    radius: float, gamma: float, classes: int = 3, constant: float = 0.0, offset: float = 0.0
) -> float:
    """The most mistakes a perceptron can make: 2 (R/γ)² for three classes and more, (R/γ)² for two.

    ``gamma`` is the margin of a comparator whose weights, without the intercept, have norm 1. With an
    intercept that is learned as the weight of a column of ``constant`` B, and of norm ``offset`` ‖b‖ in the
    comparator, R² becomes R² + B² and γ² becomes γ² / (1 + ‖b‖²/B²). Not separable (γ ≤ 0) means no bound.

    >>> from argmax import margins
    >>> margins.mistake_bound(1.0, 0.5), margins.mistake_bound(1.0, 0.5, classes=2)
    (8.0, 4.0)
    >>> margins.mistake_bound(1.0, 0.5, classes=2, constant=1.0, offset=1.0)  # (2R/γ)²
    16.0
    >>> margins.mistake_bound(1.0, -0.1)
    inf
    """
    radius = checks.number("radius", radius, 0.0)
    constant, offset = (
        checks.number("constant", constant, 0.0),
        checks.number("offset", offset, 0.0),
    )
    if offset and not constant:
        raise InvalidInput(
            f"offset={offset:g} is the norm of an intercept, which needs a constant column. Use "
            "constant=1.0."
        )
    if not gamma > 0.0:
        return math.inf
    longer = 1.0 + (offset / constant) ** 2 if constant else 1.0
    square = (radius**2 + constant**2) * longer
    return (1.0 if classes == 2 else 2.0) * (square / gamma / gamma)  # gamma² might be 0


@final
@dataclass(frozen=True)
class Margins:
    """The margins of a linear classifier over some examples; made by ``margins.of``.

    ``by_class`` (n, k) has m_c of every example, inf where c is the truth; ``radius`` R; ``norm`` ‖w‖ without
    the intercept, and ``offset`` that of the intercept.

    >>> import numpy as np
    >>> from argmax import margins
    >>> found = margins.of(np.array([[1.0], [-2.0]]), np.array([1, 0]), np.array([[3.0]]))
    >>> found.smallest, found.gamma, found.programme
    (array([3., 6.]), 1.0, Programme(variables=3, margins=2, constraints=4))
    """

    by_class: Floats
    radius: float
    norm: float
    offset: float
    features: int
    intercept: bool

    @property
    def smallest(self) -> Floats:
        """m (n,): how far each example is ahead of the best wrong class. Negative: answered wrong."""
        return np.asarray(self.by_class.min(axis=1))

    @property
    def gamma(self) -> float:
        """γ: the smallest margin of all, in units of ‖w‖ (which leaves the intercept out)."""
        return float(self.smallest.min()) / self.norm if self.norm else 0.0

    @property
    def separable(self) -> bool:
        """Whether these weights answer every example right, with no tie."""
        return bool(self.gamma > 0.0)

    @property
    def mistake_bound(self) -> float:
        """The most mistakes a perceptron can make on these examples, which these weights prove; or inf."""
        k, constant = self.by_class.shape[1], float(self.intercept)
        offset = self.offset / self.norm if self.norm else 0.0
        return mistake_bound(self.radius, self.gamma, k, constant, offset)

    @property
    def support(self) -> Ints:
        """Examples with a margin of at most 1: those that hold up the weights of an SVM."""
        return np.flatnonzero(self.smallest <= 1.0 + TOUCHING)

    @property
    def violators(self) -> Ints:
        """Examples with a margin below 1: those that pay a slack ξ = 1 − m."""
        return np.flatnonzero(self.smallest < 1.0 - TOUCHING)

    @property
    def wrong(self) -> Ints:
        """Examples that another class is ahead of, or level with: a tie is no margin."""
        return np.flatnonzero(self.smallest <= 0.0)

    @property
    def programme(self) -> Programme:
        """The size of the quadratic programme over these examples; two classes have one weight vector."""
        n, k = self.by_class.shape
        found = programme(n, self.features, k, self.intercept)
        if k > 2:
            return found
        return Programme(self.features + self.intercept + n, n, 2 * n)

    def histogram(self, bins: Any = 20) -> tuple[Ints, Floats]:
        """Counts and edges of the smallest margins, as ``numpy.histogram`` has them.

        >>> import numpy as np
        >>> from argmax import margins
        >>> found = margins.of(np.array([[1.0], [-2.0], [0.5]]), [1, 0, 1], np.array([[1.0]]))
        >>> found.histogram(bins=[0.0, 1.0, 2.0])[0]
        array([1, 2])
        """
        return np.histogram(self.smallest, bins)


def of(X: Any, y: Any, coef: Any, intercept: Any = None, classes: Any = None) -> Margins:
    """The margins of weights coef (k, d), or (1, d) for two classes, over rows X (n, d) and labels y (n,).

    ``classes`` names the rows of coef, as ``classes_`` does; None: 0 … k−1.

    >>> from argmax import MulticlassPerceptron, margins
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> model = MulticlassPerceptron().fit(scale(X), y)
    >>> found = margins.of(scale(X), y, model.coef_, model.intercept_, model.classes_)
    >>> sum(model.solution_.mistakes) <= found.mistake_bound
    True
    """
    rows, W = checks.matrix(X), checks.array("coef", coef, float)
    if W.ndim != 2 or rows.shape[1] != W.shape[1]:
        raise InvalidInput(
            f"X must be (n, d) and coef (k, d), or (1, d) for two classes; got {rows.shape} and {W.shape}."
        )
    given = np.zeros(len(W)) if intercept is None else intercept
    k, b = max(len(W), 2), checks.array("intercept", given, float)
    if b.shape != (len(W),):
        raise InvalidInput(f"intercept must have the {len(W)} rows of coef; got shape {b.shape}.")
    labels = _codes(y, k, rows.shape[0], classes)
    scores = np.asarray(rows @ W.T) + b
    if len(W) == 1:
        scores = np.hstack([-0.5 * scores, 0.5 * scores])
    own = np.arange(len(labels)), labels
    by_class = scores[own][:, None] - scores
    by_class[own] = np.inf
    radius = math.sqrt(float(np.max((rows * rows).sum(axis=1))))
    norm, offset = float(np.linalg.norm(W)), float(np.linalg.norm(b))
    return Margins(by_class, radius, norm, offset, W.shape[1], intercept is not None)


def _codes(y: Any, k: int, n: int, classes: Any) -> Ints:
    """Where each label is among the classes."""
    labels, names = np.asarray(y), np.arange(k) if classes is None else np.asarray(classes)
    if labels.shape != (n,) or names.shape != (k,) or not n:
        raise InvalidInput(
            f"y must have a label for each of the {n} rows and classes a name for each of the {k} classes; "
            f"got shapes {labels.shape} and {names.shape}."
        )
    order = np.argsort(names)
    places = np.minimum(np.searchsorted(names[order], labels), k - 1)
    found = order[places]
    if (names[found] != labels).any():
        label = labels[names[found] != labels].tolist()[0]
        raise InvalidInput(f"y has the label {label!r}, which is none of {names.tolist()!r}.")
    return found
