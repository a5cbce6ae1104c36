"""From sequences and labels to weights: the fit of all sequence models."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from .. import checks, costs, engines, losses, passes
from ..errors import InvalidInput, NumericalFailure, Unsupported
from ..features import for_sequences
from ..kernels import compiled
from ..layouts import Pairs
from ..memory import give_back
from ..objective import Objective
from ..records import Csr, Floats, Ints, Scores, Solution, Structures, Truth
from ..solvers import Report
from ..spaces import Chain
from . import resuming
from .learner import ADVICE, Settings
from .online import Online
from .sequence_model import SequenceModel
from .sequences import (
    Labels,
    as_sparse,
    check_offsets,
    same_saved,
    sequence_weights,
    token_weights,
)
from .stopping import Sequences, Watch, every_of, parted

__all__ = ["Tagger"]

WORKED = 60.0
"""Bytes that a fit takes for each weight at least, and does not need any more."""


class Tagger(SequenceModel):
    """argmax over label sequences of Σ_t ⟨w, ψ(x, t, y_t)⟩ + e(y_{t−1}, y_t), with any loss."""

    pairs: str
    cost: Any
    cost_per: str
    class_weight: Any
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int

    _online: Online | None

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        lengths: Any = None,
        sample_weight: Any = None,
        token_weight: Any = None,
    ) -> Self:
        """Learn from sequences X and their labels y.

        X: a list of sequences of tokens; a token is a string, a tuple of strings, a dict or list of
        features; or ``features.Tokens``, or rows of numbers with ``lengths``. y: a list of lists of labels,
        or one label a token. A set of labels in the place of one says that any of them may be right, None
        that nothing is known. ``sample_weight``: one a sequence. ``token_weight``: one a token, as y has
        labels; a mistake there costs so many times as much, where the loss has costs.
        """
        return self._learn(X, y, lengths, sample_weight, token_weight)

    def path(
        self, X: Any, y: Any, Cs: Any, *, lengths: Any = None, sample_weight: Any = None
    ) -> list[Self]:
        """One fitted copy for each C, each started where the last one ended, in the order given.

        >>> from argmax import SequenceTagger
        >>> X, y = [["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]]
        >>> [len(model.classes_) for model in SequenceTagger().path(X, y, [0.1, 1.0])]
        [2, 2]
        """
        return self._path(Cs, X, y, lengths, sample_weight, None)

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
        scale = self._cost_scale(settings.loss, offsets, None)
        truth = Truth(codes, weight, self._cost(settings.loss, codes), None, scale)
        layout, w = self._online.learn(rows, offsets, truth)
        self._set_weights(layout, w)
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1

    def _cost(self, loss: losses.Loss, codes: Ints) -> Floats | None:
        """Costs of wrong labels, where the loss has some: those of a class times its weight."""
        K = len(self.classes_)
        if not loss.takes_cost:
            return None
        table = costs.zero_one(K) if self.cost is None else costs.matrix(self.cost, K)
        totals = np.bincount(codes, minlength=K).astype(float)
        factors = checks.class_factors(self.class_weight, self.classes_, totals)
        return np.asarray(factors[:, None] * table)

    def _cost_scale(
        self, loss: losses.Loss, offsets: Ints, token_weight: Floats | None
    ) -> Floats | None:
        """What the costs of each token are multiplied by."""
        if token_weight is not None and not loss.takes_cost:
            raise Unsupported(
                f"loss {loss.name!r} has no cost and would ignore token_weight. Use loss='softmax_margin' or "
                "'hinge', or weights of whole sequences: sample_weight."
            )
        if self.cost_per == "token":
            return token_weight
        lengths = np.diff(offsets)
        share = np.repeat(1.0 / np.maximum(lengths, 1), lengths)
        return share if token_weight is None else share * token_weight

    def _fit(self, X: Any, y: Any, lengths: Any, sample_weight: Any, token_weight: Any) -> None:
        self._online = None
        settings = self._settings()
        X = list(X) if isinstance(X, Iterator) else X  # which is looked at more than once
        extractor = for_sequences(X) if self.features is None else clone(self.features)
        structures = extractor.fit_transform(X, lengths=lengths)
        offsets = check_offsets(structures)
        stack = Structures(as_sparse(structures.rows), offsets, edge_rows=structures.edge_rows)
        weight = sequence_weights(sample_weight, len(offsets) - 1)
        tokens = token_weights(token_weight, offsets)
        given = [Sequences(stack, Labels.of(y, offsets), weight, tokens).with_weight()]
        classes = given[0].labels.classes
        del structures, stack  # whoever takes it out of the list has the only one
        if len(classes) < 2:
            got = f"one: {classes.tolist()[0]!r}" if len(classes) else "none"
            raise InvalidInput(f"y must have at least two different labels; got {got}.")
        if self.warm_start and hasattr(self, "coef_"):
            self._check_same(extractor, classes)
        self.features_, self.classes_ = extractor, classes
        self._solve(given, settings)

    def _solve(self, taken: list[Sequences], settings: Settings) -> None:
        given, held = taken.pop(), None
        if self.early_stopping:
            share = checks.number("validation_fraction", self.validation_fraction, 0.0, 1.0)
            if len(given.stack) < 2 or given.labels.allowed is not None:
                raise InvalidInput(
                    "early_stopping holds sequences out: it needs at least two, with one label a token."
                )
            given, held = parted(given, share, self._seed())
        with settings.engine.open():
            objective = self._objective(given, settings)
            del given
            layout = objective.problem.pairs
            listeners, watch = list(self.callbacks or ()), None
            if held is not None:
                patience = checks.positive_integer("n_iter_no_change", self.n_iter_no_change)
                every = every_of(settings.solver)
                watch = Watch(objective.problem, held, patience, every)
                listeners.append(watch)
            report = self._report(listeners)
            start, state = self._start(layout)
            state = resuming.found(self.callbacks or (), objective, settings.solver) or state
            if isinstance(settings.engine, engines.Threads):
                _settle(objective, settings.engine.run)
            try:
                solve = partial(settings.solver.minimise, objective, start, report, state)
                solution = report.run(solve, objective, start)
                del solve
            except KeyboardInterrupt:
                if report.w is not None:
                    solution = _best_so_far(objective, report)
                    self._accept(layout, solution)
                raise
        if watch is not None:
            solution = watch.applied(solution)
            self.validation_scores_ = watch.scores
        del objective  # the largest things there are, and of no more use
        give_back(WORKED * layout.size)
        self._accept(layout, solution)

    def _objective(self, given: Sequences, settings: Settings) -> Objective:
        stack, labels, weight = given.stack, given.labels, given.weight
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
        scale = self._cost_scale(loss, offsets, given.token_weight)
        cost = self._cost(loss, labels.codes)
        codes = labels.codes.astype(layout.codes.dtype)
        truth = Truth(codes, weight, cost, labels.allowed, scale)
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
            return np.zeros(layout.size, layout.vectors), None
        if self.transitions_.shape != (layout.states, layout.labels):
            raise InvalidInput(
                "warm_start: order differs from the previous fit. Use warm_start=False, or clone the "
                "estimator."
            )
        return layout.folded(self.coef_.T, self.start_, self.edge_coef_), True

    def _accept(self, layout: Pairs, solution: Solution) -> None:
        if not np.isfinite(solution.w).all():
            raise NumericalFailure(
                f"the fit left the finite numbers (overflow). {ADVICE['stalled']}"
            )
        final, w = layout.unfolded(solution.w)
        self._set_weights(final, w)
        self.solution_ = replace(solution, w=w, state=None)
        self.n_iter_ = max(solution.passes, 1)


def _settle(objective: Objective, run: Any) -> None:
    """Rows that this process holds are needed no more, once it is known what each token has."""
    from ..passes import sequences  # which imports kernels

    for shard in objective.shards:
        sequences.settle(shard, objective.problem, run)


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
