"""Taggers in files: the same answers after loading, and every array of the file checked."""

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import argmax
from argmax import CRFTagger, SequenceTagger, persist
from argmax.data import corpus
from argmax.errors import ModelFileError, Unsupported
from argmax.features import Given, Templates
from argmax.spaces import constraints
from tests.fuzz.model_files import header_of, payload_of, with_header

TOKENS = corpus.sentences(60)
X, Y, POS = (TOKENS.sequences(name) for name in ("word", "label", "pos"))
LABELS = sorted({label for labels in Y for label in labels})
K = len(LABELS)
NAMED = [[{"bias": 1.0, "word": word} for word in words] for words in X]
NUMBERS = [np.array([[len(word), word.istitle()] for word in words], float) for words in X]
SOME = Templates(["word[0]", "word[-1]|word[0]", "suffix(word[0],2)"])


def tied(y):
    return [[LABELS.index(label) for label in labels] for labels in y]


CASES = {
    "default": (SequenceTagger(), X, Y),
    "narrow face": (CRFTagger(SOME, C=3.0, tol=1e-2), X, Y),
    "BIO": (SequenceTagger(SOME, constraints="BIO"), X, Y),
    "forbidden pairs": (SequenceTagger(SOME, constraints=[("O", "I-PER")]), X, Y),
    "masks": (SequenceTagger(SOME, constraints=constraints.bio(LABELS)), X, Y),
    "perceptron": (SequenceTagger(SOME, loss="perceptron", max_iter=2), X, Y),
    "cost": (SequenceTagger(SOME, loss="softmax_margin", cost=1.0 - np.eye(K)), X, Y),
    "order 2": (SequenceTagger(SOME, order=2, start=False, tol=1e-2), X, Y),
    "hashed": (SequenceTagger(Templates(hash_bits=8, examples=1), pairs="all", tol=1e-2), X, Y),
    "named": (SequenceTagger(Given(min_count=2)), NAMED, POS),
    "numbers": (SequenceTagger(tol=1e-2), NUMBERS, Y),
    "l1": (SequenceTagger(SOME, penalty="l1", tol=1e-2), X, Y),
    "edges": (SequenceTagger(Templates(["word[0]", "both: shape(word[0])"]), tol=1e-2), X, Y),
    "early": (SequenceTagger(SOME, loss="perceptron", max_iter=3, early_stopping=True), X, Y),
    "whole numbers as labels": (SequenceTagger(SOME), X, tied(Y)),
}


def reloaded(model, path):
    argmax.save(model, path, overwrite=True)
    return argmax.load(path)


def same(one, other, rows):
    assert one.predict(rows) == other.predict(rows)
    pairs = zip(one.decision_function(rows), other.decision_function(rows), strict=True)
    assert all(a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


@pytest.mark.parametrize("case", CASES)
def test_a_tagger_answers_as_before(case, path, tmp_path):
    model, rows, y = CASES[case]
    model = clone(model).fit(rows, y)
    again = reloaded(model, path)
    same(model, again, rows)
    assert vars(again).keys() == vars(model).keys() - {"validation_scores_"}
    assert again.solution_.history == model.solution_.history
    assert (again.coef_ != model.coef_).nnz == 0
    argmax.save(again, tmp_path / "again")
    assert path.read_bytes() == (tmp_path / "again").read_bytes()
    same(model, pickle.loads(pickle.dumps(again)), rows)
    assert json.loads(json.dumps(persist.describe(path)))["estimator"] == type(model).__name__


def test_it_can_be_fitted_again_and_is_a_warm_start(path):
    model = SequenceTagger(SOME, solver="lbfgs").fit(X, Y)
    again = reloaded(model, path)
    assert clone(again).fit(X, Y).transitions_.tobytes() == model.transitions_.tobytes()
    again.set_params(warm_start=True, tol=1e-2).fit(X, Y)
    assert again.solution_.passes < model.solution_.passes / 2


def test_what_was_learned_piece_by_piece_has_no_solution(path):
    model = SequenceTagger(SOME)
    for _ in range(2):
        model.partial_fit(X, Y)
    again = reloaded(model, path)
    same(model, again, X)
    assert not hasattr(again, "solution_")
    assert again.n_iter_ == 2
    assert persist.describe(path)["solution"] is None


def test_features_stay_the_parameter_that_they_were(path):
    assert reloaded(SequenceTagger().fit(X, Y), path).features is None
    found = reloaded(SequenceTagger(SOME).fit(X, Y), path).features
    assert found.templates == SOME.templates
    assert not hasattr(found, "_state")


def test_features_of_others_are_refused_by_name(path):
    model = SequenceTagger(SOME).fit(X, Y)
    model.features_ = object()
    with pytest.raises(Unsupported, match=r"features is a object.*Templates or Given"):
        argmax.save(model, path)
    assert not path.exists()


# Files that argmax did not write


@pytest.fixture
def written(path):
    model = SequenceTagger(SOME, constraints=constraints.bio(LABELS)).fit(X, Y)
    argmax.save(model, path)
    return path


def changed(path, name, values, at=0):
    """Other numbers in a tensor, from number ``at`` on, and a digest that fits."""
    data = path.read_bytes()
    header, payload = header_of(data), payload_of(data)
    start = header["tensors"][name]["data_offsets"][0] + at * values.itemsize
    piece = values.tobytes()
    whole = payload[:start] + piece + payload[start + len(piece) :]
    path.write_bytes(with_header(data, header, whole))


HOSTILE = [
    ("pairs.ptr", np.array([1]), 0, "do not fit"),
    ("pairs.ptr", np.array([-1]), 1, "do not fit"),
    ("pairs.ptr", np.array([2**62]), 5, "do not fit"),
    ("pairs.codes", np.array([K], np.int32), 0, "do not fit"),
    ("pairs.codes", np.array([-1], np.int32), 3, "do not fit"),
    ("pairs.codes", np.array([2**31 - 1], np.int32), 3, "do not fit"),
    ("pairs.values", np.array([np.nan]), 2, "not finite"),
    ("pairs.values", np.array([1e300]), 2, "too large"),
    ("start", np.array([np.inf]), 1, "not finite"),
    ("transitions", np.array([-np.inf]), K + 1, "not finite"),
    ("transitions", np.array([-1e31]), 0, "too large"),
    ("features.node.starts", np.array([7]), 0, "node.starts"),
    ("features.node.tuples", np.array([-1], np.int32), 0, "node.tuples"),
    ("features.options", np.frombuffer(b"[", np.uint8), 0, "features"),
    ("constraints.start", np.array([False] * K), 0, ""),
]


@pytest.mark.parametrize(("name", "values", "at", "says"), HOSTILE, ids=str)
def test_arrays_that_do_not_fit_are_refused(written, name, values, at, says):
    changed(written, name, values, at)
    if not says:  # other constraints are still constraints, and said at prediction
        with pytest.raises(argmax.errors.NoLegalLabelling):
            argmax.load(written).predict_marginals(X)
        return
    with pytest.raises(ModelFileError, match=says):
        argmax.load(written)


def test_labels_of_an_attribute_must_rise(written):
    coef = argmax.load(written).coef_.tocsc()
    coef.sort_indices()
    a = int(np.flatnonzero(np.diff(coef.indptr) >= 2)[0])
    at = int(coef.indptr[a])
    changed(written, "pairs.codes", coef.indices[[at + 1, at]].astype(np.int32), at)
    with pytest.raises(ModelFileError, match="do not rise"):
        argmax.load(written)


EDITS = {
    "another estimator": (("estimator",), "Tagger", "does not have"),
    "other features": (("features", "kind"), "Table", "does not have"),
    "a flag that is none": (("features", "given"), 1, "does not have"),
    "more parameters": (("parameters", "fit_intercept"), True, "does not have"),
    "an order that is none": (("parameters", "order"), 3, "order"),
    "an order that the table has not": (("parameters", "order"), 2, "transitions"),
    "pairs that are none": (("parameters", "pairs"), "some", "pairs"),
    "no weights of first labels": (("layout", "start"), False, "first labels"),
    "a layout that is none": (("layout", "precise"), "yes", "layout"),
    "a loss that is none": (("parameters", "loss"), "hing", "loss"),
    "an end that is none": (("solution", "status"), "won", "solution"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_document_that_argmax_did_not_write_is_refused(written, edit):
    place, value, says = EDITS[edit]
    data = written.read_bytes()
    header = header_of(data)
    owner = header["document"]["content"]["estimator"]
    for key in place[:-1]:
        owner = owner[key]
    owner[place[-1]] = value
    written.write_bytes(with_header(data, header))
    with pytest.raises(ModelFileError, match=says):
        argmax.load(written)


def test_a_tagger_behind_a_table_is_refused(written):
    data = written.read_bytes()
    header = header_of(data)
    header["document"]["content"]["pipeline"] = {"steps": ["a", "b"], "verbose": False}
    written.write_bytes(with_header(data, header))
    with pytest.raises(ModelFileError, match="pipeline"):
        argmax.load(written)
