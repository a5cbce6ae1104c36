"""SequenceTagger: a label for every token, all labels of a sequence together; and its narrow face."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self, final

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .. import checks, costs, engines, losses, passes
from ..engines import Engine
from ..errors import InvalidInput, NumericalFailure, Unsupported
from ..features import for_sequences
from ..kernels import compiled
from ..layouts import Pairs
from ..objective import Objective
from ..records import Csr, Floats, Ints, Scores, Solution, Structures, Truth
from ..solvers import Report, Solver
from ..spaces import Chain, constraints
from . import decoding, resuming
from .learner import ADVICE, Learner, Settings
from .online import Online
from .sequences import Labels, as_lists, as_sparse, check_offsets, same_saved, sequence_weights
from .stopping import Sequences, Watch, every_of, parted

__all__ = ["CRFTagger", "SequenceTagger"]


class Tagger(Learner):
    """argmax over label sequences of Σ_t ⟨w, ψ(x, t, y_t)⟩ + e(y_{t−1}, y_t), with any loss."""

    features: Any
    pairs: str
    constraints: Any
    order: int
    start: bool
    cost: Any
    cost_per: str
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int

    classes_: Any
    _layout: Pairs
    _w: Floats
    _online: Online | None

    # Fitting

    def fit(self, X: Any, y: Any = None, *, lengths: Any = None, sample_weight: Any = None) -> Self:
        """Learn from sequences X and their labels y.

        X: a list of sequences of tokens; a token is a string, a tuple of strings, a dict or list of
        features; or ``features.Tokens``, or rows of numbers with ``lengths``. y: a list of lists of labels,
        or one label a token. A set of labels in the place of one says that any of them may be right, None
        that nothing is known. ``sample_weight``: one a sequence.
        """
        return self._learn(X, y, lengths, sample_weight)

    def path(
        self, X: Any, y: Any, Cs: Any, *, lengths: Any = None, sample_weight: Any = None
    ) -> list[Self]:
        """One fitted copy for each C, each started where the last one ended, in the order given.

        >>> from argmax import SequenceTagger
        >>> X, y = [["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]]
        >>> [len(model.classes_) for model in SequenceTagger().path(X, y, [0.1, 1.0])]
        [2, 2]
        """
        return self._path(Cs, X, y, lengths, sample_weight)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, *, lengths: Any = None, sample_weight: Any = None
    ) -> Self:
        """One pass of single steps over these sequences, on top of what earlier calls have learned.

        ``classes``: all labels there will be; without it, those of the first call. Attributes are those of
        the first call as well, unless ``features`` hashes them. A ``fit`` starts over.

        >>> from argmax import SequenceTagger
        >>> tagger = SequenceTagger(loss="perceptron")
        >>> for _ in range(3):
        ...     _ = tagger.partial_fit([["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]])
        >>> tagger.predict([["a", "b", "a"]])
        [['A', 'B', 'A']]
        """
        attempt = copy.copy(self)
        attempt._online = copy.copy(getattr(self, "_online", None))
        attempt._fit_some(X, y, classes, lengths, sample_weight)
        self._take(attempt)
        return self

    def _fit_some(self, X: Any, y: Any, classes: Any, lengths: Any, sample_weight: Any) -> None:
        settings, first = self._settings(), self._online is None
        if settings.l1 or self.order != 1 or settings.loss.name == "hinge":
            raise Unsupported(
                "partial_fit takes steps of loss 'log', 'softmax_margin' or 'perceptron', with penalty='l2' "
                "and order=1."
            )
        X = list(X) if isinstance(X, Iterator) else X  # which is looked at more than once
        if first:
            self.features_ = for_sequences(X) if self.features is None else clone(self.features)
            found = self.features_.fit_transform(X, lengths=lengths)
        else:
            found = self.features_.transform(X, lengths=lengths)
        if found.edge_rows is not None and found.edge_rows.shape[1] > 1:
            raise Unsupported(
                "partial_fit has one table of transitions. Leave out the mark 'edge:'."
            )
        rows, offsets = as_sparse(found.rows), check_offsets(found)
        labels = Labels.of(y, offsets)
        if first:
            self.classes_ = labels.classes if classes is None else np.unique(np.asarray(classes))
            space = self._space(self.classes_)
            decay = settings.l2 / settings.C
            self._online = Online(space, settings.loss, bool(self.start), decay, self._seed())
        assert self._online is not None
        codes, known = self._codes(y, offsets)
        if not known.all():
            label = labels.classes[labels.codes[int(np.argmin(known))]]
            raise InvalidInput(
                f"the label {str(label)!r} is none of the classes of the first call. Name them all there: "
                "partial_fit(X, y, classes=[…])."
            )
        weight = sequence_weights(sample_weight, len(offsets) - 1)
        cost, scale = self._cost(settings.loss), self._cost_scale(settings.loss, offsets)
        truth = Truth(codes, weight, cost, None, scale)
        layout, w = self._online.learn(rows, offsets, truth)
        self._set_weights(layout, w)
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1

    def _cost(self, loss: losses.Loss) -> Floats | None:
        """Costs of wrong labels, where the loss has some."""
        K = len(self.classes_)
        if not loss.takes_cost:
            return None
        return costs.zero_one(K) if self.cost is None else costs.matrix(self.cost, K)

    def _cost_scale(self, loss: losses.Loss, offsets: Ints) -> Floats | None:
        """What the costs of each sequence are multiplied by."""
        if not loss.takes_cost or self.cost_per == "token":
            return None
        return 1.0 / np.maximum(np.diff(offsets), 1)

    def _fit(self, X: Any, y: Any, lengths: Any, sample_weight: Any) -> None:
        self._online = None
        settings = self._settings()
        X = list(X) if isinstance(X, Iterator) else X  # which is looked at more than once
        extractor = for_sequences(X) if self.features is None else clone(self.features)
        structures = extractor.fit_transform(X, lengths=lengths)
        offsets = check_offsets(structures)
        stack = Structures(as_sparse(structures.rows), offsets, edge_rows=structures.edge_rows)
        weight = sequence_weights(sample_weight, len(offsets) - 1)
        given = Sequences(stack, Labels.of(y, offsets), weight).with_weight()
        classes = given.labels.classes
        if len(classes) < 2:
            got = f"one: {classes.tolist()[0]!r}" if len(classes) else "none"
            raise InvalidInput(f"y must have at least two different labels; got {got}.")
        if self.warm_start and hasattr(self, "coef_"):
            self._check_same(extractor, classes)
        self.features_, self.classes_ = extractor, classes
        self._solve(given, settings)

    def _solve(self, given: Sequences, settings: Settings) -> None:
        held = None
        if self.early_stopping:
            share = checks.number("validation_fraction", self.validation_fraction, 0.0, 1.0)
            if len(given.stack) < 2 or given.labels.allowed is not None:
                raise InvalidInput(
                    "early_stopping holds sequences out: it needs at least two, with one label a token."
                )
            given, held = parted(given, share, self._seed())
        with settings.engine.open():
            objective = self._objective(given.stack, given.labels, given.weight, settings)
            rows, codes = given.stack.rows, given.labels.codes
            assert isinstance(rows, Csr)
            listeners, watch = list(self.callbacks or ()), None
            if held is not None:
                patience = checks.positive_integer("n_iter_no_change", self.n_iter_no_change)
                every = every_of(settings.solver)
                watch = Watch(objective.problem, rows, codes, held, patience, every)
                listeners.append(watch)
            report = self._report(listeners)
            start, state = self._start(objective.problem.pairs)
            state = resuming.found(self.callbacks or (), objective, settings.solver) or state
            try:
                solution = settings.solver.minimise(objective, start, report, state)
            except KeyboardInterrupt:
                if report.w is not None:
                    solution = _best_so_far(objective, report)
                    self._accept(objective.problem.pairs, solution, rows, codes)
                raise
        if watch is not None:
            solution = watch.applied(solution)
            self.validation_scores_ = watch.scores
        self._accept(objective.problem.pairs, solution, rows, codes)

    def _objective(
        self, stack: Structures, labels: Labels, weight: Floats | None, settings: Settings
    ) -> Objective:
        K, loss, rows, offsets = len(labels.classes), settings.loss, stack.rows, stack.offsets
        assert isinstance(rows, Csr)
        assert offsets is not None
        space = self._space(labels.classes)
        if space.constraints is not None:
            self._check_legal(space, labels, offsets)
        checks.choice("pairs", self.pairs, ("observed", "all"))
        every = self.pairs == "all" or labels.allowed is not None
        # What the attributes of one token share (see ``kernels.attributes``): the gradient of an l2 problem,
        # the updates of the perceptron.
        alike = loss.name == "perceptron" or settings.l2 > 0
        fold = alike and not (every or settings.l1) and rows.values is None
        options: dict[str, Any] = {
            "every": every,
            "start": bool(self.start),
            "states": space.states,
            "edge_features": _edge_width(stack, space),
            "precise": not compiled(rows.entries * K),  # a small problem can afford it
        }
        layout = Pairs.observed(rows, labels.codes, K, fold=fold, **options)
        if rows.values is not None:
            checks.reach(float(np.abs(rows.values).max(initial=0.0)), layout.dtype)
        if weight is not None:
            checks.total_weight(settings.C, weight)
        if labels.allowed is not None and loss.takes_cost:
            raise Unsupported(
                f"loss {loss.name!r} needs one label a token, to say what another one costs. Use loss='log'."
            )
        scale = self._cost_scale(loss, offsets)
        truth = Truth(labels.codes, weight, self._cost(loss), labels.allowed, scale)
        loss.check(truth)
        shards = engines.cut(stack, truth, layout)
        if len(shards) > 1 and layout.slots:  # a variable belongs to one token of one shard
            layout = Pairs.observed(rows, labels.codes, K, **options)
            shards = engines.cut(stack, truth, layout)
        engine = settings.engine
        problem = passes.Problem(space, layout, loss)
        return Objective(
            problem, engine.place(shards), engine, settings.C, settings.l1, settings.l2
        )

    def _space(self, classes: Any) -> Chain:
        order, rules = checks.choice("order", self.order, (1, 2)), None
        if self.constraints is not None:
            rules = constraints.get(self.constraints, classes.tolist())
        return Chain(len(classes), order, constraints=rules)

    def _check_legal(self, space: Chain, labels: Labels, offsets: Ints) -> None:
        assert space.constraints is not None
        if labels.allowed is not None:
            open_labels = np.where(labels.allowed, 0.0, -np.inf)
            space.argmax(Scores(open_labels, None, offsets))
            return
        wrong = space.constraints.violations(labels.codes, offsets)
        if len(wrong):
            t = int(wrong[0])
            i = int(np.searchsorted(offsets, t, "right")) - 1
            label = labels.classes[labels.codes[t]]
            raise InvalidInput(
                f"constraints={self.constraints!r} do not allow {str(label)!r} at token "
                f"{t - int(offsets[i])} of sequence {i}, and {len(wrong) - 1} more labels of y. Repair them, "
                "or use constraints=None."
            )

    def _check_same(self, extractor: Any, classes: Any) -> None:
        """Refuse to go on from weights that meant something else."""
        if not (np.array_equal(self.classes_, classes) and same_saved(self.features_, extractor)):
            raise InvalidInput(
                "warm_start: labels or features differ from the previous fit. Use warm_start=False, or clone "
                "the estimator."
            )

    def _start(self, layout: Pairs) -> tuple[Floats, Any]:
        if not (self.warm_start and hasattr(self, "coef_")):
            return np.zeros(layout.size), None
        if self.transitions_.shape != (layout.states, layout.labels):
            raise InvalidInput(
                "warm_start: order differs from the previous fit. Use warm_start=False, or clone the "
                "estimator."
            )
        return layout.pack(self.coef_.T, self.start_, self.edge_coef_), True

    def _accept(self, layout: Pairs, solution: Solution, rows: Csr, codes: Ints) -> None:
        if not np.isfinite(solution.w).all():
            raise NumericalFailure(
                f"the fit left the finite numbers (overflow). {ADVICE['stalled']}"
            )
        final, w = layout.unfolded(solution.w, rows, codes)
        self._set_weights(final, w)
        self.solution_ = replace(solution, w=w, state=None)
        self.n_iter_ = max(solution.passes, 1)

    def _set_weights(self, layout: Pairs, w: Floats) -> None:
        parts = layout.named(w)
        self.coef_, self.start_ = parts["coef"], parts["start"]
        self.transitions_, self.edge_coef_ = parts["transitions"], parts["edges"]
        self._layout, self._w = layout, w

    # Answers

    def _problem(self) -> passes.Problem:
        check_is_fitted(self, "coef_")
        return passes.Problem(self._space(self.classes_), self._layout, self._loss())

    def _structures(self, X: Any, lengths: Any) -> Structures:
        check_is_fitted(self, "coef_")
        found = self.features_.transform(X, lengths=lengths)
        return Structures(as_sparse(found.rows), check_offsets(found), edge_rows=found.edge_rows)

    def _scores(self, X: Any, lengths: Any) -> tuple[Chain, Scores]:
        return self._scores_of(self._structures(X, lengths))

    def _scores_of(self, stack: Structures) -> tuple[Chain, Scores]:
        problem = self._problem()
        scores = decoding.scores(problem, self._w, stack, self.n_threads)
        assert isinstance(problem.space, Chain)
        return problem.space, scores

    def predict(self, X: Any, *, lengths: Any = None) -> list[list[Any]]:
        """The most probable labels of each sequence (Viterbi), as lists."""
        stack = self._structures(X, lengths)
        codes = decoding.best(self._problem(), self._w, stack, self.n_threads)
        assert stack.offsets is not None
        return as_lists(self.classes_, codes, stack.offsets)

    def predict_marginals(self, X: Any, *, lengths: Any = None) -> list[Floats]:
        """P(label | sequence) of each token: an array (tokens, labels) for each sequence."""
        space, scores = self._scores(X, lengths)
        p = space.marginals(scores)[1].node
        assert scores.offsets is not None
        return [p[a:b] for a, b in pairwise(scores.offsets.tolist())]

    def predict_top_k(
        self, X: Any, k: int, *, lengths: Any = None
    ) -> list[list[tuple[list[Any], float]]]:
        """The k most probable label sequences of each sequence, with their probabilities."""
        space, scores = self._scores(X, lengths)
        labels, values = space.top_k(scores, k)
        probability = np.exp(values - space.logz(scores).value)
        offsets = scores.offsets
        assert offsets is not None
        found = [as_lists(self.classes_, np.maximum(row, 0), offsets) for row in labels]
        return [
            [
                (found[j][i], float(probability[j, i]))
                for j in range(k)
                if not np.isneginf(values[j, i])
            ]
            for i in range(len(offsets) - 1)
        ]

    def predict_minimum_risk(self, X: Any, *, lengths: Any = None) -> list[list[Any]]:
        """The labels with the fewest expected errors, instead of the most probable sequence."""
        space, scores = self._scores(X, lengths)
        assert scores.offsets is not None
        return as_lists(self.classes_, space.posterior(scores).labels, scores.offsets)

    def sample(
        self, X: Any, n: int = 1, *, lengths: Any = None, random_state: Any = None
    ) -> list[list[list[Any]]]:
        """n label sequences for each sequence, drawn from P(y | x)."""
        space, scores = self._scores(X, lengths)
        rng = np.random.default_rng(random_state)
        draws = space.sample(scores, checks.positive_integer("n", n), rng)
        assert scores.offsets is not None
        by_draw = [as_lists(self.classes_, row, scores.offsets) for row in draws]
        return [[labels[i] for labels in by_draw] for i in range(len(scores.offsets) - 1)]

    def log_likelihood(self, X: Any, y: Any, *, lengths: Any = None) -> Floats:
        """log P(y | x) of each sequence; −inf where a label was never seen or is not allowed."""
        space, scores = self._scores(X, lengths)
        assert scores.offsets is not None
        codes, known = self._codes(y, scores.offsets)
        value = space.score(scores, codes) - space.logz(scores).value
        value[np.searchsorted(scores.offsets, np.flatnonzero(~known), "right") - 1] = -np.inf
        return np.asarray(value)

    def _codes(self, y: Any, offsets: Ints) -> tuple[Ints, Any]:
        labels = Labels.of(y, offsets)
        if labels.allowed is not None:
            raise Unsupported("every token needs one label here.")
        place = {label: i for i, label in enumerate(self.classes_.tolist())}
        table = np.array([place.get(label, -1) for label in labels.classes.tolist()], np.intp)
        codes = table[labels.codes]
        return np.maximum(codes, 0), codes >= 0

    def score(self, X: Any, y: Any, *, lengths: Any = None) -> float:
        """Share of the tokens whose label is predicted. (``metrics.tagging`` has scores of spans.)"""
        stack = self._structures(X, lengths)
        codes = decoding.best(self._problem(), self._w, stack, self.n_threads)
        assert stack.offsets is not None
        truth, known = self._codes(y, stack.offsets)
        if not len(truth):
            raise InvalidInput("there are no tokens to score.")
        return float(np.mean((codes == truth) & known))

    def span_confidence(
        self, X: Any, *, lengths: Any = None
    ) -> list[list[tuple[int, int, str, float]]]:
        """The spans that ``predict`` marks: (first token, the one behind the last, type, probability)."""
        return decoding.spans(self, X, lengths)

    def explain(
        self, X: Any, *, lengths: Any = None, top: int = 10
    ) -> list[list[decoding.Explanation]]:
        """Why each token got its label: attributes and their weights, transitions, and the runner-up."""
        return decoding.explained(self, X, lengths, top)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.dict = False, True
        tags.target_tags.required, tags.no_validation = True, True
        return tags


def _best_so_far(objective: Objective, report: Report) -> Solution:
    """What an interrupt leaves; a perceptron minimises nothing, so no pass is spent on its value."""
    assert report.w is not None
    report.stop("interrupted", "interrupted")
    if objective.problem.loss.name == "perceptron":
        return report.online(report.w.copy(), report.solver)
    return report.solution(objective, objective.at(report.w.copy()), report.solver)


def _edge_width(stack: Structures, space: Chain) -> int:
    """How many features a transition has."""
    if stack.edge_rows is None or stack.edge_rows.shape[1] == 1:
        return 1
    if space.order != 1:
        raise Unsupported(
            "templates that describe transitions ('edge:' and 'both:') go with order=1. Leave out the mark."
        )
    return int(stack.edge_rows.shape[1])


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
        How many labels back a transition sees.
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
        checks.choice("cost_per", self.cost_per, ("token", "sequence"))
        if self.cost is not None and not loss.takes_cost:
            raise Unsupported(f"loss {loss.name!r} has no cost and would ignore it. Use cost=None.")
        if self.cost_per != "token" and not loss.takes_cost:
            raise Unsupported(
                f"loss {loss.name!r} has no cost and would ignore cost_per. Use cost_per='token'."
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

    cost, cost_per = None, "token"

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
