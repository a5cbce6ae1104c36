"""Models in files: ``save``, ``load``, ``describe``.

A model is an estimator of this library, or ``Pipeline([(…, features.Table), (…, classifier)])``. What the
file holds of a classifier is written in ``classifier.py``, of a reduction in ``reduction.py``, of their
calibration in ``calibrated.py``, of the others in ``label_sets.py``, ``labeler.py`` and ``tagger.py``, of a
table in ``features/saved.py``; here they meet:

    content   estimator, pipeline (None, or the names of its steps), and calibration if it is calibrated
    tensors   those of the estimator, and as table.… those of the table and its options as JSON
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidInput, ModelFileError, Unsupported
from ..features import Table
from . import container, strict
from .checked import Room, same_keys, take
from .classifier import CLASSIFIERS
from .container import File, Tensors
from .estimator import (
    BEHIND_TABLES,
    ESTIMATORS,
    REDUCTIONS,
    estimator_parts,
    is_reduction,
    rebuilt_estimator,
)
from .tagger import TAGGERS

if TYPE_CHECKING:
    from ..calibration import Calibrated, CalibratedTagger

__all__ = ["describe", "estimator_of", "load", "save"]

KIND = "model"

OPTIONS = 2**21
"""Tokens in the options of a table: enough for a hundred thousand columns of a dozen each. No more than one
for four bytes of the file, beyond what any file may have: a column has weights and statistics too."""


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a fitted model to a file that is safe to load, whole or not at all.

    ``model`` is a fitted classifier of argmax, a reduction over one, or a ``Pipeline`` of a
    ``features.Table`` and one of them, calibrated or not; a ``MultiLabelClassifier``, alone or behind a
    ``Table``; a ``GraphLabeler``; or a ``SequenceTagger`` or ``CRFTagger`` whose features are ``Templates``
    or ``Given``, calibrated or not. A file that exists is kept unless
    ``overwrite``. What belongs to a process and not to a model, ``engine`` and ``callbacks``, is left out.

    >>> import pathlib, tempfile
    >>> import argmax
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "iris.argmax"
    >>> argmax.save(argmax.SoftmaxRegression().fit(X, y), path)
    >>> argmax.load(path).predict(X[[0, 50, 100]])
    array([0, 1, 2])
    """
    table, estimator, calibrated, pipeline = _parts(model)
    document, tensors = estimator_parts(estimator)
    if table is not None:
        options = strict.written(table.options(), OPTIONS).encode()
        tensors["table.options"] = np.frombuffer(options, np.uint8)
        tensors |= {f"table.{name}": tensor for name, tensor in table.tensors().items()}
    content = {"estimator": document, "pipeline": pipeline}
    if calibrated is not None:
        from .calibrated import calibration_parts

        content["calibration"], readout = calibration_parts(calibrated)
        tensors |= readout
    _check_loadable(content, tensors)
    container.write(path, KIND, content, tensors, overwrite=overwrite)


def _check_loadable(content: dict[str, Any], tensors: Tensors) -> None:
    """Refuse now what ``load`` would refuse later, when the model is gone."""
    size = sum(tensor.nbytes for tensor in tensors.values())
    try:
        _model(File("", size, "", KIND, container.SCHEMA, "", content, tensors))
    except ModelFileError as error:
        raise Unsupported(f"the model {error}") from error


def _parts(
    model: Any,
) -> tuple[Table | None, Any, Any, dict[str, Any] | None]:
    """The table and the estimator of a model, its calibration, and what else its pipeline has."""
    if type(model) is not Pipeline:
        estimator, calibrated = _bare(model)
        if type(estimator) not in ESTIMATORS.values() and not is_reduction(estimator):
            raise _refused(f"the model is a {type(estimator).__name__}")
        check_is_fitted(estimator, "classes_")
        return None, estimator, calibrated, None
    wanted = [(Table,), (*BEHIND_TABLES.values(), _calibrated(model.steps[-1][1]))]
    for i, (name, step) in enumerate(model.steps):
        reduces = i == 1 and is_reduction(step)
        if i >= len(wanted) or not (isinstance(step, wanted[i]) or reduces):
            raise _refused(f"step {name!r} of the pipeline is a {type(step).__name__}")
    if len(model.steps) != len(wanted):
        raise _refused("the pipeline ends after its first step")
    for name in ("memory", "transform_input"):
        if getattr(model, name, None) is not None:
            raise Unsupported(f"{name} of a pipeline cannot be stored. Use {name}=None.")
    (_, table), (last, step) = model.steps
    estimator, calibrated = _bare(step)
    if type(estimator) not in BEHIND_TABLES.values() and not is_reduction(estimator):
        raise _refused(f"step {last!r} of the pipeline calibrates a {type(estimator).__name__}")
    check_is_fitted(table)
    check_is_fitted(estimator, "classes_")
    steps = [name for name, _ in model.steps]
    return table, estimator, calibrated, {"steps": steps, "verbose": bool(model.verbose)}


def _classifies(estimator: Any) -> bool:
    """Whether it may stand behind a table and be calibrated."""
    return type(estimator) in CLASSIFIERS.values() or is_reduction(estimator)


def _bare(model: Any) -> tuple[Any, Calibrated | CalibratedTagger | None]:
    """An estimator without its calibration, and the calibration."""
    if not isinstance(model, _calibrated(model)):
        return model, None
    check_is_fitted(model, "calibrator_")
    if isinstance(model.estimator_, _calibrated(model.estimator_)):
        raise Unsupported(
            "a model file does not hold an ensemble of folds that was calibrated or adapted once more. "
            "Calibrate with ensemble=False before that."
        )
    return model.estimator_, model


def _calibrated(model: Any) -> Any:
    """The calibrated models where they may matter: importing them takes longer than loading a small one."""
    if isinstance(model, (Table, *ESTIMATORS.values())) or is_reduction(model):
        return ()
    from ..calibration import Calibrated, CalibratedTagger

    return (Calibrated, CalibratedTagger)


def _refused(what: str) -> Unsupported:
    return Unsupported(
        f"{what}. A model file holds {', '.join(ESTIMATORS)}, alone; or one of {', '.join(BEHIND_TABLES)}, "
        f"or a reduction ({', '.join(REDUCTIONS)}) over a classifier of ours, alone or after a "
        "features.Table in a Pipeline of two steps; calibrated or not. Let features.Table prepare the "
        "columns, or pickle the model for your own processes."
    )


def load(path: str | os.PathLike[str]) -> Any:
    """The model of a file. No code of the file runs, whoever wrote it.

    A file that is damaged, that is no model, or that a newer version wrote is a ``ModelFileError``. The
    model predicts the same bits as the one that was saved, and can be fitted again.

    >>> import argmax
    >>> argmax.load("no such file")
    Traceback (most recent call last):
    argmax.errors.ModelFileError: 'no such file' cannot be read: No such file or directory.
    """
    file = container.read(path)
    with container.naming(file.path):
        return _model(file)


def _model(file: File) -> Any:
    file.expect(KIND)
    names = ("estimator", "pipeline", "calibration")
    same_keys("document", file.content, names if "calibration" in file.content else names[:2])
    tensors, room = dict(file.tensors), Room(file.bytes)
    estimator = rebuilt_estimator(file.content["estimator"], tensors, room)
    if "calibration" in file.content:
        from .calibrated import rebuilt_calibrated, rebuilt_calibrated_tagger

        tags = type(estimator) in TAGGERS.values()
        if not tags and not _classifies(estimator):
            raise ModelFileError("has a calibration of what is no classifier and no tagger.")
        rebuilt = rebuilt_calibrated_tagger if tags else rebuilt_calibrated
        estimator = rebuilt(file.content["calibration"], estimator, tensors, room)
    if file.content["pipeline"] is None:
        if tensors:
            raise ModelFileError(f"has a tensor {min(tensors)!r} that belongs to nothing.")
        return estimator
    behind = _bare(estimator)[0]
    if type(behind) not in BEHIND_TABLES.values() and not is_reduction(behind):
        raise ModelFileError("has a pipeline that argmax did not write.")
    table = _table(tensors, min(OPTIONS, strict.TOKENS + file.bytes // 4))
    if table._state.encoding.width != estimator.n_features_in_:
        raise ModelFileError("has a table whose columns do not fit the weights.")
    return _pipeline(file.content["pipeline"], table, estimator)


def _table(tensors: Tensors, tokens: int) -> Table:
    """The table of a file: all tensors that are left must be its."""
    text = take(tensors, "table.options", np.uint8, None)
    if not all(name.startswith("table.") for name in tensors):
        raise ModelFileError("has tensors that belong to nothing.")
    try:
        options = strict.parsed(text.tobytes().decode("ascii"), tokens)
        return Table.rebuild(options, {name[6:]: tensor for name, tensor in tensors.items()})
    except (InvalidInput, ValueError) as error:
        raise ModelFileError(f"has a table that does not do: {error}") from error


def _pipeline(given: Any, table: Table, estimator: Any) -> Pipeline:
    told = same_keys("pipeline", given, ("steps", "verbose"))
    steps, verbose = told["steps"], told["verbose"]
    named = isinstance(steps, list) and all(isinstance(name, str) for name in steps)
    if not named or len(set(steps)) != 2 or len(steps) != 2 or not isinstance(verbose, bool):
        raise ModelFileError("has a pipeline that argmax did not write.")
    return Pipeline([(steps[0], table), (steps[1], estimator)], verbose=verbose)


def estimator_of(path: str | os.PathLike[str]) -> str | None:
    """The name of the estimator that a file claims to hold, from its header alone; None if it claims none.

    What the header says is checked when the file is loaded, and not here.

    >>> import pathlib, tempfile
    >>> import argmax
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tagger.argmax"
    >>> argmax.save(argmax.CRFTagger().fit([["a", "b"]], [["A", "B"]]), path)
    >>> argmax.persist.estimator_of(path), argmax.persist.estimator_of("no such file")
    ('CRFTagger', None)
    """
    try:
        found = container.glimpse(path)["content"].get("estimator")
    except ModelFileError:
        return None
    name = found.get("estimator") if isinstance(found, dict) else None
    return name if isinstance(name, str) else None


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a file holds, digest and all checked, as a dict that JSON can hold.

    >>> import pathlib, tempfile
    >>> import argmax
    >>> from sklearn.datasets import load_iris
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "iris.argmax"
    >>> argmax.save(argmax.SoftmaxRegression().fit(*load_iris(return_X_y=True)), path)
    >>> found = argmax.persist.describe(path)
    >>> found["estimator"], found["features"], found["classes"], found["solution"]["status"]
    ('SoftmaxRegression', 4, [0, 1, 2], 'converged')
    """
    file = container.read(path)
    found: dict[str, Any] = {
        "path": file.path,
        "bytes": file.bytes,
        "sha256": file.sha256,
        "kind": file.kind,
        "schema": file.schema,
        "version": file.version,
        "tensors": {name: [array.dtype.name, *array.shape] for name, array in file.tensors.items()},
    }
    if file.kind != KIND:
        return found | file.content
    with container.naming(file.path):
        model = _model(file)
    table, estimator, calibrated, pipeline = _parts(model)
    document = file.content["estimator"]
    tags = isinstance(estimator, tuple(TAGGERS.values()))
    return found | {
        **{name: document[name] for name in ("estimator", "parameters", "left_out")},
        "classes": estimator.classes_.tolist(),
        "features": estimator.features_.width if tags else estimator.n_features_in_,
        "names": hasattr(estimator, "feature_names_in_"),
        "calibration": None if calibrated is None else file.content["calibration"],
        "solution": _solution(estimator, document["solution"]),
        "pipeline": pipeline,
        "table": None if table is None else table.options(),
        "tokens": document["features"] | estimator.features_.options() if tags else None,
    }


def _solution(estimator: Any, told: dict[str, Any] | None) -> dict[str, Any] | None:
    if told is None:
        return None
    names = ("objective", "gap", "relative_gap", "seconds")
    found = {name: _json_number(getattr(estimator.solution_, name)) for name in names}
    return told | found


def _json_number(value: float) -> float | None:
    return value if math.isfinite(value) else None
