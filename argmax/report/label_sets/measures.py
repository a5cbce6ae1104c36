"""Every number of the page about sets of labels, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ... import metrics
from ...metrics import Interval, SetScores
from ...records import Floats, Ints
from .evaluation import LabelSets

__all__ = ["Measures", "Score"]

LINES = (
    ("Subset accuracy", "rows whose whole set is right", "subset_accuracy"),
    ("Hamming loss", "labels that are wrong, of all; less is better", "hamming_loss"),
    ("F1, all labels together", "precision and recall in one", "micro_f1"),
    ("F1, mean over labels", "each label alike", "macro_f1"),
    ("F1, mean over rows", "each row alike", "row_f1"),
    ("Log-likelihood", "of the whole set of a row, in nats; more is better", "log_likelihood"),
)


class Score(NamedTuple):
    """One line of the table of scores."""

    name: str
    means: str
    attribute: str  # of ``metrics.SetScores``
    found: Interval
    baseline: float

    @property
    def is_share(self) -> bool:
        """Shown in percent."""
        return self.attribute != "log_likelihood"


@dataclass(frozen=True)
class Measures:
    """The numbers of a ``LabelSets``, computed when they are asked for and then kept."""

    evaluation: LabelSets

    @cached_property
    def found(self) -> SetScores:
        """All scores, and those of each label."""
        return self._scored(self.evaluation.answer, self.evaluation.log_likelihood, 1000)

    def _scored(self, answer: Ints, surprise: Floats, n: int) -> SetScores:
        e = self.evaluation
        return metrics.label_sets(
            e.truth, answer, labels=e.labels, log_likelihood=surprise, n=n, seed=e.seed
        )

    # The baseline: a model that knows only how frequent labels and sets are

    @cached_property
    def majority(self) -> Ints:
        """(k,) the most frequent set, among the rows learned from or else those evaluated."""
        sets, counts = np.unique(self._seen, axis=0, return_counts=True)
        return np.asarray(sets[int(counts.argmax())])

    @property
    def _seen(self) -> Ints:
        e = self.evaluation
        return e.known if e.learned is None else np.asarray(e.learned)

    @cached_property
    def baseline(self) -> SetScores:
        """The scores of always answering that set; its likelihoods are those of the labels one by one."""
        e, seen = self.evaluation, self._seen
        always = np.zeros_like(e.answer)
        always[:, : seen.shape[1]] = self.majority
        p = (seen.sum(axis=0) + 0.5) / (len(seen) + 1.0)
        return self._scored(always, e.known @ np.log(p) + (1 - e.known) @ np.log1p(-p), 1)

    @cached_property
    def scores(self) -> list[Score]:
        return [
            Score(name, means, key, getattr(self.found, key), getattr(self.baseline, key).value)
            for name, means, key in LINES
        ]

    @cached_property
    def gain(self) -> Interval:
        """Subset accuracy above that of the baseline, on the same rows."""
        e = self.evaluation
        right = (e.answer == e.truth).all(axis=1).astype(int)
        always = np.zeros_like(e.answer)
        always[:, : len(self.majority)] = self.majority
        naive = (always == e.truth).all(axis=1).astype(int)
        ones = np.ones(len(right), int)
        return metrics.difference(metrics.accuracy, ones, right, naive, seed=e.seed)

    # Labels and rows

    @cached_property
    def unseen(self) -> dict[Any, int]:
        """Labels that the model does not know, and their rows."""
        e = self.evaluation
        rows = e.truth[:, len(np.asarray(e.classes)) :].sum(axis=0).tolist()
        return {name: n for name, n in zip(e.unseen, rows, strict=True) if n}

    @cached_property
    def strongest(self) -> list[tuple[Any, Any, float]]:
        """Pairs of labels and their weights, the largest first."""
        e = self.evaluation
        if e.pairs is None or e.pair_weights is None:
            return []
        names, weights = np.asarray(e.classes).tolist(), np.asarray(e.pair_weights)
        order = np.argsort(-np.abs(weights), kind="stable").tolist()
        return [(*(names[j] for j in e.pairs[i]), float(weights[i])) for i in order]

    @cached_property
    def surprising(self) -> Ints:
        """Positions of the rows that are answered wrong, those of the least expected sets first."""
        e = self.evaluation
        wrong = np.flatnonzero((e.answer != e.truth).any(axis=1))
        return np.asarray(wrong[np.argsort(e.log_likelihood[wrong], kind="stable")])
