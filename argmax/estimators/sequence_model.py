"""What a model of label sequences answers, from its weights: labels, probabilities, draws, reasons."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.utils.validation import check_is_fitted

from .. import checks, passes
from ..errors import InvalidInput, NoProbabilities, Unsupported
from ..layouts import Pairs
from ..records import Floats, Ints, Scores, Structures
from ..spaces import Chain, constraints
from . import decoding
from .learner import Learner
from .sequences import Labels, as_lists, as_sparse, check_offsets

__all__ = ["SequenceModel"]

Span = tuple[int, int, str, float]
"""First token, the one behind the last, type, and a probability or a score."""

LEAST = 1e-30
"""The smallest share that is told apart from none."""


def _log_odds(p: float) -> float:
    return float(logit(np.clip(p, LEAST, 1.0 - 2.0**-53)))


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
        codes, offsets = decoding.tagged(self, X, lengths)
        return as_lists(self.classes_, codes, offsets)

    def _probable(self, asked: str, answer: Callable[..., Any]) -> Callable[..., Any]:
        """The answer to a question about P(y | x), where the loss estimates it."""
        loss = self._loss()
        if not loss.probabilities:
            raise NoProbabilities(
                f"{asked}: the scores of loss {loss.name!r} are no probabilities. Wrap the tagger in "
                "calibration.CalibratedTagger, or use loss='log'."
            )
        return answer

    def decision_function(self, X: Any, *, lengths: Any = None) -> list[Floats]:
        """Scores of the labels of each token: an array (tokens, labels) for each sequence.

        log Σ exp(score(y)) of the label sequences y that have the label there, less that of all. With "log"
        this is log P(label | sequence); with a loss that estimates no probabilities it ranks labels, and is
        what ``calibration.CalibratedTagger`` makes probabilities of. No score is below log 1e-30.
        """
        return [np.log(np.maximum(p, LEAST)) for p in self._shares(X, lengths=lengths)]

    @property
    def predict_marginals(self) -> Callable[..., list[Floats]]:
        """P(label | sequence) of the tokens of ``(X, *, lengths)``: an array (tokens, labels) a sequence."""
        return self._probable("predict_marginals", self._shares)

    def _shares(self, X: Any, *, lengths: Any = None) -> list[Floats]:
        space, scores = self._scores(X, lengths)
        p = space.marginals(scores)[1].node
        assert scores.offsets is not None
        return [p[a:b] for a, b in pairwise(scores.offsets.tolist())]

    def predict_top_k(
        self, X: Any, k: int, *, lengths: Any = None
    ) -> list[list[tuple[list[Any], float]]]:
        """The k most probable label sequences of each sequence, with their probabilities.

        With a loss that estimates no probabilities these are the k best, and the numbers are nan.
        """
        space, scores = self._scores(X, lengths)
        labels, values = space.top_k(scores, k)
        probability = np.exp(values - space.logz(scores).value)
        if not self._loss().probabilities:
            probability[:] = np.nan
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

    @property
    def predict_minimum_risk(self) -> Callable[..., list[list[Any]]]:
        """Of ``(X, *, lengths)`` the labels with the fewest expected errors, one by one."""
        return self._probable("predict_minimum_risk", self._minimum_risk)

    def _minimum_risk(self, X: Any, *, lengths: Any = None) -> list[list[Any]]:
        space, scores = self._scores(X, lengths)
        assert scores.offsets is not None
        return as_lists(self.classes_, space.posterior(scores).labels, scores.offsets)

    @property
    def sample(self) -> Callable[..., list[list[list[Any]]]]:
        """Of ``(X, n=1, *, lengths, random_state)`` n label sequences for each one, drawn from P(y | x)."""
        return self._probable("sample", self._sample)

    def _sample(
        self, X: Any, n: int = 1, *, lengths: Any = None, random_state: Any = None
    ) -> list[list[list[Any]]]:
        space, scores = self._scores(X, lengths)
        rng = np.random.default_rng(random_state)
        draws = space.sample(scores, checks.positive_integer("n", n), rng)
        assert scores.offsets is not None
        by_draw = [as_lists(self.classes_, row, scores.offsets) for row in draws]
        return [[labels[i] for labels in by_draw] for i in range(len(scores.offsets) - 1)]

    @property
    def log_likelihood(self) -> Callable[..., Floats]:
        """Of ``(X, y, *, lengths)`` log P(y | x); −inf where a label was never seen or is not allowed."""
        return self._probable("log_likelihood", self._log_likelihood)

    def _log_likelihood(self, X: Any, y: Any, *, lengths: Any = None) -> Floats:
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
        codes, offsets = decoding.tagged(self, X, lengths)
        truth, known = self._codes(y, offsets)
        if not len(truth):
            raise InvalidInput("there are no tokens to score.")
        return float(np.mean((codes == truth) & known))

    @property
    def span_confidence(self) -> Callable[..., list[list[Span]]]:
        """Spans that ``predict`` marks in ``(X, *, lengths)``: first token, the one behind, type, P."""
        return self._probable("span_confidence", self._spans)

    def _spans(self, X: Any, *, lengths: Any = None) -> list[list[Span]]:
        return decoding.spans(self, X, lengths)

    def span_scores(self, X: Any, *, lengths: Any = None) -> list[list[Span]]:
        """The same spans with scores, log p − log(1 − p) of the share p that a span has as labels have theirs
        in ``decision_function``: of any loss, to be calibrated."""
        found = decoding.spans(self, X, lengths)
        return [[(*span[:3], float(_log_odds(span[3]))) for span in spans] for spans in found]

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
