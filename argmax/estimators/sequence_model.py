"""What a model of label sequences answers, from its weights: labels, probabilities, draws, reasons."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import checks, passes
from ..errors import InvalidInput, Unsupported
from ..layouts import Pairs
from ..records import Floats, Ints, Scores, Structures
from ..spaces import Chain, constraints
from . import decoding
from .learner import Learner
from .sequences import Labels, as_lists, as_sparse, check_offsets

__all__ = ["SequenceModel"]


class SequenceModel(Learner):
    """Weights of attribute–label pairs and transitions, and the questions that they answer."""

    features: Any
    constraints: Any
    order: int
    start: bool

    classes_: Any
    features_: Any
    _layout: Pairs
    _w: Floats

    def _set_weights(self, layout: Pairs, w: Floats) -> None:
        parts = layout.named(w)
        self.coef_, self.start_ = parts["coef"], parts["start"]
        self.transitions_, self.edge_coef_ = parts["transitions"], parts["edges"]
        self._layout, self._w = layout, w

    def _space(self, classes: Any) -> Chain:
        order, rules = checks.choice("order", self.order, (1, 2)), None
        if self.constraints is not None:
            rules = constraints.get(self.constraints, classes.tolist())
        return Chain(len(classes), order, constraints=rules)

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
