"""Reductions in files: the same bits back; bases that are not ours, and files somebody changed, refused."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

import argmax
from argmax import LinearClassifier, MulticlassSVM, OneVsOne, OneVsRest, OutputCode
from argmax.calibration import Calibrated
from argmax.errors import ModelFileError, Unsupported
from argmax.features import Table
from argmax.persist import container, describe

X, Y = load_iris(return_X_y=True)
CODE = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
MODELS = [
    OneVsRest(),
    OneVsRest(LinearClassifier(C=3.0, penalty="l1", solver="proximal")),
    OneVsRest(LinearClassifier(loss="ovr_log")),
    OneVsOne(decision="probability"),
    OneVsOne(MulticlassSVM(C=0.1), decision="tournament"),
    OutputCode(code="bch", decoding="hamming"),
    OutputCode(LinearClassifier(class_weight={0: 1.0, 1: 2.0}), code=CODE, n_jobs=1),
    OutputCode(code="random_sparse", length=6, random_state=3, decoding="probability"),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_same_bits_come_back(tmp_path, model):
    model.fit(X, Y)
    argmax.save(model, tmp_path / "model.argmax")
    found = argmax.load(tmp_path / "model.argmax")
    assert np.array_equal(found.decision_function(X), model.decision_function(X))
    if not isinstance(model.estimator, MulticlassSVM):
        assert np.array_equal(found.predict_proba(X), model.predict_proba(X))
    if not isinstance(model, OutputCode) or isinstance(model.code, str):
        assert repr(found) == repr(model)
    assert found.solution_.status == "converged"
    assert found.coef_.shape == (found.code_.shape[1], 4)
    told = describe(tmp_path / "model.argmax")
    assert told["estimator"] == type(model).__name__
    assert told["features"] == 4
    found.fit(X, Y)
    assert np.array_equal(found.predict(X), model.predict(X))


def test_names_and_two_classes(tmp_path):
    frame = {"a": X[:, 0], "b": X[:, 2]}
    labels = np.array(["no", "yes"])[(Y > 0).astype(int)]
    model = Pipeline([("table", Table()), ("model", OneVsRest())]).fit(frame, labels)
    argmax.save(model, tmp_path / "model.argmax")
    found = argmax.load(tmp_path / "model.argmax")
    assert np.array_equal(found.predict_proba(frame), model.predict_proba(frame))


def test_calibrated(tmp_path):
    model = Calibrated(OutputCode(), "temperature", cv=2).fit(X, Y)
    argmax.save(model, tmp_path / "model.argmax")
    found = argmax.load(tmp_path / "model.argmax")
    assert np.array_equal(found.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (OneVsRest(LogisticRegression()), "over LogisticRegression"),
        (OutputCode(random_state=np.random.RandomState(0)), "random_state="),
        (OneVsRest(LinearClassifier(loss="hinge", cost=[[0, 1], [2, 0]])), "cost="),
    ],
)
def test_what_a_file_cannot_hold_is_refused_by_name(tmp_path, model, message):
    with pytest.raises(Unsupported, match=message):
        argmax.save(model.fit(X, Y), tmp_path / "model.argmax")


CHANGES = [
    (lambda content, tensors: content["estimator"].update(base={}), "has a base"),
    (
        lambda content, tensors: content["estimator"].update(
            base={"estimator": "Table", "parameters": {}, "left_out": []}
        ),
        "has a base",
    ),
    (lambda content, tensors: content["estimator"]["parameters"].update(decision="luck"), "luck"),
    (lambda content, tensors: content["estimator"]["parameters"].update(together=None), "together"),
    (lambda content, tensors: content["estimator"]["parameters"].pop("n_jobs"), "reduction"),
    (lambda content, tensors: tensors.update(code=tensors["code"][::-1].copy()), "has a code"),
    (lambda content, tensors: tensors.update(code=tensors["code"] * np.int8(3)), "has a code"),
    (lambda content, tensors: tensors.update(coef=tensors["coef"] * np.inf), "coef"),
    (lambda content, tensors: tensors.update(coef=tensors["coef"][:2]), "coef"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_a_changed_file_is_refused(tmp_path, change, message):
    path = tmp_path / "model.argmax"
    argmax.save(OneVsOne().fit(X, Y), path)
    file = container.read(path)
    content, tensors = json.loads(json.dumps(file.content)), dict(file.tensors)
    with np.errstate(invalid="ignore"):
        change(content, tensors)
    container.write(path, "model", content, tensors, overwrite=True)
    with pytest.raises(ModelFileError, match=message):
        argmax.load(path)
