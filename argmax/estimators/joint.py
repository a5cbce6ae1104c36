"""A classifier over any joint feature map: one weight vector, and labels that may be new."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Self, final

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..errors import InvalidInput, NotConverged, NumericalFailure, WrongType
from ..features import Joint
from ..records import Floats, Ints
from .answers import probabilities

__all__ = ["JointClassifier"]


@final
class JointClassifier(BaseEstimator):
    """ŷ = argmax_y ⟨w, ψ(x, y)⟩ over a list of labels, with features of x and y together.

        F(w) = C Σ_i s_i (log Σ_y exp ⟨w, ψ(x_i, y)⟩ − ⟨w, ψ(x_i, y_i)⟩) + ½‖w‖²

    The conditional logit (McFadden 1974), or maximum entropy, model. With one block of weights a label it is
    softmax regression; with features of the labels they share what they have in common, and a label that was
    never seen in training can be scored, ranked and predicted.

    Parameters
    ----------
    psi : callable (x, y) → dict of numbers, list of names, or one name; None: ``features.crossed()``
    C : float
        Weight of the loss against the penalty.
    pairs : "observed" or "all"
        Which names get weights: those of the true pairs (x_i, y_i), or those of every x with every label.
    hash_bits : int or None
        Hash the names into 2^hash_bits columns instead of keeping a dictionary.
    tol : float
        Stop when F is provably within tol · F(0) of its minimum.
    max_iter : int

    Attributes
    ----------
    classes_ : array
        The labels of the training set, sorted.
    w_ : array
        The weights, one a column of ``joint_``.
    joint_ : Joint
        The fitted ``features.Joint``.
    gap_ : float
        F at the weights is at most so far above its minimum.

    Examples
    --------
    >>> from argmax import JointClassifier
    >>> from argmax.features import crossed
    >>> animals = {
    ...     "cat": ["meows", "furry"],
    ...     "dog": ["barks", "furry"],
    ...     "fish": ["swims"],
    ...     "duck": ["swims"],
    ... }
    >>> psi = crossed(of_label=lambda y: animals[y])
    >>> model = JointClassifier(psi, C=10.0).fit(["purr", "woof", "blub"], ["cat", "dog", "fish"])
    >>> model.predict(["blub", "woof"]).tolist()
    ['fish', 'dog']
    >>> model.predict(["blub"], labels=["cat", "dog", "duck"]).tolist()  # no duck was ever seen
    ['duck']
    """

    def __init__(
        self,
        psi: Any = None,
        C: float = 1.0,
        pairs: str = "observed",
        hash_bits: int | None = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
    ) -> None:
        self.psi = psi
        self.C = C
        self.pairs = pairs
        self.hash_bits = hash_bits
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Sequence[Any], y: Any, sample_weight: Any = None) -> Self:
        """Learn from inputs X, a sequence of anything that ψ takes, and their labels y."""
        X = list(checks.given_rows(X))
        classes, codes = checks.labels(self, y, len(X))
        if len(classes) < 2:
            raise InvalidInput(
                "y must have at least two classes; got one. Add rows of another class."
            )
        weight = checks.sample_weight(sample_weight, len(X))
        C = checks.number("C", self.C, 0.0, open_low=True)
        every = _every(X, classes.tolist())
        seen = every
        if checks.choice("pairs", self.pairs, ("observed", "all")) == "observed":
            seen = X, classes[codes].tolist()
        joint = Joint(self.psi, self.hash_bits).fit(*seen)
        w, gap = self._minimised(joint.transform(*every), codes, C * weight, len(classes))
        self.classes_, self.joint_, self.w_, self.gap_ = classes, joint, w, gap
        return self

    def _minimised(self, rows: Any, codes: Ints, weight: Floats, k: int) -> tuple[Floats, float]:
        """w and its certificate; ``rows`` (n·k, width) hold ψ of every row with every label."""
        from scipy.optimize import minimize  # large, and no command needs it

        n, across = len(codes), rows.T.tocsr()
        checks.reach(float(np.abs(rows.data).max(initial=0.0)), rows.dtype, "psi")
        enough = checks.number("tol", self.tol, 0.0, open_low=True) * weight.sum() * np.log(k)

        def objective(w: Floats) -> tuple[float, Floats]:
            logs = log_softmax((rows @ w).reshape(n, k), axis=1)
            residual = np.exp(logs)
            residual[np.arange(n), codes] -= 1.0
            value = -float(weight @ logs[np.arange(n), codes]) + 0.5 * float(w @ w)
            return value, across @ (residual * weight[:, None]).ravel() + w

        start = np.zeros(rows.shape[1])
        found = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": checks.positive_integer("max_iter", self.max_iter),
                "ftol": 0.0,
                "gtol": float(np.sqrt(2.0 * enough / rows.shape[1])),
            },
        )
        gap = 0.5 * float(found.jac @ found.jac)
        if gap > enough and not found.fun < objective(start)[0]:
            raise NumericalFailure(
                "the fit drowned in rounding: no step from zero weights made its objective, "
                f"{found.fun:.3g}, smaller. Scale the numbers that psi returns."
            )
        if gap > enough:
            warnings.warn(
                f"the fit may be {gap:.3g} above its minimum; {enough:.3g} was asked for. Raise max_iter.",
                NotConverged,
                stacklevel=3,
            )
        return found.x, gap

    def decision_function(self, X: Sequence[Any], labels: Sequence[Any] | None = None) -> Floats:
        """⟨w, ψ(x, y)⟩ of every input and label (n, k). ``labels`` None: ``classes_``; they may be new."""
        check_is_fitted(self, "w_")
        X, candidates = list(checks.given_rows(X)), self._labels(labels)
        rows = self.joint_.transform(*_every(X, candidates))
        with np.errstate(invalid="ignore", over="ignore"):
            scores = np.asarray(rows @ self.w_)
        return checks.finite_scores(scores).reshape(len(X), len(candidates))

    def predict(self, X: Sequence[Any], labels: Sequence[Any] | None = None) -> Any:
        """The label of the highest score; of equals, the first."""
        places = self.decision_function(X, labels).argmax(axis=1)
        return np.asarray(self._labels(labels))[places]

    def predict_proba(self, X: Sequence[Any], labels: Sequence[Any] | None = None) -> Floats:
        """P(y | x) among these labels (n, k)."""
        return probabilities(self.decision_function(X, labels))

    def score(self, X: Sequence[Any], y: Any, labels: Sequence[Any] | None = None) -> float:
        """The share of inputs whose label is predicted."""
        return float(np.mean(self.predict(X, labels) == np.asarray(y)))

    def weights(self) -> dict[str, float]:
        """The weight of every named feature, largest first; features that are hashed have no names."""
        check_is_fitted(self, "w_")
        if self.joint_.names_ is None:
            raise InvalidInput("hashed features have no names. Use hash_bits=None.")
        pairs = zip(self.joint_.names_, self.w_.tolist(), strict=True)
        return dict(sorted(pairs, key=lambda pair: -abs(pair[1])))

    def _labels(self, labels: Sequence[Any] | None) -> list[Any]:
        if labels is not None and (isinstance(labels, str) or not isinstance(labels, Iterable)):
            raise WrongType(f"labels must be a list of labels, or None; got {labels!r}.")
        chosen = self.classes_.tolist() if labels is None else list(labels)
        if not chosen:
            raise InvalidInput("labels is empty. Pass at least one label, or None.")
        return chosen


def _every(X: list[Any], labels: list[Any]) -> tuple[list[Any], list[Any]]:
    """Every input with every label, the labels of one input next to each other."""
    return [x for x in X for _ in labels], labels * len(X)
