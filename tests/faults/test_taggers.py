"""Faults 1, 2, 8, 15 to 18, 20, 24 and 29 for taggers: a typed error, or the answer."""

import copy
import json
import os
import time

import numpy as np
import pytest

from argmax import CRFTagger, SequenceTagger, load, save
from argmax.errors import InvalidInput, ModelFileError, NoLegalLabelling, WrongType
from argmax.features import Templates
from argmax.metrics import tagging
from argmax.persist import describe
from argmax.spaces import constraints
from tests.faults.cases import refuses, routes
from tests.faults.harness import GIB, alone, run

WORDS = [["The", "cat", "sat"], ["So"], ["The", "dog", "so", "sat"]]
LABELS = [["O", "B-N", "O"], ["B-A"], ["O", "B-N", "B-A", "O"]]
LOSSES = ("log", "softmax_margin", "hinge", "perceptron")
TAGGERS = [SequenceTagger(loss=loss) for loss in LOSSES]


@pytest.fixture
def tmp(tmp_path):
    return str(tmp_path)


def answers(model, X):
    """Everything that can be asked about sequences without knowing their labels."""
    plain = (
        model.predict(X),
        model.decision_function(X),
        model.predict_top_k(X, 3),
        model.span_scores(X),
        model.explain(X),
    )
    if not hasattr(model, "predict_marginals"):  # the loss estimates no probabilities
        return plain
    return (
        *plain,
        model.predict_marginals(X),
        model.predict_minimum_risk(X),
        model.sample(X, 2, random_state=0),
        model.span_confidence(X),
    )


def stays_as_it_was(model, call, *given, says, error=InvalidInput):
    before, expected = copy.deepcopy(vars(model)), model.predict(WORDS)
    refuses(call, *given, says=says, error=error)
    assert before.keys() == vars(model).keys()
    assert model.predict(WORDS) == expected


@alone
def test_15_no_sequences_and_empty_ones():
    for _ in routes():
        for made in TAGGERS:
            for nothing in ([], [[]], [[], []]):
                refuses(made.fit, nothing, nothing, says=("no tokens",))
            with_it = copy.deepcopy(made).fit(
                [WORDS[0], [], *WORDS[1:]], [LABELS[0], [], *LABELS[1:]]
            )
            model = copy.deepcopy(made).fit(WORDS, LABELS)
            assert with_it.predict(WORDS) == model.predict(WORDS)
            for sequences in ([], [[]], [[], []], [["The"], [], ["So"]]):
                for found in answers(model, sequences):
                    assert len(found) == len(sequences)
            assert model.predict([["The"], [], ["So"]])[1] == []
            if hasattr(model, "log_likelihood"):
                assert model.log_likelihood([[]], [[]]).tolist() == [0.0]
            refuses(model.score, [[]], [[]], says=("no tokens to score",))


@alone
def test_16_tokens_and_labels_of_a_sequence_differ_in_number():
    for made in TAGGERS:
        model = copy.deepcopy(made).fit(WORDS, LABELS)
        wrong = [*LABELS[:2], LABELS[2][:-1]]
        says = ("sequence 2", "4 tokens", "3 labels", "'B-N'")
        for call in (model.fit, model.score, getattr(model, "log_likelihood", model.score)):
            stays_as_it_was(model, call, WORDS, wrong, says=says)
        says = ("3 sequences", "2")
        stays_as_it_was(model, model.fit, WORDS, LABELS[:2], says=says)
        stays_as_it_was(model, model.fit, WORDS, [None], says=("8 tokens", "1"))
        says = ("X has 3", "sample_weight has 2")
        refuses(lambda m: m.fit(WORDS, LABELS, sample_weight=[1, 2]), model, says=says)
    for wrong, word in (
        (None, "list of lists"),
        ("The cat", "list of lists"),
        (["The", "cat"], "put it into a list"),
        ([[1, 2]], "no string"),
        ([["The", 5]], "sequence 0, token 1"),
        (np.zeros((2, 2)), "no string"),
    ):
        refuses(model.predict, wrong, says=(word,), error=(WrongType, InvalidInput))


@alone
def test_17_features_and_labels_that_training_had_not():
    for _ in routes():
        model = CRFTagger(Templates(["word[0]"])).fit(WORDS, LABELS)
        (labels,) = model.predict([["never", "seen"]])
        assert set(labels) <= {"O", "B-N", "B-A"}
        assert model.features_.unknown_ == {"word[0]": 2}
        truth = [["O", "B-N", "B-X"], *LABELS[1:]]
        assert model.score(WORDS, truth) == 7 / 8
        assert model.log_likelihood(WORDS, truth)[0] == -np.inf
        found = tagging(truth, model.predict(WORDS), classes=model.classes_.tolist())
        assert found.unseen == {"B-X": 1}


@alone(memory=4 * GIB)
def test_18_one_sequence_of_a_million_tokens():
    n = 1_000_000
    model = CRFTagger(Templates(["word[0]", "word[-1]"])).fit(WORDS, LABELS)
    words = (WORDS[2] * (n // 4))[:n]
    (labels,) = model.predict([words])
    (p,) = model.predict_marginals([words])
    assert len(labels) == n
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-9)
    (value,) = model.log_likelihood([words], [labels])
    assert -np.inf < value < 0.0
    assert len(model.sample([words], 1, random_state=0)[0][0]) == n
    # A period in the middle does not know where it is.
    np.testing.assert_allclose(p[400_000:400_004], p[600_000:600_004], atol=1e-12)


@alone(memory=4 * GIB)
def test_18_learning_from_a_long_sequence():
    rng, n = np.random.default_rng(0), 100_000
    codes = rng.integers(0, 30, n)
    labels = np.where(rng.random(n) < 0.9, codes % 3, rng.integers(0, 3, n)).tolist()
    words = [f"w{code}" for code in codes]
    model = CRFTagger(Templates(["word[0]"])).fit([words], [labels])
    assert model.solution_.converged
    assert model.score([words], [labels]) > 0.9


@alone(memory=4 * GIB)
def test_18_five_hundred_labels():
    names = [f"L{i}" for i in range(500)]
    words = [f"w{i}" for i in range(500)]
    model = SequenceTagger(Templates(["word[0]"]), loss="perceptron", max_iter=3)
    model.fit([words, words[::-1]], [names, names[::-1]])
    p = np.exp(model.decision_function([["w3", "w4", "w5"] * 10])[0])
    assert p.shape == (30, 500)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-9)


@alone
def test_20_constraints_that_leave_no_legal_path():
    never = np.zeros((2, 2), bool)
    rules = constraints.Constraints(("A", "B"), np.ones(2, bool), np.ones(2, bool), never)
    for _ in routes():
        for order in (1, 2):
            model = CRFTagger(constraints=rules, order=order).fit([["a"], ["b"]], [["A"], ["B"]])
            for call in (model.predict, model.predict_marginals, model.sample, model.explain):
                says = ("example 1", "no legal labelling", "position 1")
                refuses(call, [["a"], ["a", "b"]], says=says, error=NoLegalLabelling)
        says = ("do not allow 'B' at token 1 of sequence 1",)
        refuses(model.fit, [["a"], ["b", "b"]], [["A"], ["B", "B"]], says=says)
        says = ("example 1", "no legal labelling")
        partial = [["A"], [{"A", "B"}, None]]
        model.set_params(order=1)
        refuses(model.fit, [["a"], ["b", "b"]], partial, says=says, error=NoLegalLabelling)


@alone
def test_1_2_and_8_numbers_that_cannot_be():
    rows = [np.array([[0.5, 1.0], [2.0, 0.0]]), np.array([[1.0, 1.0]])]
    y = [["A", "B"], ["A"]]
    for _ in routes():
        model = CRFTagger().fit(rows, y)
        for bad in (np.nan, np.inf, -np.inf):
            wrong = [rows[0], np.array([[bad, 1.0]])]
            for call, given in ((model.fit, (wrong, y)), (model.predict, (wrong,))):
                refuses(call, *given, says=("row 2",))
            refuses(model.fit, [[{"a": bad}, {}], [{}]], y, says=("sequence 0, token 0", "'a'"))
        for large in (1e150, 1e300):
            says = ("Scale your features",)
            refuses(model.fit, [large * rows[0], rows[1]], y, says=says)
            for call in (model.predict, model.predict_marginals, model.explain):
                refuses(call, [large * rows[0]], says=says)
        for weight, says in (
            ([1, np.nan], "NaN"), ([1, -1], "negative"), ([0, 0], "zero"), ([1, 1e300], "1e100"),
        ):  # fmt: skip
            refuses(lambda w: model.fit(rows, y, sample_weight=w), weight, says=(says,))  # noqa: B023
        assert model.predict(rows) == CRFTagger().fit(rows, y).predict(rows)


@alone
def test_24_a_model_that_is_cut_or_has_a_flipped_bit(tmp):
    path = os.path.join(tmp, "model")
    model = SequenceTagger(constraints="BIO").fit(WORDS, LABELS)
    save(model, path)
    with open(path, "rb") as stream:
        whole = stream.read()
    pieces = [whole[:length] for length in range(0, len(whole), 229)]
    for bit in range(0, 8 * len(whole), 461):
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
    assert load(path).predict(WORDS) == model.predict(WORDS)


def say_when_started(progress):
    if progress.passes == 2:
        print("started", flush=True)


def long_fit(loss):
    """A fit of many seconds that says when it has started; then what the interrupt left behind."""
    rng = np.random.default_rng(0)
    X = [[f"w{i}" for i in rng.integers(0, 3000, 20)] for _ in range(3000)]
    y = [[f"L{i}" for i in rng.integers(0, 12, 20)] for _ in X]
    model = SequenceTagger(Templates(["word[0]", "word[-1]"]), loss=loss)
    model.set_params(tol=1e-14, max_iter=10**6, callbacks=[say_when_started])
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        left = {"seconds": time.time(), "status": model.solution_.status}
        left["score"] = model.score(X[:100], y[:100])
        print(json.dumps(left))
        raise


@pytest.mark.parametrize("loss", ["log", "perceptron"])
def test_29_an_interrupt_stops_a_fit_within_a_second(loss):
    outcome = run(long_fit, loss, interrupt_at="started")
    assert (outcome.error, outcome.status) == ("KeyboardInterrupt", 130), str(outcome)
    left = json.loads(outcome.stdout.splitlines()[-1])
    assert left["seconds"] - outcome.interrupted < 1.0
    assert left["status"] == "interrupted"
    assert left["score"] > 1.2 / 12
