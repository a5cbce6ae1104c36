"""Faults 15 to 18, 20 and 24 for taggers: a typed error, or the answer, where others end the process."""

import os

import numpy as np
import pytest

from argmax import CRFTagger, SequenceTagger, load, save
from argmax.errors import ArgmaxError, ModelFileError, NoLegalLabelling
from argmax.features import Templates
from argmax.persist import describe
from argmax.spaces import constraints
from tests.faults.cases import refuses
from tests.faults.harness import GIB, alone

X = [["the", "cat", "sat"], ["so", "it", "did"], ["Ada", "sat"]]
Y = [["O", "O", "O"], ["O", "O", "O"], ["B-PER", "O"]]
FEW = Templates(["word[0]", "word[-1]"])


@pytest.fixture
def tmp(tmp_path):
    return str(tmp_path)


@alone
def test_15_no_sequences_and_empty_ones():
    for tagger in (SequenceTagger(), SequenceTagger(loss="perceptron"), CRFTagger()):
        for nothing in ([], [[]], [[], []]):
            refuses(tagger.fit, nothing, nothing, says=("no tokens",))
        fitted = tagger.fit([X[0], [], X[2]], [Y[0], [], Y[2]])
        for rows in ([], [[]], [[], []]):
            assert fitted.predict(rows) == [[] for _ in rows]
            assert [p.shape for p in fitted.predict_marginals(rows)] == [(0, 2) for _ in rows]
        assert fitted.predict([X[0], [], X[2]])[1] == []


@alone
def test_16_lengths_that_differ_are_named():
    tagger = SequenceTagger(FEW).fit(X, Y)
    before = tagger.transitions_.copy()
    wrong = [Y[0], ["O"], Y[2]]
    refuses(tagger.fit, X, wrong, says=("sequence 1", "3 tokens", "1 label"))
    refuses(tagger.fit, X, Y[:2], says=("3 sequences", "y has 2"))
    refuses(tagger.score, X, wrong, says=("sequence 1",))
    refuses(tagger.log_likelihood, X, wrong, says=("sequence 1",))
    assert np.array_equal(before, tagger.transitions_)
    refuses(lambda: tagger.fit(X, Y, sample_weight=[1.0]), says=("sample_weight",))


@alone
def test_17_what_training_did_not_have():
    tagger = SequenceTagger(FEW).fit(X, Y)
    assert len(tagger.predict([["nobody", "knows"]])[0]) == 2
    assert tagger.features_.unknown_["word[0]"] == 2
    assert tagger.score([["the"]], [["B-LOC"]]) == 0.0
    assert tagger.log_likelihood([["the"]], [["B-LOC"]])[0] == -np.inf


@alone(memory=3 * GIB)
def test_18_a_long_sequence_and_many_labels():
    tagger = SequenceTagger(FEW).fit(X, Y)
    long = [X[0][i % 3] for i in range(1_000_000)]
    assert len(tagger.predict([long])[0]) == 1_000_000
    p = tagger.predict_marginals([long])[0]
    assert np.allclose(p.sum(axis=1), 1.0)
    assert np.isfinite(p).all()
    rng = np.random.default_rng(0)
    words = [[f"w{i}" for i in rng.integers(0, 500, 10)] for _ in range(200)]
    many = SequenceTagger(Templates(["word[0]"]), tol=0.1, max_iter=50).fit(words, words)
    assert len(many.classes_) > 400
    assert many.score(words, words) > 0.9


@alone
def test_20_no_legal_labelling():
    labels = ["B-PER", "O"]
    never = constraints.Constraints(
        tuple(labels), np.ones(2, bool), np.ones(2, bool), np.zeros((2, 2), bool)
    )
    tagger = SequenceTagger(FEW, constraints=never)
    refuses(tagger.fit, X, Y, says=("do not allow", "sequence 0"))
    fitted = SequenceTagger(FEW, constraints=never).fit([["a"], ["b"]], [["O"], ["B-PER"]])
    assert fitted.predict([["a"]]) == [["O"]]
    refuses(fitted.predict, [["a", "b"]], says=(), error=NoLegalLabelling)
    refuses(fitted.predict_marginals, [["a", "b"]], says=(), error=NoLegalLabelling)


@alone
def test_24_a_model_that_is_cut_or_has_a_flipped_bit(tmp):
    path = os.path.join(tmp, "model")
    model = SequenceTagger(FEW, constraints="BIO").fit(X, Y)
    save(model, path)
    with open(path, "rb") as stream:
        whole = stream.read()
    pieces = [whole[:length] for length in range(0, len(whole), 29)]
    for bit in range(0, 8 * len(whole), 61):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        pieces.append(bytes(data))
    for data in pieces:
        with open(path, "wb") as stream:
            stream.write(data)
        refuses(load, path, says=(repr(path),), error=ModelFileError)
        refuses(describe, path, says=(repr(path),), error=ModelFileError)
    with open(path, "wb") as stream:
        stream.write(whole)
    assert load(path).predict(X) == model.predict(X)


@alone
def test_what_is_no_sequence_is_refused():
    tagger = SequenceTagger(FEW)
    for rows, labels in (
        ("text", Y),
        (3, Y),
        (X, "text"),
        (X, None),
        (X, [["O", 1, "O"], Y[1], Y[2]]),
        (X, [["O"] * len(words) for words in X]),
        ([["a", 3]], [["O", "B-PER"]]),
    ):
        with pytest.raises(ArgmaxError):
            tagger.fit(rows, labels)
