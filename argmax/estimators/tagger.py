"""SequenceTagger: a label for every token, all labels of a sequence together; and its narrow face."""

from __future__ import annotations

from typing import Any, final

from .. import checks, losses
from ..engines import Engine
from ..errors import Unsupported
from ..solvers import Solver
from .sequence_fit import Tagger

__all__ = ["CRFTagger", "SequenceTagger"]

_SHARED = """
    C : float, default 1.0
        Weight of the loss against the penalty: F(w) = C Σ s_i loss_i + penalty. CRFsuite's c2 is 1/(2C).
    penalty : "l2", "l1", "elasticnet" or None
    l1_ratio : float, only with "elasticnet"
    pairs : "observed" or "all"
        Weights for the attribute–label pairs that training has, or for every attribute with every label.
    constraints : "BIO", "BILOU", a list of forbidden (label, next label), Constraints, or None
        Which label sequences exist at all, in training and in prediction.
    order : 1 or 2
        How many labels back a transition sees. With k labels, 2 takes k times the work of 1 in the
        recursions over labels, and k + 1 times as many weights of transitions.
    start : bool
        Weights for the first label of a sequence.
    early_stopping : bool
        Hold out ``validation_fraction`` of the sequences, score the weights on them (F1 of spans, or token
        accuracy) every few passes, stop after ``n_iter_no_change`` looks without a better score, and keep the
        best. ``validation_scores_`` lists (pass, score).
    solver, tol, max_iter, time_limit, warm_start, engine, n_threads, random_state, callbacks, verbose
        As in ``LinearClassifier``.

    Attributes
    ----------
    classes_, coef_ (labels, attributes) sparse, start_, transitions_, features_, n_iter_
    edge_coef_ (features of transitions, labels, labels): with templates that describe transitions, one
        table for each of ``features_.edge_names()``; the first is ``transitions_``
    solution_ : Solution
        ``.objective .gap .relative_gap .status .message .solver .passes .seconds .history``
"""


@final
class SequenceTagger(Tagger):
    """ŷ = argmax over label sequences of Σ_t ⟨w, ψ(x, t, y_t)⟩ + e(y_{t−1}, y_t), with a loss of your choice.

    Parameters
    ----------
    features : Templates, Given or None
        How tokens become attributes. None: a good set of templates for words; features that are given in
        dicts, lists or arrays are taken as they are.
    loss : "log", "softmax_margin", "hinge" or "perceptron"
        Conditional random field; the same with the costs of wrong labels as a margin; structured SVM;
        averaged perceptron.
    cost : array-like or None
        Costs of wrong labels, for losses with a margin: a table, row the truth, column the answer, both
        in the order of ``classes_``. None: 1 for each wrong token.
    cost_per : "token" or "sequence"
        Whether the cost of an answer is the sum over its tokens, or that divided by their number.
    class_weight : dict, "balanced" or None
        How many times as much it costs to miss a label, for losses with a margin.
    {shared}
    Examples
    --------
    >>> from argmax import SequenceTagger
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = SequenceTagger(C=10.0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    """

    def __init__(
        self,
        features: Any = None,
        loss: str | losses.Loss = "log",
        C: float = 1.0,
        penalty: str | None = "l2",
        l1_ratio: float | None = None,
        cost: Any = None,
        cost_per: str = "token",
        class_weight: Any = None,
        pairs: str = "observed",
        constraints: Any = None,
        order: int = 1,
        start: bool = True,
        solver: str | Solver = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        time_limit: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        engine: Engine | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.loss = loss
        self.C = C
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.cost = cost
        self.cost_per = cost_per
        self.class_weight = class_weight
        self.pairs = pairs
        self.constraints = constraints
        self.order = order
        self.start = start
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.engine = engine
        self.n_threads = n_threads
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def _loss(self) -> losses.Loss:
        loss = losses.get(self.loss)
        if not loss.structured:
            raise Unsupported(
                f"loss {loss.name!r} belongs to single labels, LinearClassifier's. Use loss='log' or 'hinge'."
            )
        checks.choice("cost_per", self.cost_per, ("token", "sequence"))
        if self.cost is not None and not loss.takes_cost:
            raise Unsupported(f"loss {loss.name!r} has no cost and would ignore it. Use cost=None.")
        if self.cost_per != "token" and not loss.takes_cost:
            raise Unsupported(
                f"loss {loss.name!r} has no cost and would ignore cost_per. Use cost_per='token'."
            )
        if self.class_weight is not None and not loss.takes_cost:
            raise Unsupported(
                f"loss {loss.name!r} has no cost and would ignore class_weight. Use loss='softmax_margin' or "
                "'hinge', or class_weight=None."
            )
        if loss.name == "perceptron" and (self.C != 1.0 or self.penalty != "l2"):
            raise Unsupported(
                "the perceptron has no penalty and would ignore C and penalty. Leave them out; max_iter and "
                "early_stopping are what keeps it from fitting too closely."
            )
        return loss


@final
class CRFTagger(Tagger):
    """Conditional random field: P(y | x) = exp(Σ_t ⟨w, ψ(x, t, y_t)⟩ + e(y_{t−1}, y_t)) / Z(x).

    The narrow face of ``SequenceTagger(loss="log")``: the same code, the same optimum.

    Parameters
    ----------
    features : Templates, Given or None
        How tokens become attributes.
    {shared}
    Examples
    --------
    >>> from argmax import CRFTagger
    >>> tagger = CRFTagger(C=10.0).fit([["no", "way"], ["way", "out"]], [["D", "N"], ["N", "P"]])
    >>> tagger.predict_marginals([["no", "way"]])[0].shape
    (2, 3)
    """

    cost, cost_per, class_weight = None, "token", None

    def __init__(
        self,
        features: Any = None,
        C: float = 1.0,
        penalty: str | None = "l2",
        l1_ratio: float | None = None,
        pairs: str = "observed",
        constraints: Any = None,
        order: int = 1,
        start: bool = True,
        solver: str | Solver = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        time_limit: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        engine: Engine | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.C = C
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.pairs = pairs
        self.constraints = constraints
        self.order = order
        self.start = start
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.engine = engine
        self.n_threads = n_threads
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def _loss(self) -> losses.Loss:
        return losses.get("log")


for _face in (SequenceTagger, CRFTagger):
    _face.__doc__ = (_face.__doc__ or "").replace("{shared}", _SHARED.strip("\n").strip())
