"""LinearClassifier, and its narrow faces."""

from __future__ import annotations

from typing import Any, final

from .. import checks, losses
from ..engines import Engine
from ..errors import Unsupported
from ..solvers import Solver
from .base import Classifier

__all__ = ["LinearClassifier", "MulticlassSVM", "SoftmaxRegression"]

OF_SEQUENCES = ("perceptron",)
"""Losses that have no solver for classes."""

MARGINS = "hinge", "weston_watkins", "squared_hinge"
"""Losses of support vector machines."""

_PENALTY = """
    penalty : "l2", "l1", "elasticnet" or None
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
    solver : "auto", "dual", "lbfgs", "newton", "newton_cg", "proximal", "smoothing", or a Solver
        All reach the same optimum; ``solution_.solver`` says which one ran.
    tol : float, default 1e-4
        Stop when the objective is provably within tol · F(0) of its minimum, whatever the start.
    max_iter : int, default 1000
        Passes over the data (sweeps, for "dual").
    time_limit : seconds or None
    warm_start : bool
        Start at the previous fit's weights.
    engine, n_threads
        Where the work is done; None: all cores of this process. The result is the same to the bit.
    dtype : None, "float32" or "float64"
        None keeps float32 rows in float32 and makes everything else float64.
    random_state : int, RandomState, Generator or None
        Orders the visits of "dual"; the other solvers do not use it. None is 0: fits repeat.
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
        penalty: str | None = "l2",
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
        if loss.name in OF_SEQUENCES:
            raise Unsupported(
                f"loss {loss.name!r} is one of SequenceTagger so far. LinearClassifier has loss='log'."
            )
        if self.cost is not None and not loss.takes_cost:
            raise Unsupported(f"loss {loss.name!r} has no cost and would ignore it. Use cost=None.")
        if not loss.smooth and self.penalty != "l2":
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
    (0.98, 'smoothing', True)
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
