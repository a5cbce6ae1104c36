"""Classifiers of label sets and labelers of graphs in files: the same answers, and every array checked."""

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline

import argmax
from argmax import GraphLabeler, MultiLabelClassifier, persist
from argmax.calibration import Calibrated
from argmax.errors import ModelFileError, Unsupported
from argmax.features import Table, grid_graph
from argmax.persist.checked import Room
from argmax.persist.estimator import ESTIMATORS
from argmax.persist.labeler import labeler_parts, rebuilt_labeler
from argmax.persist.parameters import LEFT_OUT, TYPES
from tests.fuzz.model_files import header_of, with_header
from tests.units.persist.test_taggers import changed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = (X @ RNG.normal(size=(4, 3)) + RNG.normal(size=(40, 3)) > 0).astype(int)
WORDS = np.array(["a", "bé", "c"])[np.arange(40) % 3]
PICTURES = [grid_graph(RNG.normal(size=(3, 3))) for _ in range(6)]
LABELS = [np.array(["sky", "soil"])[(graph[0].ravel() > 0).astype(int)] for graph in PICTURES]

SETS = {
    "tree": (MultiLabelClassifier(), X, Y),
    "alone": (MultiLabelClassifier("none", fit_intercept=False), X, Y),
    "all": (MultiLabelClassifier("all", decoding="hamming"), X, Y),
    "given pairs": (MultiLabelClassifier([(2, 0)], random_state=3), X, Y),
    "named": (MultiLabelClassifier(labels=["z", "é", "a"]), X, Y),
    "sparse": (MultiLabelClassifier(), sp.csr_array(X), sp.csr_array(Y)),
    "one label a row": (MultiLabelClassifier(), X, WORDS),
    "two classes": (MultiLabelClassifier(), X, WORDS == "a"),
}
GRAPHS = {
    "potts": GraphLabeler(edges="potts", tol=1e-2),
    "full": GraphLabeler("pseudo", fit_intercept=False),
    "hinge": GraphLabeler("hinge", class_weight={"sky": 2.0, "soil": 1.0}, max_iter=3),
    "perceptron": GraphLabeler("perceptron", max_iter=3, damping=0.1),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def reloaded(model, path):
    argmax.save(model, path, overwrite=True)
    return argmax.load(path)


def same_file(model, path, tmp_path):
    argmax.save(model, tmp_path / "again")
    return path.read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize("case", SETS)
def test_sets_of_labels_are_answered_as_before(case, path, tmp_path):
    model, rows, y = SETS[case]
    model = clone(model).fit(rows, y)
    again = reloaded(model, path)
    for one in (again, pickle.loads(pickle.dumps(again))):
        assert one.predict_proba(rows).tobytes() == model.predict_proba(rows).tobytes()
        np.testing.assert_array_equal(one.predict(rows), model.predict(rows))
        np.testing.assert_array_equal(one.log_likelihood(rows, y), model.log_likelihood(rows, y))
    assert vars(again).keys() == vars(model).keys()
    assert again.solution_.history == model.solution_.history
    assert same_file(again, path, tmp_path)
    assert json.loads(json.dumps(persist.describe(path)))["classes"] == model.classes_.tolist()
    clone(again).fit(rows, y)


def test_a_table_may_stand_before_sets_of_labels(path):
    frame = {"size": X[:, 0], "note": [f"{w} day" for w in WORDS]}
    model = Pipeline([("t", Table()), ("m", MultiLabelClassifier(labels=["x", "y", "z"]))])
    again = reloaded(model.fit(frame, Y), path)
    assert again.predict_proba(frame).tobytes() == model.predict_proba(frame).tobytes()
    assert again[-1].classes_.tolist() == ["x", "y", "z"]


@pytest.mark.filterwarnings("ignore::argmax.errors.NotConverged")
@pytest.mark.parametrize("case", GRAPHS)
def test_graphs_are_labelled_as_before(case, path, tmp_path):
    model = clone(GRAPHS[case]).fit(PICTURES, LABELS)
    again = reloaded(model, path)
    for one, other in zip(again.predict(PICTURES), model.predict(PICTURES), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(again.certificate(PICTURES), model.certificate(PICTURES))
    assert again.edge_coef_.tobytes() == model.edge_coef_.tobytes()
    assert again.exact_ == model.exact_
    assert vars(again).keys() == vars(model).keys()
    assert same_file(again, path, tmp_path)
    assert persist.describe(path)["features"] == model.n_features_in_


def test_a_warm_start_goes_on_from_a_file(path):
    again = reloaded(MultiLabelClassifier().fit(X, Y), path).set_params(warm_start=True)
    assert again.fit(X, Y).solution_.passes <= 2


def test_every_parameter_has_a_type():
    for kind in ESTIMATORS.values():
        assert kind().get_params(deep=False).keys() - {*LEFT_OUT, "features"} <= TYPES.keys()


def test_calibrated_sets_are_refused_by_name(path):
    model = MultiLabelClassifier().fit(X, WORDS)
    with pytest.raises(Unsupported, match="calibration of what is no classifier"):
        argmax.save(Calibrated(model, "temperature", cv="prefit").fit(X, WORDS), path)


# Files that argmax did not write

HOSTILE = [
    ("pairs", np.array([3]), 1, "pairs of labels"),
    ("pairs", np.array([-1]), 0, "pairs of labels"),
    ("pairs", np.array([2**62]), 1, "pairs of labels"),
    ("pair_weights", np.array([np.nan]), 0, "not finite"),
    ("pair_weights", np.array([1e300]), 0, "too large"),
    ("coef", np.array([np.inf]), 3, "not finite"),
    ("intercept", np.array([1e31]), 0, "too large"),
]


@pytest.mark.parametrize(("name", "values", "at", "message"), HOSTILE)
def test_wrong_numbers_are_refused(name, values, at, message, path):
    argmax.save(MultiLabelClassifier().fit(X, Y), path)
    changed(path, name, values, at)
    with pytest.raises(ModelFileError, match=message):
        argmax.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("given", {"multilabel": 1, "labels": False, "pairs": False}),
        ("given", {"multilabel": False, "labels": False, "pairs": True}),
        ("layout", {"intercept": True}),
        ("layout", {"intercept": False, "sparse": False, "precise": True}),
        ("parameters", {"decoding": "best"}),
        ("parameters", {"pairs": "some"}),
        ("parameters", {"labels": ["a"]}),
        ("parameters", {"random_state": -1}),
    ],
)
def test_wrong_documents_are_refused(name, value, path):
    argmax.save(MultiLabelClassifier(pairs="all").fit(X, Y), path)
    data = path.read_bytes()
    header = header_of(data)
    header["document"]["content"]["estimator"][name] = value
    path.write_bytes(with_header(data, header))
    if name == "given" and value["pairs"]:  # what it says could be: sorted classes
        value["multilabel"] = 3
        path.write_bytes(with_header(data, header))
    with pytest.raises(ModelFileError):
        argmax.load(path)


def test_few_bytes_cannot_ask_for_large_tables_of_edges():
    """Potts has one number for what loading writes out as a table of K × K."""
    document, tensors = labeler_parts(clone(GRAPHS["potts"]).fit(PICTURES, LABELS))
    K = 20_000
    for name in ("classes.data", "classes.offsets"):
        del tensors[name]
    tensors |= {"classes": np.arange(K), "coef": np.zeros((K, 1)), "intercept": np.zeros(K)}
    with pytest.raises(ModelFileError, match="more or longer edge weights"):
        rebuilt_labeler(document | {"classes": "int64"}, tensors, Room(8 * 3 * K))
