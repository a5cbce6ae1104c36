"""What a report on sets of labels is about, as plain fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ... import checks
from ...data import Column
from ...records import Ints, Strings
from ..evaluation import Model, digest, versions
from ..tables import described, lines

__all__ = ["LabelSets", "model_facts", "of_sets"]


@dataclass(frozen=True, kw_only=True)
class LabelSets:
    """Everything that a report on sets of labels shows. Only the first four fields are needed.

    >>> from argmax import report
    >>> found = report.LabelSets(
    ...     classes=["bus", "car"],
    ...     truth=[[1, 1], [0, 1]],
    ...     answer=[[1, 1], [0, 0]],
    ...     log_likelihood=[-0.3, -1.2],
    ... )
    >>> "Subset accuracy" in report.render(found)
    True
    """

    classes: Any  # (k,) labels that the model knows
    truth: Any  # (n, k) zeros and ones; more columns than classes are labels that the model does not know
    answer: Any  # (n, k)
    log_likelihood: Any  # (n,) of the labels that the model knows

    title: str = "Sets of labels"
    unseen: Sequence[str] = ()  # names of the columns of truth beyond the classes
    rows: Any = None  # (n,) numbers of the rows in their file; None: 0 … n−1
    previews: Sequence[str | None] | Strings | None = None  # (n,) what a row says
    columns: Sequence[Column] = ()
    findings: Sequence[str] = ()
    learned: Any = None  # (m, k) zeros and ones of the rows learned from: what the baseline knows

    pairs: Any = None  # (E, 2) labels that are joined
    pair_weights: Any = None  # (E,)
    model: Model | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    date: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[str] = ()
    setup: str = ""  # Python lines that define model, X and y
    estimator: str = "model"

    def __post_init__(self) -> None:
        truth, answer = (checks.label_matrix(y, len(y)) for y in (self.truth, self.answer))
        labels = [*np.asarray(self.classes).tolist(), *self.unseen]
        answer = np.pad(answer, ((0, 0), (0, truth.shape[1] - answer.shape[1])))
        rows = np.arange(len(truth)) if self.rows is None else np.asarray(self.rows)
        surprise = np.asarray(self.log_likelihood, float)
        checks.same_length(labels=labels, truth=truth.T)
        checks.same_length(truth=truth, answer=answer, log_likelihood=surprise, rows=rows)
        for name, value in (
            ("truth", truth), ("answer", answer), ("rows", rows), ("log_likelihood", surprise),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def labels(self) -> list[Any]:
        """The names of all columns of the truth."""
        return [*np.asarray(self.classes).tolist(), *self.unseen]

    @property
    def known(self) -> Ints:
        """The columns of the truth that the model knows."""
        return np.asarray(self.truth[:, : len(np.asarray(self.classes))])


def of_sets(model: Any, X: Any, y: Any, **facts: Any) -> LabelSets:
    """The evaluation of a fitted classifier of sets, or of a pipeline that ends in one, on rows X.

    ``y`` (n, k) are zeros and ones; ``facts`` are further fields.

    >>> from argmax import MultiLabelClassifier, report
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, y = make_multilabel_classification(random_state=0)
    >>> found = report.of(MultiLabelClassifier().fit(X[:80], y[:80]), X[80:], y[80:])
    >>> found.title, found.truth.shape
    ('MultiLabelClassifier', (20, 5))
    """
    from ..evaluation import names_of, taken_apart

    steps, estimator, expression = taken_apart(model)
    features = X if steps is None else steps.transform(X)
    known: dict[str, Any] = {
        "truth": y,
        "answer": estimator.predict(features),
        "log_likelihood": estimator.log_likelihood(features, y),
        "previews": lines(X),
        "columns": described(X),
        "estimator": expression,
        **model_facts(estimator, None if steps is None else names_of(steps)),
    }
    return LabelSets(**(known | facts))


def model_facts(estimator: Any, names: Any = None) -> dict[str, Any]:
    """What a report shows of a fitted classifier of sets, whatever it is judged by."""
    shown = Model.of(estimator, names)
    return {
        "classes": estimator.classes_,
        "title": shown.name,
        "pairs": estimator.pairs_,
        "pair_weights": estimator.pair_weights_,
        "model": shown,
        "seconds": {} if shown.solution is None else {"fit": shown.solution.seconds},
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": versions(),
        "digests": {"weights": digest(shown.coef, estimator.pair_weights_)},
    }
