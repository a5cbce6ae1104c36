"""Model files, as commands use them: a table of columns and a classifier behind it."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.pipeline import Pipeline

from ..data import Source
from ..errors import NoProbabilities, Unsupported
from ..estimators import LinearClassifier, MultiLabelClassifier
from ..estimators.base import Classifier
from ..persist import load
from ..persist.estimator import is_reduction
from ..records import Batch
from .reading import lacking, read_as
from .selection import take

__all__ = ["bare", "columns_of", "folded", "loaded", "rows_for", "set_model"]


def loaded(path: str) -> Pipeline:
    """The model of a file, its calibration folded in; one that reads arrays instead of tables is refused."""
    return folded(_one_label(path))


def bare(path: str) -> Pipeline:
    """The model of a file as it was before it was calibrated."""
    model = _one_label(path)
    (first, table), (last, step) = model.steps
    if isinstance(step, Classifier):
        return model
    return Pipeline([(first, table), (last, step.estimator_)])


def folded(model: Pipeline) -> Pipeline:
    """A calibrated linear model as the linear model that it is: weights that give its probabilities."""
    (first, table), (last, step) = model.steps
    if isinstance(step, Classifier):
        _check_probable(step)
        return model
    from ..calibration import Dirichlet
    from ..calibration.base import Scaling

    if isinstance(step.calibrator_, Dirichlet) or not isinstance(step.calibrator_, Scaling):
        raise Unsupported(
            f"a model calibrated by {type(step.calibrator_).__name__} is no linear model any more. Use it in "
            "Python with argmax.load, or calibrate it anew with `argmax calibrate`."
        )
    # Its probabilities are the softmax of calibrated scores, whatever loss the scores came from.
    linear = LinearClassifier()
    take(linear, step.estimator_.read_out(step.calibrator_.readout_))
    return Pipeline([(first, table), (last, linear)])


def _check_probable(classifier: Classifier) -> None:
    if not classifier._loss().probabilities:
        raise NoProbabilities(
            f"the model has loss={classifier._loss().name!r}, whose scores are no probabilities, and this "
            "command shows some. Calibrate it with `argmax calibrate MODEL DATA -o NEW_MODEL`."
        )


def set_model(path: str) -> Pipeline:
    """The model of a file that answers with sets of labels."""
    model = _pipeline(path)
    assert isinstance(model[-1], MultiLabelClassifier), "the header said so"
    return model


def _one_label(path: str) -> Pipeline:
    model = _pipeline(path)
    if isinstance(model[-1], MultiLabelClassifier):
        raise Unsupported(
            f"{path!r} answers with sets of labels, and this command is for one label a row. Such models are "
            "for predict, evaluate, explain and info."
        )
    return model


def _pipeline(path: str) -> Pipeline:
    model = load(path)
    if not isinstance(model, Pipeline):
        raise Unsupported(
            f"{path!r} holds a {type(model).__name__} that reads arrays, not the columns of a file. Use it "
            "in Python with argmax.load, or make a model for files with `argmax train`."
        )
    if is_reduction(found := getattr(model[-1], "estimator_", model[-1])):
        raise Unsupported(
            f"{path!r} holds a {type(found).__name__}, and commands take models with one set of weights for "
            "each class. Use it in Python with argmax.load."
        )
    if len(getattr(model[-1], "estimators_", [found])) > 1:
        raise Unsupported(
            f"{path!r} holds the models of several folds, and commands take models with one set of weights. "
            "Use it in Python with argmax.load, or calibrate with ensemble=False before saving."
        )
    return model


def columns_of(model: Pipeline) -> dict[str, str]:
    """The columns that a model reads, and their kinds."""
    return {name: kind for name, kind in model[0].kinds_.items() if kind not in ("id", "ignore")}


def rows_for(model: Pipeline, source: Source) -> Iterator[Batch]:
    """The rows of a file as the model reads them: numbers, and everything else letter by letter."""
    kinds = columns_of(model)
    lacking(source, list(kinds))
    return read_as(kinds, source)
