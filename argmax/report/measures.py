"""Every number of the page, computed once from an Evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .. import calibration, checks, decisions, metrics
from ..features.parallel import in_order
from ..metrics import Interval
from ..records import Ints
from .evaluation import Evaluation, Model

__all__ = ["BINS", "CLASS_BINS", "Driver", "Measures", "Score", "Surprise", "feature_name"]

BINS = 15
CLASS_BINS = 10
FEWEST = 30  # rows that tell something about probabilities
SURPRISES = 10
DRIVERS = 6
AT_ONCE = 4
"""Scores resampled side by side; each needs some tens of megabytes while it is."""


class Score(NamedTuple):
    """One line of the table of scores."""

    name: str
    means: str
    metric: str  # its name in argmax.metrics
    options: Mapping[str, Any]
    of_table: bool  # computed from probabilities and classes, not from answers
    found: Interval
    baseline: float

    @property
    def is_share(self) -> bool:
        """Shown in percent; larger is better."""
        return self.metric not in ("log_loss", "brier")


class Driver(NamedTuple):
    """How far a feature of a row moved the score of one class above that of another."""

    feature: str
    value: float


class Surprise(NamedTuple):
    """A confident mistake, and what drove it."""

    position: int
    confidence: float  # in the answer
    own: float  # probability of the truth
    rival: Any  # what the answer is compared with: the truth, or if unseen the runner-up
    toward: list[Driver]  # the answer
    against: list[Driver]


@dataclass(frozen=True)
class Measures:
    """The numbers of an evaluation, computed when they are asked for and then kept."""

    evaluation: Evaluation

    # Answers

    @cached_property
    def best(self) -> Ints:
        """The column of the most probable class of each row."""
        return np.asarray(self.evaluation.probabilities.argmax(axis=1))

    @cached_property
    def answer(self) -> Any:
        return self.evaluation.classes[self.best]

    @cached_property
    def coded(self) -> tuple[Any, Ints]:
        """The classes and then unseen labels, and the truth as positions among them.

        Labels may be long strings in millions of rows: they are compared here, and numbers in every score.
        """
        labels, (truth,) = metrics.scores.codes(
            self.evaluation.truth, classes=self.evaluation.classes
        )
        return labels, truth

    @cached_property
    def column(self) -> Ints:
        """The column of the truth of each row; −1 where no class is."""
        _, truth = self.coded
        return np.where(truth < len(self.evaluation.classes), truth, -1)

    @cached_property
    def unseen(self) -> dict[Any, int]:
        labels, truth = self.coded
        counts = np.bincount(truth, minlength=len(labels))
        new = slice(len(self.evaluation.classes), None)
        return dict(zip(labels[new].tolist(), counts[new].tolist(), strict=True))

    @cached_property
    def known(self) -> Interval | None:
        """Accuracy on rows whose label the model knows; None if it knows all of them, or none."""
        known = self.column >= 0
        if known.all() or not known.any():
            return None
        return metrics.interval(metrics.accuracy, self.column[known], self.best[known])

    # Tables

    @cached_property
    def confusion(self) -> metrics.Confusion:
        labels, truth = self.coded
        found = metrics.confusion(truth, self.best, np.arange(len(labels)))
        return replace(found, labels=labels)

    @cached_property
    def per_class(self) -> list[metrics.ClassScores]:
        labels, truth = self.coded
        found = metrics.per_class(truth, self.best, np.arange(len(labels)))
        return [
            replace(one, label=label) for one, label in zip(found, labels.tolist(), strict=True)
        ]

    @cached_property
    def reliability(self) -> calibration.Reliability:
        p = self.evaluation.probabilities
        return calibration.reliability(self.column, p, np.arange(p.shape[1]), BINS)

    @cached_property
    def calibration_error(self) -> calibration.CalibrationError | None:
        """The error of the answers' confidence without its bias; None of fewer rows than can tell."""
        p = self.evaluation.probabilities
        if len(p) < FEWEST:
            return None
        return calibration.calibration_error(self.column, p, np.arange(p.shape[1]), BINS)

    @cached_property
    def decomposition(self) -> calibration.Decomposition | None:
        """The log loss of the rows whose label is known, taken apart; None of fewer than can tell."""
        e, known = self.evaluation, self.column >= 0
        if known.sum() < FEWEST or len(e.classes) < 2:
            return None
        given = self.column[known], e.probabilities[known], np.arange(len(e.classes))
        return calibration.decomposition(*given, method="temperature", seed=e.seed)

    @cached_property
    def costs(self) -> tuple[Interval, Interval, Interval] | None:
        """The mean cost of the most probable class, that of the best action, and what the second saves."""
        e, known = self.evaluation, self.column >= 0
        if e.cost is None or not known.any():
            return None
        p, classes = e.probabilities[known], e.classes.tolist()
        best = decisions.decide(p, e.cost, classes, actions=e.actions)
        place = np.array([list(e.actions).index(label) for label in classes])
        plain = replace(best, place=place[p.argmax(axis=1)])
        given = e.cost, classes
        spent = [
            decisions.realised_cost(e.truth[known], one, *given, seed=e.seed)
            for one in (plain, best)
        ]
        saved = decisions.saving(e.truth[known], best, plain, *given, seed=e.seed)
        return spent[0], spent[1], saved

    @cached_property
    def reliability_by_class(self) -> dict[Any, calibration.Reliability]:
        p = self.evaluation.probabilities
        # Of many classes each is improbable in most rows: bins of equally many rows would all lie near 0.
        found = calibration.by_class(
            self.column, p, np.arange(p.shape[1]), CLASS_BINS, strategy="width"
        )
        return dict(zip(self.evaluation.classes.tolist(), found.values(), strict=True))

    # The baseline: a model that knows only how frequent the classes are

    @cached_property
    def counts(self) -> Ints:
        """Rows of each class among those learned from; if unknown, among those evaluated."""
        e = self.evaluation
        if e.training_counts is not None:
            return np.asarray(e.training_counts)
        counts = np.bincount(self.column[self.column >= 0], minlength=len(e.classes))
        return counts if counts.any() else np.ones_like(counts)

    @cached_property
    def majority(self) -> Any:
        return self.evaluation.classes.tolist()[int(self.counts.argmax())]

    @cached_property
    def answers(self) -> tuple[Ints, Ints, Ints]:
        """Truth, answer and the baseline's answer as numbers in the order of the labels.

        In that order the bootstrap draws the same sets as from the labels themselves, as a reader would.
        """
        labels, truth = self.coded
        rank = np.argsort(np.argsort(labels))
        always = np.full(len(truth), rank[int(self.counts.argmax())])
        return rank[truth], rank[self.best], always

    @cached_property
    def gain(self) -> Interval:
        """Accuracy above that of always answering the most frequent class."""
        return metrics.difference(metrics.accuracy, *self.answers, seed=self.evaluation.seed)

    # Scores

    @cached_property
    def scores(self) -> list[Score]:
        k = len(self.evaluation.classes)
        top = 3 if k < 20 else 5
        listed: list[tuple[str, str, Callable[..., float], dict[str, Any]]] = [
            ("Accuracy", "answers that are right", metrics.accuracy, {}),
            (f"Top-{top} accuracy", f"rows whose truth is among the {top} most probable",
             metrics.top_k_accuracy, {"k": top}),
            ("F1, mean over classes", "precision and recall in one, each class alike", metrics.f1, {}),
            ("F1, weighted", "each class as often as it occurs", metrics.f1, {"average": "weighted"}),
            ("Precision, mean over classes", "of the rows answered as a class, those of it",
             metrics.precision, {}),
            ("Recall, mean over classes", "of the rows of a class, those answered as it",
             metrics.recall, {}),
            ("Log-loss", "surprise at the truth in nats; less is better", metrics.log_loss, {}),
            ("Brier score", "squared error of the probabilities; less is better", metrics.brier, {}),
        ]  # fmt: skip
        lines = [line for line in listed if k > 4 or line[2] is not metrics.top_k_accuracy]
        threads = min(checks.cores(), AT_ONCE)
        return list(in_order(lambda line: self._score(*line), lines, threads))

    def _score(
        self, name: str, means: str, metric: Callable[..., float], options: dict[str, Any]
    ) -> Score:
        e, (truth, answer, always) = self.evaluation, self.answers
        of_table = metric in (metrics.log_loss, metrics.brier, metrics.top_k_accuracy)
        given: tuple[Any, ...] = (answer,)
        naive: tuple[Any, ...] = (always,)
        if of_table:
            truth, columns = self.column, np.arange(len(e.classes))
            given = (e.probabilities, columns)
            naive = (np.tile(self.counts / self.counts.sum(), (len(truth), 1)), columns)
        found = metrics.interval(metric, truth, *given, seed=e.seed, **options)
        baseline = metric(truth, *naive, **options)
        return Score(name, means, metric.__name__, options, of_table, found, baseline)

    # Mistakes

    @cached_property
    def surprising(self) -> Ints:
        """Positions of the wrong answers given with the most confidence."""
        sure = self.evaluation.probabilities.max(axis=1)
        wrong = np.flatnonzero(self.best != self.column)
        return np.asarray(wrong[np.argsort(-sure[wrong], kind="stable")][:SURPRISES])

    @cached_property
    def surprises(self) -> list[Surprise]:
        e, at = self.evaluation, self.surprising
        if e.features is None or e.model is None or e.model.coef is None or not len(at):
            return [self._surprise(position) for position in at.tolist()]
        rows = e.features[at]  # all at once: they may have to be fetched
        return [self._surprise(p, rows[i : i + 1]) for i, p in enumerate(at.tolist())]

    def _surprise(self, position: int, row: Any = None) -> Surprise:
        e = self.evaluation
        p, best, own = e.probabilities[position], self.best[position], self.column[position]
        rival = own if own >= 0 else np.argsort(-p, kind="stable")[1]
        toward, against = ([], []) if row is None else _drivers(e.model, row, best, rival)
        sure, true = float(p[best]), float(p[own]) if own >= 0 else 0.0
        return Surprise(position, sure, true, e.classes[rival], toward, against)


def _drivers(model: Any, row: Any, one: int, other: int) -> tuple[list[Driver], list[Driver]]:
    """The features that moved the score difference most, by (w_one − w_other)_j x_j, both ways."""
    if len(model.coef) == 1:  # two classes: the one row is that of the second against the first
        weights = model.coef[0] if one == 1 else -model.coef[0]
    else:
        weights = model.coef[one] - model.coef[other]
    row = sp.csr_array(row)
    pushed = weights[row.indices] * row.data
    order = np.argsort(-pushed, kind="stable")

    def named(positions: Ints) -> list[Driver]:
        names = [feature_name(model, int(row.indices[i])) for i in positions]
        return [Driver(name, float(v)) for name, v in zip(names, pushed[positions], strict=True)]

    toward, against = order[:DRIVERS], order[::-1][:DRIVERS]
    return named(toward[pushed[toward] > 0]), named(against[pushed[against] < 0])


def feature_name(model: Model, column: int) -> str:
    """The name of a feature; x17 where there are no names."""
    return f"x{column}" if model.feature_names is None else str(model.feature_names[column])
