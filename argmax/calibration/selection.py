"""Which calibrator: the one with the least log loss on rows that it has not seen.

Log loss is a proper score: honest probabilities have the least. The calibration error is none (a model that
always answers with the class frequencies has error 0), and nothing here chooses by it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .. import checks
from ..errors import InvalidInput
from ..metrics import log_loss
from ..records import Floats, Ints
from .base import Calibrator, as_scores
from .isotonic import Isotonic, TopLabel
from .matrix import Dirichlet, Matrix, Vector
from .temperature import BiasCorrected, Identity, Temperature

__all__ = ["METHODS", "TRIED", "Selection", "calibrator", "choose", "chosen", "out_of_fold"]

METHODS: dict[str, type[Calibrator]] = {
    "identity": Identity,
    "temperature": Temperature,
    "bias_corrected": BiasCorrected,
    "vector": Vector,
    "matrix": Matrix,
    "dirichlet": Dirichlet,
    "isotonic": Isotonic,
    "top_label": TopLabel,
}

TRIED = ("identity", "temperature", "bias_corrected", "vector", "matrix")
"""What "auto" chooses from, the simplest first: all are read-outs, which a model file can hold."""

MANY = 10_000
"""Rows from which on two folds tell methods apart as well as five, in half the time."""

HEAVY = 2e8
"""Rows times squared classes up to which "auto" tries a matrix: half a minute on one core."""


@final
@dataclass(frozen=True, slots=True)
class Selection:
    """The calibrator that was chosen, fitted on all rows, and the held-out log loss of all tried."""

    name: str
    calibrator: Calibrator
    log_loss: dict[str, float]


def calibrator(method: Any, on: str = "scores") -> Calibrator:
    """A new calibrator from its name, or a copy of one.

    >>> from argmax import calibration
    >>> calibration.calibrator("vector")
    Vector()
    """
    if isinstance(method, Calibrator):
        if method.on != on:
            raise InvalidInput(f"method is to work on {on} here; got one with on={method.on!r}.")
        return copy.deepcopy(method)
    if not isinstance(method, str) or method not in METHODS:
        listed = ", ".join(map(repr, ["auto", *METHODS]))
        raise InvalidInput(f"method must be one of {listed}, or a Calibrator; got {method!r}.")
    return METHODS[method](on=on)


def choose(
    scores: Any,
    truth: Any,
    classes: Any = None,
    *,
    sample_weight: Any = None,
    on: str = "scores",
    folds: int | None = None,
    seed: int = 0,
) -> Selection:
    """The calibrator of the least cross-validated log loss, the simpler one of equals, fitted on all rows.

    Without ``folds`` there are five, and two of 10,000 rows or more.

    >>> import numpy as np
    >>> from argmax import calibration
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 3, 600)
    >>> scores = 9 * np.eye(3)[truth] + 9 * rng.normal(size=(600, 3))
    >>> found = calibration.choose(scores, truth)
    >>> {name: round(loss, 2) for name, loss in found.log_loss.items()}
    {'identity': 3.23, 'temperature': 0.85, 'bias_corrected': 0.85, 'vector': 0.85, 'matrix': 0.85}
    """
    table = as_scores(scores, on)
    n, k = table.shape
    names = [name for name in TRIED if name != "matrix" or n * k**2 <= HEAVY]
    labels = np.arange(k) if classes is None else classes
    folds = (2 if n >= MANY else 5) if folds is None else folds
    losses = {}
    for name in names:
        p = out_of_fold(
            calibrator(name), table, truth, labels,
            sample_weight=sample_weight, folds=folds, seed=seed,
        )  # fmt: skip
        losses[name] = _mean_loss(truth, p, labels, sample_weight)
    best = min(names, key=lambda name: round(losses[name], 6))
    chosen = calibrator(best, on).fit(scores, truth, classes, sample_weight)
    return Selection(best, chosen, losses)


def chosen(
    method: Any, scores: Any, truth: Any, classes: Any = None, sample_weight: Any = None
) -> Selection:
    """The calibrator of that name, fitted; with "auto" the best one. Without a choice no losses are known."""
    if isinstance(method, str) and method == "auto":
        return choose(scores, truth, classes, sample_weight=sample_weight)
    fitted = calibrator(method).fit(scores, truth, classes, sample_weight)
    names = [name for name, kind in METHODS.items() if type(fitted) is kind]
    return Selection(names[0] if names else type(fitted).__name__, fitted, {})


def out_of_fold(
    method: Any,
    scores: Any,
    truth: Any,
    classes: Any = None,
    *,
    sample_weight: Any = None,
    folds: int = 5,
    seed: int = 0,
) -> Floats:
    """Probabilities (n, k) of each row by a calibrator fitted on the other folds: what to judge it by.

    >>> import numpy as np
    >>> from argmax import calibration
    >>> scores = np.random.default_rng(0).normal(size=(50, 2))
    >>> calibration.out_of_fold("temperature", scores, np.arange(50) % 2).shape
    (50, 2)
    """
    model = calibrator(method, method.on if isinstance(method, Calibrator) else "scores")
    table = np.asarray(scores, dtype=float)
    truth, found = np.asarray(truth), None
    fold = _folds(len(table), checks.positive_integer("folds", folds), seed)
    for held in range(int(fold.max()) + 1):
        some, rest = fold == held, fold != held
        weight = None if sample_weight is None else np.asarray(sample_weight)[rest]
        p = copy.deepcopy(model).fit(table[rest], truth[rest], classes, weight)
        answer = p.predict_proba(table[some])
        found = np.empty((len(table), answer.shape[1])) if found is None else found
        found[some] = answer
    assert found is not None
    return found


def _folds(n: int, folds: int, seed: int) -> Ints:
    """The fold of each row."""
    if n < 2 or folds < 2:
        raise InvalidInput(f"cross-validation needs two rows and two folds; got {n} and {folds}.")
    return np.asarray(np.random.default_rng(seed).permutation(n) % min(folds, n))


def _mean_loss(truth: Any, p: Floats, classes: Any, weight: Any) -> float:
    if weight is None:
        return log_loss(truth, p, classes)
    from ..metrics.scores import ROW_VALUES

    return float(np.average(ROW_VALUES[log_loss](truth, p, classes), weights=weight))
