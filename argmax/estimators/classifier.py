"""LinearClassifier, and its narrow faces."""

from __future__ import annotations

import math
from typing import Any, final

from .. import checks, losses
from ..engines import Engine
from ..errors import Unsupported
from ..solvers import Solver
from .base import Classifier

__all__ = ["LinearClassifier", "MulticlassSVM", "SoftmaxRegression"]

MARGINS = "hinge", "weston_watkins", "squared_hinge"
"""Losses of support vector machines."""

_PENALTY = """
    penalty : "auto", "l2", "l1", "elasticnet" or None
        "auto" is "l2", and none for online learners, which take no other.
        ½‖w‖², ‖w‖₁, or l1_ratio ‖w‖₁ + (1 − l1_ratio) ½‖w‖². The intercept is not penalised, but for the
        hinges, where it is the weight of a column of ones, as in LIBLINEAR.
    l1_ratio : float, only with "elasticnet"
"""

_SHARED = """
    C : float, default 1.0
        Weight of the loss against the penalty: F(w) = C Σ s_i loss_i + penalty. Larger fits closer.
        ``inf`` means no penalty; for the hinges a hard margin, which only separable classes have.
    fit_intercept : bool
    class_weight : dict, "balanced" or None
        Multiplies the weights of the rows of each class.
    solver : str or Solver
        "auto", "dual", "interior_point", "lbfgs", "newton", "newton_cg", "newton_l1", "proximal", "smoothing"
        or "sgd"; "auto" watches the fit, and hands its point on where another solver will end sooner.
        All reach the same optimum ("sgd" its neighbourhood); ``solution_.solver`` says which one ran.
    tol : float, default 1e-4
        Stop when the objective is provably within tol · F(0) of its minimum, whatever the start.
    max_iter : int, default 1000
        Passes over the data (sweeps, for "dual"). Most solvers begin with a look at where they start, which
        counts as a pass; a single pass is one that moves. Each solver that "auto" hands on to has as many.
    time_limit : seconds or None
        Ends the fit with the best weights so far. Seconds in which kernels are compiled do not count.
    warm_start : bool
        Start at the previous fit's weights.
    engine, n_threads
        Where the work is done; None: all cores of this process. The result is the same to the bit.
    dtype : None, "float32" or "float64"
        None keeps float32 rows in float32 and makes everything else float64.
    random_state : int, RandomState, Generator or None
        Orders the visits of "dual", "sgd" and online learners; other solvers do not use it. None is 0: fits
        repeat.
    callbacks : list of callables or None
        Each is called with a ``solvers.Progress`` after every pass; returning True stops the fit.
    verbose : int
        1: a line on stderr with the falling objective and the certificate. 2: one line a pass.

    Attributes
    ----------
    classes_, coef_ (k, d) or (1, d) for two classes, intercept_, n_iter_, n_features_in_
    solution_ : Solution
        ``.objective .gap .relative_gap .status .message .solver .passes .seconds .history``
"""


def check_steps(loss: losses.Loss, C: Any, penalty: str | None) -> None:
    """Refuse what an online learner would have to ignore."""
    if penalty not in ("auto", None):
        raise Unsupported(
            f"loss {loss.name!r} takes no penalty (w = 0 would be its optimum); got {penalty!r}. Use "
            "penalty='auto'; max_iter is what keeps it from fitting too closely."
        )
    if loss.name in ("pa1", "pa2"):
        if not checks.number("C", C, 0.0, open_low=True) < math.inf:
            raise Unsupported(f"loss {loss.name!r} needs a finite C. Use a large one, such as 1e6.")
    elif C != 1.0:
        raise Unsupported(f"loss {loss.name!r} has no penalty and would ignore C={C!r}. Use C=1.0.")


@final
class LinearClassifier(Classifier):
    """ŷ = argmax_y ⟨w_y, x⟩ + b_y, with a loss of your choice.

    Parameters
    ----------
    loss : str or losses.Loss
        "log": multinomial logistic regression, −log softmax(scores)_y.
        "softmax_margin": the same with costs added to the scores of wrong answers.
        "hinge": Crammer and Singer's SVM, max_c (s_c + cost_c) − s_y. "weston_watkins": the sum of hinges.
        "squared_hinge": one squared hinge for each label, as LinearSVC has it.
        "ovr_log": one logistic regression for each label. "squared": linear regression on codes ±1.
        Online learners, which take steps and minimise nothing: "perceptron" moves from the winner to the
        truth, "perceptron_sum" from every class ahead of it, "pa1" and "pa2" as far as a margin of 1 asks and
        C allows. They end after a pass without a mistake, or after max_iter (20 is a good number); they have
        no certificate and do not use tol. Their answer depends on the order of the rows, so a weight of 2
        scales the steps of a row, which is not the same as having it twice.
    cost : (k, k) table or None, only with "hinge" and "softmax_margin"
        cost[y, c] is what answering c costs where y is right, labels in the order of ``classes_``; None: 1
        for every wrong answer.
    {penalty}
    {shared}
    Examples
    --------
    >>> from argmax import LinearClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearClassifier(C=1.0).fit(X, y)
    >>> round(model.score(X, y), 3)
    0.973
    >>> model.solution_.status, model.solution_.relative_gap < 1e-4
    ('converged', True)
    """

    def __init__(
        self,
        loss: str | losses.Loss = "log",
        C: float = 1.0,
        penalty: str | None = "auto",
        l1_ratio: float | None = None,
        cost: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: str | Solver = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        time_limit: float | None = None,
        warm_start: bool = False,
        engine: Engine | None = None,
        n_threads: int | None = None,
        dtype: Any = None,
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.C = C
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.cost = cost
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.engine = engine
        self.n_threads = n_threads
        self.dtype = dtype
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def _loss(self) -> losses.Loss:
        loss = losses.get(self.loss)
        if self.cost is not None and not loss.takes_cost:
            raise Unsupported(f"loss {loss.name!r} has no cost and would ignore it. Use cost=None.")
        if loss.online:
            check_steps(loss, self.C, self.penalty)
        elif not loss.smooth and self.penalty not in ("auto", "l2"):
            raise Unsupported(
                f"loss {loss.name!r} has a margin only against penalty='l2'; got {self.penalty!r}. Use 'l2' "
                "(C=inf for a hard margin), or loss='squared_hinge'."
            )
        return loss


@final
class MulticlassSVM(Classifier):
    """The support vector machine for any number of classes, solved to a proven gap.

    The narrow face of ``LinearClassifier`` with the losses that have a margin: the same code, the same
    optimum. Three classes and more with "hinge" are LIBLINEAR's ``-s 4``, two its ``-s 3``.

    Parameters
    ----------
    loss : "hinge", "weston_watkins" or "squared_hinge"
        Crammer and Singer's; the sum of hinges; one squared hinge for each label.
    cost : (k, k) table or None, only with "hinge"
        How far apart cost[y, c] wants y and c, labels in the order of ``classes_``; None: 1.
    {shared}
    Examples
    --------
    >>> from argmax import MulticlassSVM
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassSVM().fit(X, y)
    >>> round(model.score(X, y), 2), model.solution_.solver, model.solution_.relative_gap < 1e-4
    (0.98, 'interior_point', True)
    """

    penalty = "l2"
    l1_ratio = None

    def __init__(
        self,
        loss: str = "hinge",
        C: float = 1.0,
        cost: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: str | Solver = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        time_limit: float | None = None,
        warm_start: bool = False,
        engine: Engine | None = None,
        n_threads: int | None = None,
        dtype: Any = None,
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.C = C
        self.cost = cost
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.engine = engine
        self.n_threads = n_threads
        self.dtype = dtype
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def _loss(self) -> losses.Loss:
        checks.choice("loss", self.loss, MARGINS)
        loss = losses.get(self.loss)
        if self.cost is not None and not loss.takes_cost:
            raise Unsupported(f"loss {loss.name!r} has no cost and would ignore it. Use cost=None.")
        return loss


@final
class SoftmaxRegression(Classifier):
    """Multinomial logistic regression: P(y | x) = exp(w_yᵀx + b_y) / Σ_j exp(w_jᵀx + b_j).

    The narrow face of ``LinearClassifier(loss="log")``: the same code, the same optimum.

    Parameters
    ----------
    {penalty}
    {shared}
    Examples
    --------
    >>> from argmax import SoftmaxRegression
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SoftmaxRegression().fit(X, y)
    >>> model.predict_proba(X[[0, 65]]).round(3)
    array([[1.   , 0.   , 0.   ],
           [0.058, 0.935, 0.007]])
    """

    def __init__(
        self,
        C: float = 1.0,
        penalty: str | None = "l2",
        l1_ratio: float | None = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: str | Solver = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        time_limit: float | None = None,
        warm_start: bool = False,
        engine: Engine | None = None,
        n_threads: int | None = None,
        dtype: Any = None,
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.engine = engine
        self.n_threads = n_threads
        self.dtype = dtype
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def _loss(self) -> losses.Loss:
        return losses.get("log")


for _face in (LinearClassifier, MulticlassSVM, SoftmaxRegression):
    for _mark, _text in (("{penalty}", _PENALTY), ("{shared}", _SHARED)):
        _face.__doc__ = (_face.__doc__ or "").replace(_mark, _text.strip())
