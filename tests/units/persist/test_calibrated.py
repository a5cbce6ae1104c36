"""Calibrated models in files: the same bits back, and files that somebody changed refused."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import Pipeline

import argmax
from argmax import LinearClassifier, calibration
from argmax.calibration import Calibrated, CalibratedTagger, selection
from argmax.errors import ModelFileError, Unsupported
from argmax.features import Table
from argmax.persist import container, model

METHODS = [*selection.METHODS, "auto"]
X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("ensemble", ["auto", False])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_the_same_bits_come_back(tmp_path, method, load, ensemble):
    rows, labels = load(return_X_y=True)
    rows = rows / rows.max(axis=0)
    fitted = Calibrated(LinearClassifier(), method, ensemble=ensemble).fit(rows, labels)
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


def test_other_classifiers_are_refused(tmp_path):
    from sklearn.linear_model import RidgeClassifier

    fitted = Calibrated(RidgeClassifier(), "temperature").fit(X, Y)
    with pytest.raises(Unsupported, match="RidgeClassifier"):
        argmax.save(fitted, tmp_path / "model.argmax")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"method": "magic"}, "does not have"),
        ({"method": "isotonic"}, "other options"),
        ({"spans": None}, "did not write"),
        ({"method": ["vector"]}, "does not have"),
        ({"asked": "matrix"}, "did not write"),
        ({"options": {"on": "scores"}}, "other options"),
        ({"options": {"on": "rows", "penalty": 1.0}}, "something else"),
        ({"options": {"on": "scores", "penalty": -1.0}}, "penalty"),
        ({"cv": [3]}, "did not write"),
        ({"log_loss": {"vector": "low"}}, "no numbers"),
        ({"log_loss": {"magic": 1.0}}, "did not write"),
        ({"ensemble": 1}, "did not write"),
        ({"members": {}}, "did not write"),
        ({"members": [{}]}, "does not have"),
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
        {"member.1.more": np.ones(2)},
        {"member.9.coef": np.ones(2)},
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


def test_members_that_do_not_fit_together_are_refused(tmp_path):
    argmax.save(Calibrated(LinearClassifier(), "vector", cv=2).fit(X, Y), tmp_path / "all.argmax")
    argmax.save(
        Calibrated(LinearClassifier(), "vector", cv=2).fit(X[:, :3], Y), tmp_path / "three.argmax"
    )
    file, other = (container.read(tmp_path / f"{name}.argmax") for name in ("all", "three"))
    mixed = {
        name: (other if name.startswith("member.") else file).tensors[name] for name in file.tensors
    }
    content = json.loads(json.dumps(file.content))
    content["calibration"]["members"] = other.content["calibration"]["members"]
    container.write(tmp_path / "mixed.argmax", model.KIND, content, mixed)
    with pytest.raises(ModelFileError, match="do not fit together"):
        argmax.load(tmp_path / "mixed.argmax")


@pytest.mark.parametrize("k", [2, 3])
def test_a_classifier_read_out_has_the_calibrated_probabilities(k):
    rows, labels = (X, Y) if k == 3 else (X[:100], Y[:100])
    for intercept in (True, False):
        linear = LinearClassifier(fit_intercept=intercept)
        fitted = Calibrated(linear, "matrix", ensemble=False).fit(rows, labels)
        folded = fitted.estimator_.read_out(fitted.calibrator_.readout_)
        assert folded.predict_proba(rows) == pytest.approx(fitted.predict_proba(rows), abs=1e-9)
        assert np.array_equal(folded.coef_, fitted.coef_)
        assert isinstance(fitted.calibrator_, calibration.Matrix)


def curved(k, **change):
    """The tensors of an isotonic calibration of k classes, some of them others."""
    plain = {
        "curves.ptr": 2 * np.arange(k + 1),
        "curves.knots": np.tile([0.0, 1.0], k),
        "curves.heights": np.tile([0.1, 0.9], k),
    }
    return plain | {f"curves.{name}": value for name, value in change.items()}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"ptr": np.array([0, 2, 2, 6])}, "do not fit"),
        ({"ptr": np.array([0, 2, 4, 7])}, "do not fit"),
        ({"ptr": np.array([-2, 2, 4, 6])}, "do not fit"),
        ({"ptr": np.array([0.0, 2.0, 4.0, 6.0])}, "curves.ptr"),
        ({"knots": np.tile([1.0, 1.0], 3)}, "do not rise"),
        ({"knots": np.tile([0.0, np.inf], 3)}, "not finite"),
        ({"heights": np.tile([0.9, 0.1], 3)}, "do not rise"),
        ({"heights": np.tile([0.0, 0.9], 3)}, "between 0 and 1"),
        ({"heights": np.tile([0.1, np.nan], 3)}, "do not rise"),
        ({"heights": np.ones(5)}, "does not fit"),
        ({"more": np.ones(5)}, "belongs to nothing"),
    ],
)
def test_curves_that_are_none_are_refused(tmp_path, change, says):
    argmax.save(Calibrated(LinearClassifier(), "isotonic").fit(X, Y), tmp_path / "model.argmax")
    file = container.read(tmp_path / "model.argmax")
    for name, more in (("good", {}), ("bad", change)):
        tensors = dict(file.tensors) | curved(3, **more)
        container.write(tmp_path / name, model.KIND, file.content, tensors)
    argmax.load(tmp_path / "good").predict_proba(X)
    with pytest.raises(ModelFileError, match=says):
        argmax.load(tmp_path / "bad")


WORDS = [["the", "cat", "sat"], ["a", "dog", "ran"], ["the", "dog"], ["a", "cat", "ran"]] * 4
TAGS = {"spans": ["O", "B-A", "O"], "plain": ["D", "N", "V"]}


@pytest.mark.parametrize("kind", TAGS)
@pytest.mark.parametrize("method", ["auto", "isotonic"])
def test_a_calibrated_tagger_comes_back(tmp_path, kind, method):
    labels = [TAGS[kind][: len(words)] for words in WORDS]
    tagger = argmax.SequenceTagger(loss="perceptron", max_iter=3)
    fitted = CalibratedTagger(tagger, method, cv=2).fit(WORDS, labels)
    argmax.save(fitted, tmp_path / "model.argmax")
    found = argmax.load(tmp_path / "model.argmax")
    assert found.predict(WORDS) == fitted.predict(WORDS)
    for one, other in zip(
        found.predict_marginals(WORDS), fitted.predict_marginals(WORDS), strict=True
    ):
        assert np.array_equal(one, other)
    if kind == "spans":
        assert found.span_confidence(WORDS) == fitted.span_confidence(WORDS)
    assert repr(found) == repr(fitted)
    told = argmax.persist.describe(tmp_path / "model.argmax")
    assert (told["estimator"], told["calibration"]["asked"]) == ("SequenceTagger", method)


@pytest.mark.parametrize(
    "change",
    [
        {"spans": {"penalty": "much", "on": "scores"}},
        {"spans": {"penalty": 1.0, "on": "probabilities"}},
        {"spans": {"penalty": 1.0}},
        {"spans": None},
    ],
)
def test_a_changed_curve_of_spans_is_refused(tmp_path, change):
    labels = [TAGS["spans"][: len(words)] for words in WORDS]
    fitted = CalibratedTagger(argmax.CRFTagger(), "identity", cv=2).fit(WORDS, labels)
    argmax.save(fitted, tmp_path / "model.argmax")
    file = container.read(tmp_path / "model.argmax")
    content = json.loads(json.dumps(file.content))
    content["calibration"] |= change
    container.write(tmp_path / "changed.argmax", model.KIND, content, file.tensors)
    with pytest.raises(ModelFileError):
        argmax.load(tmp_path / "changed.argmax")
