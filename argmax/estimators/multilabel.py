"""MultiLabelClassifier: several labels a row, and which of them go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self, final

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import checks, engines, losses
from ..engines import Engine
from ..engines.reading import chosen
from ..errors import InvalidInput
from ..layouts import Full
from ..objective import Objective
from ..records import Floats, Ints, Scores, Structures, Truth
from ..solvers import Solver
from ..spaces import Sets
from .cooccurrence import best_expected_f1
from .label_sets import joined, known, labelled, posed
from .learner import Learner, check_end

__all__ = ["MultiLabelClassifier"]

DRAWS = 500
"""Sets drawn for each row to estimate an expected F1."""

BLOCK = 2**22
"""Scores worked on at once in an answer: times the draws, where there are some."""


@final
class MultiLabelClassifier(ClassifierMixin, Learner):
    """P(y | x) ∝ exp( Σ_j y_j (⟨w_j, x⟩ + b_j) + Σ_(a,b) J_ab y_a y_b )  over all sets y ∈ {0, 1}^k.

    J_ab > 0 says that label b is likelier where a applies than x alone would make it: a bus makes a car
    likelier. Without pairs this is one logistic regression for each label (binary relevance).

    Parameters
    ----------
    pairs : "tree", "none", "all", or (E, 2)
        Which labels are joined. "tree" is the tree of Chow and Liu: of all trees over the labels, the one
        that explains most of their dependence; everything, training included, is exact. Pairs with cycles,
        "all" among them, are trained by their pseudo-likelihood, and answered by ``spaces.Graph``: exactly
        for a dozen labels, by belief propagation and a bound for more.
    decoding : "argmax", "hamming" or "f1"
        What ``predict`` returns: the likeliest set (best for subset accuracy); the labels likelier than not
        (fewest expected mistakes); or the set of the highest expected F1, estimated from 500 exact draws of
        the model for each row.
    labels : (k,) or None
        Names of the columns of y. None: those of a table, if they are strings, or 0 … k−1.
    C : float, default 1.0
        Weight of the loss against the penalty: F(w) = C Σ s_i loss_i + ½‖w‖². Intercepts are penalised, too:
        the certificate needs that.
    fit_intercept : bool
    solver : "auto", "lbfgs", or a Solver
    tol : float, default 1e-4
        Stop when the objective is provably within tol · F(0) of its minimum.
    max_iter, time_limit, warm_start, engine, n_threads, dtype, callbacks, verbose
        As for ``LinearClassifier``.
    random_state : int, RandomState, Generator or None
        Seeds the draws of ``decoding="f1"`` and of ``sample``. None is 0.

    Attributes
    ----------
    classes_ : (k,)
        The labels, in the order of the columns of y.
    coef_ (k, d), intercept_ (k,)
    pairs_ : (E, 2)
        The labels that are joined.
    pair_weights_ : (E,)
        J.
    multilabel_ : bool
        Whether y was a matrix of zeros and ones; of one label a row, ``predict`` returns one.
    solution_, n_iter_, n_features_in_

    Examples
    --------
    >>> from argmax import MultiLabelClassifier
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> model = MultiLabelClassifier().fit(X, Y)
    >>> model.predict(X[:2])
    array([[0, 0, 0, 1, 1],
           [0, 0, 1, 0, 0]])
    >>> model.predict_proba(X[:2]).round(1)
    array([[0. , 0.3, 0.4, 0.8, 0.9],
           [0.1, 0.2, 1. , 0.3, 0.1]])
    >>> model.solution_.status
    'converged'
    """

    penalty = "l2"
    l1_ratio = None

    _layout: Full
    _w: Floats

    def __init__(
        self,
        pairs: Any = "tree",
        decoding: str = "argmax",
        labels: Any = None,
        C: float = 1.0,
        fit_intercept: bool = True,
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
        self.pairs = pairs
        self.decoding = decoding
        self.labels = labels
        self.C = C
        self.fit_intercept = fit_intercept
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

    # Fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X (n, d), dense or sparse, and labels y: a matrix (n, k) of zeros and ones, dense
        or sparse, or one label a row.
        """
        return self._learn(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        settings = self._settings()
        rows = checks.rows(self, X, reset=True, dtype=self.dtype)
        checks.magnitude(rows, engines.Threads(1).run)
        classes, labels, self.multilabel_ = labelled(self, y, len(rows))
        weight = checks.sample_weight(sample_weight, len(rows))
        used = weight > 0
        if not used.all():  # a row without weight is a row that is not there
            rows, labels, weight = chosen(rows, used), labels[used], weight[used]
        checks.total_weight(settings.C, weight)
        edges = joined(self.pairs, labels, weight)
        # Over a graph with cycles log Z is dear or out of reach, in every row of every pass.
        forest = Sets(labels.shape[1], edges).forest
        loss = settings.loss if forest else losses.get("pseudo")
        problem = posed(rows, labels.shape[1], edges, loss, bool(self.fit_intercept))
        truth = Truth(labels, None if np.all(weight == 1.0) else weight)
        with settings.engine.open():
            shards = settings.engine.place(engines.cut(Structures(rows), truth, problem.full))
            objective = Objective(problem, shards, settings.engine, settings.C)
            report = self._report(list(self.callbacks or ()))
            start = self._start(problem.full, classes, edges)
            solution = report.run(
                lambda: settings.solver.minimise(objective, start, report), objective, start
            )
        check_end(objective, solution)
        named = problem.full.named(solution.w)
        self.classes_ = classes
        self.coef_, self.intercept_ = named["coef"], named["intercept"]
        self.pairs_ = edges
        self.pair_weights_ = named["edge"].ravel() if len(edges) else np.zeros(0)
        self._layout, self._w, self.solution_ = problem.full, solution.w, solution
        self.n_iter_ = max(solution.passes, 1)

    def _start(self, layout: Full, classes: Any, edges: Ints) -> Floats:
        if not (self.warm_start and hasattr(self, "coef_")):
            return np.zeros(layout.size)
        same = np.array_equal(self.classes_, classes) and self._layout.features == layout.features
        if not same or self._layout.intercept != layout.intercept:
            raise InvalidInput(
                "warm_start: labels, features or fit_intercept differ from the previous fit. Use "
                "warm_start=False, or clone the estimator."
            )
        kept = dict(zip(map(tuple, self.pairs_.tolist()), self.pair_weights_, strict=True))
        edge = np.array([kept.get((a, b), 0.0) for a, b in edges.tolist()])
        return layout.pack(self.coef_, self.intercept_, edge if len(edges) else None)

    # Answers

    def _space(self) -> Sets:
        return Sets(len(self.intercept_), self.pairs_)

    def _blocks(self, X: Any, depth: int = 1) -> Iterator[Scores]:
        """The scores of some rows at a time."""
        check_is_fitted(self, "coef_")
        rows = checks.rows(self, X, reset=False)
        size = max(1, BLOCK // (self._layout.labels * depth + 8 * len(self.pairs_)))
        weights = self._layout.weights(self._w, self._layout.product_dtype(rows))
        for first in range(0, len(rows), size):
            block = Structures(rows[first : first + size])
            with np.errstate(invalid="ignore", over="ignore"):
                scores = self._layout.block_scores(block, weights)
            checks.finite_scores(scores.node)
            yield scores

    def _marginals(self, X: Any) -> Floats:
        """P(y_j = 1 | x) (n, k)."""
        check_is_fitted(self, "coef_")
        space = self._space()
        return np.vstack([space.marginals(scores)[1].node for scores in self._blocks(X)])

    def predict_proba(self, X: Any) -> Floats:
        """P(y_j = 1 | x) for each row and label (n, k). Of one label a row: shares that add up to 1."""
        p = self._marginals(X)
        if self.multilabel_:
            return p
        if len(self.classes_) <= 2:
            return np.hstack([1.0 - p, p])
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def decision_function(self, X: Any) -> Floats:
        """log odds of each label (n, k); of two classes (n,), positive meaning ``classes_[1]``."""
        p = np.clip(self._marginals(X), 1e-300, 1.0 - 1e-16)
        odds = np.log(p) - np.log1p(-p)
        return odds if self.multilabel_ or len(self.classes_) > 2 else odds[:, 0]

    def predict(self, X: Any) -> Any:
        """The labels of each row as ``decoding`` has it: zeros and ones (n, k), or one label a row."""
        check_is_fitted(self, "coef_")
        decoding = checks.choice("decoding", self.decoding, ("argmax", "hamming", "f1"))
        if not self.multilabel_:
            p = self._marginals(X)
            places = p.argmax(axis=1) if p.shape[1] > 1 else (p[:, 0] > 0.5).astype(int)
            return self.classes_[places]
        if decoding == "hamming":
            return (self._marginals(X) > 0.5).astype(np.int64)
        space, rng = self._space(), np.random.default_rng(self._seed())
        if decoding == "argmax":
            return np.vstack([space.argmax(scores).labels for scores in self._blocks(X)])
        blocks = self._blocks(X, DRAWS)
        return np.vstack([best_expected_f1(space.sample(scores, DRAWS, rng)) for scores in blocks])

    def predict_top_k(self, X: Any, k: int) -> tuple[Ints, Floats]:
        """The k likeliest sets of each row (k, n, labels), and their probabilities (k, n).

        Where there are fewer than k sets the rest is −1, of probability 0.
        """
        check_is_fitted(self, "coef_")
        k, space = checks.positive_integer("k", k), self._space()
        sets, chances = [], []
        for scores in self._blocks(X, k):
            labels, values = space.top_k(scores, k)
            sets.append(labels)
            chances.append(np.exp(values - space.logz(scores).value))
        return np.hstack(sets), np.hstack(chances)

    def sample(self, X: Any, n: int = 1) -> Ints:
        """n exact draws of the sets of labels of each row, as (n, rows, k) zeros and ones."""
        check_is_fitted(self, "coef_")
        n, space = checks.positive_integer("n", n), self._space()
        rng = np.random.default_rng(self._seed())
        return np.hstack([space.sample(scores, n, rng) for scores in self._blocks(X, n)])

    def log_likelihood(self, X: Any, y: Any) -> Floats:
        """log P(y | x) of each row (n,): of the whole set of labels, not of each label.

        >>> import numpy as np
        >>> from argmax import MultiLabelClassifier
        >>> X, Y = (
        ...     np.array([[0.0], [1.0], [2.0], [3.0]]),
        ...     np.array([[0, 0], [0, 1], [1, 1], [1, 1]]),
        ... )
        >>> MultiLabelClassifier().fit(X, Y).log_likelihood(X, Y).round(2)
        array([-1.2 , -1.16, -0.53, -0.29])
        """
        check_is_fitted(self, "coef_")
        space, parts = self._space(), list(self._blocks(X))
        scores = Scores(np.vstack([part.node for part in parts]), parts[0].edge)
        labels = known(self, y, len(scores.node))
        return np.asarray(space.score(scores, labels) - space.logz(scores).value)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
