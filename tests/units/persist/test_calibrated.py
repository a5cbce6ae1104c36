"""Calibrated models in files: the same bits back, and files that somebody changed refused."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import Pipeline

import argmax
from argmax import LinearClassifier, calibration
from argmax.calibration import Calibrated
from argmax.errors import ModelFileError, Unsupported
from argmax.features import Table
from argmax.persist import container, model

METHODS = ["identity", "temperature", "bias_corrected", "vector", "matrix", "dirichlet", "auto"]
X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_the_same_bits_come_back(tmp_path, method, load):
    rows, labels = load(return_X_y=True)
    rows = rows / rows.max(axis=0)
    fitted = Calibrated(LinearClassifier(), method).fit(rows, labels)
    argmax.save(fitted, tmp_path / "model.argmax")
    found = argmax.load(tmp_path / "model.argmax")
    assert np.array_equal(found.predict_proba(rows), fitted.predict_proba(rows))
    assert repr(found) == repr(fitted)
    assert found.selection_ is None or found.selection_.log_loss == fitted.selection_.log_loss
    assert argmax.persist.describe(tmp_path / "model.argmax")["calibration"]["asked"] == method
    found.fit(rows, labels)
    assert np.array_equal(found.predict_proba(rows), fitted.predict_proba(rows))


def test_behind_a_table(tmp_path):
    table = Table().fit({"a": X[:, 0], "b": X[:, 2]})
    rows = table.transform({"a": X[:, 0], "b": X[:, 2]})
    honest = Calibrated(LinearClassifier(), "vector").fit(rows, Y)
    argmax.save(Pipeline([("table", table), ("model", honest)]), tmp_path / "model.argmax")
    found = argmax.load(tmp_path / "model.argmax")
    given = {"a": X[:, 0], "b": X[:, 2]}
    assert np.array_equal(found.predict_proba(given), honest.predict_proba(rows))


def test_a_temperature_comes_back_as_one(tmp_path):
    fitted = Calibrated(LinearClassifier(), "temperature").fit(X, Y)
    argmax.save(fitted, tmp_path / "model.argmax")
    found = argmax.load(tmp_path / "model.argmax").calibrator_
    assert found.temperature_ == fitted.calibrator_.temperature_


@pytest.mark.parametrize("method", ["isotonic", "top_label"])
def test_curves_are_refused_by_name(tmp_path, method):
    fitted = Calibrated(LinearClassifier(), method).fit(X, Y)
    with pytest.raises(Unsupported, match="calibration by identity, temperature"):
        argmax.save(fitted, tmp_path / "model.argmax")


def test_other_classifiers_are_refused(tmp_path):
    from sklearn.linear_model import RidgeClassifier

    fitted = Calibrated(RidgeClassifier(), "temperature").fit(X, Y)
    with pytest.raises(Unsupported, match="RidgeClassifier"):
        argmax.save(fitted, tmp_path / "model.argmax")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"method": "isotonic"}, "does not have"),
        ({"method": ["vector"]}, "does not have"),
        ({"asked": "matrix"}, "did not write"),
        ({"options": {"on": "scores"}}, "other options"),
        ({"options": {"on": "rows", "penalty": 1.0}}, "something else"),
        ({"options": {"on": "scores", "penalty": -1.0}}, "penalty"),
        ({"cv": [3]}, "did not write"),
        ({"log_loss": {"vector": "low"}}, "no numbers"),
        ({"log_loss": {"magic": 1.0}}, "did not write"),
    ],
)
def test_a_changed_document_is_refused(tmp_path, change, says):
    fitted = Calibrated(LinearClassifier(), "vector").fit(X, Y)
    argmax.save(fitted, tmp_path / "model.argmax")
    file = container.read(tmp_path / "model.argmax")
    content = json.loads(json.dumps(file.content))
    content["calibration"] |= change
    container.write(tmp_path / "changed.argmax", model.KIND, content, file.tensors)
    with pytest.raises(ModelFileError, match=says):
        argmax.load(tmp_path / "changed.argmax")


@pytest.mark.parametrize(
    "change",
    [
        {"readout.scale": np.ones(2)},
        {"readout.scale": np.ones((2, 3))},
        {"readout.offset": np.array([0.0, np.nan, 0.0])},
        {"readout.offset": np.ones(2)},
        {"readout.more": np.ones(2)},
    ],
)
def test_changed_tensors_are_refused(tmp_path, change):
    fitted = Calibrated(LinearClassifier(), "vector").fit(X, Y)
    argmax.save(fitted, tmp_path / "model.argmax")
    file = container.read(tmp_path / "model.argmax")
    container.write(
        tmp_path / "changed.argmax", model.KIND, file.content, dict(file.tensors) | change
    )
    with pytest.raises(ModelFileError):
        argmax.load(tmp_path / "changed.argmax")


@pytest.mark.parametrize("k", [2, 3])
def test_a_classifier_read_out_has_the_calibrated_probabilities(k):
    rows, labels = (X, Y) if k == 3 else (X[:100], Y[:100])
    for intercept in (True, False):
        fitted = Calibrated(LinearClassifier(fit_intercept=intercept), "matrix").fit(rows, labels)
        folded = fitted.estimator_.read_out(fitted.calibrator_.readout_)
        assert folded.predict_proba(rows) == pytest.approx(fitted.predict_proba(rows), abs=1e-9)
        assert np.array_equal(folded.coef_, fitted.coef_)
        assert isinstance(fitted.calibrator_, calibration.Matrix)
