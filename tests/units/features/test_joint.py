"""The joint feature map: the notes' worked numbers, names, hashing, refusals."""

import math
import pickle

import numpy as np
import pytest

from argmax.errors import InvalidInput, WrongType
from argmax.features import Joint, crossed, multivector

W = np.array([0.5, -1.0, 0.2, 0.3, -0.4, 1.0])
X = np.array([1.0, 2.0])
CLASSES = [1, 2, 3]


def test_the_scores_of_the_notes():
    scores = [W @ multivector(X, y, CLASSES) for y in CLASSES]
    np.testing.assert_allclose(scores, [-1.5, 0.8, 1.6])
    assert CLASSES[int(np.argmax(scores))] == 3


def test_the_update_of_the_notes():
    """Promote the truth 2, demote the answer 3."""
    updated = W + multivector(X, 2, CLASSES) - multivector(X, 3, CLASSES)
    np.testing.assert_allclose(updated, [0.5, -1.0, 1.2, 2.3, -1.4, -1.0])


def test_the_stacked_vectors_of_the_notes():
    h = math.sqrt(2.0) / 2.0
    w = np.array([-h, h, 0.0, 1.0, h, h])
    x = np.array([0.3, -1.7])
    for y, own in zip(CLASSES, ([-h, h], [0.0, 1.0], [h, h]), strict=True):
        assert w @ multivector(x, y, CLASSES) == pytest.approx(np.dot(own, x))


def psi(x, y):
    """The four features of the notes."""
    tests = {
        "apple NOUN": x == "apple" and y == "NOUN",
        "run NOUN": x == "run" and y == "NOUN",
        "run VERB": x == "run" and y == "VERB",
        "-ly ADVERB": x.endswith("ly") and y == "ADVERB",
    }
    return [name for name, holds in tests.items() if holds]


def test_run_as_a_noun():
    joint = Joint(psi).fit(["apple", "run", "run", "quickly"], ["NOUN", "NOUN", "VERB", "ADVERB"])
    assert joint.transform(["run"], ["NOUN"]).toarray().tolist() == [[0, 1, 0, 0]]
    assert joint.transform(["sadly"], ["ADVERB"]).toarray().tolist() == [[0, 0, 0, 1]]
    assert joint.transform(["apple"], ["VERB"]).nnz == 0


def test_suffixes_crossed_with_labels():
    of_word = crossed(lambda word: {"word": word, "suffix": word[-3:]})
    joint = Joint(of_word).fit(["running", "running"], ["VERB", "NOUN"])
    assert "suffix=ing×VERB" in joint.names_
    assert joint.transform(["swimming"], ["VERB"]).sum() == 1.0  # its suffix alone is known


def test_blocks_of_many_rows():
    rows = np.arange(6.0).reshape(3, 2)
    stacked = multivector(rows, [0, 2, 1], 3)
    assert stacked.shape == (3, 6)
    for row, y, vector in zip(rows, [0, 2, 1], stacked, strict=True):
        assert np.array_equal(vector, multivector(row, y, 3))


def test_the_multivector_is_the_map_crossed_with_label_names():
    joint = Joint().fit([{"a": 1.0, "b": 1.0}] * 2, ["p", "q"])
    found = joint.transform([{"a": 3.0, "b": -1.0}], ["q"]).toarray()[0]
    np.testing.assert_allclose(found, multivector([3.0, -1.0], "q", ["p", "q"]))


def test_hashed_columns_hold_the_same_values():
    pairs = [{"word": "run", "length": 3.0}] * 2, ["NOUN", "VERB"]
    exact, hashed = Joint().fit(*pairs), Joint(hash_bits=16).fit(*pairs)
    left, right = (joint.transform(*pairs) for joint in (exact, hashed))
    assert hashed.names_ is None
    assert right.shape == (2, 2**16)
    assert sorted(np.abs(left.data)) == sorted(np.abs(right.data))


def test_a_map_survives_a_pickle():
    joint = Joint(crossed()).fit(["a"], ["b"])
    assert pickle.loads(pickle.dumps(joint)).names_ == ["a×b"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: multivector(X, 9, CLASSES), InvalidInput, "9, which is not among the classes"),
        (lambda: multivector([X, X], [1], CLASSES), InvalidInput, "x has 2, y has 1"),
        (lambda: Joint("word").fit(["a"], ["b"]), WrongType, "psi must be a function"),
        (lambda: Joint().fit(["a"], ["b", "c"]), InvalidInput, "X has 1, y has 2"),
        (lambda: Joint(lambda x, y: []).fit(["a"], ["b"]), InvalidInput, "psi gave no feature"),
        (lambda: Joint(lambda x, y: {"f": [1]}).fit(["a"], ["b"]), WrongType, "feature 'f'"),
        (lambda: Joint(hash_bits=40).fit(["a"], ["b"]), InvalidInput, "at most 30"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
