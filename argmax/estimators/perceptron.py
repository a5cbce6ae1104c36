"""MulticlassPerceptron, the narrow face of the learners that learn from mistakes."""

from __future__ import annotations

from typing import Any, final

from .. import checks, losses, solvers
from .base import Classifier
from .classifier import check_steps

__all__ = ["MulticlassPerceptron"]

RULES = "perceptron", "perceptron_sum", "pa1", "pa2"


@final
class MulticlassPerceptron(Classifier):
    """The averaged perceptron for any number of classes, and its passive-aggressive relatives.

    For each row: ŷ = argmax_y ⟨w_y, x⟩ + b_y. If it is wrong, x is added to the weights of the truth and
    taken from those of ŷ. Predictions use the mean of all w on the way. The narrow face of
    ``LinearClassifier`` with these losses: the same code, the same weights.

    Parameters
    ----------
    loss : "perceptron", "perceptron_sum", "pa1" or "pa2"
        Who is moved away from: the winner; every class that scores no less than the truth; the best wrong
        class, as far as a margin of 1 asks, by at most C ("pa1") or shortened by C ("pa2").
    C : float, default 1.0
        How aggressive "pa1" and "pa2" are; the others have none.
    average : bool
        Predict with the mean of the weights after every row, or with the last ones.
    shuffle : bool
        Visit the rows in a new order every epoch, or always as given.
    fit_intercept, class_weight
        As in ``LinearClassifier``. A weight multiplies the steps of its rows (C, for "pa1" and "pa2"):
        because the order of the rows matters, that is not the same as having the rows several times. A row
        that is answered right has no step to weigh.
    max_iter : int, default 20
        Epochs at most; a pass without a mistake is the last one.
    time_limit, warm_start, dtype, random_state, callbacks, verbose
        As in ``LinearClassifier``.

    Attributes
    ----------
    classes_, coef_ (k, d) or (1, d) for two classes, intercept_, n_iter_, n_features_in_
    solution_ : Solution
        ``.mistakes`` of every epoch, ``.status`` "no mistakes" or "epochs done", ``.passes .message``

    Examples
    --------
    >>> from argmax import MulticlassPerceptron
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> model = MulticlassPerceptron().fit(scale(X), y)
    >>> model.score(scale(X), y), model.solution_.status, model.solution_.mistakes[-1]
    (1.0, 'no mistakes', 0)
    """

    penalty = None
    l1_ratio = None
    engine = None
    n_threads = None
    tol = 1e-4

    def __init__(
        self,
        loss: str = "perceptron",
        C: float = 1.0,
        average: bool = True,
        shuffle: bool = True,
        fit_intercept: bool = True,
        class_weight: Any = None,
        max_iter: int = 20,
        time_limit: float | None = None,
        warm_start: bool = False,
        dtype: Any = None,
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.C = C
        self.average = average
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.dtype = dtype
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    @property
    def solver(self) -> solvers.Solver:  # type: ignore[override]
        """The learner of the loss, with these options."""
        kind = solvers.PassiveAggressive if self.loss in ("pa1", "pa2") else solvers.Perceptron
        return kind(shuffle=bool(self.shuffle), average=bool(self.average))

    def _loss(self) -> losses.Loss:
        loss = losses.get(checks.choice("loss", self.loss, RULES))
        check_steps(loss, self.C, None)
        return loss
