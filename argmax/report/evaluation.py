"""What a report is about, as plain fields: fill an ``Evaluation``, or let ``of`` fill it from a model."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import checks
from ..data import Column
from ..errors import WrongType
from ..estimators import CRFTagger, MultiLabelClassifier, SequenceTagger
from ..records import Floats, Solution, Strings
from .tables import described, lines

__all__ = ["Evaluation", "Model", "digest", "names_of", "of", "taken_apart", "versions"]

PACKAGES = ("argmax", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, slots=True)
class Model:
    """The part of a fitted linear classifier that a report shows.

    >>> from argmax import report, SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = report.Model.of(SoftmaxRegression().fit(X, y))
    >>> model.name, model.coef.shape, model.solution.status
    ('SoftmaxRegression', (3, 4), 'converged')
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    solution: Solution | None = None
    coef: Floats | None = None  # (k, d), or (1, d) for two classes
    feature_names: Sequence[str] | None = None  # (d,)

    @classmethod
    def of(cls, estimator: Any, feature_names: Any = None) -> Model:
        """From a fitted estimator; weights and solution are shown where it has them."""
        names = getattr(estimator, "feature_names_in_", None)
        return cls(
            type(estimator).__name__,
            estimator.get_params(deep=False),
            getattr(estimator, "solution_", None),
            getattr(estimator, "coef_", None),
            names if feature_names is None else feature_names,
        )


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Everything a report shows. Only the first three fields are needed.

    >>> from argmax import report
    >>> found = report.Evaluation(
    ...     classes=["cat", "dog"], truth=["cat", "dog"], probabilities=[[0.9, 0.1], [0.3, 0.7]]
    ... )
    >>> page = report.render(found)
    >>> page[:15], len(page) < 100_000
    ('<!doctype html>', True)
    """

    classes: Any  # (k,) labels that the model knows, in the order of its columns
    truth: Any  # (n,) labels, or Strings; those outside ``classes`` count as errors and are listed
    probabilities: Any  # (n, k)

    title: str = "Classifier"
    rows: Any = None  # (n,) numbers of the rows in their file; None: 0 … n−1
    previews: Sequence[str | None] | Strings | None = None  # (n,) what a row says
    columns: Sequence[Column] = ()  # of the table that the rows came from
    findings: Sequence[str] = ()  # what a check of the data found, in sentences
    training_counts: Any = None  # (k,) rows of each class that were learned from

    cost: Any = None  # (k, a) what each of ``actions`` costs under each class
    actions: Sequence[Any] = ()  # (a,) the classes among them

    model: Model | None = None
    features: Any = None  # (n, d), or anything that gives rows for features[positions]
    seconds: Mapping[str, float] = field(default_factory=dict)  # by stage, in order

    seed: int = 0
    date: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)  # what was read and made: SHA-256
    commands: Sequence[str] = ()  # what was typed to get here
    setup: str = ""  # Python lines that define model, X and y (and rows, where given)
    estimator: str = "model"  # the classifier in Python, given those lines

    def __post_init__(self) -> None:
        truth = self.truth.tolist() if isinstance(self.truth, Strings) else self.truth
        classes, truth = checks.comparable_labels(classes=self.classes, truth=truth)
        table = checks.probabilities(self.probabilities, len(truth), len(classes))
        rows = np.arange(len(truth)) if self.rows is None else np.asarray(self.rows)
        checks.same_length(truth=truth, rows=rows, previews=self.previews)
        checks.same_length(classes=classes, training_counts=self.training_counts)
        for name, value in (
            ("classes", classes), ("truth", truth), ("probabilities", table), ("rows", rows),
        ):  # fmt: skip
            object.__setattr__(self, name, value)


def of(model: Any, X: Any, y: Any, **facts: Any) -> Any:
    """The evaluation of a fitted classifier, or of a pipeline that ends in one, on rows X with labels y.

    ``facts`` are further fields of ``Evaluation``, such as ``title`` or ``previews``. Of a tagger, on
    sequences X with labels y, it is a ``Tagging``; of a classifier of label sets a ``LabelSets``.

    >>> from argmax import report, SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = report.of(SoftmaxRegression().fit(X[::2], y[::2]), X[1::2], y[1::2], title="Iris")
    >>> found.model.name, len(found.truth)
    ('SoftmaxRegression', 75)
    """
    checks.sparse_structure(X)
    if isinstance(model, SequenceTagger | CRFTagger):
        from .tagging.evaluation import of_tagger

        return of_tagger(model, X, y, **facts)
    steps, estimator, expression = taken_apart(model)
    if isinstance(estimator, MultiLabelClassifier) and estimator.multilabel_:
        from .label_sets.evaluation import of_sets

        return of_sets(model, X, y, **facts)
    if not callable(getattr(estimator, "predict_proba", None)):
        raise WrongType(
            f"a report needs probabilities, but {type(estimator).__name__} has no predict_proba. "
            "Use a loss with probabilities, such as 'log'."
        )
    features = X if steps is None else steps.transform(X)
    shown = Model.of(estimator, None if steps is None else names_of(steps))
    known: dict[str, Any] = {
        "classes": estimator.classes_,
        "truth": y,
        "probabilities": estimator.predict_proba(features),
        "title": shown.name,
        "previews": lines(X),
        "columns": described(X),
        "model": shown,
        "features": features if sp.issparse(features) else np.asarray(features),
        "seconds": {} if shown.solution is None else {"fit": shown.solution.seconds},
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": versions(),
        "digests": {"rows and labels": digest(features, y), "weights": digest(shown.coef)},
        "estimator": expression,
    }
    return Evaluation(**(known | facts))


def taken_apart(model: Any) -> tuple[Any, Any, str]:
    """Steps before the classifier (None: none), the classifier, and how to write it in Python."""
    from sklearn.pipeline import Pipeline

    if not isinstance(model, Pipeline):
        return None, model, "model"
    return (model[:-1] if len(model) > 1 else None), model[-1], "model[-1]"


def names_of(steps: Any) -> Any:
    """The names of the features that the steps make; None where a step does not tell."""
    try:
        return steps.get_feature_names_out()
    except (AttributeError, ValueError):
        return None


def versions() -> dict[str, str]:
    """What this process runs on, for the end of a report."""
    found = {
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # run from a checkout, without installing
            if name == "argmax":
                from .. import __version__

                found[name] = __version__
    return found


def digest(*arrays: Any) -> str:
    """SHA-256 of arrays: their types, shapes and bytes. Sparse matrices count as their three parts.

    >>> from argmax.report.evaluation import digest
    >>> digest(["a", "b"])[:16], digest(["a", "c"]) == digest(["a", "b"])
    ('59b271ae1bbcb1d3', False)
    """
    total = hashlib.sha256()
    for array in arrays:
        parts = [array.indptr, array.indices, array.data] if sp.issparse(array) else [array]
        for part in map(np.asarray, parts):
            if part.dtype.kind in "OUT":
                total.update(
                    "\0".join(map(str, part.ravel().tolist())).encode("utf-8", "surrogatepass")
                )
            else:
                total.update(f"{part.dtype.str}{part.shape}".encode())
                total.update(np.ascontiguousarray(part).data)
    return total.hexdigest()
