"""GraphLabeler: a label for every node of a graph, with weights for nodes and edges."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Self, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import checks, costs, engines, losses, passes
from ..engines import Engine
from ..errors import InvalidInput, Unsupported
from ..kernels import compiled
from ..layouts import Linked
from ..objective import Objective
from ..records import Floats, Ints, Scores, Solution, Structures, Truth
from ..solvers import Solver
from ..spaces import Graph
from .graphs import known_codes, stacked, stacked_labels
from .learner import Learner, check_end

__all__ = ["GraphLabeler"]


@final
class GraphLabeler(Learner):
    """ŷ = argmax_y Σ_v ⟨w_{y_v}, x_v⟩ + b_{y_v} + Σ_(u,v) ⟨V_{y_u y_v}, z_uv⟩  over labellings of a graph.

    x_v are features of a node, z_uv those of an edge, or 1. A graph is (features (N, d), edges (E, 2)) or
    (features, edges, edge features (E, e)); ``features.grid_graph`` makes one of an image.

    Parameters
    ----------
    loss : "log", "pseudo", "hinge" or "perceptron"
        "log": a conditional random field; exact on trees and narrow graphs, Bethe's approximation on wide
        ones. "pseudo": each node given the true labels of its neighbours; convex, certified and quick on any
        graph. "hinge": a structured SVM with the number of wrong nodes for its cost, by block-coordinate
        Frank–Wolfe; its certificate holds on any graph. "perceptron": averaged, no minimiser; ends after
        an epoch without a mistake, or after ``max_iter``.
    edges : "full" or "potts"
        A table of all pairs of labels for each feature of an edge, or one number for equal labels.
    C : float, default 1.0
        Weight of the loss against the penalty: F(w) = C Σ s_i loss_i + ½‖w‖², over graphs i.
    fit_intercept : bool
        Whether labels have b; penalised as all weights are.
    class_weight : dict, "balanced" or None
        With "hinge": what a wrong node of each class costs.
    sweeps, damping, table_limit
        Options of ``spaces.Graph``: how answers over graphs are found.
    solver : "auto", "lbfgs", "block_frank_wolfe", or a Solver
    tol : float, default 1e-3
        Stop when the objective is provably within tol · F(0) of its minimum.
    max_iter, time_limit, warm_start, engine, n_threads, random_state, callbacks, verbose
        As for ``LinearClassifier``.

    Attributes
    ----------
    classes_ (K,), coef_ (K, d), intercept_ (K,)
    edge_coef_ : (e, K, K), V; entry (a, b) for a at the first node of an edge and b at the second
    exact_ : whether every argmax or log Z of the last point of the training was exact
    solution_, n_iter_, n_features_in_

    Examples
    --------
    >>> import numpy as np
    >>> from argmax import GraphLabeler
    >>> from argmax.features import grid_graph
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 18).reshape(6, 6)  # the lower half is 1
    >>> images = [truth + rng.normal(scale=0.8, size=(6, 6)) for _ in range(8)]
    >>> X, y = [grid_graph(image) for image in images], [truth.ravel()] * 8
    >>> model = GraphLabeler(edges="potts").fit(X[:6], y[:6])
    >>> round(model.score(X[6:], y[6:]), 2)
    0.92
    >>> model.solution_.status, model.exact_
    ('converged', True)
    """

    penalty = "l2"
    l1_ratio = None

    _layout: Linked
    _w: Floats

    def __init__(
        self,
        loss: str = "log",
        edges: str = "full",
        C: float = 1.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        sweeps: int = 200,
        damping: float = 0.0,
        table_limit: int = 2**18,
        solver: str | Solver = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        time_limit: float | None = None,
        warm_start: bool = False,
        engine: Engine | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.edges = edges
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.sweeps = sweeps
        self.damping = damping
        self.table_limit = table_limit
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.engine = engine
        self.n_threads = n_threads
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def _loss(self) -> losses.Loss:
        return losses.get(
            checks.choice("loss", self.loss, ("log", "pseudo", "hinge", "perceptron"))
        )

    # Fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a list of graphs X and the labels of their nodes y: a list of arrays (N,).

        ``sample_weight``: one a graph.
        """
        return self._learn(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        settings, structures = self._settings(), stacked(X)
        for rows in (structures.rows, structures.edge_rows):
            if rows is not None:
                checks.magnitude(rows, engines.Threads(1).run)
        if not len(structures.rows):
            raise InvalidInput(
                "X has no nodes: no graph has any. Pass graphs with nodes to learn from."
            )
        classes, codes = checks.labels(self, stacked_labels(y, structures), len(structures.rows))
        if len(classes) < 2:
            raise InvalidInput(f"y must have at least two classes; got one class: {classes[0]!r}.")
        weight = checks.sample_weight(sample_weight, len(structures))
        checks.total_weight(settings.C, weight)
        layout = self._new_layout(structures, len(classes))
        problem = passes.Problem(self._space(len(classes)), layout, settings.loss)
        truth = Truth(
            codes,
            None if np.all(weight == 1.0) else weight,
            self._cost(settings.loss, classes, codes),
        )
        with settings.engine.open():
            shards = settings.engine.place(engines.cut(structures, truth, layout))
            objective = Objective(problem, shards, settings.engine, settings.C)
            report = self._report(list(self.callbacks or ()))
            start = self._start(layout, classes)
            solution = report.run(
                lambda: settings.solver.minimise(objective, start, report), objective, start
            )
        check_end(objective, solution)
        self.classes_, self._layout, self._w = classes, layout, solution.w
        named = layout.named(solution.w)
        self.coef_, self.intercept_ = named["coef"], named["intercept"]
        self.edge_coef_, self.n_features_in_ = named["edge"], layout.features
        self._edge_features = 0 if structures.edge_rows is None else layout.edge_features
        self.exact_ = self._was_exact(settings.loss, structures)
        self.solution_ = solution if self.exact_ else _without_proof(settings.loss, solution)
        self.n_iter_ = max(solution.passes, 1)

    def _new_layout(self, structures: Structures, k: int) -> Linked:
        d = int(structures.rows.shape[1])
        e = 1 if structures.edge_rows is None else int(structures.edge_rows.shape[1])
        potts = checks.choice("edges", self.edges, ("full", "potts")) == "potts"
        fast = compiled(len(structures.rows) * d * k)
        return Linked(
            d, k, e, potts, intercept=bool(self.fit_intercept), precise=True, compiled=fast
        )

    def _space(self, k: int) -> Graph:
        return Graph(k, self.sweeps, self.damping, table_limit=self.table_limit)

    def _cost(self, loss: losses.Loss, classes: Any, codes: Ints) -> Floats | None:
        if not loss.takes_cost:
            if self.class_weight is not None:
                raise Unsupported(
                    f"loss {loss.name!r} has no cost and would ignore class_weight. Use loss='hinge'."
                )
            return None
        totals = np.bincount(codes, minlength=len(classes)).astype(float)
        factors = checks.class_factors(self.class_weight, classes, totals)
        return np.asarray(factors[:, None] * costs.zero_one(len(classes)))

    def _start(self, layout: Linked, classes: Any) -> Floats:
        if not (self.warm_start and hasattr(self, "coef_")):
            return np.zeros(layout.size)
        same = np.array_equal(self.classes_, classes) and self._layout.size == layout.size
        if not same or self._layout.potts != layout.potts:
            raise InvalidInput(
                "warm_start: labels, features or edges differ from the previous fit. Use "
                "warm_start=False, or clone the estimator."
            )
        return self._w.copy()

    def _was_exact(self, loss: losses.Loss, structures: Structures) -> bool:
        if loss.name == "pseudo":
            return True
        space, scores = self._space(len(self.classes_)), self._layout.scores(structures, self._w)
        if loss.name == "log":
            return space.logz(scores).exact
        answer = space.argmax(scores)
        return bool((answer.bound <= answer.value).all())

    # Answers

    def _scores(self, X: Any) -> Scores:
        check_is_fitted(self, "coef_")
        structures = stacked(X, self.n_features_in_, self._edge_features)
        with np.errstate(invalid="ignore", over="ignore"):
            scores = self._layout.scores(structures, self._w)
        checks.finite_scores(scores.node)
        if scores.edge is not None:
            checks.finite_scores(scores.edge)
        return scores

    def predict(self, X: Any) -> list[Any]:
        """The labels of the nodes of each graph, a list of arrays (N,)."""
        scores = self._scores(X)
        labels = self._space(len(self.classes_)).argmax(scores).labels
        return _each(self.classes_[labels], scores)

    def predict_marginals(self, X: Any) -> list[Floats]:
        """P(y_v | x) of the nodes of each graph, a list of arrays (N, K), of "log" and "pseudo"."""
        if not self._loss().probabilities:
            raise Unsupported(
                f"loss {self.loss!r} has no probabilities. Use loss='log' or 'pseudo'."
            )
        scores = self._scores(X)
        return _each(self._space(len(self.classes_)).marginals(scores)[1].node, scores)

    def certificate(self, X: Any) -> Floats:
        """How much more than that of ``predict`` any labelling of each graph can score (n,); 0 is exact."""
        answer = self._space(len(self.classes_)).argmax(self._scores(X))
        return np.asarray(answer.bound - answer.value)

    def log_likelihood(self, X: Any, y: Any) -> Floats:
        """log P(y | x) of each graph (n,), by Bethe's log Z where the graph is wide."""
        scores = self._scores(X)
        assert scores.offsets is not None
        given = stacked_labels(y, Structures(scores.node, scores.offsets))
        codes = known_codes(given, self.classes_)
        space = self._space(len(self.classes_))
        return np.asarray(space.score(scores, codes) - space.logz(scores).value)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of nodes whose label is predicted. ``sample_weight``: one a graph."""
        answers = self.predict(X)
        weight = checks.sample_weight(sample_weight, len(answers))
        checks.lengths(X=len(answers), y=len(y))
        right = [
            float((np.asarray(a) == np.asarray(b)).sum()) for a, b in zip(answers, y, strict=True)
        ]
        sizes = np.array([len(answer) for answer in answers])
        return float(np.dot(weight, right) / np.dot(weight, sizes))


def _each(values: Any, scores: Scores) -> list[Any]:
    assert scores.offsets is not None
    return np.split(values, scores.offsets[1:-1])


def _without_proof(loss: losses.Loss, solution: Solution) -> Solution:
    """Of an approximate log Z no gap is a bound. That of the hinge has the doubt in it already."""
    if loss.name != "log":
        return solution
    message = (
        f"{solution.message} Some graphs are too wide for an exact log Z: the loss is Bethe's approximation, "
        "and nothing is proved."
    )
    return replace(solution, gap=math.inf, relative_gap=math.inf, message=message)
